//! The page over HTTP, for one reader: bound to 127.0.0.1, hosts checked, every size and time limited, nothing read from disk.

use std::{future::Future, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{self, HOST},
    },
    response::Response,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::page::{Reply, Site};

/// The port without `--port`.
pub const PORT: u16 = 7878;
/// Connections that are served at a time; more wait until one ends.
const CONNECTIONS: usize = 128;
/// Threads that draw.
const DRAWING: usize = 2;
/// Most bytes of a request's head.
const HEAD: usize = 64 << 10;
/// Longest path and query together, in bytes.
const URI: usize = 8 << 10;
/// A head that takes longer is given up; so is a connection that is silent for so long.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// An answer that takes longer is given up.
const ANSWER_TIME: Duration = Duration::from_secs(20);
/// How long connections may end their answers when the program is told to end.
const LAST: Duration = Duration::from_millis(500);
/// Pause after a connection that could not be taken, such as for want of file handles.
const PAUSE: Duration = Duration::from_millis(50);

/// What a page may load: its own style, script, fonts and answers.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A server that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken or forbidden.
    #[error("port {port} of 127.0.0.1 cannot be used: {problem}; --port 0 takes a free one")]
    Port {
        /// The port asked for.
        port: u16,
        /// What the system says.
        problem: String,
    },
    /// Threads or sockets cannot be had.
    #[error("the server cannot start: {0}")]
    Start(String),
}

/// A server that has its port and waits for [`Server::run`].
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    port: u16,
    told: Told,
}

/// What requests share.
struct Shared {
    site: Site,
    port: u16,
    drawing: Semaphore,
}

impl Server {
    /// Takes a port of 127.0.0.1; 0 is any free one.
    ///
    /// # Errors
    /// The port is taken, or there are no threads.
    pub fn bind(port: u16) -> Result<Self, ServeError> {
        let start = |error: &dyn std::fmt::Display| ServeError::Start(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(DRAWING).build();
        let runtime = runtime.map_err(|error| start(&error))?;
        // Before anybody knows the address, so that whoever waits for it can end the program well.
        let told = runtime.block_on(async { Told::listen() })?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", port)));
        let listener = listener.map_err(|error| ServeError::Port { port, problem: error.to_string() })?;
        let port = listener.local_addr().map_err(|error| start(&error))?.port();
        Ok(Self { runtime, listener, port, told })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers until the process is told to end (Ctrl-C).
    ///
    /// # Errors
    /// The process cannot listen to signals.
    pub fn run(self, site: Site) -> Result<(), ServeError> {
        let Self { runtime, listener, port, told } = self;
        let shared = Arc::new(Shared { site, port, drawing: Semaphore::new(DRAWING) });
        let router = Router::new().fallback(answer).with_state(shared);
        let result = runtime.block_on(async {
            tokio::select! {
                never = accept(listener, router) => never,
                told = told.end() => told,
            }
        });
        // A drawing that is not ready by then is not wanted any more.
        runtime.shutdown_timeout(LAST);
        result
    }
}

/// Takes connections for ever, so many at a time.
async fn accept(listener: TcpListener, router: Router) -> Result<(), ServeError> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let served = serve(stream, router.clone());
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    }
}

/// One connection, with its limits. What goes wrong with it is its reader's own.
fn serve(stream: TcpStream, router: Router) -> impl Future<Output = ()> {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    async move {
        let _ = connection.await;
    }
}

/// What tells the program to end.
#[cfg(unix)]
struct Told {
    interrupt: tokio::signal::unix::Signal,
    end: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Told {
    /// Listens from now on; inside of a runtime.
    fn listen() -> Result<Self, ServeError> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|error| ServeError::Start(error.to_string()));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, end: listen(SignalKind::terminate())? })
    }

    async fn end(mut self) -> Result<(), ServeError> {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.end.recv() => {}
        }
        Ok(())
    }
}

/// What tells the program to end.
#[cfg(not(unix))]
struct Told;

#[cfg(not(unix))]
impl Told {
    fn listen() -> Result<Self, ServeError> {
        Ok(Self)
    }

    async fn end(self) -> Result<(), ServeError> {
        tokio::signal::ctrl_c().await.map_err(|error| ServeError::Start(error.to_string()))
    }
}

/// Whether a request means this server and not a name that somebody points at it (DNS rebinding).
fn is_ours(headers: &HeaderMap, uri: &Uri, port: u16) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let ours = |host: &str| ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host == format!("{name}:{port}"));
    // An absolute address in the first line counts before the header.
    host.to_str().is_ok_and(ours) && uri.authority().is_none_or(|authority| ours(authority.as_str()))
}

fn plain(status: StatusCode, text: &str) -> Reply {
    Reply { status: status.as_u16(), kind: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes() }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let head = request.method() == Method::HEAD;
    let (reply, allow) = match wanted(shared.port, &request) {
        Ok((path, query)) => {
            drop(request);
            (drawn(&shared, path, query).await, false)
        }
        Err(refused) => refused,
    };
    let length = reply.body.len();
    let mut response = Response::new(if head { Body::empty() } else { Body::from(reply.body) });
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    set(header::CONTENT_TYPE, reply.kind);
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    if allow {
        set(header::ALLOW, "GET, HEAD");
    }
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    response
}

/// Path and query of a request that may be answered; else why not, and whether the methods that may are to be named.
fn wanted(port: u16, request: &Request) -> Result<(String, String), (Reply, bool)> {
    let uri = request.uri();
    if !is_ours(request.headers(), uri, port) {
        let text = format!("This page is at http://127.0.0.1:{port}/ alone");
        return Err((plain(StatusCode::MISDIRECTED_REQUEST, &text), false));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Err((plain(StatusCode::METHOD_NOT_ALLOWED, "The page is only read: GET or HEAD"), true));
    }
    if uri.path_and_query().map_or(0, |both| both.as_str().len()) > URI {
        return Err((plain(StatusCode::URI_TOO_LONG, "The address is too long"), false));
    }
    Ok((uri.path().to_owned(), uri.query().unwrap_or_default().to_owned()))
}

/// Draws beside the connections. Who waits longer than is of use is told so, and no more drawings queue up than are waited for.
async fn drawn(shared: &Arc<Shared>, path: String, query: String) -> Reply {
    let work = async {
        let Ok(_place) = shared.drawing.acquire().await else { return Err("The server ends") };
        let owned = Arc::clone(shared);
        let drawn = tokio::task::spawn_blocking(move || owned.site.reply(&path, &query)).await;
        drawn.map_err(|_| "The answer failed; please report the address")
    };
    match timeout(ANSWER_TIME, work).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(text)) => plain(StatusCode::INTERNAL_SERVER_ERROR, text),
        Err(_) => plain(StatusCode::SERVICE_UNAVAILABLE, "The answer takes too long; try again"),
    }
}

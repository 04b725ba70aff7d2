//! The server over sockets: every address, every refusal, floods and oddities, its memory, its end.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::running::{Running, start};

impl Running {
    /// Sends bytes and reads until the server closes or is silent.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that has answered too long a head may close before all is written.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", path, &format!("127.0.0.1:{}", self.port))
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> String {
        self.raw(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())
    }

    /// Resident memory in KiB.
    #[cfg(target_os = "linux")]
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

#[track_caller]
fn status(answer: &str) -> u16 {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest[..3].parse().ok()).unwrap_or_else(|| panic!("{answer:.300}"))
}

#[test]
fn every_address_answers_with_its_headers() {
    let server = start();
    for (path, kind) in [
        ("/", "text/html"),
        ("/part?op=kernel", "text/html"),
        ("/occupancy?gfx=gfx942", "text/html"),
        ("/api/state.json?m=512", "application/json"),
        ("/chart/roofline.svg", "image/svg+xml"),
        ("/chart/calculator.csv?cc=8.0", "text/csv"),
        ("/app.js", "text/javascript"),
        ("/style.css", "text/css"),
        ("/fonts/regular.ttf", "font/ttf"),
    ] {
        let answer = server.get(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(status(&answer), 200, "{path}");
        assert!(head.contains(&format!("content-type: {kind}")) && body.len() > 100, "{path}: {head}");
        for part in ["default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-referrer", "no-store"] {
            assert!(head.contains(part), "{path}: {head}");
        }
        assert!(!head.contains("access-control"), "{path}: {head}");
    }
    let answer = server.ask("HEAD", "/", &format!("localhost:{}", server.port));
    assert!(status(&answer) == 200 && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn what_is_not_meant_for_it_is_refused() {
    let server = start();
    let own = format!("127.0.0.1:{}", server.port);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "evil.example:80@127.0.0.1", ""]
    {
        assert_eq!(status(&server.ask("GET", "/", host)), 421, "{host}");
    }
    for host in [own.clone(), format!("localhost:{}", server.port), format!("[::1]:{}", server.port)] {
        assert_eq!(status(&server.ask("GET", "/style.css", &host)), 200, "{host}");
    }
    assert_eq!(
        status(
            &server.raw(format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())
        ),
        421
    );
    assert_eq!(
        status(
            &server.raw(
                format!("GET http://evil.example/ HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n").as_bytes()
            )
        ),
        421
    );
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PURGE"] {
        assert_eq!(status(&server.ask(method, "/", &own)), 405, "{method}");
    }
    for path in
        ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/fonts/../Cargo.toml", "//etc/passwd", "/chart/../../x.svg"]
    {
        let answer = server.get(path);
        assert!(status(&answer) == 404 && !answer.contains("root:"), "{path}: {answer}");
    }
    for query in
        ["m=0", "m=%", "m=%ff", "pin=%25", "gpu=", "&&&&", "m=1&m=1", "===", "op=kernel&block=99999999999999999999"]
    {
        let answer = server.get(&format!("/?{query}"));
        assert!([200, 400].contains(&status(&answer)), "{query}: {answer:.200}");
    }
    assert_eq!(status(&server.get(&format!("/?a={}", "x".repeat(5000)))), 400);
    assert_eq!(status(&server.get(&format!("/?a={}", "x".repeat(20_000)))), 414);
}

#[test]
fn floods_and_oddities_leave_it_well_and_small() {
    let server = start();
    let own = format!("127.0.0.1:{}", server.port);
    assert_eq!(status(&server.get("/?m=512&n=512&k=512")), 200);
    let huge = format!("GET / HTTP/1.1\r\nHost: {own}\r\nX: {}\r\n\r\n", "y".repeat(10 << 20));
    let answer = server.raw(huge.as_bytes());
    assert!(answer.is_empty() || status(&answer) == 431, "{answer:.200}");
    let many = (0..5000).map(|n| format!("X{n}: 1\r\n")).collect::<String>();
    let answer = server.raw(format!("GET / HTTP/1.1\r\nHost: {own}\r\n{many}\r\n").as_bytes());
    assert!(answer.is_empty() || status(&answer) == 431, "{answer:.200}");
    for odd in [
        &b"\x16\x03\x01\x02\x00\x01"[..],
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let answer = server.raw(&[odd, b"\r\n\r\n"].concat());
        assert!(answer.is_empty() || status(&answer) == 400, "{answer:.200}");
    }
    #[cfg(target_os = "linux")]
    let before = server.resident();
    thread::scope(|scope| {
        for client in 0..200 {
            let server = &server;
            // Whatever the program draws, PNG only where it was built in; some are refused.
            let png =
                if cfg!(feature = "png") { "/chart/roofline.png?op=kernel&grid=" } else { "/part?op=kernel&grid=" };
            let paths = [
                "/style.css?",
                "/part?op=kernel&grid=",
                "/occupancy?cc=9.0&regs=",
                "/?m=0&x=",
                png,
                "/chart/timeline.svg?op=kernel&grid=",
                "/part?op=crossover&reuse=",
                "/part?op=memory&tab=memory&batch=",
            ];
            scope.spawn(move || {
                let answer = server.get(&format!("{}{}", paths[client % paths.len()], 1 + client));
                assert!([200, 400].contains(&status(&answer)), "{answer:.200}");
            });
        }
    });
    #[cfg(target_os = "linux")]
    assert!(server.resident() < before + 64 * 1024, "{} KiB, then {}", before, server.resident());
    assert_eq!(status(&server.get("/style.css")), 200);
}

#[test]
fn a_taken_port_is_an_error_with_its_cure() {
    let server = start();
    let port = server.port.to_string();
    crate::place::Place::new().refused(&["serve", "--port", &port], &["port", "127.0.0.1", "--port 0"]);
}

#[cfg(unix)]
#[test]
fn it_ends_well_when_told_to() {
    let mut server = start();
    // A silent connection does not hold it up.
    let _silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let told = Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let since = Instant::now();
    let code = loop {
        match server.child.try_wait().unwrap() {
            Some(code) => break code,
            None if since.elapsed() > Duration::from_secs(20) => panic!("it does not end"),
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(code.code(), Some(0));
}

//! A running server, for the tests of sockets and of the browser.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// A running server, ended with the test.
pub struct Running {
    /// The process.
    pub child: Child,
    /// Its port of 127.0.0.1.
    pub port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server at a free port.
pub fn start() -> Running {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("wavecast"))
        .args(["serve", "--port", "0", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.trim_end_matches('/').parse().ok());
    Running { child, port: port.unwrap_or_else(|| panic!("{line}")) }
}

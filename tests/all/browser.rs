//! The page in a browser: runs `tests/browser/run.mjs` with Node.js and Chromium where both are, and playwright-core is installed.

use std::{env, path::Path, process::Command};

use crate::running::start;

/// Makes what is absent a failure; its value may be the path of Chromium.
const WANTED: &str = "WAVECAST_BROWSER";

/// Whether a program answers to `--version`.
fn answers(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Node.js, Chromium and the scripts with what they need, or what is absent.
fn browser() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    if !answers("node") {
        return Err("Node.js (node) is absent".into());
    }
    if !folder.join("node_modules/playwright-core").is_dir() {
        return Err(format!("playwright-core is absent: run `npm ci` in {}", folder.display()));
    }
    let named = env::var(WANTED).ok().filter(|path| path.contains('/'));
    let known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(str::to_owned);
    let found = named.into_iter().chain(known).find(|path| Path::new(path).exists());
    found.ok_or_else(|| format!("Chromium is absent: install it, or name it by {WANTED}"))
}

#[test]
fn the_page_works_in_a_browser() {
    let chromium = match browser() {
        Ok(chromium) => chromium,
        Err(absent) => {
            assert!(env::var(WANTED).is_err(), "{absent}");
            eprintln!("skipped: {absent}");
            return;
        }
    };
    let server = start();
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&shots).unwrap();
    let output = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/run.mjs"))
        .args([&format!("http://127.0.0.1:{}", server.port), &chromium])
        .arg(assert_cmd::cargo::cargo_bin("wavecast"))
        .arg(&shots)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}pictures: {}", shots.display());
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaints}");
    assert!(said.lines().filter(|line| line.starts_with("ok ")).count() > 30, "{said}{complaints}");
}

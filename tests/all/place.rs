//! A folder with inputs in which the program is run, and what every run must keep to.

use std::{fs, path::Path};

use assert_cmd::{Command, assert::Assert};
use tempfile::TempDir;

/// A scenario of one kernel; tests change single words of it.
pub const SCENARIO: &str = r#"schema = 1
title = "one kernel"
gpus = ["h100-sxm5-80gb"]
[[kernel]]
name = "copy"
grid = 1000
block = 256
registers_per_thread = 32
[kernel.work]
per = "thread"
operations = { "vector.fp32" = "2 FLOP" }
[kernel.traffic]
per = "thread"
dram = { read = "8 B", write = "4 B" }
"#;

pub const BATCH: &str = "compute_capability,threads_per_block,registers_per_thread,static_smem_bytes,dynamic_smem_bytes\n\
                     9.0,256,32,0,0\n9.0,1025,32,0,0\n";

/// A raw page of one launch, on a GPU that the catalog knows.
pub const PROFILE: &[u8] = include_bytes!("../data/ncu/raw.csv");

pub struct Place(pub TempDir);

impl Place {
    pub fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        place.file("s.toml", SCENARIO);
        place.file("p.csv", PROFILE);
        place.file("batch.csv", BATCH);
        place
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    /// A variant of the scenario.
    pub fn scenario(&self, name: &str, from: &str, to: &str) {
        assert!(SCENARIO.contains(from), "{from}");
        self.file(name, SCENARIO.replacen(from, to, 1));
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::cargo_bin("wavecast").unwrap();
        command.current_dir(&self.0).args(words);
        command
    }

    pub fn run(&self, words: &[&str]) -> Assert {
        self.command(words).assert()
    }

    /// Standard output of a command that succeeds.
    #[track_caller]
    pub fn out(&self, words: &[&str]) -> String {
        let run = self.run(words);
        let output = run.get_output();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Names of all files, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }

    /// The command is refused: exit code 2, nothing on standard output, no panic, no file, and a message with all
    /// of `says`.
    #[track_caller]
    pub fn refused(&self, words: &[&str], says: &[&str]) {
        let before = self.names(".");
        let run = self.run(words);
        let output = run.get_output();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
        assert!(message.starts_with("error: ") && !message.contains("panicked"), "{words:?}: {message}");
        assert!(message.len() < 1500, "{words:?}: {message}");
        for part in says {
            assert!(message.contains(part), "{words:?}: no `{part}` in: {message}");
        }
        assert_eq!(self.names("."), before, "{words:?} left files");
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
/// Text that fits a terminal.
pub fn narrow(what: &[&str], text: &str) {
    assert!(!text.trim().is_empty(), "{what:?}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{what:?}: {line}");
    }
}

/// Rows of a CSV with equal column counts, its header first.
#[track_caller]
pub fn table(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let rows: Vec<Vec<String>> =
        reader.records().map(|r| r.expect("equal columns").iter().map(str::to_owned).collect()).collect();
    assert!(rows.len() > 1, "{text}");
    rows
}

const KERNEL: [&str; 5] = ["kernel", "--grid", "1000", "--block", "256"];

pub fn kernel<'a>(more: &[&'a str]) -> Vec<&'a str> {
    KERNEL.iter().copied().chain(more.iter().copied()).collect()
}

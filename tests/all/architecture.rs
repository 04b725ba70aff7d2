//! The rules of `docs/architecture.md` as tests: module order, dependency fences, file form, paths that exist.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Modules in reading order; each uses only those before it.
#[rustfmt::skip]
const ORDER: [&str; 29] = [
    "units", "gpu", "occupancy", "kernel", "launch", "schedule", "roofline", "time", "verdict", "analysis",
    "op", "profile", "network", "ceilings", "memory", "fit", "crossover", "scenario", "simulation", "sweep",
    "validate", "calibrate", "report", "chart", "lab", "page", "serve", "cli", "main",
];

/// A crate, and the folders or files under `src` that may use it.
#[rustfmt::skip]
const FENCES: [(&str, &[&str]); 20] = [
    ("clap", &["cli", "main"]),
    ("clap_complete", &["cli"]),
    ("anyhow", &["cli", "main"]),
    ("indicatif", &["cli"]),
    ("tempfile", &["cli"]),
    ("rustix", &["cli"]),
    ("plotters", &["chart"]),
    ("plotters_svg", &["chart"]),
    ("resvg", &["chart"]),
    ("csv", &["occupancy/batch", "op/table", "op/batch", "profile", "ceilings", "fit", "sweep/csv", "validate", "calibrate", "report",
        "chart", "cli"]),
    ("csv_core", &["profile"]),
    ("rusqlite", &["profile/nsys", "cli"]),
    ("maud", &["report/html", "page/html"]),
    ("parquet", &["sweep/parquet", "cli"]),
    ("bytes", &["sweep/parquet", "cli"]),
    ("rayon", &["sweep/drive", "cli"]),
    ("axum", &["serve"]),
    ("hyper", &["serve"]),
    ("hyper_util", &["serve"]),
    ("tokio", &["serve"]),
];

/// Parts of `std` that touch the world, and macros that print; only at the command line.
const WORLD: [&str; 4] = ["fs", "env", "process", "net"];
const PRINTING: [&str; 4] = ["println", "eprintln", "print", "eprint"];
const WORLD_MAY: [&str; 2] = ["cli", "main"];

const MOST_LINES: usize = 350;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|e| e.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file of `src`: its path there without extension, such as `gpu/read`, and its tokens.
struct Source {
    name: String,
    tokens: Vec<String>,
}

impl Source {
    fn module(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    fn within(&self, places: &[&str]) -> bool {
        places.iter().any(|p| self.name == *p || self.name.starts_with(&format!("{p}/")))
    }

    fn at(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", String::as_str)
    }
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&src).unwrap().with_extension("").to_str().unwrap().replace('\\', "/");
        Source { name, tokens: tokens(&fs::read_to_string(&path).unwrap()) }
    };
    let found: Vec<Source> = rust_files("src").into_iter().map(read).collect();
    assert!(found.len() > 20, "the walk over src found only {} files", found.len());
    found
}

/// Words, `::` and single characters of Rust text; comments, strings and character literals are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let get = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        if c == '/' && get(i + 1) == '/' {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if c == 'r' && (get(i + 1) == '"' || get(i + 1) == '#' && matches!(get(i + 2), '"' | '#')) {
            let hashes = chars[i + 1..].iter().take_while(|c| **c == '#').count();
            i += 2 + hashes;
            while i < chars.len()
                && !(chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes)
            {
                i += 1;
            }
            i += 1 + hashes;
        } else if c == '"' {
            i += 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if c == '\'' && (get(i + 1) == '\\' || get(i + 2) == '\'') {
            i += if get(i + 1) == '\\' { 3 } else { 2 };
            while i < chars.len() && chars[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c.is_alphanumeric() || c == '_' {
            let start = i;
            while get(i).is_alphanumeric() || get(i) == '_' {
                i += 1;
            }
            found.push(chars[start..i].iter().collect());
        } else if c == ':' && get(i + 1) == ':' {
            found.push("::".into());
            i += 2;
        } else {
            if !c.is_whitespace() {
                found.push(c.to_string());
            }
            i += 1;
        }
    }
    found
}

/// The names that follow a path whose `::` is at `index`: one, or the heads of a `{...}` group.
fn heads(source: &Source, index: usize) -> Vec<&str> {
    if source.at(index + 1) != "{" {
        return vec![source.at(index + 1)];
    }
    let mut names = Vec::new();
    let (mut depth, mut head) = (0, true);
    for token in &source.tokens[index + 1..] {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," => head = depth == 1,
            name if depth == 1 && head => {
                names.push(name);
                head = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Top-level modules that a file names through `crate::`, `wavecast::`, or a `super` chain that ends at the root.
fn used_modules(source: &Source) -> Vec<&str> {
    let mut used = Vec::new();
    let file_depth = source.name.split('/').count();
    let mut inline: Vec<usize> = Vec::new();
    let mut braces = 0;
    let mut i = 0;
    while i < source.tokens.len() {
        match source.at(i) {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
            }
            "mod" if source.at(i + 2) == "{" => inline.push(braces),
            "crate" | "wavecast" if source.at(i + 1) == "::" => used.extend(heads(source, i + 1)),
            "super" if i < 2 || source.at(i - 2) != "super" => {
                let mut end = i;
                let mut chain = 1;
                while source.at(end + 1) == "::" && source.at(end + 2) == "super" {
                    end += 2;
                    chain += 1;
                }
                if chain >= file_depth + inline.len() && source.at(end + 1) == "::" {
                    used.extend(heads(source, end + 1));
                }
            }
            _ => {}
        }
        i += 1;
    }
    used
}

fn assert_none(what: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{what}:\n  {}", wrong.join("\n  "));
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let place = |module: &str| ORDER.iter().position(|m| *m == module);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for source in sources().iter().filter(|s| s.name != "lib") {
        let Some(own) = place(source.module()) else {
            wrong.push(format!("src/{}.rs: `{}` has no place in the order", source.name, source.module()));
            continue;
        };
        for used in used_modules(source) {
            checked += 1;
            match place(used) {
                Some(other) if other <= own => {}
                Some(_) => wrong.push(format!("src/{}.rs uses {used}, which stands after it", source.name)),
                None => wrong.push(format!("src/{}.rs uses `{used}`, which is no module of the order", source.name)),
            }
        }
    }
    assert!(checked > 50, "only {checked} uses were seen");
    assert_none("module order", &wrong);
}

#[test]
fn crates_and_the_world_stay_behind_their_fences() {
    let mut wrong = Vec::new();
    for source in &sources() {
        for i in 0..source.tokens.len() {
            let token = source.at(i);
            let path = source.at(i + 1) == "::" && (i == 0 || source.at(i - 1) != "::");
            let import = i > 0 && source.at(i - 1) == "use";
            for (name, places) in FENCES {
                if token == name && (path || import) && !source.within(places) {
                    wrong.push(format!("src/{}.rs uses {name}, which is for {}", source.name, places.join(", ")));
                }
            }
            // Unit tests may print what they found; the world stays behind the command line.
            if source.within(&WORLD_MAY) || source.name.ends_with("/tests") {
                continue;
            }
            if token == "std" && path {
                for part in heads(source, i + 1).into_iter().filter(|p| WORLD.contains(p)) {
                    wrong.push(format!("src/{}.rs uses std::{part}", source.name));
                }
            }
            if PRINTING.contains(&token) && source.at(i + 1) == "!" {
                wrong.push(format!("src/{}.rs prints with {token}!", source.name));
            }
        }
    }
    assert_none("fences", &wrong);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let mut wrong = Vec::new();
    for path in ["src", "tests", "benches", "examples", "fuzz/src", "fuzz/fuzz_targets"]
        .into_iter()
        .flat_map(rust_files)
        .chain([root().join("build.rs")])
    {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        if !text.starts_with("//! ") {
            wrong.push(format!("{name} does not open with a //! sentence"));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{name} has {lines} lines, at most {MOST_LINES}"));
        }
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|w| marks.iter().any(|m| m == w)) {
                wrong.push(format!("{name}:{} holds a note to do something later", number + 1));
            }
        }
    }
    assert_none("form of files", &wrong);
}

#[test]
fn paths_in_the_architecture_page_exist() {
    let Ok(page) = fs::read_to_string(root().join("docs/architecture.md")) else { return };
    let mut wrong = Vec::new();
    let mut seen = 0;
    // Code spans that look like paths of this tree.
    for span in page.split('`').skip(1).step_by(2) {
        let first = span.split('/').next().unwrap();
        let tree = ["src", "tests", "gpus", "scenarios", "docs", "benches", "fuzz", ".ci"].contains(&first);
        let file = span.ends_with(".rs") || span.ends_with(".toml") || span.ends_with(".md");
        if (tree && span.contains('/') || file) && !span.contains(['<', '*', ' ', '{']) {
            seen += 1;
            if !root().join(span.trim_end_matches('/')).exists() {
                wrong.push(format!("{span} does not exist"));
            }
        }
    }
    assert!(seen > 10, "only {seen} paths were seen");
    for module in ORDER.iter().filter(|m| root().join("src").join(format!("{m}.rs")).exists()) {
        if !page.contains(&format!("`{module}`")) {
            wrong.push(format!("module {module} is not in the list"));
        }
    }
    let places: Vec<usize> = ORDER.iter().filter_map(|m| page.find(&format!("| `{m}` |"))).collect();
    if !places.is_sorted() {
        wrong.push("the module list is not in the order that the test enforces".into());
    }
    assert_none("docs/architecture.md", &wrong);
}

#[test]
fn the_token_reader_sees_through_comments_strings_and_groups() {
    let text = r##"use crate::{gpu::{Gpu, Pipe}, time}; // crate::cli
        const A: &str = "crate::report"; const B: char = '"'; const C: &str = r#"crate::chart"#;
        mod tests { use super::super::verdict; fn f<'a>(x: &'a str) { super::units::f() } }"##;
    let source = Source { name: "kernel".into(), tokens: tokens(text) };
    assert_eq!(used_modules(&source), ["gpu", "time", "verdict"]);
    let source = Source { name: "gpu/read".into(), tokens: tokens("use super::Gpu; use super::super::units::Bytes;") };
    assert_eq!(used_modules(&source), ["units"]);
}

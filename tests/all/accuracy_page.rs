//! The charts and tables of `docs/accuracy.md` are what its commands make: the charts from the sample in this repository,
//! the tables from the whole data where `MEASURED_TIMES` names a folder that has them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use assert_cmd::Command;

use crate::place::{Place, text};

const SAMPLE: &str = include_str!("../data/gemm_bf16_sample.csv");
/// What stands before and behind each table.
const BEGIN: &str = "<!-- What the command above prints; do not edit by hand. -->\n\n";
const END: &str = "\n<!-- End of the table. -->";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn page() -> String {
    fs::read_to_string(docs().join("accuracy.md")).unwrap()
}

fn update() -> bool {
    env::var_os("UPDATE_DOCS").is_some()
}

/// The words of the commands in a part of the page.
fn commands(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace(" \\\n", " ");
    let lines = joined.lines().filter_map(|l| l.strip_prefix("wavecast "));
    lines.map(|l| l.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn the_charts_are_drawn_from_the_sample() {
    let place = Place::new();
    place.file("gemm_bf16_sample.csv", SAMPLE);
    let page = page();
    let mut drawn = 0;
    for words in commands(&page).iter().filter(|words| words[0] == "chart") {
        place.out(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let file = words.last().unwrap();
        let picture = docs().join("img").join(file);
        if update() {
            fs::write(&picture, place.read(file)).unwrap();
        }
        assert!(page.contains(&format!("(img/{file})")), "{file}");
        let same = fs::read(&picture).is_ok_and(|bytes| bytes == place.read(file));
        assert!(same, "docs/img/{file} is out of date: run the tests once with UPDATE_DOCS=1");
        let svg = text(&place.read(file));
        assert!(svg.contains("1,600 rows of gemm_bf16_sample.csv (aiconfigurator-core-0.12.0)"), "{file}");
        drawn += 1;
    }
    assert_eq!((drawn, page.matches("(img/").count()), (2, 2));
}

/// The page with what `print` makes of the command before each table in place of the table.
fn rewritten(page: &str, print: impl Fn(&[String]) -> String) -> String {
    let mut parts = page.split(BEGIN);
    let mut before = parts.next().unwrap();
    let mut out = before.to_owned();
    for part in parts {
        let words = commands(before).pop().expect("a command before each table");
        let (_, rest) = part.split_once(END).expect("an end behind each table");
        out += &format!("{BEGIN}{}{END}{rest}", print(&words));
        before = rest;
    }
    out
}

#[test]
fn the_tables_are_what_their_commands_print() {
    let page = page();
    let Some(folder) = env::var_os("MEASURED_TIMES") else {
        // The data are not here; the columns of the sample's tables are.
        let place = Place::new();
        place.file("gemm_bf16_sample.csv", SAMPLE);
        let heads = |table: &str| -> Vec<String> {
            let head = table.lines().next().unwrap_or_default();
            head.split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let tables: Vec<&str> = page.split(BEGIN).skip(1).collect();
        assert_eq!(tables.len(), 4);
        let printed = std::cell::RefCell::new(Vec::new());
        rewritten(&page, |words| {
            let options = words.iter().skip_while(|word| !word.starts_with("--")).map(String::as_str);
            let all: Vec<&str> = ["validate", "gemm_bf16_sample.csv"].into_iter().chain(options).collect();
            printed.borrow_mut().push(place.out(&all));
            String::new()
        });
        for (table, printed) in tables.iter().zip(printed.borrow().iter()) {
            assert_eq!(heads(table), heads(printed));
        }
        return;
    };
    let current = rewritten(&page, |words| {
        let run = Command::cargo_bin("wavecast").unwrap().args(words).current_dir(&folder).output().unwrap();
        assert!(run.status.code().is_some_and(|code| code < 2), "{}", text(&run.stderr));
        text(&run.stdout)
    });
    if update() {
        fs::write(docs().join("accuracy.md"), &current).unwrap();
    }
    let same = current == self::page();
    assert!(same, "the tables of docs/accuracy.md are out of date: run this test once with UPDATE_DOCS=1 as well");
}

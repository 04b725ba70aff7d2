//! `lab` at the terminal: what is shown, exit codes, hints, files of answers and folders of them.

use serde_json::Value;
use wavecast::lab::Part;

use crate::{
    lab::{CATALOG, LABS},
    place::{Place, narrow, table, text},
};

fn run(place: &Place, words: &[&str]) -> (Option<i32>, String) {
    let run = place.run(&[&["lab"], words].concat());
    let output = run.get_output();
    (output.status.code(), text(&output.stdout))
}

#[test]
fn every_lab_answers_at_the_terminal() {
    let place = Place::new();
    for lab in LABS.iter() {
        let number = lab.number.to_string();
        for seed in [None, Some("ada")] {
            let exercise = lab.exercise(&CATALOG, seed).unwrap();
            let seeded: Vec<&str> = seed.into_iter().flat_map(|seed| ["--seed", seed]).collect();
            let ask = |words: &[&str]| run(&place, &[&["check", &number], &seeded[..], words].concat());
            for part in [Part::Predict, Part::Transfer] {
                let question = exercise.question(part);
                let which = ["--part", part.word()];
                let answer = |value: f64| ask(&[&["--answer", &question.unit.print(value)], &which[..]].concat());
                let (code, said) = answer(question.answer);
                assert_eq!(code, Some(0), "{said}");
                let squeezed = |text: &str| text.replace('`', "'").split_whitespace().collect::<Vec<_>>().join(" ");
                if part == Part::Predict {
                    let said = squeezed(&said);
                    assert!(exercise.explain.iter().all(|step| said.contains(&squeezed(step))), "{said}");
                    assert!(said.contains(&squeezed(&exercise.transfer.ask)), "{said}");
                }
                for trap in &question.traps {
                    let (code, said) = answer(trap.value);
                    assert_eq!(code, Some(1), "{said}");
                    assert!(squeezed(&said).contains(&squeezed(&trap.reason)), "{said}");
                }
                let (code, said) = answer(question.answer * 1.05);
                assert_eq!(code, Some(1), "{said}");
                for (place, hint) in question.hints.iter().enumerate() {
                    let (code, said) = ask(&[&["--hint", &(place + 1).to_string()], &which[..]].concat());
                    assert!(code == Some(0) && squeezed(&said).contains(&squeezed(hint)), "{said}");
                }
            }
        }
        let (code, shown) = run(&place, &["show", &number]);
        assert_eq!(code, Some(0));
        narrow(&["show", &number], &shown);
        let exercise = lab.exercise(&CATALOG, None).unwrap();
        assert!(!shown.contains(&exercise.explain[0][..20]), "{shown}");
        assert!(run(&place, &["show", &lab.id, "--answers"]).1.contains("Explanation"));
    }
}

#[test]
fn forms_and_lists() {
    let place = Place::new();
    narrow(&["list"], &run(&place, &["list"]).1);
    assert_eq!(table(&run(&place, &["list", "--format", "csv"]).1).len(), LABS.len() + 1);
    let of = |words: &[&str]| serde_json::from_str::<Value>(&run(&place, words).1).unwrap();
    assert_eq!(of(&["list", "--format", "json"]).as_array().unwrap().len(), LABS.len());
    let student = of(&["show", "4", "--format", "json"]);
    assert_eq!(student["schema"], "wavecast.lab/1");
    assert!(student.get("explain").is_none() && student["predict"].get("answer").is_none(), "{student}");
    let teacher = of(&["show", "4", "--format", "json", "--answers", "--seed", "Ada"]);
    assert!(teacher["transfer"]["answer"].is_number() && teacher["seed"] == "Ada", "{teacher}");
    let page = run(&place, &["show", "4", "--format", "markdown", "--output", "lab.md"]);
    assert_eq!(page, (Some(0), String::new()));
    assert!(text(&place.read("lab.md")).starts_with("# Lab 4: Where is the ridge?\n"));
    // The short form of --part.
    assert_eq!(run(&place, &["check", "3", "--transfer", "--answer", "1.25"]).0, Some(0));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let place = Place::new();
    place.file("own.toml", "schema = 1\n");
    place.file("empty.toml", "");
    let cases: [(&[&str], &[&str]); 14] = [
        (&["show", "99"], &["there is no lab `99`", "1 (limiter)"]),
        (&["show", "1", "--seed", " "], &["the seed is empty"]),
        (&["show", "own.toml"], &["own.toml is not a valid lab file", "missing field"]),
        (&["show", "none.toml"], &["`none.toml` cannot be read"]),
        (&["check", "2", "--answer", "2"], &["`2` cannot be read", "the unit is missing"]),
        (&["check", "2", "--answer", "2 GB"], &["unknown unit `GB`", "ms"]),
        (&["check", "1", "--answer", "nan"], &["`nan`", "does not start with a number"]),
        (&["check", "1", "--answer", "0,375"], &["a comma is read in two ways"]),
        (&["check", "1", "--answer", ""], &["does not start with a number"]),
        (&["check", "3", "--answer", "-2"], &["it is negative"]),
        (&["check", "1", "--hint", "4"], &["--hint 4", "hints 1 to 3"]),
        (&["check", "1", "--hint", "0"], &["--hint 0"]),
        (&["check", "--file", "none.toml"], &["`none.toml` cannot be read"]),
        (&["check", "--file", "empty.toml", "--labs", "1,77"], &["--labs", "there is no lab `77`"]),
    ];
    for (words, says) in cases {
        place.refused(&[&["lab"], words].concat(), says);
    }
    for words in [&["check"][..], &["check", "1"], &["check", "1", "--file", "a"], &["check", "--json", "a"]] {
        assert_eq!(run(&place, words).0, Some(2), "{words:?}");
    }
}

#[test]
fn a_lab_of_ones_own_and_seeds_of_any_name() {
    let place = Place::new();
    place.file("my lab.toml", include_str!("../../docs/labs/03-one-column.toml"));
    let (code, said) = run(&place, &["show", "my lab.toml", "--seed", "Zoë $HOME \"x\""]);
    assert_eq!(code, Some(0));
    assert!(said.contains(r#"wavecast lab check "my lab.toml" --seed "Zoë \$HOME \"x\"" --answer"#), "{said}");
    assert_eq!(run(&place, &["check", "my lab.toml", "--answer", "2x"]).0, Some(0));
    // The command that is shown takes the seed again.
    let said = run(&place, &["show", "3", "--seed=-x y"]).1;
    assert!(said.contains(r#"wavecast lab check 3 --seed="-x y" --answer"#), "{said}");
    // With the memory of the class's own GPU file.
    std::fs::create_dir(place.0.path().join("gpus")).unwrap();
    let file = CATALOG.text("h100-sxm5-80gb").unwrap().replace("\"3.35 TB/s\"", "\"3 TB/s\"");
    place.file("gpus/h100-sxm5-80gb.toml", file);
    assert_eq!(run(&place, &["check", "ridge", "--answer", "359", "--gpu-dir", "gpus"]).0, Some(0));
    assert_eq!(run(&place, &["check", "ridge", "--answer", "359"]).0, Some(1));
}

#[test]
fn a_negative_answer_is_no_option_and_a_long_one_is_not_repeated() {
    Place::new().refused(&["lab", "check", "2", "--answer", "-2 ms"], &["`-2 ms` is not a time: it is negative"]);
    let long = "9".repeat(100_000);
    let output = Place::new().run(&["lab", "check", "2", "--answer", &long]);
    let said = text(&output.get_output().stderr);
    assert!(said.contains("more than 60 characters; write a time") && said.len() < 300, "{said}");
}

#[test]
fn every_line_fits_a_terminal() {
    let place = Place::new();
    for (lab, seed) in LABS.iter().flat_map(|lab| [None, Some("grace")].map(|seed| (lab, seed))) {
        let exercise = lab.exercise(&CATALOG, seed).unwrap();
        let (name, right) = (lab.number.to_string(), exercise.predict.unit.print(exercise.predict.answer));
        let trap = exercise.predict.unit.print(exercise.predict.traps[0].value);
        let all: [(&[&str], i32); 5] = [
            (&["show", &name], 0),
            (&["show", &name, "--answers"], 0),
            (&["check", &name, "--answer", &right], 0),
            (&["check", &name, "--answer", &trap], 1),
            (&["check", &name, "--hint", "3"], 0),
        ];
        for (words, expected) in all {
            let seeded: Vec<&str> = seed.into_iter().flat_map(|seed| ["--seed", seed]).collect();
            let (code, said) = run(&place, &[words, &seeded[..]].concat());
            assert_eq!(code, Some(expected), "{said}");
            // Commands are to be copied as they are.
            let long = said.lines().find(|line| line.chars().count() > 80 && !line.contains("wavecast "));
            assert_eq!(long, None, "{words:?}");
        }
    }
}

/// A sheet with the right answers of a seed to the labs that `which` picks, a wrong one to lab 2 if it is not among them.
fn sheet(student: &str, which: impl Fn(u32) -> bool) -> String {
    let mut file = format!("student = \"{student}\"\nseed = \"{student}\"\n[answers]\n");
    for lab in LABS.iter().filter(|lab| which(lab.number)) {
        let exercise = lab.exercise(&CATALOG, Some(student)).unwrap();
        file += &format!("{} = \"{}\"\n", lab.number, exercise.transfer.unit.print(exercise.transfer.answer));
    }
    file
}

#[test]
fn a_file_of_answers_becomes_results() {
    let place = Place::new();
    place.file("ada.toml", sheet("ada", |_| true));
    let (code, said) = run(&place, &["check", "--file", "ada.toml", "--json", "r.json"]);
    assert!(code == Some(0) && said.starts_with(&format!("ada: {0} of {0}\n", LABS.len())), "{said}");
    let results = |name: &str| serde_json::from_slice::<Value>(&place.read(name)).unwrap();
    let all = results("r.json");
    assert_eq!((&all["version"], &all["status"], &all["message"]), (&2.into(), &"pass".into(), &Value::Null));
    assert_eq!(all["tests"].as_array().unwrap().len(), LABS.len());

    // Wrong, unreadable, missing; a number without quotes, an id instead of a number, predictions that do not count.
    let trap = LABS[0].exercise(&CATALOG, None).unwrap().transfer.traps[0].clone();
    place.file(
        "bob.toml",
        format!(
            "student = 17\n[answers]\n1 = {}\n2 = \"238 rows\"\none-column = 1.25\n[predictions]\n3 = \"2x\"\n",
            trap.value
        ),
    );
    let (code, said) = run(&place, &["check", "--file", "bob.toml", "--labs", "1,2,3,ridge", "--json", "b.json"]);
    assert!(code == Some(0) && said.starts_with("17: 1 of 4\n"), "{said}");
    let bob = results("b.json");
    let of = |place: usize, key: &str| bob["tests"][place][key].clone();
    assert_eq!([0, 1, 2, 3].map(|place| of(place, "status")), ["fail", "error", "pass", "fail"]);
    assert_eq!((of(0, "message"), of(3, "message")), (trap.reason.into(), "no answer".into()));
    assert!(of(1, "message").as_str().unwrap().contains("unknown unit `rows`"));
    assert_eq!((of(2, "prediction_status"), &bob["score"], &bob["status"]), ("pass".into(), &1.into(), &"fail".into()));

    // A value that is no answer is judged alone.
    place.file(
        "fay.toml",
        "student = \"fay\"\n[answers]\n1 = [1, 2]\n2 = true\none-column = 1.25\n4 = 2026-01-01\n\
         [answers.5]\nx = 1\n[predictions]\n1 = []\n",
    );
    let (code, said) = run(&place, &["check", "--file", "fay.toml", "--labs", "1,2,3,4,5", "--json", "f.json"]);
    assert!(code == Some(0) && said.matches("  error ").count() == 4 && said.starts_with("fay: 1 of 5\n"), "{said}");
    let fay = results("f.json");
    let message = |place: usize| fay["tests"][place]["message"].as_str().unwrap();
    assert_eq!(message(0), "it is a list; write a share like \"7.3 %\" or 0.073");
    assert_eq!(message(1), "it is a truth value; write a number of blocks like \"73 blocks\" or 73");
    assert!(message(3).starts_with("it is a date; write ") && message(4).starts_with("it is a table; write a number"));
    assert_eq!(
        (&fay["tests"][0]["answer"], &fay["tests"][0]["prediction_status"]),
        (&"[1, 2]".into(), &"error".into())
    );
}

#[test]
fn what_is_no_sheet_fails_and_its_results_say_why() {
    let place = Place::new();
    let long = format!("student = \"eve\"\n#{}", "x".repeat(300_000));
    for (file, says) in [
        (&b"student = "[..], &["line 1"][..]),
        (b"student = \"eve\"\nanswer = 3", &["unknown field `answer`"]),
        (b"student = \"eve\"\n[answers]\n1 = 37.5 %", &["line 3", "write answers in quotes, such as 1 = \"37.5 %\""]),
        (b"student = \"eve\"\n[answers]\n77 = 3", &["answers.77 = 3: there is no lab `77`"]),
        (b"student = \"eve\"\n[answers]\n1 = 3\nlimiter = 4", &["lab 1 is answered twice"]),
        (b"student = \"eve\"\nseed = \"\"", &["seed = : the seed is empty"]),
        (b"student = [1]", &["student = [1]: it is a list; write a name in quotes"]),
        (b"\xff\xfes\x00", &["it is not UTF-8 text; save it as UTF-8"]),
        (long.as_bytes(), &["it is longer than 256 KiB"]),
    ] {
        place.file("eve.toml", file);
        assert_eq!(run(&place, &["check", "--file", "eve.toml", "--json", "e.json"]), (Some(2), String::new()));
        let eve: Value = serde_json::from_slice(&place.read("e.json")).unwrap();
        let message = eve["message"].as_str().unwrap();
        assert!(eve["status"] == "error" && eve["tests"] == serde_json::json!([]), "{eve}");
        assert!(says.iter().all(|part| message.contains(part)) && message.len() < 500, "{message}");
        place.refused(&["lab", "check", "--file", "eve.toml"], &[says, &["eve.toml"]].concat());
    }
    // As editors of other systems write it.
    place.file("dos.toml", b"\xef\xbb\xbfstudent = \"dos\"\r\n[answers]\r\n3 = 1.25\r\n");
    let (code, said) = run(&place, &["check", "--file", "dos.toml", "--labs", "3"]);
    assert!(code == Some(0) && said.starts_with("dos: 1 of 1\n"), "{said}");
}

#[test]
fn a_folder_becomes_a_table() {
    let place = Place::new();
    let folder = place.0.path().join("class");
    std::fs::create_dir(&folder).unwrap();
    place.refused(&["lab", "check", "--folder", "class"], &["has no file of answers"]);
    place.refused(&["lab", "check", "--folder", "nowhere"], &["--folder `nowhere` cannot be read"]);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("ada.toml", &sheet("ada", |_| true));
    write("bob.toml", &sheet("bob", |number| number > 2));
    write("notes.txt", "not a sheet");
    let words = ["check", "--folder", "class", "--output", "s.csv", "--labs", "3,1,2"];
    assert_eq!(run(&place, &words), (Some(0), String::new()));
    let rows = table(&text(&place.read("s.csv")));
    assert_eq!(rows[0], ["file", "student", "seed", "score", "of", "lab_1", "lab_2", "lab_3", "error"]);
    assert_eq!(rows[1], ["ada.toml", "ada", "ada", "3", "3", "pass", "pass", "pass", ""]);
    assert_eq!(rows[2], ["bob.toml", "bob", "bob", "1", "3", "none", "none", "pass", ""]);
    // What a student writes is no formula in the teacher's spreadsheet and stays on its line.
    write("bob.toml", "student = \"=1+2\\nx\"\nseed = -5\n");
    let rows = table(&run(&place, &["check", "--folder", "class"]).1);
    assert_eq!(rows[2][1..3], ["'=1+2 x", "'-5"]);
    // A file that is none keeps its row, and the exit code says so.
    write("carl.toml", "student = \"carl\"\nanswers = 3\n");
    std::fs::write(folder.join("dora.toml"), b"\xff\xfe").unwrap();
    let (code, csv) = run(&place, &["check", "--folder", "class"]);
    let rows = table(&csv);
    assert_eq!((code, rows.len()), (Some(1), 5));
    assert!(rows[3][0] == "carl.toml" && rows[3].last().unwrap().contains("answers"), "{:?}", rows[3]);
    assert!(rows[4].last().unwrap().contains("UTF-8"), "{:?}", rows[4]);
    // What is no file does not hold the others up.
    std::fs::create_dir(folder.join("erin.toml")).unwrap();
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(folder.join("finn.toml")).status().unwrap().success());
    let (code, csv) = run(&place, &["check", "--folder", "class"]);
    let rows = table(&csv);
    assert_eq!((code, rows.len()), (Some(1), if cfg!(unix) { 7 } else { 6 }));
    assert!(rows[5..].iter().all(|row| row.last().unwrap().contains("no regular file")), "{csv}");
    let note = |words: &[&str]| {
        text(&place.run(&[&["lab", "check", "--folder", "class"], words].concat()).get_output().stderr)
    };
    let noted = note(&[]);
    assert!(noted.contains("not graded: carl.toml, dora.toml, erin.toml"), "{noted}");
    // Two sheets of one student, one of them from a system that writes endings large.
    assert!(!noted.contains("same student"), "{noted}");
    write("ZADA.TOML", &sheet("Ada", |_| false));
    let noted = note(&[]);
    assert!(noted.contains("warning: ZADA.TOML, ada.toml are of the same student, ada"), "{noted}");
    assert_eq!(note(&["--quiet"]), "");
}

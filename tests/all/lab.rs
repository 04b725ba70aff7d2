//! Labs: right answers, traps and answers that are 5 % off, for every draw; commands that run and print the explanation's numbers.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavecast::{
    gpu::Catalog,
    lab::{Exercise, Lab, Part, Sheet, Unit, Verdict, find, labs},
};

use crate::place::{Place, text};

pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());
pub static LABS: LazyLock<Vec<Lab>> = LazyLock::new(|| labs().unwrap());

/// The words of a command as a shell reads them: double quotes hold spaces.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Both questions of an exercise judge right answers, traps and what is 5 % off.
#[track_caller]
fn judges(exercise: &Exercise) {
    for part in [Part::Predict, Part::Transfer] {
        let question = exercise.question(part);
        let what = format!("lab {}, {}, {:?}", exercise.number, part.word(), exercise.drawn);
        assert_eq!(question.judge(question.answer), Verdict::Right, "{what}");
        let printed = question.unit.print(question.answer);
        let read = question.check(&printed).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(read, Verdict::Right, "{what}: {printed}");
        for off in [0.95, 1.05] {
            let wrong = question.judge(question.answer * off);
            assert!(wrong != Verdict::Right, "{what}: {off} x {} is right", question.answer);
        }
        assert!(!question.traps.is_empty(), "{what}");
        for trap in &question.traps {
            let reason = Verdict::Trap(trap.reason.clone());
            assert_eq!(question.judge(trap.value), reason, "{what}: {}", trap.value);
            let printed = question.unit.print(trap.value);
            assert_eq!(question.check(&printed).unwrap(), reason, "{what}: {printed}");
        }
        // The way to write an answer shown with each question is no answer itself.
        for example in question.unit.example().split(" or ") {
            assert!(question.check(example.trim_matches('"')).unwrap() == Verdict::Wrong, "{what}: {example}");
        }
        let texts = question.hints.iter().chain([&question.ask]).chain(question.traps.iter().map(|t| &t.reason));
        assert!(texts.into_iter().all(|t| !t.trim().is_empty() && !t.contains(['{', '}'])), "{what}");
    }
}

#[test]
fn nine_labs_in_order() {
    assert!(LABS.len() >= 9);
    for (place, lab) in LABS.iter().enumerate() {
        assert_eq!(lab.number as usize, place + 1, "{}", lab.id);
        let file = format!("{}/docs/labs/{:02}-{}.toml", env!("CARGO_MANIFEST_DIR"), lab.number, lab.id);
        assert!(std::path::Path::new(&file).exists(), "{file}");
        assert!((5..=20).contains(&lab.minutes) && !lab.removes.is_empty());
    }
    assert_eq!(find(&LABS, "4").unwrap().id, find(&LABS, "ridge").unwrap().id);
    assert!(find(&LABS, "ridges").unwrap_err().to_string().contains("4 (ridge)"));
}

#[test]
fn every_draw_of_every_lab_is_judged_rightly() {
    for lab in LABS.iter() {
        let all = lab.every_exercise(&CATALOG, 400).unwrap_or_else(|e| panic!("{e}"));
        assert!(all.len() >= 6, "{}: only {} draws", lab.id, all.len());
        all.iter().for_each(judges);
        // A class gets different numbers, and the answers differ too.
        for part in [Part::Predict, Part::Transfer] {
            let mut answers: Vec<String> = all.iter().map(|e| format!("{:.9e}", e.question(part).answer)).collect();
            answers.sort();
            answers.dedup();
            let few = lab.id == "one-column" || lab.id == "a-seventh" || lab.id == "twice-the-peak";
            assert!(answers.len() >= 4 || few, "{} {}: {} answers", lab.id, part.word(), answers.len());
        }
    }
}

#[test]
fn hundreds_of_seeds_draw_and_stay() {
    for lab in LABS.iter() {
        judges(&lab.exercise(&CATALOG, None).unwrap());
        let mut seen = std::collections::BTreeSet::new();
        for student in 0..200 {
            let exercise =
                lab.exercise(&CATALOG, Some(&format!("student {student}"))).unwrap_or_else(|e| panic!("{e}"));
            if seen.insert(exercise.drawn.clone()) {
                judges(&exercise);
            }
        }
        assert!(seen.len() >= 6, "{}: {} draws", lab.id, seen.len());
    }
    let of = |seed: &str| find(&LABS, "limiter").unwrap().exercise(&CATALOG, Some(seed)).unwrap();
    assert_eq!(of("Ada").drawn, of("  aDA ").drawn);
    // The draw of a name stays while the lists of the lab do, so that sheets that were handed out stay right.
    let drawn = of("ada").drawn.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
    assert_eq!(drawn, "block=192 gpu=a100-sxm4-80gb other_block=96 regs=80 smem_kib=16");
}

#[test]
fn the_right_answers_are_those_worked_out_by_hand() {
    // Of the first numbers, on an H100 SXM but for lab 3 (A100).
    let hand = [
        ("limiter", 24.0 / 64.0, 40.0 / 64.0),
        ("last-wave", 2e-3, 238.0),
        ("one-column", 2.0, 1.25),
        // 989.4 / 3.35 = 295.4; 295.4 / (1 - 2 x 295.4 / 8192) = 318.3.
        ("ridge", 319.0, 311.9 / 2.039 / 2.0),
        // 64 x 32 x 2 B / 353.5 ns x 132 = 1.529 TB/s; 8972 / 512 = 17.5.
        ("full-but-slow", 1.529 / 3.35, 18.0),
        // (134.2 + 2.1) / (75.5 + 2.1) MB.
        ("twice-the-peak", 136.3 / 77.6, 2.0),
        ("a-seventh", 8.0, 10.0 / 108.0),
        ("will-it-fit", 126e9, 26e9 + 52e9 + 156e9 / 8.0),
    ];
    for (id, predict, transfer) in hand {
        let exercise = find(&LABS, id).unwrap().exercise(&CATALOG, None).unwrap();
        for (found, right) in [(exercise.predict.answer, predict), (exercise.transfer.answer, transfer)] {
            assert!((found / right - 1.0).abs() < 2e-3, "{id}: {found}, by hand {right}");
        }
    }
}

#[test]
fn a_corrected_gpu_file_corrects_the_labs() {
    let mut catalog = Catalog::embedded().unwrap();
    let file = catalog.text("h100-sxm5-80gb").unwrap().replace("\"3.35 TB/s\"", "\"3 TB/s\"");
    catalog.add("h100-sxm5-80gb", &file).unwrap();
    let ridge = find(&LABS, "ridge").unwrap().exercise(&catalog, None).unwrap();
    // 329.8 / (1 - 2 x 329.8 / 8192) = 358.7.
    assert_eq!(ridge.predict.answer, 359.0);
    assert!(ridge.explain[0].contains("/ 3 TB/s"), "{}", ridge.explain[0]);
}

#[test]
fn commands_run_and_print_the_numbers_of_the_explanation() {
    let place = Place::new();
    for lab in LABS.iter() {
        for seed in [None, Some("ada"), Some("grace"), Some("linus")] {
            let exercise = lab.exercise(&CATALOG, seed).unwrap();
            for observation in &exercise.observe {
                let words = words(&observation.run);
                let run = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
                let output = run.get_output();
                let (printed, errors) = (text(&output.stdout), text(&output.stderr));
                assert_eq!(output.status.code(), Some(0), "{}: {errors}", observation.run);
                let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(!observation.shows.is_empty(), "{}", observation.run);
                for shown in &observation.shows {
                    assert!(printed.contains(shown), "{} does not print `{shown}`: {printed}", observation.run);
                }
            }
        }
    }
}

const FILE: &str = include_str!("../../docs/labs/02-last-wave.toml");

#[test]
fn wrong_lab_files_say_what_is_wrong() {
    let cases: [(&str, &str, &[&str]); 20] = [
        ("minutes = 10", "minuts = 10", &["lab file", "minuts", "unknown field", "minutes"]),
        ("schema = 1", "schema = 2", &["schema = 2", "reads schema 1"]),
        ("number = 2", "number = 0", &["numbered from 1"]),
        ("kind = \"waves\"", "kind = \"wafes\"", &["measure.grid", "wafes", "gpu, occupancy, waves"]),
        (
            "blocks = \"sm.sms + extra\"",
            "blocks = \"sm.sms + extras\"",
            &["nothing is called `extras`", "did you mean extra"],
        ),
        ("blocks = \"sm.sms + extra\"", "bloks = \"1\"", &["`blocks` is missing"]),
        ("blocks = \"sm.sms + extra\"", "blocks = 3\nper = 1", &["nothing reads the setting `per`", "per_sm"]),
        ("answer = \"least\"", "answer = \"least +\"", &["transfer.answer = least +", "it ends where"]),
        ("answer = \"least\"", "answer = \"least - least\"", &["transfer.answer", "above 0"]),
        (
            "value = \"by_last_wave\"",
            "value = \"least\"",
            &["transfer.traps.value = least", "238 blocks", "cannot be told apart"],
        ),
        ("value = \"by_last_wave\"", "value = \"in_one_wave\"", &["another trap", "119 blocks"]),
        ("tolerance = 0.002", "tolerance = 0.2", &["predict.tolerance = 0.2", "from 0 to 0.04"]),
        ("tolerance = 0.002", "tolerance = 0.01", &["predict.traps.value", "narrow the tolerance"]),
        ("least = \"ceil(2", "least = \"least + ceil(2", &["`least` is defined by itself: least -> least"]),
        ("{sm.sms + 1} waits", "{sm.sms + 1 waits", &["explain", "the brace before `sm.sms + 1 waits"]),
        (
            "gpu = [\"h100-sxm5-80gb\", ",
            "gpu = [\"h100-smx5\", ",
            &["require", "measure.grid", "h100-smx5", "gpus list"],
        ),
        ("unlock = [\"blocks\"]", "unlock = [\"a\", \"b\", \"c\", \"d\"]", &["unlock", "at most 3 controls"]),
        ("quantity = \"time\"", "quantity = \"mood\"", &["quantity", "mood", "slowdown"]),
        ("percent = [90, 80, 95, 85]", "percent = []", &["numbers.percent", "at least one value"]),
        ("\"grid.whole == 2\"", "\"grid.whole == 3\"", &["no numbers drawn", "grid.whole == 3"]),
    ];
    for (from, to, says) in cases {
        assert!(FILE.contains(from), "{from}");
        let file = FILE.replace(from, to);
        let made = Lab::parse("docs/labs/02-last-wave.toml", &file).and_then(|lab| lab.exercise(&CATALOG, None));
        let error = made.expect_err(to).to_string();
        for part in says.iter().chain(&["docs/labs/02-last-wave.toml"]) {
            assert!(error.contains(part), "{to}: no `{part}` in: {error}");
        }
    }
    let lab = Lab::parse("l", FILE).unwrap();
    assert!(lab.exercise(&CATALOG, Some("  ")).unwrap_err().to_string().contains("--seed ada"));
    // A name of a measure that is no field, and a word where a number should be.
    for (from, says) in [("sm.smss", "`sm` has no `smss`; it has bandwidth"), ("sm.name + 1", "is the word `H100")] {
        let file = FILE.replace("answer = \"least\"", &format!("answer = \"{from}\""));
        let error = Lab::parse("l", &file).unwrap().exercise(&CATALOG, None).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn long_chains_of_names_end() {
    let chain: String = (0..5000).map(|i| format!("a{i} = \"a{}\"\n", i + 1)).collect();
    let file = FILE.replace("[let]\n", &format!("[let]\n{chain}a5000 = \"1\"\n"));
    let error = Lab::parse("l", &file).unwrap().exercise(&CATALOG, None).unwrap_err().to_string();
    assert!(error.contains("more than 50 other names") && error.len() < 5000, "{error}");
}

#[test]
fn files_that_want_too_much_end_at_once() {
    let parse = |file: &str| Lab::parse("l", file).and_then(|lab| lab.exercise(&CATALOG, Some(&"s".repeat(10_000))));
    let refused = |from: &str, to: &str, says: &str| {
        assert!(FILE.contains(from), "{from}");
        let error = parse(&FILE.replace(from, to)).expect_err(to).to_string();
        assert!(error.contains(says) && error.len() < 1500, "{error}");
    };
    // Each name twice in the one before: 2^40 sums.
    let chain: String = (0..40).map(|i| format!("a{i} = \"a{0} + a{0}\"\n", i + 1)).collect();
    assert!(parse(&FILE.replace("[let]\n", &format!("[let]\n{chain}a40 = \"1\"\n"))).is_ok());
    // Every draw breaks the same condition, which asks for matrix products.
    let products: String = (0..20)
        .map(|i| format!("[measure.g{i}]\nkind = \"gemm\"\ngpu = \"{{gpu}}\"\nm = \"j + {i}\"\nn = 64\nk = 64\n"))
        .collect();
    let all = (0..20).map(|i| format!("g{i}.time")).collect::<Vec<_>>().join(" + ");
    let many = (64..1064).map(|j| j.to_string()).collect::<Vec<_>>().join(", ");
    let file = FILE
        .replace("[numbers]\n", &format!("[numbers]\nj = [{many}]\n"))
        .replace("[let]\n", &format!("{products}[let]\nall = \"{all}\"\n"))
        .replace("require = [", "require = [\"all < 0\",");
    let error = parse(&file).unwrap_err().to_string();
    assert!(error.contains("(last: all < 0)") && error.len() < 500, "{error}");
    let long = "z".repeat(100_000);
    for (from, to, says) in [
        ("{sm.sms + 1} waits", "{sm.sms + 1|blocks:100000} waits", "`100000` is no number of digits; write 1 to 15"),
        ("{sm.sms + 1} waits", "{1 / 0|s} waits", "it is infinite"),
        ("{sm.sms + 1} waits", "{1e999} waits", "it is infinite"),
        ("answer = \"least\"", &format!("answer = \"{long}\""), "nothing is called `zzz"),
        ("answer = \"least\"", &format!("answer = \"least {long}\""), "is left over"),
        ("answer = \"least\"", &format!("answer = \"least + {}\"", "(".repeat(10_000)), "nested more than"),
        ("answer = \"least\"", &format!("answer = \"sm.{long}\""), "`sm` has no `zzz"),
        ("answer = \"least\"", &format!("answer = \"{long}(1)\""), "there is no zzz"),
        ("unit = \"blocks\"", &format!("unit = \"{long}\""), "more than 200 characters"),
        ("gpu = [\"h100-sxm5-80gb\", ", &format!("gpu = [\"{long}\", "), "more than 200 characters"),
        ("kind = \"waves\"", &format!("kind = \"{long}\""), "more than 200 characters"),
        ("minutes = 10", &format!("minutes = \"{long}\""), "zzz\", expected u32"),
    ] {
        refused(from, to, says);
    }
    assert!(Lab::read("l", &[b'#'; 300_000]).unwrap_err().to_string().contains("longer than 256 KiB"));
    assert!(Lab::read("l", b"\xff").unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn files_that_end_early_say_so() {
    for lab in LABS.iter() {
        let path = format!("{}/docs/labs/{:02}-{}.toml", env!("CARGO_MANIFEST_DIR"), lab.number, lab.id);
        let bytes = std::fs::read(path).unwrap();
        let last = bytes.len() - 50;
        for cut in (0..last).step_by(50) {
            let made = Lab::read("l", &bytes[..cut]).and_then(|lab| lab.exercise(&CATALOG, None));
            let error = made.map(|made| made.title).expect_err("the graded question is last").to_string();
            assert!(error.starts_with("l is not a valid lab file") || error.starts_with("l: "), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_that_is_written_panics(answer in "\\PC{0,20}", number in "[0-9.eE+-]{0,12}[ %xµa-zA-Z/]{0,8}", at in 0_usize..3000, with in "\\PC{0,3}") {
        for unit in ["%", "x", "s", "B", "B/s", "FLOP", "FLOP/s", "FLOP/B", "blocks"].map(|u| Unit::from(u.to_owned())) {
            for text in [&answer, &number] {
                if let Ok(value) = unit.read(text) {
                    prop_assert!(value.is_finite() && value >= 0.0, "{text}: {value}");
                }
            }
        }
        // A lab file with a few letters changed.
        let at = (0..=at.min(FILE.len())).rev().find(|at| FILE.is_char_boundary(*at)).unwrap();
        let end = (at + with.len()..FILE.len()).find(|end| FILE.is_char_boundary(*end)).unwrap_or(FILE.len());
        let changed = format!("{}{with}{}", &FILE[..at], &FILE[end.max(at)..]);
        if let Ok(lab) = Lab::parse("l", &changed) {
            let _ = lab.exercise(&CATALOG, Some(&answer));
        }
        let _ = Sheet::parse("s", &format!("student = \"{answer}\"\n[answers]\n1 = {number}\n"));
    }
}

#[test]
fn units_are_those_of_the_questions() {
    let units: Vec<Unit> = LABS
        .iter()
        .flat_map(|lab| {
            let exercise = lab.exercise(&CATALOG, None).unwrap();
            [exercise.predict.unit, exercise.transfer.unit]
        })
        .collect();
    for unit in [Unit::Share, Unit::Times, Unit::Seconds, Unit::Bytes, Unit::FlopsPerByte, Unit::Count("blocks".into())]
    {
        assert!(units.contains(&unit), "{unit:?}");
    }
}

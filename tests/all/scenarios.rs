//! Scenario files: the built-in ones hold what they promise, and broken ones are refused with line and cure.

use proptest::prelude::*;
use wavecast::{
    gpu::Catalog,
    kernel::Kernel,
    scenario::{Case, Dims, KernelSpec, MAX_CASES, Scenario, Task, embedded, embedded_named, summary},
};

fn kernel(case: &Case) -> &Kernel {
    match &case.task {
        Task::Kernel(kernel, _) => kernel,
        Task::Product(_) => panic!("{} is a product", case.label),
    }
}

fn cases(name: &str) -> Vec<Case> {
    let scenario = Scenario::parse(name, embedded_named(name).expect("a built-in scenario")).expect("it parses");
    scenario.cases(&Catalog::embedded().unwrap()).unwrap()
}

fn time(case: &Case) -> f64 {
    case.analyse().unwrap().time.estimate.get()
}

#[test]
fn every_scenario_meets_its_expectations() {
    let mut wrong = Vec::new();
    let mut expected = 0;
    for (name, text) in embedded() {
        assert!(text.starts_with("# ") && text.contains("\n# Expected: "), "{name} opens with what it shows");
        assert!(!text.lines().any(|l| l.chars().count() > 130), "{name} has a line of more than 130 characters");
        let cases = cases(name);
        println!("{name}: {}", summary(&cases));
        for case in cases {
            let analysis = case.analyse().unwrap_or_else(|e| panic!("{name}, {}: {e}", case.label));
            let verdict = &analysis.verdict;
            println!("  {} on {}: {}, {}", case.label, case.gpu.name, analysis.time.estimate, verdict.sentence);
            for term in &analysis.time.terms {
                print!("    {} {}", term.resource.label(), term.time);
            }
            println!();
            expected += usize::from(case.expect.is_some());
            if case.meets(&analysis) == Some(false) {
                wrong.push(format!("{name}, {}: {}", case.label, verdict.sentence));
            }
        }
    }
    assert!(embedded().count() >= 12 && expected >= 100, "{expected} expectations");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_109th_block_doubles_the_time() {
    let cases = cases("block-109");
    let at = |blocks| {
        time(cases.iter().find(|c| matches!(c.task, Task::Kernel(_, grid) if grid == blocks)).expect("the axis has it"))
    };
    assert_eq!(cases.len(), 121);
    assert!((at(100) / at(108) - 1.0).abs() < 1e-6);
    assert!((at(109) / at(108) - 2.0).abs() < 0.02);
    assert!((at(217) / at(216) - 1.5).abs() < 0.02);
}

#[test]
fn axes_what_ifs_and_assumptions_are_applied() {
    let demo = cases("demo");
    assert_eq!(demo.len(), 18);
    assert!(demo.iter().any(|c| c.label == "gemm (144 SMs)" && c.gpu.sm.count == 144 && c.expect.is_none()));
    let gemm = demo.iter().find(|c| c.label == "gemm").unwrap();
    assert_eq!(kernel(gemm).concurrency.bytes_in_flight, 256.0);
    assert!(gemm.assumptions[0].contains("256 bytes in flight"));
    let steps = cases("shared-memory-limit");
    let last = steps.last().unwrap();
    assert_eq!((last.label.as_str(), last.varied.len()), ("sweep, dynamic_shared 224 KiB", 1));
    assert_eq!(kernel(last).resources.dynamic_shared, 224 * 1024);
    assert_eq!(steps.iter().filter(|c| kernel(c).name == "sweep").count(), 28);

    let open = BASE.replace("h100-sxm5-80gb", "h100");
    let cases = Scenario::parse("open", &open).unwrap().cases(&Catalog::embedded().unwrap()).unwrap();
    assert!(cases[0].assumptions[0].contains("SXM5"));
}

#[test]
fn a_launch_that_cannot_run_is_the_error_of_its_case() {
    let text = format!("{BASE}[[vary]]\nkernel = \"k\"\nkey = \"block\"\nvalues = [1024, 1025, [32, 32]]\n");
    let cases = Scenario::parse("big", &text).unwrap().cases(&Catalog::embedded().unwrap()).unwrap();
    let ran: Vec<bool> = cases.iter().map(|c| c.analyse().is_ok()).collect();
    assert_eq!(ran, [true, false, true]);
    assert!(cases[1].analyse().unwrap_err().to_string().contains("1024 threads"));
    assert_eq!(cases[2].label, "k, block 32x32");
}

#[test]
fn options_and_files_share_their_checks() {
    let spec = KernelSpec { grid: Dims([1, 70_000, 1]), ..KernelSpec::default() };
    let message = spec.build().unwrap_err().to_string();
    assert_eq!(message, "kernel `kernel`: grid = 1x70000: y is 70000, it must be at least 1 and at most 65535 blocks");
}

/// Twelve lines that are right; each error case changes one thing.
const BASE: &str = r#"schema = 1
title = "t"
gpus = ["h100-sxm5-80gb"]
[[kernel]]
name = "k"
grid = 1000
block = 256
registers_per_thread = 32
[kernel.work]
per = "thread"
operations = { "vector.fp32" = "2 FLOP" }
[kernel.traffic]
dram = { read = "1 MB" }
"#;

#[test]
fn errors_name_line_value_and_cure() {
    let axis = |rest: &str| format!("[kernel.traffic]\n[[vary]]\nkernel = \"k\"\n{rest}\n");
    let vary = |key: &str, values: &str| axis(&format!("key = \"{key}\"\n{values}"));
    let dram = |inner: &str| format!("dram = {{ {inner} }}");
    let table: Vec<(&str, String, &[&str])> = vec![
        ("schema = 1", "schema = 2".into(), &["line 1:", "schema = 2", "schema 1"]),
        ("schema = 1", "schema = ".into(), &["line 1", "^"]),
        ("gpus = [\"h100-sxm5-80gb\"]", "gpus = []".into(), &["line 3", "at least one GPU"]),
        ("h100-sxm5-80gb", "h100-sxm6".into(), &["line 3", "h100-sxm6", "did you mean", "h100-sxm5-80gb"]),
        ("h100-sxm5-80gb\"", "a100-sxm4-80gb\", \"a100-sxm4-80gb\"".into(), &["line 3", "twice"]),
        ("name = \"k\"", "name = \" \"".into(), &["line 5", "give the kernel a name"]),
        ("grid = 1000", "grid = 0".into(), &["line 6", "grid = 0", "at least 1"]),
        ("grid = 1000", "grid = -4".into(), &["line 6", "-4 is negative", "^"]),
        ("grid = 1000", "grid = [1, 2, 3, 4]".into(), &["line 6", "up to three"]),
        ("grid = 1000", "grid = 2147483648".into(), &["line 6", "at most 2147483647"]),
        ("grid = 1000", "grid = [1, 65536]".into(), &["line 6", "y is 65536", "at most 65535"]),
        ("grid = 1000", "grid = \"big\"".into(), &["line 6", "whole number", "^"]),
        ("block = 256", "block = [1, 1, 65]".into(), &["line 7", "z is 65", "at most 64"]),
        ("block = 256", "block = [100000, 100000]".into(), &["line 7", "at most 1024"]),
        ("block = 256", "blocks = 256".into(), &["line 7", "unknown field `blocks`", "did you mean `block`?"]),
        ("registers_per_thread = 32", "registers_per_thread = 0".into(), &["line 8", "from 1"]),
        ("registers_per_thread = 32", "registers_per_thread = 32.5".into(), &["line 8", "whole number", "^"]),
        ("registers_per_thread = 32", String::new(), &["line 4", "registers_per_thread"]),
        ("[kernel.work]", "dynamic_shared = \"4 KB\"\n[kernel.work]".into(), &["line 9", "kB or KiB?", "^"]),
        ("[kernel.work]", "dynamic_shared = 4096\n[kernel.work]".into(), &["line 9", "with its unit", "^"]),
        ("[kernel.work]", "static_shared = \"1.5 B\"\n[kernel.work]".into(), &["line 9", "whole number of bytes"]),
        ("[kernel.work]", "static_shared = \"80 GB\"\n[kernel.work]".into(), &["line 9", "on-chip memory"]),
        ("[kernel.work]", "carveout = 101\n[kernel.work]".into(), &["line 9", "carveout = 101", "0 to 100"]),
        ("[kernel.work]", "expect = \"slow\"\n[kernel.work]".into(), &["line 9", "`slow`", "math, memory, latency"]),
        ("per = \"thread\"", "per = \"warp\"".into(), &["line 10", "launch, block, thread"]),
        ("vector.fp32", "vector.fp33".into(), &["line 11", "`vector.fp33` is not a unit", "^"]),
        ("\"vector.fp32\" = ", "vector.fp32 = ".into(), &["line 11", "in quotes"]),
        (
            "\"vector.fp32\" = \"2 FLOP\"",
            "\"tensor.bf16\" = \"1 FLOP\", \"tensor.bf16.fp32\" = \"1 FLOP\"".into(),
            &["twice"],
        ),
        ("2 FLOP", "2 B".into(), &["line 11", "unknown unit `B`"]),
        ("2 FLOP", "1e22 FLOP".into(), &["line 11", "work.operations.vector.fp32", "per thread", "1e24"]),
        ("read = \"1 MB\"", "read = \"1e300 B\"".into(), &["line 13", "traffic.dram.read", "1e24"]),
        ("read = \"1 MB\"", "read = \"-1 B\"".into(), &["line 13", "negative"]),
        ("dram = { read = \"1 MB\" }", dram("read_efficiency = 0"), &["line 13", "above 0 and at most 1"]),
        ("dram = { read = \"1 MB\" }", dram("read_efficiency = nan"), &["line 13", "above 0 and at most 1"]),
        ("dram = { read = \"1 MB\" }", dram("write_sectors_per_request = 0.5"), &["line 13", "from 1 to 128"]),
        (
            "dram = { read = \"1 MB\" }",
            dram("read_efficiency = 1, read_sectors_per_request = 4"),
            &["line 13", "keep one"],
        ),
        ("dram = { read = \"1 MB\" }", "shared = { bank_conflict = 33 }".into(), &["line 13", "from 1", "to 32"]),
        (
            "[kernel.traffic]",
            "[kernel.concurrency]\nbytes_in_flight = 0\n[kernel.traffic]".into(),
            &["line 13", "from 1"],
        ),
        (
            "dram = {",
            "[[kernel]]\nname = \"k\"\ngrid = 1\nblock = 1\nregisters_per_thread = 1\ntraffic.dram = {".into(),
            &["line 14", "each needs its own"],
        ),
        (
            "[kernel.work]\nper = \"thread\"\noperations = { \"vector.fp32\" = \"2 FLOP\" }\n[kernel.traffic]\ndram = { read = \"1 MB\" }\n",
            String::new(),
            &["line 5", "neither computes nor moves"],
        ),
        ("[kernel.traffic]", axis("key = \"gird\"\nvalues = [1]"), &["line 15", "did you mean `grid`?"]),
        ("[kernel.traffic]", axis("key = \"grid\"").replace("\"k\"", "\"q\""), &["line 14", "there are: k"]),
        ("[kernel.traffic]", vary("grid", "values = []"), &["line 16", "at least one value"]),
        ("[kernel.traffic]", vary("grid", ""), &["line 13", "give values"]),
        ("[kernel.traffic]", vary("grid", "values = [1, -2]"), &["line 16", "-2 is negative"]),
        ("[kernel.traffic]", vary("grid", "values = [1, 0]"), &["line 13", "grid = 0", "at least 1"]),
        ("[kernel.traffic]", vary("dynamic_shared", "values = [48]"), &["line 16", "with its unit"]),
        ("[kernel.traffic]", vary("grid", "range = { from = 1, to = 9, step = 0 }"), &["line 16", "above 0"]),
        ("[kernel.traffic]", vary("grid", "range = { from = 9, to = 1, step = 1 }"), &["line 16", "at least `from`"]),
        ("[kernel.traffic]", vary("grid", "range = { from = 1, to = 900000000, step = 1 }"), &["900000000 values"]),
        (
            "[kernel.traffic]",
            vary("grid", "range = { from = 1, to = 1000, step = 1 }")
                + &vary("registers_per_thread", "range = { from = 1, to = 101, step = 1 }")
                    .replace("[kernel.traffic]", ""),
            &["101,000 cases", "100,000"],
        ),
        (
            "[kernel.traffic]",
            "[[what_if]]\nname = \"w\"\nset = [\"sm.cuont=1\"]\n".into(),
            &["line 14", "sm.cuont", "sm.count"],
        ),
        ("[kernel.traffic]", "[[what_if]]\nname = \"w\"\nset = [\"sm.count\"]\n".into(), &["line 14", "KEY=VALUE"]),
        (
            "[kernel.traffic]",
            "[[what_if]]\nname = \"w\"\nset = [\"sm.count=9\"]\ngpus = [\"t4\"]\n".into(),
            &["line 15", "one of the scenario's gpus"],
        ),
    ];
    assert_eq!(MAX_CASES, 100_000);
    let catalog = Catalog::embedded().unwrap();
    assert!(Scenario::parse("ok", BASE).unwrap().cases(&catalog).is_ok());
    let mut wrong = Vec::new();
    for (from, to, fragments) in table {
        assert!(BASE.contains(from), "{from}");
        let mut text = BASE.replacen(from, &to, 1);
        // Tables that replace the traffic leave its one line without a table.
        if from == "[kernel.traffic]" && !to.ends_with("[kernel.traffic]") {
            text = text.replace("dram = { read = \"1 MB\" }\n", "");
        }
        let message = match Scenario::parse("bad", &text).and_then(|s| s.cases(&catalog)) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        let missing: Vec<_> = fragments.iter().filter(|f| !message.contains(**f)).collect();
        if !missing.is_empty() {
            wrong.push(format!("`{to}` lacks {missing:?}:\n{message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Pieces that mutations put into a file.
const PIECES: [&str; 20] = [
    "-1",
    "0",
    "1e308",
    "9223372036854775807",
    "nan",
    "inf",
    "\"1 KB\"",
    "\"1e300 GB\"",
    "[]",
    "{}",
    "[1, 2]",
    "=",
    "\n",
    "\"",
    "[[vary]]\n",
    "[[kernel]]\n",
    "\u{1F4A5}",
    "true",
    "\"thread\"",
    "values = [0]\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_scenarios_never_panic(
        which in 0..embedded().count(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, 0..PIECES.len()), 1..4),
    ) {
        let mut text: Vec<char> = embedded().nth(which).expect("in range").1.lines()
            .filter(|l| !l.starts_with('#')).flat_map(|l| l.chars().chain(['\n'])).collect();
        for (place, length, piece) in edits {
            let start = place.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        let catalog = Catalog::embedded().unwrap();
        match Scenario::parse("mutated", &text).and_then(|s| s.cases(&catalog)) {
            Ok(cases) => {
                for case in cases.iter().take(20) {
                    if let Ok(analysis) = case.analyse() {
                        prop_assert!(analysis.time.estimate.get().is_finite());
                    }
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("mutated")),
        }
    }
}

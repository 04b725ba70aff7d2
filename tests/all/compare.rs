//! `compare` and its chart: devices side by side, two profiles before and after, checks; and `completions`.

use std::collections::BTreeMap;

use super::place::{Place, SCENARIO, narrow, table, text};

const BEFORE: &str = include_str!("../data/ncu/before.csv");
const AFTER: &str = include_str!("../data/ncu/after.csv");

/// Rows of a command's CSV as maps from column to cell.
fn rows(place: &Place, words: &[&str]) -> Vec<BTreeMap<String, String>> {
    let all = table(&place.out(&[words, &["--format", "csv", "--quiet"]].concat()));
    all[1..].iter().map(|row| all[0].iter().cloned().zip(row.iter().cloned()).collect()).collect()
}

fn column(rows: &[BTreeMap<String, String>], name: &str) -> Vec<String> {
    rows.iter().map(|row| row[name].clone()).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name}: {row:?}"))
}

fn profiles() -> Place {
    let place = Place::new();
    place.file("before.csv", BEFORE);
    place.file("after.csv", AFTER);
    place
}

#[test]
fn several_what_ifs_stand_beside_every_gpu() {
    let place = Place::new();
    let what_ifs = ["--what-if", "fast: memory.dram.bandwidth=4.8 TB/s, sm.count=144", "--what-if", "sm.count=20"];
    let words = [&["compare", "s.toml", "--gpu", "l4", "--gpu", "a30"], &what_ifs[..]].concat();
    let found = rows(&place, &words);
    let devices = ["l4", "l4, fast", "l4, sm.count=20", "a30", "a30, fast", "a30, sm.count=20"];
    assert_eq!(column(&found, "device"), devices);
    let time = |device: &str| number(found.iter().find(|r| r["device"] == device).unwrap(), "time_us");
    assert!(time("l4, fast") < time("l4") && time("a30, sm.count=20") > time("a30"));
    // The same figures as the option that changes the GPU itself.
    let set = ["--set", "memory.dram.bandwidth=4.8 TB/s", "--set", "sm.count=144"];
    let changed = rows(&place, &[&["compare", "s.toml", "--gpu", "l4"], &set[..]].concat());
    assert_eq!(number(&changed[0], "time_us"), time("l4, fast"));
    // Without --gpu they join the GPUs and what-ifs of the file; with --set, they change the changed GPU.
    let own = "[[what_if]]\nname = \"own\"\nset = [\"sm.count=100\"]\n";
    place.file("own.toml", format!("{SCENARIO}{own}"));
    let devices = column(&rows(&place, &[&["compare", "own.toml"], &what_ifs[2..]].concat()), "device");
    assert_eq!(devices, ["h100-sxm5-80gb", "h100-sxm5-80gb, own", "h100-sxm5-80gb, sm.count=20"]);
    let set = ["compare", "s.toml", "--set", "sm.count=20", "--what-if", "again: sm.count=40"];
    assert_eq!(column(&rows(&place, &set), "device"), ["h100-sxm5-80gb, --set", "h100-sxm5-80gb, again"]);
    for (words, says) in [
        (&["--what-if", "fast"][..], "KEY=VALUE"),
        (&["--what-if", "x: sm.cuont=1"], "sm.count"),
        (&["--what-if", "x: sm.cuont=1", "--gpu", "l4"], "--what-if `x`"),
        (&["--what-if", "x: sm.count=1", "--what-if", "x: sm.count=2"], "named twice"),
        (&["--gpu", "l4", "--gpu", "L4"], "named twice"),
        (&["--baseline", "l40"], "take one of `h100-sxm5-80gb`"),
        (&["--sort", "name"], "two profiles"),
    ] {
        let run = place.run(&[&["compare", "s.toml"], words].concat()).code(2);
        let message = text(&run.get_output().stderr);
        assert!(message.contains(says), "{words:?}: {message}");
    }
}

#[test]
fn the_baseline_has_speed_up_one() {
    let place = Place::new();
    let words = ["compare", "s.toml", "--gpu", "l4", "--gpu", "a30", "--what-if", "half: sm.count=28"];
    for (baseline, device) in
        [(None, "l4"), (Some("a30"), "a30"), (Some("a30, half"), "a30, half"), (Some("NVIDIA A30"), "")]
    {
        let more: Vec<&str> = baseline.iter().flat_map(|b| ["--baseline", b]).collect();
        let words = [&words[..], &more].concat();
        if device.is_empty() {
            place.refused(&words, &["--baseline `NVIDIA A30`"]);
            continue;
        }
        let found = rows(&place, &words);
        let base = found.iter().find(|r| r["device"] == device).unwrap();
        assert_eq!(base["speedup"], "1");
        for row in &found {
            let ratio = number(base, "time_us") / number(row, "time_us");
            assert!((number(row, "speedup") - ratio).abs() < 0.006, "{row:?}");
        }
    }
}

/// The scenario with a second kernel, which needs more shared memory than an L4 has.
fn two_kernels() -> String {
    let second = SCENARIO.split_once("[[kernel]]").unwrap().1.replace("copy", "large");
    format!("{SCENARIO}[[kernel]]{}", second.replacen("grid", "dynamic_shared = \"120 KiB\"\ngrid", 1))
}

#[test]
fn devices_are_columns_where_they_fit_and_rows_where_not() {
    let place = Place::new();
    let two = ["compare", "s.toml", "--gpu", "l4", "--gpu", "a30"];
    let side = place.out(&two);
    let lines: Vec<&str> = side.lines().collect();
    assert!(lines[0].starts_with("Kernel") && lines[0].contains("l4") && lines[0].contains("a30"), "{side}");
    assert!(lines[2].starts_with("copy") && lines[2].matches(" us").count() == 2, "{side}");
    let found = rows(&place, &two);
    for row in &found {
        assert!(lines[2].contains(&format!("{} us", row["time_us"])) && lines[2].contains(&row["bound"]), "{side}");
    }
    let demo = place.out(&["compare", "demo", "--gpu", "h100-sxm5-80gb", "--gpu", "h200-sxm-141gb"]);
    for label in ["total ", "geometric mean "] {
        assert!(demo.lines().any(|l| l.starts_with(label)) && !side.contains(label), "{demo}{side}");
    }
    let many: Vec<&str> =
        two.into_iter().chain(["l40s", "a40", "h200-sxm-141gb"].into_iter().flat_map(|g| ["--gpu", g])).collect();
    let long = place.out(&many);
    assert!(long.lines().filter(|l| l.starts_with("copy")).count() == 5, "{long}");
    narrow(&many, &long);
    let long = place.out(&[
        "compare",
        "demo",
        "--gpu",
        "h100-sxm5-80gb",
        "--what-if",
        "sm.count=99",
        "--what-if",
        "sm.count=100",
        "--what-if",
        "sm.count=101",
    ]);
    assert!(long.lines().filter(|l| l.starts_with("saxpy")).count() == 4 && long.contains("Geometric mean"), "{long}");
    // A kernel that one device cannot run counts in no total, and the exit code says that something is missing.
    place.file("two.toml", two_kernels());
    let run = place.run(&["compare", "two.toml", "--gpu", "h100-sxm5-80gb", "--gpu", "l4"]).code(1);
    let (out, notes) = (text(&run.get_output().stdout), text(&run.get_output().stderr));
    assert!(out.contains("does not run") && notes.contains("1 of 2 kernels run on every device"), "{out}{notes}");
    let copy = out.lines().find(|l| l.starts_with("copy")).unwrap().replace("  memory", "").replace("  latency", "");
    let words = |line: &str| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&copy), words(out.lines().find(|l| l.starts_with("total")).unwrap()));
    // The first device cannot run it: nothing to compare with, which is not speed-up 1.
    let json = place.run(&["compare", "two.toml", "--gpu", "l4", "--gpu", "a30", "--format", "json"]).code(1);
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let large = json.as_array().unwrap().iter().find(|r| r["kernel"] == "large").unwrap();
    assert!(large["device"] == "a30" && large["speedup"].is_null(), "{large}");
}

#[test]
fn totals_and_means_are_those_of_the_rows() {
    let place = Place::new();
    let words = ["compare", "demo", "--gpu", "h100-sxm5-80gb", "--gpu", "h200-sxm-141gb"];
    let found = rows(&place, &words);
    let of = |device: &str, name| -> Vec<f64> {
        found.iter().filter(|r| r["device"] == device).map(|r| number(r, name)).collect()
    };
    let total: f64 = of("h200-sxm-141gb", "time_us").iter().sum();
    let pairs = of("h100-sxm5-80gb", "time_us").into_iter().zip(of("h200-sxm-141gb", "time_us"));
    let mean = pairs.map(|(a, b)| (a / b).ln()).sum::<f64>() / 6.0;
    let check = |field: &str, value: f64| {
        for (operator, code) in [("<", 0), (">", 1)] {
            let expression = format!("{field} {operator} {}", value * 0.999);
            let run = place
                .run(&[&words[..], &["--quiet", "--baseline", "h100-sxm5-80gb", "--fail-if", &expression]].concat());
            let failed = text(&run.get_output().stderr);
            let named = failed.contains(&format!("all kernels on h200-sxm-141gb: {field} = "));
            assert!(named == (code == 1), "{expression}: {failed}");
        }
    };
    check("total_us", total);
    check("geomean_speedup", mean.exp());
}

#[test]
fn checks_name_kernel_device_and_value() {
    let place = profiles();
    let scenario = ["compare", "s.toml", "--gpu", "a30", "--gpu", "l4", "--quiet", "--fail-if"];
    let run = place.run(&[&scenario[..], &["speedup < 0.95"]].concat()).code(1);
    let message = text(&run.get_output().stderr);
    assert!(message.starts_with("check failed: copy on l4: speedup = 0.") && message.lines().count() == 1, "{message}");
    assert!(text(&run.get_output().stdout).contains("copy"), "the result is printed all the same");
    place.run(&[&scenario[..], &["time_us > 100000"]].concat()).code(0);
    let files = ["compare", "before.csv", "after.csv", "--fail-if"];
    let run = place.run(&[&files[..], &["change_pct > 5"]].concat()).code(1);
    let message = text(&run.get_output().stderr);
    assert_eq!(message, "check failed: lib::elementwise_kernel [mul]: change_pct = 10.4132 (change_pct > 5)\n");
    for (expression, code) in [
        ("change > 11", 0),
        ("total_change < -20", 1),
        ("total_speedup < 1.2", 0),
        ("speedup < 0.95", 1),
        ("after_registers > 128", 0),
        ("after_registers > 127", 1),
    ] {
        place.run(&[&files[..], &[expression]].concat()).code(code);
    }
    for (expression, says) in [
        ("tail_cost > 2", "no field `tail_cost`"),
        ("note > 2", "`note` is no number"),
        ("speedup", "FIELD OPERATOR NUMBER"),
    ] {
        place.refused(&[&files[..], &[expression, "--out", "never"]].concat(), &["--fail-if", says]);
    }
    place.refused(&[&scenario[..], &["change_pct > 5"]].concat(), &["no field `change_pct`", "speedup"]);
}

#[test]
fn profiles_are_compared_kernel_by_kernel() {
    let place = profiles();
    let found = rows(&place, &["compare", "before.csv", "after.csv"]);
    let gemm = "lib::gemm_tile";
    let (add, mul) = ("lib::elementwise_kernel [add]", "lib::elementwise_kernel [mul]");
    let by_change = [gemm, "lib::gemm_tile #2", "bias_layernorm", "layernorm", "bias", "lib::softmax", mul, add];
    let sorted = |sort: &str| column(&rows(&place, &["compare", "before.csv", "after.csv", "--sort", sort]), "kernel");
    assert_eq!(column(&found, "kernel"), by_change);
    assert_eq!(sorted("change"), column(&found, "kernel"));
    assert_eq!(
        sorted("file"),
        [gemm, add, mul, "lib::softmax", "layernorm", "bias", "lib::gemm_tile #2", "bias_layernorm"]
    );
    assert!(sorted("name").is_sorted());
    let notes: BTreeMap<String, String> = column(&found, "kernel").into_iter().zip(column(&found, "note")).collect();
    assert_eq!(notes["lib::softmax"], "name changed");
    assert_eq!(
        (notes["bias"].as_str(), notes["bias_layernorm"].as_str(), notes[add].as_str()),
        ("only before", "only after", "")
    );
    let first = &found[0];
    assert_eq!((first["before_us"].as_str(), first["after_us"].as_str()), ("412", "298"));
    assert_eq!((number(first, "change_us"), number(first, "change_pct")), (-114.0, -27.67));
    assert_eq!((number(first, "before_registers"), number(first, "after_occupancy_pct")), (168.0, 25.0));
    assert_eq!((number(first, "before_dram_bytes"), number(first, "after_dram_gb_per_s")), (3.1e8, 1037.0));
    let share: f64 = found.iter().filter_map(|r| r["before_share_pct"].parse::<f64>().ok()).sum();
    assert!((share - 100.0).abs() < 0.05, "{share}");
    assert!(first["full_name"].starts_with("void lib::gemm_tile<half"));
    let only = found.iter().find(|r| r["kernel"] == "bias").unwrap();
    assert_eq!((only["speedup"].as_str(), only["after_us"].as_str(), only["change_us"].as_str()), ("", "", "-21"));
    let out = place.out(&["compare", "before.csv", "after.csv"]);
    for change in ["168 -> 128", "12.5 -> 25", "1024 -> 512", "752.4 -> 1037"] {
        assert!(out.contains(change), "{change}: {out}");
    }
    assert!(out.lines().any(|l| l.starts_with("all 8") && l.contains("1104") && l.contains("850")), "{out}");
    narrow(&["compare"], &out);
    place.refused(&["compare", "before.csv", "after.csv", "--gpu", "l4"], &["--gpu is for a scenario"]);
}

#[test]
fn other_devices_clocks_and_missing_durations_are_named() {
    let place = profiles();
    let notes = |after: &str| {
        place.file("changed.csv", after);
        let run = place.run(&["compare", "before.csv", "changed.csv"]).code(0);
        (text(&run.get_output().stderr), text(&run.get_output().stdout))
    };
    assert_eq!(notes(AFTER).0, "");
    let (clock, _) = notes(&AFTER.replace("1590000000", "1755000000"));
    assert_eq!(clock, "the SM clock was 1.59 GHz before and 1.755 GHz after: the difference is not the code's alone\n");
    let (device, _) = notes(&AFTER.replace("Made-up H100", "Made-up H200"));
    let said = "before ran on Made-up H100 (compute capability 9.0, 132 SMs), after on Made-up H200 (compute capability 9.0, 132 SMs)";
    assert!(device.starts_with(said), "{device}");
    let (missing, out) = notes(&AFTER.replace("\"298000\"", "\"\""));
    assert!(missing.contains("1 launches have no duration") && out.contains("lib::gemm_tile"), "{missing}{out}");
    // In Markdown the notes are part of what is pasted.
    place.file("changed.csv", AFTER.replace("1590000000", "1755000000"));
    let run = place.run(&["compare", "before.csv", "changed.csv", "--format", "markdown"]).code(0);
    assert_eq!(text(&run.get_output().stderr), "");
    assert!(text(&run.get_output().stdout).contains("- the SM clock was 1.59 GHz before"));
}

#[test]
fn markdown_tables_are_whole() {
    let place = profiles();
    place.file("after.csv", AFTER.replace("bias_layernorm", "bias|`norm`"));
    place.file("odd.toml", SCENARIO.replace("\"copy\"", "\"a|b `c`\""));
    for words in [
        &["compare", "before.csv", "after.csv"][..],
        &["compare", "odd.toml", "--gpu", "l4", "--what-if", "x|y: sm.count=2", "--gpu", "a30"],
    ] {
        let out = place.out(&[words, &["--format", "markdown"]].concat());
        assert!(out.starts_with("### "), "{out}");
        let mut columns = Vec::new();
        for block in out.split("\n\n").filter(|b| b.starts_with('|')) {
            let counts: Vec<usize> = block.lines().map(|l| l.replace("\\|", "").matches('|').count()).collect();
            assert!(counts.iter().all(|c| *c == counts[0]), "{block}");
            columns.push(counts[0]);
        }
        assert!(!columns.is_empty(), "{out}");
    }
}

#[test]
fn a_folder_and_the_charts_of_comparisons() {
    let place = profiles();
    let scenario = ["s.toml", "--gpu", "l4", "--what-if", "fast: memory.dram.bandwidth=1 TB/s"];
    for (words, folder) in [(&scenario[..], "devices"), (&["before.csv", "after.csv"], "profiles")] {
        place.out(&[&["compare"], words, &["--out", folder, "--quiet"]].concat());
        let wanted =
            ["compare.csv", "compare.png", "compare.svg", "report.csv", "report.html", "report.json", "report.md"];
        assert_eq!(place.names(folder), wanted);
        let report = place.out(&[&["compare"], words, &["--format", "csv", "--quiet"]].concat());
        assert_eq!(text(&place.read(format!("{folder}/report.csv"))), report);
        let svg = place.out(&[&["chart", "compare"], words].concat());
        assert_eq!(text(&place.read(format!("{folder}/compare.svg"))), svg);
        assert_eq!(table(&text(&place.read(format!("{folder}/compare.csv")))).len(), table(&report).len());
        assert_ne!(place.out(&[&["chart", "compare"], words, &["--theme", "dark"]].concat()), svg);
    }
    let svg = text(&place.read("devices/compare.svg"));
    for part in ["l4, fast", "memory", "memory.dram.bandwidth", "Wavecast"] {
        assert!(svg.contains(part), "{part}");
    }
    for (words, says) in [
        (&["tail", "s.toml", "--what-if", "x: sm.count=2"][..], "--what-if and --baseline"),
        (&["tail", "s.toml", "s.toml"], "one file"),
        (&["compare", "s.toml", "--kernel", "copy"], "--kernel"),
        (&["compare", "before.csv"], "before and after"),
    ] {
        place.refused(&[&["chart"], words].concat(), &[says]);
    }
    assert!(text(&place.read("profiles/compare.svg")).contains("paired though the name changed: 1"));
    let untimed = BEFORE.replace("gpu__time_duration.sum", "gpu__other.sum");
    place.file("untimed.csv", untimed);
    place.refused(&["chart", "compare", "untimed.csv", "untimed.csv"], &["no durations"]);
}

#[test]
fn completions_name_every_command() {
    let place = Place::new();
    let help = place.out(&["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|l| *l != "Commands:")
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' '))?.split_whitespace().next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.contains(&"compare") && commands.contains(&"completions"), "{help}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.out(&["completions", shell]);
        for word in commands.iter().chain(&["fail-if", "what-if"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    place.refused(&["completions", "tcsh"], &["possible values: bash"]);
    place.file("wavecast.bash", place.out(&["completions", "bash"]));
    let Ok(check) = std::process::Command::new("bash").arg("-n").arg(place.0.path().join("wavecast.bash")).output()
    else {
        return;
    };
    assert!(check.status.success(), "{}", text(&check.stderr));
}

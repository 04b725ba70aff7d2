//! Stumbles of a first day: options in the wrong place, near names, odd tables; each is met with the cure.

use super::place::{Place, kernel, text};

#[test]
fn tables_of_the_wrong_kind() {
    let place = Place::new();
    let row = "9.0,256,32,0,0\n";
    place.file("none.csv", "threads,regs\n256,32\n");
    place.file("both.csv", "gfx,compute_capability\ngfx942,9.0\n");
    place.file("lacks.csv", "compute_capability\n9.0\n");
    place.file("blank.csv", " \n");
    place.file("zip.csv", b"PK\x03\x04\0\0");
    place.file("nul.csv", b"g\0f\0x\0");
    let wide: Vec<u8> = "\u{feff}gfx\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.file("wide.csv", wide);
    let cases: [(&str, &[&str]); 7] = [
        ("none.csv", &["neither", "`compute_capability` (NVIDIA)", "`gfx` (AMD)", "registers_per_thread", "lds_bytes"]),
        ("both.csv", &["has both compute_capability and gfx"]),
        ("lacks.csv", &["no column `threads_per_block`"]),
        ("blank.csv", &["empty"]),
        ("zip.csv", &["ZIP archive"]),
        ("nul.csv", &["binary file (it has NUL bytes)"]),
        ("wide.csv", &["UTF-16", "save it as UTF-8"]),
    ];
    for (file, says) in cases {
        place.refused(&["occupancy", "--batch", file], &[&[&*format!("`{file}`: ")], says].concat());
    }
    let header = "compute_capability,threads_per_block,registers_per_thread,static_smem_bytes,dynamic_smem_bytes";
    place.file("near.csv", format!("{header},carveout\n{},50\n", row.trim_end()));
    place.file("amd.csv", "gfx,threads_per_workgroup,vgprs,lds_bytes,agpr,note\ngfx942,256,64,0,32,x\n");
    let said = |options: &[&str]| text(&place.run(options).code(0).get_output().stderr);
    let warned = said(&["occupancy", "--batch", "near.csv"]);
    assert!(
        warned.contains("column `carveout`; did you mean `carveout_pct`?") && warned.contains("1 row, 0"),
        "{warned}"
    );
    let warned = said(&["occupancy", "--batch", "amd.csv"]);
    assert!(warned.contains("`agpr`; did you mean `agprs`?") && !warned.contains("note"), "{warned}");
    assert_eq!(said(&["occupancy", "--batch", "near.csv", "--quiet"]), "");
}

#[test]
fn options_that_a_table_does_not_take() {
    let place = Place::new();
    for option in [
        ["--gpu", "l4"],
        ["--set", "sm.count=3"],
        ["--cc", "9.0"],
        ["--gfx", "gfx942"],
        ["--block", "32"],
        ["--regs", "32"],
        ["--static-smem", "0 B"],
        ["--dynamic-smem", "0 B"],
        ["--carveout", "50"],
        ["--barriers", "1"],
        ["--want", "2"],
        ["--cluster", "2"],
        ["--setmaxnreg", "40,232"],
        ["--agprs", "0"],
        ["--sgprs", "0"],
        ["--wave-size", "64"],
        ["--workgroup-mode", "cu"],
    ] {
        place.refused(&[&["occupancy", "--batch", "batch.csv"], &option[..]].concat(), &["--batch", option[0]]);
    }
    for flag in ["--no-opt-in", "--no-trap-handler"] {
        place.refused(&["occupancy", "--batch", "batch.csv", flag], &["--batch", flag]);
    }
}

#[test]
fn one_configuration() {
    let place = Place::new();
    let flat = place.out(&["occupancy", "--block", "256", "--regs", "40"]);
    assert_eq!(place.out(&["occupancy", "--block", "16x16", "--regs", "40"]), flat);
    let cannot = place.out(&["occupancy", "--block", "32x64"]);
    assert!(cannot.contains("2048 threads per block; the largest block is 1024 threads"), "{cannot}");
    assert!(place.out(&["occupancy", "--block", "1"]).contains("1 thread = 1 warp "), "singular");
    let few = place.out(&["kernel", "--grid", "1", "--block", "32"]);
    assert!(few.contains("1 block leaves 131 of 132 SMs without work"), "{few}");
    let amd = ["occupancy", "--gfx", "gfx942", "--block", "256", "--regs", "96"];
    let taken = place.out(&[&amd[..], &["--agprs", "32", "--format", "csv"]].concat());
    assert!(taken.contains("96 + 32 AGPRs = 128 per thread = 32768 per workgroup"), "{taken}");
    let own = ["occupancy", "--gfx", "gfx908", "--block", "256", "--regs", "96", "--agprs", "32", "--format", "csv"];
    assert!(place.out(&own).contains("96 beside 32 AGPRs = 96 per thread"), "{}", place.out(&own));
    for option in [&["--carveout", "50"][..], &["--barriers", "2"], &["--no-opt-in"]] {
        place.refused(&[&amd[..], option].concat(), &[option[0], "for NVIDIA GPUs; gfx942 is none"]);
    }
    let rdna = ["occupancy", "--gfx", "gfx1100", "--block", "256", "--agprs", "8"];
    place.refused(&rdna, &["--agprs 8", "gfx1100 has no accumulation registers"]);
    place.refused(&["occupancy", "--block", "32", "--dynamic-smem", "1e30 GiB"], &["'1e30 GiB'", "below 4 GiB"]);
    place.refused(&["occupancy", "--block", "65536x65536"], &["--block 65536x65536", "at most 4294967295"]);
}

#[test]
fn numbers_below_zero() {
    let place = Place::new();
    for (words, says) in [
        (&["occupancy", "--block", "-5"][..], "`-5` is not an extent"),
        (&["occupancy", "--block", "32", "--regs", "-1"], "-1 is not in 0..=4294967295"),
        (&kernel(&["--bytes-in-flight", "-1"]), "bytes_in_flight = -1"),
        (&kernel(&["--regs", "-1"]), "'-1' for '--regs"),
    ] {
        place.refused(words, &[says]);
    }
    for value in ["-1", "1.5", "99999999999", "1e20", "many"] {
        let set = format!("sm.count={value}");
        place.refused(&kernel(&["--set", &set]), &[&set, "a whole number from 1 to 4,294,967,295"]);
    }
    place.refused(&kernel(&["--set", "rates.tensor_cap=x"]), &["rates.tensor_cap=x: it must be a number"]);
}

#[test]
fn names_that_are_nearly_right() {
    let place = Place::new();
    place.refused(&kernel(&["--gpu", "l4,a30"]), &["`l4,a30`", "repeat --gpu for several"]);
    place.refused(&kernel(&["--gpu", ""]), &["--gpu is empty"]);
    place.refused(&kernel(&["--gpu", "a100-sxm4-80gb:"]), &["profile behind the colon is empty"]);
    for (gfx, near) in [("942", "(did you mean gfx942?)"), ("GFX942", "(did you mean gfx942?)"), ("gfx94", "gfx942")] {
        place.refused(&["occupancy", "--block", "64", "--gfx", gfx], &[&format!("`{gfx}` (did you mean"), near]);
    }
    place.refused(&["analyze", "dmeo"], &["did you mean `demo`?"]);
    let named = place.run(&["gpus", "check", "h100-sxm5-80gb"]).code(0);
    assert!(text(&named.get_output().stderr).contains(" of 1 device checked, 0 failed"));
    place.refused(&["gpus", "check", "h10"], &["`h10`", "did you mean"]);
}

#[test]
fn checks_with_units_and_lists_of_checks() {
    let place = Place::new();
    let refused = |check: &str, says: &[&str]| place.refused(&kernel(&["--fail-if", check]), says);
    refused("time > 100 us", &["a plain number in the unit of time_us (microseconds)"]);
    refused("tail_cost > 20; time > 3", &["repeat --fail-if"]);
    refused("tail_cost > much", &["FIELD OPERATOR NUMBER"]);
}

#[test]
fn files_and_folders_in_the_wrong_place() {
    let place = Place::new();
    place.file("FILE", "");
    place.refused(&["analyze", "s.toml", "--out", "FILE"], &["`FILE` is a file, --out takes a folder"]);
    place.file("latin.toml", b"name = \"caf\xe9\"");
    place.file("long.toml", format!("name = \"{}\" ?\n", "long ".repeat(200)));
    place.refused(&["analyze", "latin.toml"], &["`latin.toml` is not UTF-8 text"]);
    for words in [&["analyze", "long.toml"][..], &["gpus", "check", "long.toml"]] {
        place.refused(words, &["line 1", "..."]);
        let said = text(&place.run(words).get_output().stderr);
        assert!(said.lines().all(|l| l.chars().count() < 160) && !said.ends_with("\n\n"), "{said:?}");
    }
}

#[test]
fn names_on_standard_error_move_no_cursor() {
    let place = Place::new();
    for words in [&["analyze", "\u{1b}[2Jevil.toml"][..], &kernel(&["--gpu", "\u{1b}[2J\u{7}x"])] {
        let said = text(&place.run(words).code(2).get_output().stderr);
        assert!(said.contains(" [2J") && !said.contains(['\u{1b}', '\u{7}']), "{said:?}");
    }
}

/// What a command says on standard error, and its exit code.
fn told(place: &Place, words: &[&str]) -> (Option<i32>, String) {
    let run = place.run(words);
    let output = run.get_output();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn what_ifs_that_change_nothing_are_named() {
    let place = Place::new();
    let gpu = ["--gpu", "h100-sxm5-80gb", "--set", "latency.dram=9000 cycles", "--set", "sm.count=100"];
    for operation in [&["gemm", "512", "512", "512"][..], &["softmax", "--rows", "4096", "--cols", "128"]] {
        let (code, said) = told(&place, &[operation, &gpu].concat());
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("note: --set `latency.dram=9000 cycles` leaves the time of"), "{said}");
        assert!(!said.contains("sm.count"), "{said}");
        assert_eq!(told(&place, &[operation, &gpu, &["--quiet"]].concat()).1, "");
    }
    // The general model of a stream waits for memory.
    assert_eq!(told(&place, &[&["pool", "1", "1", "8", "8", "8"][..], &gpu[..4]].concat()), (Some(0), String::new()));
}

#[test]
fn tables_whose_columns_and_gpus_are_not_what_they_seem() {
    let place = Place::new();
    place.file("twice.csv", "gpu,op,dtype,m,n,k,m\nt4,gemm,fp16,1,2,3,4\n");
    place.file("near.csv", "gpu,op,dtype,m,n,k,Timing,remark,measured_us\nt4,gemm,fp16,64,64,64,launch,x,9\n");
    place.file(
        "gpus.csv",
        "gpu,op,dtype,m,n,k,measured_us\nt4,gemm,fp16,64,64,64,9\nT4,gemm,fp16,1,2,3,\n,gemm,fp16,4,4,4,\n",
    );
    for command in [&["predict", "--batch"][..], &["validate"], &["calibrate", "--gpu", "t4"]] {
        let words = [command, &["twice.csv"]].concat();
        place.refused(&words, &["column `m` stands at places 4 and 7"]);
        let (_, said) = told(&place, &[command, &["near.csv"]].concat());
        assert!(said.contains("note: nothing reads the column `Timing`; did you mean `timing`?"), "{said}");
        assert!(!said.contains("remark"), "{said}");
    }
    let others = |gpu: &str| told(&place, &["predict", "--batch", "gpus.csv", "--gpu", gpu]).1;
    assert!(others("l4").contains("note: 2 rows name another GPU: --gpu l4 stands for it"), "{}", others("l4"));
    assert!(!others("t4").contains("another GPU"), "{}", others("t4"));
    let run = place.run(&["validate", "gpus.csv", "near.csv", "--by", "gpu", "--gpu", "t4"]);
    let table = text(&run.get_output().stdout);
    assert!(table.contains("4 rows, 2 left out\n  2 (gpus.csv:3, 4): measured_us is empty\n"), "{table}");
}

#[test]
fn numbers_in_messages_are_short_and_counts_are_asked_for_in_words() {
    let place = Place::new();
    for (words, says) in [
        (
            &["gemm", "1", "1", "1", "--set", "calibration.sustained_tensor=1e-300"][..],
            "sustained_tensor = 1e-300 must",
        ),
        (&["memcpy", "1e-300 B"], "1e-300 B: a copy moves"),
        (&["elementwise", "add", "--elements", "9", "--load-bytes", "1e300"], "a load of 1e300 bytes"),
        (&["moe", "8", "8", "2", "64", "64", "--routing", "power:1e300"], "alpha = 1e300"),
        (&["elementwise", "add", "--elements", "9", "--reads", "1e9"], "in digits, such as 1000000000"),
        (&["gemm", "1", "1e3", "1"], "'1e3' for '<N>': write a whole number in digits, such as 1000"),
        (&["attention", "--heads", "3.5"], "'3.5' for '--heads <COUNT>': write a whole number in digits, such as 4096"),
        (&["gemm", "64", "64", "64", "--set", "limits.max_warps_per_sm=1"], "an SM holds 1 warp of 32 threads at once"),
        (
            &["kernel", "--grid", "1", "--block", "64", "--regs", "16", "--set", "limits.max_threads_per_block=1"],
            "the largest block is 1 thread",
        ),
    ] {
        place.refused(words, &[says]);
        let (_, said) = told(&place, words);
        assert!(said.len() < 400, "{said}");
    }
    place.refused(&kernel(&["--op", "vector.fp32=1e300 FLOP"]), &["= 1e285 PFLOP: it must"]);
}

#[test]
fn help_lists_the_forms_that_a_command_writes() {
    let place = Place::new();
    let forms = |command: &str| -> Vec<String> {
        let help = place.out(&[command, "--help"]);
        let lines = help.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_once(':'));
        lines.map(|(form, _)| form.to_owned()).filter(|form| form != "none").collect()
    };
    assert_eq!((forms("predict"), forms("calibrate")), (vec!["csv".into()], vec!["text".into(), "json".into()]));
    assert!(forms("validate").contains(&"html".to_owned()));
    place.refused(&["predict", "--batch", "batch.csv", "--format", "html"], &["[possible values: csv]"]);
}

#[test]
fn a_small_copy_waits_for_its_start_and_a_pass_is_added_up() {
    let place = Place::new();
    let copy = |bytes: &str| place.out(&["memcpy", bytes, "--direction", "h2d", "--gpu", "h100-sxm5-80gb"]);
    assert!(copy("4 kB").contains("latency-bound (start of the copy engine)"), "{}", copy("4 kB"));
    assert!(copy("1 GiB").contains("memory-bound (PCIe Gen5 x16)"));
    let row = place.out(&["softmax", "--rows", "1", "--cols", "128", "--gpu", "h100-sxm5-80gb"]);
    assert!(row.contains("1 row"), "{row}");
    assert!(!row.contains("1 rows"), "{row}");
    let block = place.out(&["kernel", "--grid", "4", "--block", "1", "--regs", "16", "--gpu", "h100-sxm5-80gb"]);
    assert!(block.contains("blocks of 1 thread") && !block.contains("1 threads"), "{block}");

    let product = ["gemm", "4096", "4096", "4096", "--gpu", "h100-sxm5-80gb", "--dtype", "fp8", "--quantise"];
    let both = place.out(&[&product[..], &["--format", "json"]].concat());
    let both: serde_json::Value = serde_json::from_str(&both).unwrap();
    let time = |place: usize| both["kernels"][place]["time_us"].as_f64().unwrap();
    let said = both["kernels"][1]["findings"][0].as_str().unwrap();
    let sum = said.strip_prefix("with the pass that narrows the activations before it: ").unwrap();
    let sum: f64 = sum.strip_suffix(" us").unwrap().parse().unwrap();
    assert!((sum / (time(0) + time(1)) - 1.0).abs() < 1e-3, "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_once() {
    let place = Place::new();
    place.file("one.csv", "gpu,op,dtype,m,n,k\nt4,gemm,fp16,1,2,3\n");
    for words in [&["predict", "--batch", "one.csv"][..], &["occupancy", "--batch", "batch.csv"], &["gpus", "list"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let program = assert_cmd::cargo::cargo_bin("wavecast");
        let output =
            std::process::Command::new(program).args(words).current_dir(&place.0).stdout(full).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.matches("No space left").count()), (Some(2), 1), "{said}");
        assert!(said.contains("cannot be written"), "{said}");
    }
}

#[test]
fn a_band_that_was_not_measured_says_whose_it_is() {
    let place = Place::new();
    let rates = ["calibrate", "--gpu", "h100-sxm5-80gb", "--bandwidth", "3.0 TB/s", "--whole", "--output", "mine.toml"];
    place.out(&rates);
    assert!(text(&place.read("mine.toml")).contains("measured_band = false"));
    let confidence = |gpu: &str, dtype: &str| -> String {
        let out = place.out(&["gemm", "4096", "4096", "4096", "--gpu", gpu, "--dtype", dtype, "--format", "json"]);
        let whole: serde_json::Value = serde_json::from_str(&out).unwrap();
        whole["kernels"][0]["confidence"].as_str().unwrap().to_owned()
    };
    let mine = confidence("mine.toml", "bf16");
    assert!(mine.ends_with("band: that of the hopper family, not measured on H100 SXM5 80 GB"), "{mine}");
    for (gpu, dtype) in [("h100-sxm5-80gb", "bf16"), ("mine.toml", "fp32")] {
        let found = confidence(gpu, dtype);
        assert!(found.ends_with("band: four of five measured products lie in it"), "{found}");
    }
}

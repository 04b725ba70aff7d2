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

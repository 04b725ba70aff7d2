//! `calibrate` through the program: a file that the next command takes, rows of other GPUs, benchmarks, exit codes.

use std::{fs, path::Path};

use assert_cmd::Command;

const HEADER: &str = "source,gpu,op,dtype,m,n,k,timing,measured_us,notes\n";

/// Exit code, standard output, standard error.
fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("wavecast").unwrap();
    let found = command.args(arguments).write_stdin(input).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (found.status.code().unwrap(), text(found.stdout), text(found.stderr))
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The time of a product on a GPU in a CSV report, in microseconds.
fn predicted(gpu: &str) -> f64 {
    let input = format!("{HEADER},,gemm,bf16,4096,4096,4096,,,\n");
    let (_, out, _) = run(&["predict", "--batch", "-", "--gpu", gpu], &input);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let row: std::collections::BTreeMap<String, String> = reader.deserialize().next().unwrap().unwrap();
    assert!(row["error"].is_empty(), "{row:?}");
    row["predicted_us"].parse().unwrap()
}

#[test]
fn the_whole_file_is_what_the_next_command_takes() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, mine, again) =
        (folder.path().join("rows.csv"), folder.path().join("mine.toml"), folder.path().join("again.toml"));
    let text = format!(
        "{HEADER}lab,H100 SXM,gemm,bf16,4096,4096,4096,device,187.5,weight_copies=6\n\
         lab,,gemm,bf16,16,16384,8192,device,99,weight_copies=6\n"
    );
    fs::write(&rows, text).unwrap();
    let whole = ["calibrate", path(&rows), "--gpu", "h100-sxm5-80gb", "--whole", "--output", path(&mine)];
    let (code, out, notes) = run(&whole, "");
    assert_eq!((code, out.as_str()), (0, ""), "{notes}");
    assert!(notes.contains(&format!("note: next: wavecast gemm 4096 4096 4096 --gpu {}", path(&mine))), "{notes}");
    assert!(notes.contains("warning: power_droop stays 0.205: no row depends on it"), "{notes}");
    assert!(notes.ends_with("2 rows, 0 left out; 2 constants found\n"), "{notes}");
    // Constants have four digits.
    let time = predicted(path(&mine));
    assert!((time / 187.5 - 1.0).abs() < 1e-3 && predicted("h100-sxm5-80gb") < 180.0, "{time}");
    let file = fs::read_to_string(&mine).unwrap();
    assert!(file.starts_with("# H100 SXM5 80 GB: its published peaks use two clocks"), "comments stay");
    assert_eq!(file.matches("[calibration]\n").count(), 1);
    assert!(file.contains("power_droop = 0.205           # as before: not determined\n"), "{file}");
    assert!(file.contains("data = \"random\"\n") && file.contains("rows.csv") && !file.contains(path(folder.path())));
    assert_eq!(run(&["gpus", "check", path(&mine)], "").0, 0);

    // Its own file is a start as well, and what the program writes it reads; other data are said.
    let arguments = ["calibrate", path(&rows), "--gpu", path(&mine), "--operands", "uninitialised"];
    let (code, table, _) = run(&arguments, "");
    assert!(code == 0 && table.contains("data = \"uninitialised\"\n") && !table.contains("[clocks]"), "{table}");
    let (code, out, _) = run(&[&arguments[..], &["--whole", "--output", path(&again)]].concat(), "");
    assert_eq!((code, out.as_str()), (0, ""));
    // The rows held memory never written, what is asked now random numbers.
    let random = predicted(path(&again)) / time;
    assert!((1.02..1.06).contains(&random), "{random}");
    // Again and again: what else the table holds stays, to the last digit, and its source does not grow for ever.
    let text = fs::read_to_string(&again).unwrap();
    let text = text.replace("power_droop = 0.205 ", "power_droop = 0.123456789012345 ")
        + "[calibration.tiled]\npipeline = \
        \"persistent\"\ndepth = 5.0\nfeed_factor = 2.0\npartials_factor = 2.0\nstore_factor = 2.0\nquantisation = 0.25\n\
        split_factor = 1.0\ngemv = false\n";
    fs::write(&again, text).unwrap();
    let mut sizes = Vec::new();
    for _ in 0..4 {
        let own = ["calibrate", path(&rows), "--gpu", path(&again), "--whole", "--output", path(&again)];
        assert_eq!(run(&[&own[..], &["--operands", "uninitialised"]].concat(), "").0, 0);
        let text = fs::read_to_string(&again).unwrap();
        assert!(text.contains("power_droop = 0.123456789012345  # as before") && text.contains("quantisation = 0.25"));
        sizes.push(text.len());
    }
    assert_eq!(sizes[1..], [sizes[1]; 3]);
}

#[test]
fn what_stays_predicts_as_before_whatever_the_data_were() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, new) = (folder.path().join("mine.toml"), folder.path().join("new.toml"));
    let file = include_str!("../../gpus/nvidia/h100-sxm5-80gb.toml");
    let head = file.split("[calibration]").next().unwrap();
    let rows = format!("{HEADER},,gemm,bf16,16,16384,8192,device,99,\n");
    // A rate, a droop, both or none of the file's own, fitted to either kind of data.
    for own in ["", "power_droop = 0.3\n", "sustained_tensor = 0.8\n", "sustained_tensor = 0.8\npower_droop = 0.3\n"] {
        for data in ["random", "uninitialised"] {
            fs::write(&mine, format!("{head}[calibration]\n{own}data = \"{data}\"\nsource = \"a test\"\n")).unwrap();
            let whole = ["calibrate", "-", "--gpu", path(&mine), "--whole", "--output", path(&new)];
            let (code, _, notes) = run(&whole, &rows);
            assert!(code == 0 && notes.contains("; 1 constant found"), "{notes}");
            let (before, after) = (predicted(path(&mine)), predicted(path(&new)));
            assert!((after / before - 1.0).abs() < 1e-3, "{own}{data}: {before} {after}");
        }
    }
}

#[test]
fn rows_of_other_gpus_and_bad_ones_are_counted_and_the_rest_goes_on() {
    let rows = format!(
        "{HEADER},NVIDIA H100 80GB HBM3,gemm,bf16,4096,4096,4096,device,166,\n\
         ,h100,gemm,bf16,4096,4096,4096,device,167,\n\
         ,l40s,gemm,bf16,4096,4096,4096,device,620,\n\
         ,NVIDIA L40S,gemm,bf16,4096,4096,4096,device,620,\n\
         ,RTX 9999,gemm,bf16,4096,4096,4096,device,620,\n\
         ,h100-sxm5-80gb:3g.40gb,gemm,bf16,4096,4096,4096,device,620,\n\
         ,,gemm,bf16,4096,4096,4096,device,-5,\n\
         ,,gemm,bf16,4096,4096,4096,device,nan,\n\
         ,,gemm,bf16,4096,4096,4096,device,,\n\
         ,,softmax,bf16,1,1,1,device,5,\n\
         ,,gemm,bf16,0,1,1,device,5,\n\
         ,,gemm,bf16,1\n"
    );
    let (code, out, notes) = run(&["calibrate", "-", "--gpu", "h100-sxm5-80gb"], &rows);
    assert_eq!(code, 1, "{notes}");
    assert!(out.contains("# from 2 rows of standard input") && out.contains("; from 2 rows\n"), "{out}");
    for part in [
        "note: `h100` is taken as the SXM5 80 GB module",
        "warning: 1 row left out (standard input:4): measured on `l40s`, not on H100 SXM5 80 GB; --any-gpu takes such",
        "measured on `RTX 9999`, which is no name of H100 SXM5 80 GB nor of another GPU",
        "measured on `h100-sxm5-80gb:3g.40gb`, not on",
        "measured_us = `-5` is not a time above 0",
        "measured_us = `nan` is not a time above 0",
        "measured_us is empty",
        "op `softmax` is no matrix product",
        "m = 0: a matrix product has at least 1 row",
        "12 rows, 10 left out; 1 constant found",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let (code, _, notes) = run(&["calibrate", "-", "--gpu", "h100-sxm5-80gb", "--any-gpu", "--quiet"], &rows);
    assert_eq!((code, notes.as_str()), (1, ""));
    let (code, out, notes) = run(&["calibrate", "-", "--gpu", "b200"], &rows);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(notes.contains("error: no constant of") || notes.contains("error: no row can be used"), "{notes}");
}

#[test]
fn json_has_every_constant_and_every_error() {
    let rows = "tests/data/h100_products.csv";
    let (code, out, _) = run(&["calibrate", rows, rows, "--gpu", "h100-sxm5-80gb", "--format", "json"], "");
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (json["schema"].as_str(), json["gpu"].as_str()),
        (Some("wavecast.calibration/1"), Some("h100-sxm5-80gb"))
    );
    assert_eq!((json["rows"].as_u64(), json["rows_used"].as_u64()), (Some(14), Some(14)));
    let constants = json["constants"].as_array().unwrap();
    let names: Vec<&str> = constants.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "sustained_tensor",
            "dram_efficiency",
            "sustained_sgemm",
            "sustained_vector",
            "fixed_factor",
            "power_droop",
            "sgemm_droop"
        ]
    );
    let of = |name: &str| constants.iter().find(|c| c["name"] == name).unwrap();
    assert_eq!(
        (of("sustained_tensor")["from"].as_str(), of("sustained_tensor")["rows"].as_u64()),
        (Some("rows"), Some(4))
    );
    assert_eq!(of("power_droop")["determined"], false);
    assert!(of("power_droop")["why"].as_str().unwrap().contains("measure large products"));
    assert!(of("sustained_sgemm")["why"].is_null(), "no row has anything to do with it");
    let errors = json["errors"].as_array().unwrap();
    let sizes: Vec<&str> = errors.iter().map(|e| e["size"].as_str().unwrap()).collect();
    assert_eq!(sizes, ["all", "10-100 us", "100-1000 us"]);
    assert!(errors[0]["after"]["mape_pct"].as_f64() < errors[0]["before"]["mape_pct"].as_f64(), "{errors:?}");
    assert!(json["band"].is_null() && json["protocol"].as_array().unwrap().len() == 3);
}

#[test]
fn benchmarks_and_rates_need_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let (ert, other) = (folder.path().join("roofline.json"), folder.path().join("try.001"));
    // Written for this test, after the form of ERT 1.1 on a GPU.
    let result = r#"{"empirical": {"gbytes": {"data": [["L1", 9500.0], ["L2", 3200.0], ["DRAM", 1700.0]], "metadata": {}},
        "gflops": {"data": [["FP32 GFLOPs", 18500.0], ["FP64 GFLOPs", 9200.0]], "metadata": {}},
        "metadata": {"ERT_VERSION": "1.1.0", "CONFIG": {"ERT_GPU": [true]}}}, "spec": {"gbytes": {"data": []}}}"#;
    fs::write(&ert, result).unwrap();
    fs::write(&other, "There are not enough slots available\n").unwrap();
    let gpu = ["calibrate", "--gpu", "a100-sxm4-80gb"];
    let (code, out, notes) = run(&[&gpu[..], &["--roofline", path(&ert), "--math", "bf16=270 TFLOP/s"]].concat(), "");
    assert_eq!(code, 0, "{notes}");
    for part in [
        "# from measured rates and roofline.json\n",
        "# sustained_tensor: so that 8192 x 8192 x 8192 in bf16 runs at 270 TFLOP/s in the model\n",
        "# dram_efficiency: so that 16 x 32768 x 32768 in bf16 streams at 1.7 TB/s in the model\n",
        "# sustained_vector: FP32 vector at 18.5 TFLOP/s of 19.49 TFLOP/s with operands in registers\n",
        "sustained_vector = 0.9491     # was 1; from a measured rate\n",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(notes.contains("note: `FP64 GFLOPs` of the file sets no constant; FP32 does"), "{notes}");
    for (arguments, part) in [
        (&["--roofline", path(&other)][..], "neither a roofline.json of ERT nor a roofline.csv"),
        (
            &["--roofline", path(&ert), "--bandwidth", "1.7 TB/s"],
            "two of the given rates set dram_efficiency; give one",
        ),
        (&["--bandwidth", "1.7"], "the unit is missing"),
        (&["--bandwidth", "1.7 GB/s"], "against 2.039 TB/s of the datasheet"),
        (&["--math", "270 TFLOP/s"], "write TYPE=RATE"),
        (&["--math", "bf17=1 TFLOP/s"], "`bf17` is no type: fp64, fp32"),
        (&[], "nothing to calibrate from"),
        (&["--bandwidth", "1.7 TB/s", "--format", "csv"], "[possible values: text, json]"),
        (&["--math", "int8=500 TFLOP/s"], "give a rate of one of these"),
        (&["--bandwidth", "1.7 TB/s", "--whole", "--format", "json"], "leave --format out"),
        (&["--bandwidth", "1.7 TB/s", "--whole", "--set", "sm.count=100"], "change a copy of the file"),
        (&["--bandwidth", "1.7 TB/s", "--gpu", "h100"], "--gpu was given 2 times"),
        (&["missing.csv"], "`missing.csv` cannot be read"),
        (&["README.md"], "the table has no column `op`"),
    ] {
        let (code, out, notes) = run(&[&gpu[..], arguments].concat(), "");
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {notes}");
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let (code, _, notes) = run(&["calibrate", "--bandwidth", "1.7 TB/s"], "");
    assert!(code == 2 && notes.contains("name the GPU that was measured"), "{notes}");
    let (code, _, notes) = run(&["calibrate", "--gpu", "epyc-9654", "--bandwidth", "0.4 TB/s"], "");
    assert!(code == 2 && notes.contains("EPYC 9654 is a CPU"), "{notes}");
    let no_times = "gpu,op,dtype,m,n,k\n,gemm,bf16,1,1,1\n";
    let (code, _, notes) = run(&["calibrate", "--gpu", "h100", "-"], no_times);
    assert!(code == 2 && notes.contains("the table has no column `measured_us`"), "{notes}");
}

#[test]
fn a_slice_is_calibrated_as_part_of_the_file_of_its_gpu() {
    let rows = format!("{HEADER},a100-sxm4-80gb:3g.40gb,gemm,bf16,4096,4096,4096,device,1400,\n");
    let gpu = ["calibrate", "-", "--gpu", "a100-sxm4-80gb:3g.40gb"];
    let (code, out, notes) = run(&[&gpu[..], &["--whole"]].concat(), &rows);
    assert_eq!(code, 0, "{notes}");
    assert!(out.contains("name = \"A100 SXM4 80 GB\"") && out.contains("sustained_tensor = 0.98"), "{out}");
    assert!(notes.contains("note: measured on a MIG slice"), "{notes}");
    // A row of the whole GPU is none of the slice.
    let whole = rows.replace(":3g.40gb", "");
    assert_eq!(run(&gpu, &whole).0, 2);
}

//! `predict --batch` and `validate` through the program: columns, order, refusals, exit codes.

use assert_cmd::Command;

const HEADER: &str = "gpu,op,dtype,batch,m,n,k,timing,notes";

/// Exit code, standard output as rows of fields by name, standard error.
fn predict(rows: &[&str], options: &[&str]) -> (i32, Vec<std::collections::BTreeMap<String, String>>, String) {
    let input = format!("{HEADER}\n{}\n", rows.join("\n"));
    let mut command = Command::cargo_bin("wavecast").unwrap();
    let found = command.args(["predict", "--batch", "-"]).args(options).write_stdin(input).output().unwrap();
    let mut reader = csv::Reader::from_reader(found.stdout.as_slice());
    let rows = reader.deserialize().map(Result::unwrap).collect();
    (found.status.code().unwrap(), rows, String::from_utf8(found.stderr).unwrap())
}

#[test]
fn rows_keep_their_order_and_bad_ones_carry_their_reason() {
    let (code, rows, notes) = predict(
        &[
            "h100-sxm5-80gb,gemm,bf16,,4096,4096,4096,,",
            "A100-80GB,bmm,fp32,64,512,64,512,launch,",
            "v100-sxm2-16gb,gemm,bf16,,16,4096,4096,,",
            "h100,conv,bf16,,1,1,1,,",
            "H1000,gemm,bf16,,1,1,1,,",
            "b200,gemm,fp8,,16,4096,4096,,",
            "l40s,gemm,bf16,,0,4096,4096,,",
            "l40s,gemm,bf16,,99999999999999999999,4096,4096,,",
            ",gemm,bf16,,1,4096,4096,,",
            "epyc-9654,gemm,fp32,,64,64,64,,",
        ],
        &[],
    );
    assert_eq!(code, 1);
    let errors: Vec<&str> = rows.iter().map(|row| row["error"].as_str()).collect();
    for (place, expected) in [
        (0, ""),
        (1, ""),
        (2, "has no BF16 tensor unit"),
        (3, "conv_params is empty; conv needs it"),
        (4, "no GPU is called `H1000`"),
        (5, ""),
        (6, "m = 0"),
        (7, "m = `99999999999999999999` is not a whole number"),
        (8, "gpu is empty; name one there or by --gpu"),
        (9, "is a CPU"),
    ] {
        assert!(errors[place].contains(expected) && errors[place].is_empty() == expected.is_empty(), "{errors:?}");
    }
    let first = &rows[0];
    assert_eq!(
        [&first["tile"], &first["splits"], &first["bound"], &first["calibration"]],
        ["128x256", "1", "math", "gpu"]
    );
    assert_eq!((first["grid_blocks"].as_str(), first["launch_us"].as_str()), ("512", ""));
    let number = |row: usize, column: &str| rows[row][column].parse::<f64>().unwrap();
    assert!(number(0, "low_us") < number(0, "predicted_us") && number(0, "predicted_us") < number(0, "high_us"));
    assert_eq!((rows[1]["launch_us"].as_str(), rows[1]["tile"].as_str()), ("2.7", "128x128"));
    assert_eq!(rows[1]["calibration"], "family:ampere-ga100");
    // Nobody measured FP8: a wider band than that of bf16.
    assert!(number(5, "high_us") / number(5, "predicted_us") > 2.0);
    assert!(notes.contains("`A100-80GB` is taken as") && notes.contains("10 rows, 7 not predicted"), "{notes}");
}

#[test]
fn what_is_in_l2_and_which_gpu_can_be_said() {
    let rows = [
        "t4,gemm,bf16,,16,1024,1024,,",
        "t4,gemm,bf16,,16,1024,1024,,weight_copies=1",
        "t4,gemm,bf16,,16,1024,1024,,weight_copies=6",
    ];
    let (code, rows, _) = predict(&rows, &["--gpu", "l40s"]);
    assert_eq!(code, 0);
    let time = |row: usize| rows[row]["dram_us"].parse::<f64>().unwrap();
    assert_eq!(rows[0]["gpu_name"], "L40S");
    assert!(time(1) < time(0) * 0.6 && time(2) < time(0) * 0.6, "6 copies of 2 MiB stay in 96 MB of L2");
}

#[test]
fn unusable_tables_are_refused() {
    for (input, expected) in [("gpu,op,m,n,k\n", "no column `dtype`"), ("", "no column `op`")] {
        let mut command = Command::cargo_bin("wavecast").unwrap();
        let found = command.args(["predict", "--batch", "-"]).write_stdin(input).output().unwrap();
        assert_eq!(found.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&found.stderr).contains(expected), "{found:?}");
    }
}

#[test]
fn validate_scores_groups_and_counts_what_it_leaves_out() {
    let table = "source,gpu,op,dtype,m,n,k,timing,measured_us\n\
                 lab,h100-sxm5-80gb,gemm,bf16,4096,4096,4096,device,166\n\
                 lab,h100-sxm5-80gb,gemm,bf16,16,4096,4096,device,15.5\n\
                 lab,h100-sxm5-80gb,gemm,bf16,16,4096,4096,device,\n\
                 lab,h100-sxm5-80gb,softmax,bf16,,,,device,10\n";
    let mut command = Command::cargo_bin("wavecast").unwrap();
    let arguments = ["validate", "-", "--by", "gpu,size", "--format", "json"];
    let found = command.args(arguments).write_stdin(table).output().unwrap();
    assert_eq!(found.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(json["rows"], 4);
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!((groups[0]["size"].as_str(), groups[1]["size"].as_str()), (Some("10-100 us"), Some("100-1000 us")));
    assert!(groups[1]["mape_pct"].as_f64().unwrap() < 5.0 && groups[1]["datasheet_mape_pct"].as_f64().unwrap() > 10.0);
    assert_eq!(json["left_out"].as_array().unwrap().len(), 2);
}

//! Every operation in one table: each row has the time that the operation's own command gives, and bad rows their reason.

use crate::place::{Place, table};

const HEADER: &str =
    "gpu,op,dtype,batch,m,n,k,rows,cols,heads_q,heads_kv,seq_q,seq_kv,head_dim,causal,phase,conv_params,timing,notes";

/// A row by its filled columns.
fn row(cells: &[(&str, &str)]) -> String {
    let of = |name: &str| cells.iter().find(|cell| cell.0 == name).map_or("", |cell| cell.1);
    HEADER.split(',').map(of).collect::<Vec<_>>().join(",")
}

fn predicted(rows: &[String]) -> (i32, Vec<Vec<String>>) {
    let place = Place::new();
    place.file("in.csv", format!("{HEADER}\n{}\n", rows.join("\n")));
    let found = place.command(&["predict", "--batch", "in.csv", "--quiet"]).output().unwrap();
    (found.status.code().unwrap(), table(&String::from_utf8(found.stdout).unwrap()))
}

#[test]
fn a_row_of_any_operation_has_the_time_of_its_command() {
    let gpu = "a100-sxm4-80gb";
    let call = ("heads_q", "32");
    let cases: [(Vec<(&str, &str)>, &str); 9] = [
        (
            vec![("op", "attention"), call, ("heads_kv", "8"), ("seq_q", "4096"), ("head_dim", "128")],
            "attention --heads 32 --kv-heads 8 --seq-q 4096",
        ),
        (
            vec![
                ("op", "attention"),
                call,
                ("heads_kv", "8"),
                ("seq_kv", "8192"),
                ("head_dim", "128"),
                ("phase", "decode"),
            ],
            "attention --heads 32 --kv-heads 8 --seq-kv 8192",
        ),
        (
            vec![("op", "conv"), ("conv_params", "N=32;C=64;H=56;W=56;K=64;R=3;S=3;pad=1;layout=NHWC")],
            "conv 32 64 56 56 64 3 --pad 1 --layout NHWC --dtype bf16",
        ),
        (
            vec![
                ("op", "moe"),
                ("m", "4096"),
                ("n", "14336"),
                ("k", "4096"),
                ("notes", "experts=8;topk=2;routing=power:1.2"),
            ],
            "moe 4096 8 2 4096 14336 --routing power:1.2",
        ),
        (vec![("op", "softmax"), ("rows", "8192"), ("cols", "4096")], "softmax --rows 8192 --cols 4096 --dtype bf16"),
        (
            vec![("op", "layernorm"), ("rows", "8192"), ("cols", "4096")],
            "layernorm --rows 8192 --cols 4096 --dtype bf16",
        ),
        (vec![("op", "rmsnorm"), ("rows", "8192"), ("cols", "4096")], "rmsnorm --rows 8192 --cols 4096 --dtype bf16"),
        (
            vec![("op", "elementwise"), ("rows", "8192"), ("cols", "4096"), ("notes", "kind=add")],
            "elementwise add --rows 8192 --cols 4096 --dtype bf16",
        ),
        (vec![("op", "gemm"), ("m", "4096"), ("n", "4096"), ("k", "4096")], "gemm 4096 4096 4096"),
    ];
    let rows: Vec<String> =
        cases.iter().map(|(cells, _)| row(&[&[("gpu", gpu), ("dtype", "bf16")], &cells[..]].concat())).collect();
    let (code, answers) = predicted(&rows);
    assert_eq!(code, 0, "{answers:?}");
    let place = |name: &str| answers[0].iter().position(|column| column == name).unwrap();
    for ((_, command), answer) in cases.iter().zip(&answers[1..]) {
        let number =
            |column: &str| answer[place(column)].parse::<f64>().unwrap_or_else(|_| panic!("{command}: {answer:?}"));
        let arguments: Vec<&str> = command.split(' ').chain(["--gpu", gpu, "--format", "csv"]).collect();
        let own = table(&Place::new().out(&arguments));
        let column = own[0].iter().position(|column| column == "time_us").unwrap();
        let time: f64 = own[1][column].parse().unwrap();
        assert!(
            (number("predicted_us") / time - 1.0).abs() < 1e-4,
            "{command}: {} in the table, {time}",
            number("predicted_us")
        );
        assert!(number("low_us") <= time * 1.0001 && time <= number("high_us") * 1.0001, "{command}: {answer:?}");
        assert!(
            answer[place("bound")].len() >= 4 && number("waves") > 0.0 && number("grid_blocks") >= 1.0,
            "{command}"
        );
    }
}

#[test]
fn rows_that_are_no_operation_say_why_and_the_rest_goes_on() {
    let base = [("gpu", "a100-sxm4-80gb"), ("dtype", "bf16")];
    let cases: [(&[(&str, &str)], &str); 10] = [
        (&[("op", "attention"), ("heads_q", "32"), ("heads_kv", "5"), ("seq_q", "64"), ("head_dim", "128")], "heads"),
        (&[("op", "attention"), ("heads_q", "32"), ("seq_q", "0"), ("head_dim", "128")], "seq_q = 0"),
        (&[("op", "attention"), ("heads_q", "32"), ("seq_q", "64")], "head_dim is empty; attention needs it"),
        (
            &[("op", "attention"), ("heads_q", "32"), ("seq_q", "64"), ("head_dim", "128"), ("causal", "x")],
            "causal = `x` is neither",
        ),
        (&[("op", "conv"), ("conv_params", "N=1;C=3;H=8;W=8;K=8;R=3;S=3;pad=-1")], "pad"),
        (&[("op", "moe"), ("m", "4"), ("n", "8"), ("k", "8")], "experts= is absent"),
        (&[("op", "softmax"), ("rows", "0"), ("cols", "8")], "0"),
        (&[("op", "softmax"), ("cols", "8")], "rows is empty; softmax needs it"),
        (&[("op", "elementwise"), ("rows", "8"), ("cols", "8"), ("notes", "kind=addd")], "addd"),
        (&[("op", "gemv"), ("rows", "8"), ("cols", "8")], "op `gemv` is not known"),
    ];
    let mut rows: Vec<String> = cases.iter().map(|(cells, _)| row(&[&base[..], cells].concat())).collect();
    rows.push(row(&[&base[..], &[("op", "softmax"), ("rows", "8"), ("cols", "8")]].concat()));
    let (code, answers) = predicted(&rows);
    assert_eq!((code, answers.len()), (1, rows.len() + 1));
    for ((_, said), answer) in cases.iter().zip(&answers[1..]) {
        let error = answer.last().unwrap();
        assert!(error.contains(said), "{said}: {error}");
    }
    assert_eq!(answers.last().and_then(|row| row.last()).map(String::as_str), Some(""));
}

#[test]
fn every_band_holds_its_estimate_and_no_term_is_without_sense() {
    let mut rows = Vec::new();
    for gpu in
        ["h100-sxm5-80gb", "a100-pcie-40gb", "l40s", "b200", "t4", "v100-pcie-32gb", "instinct-mi300x", "rtx-5090"]
    {
        let sizes =
            [("1", "1"), ("1", "10000000"), ("100000", "8192"), ("4096", "4096"), ("1000000000", "1"), ("33", "1000")];
        for (op, (many, long)) in ["softmax", "layernorm", "rmsnorm", "reduction", "gelu", "memcpy"]
            .into_iter()
            .flat_map(|op| sizes.map(|size| (op, size)))
        {
            for timing in ["device", "launch"] {
                rows.push(row(&[
                    ("gpu", gpu),
                    ("dtype", "fp16"),
                    ("op", op),
                    ("rows", many),
                    ("cols", long),
                    ("timing", timing),
                ]));
            }
        }
        for (m, n, k) in [("1", "4096", "4096"), ("3", "33", "1000"), ("2", "128", "100"), ("8192", "8192", "8192")] {
            rows.push(row(&[("gpu", gpu), ("dtype", "fp16"), ("op", "gemm"), ("m", m), ("n", n), ("k", k)]));
        }
    }
    let (code, answers) = predicted(&rows);
    assert_eq!(code, 0, "{:?}", answers.iter().find(|row| !row.last().unwrap().is_empty()));
    let place = |name: &str| answers[0].iter().position(|column| column == name).unwrap();
    let (low, time, high) = (place("low_us"), place("predicted_us"), place("high_us"));
    for answer in &answers[1..] {
        let number = |column: usize| answer[column].parse::<f64>().unwrap();
        assert!(0.0 < number(low) && number(low) <= number(time) && number(time) <= number(high), "{answer:?}");
        for term in ["math_us", "dram_us", "l2_us", "latency_us"] {
            assert!((0.0..=number(time) * 1.0001).contains(&number(place(term))), "{term}: {answer:?}");
        }
    }
}

#[test]
fn the_tail_is_drawn_for_described_kernels_alone() {
    for (command, tails) in [
        ("attention --heads 32 --kv-heads 8 --seq-q 4096", 0),
        ("gemm 4096 4096 4096", 0),
        ("kernel --grid 1000 --block 256 --op vector.fp32=1GFLOP --dram-read 1GB", 1),
    ] {
        let place = Place::new();
        place.out(&command.split(' ').chain(["--gpu", "h100-sxm5-80gb", "--out", "o"]).collect::<Vec<_>>());
        let files = std::fs::read_dir(place.0.path().join("o")).unwrap();
        let found = files.filter(|f| f.as_ref().unwrap().file_name().to_string_lossy().starts_with("tail")).count();
        assert_eq!(found > 0, tails > 0, "{command}: {found}");
    }
    let place = Place::new();
    let text = "schema = 1\ntitle = \"one\"\ngpus = [\"h100-sxm5-80gb\"]\n[[gemm]]\nname = \"square\"\nm = 4096\nn = 4096\nk = 4096\n";
    place.file("gemm.toml", text);
    place.refused(&["chart", "tail", "gemm.toml", "-o", "t.svg"], &["square", "chart gemm"]);
}

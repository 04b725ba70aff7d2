//! What sweeps find: the best, the Pareto front, influences, crossings, each against a search by hand; refusals.

use assert_cmd::Command;
use serde_json::Value;

fn said(arguments: &[&str]) -> String {
    let done = Command::cargo_bin("wavecast").unwrap().args(arguments).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let done = Command::cargo_bin("wavecast").unwrap().args(arguments).assert().code(2);
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(&[arguments, &["--format", "json", "--quiet"]].concat())).unwrap()
}

const SPACE: [&str; 13] = [
    "sweep",
    "--op",
    "gemm",
    "--fix",
    "dtype=bf16",
    "--fix",
    "k=4096",
    "--axis",
    "m=64:1024:12",
    "--axis",
    "tile=64x64,128x128,128x256",
    "--axis",
    "gpu=h100-sxm5-80gb,a100-sxm4-80gb,l4",
];
const N: [&str; 2] = ["--fix", "n=4096"];

/// All rows as columns by name.
fn all() -> Vec<Vec<(String, String)>> {
    let text = said(&[&SPACE[..], &N, &["--format", "csv", "--quiet"]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |r: csv::StringRecord| names.iter().cloned().zip(r.iter().map(str::to_owned)).collect();
    reader.records().map(|r| row(r.unwrap())).collect()
}

fn get<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(known, _)| known == name).unwrap().1
}

fn number(row: &[(String, String)], name: &str) -> Option<f64> {
    get(row, name).parse().ok()
}

#[test]
fn the_best_of_each_group_is_the_least_of_its_rows() {
    let rows = all();
    let found = json(&[&SPACE[..], &N, &["--best", "time", "--by", "m,gpu"]].concat());
    let best = found["best"].as_array().unwrap();
    assert_eq!(best.len(), 243);
    for kept in best {
        let (m, gpu) = (kept["m"].to_string(), kept["gpu"].as_str().unwrap());
        let of = rows.iter().filter(|row| get(row, "m") == m && get(row, "gpu") == gpu);
        let least = of.filter_map(|row| number(row, "predicted_us")).fold(f64::INFINITY, f64::min);
        assert_eq!(kept["predicted_us"].as_f64().unwrap(), least, "{m} {gpu}");
    }
    let most = json(&[&SPACE[..], &N, &["--best", "throughput"]].concat());
    let largest = rows.iter().filter_map(|row| number(row, "tflop_per_s")).fold(0.0, f64::max);
    assert_eq!(most["best"][0]["tflop_per_s"].as_f64().unwrap(), largest);
}

#[test]
fn nothing_beats_the_front_and_the_front_beats_the_rest() {
    let rows = all();
    let found = json(&[&SPACE[..], &N, &["--pareto", "cost,throughput"]].concat());
    let front: Vec<(f64, f64)> = found["pareto"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kept| (kept["usd_per_million"].as_f64().unwrap(), kept["tflop_per_s"].as_f64().unwrap()))
        .collect();
    assert!(front.len() > 1, "{front:?}");
    let points = rows.iter().filter_map(|row| Some((number(row, "usd_per_million")?, number(row, "tflop_per_s")?)));
    for point in points {
        let beaten = front.iter().any(|f| f.0 <= point.0 && f.1 >= point.1 && *f != point);
        assert!(beaten != front.contains(&point), "{point:?}");
    }
}

#[test]
fn a_crossing_is_where_the_bound_changes() {
    let base = ["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "n=8192", "--fix", "k=8192"];
    let axis = ["--axis", "m=16:1024:16", "--gpu", "h100-sxm5-80gb"];
    let found = json(&[&base[..], &axis, &["--first", "bound = math", "--along", "m"]].concat());
    let value: f64 = found["crossings"][0]["value"].as_str().unwrap().parse().unwrap();
    let text = said(&[&base[..], &axis, &["--format", "csv", "--quiet"]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let place = reader.headers().unwrap().iter().position(|h| h == "bound").unwrap();
    let bounds: Vec<(f64, bool)> =
        reader.records().map(|r| r.unwrap()).map(|r| (r[1].parse().unwrap(), &r[place] == "math")).collect();
    let first = bounds.iter().find(|(_, math)| *math).unwrap().0;
    assert_eq!(value, first);
    let changes = bounds.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u64;
    assert_eq!(found["crossings"][0]["changes"].as_u64().unwrap(), changes);
}

#[test]
fn between_two_values_of_an_axis_a_crossing_is_found_by_bisection() {
    // A stream of 1 GB beside 10 TFLOP: math takes the same time at every bandwidth.
    let base = [
        "sweep",
        "--op",
        "kernel",
        "--fix",
        "grid=132000",
        "--fix",
        "block=256",
        "--fix",
        "traffic.dram.read=4 GB",
        "--fix",
        "work.operations.vector.fp32=60 GFLOP",
        "--gpu",
        "h100-sxm5-80gb",
        "--axis",
    ];
    let wide =
        ["memory.dram.bandwidth=1 TB/s:9 TB/s:1 TB/s", "--first", "bound = math", "--along", "memory.dram.bandwidth"];
    let text = json(&[&base[..], &wide].concat())["crossings"][0]["value"].as_str().unwrap().to_owned();
    let value: f64 = text.strip_suffix(" TB/s").unwrap().parse().unwrap();
    assert!(value.fract() != 0.0, "{value} is no value between two of the axis");
    let bound = |bandwidth: f64| {
        let axis = format!("memory.dram.bandwidth={bandwidth} TB/s");
        let found = json(&[&base[..], &[axis.as_str()]].concat());
        if found["bounds"]["math"] == 1 { "math" } else { "other" }
    };
    assert_eq!((bound(value * 1.0002), bound(value * 0.9995)), ("math", "other"));
}

#[test]
fn influences_are_those_of_a_kernel_that_streams() {
    let base = [
        "sweep",
        "--op",
        "kernel",
        "--fix",
        "grid=132000",
        "--fix",
        "block=256",
        "--fix",
        "traffic.dram.read=10 GB",
        "--fix",
        "concurrency.bytes_in_flight=64",
        "--gpu",
        "h100-sxm5-80gb",
        "--sensitivity",
    ];
    let found = said(&[&base[..], &["--format", "json"]].concat());
    let found: Vec<Value> = serde_json::from_str(&found).unwrap();
    let of = |name: &str| found.iter().find(|i| i["parameter"] == name).unwrap();
    // Ten times the tile: time follows bytes and bandwidth, and nothing else.
    assert!((of("traffic.dram.read")["elasticity"].as_f64().unwrap() - 1.0).abs() < 0.1);
    assert!(of("memory.dram.bandwidth")["elasticity"].as_f64().unwrap() < -0.5);
    assert_eq!(of("clocks.tensor")["parameter"], "clocks.tensor");
    let spread: Vec<f64> =
        found.iter().map(|i| i["most_us"].as_f64().unwrap() - i["least_us"].as_f64().unwrap()).collect();
    assert!(spread.windows(2).all(|pair| pair[0] >= pair[1]), "{spread:?}");
}

#[test]
fn what_cannot_be_looked_for_says_what_can() {
    let ask = |more: &[&str]| refused(&[&SPACE[..], &N, more].concat());
    for (more, expected) in [
        (&["--best", "speed"][..], "`speed` is no column of numbers: write time, throughput, cost"),
        (&["--best", "time", "--by", "mm"], "--by `mm`: no such column; there are point, m, tile"),
        (&["--pareto", "time"], "--pareto time: name two columns"),
        (&["--first", "bound = maths", "--along", "m"], "`bound = maths` is no condition"),
        (&["--first", "waves > x", "--along", "m"], "`waves > x` is no condition"),
        (&["--first", "bound = math", "--along", "q"], "`q` is no axis of the sweep; its axes are m, tile, gpu"),
        (&["--first", "bound = math", "--along", "gpu"], "the values of `gpu` are names"),
        (&["--sensitivity", "--swing", "100"], "--swing 100: a share of the value in percent"),
        (&["--sensitivity", "--at", "mm=3"], "nothing reads the key `mm`"),
    ] {
        let error = ask(more);
        assert!(error.contains(expected), "{more:?}: {error}");
    }
}

#[test]
fn spaces_that_are_none_are_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("s.toml");
        std::fs::write(&path, text).unwrap();
        refused(&["sweep", path.to_str().unwrap()])
    };
    let head = "schema = 1\nop = \"gemm\"\n[fixed]\ndtype = \"bf16\"\nn = 64\nk = 64\ngpu = \"t4\"\n";
    for (text, expected) in [
        ("schema = 2\nop = \"gemm\"\n".to_owned(), "schema = 2; this program reads schema 1"),
        ("schema = 1\nop = \"sort\"\n".into(), "op = `sort` is not known; write kernel, simulate or one of gemm"),
        ("schema = 1\nop = \"gemm\"\nfoo = 1\n".into(), "unknown field `foo`"),
        (format!("{head}[[axis]]\nkey = \"mm\"\nvalues = [1]\n"), "nothing reads the key `mm`; near: m,"),
        (format!("{head}[[axis]]\nkey = \"n\"\nvalues = [1]\n"), "`n` is given twice"),
        (format!("{head}[[axis]]\nkey = \"m\"\nvalues = []\n"), "axis m: `[]`: give at least one value"),
        (format!("{head}[[axis]]\nkey = \"m\"\n"), "give values = [...] or range"),
        (
            format!("{head}[[axis]]\nkey = \"m\"\nrange = {{ from = 1, to = 4 }}\n"),
            "exactly one of step, factor and count",
        ),
        (
            format!("{head}[[axis]]\nkey = \"m\"\nrange = {{ from = 8, to = 4, step = 1 }}\n"),
            "axis m: `4`: the range must rise",
        ),
        (
            format!(
                "{head}[[axis]]\nkey = \"m\"\nvalues = [1, 2]\nzip = \"a\"\n[[axis]]\nkey = \"batch\"\nvalues = [1]\nzip = \"a\"\n"
            ),
            "need equally many values: m has 2, batch has 1",
        ),
        (format!("{head}[kernel]\ngrid = 1\n"), "[kernel] and [[launch]] belong to op"),
    ] {
        let error = file(&text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let huge =
        ["sweep", "--op", "gemm", "--axis", "m=1:1000000000", "--axis", "n=1:1000000000", "--axis", "k=1:1000000000"];
    assert!(refused(&huge).contains("more than 9.2e18 points"));
    let unknown = refused(&["sweep", "--op", "gemm", "--axis", "gpu=h100,h1000", "--fix", "m=1"]);
    assert!(unknown.contains("h1000"), "{unknown}");
    let field = ["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "n=1", "--fix", "k=1", "--axis", "m=1:4"];
    let field = refused(&[&field[..], &["--fix", "sm.counts=3"]].concat());
    assert!(field.contains("a GPU has no field `sm.counts`"), "{field}");
}

#[test]
fn a_dry_run_counts_and_evaluates_nothing() {
    let space = [
        "sweep",
        "--op",
        "gemm",
        "--axis",
        "m=1:1000000",
        "--axis",
        "n=1:1000000",
        "--zip",
        "k=1,2",
        "--zip",
        "batch=3,4",
    ];
    let found = json(&[&space[..], &["--fix", "dtype=bf16", "--dry-run", "--shard", "2/4", "--out", "never"]].concat());
    assert_eq!(found["points"].as_u64(), Some(2_000_000_000_000));
    assert_eq!(found["shard"]["first_row"].as_u64(), Some(500_000_000_000));
    assert!(!std::path::Path::new("never").exists());
}

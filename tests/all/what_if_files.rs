//! `analyze --what-if` and `--to` on profiles and traces: figures worked by hand, sums of files, refusals, every form.

use serde_json::Value;

use super::place::{PROFILE, Place, narrow, table, text};

/// Two launches on a GPU of the catalog, the second one without a grid: 128 registers, memory at 90 and 20 % of its throughput.
fn page(registers: u32) -> String {
    let row = |id: u32, name: &str, grid: &str, ns: u32, memory: u32| {
        format!(
            "\"{id}\",\"{name}(int)\",\"NVIDIA A100-SXM4-80GB\",\"8\",\"0\",\"{grid}\",\"256\",\"{registers}\",\"{ns}\",\"{memory}\",\"10\"\n"
        )
    };
    let head = "\"ID\",\"Kernel Name\",\"device__attribute_display_name\",\"device__attribute_compute_capability_major\",\
                \"device__attribute_compute_capability_minor\",\"launch__grid_size\",\"launch__block_size\",\
                \"launch__registers_per_thread\",\"gpu__time_duration.sum\",\
                \"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed\",\
                \"sm__throughput.avg.pct_of_peak_sustained_elapsed\"\n\
                \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"register/thread\",\"ns\",\"%\",\"%\"\n";
    format!("{head}{}{}", row(0, "stream", "1080", 100_000, 90), row(1, "wait", "1080", 50_000, 20))
}

fn place() -> Place {
    let place = Place::new();
    place.file("p2.csv", page(128));
    place.file("t.json", include_str!("../data/kineto/before.json"));
    place
}

fn json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.out(&[&["analyze"], words, &["--format", "json", "--quiet"]].concat())).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
fn close(value: &Value, wanted: f64) {
    assert!((number(value) - wanted).abs() < 1e-3 * wanted, "{value} instead of {wanted}");
}

#[test]
fn registers_of_a_profile_by_hand() {
    let place = place();
    let report = json(&place, &["p2.csv", "--what-if", "registers=64"]);
    let asked = |kernel: usize| report["kernels"][kernel]["asked"][0].clone();
    let (stream, wait) = (asked(0), asked(1));
    // 2 -> 4 blocks of 8 warps; 1,080 blocks are 5 waves of 216, then 2.5 of 432.
    assert_eq!((&stream["blocks_per_sm"], &stream["theoretical_occupancy_pct"]), (&4.into(), &50.into()));
    assert_eq!((&stream["waves"], &stream["change"]), (&2.5.into(), &"registers=64".into()));
    // Memory-bound: unchanged, or 12 paid slots instead of 10; 8 % each way.
    close(&stream["low_us"], 100.0 * 0.92);
    close(&stream["high_us"], 120.0 * 1.08);
    // Latency-bound: half the time by Little's law, or unchanged.
    close(&wait["low_us"], 25.0 * 0.92);
    close(&wait["high_us"], 50.0 * 1.08);
    let all = &report["traces"][0];
    assert_eq!((&all["kernels_us"], &all["launches"]), (&150.into(), &2.into()));
    close(&all["asked"][0]["low_us"], 125.0 * 0.92);
    close(&all["asked"][0]["high_us"], 170.0 * 1.08);
    let said = |value: &Value| value["text"].as_str().unwrap().to_owned();
    assert!(
        said(&stream).contains("2 -> 4 blocks per SM, occupancy 25 -> 50 % (registers), 5 -> 2.5 waves"),
        "{stream}"
    );
    assert!(said(&wait).contains("latency-bound") && said(&stream).contains("memory-bound"), "{wait}{stream}");
    assert!(said(&all["asked"][0]).contains("instead of 150 us"), "{all}");
    // Without the option nothing is added.
    let plain = json(&place, &["p2.csv"]);
    assert_eq!(
        (&plain["traces"][0]["asked"], &plain["kernels"][0]["asked"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
}

#[test]
fn blocks_and_shared_memory_of_a_trace() {
    let place = place();
    let words = ["t.json", "--what-if", "block=512, shared=8 KiB", "--what-if", "block=1024"];
    let report = json(&place, &words);
    let gemm = &report["kernels"][0];
    assert_eq!(gemm["kernel"], "gemm");
    let (first, second) = (&gemm["asked"][0], &gemm["asked"][1]);
    // 216 blocks of 256 threads are 108 of 512: with 128 registers one on each SM.
    assert_eq!((&first["grid_blocks"], &first["blocks_per_sm"], &first["waves"]), (&108.into(), &1.into(), &1.into()));
    assert_eq!(first["change"], "block=512, shared=8 KiB");
    // 1,024 threads with 128 registers do not fit: the largest legal values are named.
    assert_eq!((&second["blocks_per_sm"], &second["low_us"]), (&0.into(), &Value::Null));
    let said = second["text"].as_str().unwrap();
    assert!(said.contains("cannot run") && said.contains("512 threads") && said.contains("64 registers"), "{said}");
    // 27 blocks of 1,024 threads, one wave before and after: 10 us and 8 % each way. `total` is of all launches.
    let soft = report["kernels"].as_array().unwrap().iter().find(|k| k["operation"] == "other" && k["launches"] == 1);
    assert!(soft.is_some_and(|k| number(&k["asked"][1]["high_us"]) > number(&k["measured_us"])), "{soft:?}");
    let add = report["kernels"].as_array().unwrap().iter().find(|k| k["launches"] == 2).unwrap();
    close(&add["asked"][0]["low_us"], 25.0 * 0.92);
    close(&add["asked"][0]["total_low_us"], 50.0 * 0.92);
    let total = report["traces"][0]["asked"][1]["text"].as_str().unwrap();
    assert!(total.contains("counted as they are: 1 cannot run so"), "{total}");
}

#[test]
fn only_the_kernels_that_are_shown_are_changed() {
    let place = place();
    let report = json(&place, &["t.json", "--what-if", "registers=64", "--kernel", "1"]);
    let all = &report["traces"][0]["asked"][0];
    // 50 of 120 us, one wave before and after.
    close(&all["low_us"], 70.0 + 50.0 * 0.92);
    close(&all["high_us"], 70.0 + 50.0 * 1.08);
    assert!(all["text"].as_str().unwrap().contains("changing the 1 kernel shown"), "{all}");
}

#[test]
fn what_a_file_does_not_say_is_named() {
    let place = place();
    let text_of = |file: &str, words: &[&str]| place.out(&[&["analyze", file, "--quiet"], words].concat());
    place.file("no_registers.csv", page(128).replace("launch__registers_per_thread", "launch__other"));
    let said = text_of("no_registers.csv", &["--what-if", "registers=64"]);
    assert!(said.contains("the file does not say the registers of a thread"), "{said}");
    assert!(said.contains("registers=64: no answer: 2 cannot be judged"), "{said}");
    place.file("no_grid.csv", page(128).replace("launch__grid_size", "launch__other"));
    let said = text_of("no_grid.csv", &["--what-if", "registers=64"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("2 -> 4 blocks per SM") && said.contains("no time: the file does not say the grid"),
        "{said}"
    );
    let said = text_of("p2.csv", &["--what-if", "registers=128"]);
    assert!(said.contains("like that already") && said.contains("150 us to 150 us"), "{said}");
}

#[test]
fn a_profile_on_another_gpu_is_scaled_by_its_counters() {
    let place = place();
    let report = json(&place, &["p2.csv", "--to", "a100-sxm4-80gb", "--to", "h100-sxm5-80gb"]);
    let there = |kernel: usize, gpu: usize| report["kernels"][kernel]["elsewhere"][gpu].clone();
    // The same GPU: as measured, 15 % each way. A latency-bound kernel is as fast anywhere, 20 % on another architecture.
    assert_eq!(there(0, 0)["gpu"], "a100-sxm4-80gb");
    close(&there(0, 0)["low_us"], 85.0);
    close(&there(0, 0)["high_us"], 115.0);
    close(&there(1, 1)["low_us"], 40.0);
    close(&there(1, 1)["high_us"], 60.0);
    // Memory-bound: by the ratio of bandwidths that are sustained, 2.039 of 3.35 TB/s by the datasheets.
    let (low, high) = (number(&there(0, 1)["low_us"]), number(&there(0, 1)["high_us"]));
    assert!((high / low - 1.5).abs() < 1e-3 && (45.0..75.0).contains(&(low / 0.8)), "{low} {high}");
    let said = report["traces"][0]["elsewhere"][1].as_str().unwrap();
    assert!(said.starts_with("H100 SXM5 80 GB: ") && said.contains("instead of 150 us on A100"), "{said}");
    assert!(said.contains("counters"), "{said}");
    place.refused(&["analyze", "p2.csv", "--to", "h101"], &["h101"]);
    let unknown = page(128).replace("NVIDIA A100-SXM4-80GB", "Made-up");
    place.file("unknown.csv", unknown);
    place.refused(&["analyze", "unknown.csv", "--to", "l4"], &["--to needs to know the GPU", "--gpu NAME"]);
    place.out(&["analyze", "unknown.csv", "--to", "l4", "--gpu", "a100-sxm4-80gb", "--quiet"]);
}

#[test]
fn every_form_has_the_answers() {
    let place = place();
    let asked = ["--what-if", "registers=64", "--to", "h100-sxm5-80gb", "--quiet"];
    for file in ["p2.csv", "t.json"] {
        let out = place.out(&[&["analyze", file], &asked[..]].concat());
        narrow(&["analyze", file], &out);
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("registers=64: 2 -> 4 blocks per SM") && words.contains("elsewhere H100"), "{out}");
        assert!(words.contains("8 % each way") && words.contains("the compiler spills"), "{out}");
        for format in ["markdown", "html"] {
            let out = place.out(&[&["analyze", file, "--format", format], &asked[..]].concat());
            assert!(out.contains("H100 SXM5 80 GB: ") && out.contains("what if") && out.contains("What if"), "{out}");
        }
    }
    let rows = table(&place.out(&[&["analyze", "p2.csv", "--format", "csv"], &asked[..]].concat()));
    let column = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    assert_eq!(rows[1][column("asked")], "registers=64: 92 to 129.6");
    assert!(rows[2][column("elsewhere")].starts_with("h100-sxm5-80gb: 40 to 60"), "{:?}", rows[2]);
    assert_eq!(column("error"), rows[0].len() - 1);
}

#[test]
fn what_has_no_measured_kernels_is_refused() {
    let place = place();
    let says: [(&[&str], &[&str]); 6] = [
        (&["s.toml", "--what-if", "registers=64"], &["--what-if 'registers=64'", "compare --what-if"]),
        (&["s.toml", "--to", "l4"], &["--to l4", "`--gpu`"]),
        (&["p2.csv", "--what-if", "register=64"], &["did you mean `registers`?"]),
        (&["p2.csv", "--what-if", "shared=48"], &["the unit is missing"]),
        (&["p2.csv", "--what-if", "block=0"], &["block = `0`"]),
        (&["p2.csv", "--what-if", ""], &["changes nothing"]),
    ];
    for (words, parts) in says {
        let run = place.run(&[&["analyze"], words].concat()).code(2);
        let message = text(&run.get_output().stderr);
        assert!(parts.iter().all(|part| message.contains(part)), "{words:?}: {message}");
    }
    // A compiler's report has no launches.
    place.file("ptxas.txt", include_str!("../data/compiler/ptxas.log"));
    place.refused(&["analyze", "ptxas.txt", "--what-if", "registers=64"], &["compiler's report"]);
    // Beside a file that can be asked, the other one is an error of the report.
    place.file("raw.csv", PROFILE);
    place.run(&["analyze", "s.toml", "raw.csv", "--what-if", "registers=64"]).code(1);
}

//! Measured ceilings: the three forms with their oddities, the table of `analyze`, and the roofs that `--ceilings` draws.

use std::{fmt::Write, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use wavecast::{
    ceilings::{Ceilings, CeilingsError, Memory, Tool, What, detect, read},
    gpu::{Catalog, DataType, Pipe},
};

use super::{
    ncu::{apply, damage},
    place::{Place, text},
};

const ERT_GPU: &[u8] = include_bytes!("../data/ceilings/ert_gpu.json");
const ERT_CPU: &[u8] = include_bytes!("../data/ceilings/ert_cpu.json");
const TRY: &[u8] = include_bytes!("../data/ceilings/ert_try_failed.txt");
const FOUR: &[u8] = include_bytes!("../data/ceilings/rocprof_four_dies.csv");
const ONE: &[u8] = include_bytes!("../data/ceilings/rocprof_one_die.csv");
const PEAKS: &[u8] = include_bytes!("../data/ceilings/peaks_a100.csv");
const ALL: [&[u8]; 5] = [ERT_GPU, ERT_CPU, FOUR, ONE, PEAKS];

fn good(bytes: &[u8]) -> Ceilings {
    assert!(detect(bytes));
    read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).map_or_else(|error| error.to_string(), |found| panic!("{found:?}"))
}

/// Name, kind and rate in 10^9 per second of each.
fn listed(found: &Ceilings) -> String {
    found.ceilings.iter().fold(String::new(), |mut list, one| {
        let of = one.key().unwrap_or_else(|| "-".into());
        let _ = write!(list, "{} {of} {:.2}; ", one.name, one.rate / 1e9);
        list
    })
}

#[test]
fn ert_has_levels_and_rates() {
    let gpu = good(ERT_GPU);
    assert_eq!((gpu.tool, gpu.devices, gpu.cpu, gpu.gpu.as_deref()), (Tool::Ert, 1, None, None));
    assert_eq!(
        listed(&gpu),
        "L1 l1 11250.50; L2 l2 2875.25; DRAM dram 828.50; FP64 GFLOPs vector.fp64 7010.50; FP32 GFLOPs vector.fp32 13905.25; "
    );
    let cpu = good(ERT_CPU);
    assert_eq!(listed(&cpu), "L1 l1 880.50; L2 l2 410.25; L3 - 205.75; DRAM dram 71.50; GFLOPs - 240.25; ");
    assert_eq!(cpu.cpu, Some("its CONFIG says ERT_GPU False"));

    let odd =
        br#"{"empirical": {"gbytes": {"data": [["DRAM", -5], ["L2", 0], [7, 7], ["L1", "fast"], ["DRAM", 600]]}}}"#;
    let odd = good(odd);
    assert_eq!(listed(&odd), "DRAM dram 600.00; ");
    let notes = odd.notes.join("\n");
    for part in [
        "`DRAM` of empirical.gbytes was left out: -5 GB/s is no rate above 0",
        "`L2` of empirical.gbytes was left out: 0 GB/s",
        "entry 3 of empirical.gbytes was left out",
        "`L1` of empirical.gbytes was left out: no number is no rate",
        "empirical.gflops.data is missing",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let nan = refusal(br#"{"empirical": {"gbytes": {"data": [["DRAM", NaN]]}}}"#);
    assert!(nan.contains("not JSON") && nan.contains("NaN is no rate: take its entry out"), "{nan}");
    let none = refusal(br#"{"empirical": {"gbytes": {"data": []}, "gflops": {"data": [["GFLOPs", -1]]}}}"#);
    assert!(none.contains("no bandwidth and no rate is in it: `GFLOPs` of empirical.gflops was left out"), "{none}");
    let tensor = good(br#"{"empirical": {"gbytes": {}, "gflops": {"data": [["FP16 TC GFLOPs", 100000]]}}}"#);
    let fp16 = Pipe::Tensor { input: DataType::Fp16, accumulate: DataType::Fp32, sparse: false };
    assert_eq!(tensor.ceilings[0].what, What::Rate(Some(fp16)));
    assert!(tensor.notes.contains(&"the file has no bandwidth of the device's memory".into()), "{:?}", tensor.notes);
}

#[test]
fn the_printout_of_a_run_says_what_is_missing() {
    assert!(detect(TRY));
    let failed = refusal(TRY);
    for part in [
        "a try file of ERT",
        "failed (`The launcher found too few slots for the 32 slots that were asked for by:`)",
        "bandwidths and rates are missing",
        "roofline.json",
    ] {
        assert!(failed.contains(part), "{part} in {failed}");
    }
    let ended = refusal(b"   64  1000  12.5  64000  1000\nMETA_DATA\nFLOPS          1\nMPI_PROCS      4\n");
    assert!(ended.starts_with("a try file of ERT") && ended.contains("no ceilings"), "{ended}");
    for other in [&b"FLOPS.1 is a word\n"[..], b"META_DATA\n", b"name,value\nx,1\n", b"{}", b""] {
        assert!(!detect(other), "{}", String::from_utf8_lossy(other));
    }
    assert!(refusal(b"name,value\n").contains("neither a roofline.json of ERT"));
    assert_eq!(read(b" \n"), Err(CeilingsError::Text(wavecast::profile::ProfileError::Empty)));
}

#[test]
fn rocprofiler_compute_has_a_row_per_device() {
    assert!(FOUR.starts_with(b"\xef\xbb\xbf") && FOUR.windows(2).any(|pair| pair == b"\r\n"));
    let four = good(FOUR);
    assert_eq!((four.tool, four.devices), (Tool::RocprofCompute, 4));
    assert_eq!(four.ceilings.len(), 11, "no Low and no High, and nothing of FP8: {}", listed(&four));
    let dram = &four.ceilings[0];
    assert_eq!((dram.name.as_str(), dram.what), ("HBMBw", What::Bandwidth(Memory::Dram)));
    // 1398.29, 1402.5, 1405.3 and 1408.11: the median of four lies between the middle two.
    assert!((dram.rate - 1403.9e9).abs() < 1e7, "{}", dram.rate);
    assert_eq!(dram.spread, Some((1398.29e9, 1408.11e9)));
    assert!(listed(&four).ends_with("MFMAF64Flops tensor.fp64.fp64 41061.27; MFMAI8Ops tensor.int8.int32 165565.90; "));
    assert_eq!(four.notes[0], "0 in the file, so not measured: FP8Flops");
    assert_eq!(four.notes[1], "4 devices are in the file; their median was taken");

    let one = good(ONE);
    assert_eq!(
        listed(&one),
        "hbmbw dram 1391.50; FP32Flops vector.fp32 20811.25; MFMABF16Flops tensor.bf16.fp32 170120.50; "
    );
    assert_eq!(one.ceilings[0].spread, None);
    assert_eq!(one.notes[0], "L2Bw of line 2 was left out: `nan` is no rate above 0");
    assert_eq!(one.notes[1], "FP64Flops of line 2 was left out: `-1` is no rate above 0");
    // Columns of later versions, a short row, and no HBM.
    let late = good(b"device,MALLBw,L2Bw,L1Bw,FP16Flops,I64Ops,MFMAXF32Flops\n0,8000,3e4,inf,1,5\n");
    assert_eq!(listed(&late), "MALLBw - 8000.00; L2Bw l2 30000.00; FP16Flops vector.fp16 1.00; I64Ops - 5.00; ");
    let notes = late.notes.join("\n");
    assert!(notes.contains("L1Bw of line 2") && notes.contains("MFMAXF32Flops of line 2"), "{notes}");
    assert!(notes.contains("an empty cell") && notes.contains("no bandwidth of the device's memory"), "{notes}");
    assert!(refusal(b"device,HBMBw,FP32Flops\n").contains("a header and no row of a device"));
    assert!(refusal(b"device,HBMBw,FP32Flops\n0,x,\n").contains("HBMBw of line 2 was left out: `x`"));
}

#[test]
fn a_table_of_peaks_is_read_strictly() {
    let peaks = good(PEAKS);
    assert_eq!((peaks.tool, peaks.gpu.as_deref(), peaks.devices), (Tool::Own, Some("a100-pcie-40gb"), 1));
    let list = listed(&peaks);
    assert!(
        list.starts_with("DRAM dram 1330.00; L2 l2 3900.00; shared shared 17100.00; vector.fp32 vector.fp32"),
        "{list}"
    );
    assert!(list.contains("FP64 tensor tensor.fp64.fp64 18100.00; tensor.bf16 tensor.bf16.fp32 262000"), "{list}");
    let several = good(
        b"# mine\n\nName, Rate ,Unit,device\nDRAM copy,1.0,TB/s,0\nDRAM copy,1.3,TB/s,1\nDRAM copy,1.1,TB/s,2\nfp32,9,TFLOP/s,0\ncuBLAS,9,TFLOP/s,0\n",
    );
    assert_eq!(listed(&several), "DRAM copy dram 1100.00; fp32 vector.fp32 9000.00; cuBLAS - 9000.00; ");
    assert_eq!((several.devices, several.ceilings[0].spread), (3, Some((1e12, 1.3e12))));
    for (table, part) in [
        ("DRAM,1.4", "line 2: `1.4` as the rate of `DRAM` is no rate above 0 with its unit: write \"1.4 TB/s\""),
        ("DRAM,", "no rate above 0"),
        ("DRAM,NaN TB/s", "`NaN TB/s` as the rate of `DRAM`"),
        ("DRAM,-1 TB/s", "no rate above 0"),
        ("DRAM,0 TB/s", "no rate above 0"),
        ("DRAM,1 TFLOP/s", "`DRAM` is a memory and `1 TFLOP/s` a rate of operations: write B/s"),
        ("fp32,1 TB/s", "`fp32` is a unit that computes and `1 TB/s` a bandwidth: write FLOP/s"),
        (",1 TB/s", "line 2: name is empty"),
        ("DRAM,1 TB/s\ndram,1 TB/s", "line 3: `dram` stands there twice"),
        ("x,1 TB/s\nx,1 TFLOP/s", "line 3: `x` is a bandwidth in one line"),
        ("", "no bandwidth and no rate is in it"),
    ] {
        let found = refusal(format!("name,rate\n{table}\n").as_bytes());
        assert!(found.contains(part), "{part} in {found}");
    }
    let two = refusal(b"name,rate,gpu\nDRAM,1 TB/s,a100\nL2,3 TB/s,h100\n");
    assert!(two.contains("line 3: gpu is `h100` after `a100`"), "{two}");
}

#[test]
fn ceilings_are_compared_with_the_datasheet() {
    let catalog = Catalog::embedded().unwrap();
    let die = catalog.find("instinct-mi250x-gcd").unwrap().gpu;
    let found = good(FOUR);
    let share = |name: &str| {
        let one = found.ceilings.iter().find(|one| one.name == name).unwrap();
        one.datasheet(&die).map(|datasheet| (one.rate / datasheet * 1e3).round() / 1e3)
    };
    assert_eq!(share("HBMBw"), Some(0.857));
    assert_eq!(share("FP32Flops"), Some(0.864));
    assert_eq!(share("MFMABF16Flops"), Some(0.883));
    // 64 B per cycle and CU at 1.7 GHz on 110 of them.
    assert_eq!(share("L1Bw"), Some((found.ceilings[2].rate / 11.968e12 * 1e3).round() / 1e3));
    assert!(found.ceilings[1].against_measurement(&die) && !found.ceilings[0].against_measurement(&die));
}

fn place() -> Place {
    let place = Place::new();
    let files =
        [("gpu.json", ERT_GPU), ("cpu.json", ERT_CPU), ("try.txt", TRY), ("four.csv", FOUR), ("peaks.csv", PEAKS)];
    files.iter().for_each(|(name, bytes)| place.file(name, bytes));
    place
}

#[test]
fn analyze_answers_with_a_table() {
    let place = place();
    let run = place.run(&["analyze", "peaks.csv"]);
    let (out, notes) = (text(&run.get_output().stdout), text(&run.get_output().stderr));
    assert!(out.contains("DRAM         1.33 TB/s     1.555 TB/s      85.5  dram_efficiency 0.8858"), "{out}{notes}");
    assert!(out.contains("datasheet: A100 PCIe 40 GB.\n"), "{out}");
    let json: serde_json::Value =
        serde_json::from_str(&place.out(&["analyze", "four.csv", "--gpu", "instinct-mi250x-gcd", "--format", "json"]))
            .unwrap();
    assert_eq!(json[0]["of"], "dram");
    assert_eq!((json[0]["unit"].as_str(), json[4]["unit"].as_str()), (Some("byte/s"), Some("op/s")));
    assert_eq!(
        (json[0]["datasheet_basis"].as_str(), json[1]["datasheet_basis"].as_str()),
        (Some("specified"), Some("measured"))
    );
    assert_eq!(json[4]["constant"], "sustained_vector");
    let same = place.out(&["calibrate", "--gpu", "instinct-mi250x-gcd", "--roofline", "four.csv", "--format", "json"]);
    let same: serde_json::Value = serde_json::from_str(&same).unwrap();
    let constants = same["constants"].as_array().unwrap();
    for row in [0, 4, 6] {
        let name = json[row]["constant"].as_str().unwrap();
        let own = constants.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(json[row]["constant_after"], own["after"], "{name}");
    }
    for format in ["csv", "markdown", "html"] {
        assert!(place.out(&["analyze", "peaks.csv", "--format", format]).contains("tensor.bf16"), "{format}");
    }
    // Packed.
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(PEAKS).unwrap();
    place.file("peaks.gz", packed.finish().unwrap());
    assert_eq!(place.out(&["analyze", "peaks.gz"]), out);
    place.out(&["calibrate", "--gpu", "a100-pcie-40gb", "--roofline", "peaks.gz"]);

    for (words, parts) in [
        (&["gpu.json"][..], &["the file does not name its GPU: --gpu NAME"][..]),
        (&["cpu.json"], &["an ERT result of a CPU: its CONFIG says ERT_GPU False", "does not name its processor"]),
        (&["cpu.json", "--gpu", "epyc-9654"], &["`calibrate` takes nothing"]),
        (&["cpu.json", "--gpu", "h100-sxm5-80gb"], &["--gpu is H100 SXM5 80 GB, no CPU"]),
        (
            &["peaks.csv", "--gpu", "v100-sxm2-16gb"],
            &[
                "the file names A100 PCIe 40 GB, --gpu is V100 SXM2 16 GB",
                "warning: DRAM: 1.33 TB/s is 147.8 % of the datasheet's 900 GB/s of V100 SXM2 16 GB: another GPU",
                "warning: vector.fp32: 18.6 TFLOP/s is 118.7 % of the datasheet's",
                "a clock above the rated one",
                "`calibrate` would refuse it: 1.33 TB/s as a DRAM bandwidth",
            ],
        ),
        (&["four.csv", "--gpu", "instinct-mi250x"], &["--gpu instinct-mi250x-gcd is one"]),
        (&["four.csv", "--gpu", "instinct-mi250x-gcd"], &["which others measured on Instinct MI250X GCD"]),
    ] {
        let run = place.run(&[&["analyze"], words].concat());
        let notes = text(&run.get_output().stderr);
        assert_eq!(run.get_output().status.code(), Some(0), "{words:?}: {notes}");
        for part in parts {
            assert!(notes.contains(part), "{part} in {notes}");
        }
    }
}

/// The texts of a drawing one after the other: captions are wrapped.
fn words(svg: &str) -> String {
    let texts = svg.split('>').filter_map(|part| part.split_once("</text").map(|(text, _)| text));
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn ceilings_are_drawn_over_rooflines() {
    let place = place();
    let data = place.out(&["chart", "roofline", "s.toml", "--ceilings", "gpu.json", "--data"]);
    assert!(data.contains("measured memory roof,,DRAM,,,,,828500000000,\n"), "{data}");
    assert!(data.contains("measured compute roof,,FP32 GFLOPs,,,,13905200000000,,\n"), "{data}");
    let svg = place.out(&["chart", "roofline", "s.toml", "--ceilings", "gpu.json"]);
    assert!(svg.contains("measured by ERT (gpu.json)"), "the legend");
    let caption = words(&svg);
    assert!(caption.contains("measured by ERT (gpu.json): L1 11.25 TB/s, L2 2.875 TB/s"), "{caption}");
    let plain = place.out(&["chart", "roofline", "s.toml"]);
    assert!(!plain.contains("9 3 2 3") && svg.matches("9 3 2 3").count() == 6, "5 roofs and the legend");
    // Integer rates are drawn beside an integer roof alone.
    let peaks = words(&place.out(&["chart", "roofline", "s.toml", "--ceilings", "peaks.csv"]));
    assert!(peaks.contains("measured and not drawn: tensor.int8 "), "{peaks}");
    place.file("int8.csv", "m,n,k,dtype\n512,512,512,int8\n");
    let int8 = ["chart", "roofline", "int8.csv", "--gpu", "a100-pcie-40gb", "--ceilings", "peaks.csv", "--data"];
    assert!(place.out(&int8).contains("measured compute roof,,tensor.int8,,,,530000000000000,,"));
    // A profile, and several dies.
    place.file("o.csv", include_bytes!("../data/ncu/occupancy_and_clock.csv"));
    let profile = ["chart", "roofline", "o.csv", "--gpu", "a100-sxm4-40gb", "--ceilings", "four.csv"];
    assert!(words(&place.out(&profile)).contains("measured by rocprofiler-compute (four.csv, median of 4 devices)"));

    place.out(&["analyze", "s.toml", "--ceilings", "gpu.json", "--out", "o"]);
    assert!(text(&place.read("o/roofline.csv")).contains("measured memory roof,,L2"));
    assert!(text(&place.read("o/report.html")).contains("measured by ERT (gpu.json)"));
    let html = place.out(&["analyze", "s.toml", "--ceilings", "gpu.json", "--format", "html"]);
    assert!(html.contains("measured by ERT (gpu.json)"));

    for (words, part) in [
        (&["chart", "time", "s.toml", "--ceilings", "gpu.json"][..], "this chart is none"),
        (&["chart", "roofline", "s.toml", "--ceilings", "try.txt"], "a try file of ERT"),
        (&["chart", "roofline", "s.toml", "--ceilings", "s.toml"], "neither a roofline.json of ERT"),
        (&["chart", "roofline", "gpu.json"], "--ceilings FILE"),
        (&["chart", "tail", "gpu.json"], "needs a scenario"),
        (&["compare", "gpu.json"], "takes one scenario"),
        (&["analyze", "try.txt"], "`try.txt`: a try file of ERT"),
        (&["analyze", "s.toml", "--ceilings", "gpu.json"], "add --out DIR or --format html"),
        (&["analyze", "gpu.json", "--ceilings", "gpu.json", "--format", "html"], "are for launches"),
        (&["analyze", "gpu.json", "--out", "p"], "are for launches"),
        (&["analyze", "gpu.json", "cpu.json"], "analysed by themselves"),
        (
            &["analyze", "s.toml", "--gpu", "h100", "--gpu", "v100", "--ceilings", "gpu.json", "--out", "p"],
            "there are 2 rooflines",
        ),
    ] {
        let run = place.run(words);
        let notes = text(&run.get_output().stderr);
        assert_eq!(run.get_output().status.code(), Some(2), "{words:?}: {notes}");
        assert!(notes.contains(part), "{part} in {notes}");
    }
    assert!(!place.0.path().join("p").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_files_are_read_or_refused(file in 0..ALL.len(), edits in prop::collection::vec(damage(), 1..6)) {
        let bytes = edits.iter().fold(ALL[file].to_vec(), apply);
        if let Ok(found) = read(&bytes) {
            prop_assert!(!found.ceilings.is_empty());
            for one in &found.ceilings {
                prop_assert!(one.rate > 0.0 && one.rate.is_finite());
                prop_assert!(one.spread.is_none_or(|(least, most)| least <= one.rate && one.rate <= most));
            }
        }
    }
}

//! Element-wise and row-wise operations: equations by hand, laws, explanations, links, bad input.

use proptest::prelude::*;
use wavecast::{
    gpu::{ConstantsOf, DataType},
    op::rowwise::{
        Caller, Kind, Model, Operation, OperationError, Regime, Row, RowError, What, analysis, around,
        link::{Direction, copy},
        operation,
    },
    time::Bound,
    units::Seconds,
};

use crate::{
    common::{close, gpu},
    place::{Place, table, text},
};

fn kind(name: &str) -> Kind {
    name.parse().unwrap()
}

fn new(what: What, rows: u64, cols: u64, data: DataType) -> Operation {
    Operation::new(what, rows, cols, data).unwrap()
}

fn elementwise(name: &str, rows: u64, cols: u64, data: DataType) -> Operation {
    Operation::elementwise(kind(name), rows, cols, data).unwrap()
}

#[test]
fn an_addition_is_its_bytes() {
    let model = Model::new(&gpu("v100-pcie-32gb")).unwrap();
    let found = model.estimate(&elementwise("add", 32768, 1600, DataType::Fp32));
    // 12 bytes for each of 52.4 million elements at 0.917 of 900 GB/s, and 2.6 us; L2 and arithmetic add less than 1 %.
    let bytes: f64 = 12.0 * 32768.0 * 1600.0;
    assert_eq!((found.bytes, found.flop), (bytes, 32768.0 * 1600.0));
    close("DRAM", found.dram, bytes / (0.917 * 900e9), 1e-12);
    close("time", found.time, 2.6e-6 + found.dram, 0.01);
    assert_eq!((found.bound(), Regime::of(&found), found.of), (Bound::Memory, Regime::Dram, &ConstantsOf::Gpu));
    assert_eq!(found.blocks, 102_400.0, "the grid of 512 elements per block that a profiler names for this shape");
}

#[test]
fn scalar_loads_wait_where_wide_ones_stream() {
    let model = Model::new(&gpu("a100-sxm4-80gb")).unwrap();
    let scalar = elementwise("silu_and_mul", 4096, 24576, DataType::Fp16);
    let found = model.estimate(&scalar);
    // Read bytes / (4.5 B per cycle x 108 SMs x 1.41 GHz): above the DRAM time; 589 us were measured.
    close("in flight", found.latency, 4.0 * 4096.0 * 24576.0 / (4.5 * 108.0 * 1.41e9), 1e-12);
    close("measured", found.time * 1e6, 589.0, 0.03);
    assert_eq!(found.bound(), Bound::Latency);
    let What::Elementwise { kind, reads, writes, .. } = scalar.what else { unreachable!() };
    let wide = Operation { what: What::Elementwise { kind, reads, writes, load: 16.0 }, ..scalar };
    assert!(model.estimate(&wide).time < 0.6 * found.time);
}

#[test]
fn what_hides_behind_a_call() {
    assert_eq!(around(30.0, 0.0, 15.0), 30.0);
    close("hidden", around(30.0, 10.0, 15.0), 30.5, 1e-12);
    close("beyond", around(30.0, 115.0, 15.0), 30.0 + 100.0 + 0.75, 1e-12);
    let v100 = gpu("v100-pcie-32gb");
    let model = Model::new(&v100).unwrap();
    let stack = Caller::of("neusight", &v100).unwrap();
    let time = |name: &str| model.call(&elementwise(name, 8, 8, DataType::Fp32), &stack).estimate.time * 1e6;
    close("plain", time("add"), 32.5, 0.01);
    close("wrapped", time("relu"), 37.4, 0.01);
    let stream = model.call(&elementwise("add", 8, 8, DataType::Fp32), &Caller::Stream(Seconds(2.7e-6)));
    close("stream", stream.launch, 2.7e-6, 1e-9);
    let unknown = Caller::of("nobody", &v100).unwrap_err().to_string();
    assert!(unknown.contains("`nobody`") && unknown.contains("neusight, llmcompass"), "{unknown}");
    assert!(matches!(Caller::of_or_stream("nobody", &v100), Caller::Stream(_)));
}

#[test]
fn rereads_hit_l2_until_the_rows_in_flight_outgrow_it() {
    let model = Model::new(&gpu("a100-pcie-40gb")).unwrap();
    // 108 SMs x 4 blocks of 512 threads; 20 MB of L2 hold them up to 0.79 x 20 MB, and none of their re-reads at 1.6 times that.
    let softmax = |cols| new(What::Softmax, 4096, cols, DataType::Fp32);
    assert_eq!(model.rows_in_flight(&softmax(8192)), 432.0);
    assert_eq!(model.missed(&softmax(8192)), 0.0);
    assert!((0.3..1.0).contains(&model.missed(&softmax(12000))));
    assert_eq!(model.missed(&softmax(16384)), 1.0);
    let least = |cols| 8.0 * 4096.0 * cols as f64 / (1.01 * 1.555e12);
    close("2 passes", model.estimate(&softmax(8192)).dram, least(8192), 1e-12);
    close("4 passes", model.estimate(&softmax(16384)).dram, 2.0 * least(16384), 1e-12);
    let short = model.row_kernel(&softmax(100)).unwrap();
    assert_eq!((short.name, short.threads_per_row, short.rows_per_block(), short.passes), ("warp per row", 32, 8, 1.0));
    let norm = new(What::LayerNorm, 4096, 2500, DataType::Fp32);
    assert_eq!(model.row_kernel(&norm).map(|k| (k.block, k.passes)), Some((128, 2.0)));
    assert_eq!(Model::new(&gpu("instinct-mi100")).unwrap().row_kernel(&norm).map(|k| k.block), Some(256));
}

#[test]
fn rms_norm_by_hand() {
    let model = Model::new(&gpu("a100-sxm4-80gb")).unwrap();
    let found = model.estimate(&new(What::RmsNorm, 4096, 8192, DataType::Fp16));
    let moved: f64 = 4.0 * 4096.0 * 8192.0 - 0.16 * 40.0 * 1048576.0;
    let stream: f64 = moved / (4.5 * 108.0 * 1.41e9);
    let rows: f64 = 19.0 * (900.0 + 3.0 * 8.0 * 316.0) / 1.41e9;
    close("time", found.time, 1.75e-6 + (stream.powi(4) + rows.powi(4)).powf(0.25), 1e-4);
    close("measured 198 us", found.time * 1e6, 198.0, 0.05);
}

#[test]
fn transposes_gathers_fills_and_casts() {
    let model = Model::new(&gpu("h100-sxm5-80gb")).unwrap();
    let time = |operation: Operation| model.estimate(&operation).time;
    let naive = elementwise("transpose-naive", 8192, 8192, DataType::Fp32);
    let tiled = elementwise("transpose", 8192, 8192, DataType::Fp32);
    assert!(time(naive) > 1.3 * time(tiled));
    let fill = elementwise("fill", 8192, 8192, DataType::Fp32);
    assert_eq!(fill.traffic(), (0.0, 4.0 * 8192.0 * 8192.0));
    let cast = Operation { output: DataType::Fp8, ..elementwise("cast", 10, 10, DataType::Fp32) }.checked().unwrap();
    assert_eq!(cast.traffic(), (400.0, 100.0));
    // An index of 8 bytes per row; rows of 8 bytes move sectors of 32.
    let gather = |cols| elementwise("embedding", 1 << 20, cols, DataType::Bf16);
    assert_eq!(gather(64).traffic(), (f64::from(1 << 20) * 136.0, f64::from(1 << 20) * 128.0));
    assert!(time(gather(4)) > 1.5 * time(elementwise("copy", 1 << 20, 4, DataType::Bf16)));
    let warm = Operation { warm: true, ..elementwise("add", 1024, 1024, DataType::Bf16) };
    let a100 = Model::new(&gpu("a100-sxm4-80gb")).unwrap();
    assert_eq!(Regime::of(&a100.estimate(&Operation { rows: 3072, ..warm })), Regime::Cache);
    assert!(time(warm) < time(Operation { warm: false, ..warm }));
    let full = model.estimate(&new(What::Reduction { full: true }, 1024, 1024, DataType::Fp32));
    let rows = model.estimate(&new(What::Reduction { full: false }, 1 << 20, 1, DataType::Fp32));
    assert!(full.fixed > rows.fixed && full.unmeasured.is_some());
    // Special functions are counted: 16 results per SM and cycle.
    let sigmoid = model.estimate(&elementwise("sigmoid", 8192, 8192, DataType::Fp8));
    close("special", sigmoid.math, 2.0 * 8192.0 * 8192.0 / (16.0 * 132.0 * 1.98e9), 1e-9);
}

#[test]
fn every_gpu_answers_and_says_whose_constants() {
    let of = |name: &str| {
        Model::new(&gpu(name)).unwrap().estimate(&elementwise("add", 4096, 4096, DataType::Fp32)).of.to_string()
    };
    assert_eq!(of("v100-sxm2-16gb"), "family:volta");
    assert_eq!(of("instinct-mi300x"), "family:cdna");
    assert_eq!(of("instinct-mi100"), "gpu");
    assert_eq!((of("b200"), of("radeon-rx-7900-xtx")), ("datasheet".into(), "datasheet".into()));
    assert_eq!(of("a100-sxm4-80gb:3g.40gb"), "gpu");
    let width = |name: &str| {
        let gpu = gpu(name);
        let model = Model::new(&gpu).unwrap();
        let found = model.estimate(&new(What::Softmax, 16384, 4096, DataType::Fp32));
        found.high / found.low
    };
    assert!(width("v100-pcie-32gb") < width("v100-sxm2-16gb") && width("v100-sxm2-16gb") < width("b200"));
    let cpu = Model::new(&gpu("epyc-9654")).unwrap_err().to_string();
    assert!(cpu.contains("is a CPU") && cpu.contains("--gpu"), "{cpu}");
}

proptest! {
    #[test]
    fn times_are_positive_and_grow(rows in 1_u64..100_000, cols in 1_u64..100_000, what in 0_usize..6, at in 0_usize..5) {
        let gpu = gpu(["v100-pcie-32gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "instinct-mi300x", "b200"][at]);
        let model = Model::new(&gpu).unwrap();
        let what = match what {
            0 => What::Softmax,
            1 => What::LayerNorm,
            2 => What::RmsNorm,
            3 => What::Reduction { full: false },
            4 => What::Reduction { full: true },
            _ => elementwise("gelu", 1, 1, DataType::Fp16).what,
        };
        let here = new(what, rows, cols, DataType::Fp16);
        let found = model.estimate(&here);
        let sound = |t: f64| t.is_finite() && t >= 0.0;
        prop_assert!(found.time > 0.0 && [found.time, found.low, found.high, found.dram, found.l2, found.latency, found.math].iter().all(|t| sound(*t)));
        prop_assert!(found.low <= found.time && found.time <= found.high * 1.2 && found.blocks >= 1.0);
        let twice = model.estimate(&Operation { rows: 2 * rows, ..here });
        prop_assert!(twice.time >= found.time * (1.0 - 1e-12), "{} {}", twice.time, found.time);
        let stream = Caller::Stream(Seconds(3e-6));
        prop_assert!(model.call(&here, &stream).estimate.time > found.time);
    }
}

#[test]
fn explanations_name_bytes_passes_and_fusing() {
    let a100 = gpu("a100-pcie-40gb");
    let softmax = new(What::Softmax, 16384, 16384, DataType::Fp32);
    let found = analysis(&a100, &softmax, None, &[kind("mul"), kind("dropout")]).unwrap();
    let says = found.verdict.findings.join("; ");
    for part in [
        "reads 1 GiB and writes 1 GiB",
        "3 passes over the data",
        "re-reads miss L2",
        "3 kernels one after the other",
        "fused into one",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
    assert!(found.verdict.what_ifs.iter().any(|w| w.text.contains("DRAM bandwidth")));
    assert_eq!((found.launch.occupancy.blocks_per_sm, found.schedule.blocks), (4, 16384));
    let short = analysis(&a100, &elementwise("add", 10, 10, DataType::Fp32), None, &[]).unwrap();
    let says = short.verdict.findings.join("; ");
    assert!(says.contains("launching decides") && says.contains("--then KIND"), "{says}");
}

#[test]
fn links_between_host_and_devices() {
    let a100 = gpu("a100-sxm4-80gb");
    let copied = |way| copy(&a100, 1e9, way).unwrap();
    let host = copied(Direction::HostToDevice);
    close("Gen4 x16", host.rate, 31.504e9, 1e-3);
    assert!(host.low < host.time && host.time < host.high && host.link == "PCIe Gen4 x16");
    let peer = copied(Direction::Peer);
    assert_eq!((peer.link.as_str(), peer.rate), ("NVLink", 300e9));
    assert!(copy(&a100, 0.0, Direction::Peer).is_err() && copy(&a100, f64::NAN, Direction::Peer).is_err());
    let none = gpu("jetson-agx-orin-64gb");
    let without = wavecast::gpu::Gpu { links: None, ..none };
    let message = copy(&without, 1e6, Direction::HostToDevice).unwrap_err().to_string();
    assert!(message.contains("h2d") && message.contains("links.pcie"), "{message}");
}

#[test]
fn rows_of_tables_become_operations() {
    let row = Row {
        source: "",
        op: "elementwise",
        rows: 4,
        cols: 8,
        data: DataType::Fp32,
        notes: "kind=add;reads=3;writes=2",
    };
    let found = operation(&row).unwrap();
    assert_eq!(found.traffic(), (3.0 * 128.0, 2.0 * 128.0));
    let strange = operation(&Row { notes: "kind=my_kernel;reads=1;writes=1;train", ..row }).unwrap();
    assert_eq!((strange.name(), strange.traffic()), ("other", (128.0, 128.0)));
    assert!(matches!(operation(&Row { notes: "kind=my_kernel", ..row }), Err(RowError::Kind(_))));
    assert!(matches!(operation(&Row { notes: "reads=-1", ..row }), Err(RowError::Note { key: "reads", .. })));
    assert!(matches!(operation(&Row { op: "gemm", ..row }), Err(RowError::Op { .. })));
    let nothing = operation(&Row { notes: "reads=0;writes=0", ..row });
    assert!(matches!(nothing, Err(RowError::Operation(OperationError::Nothing { .. }))));
    assert!(matches!(
        operation(&Row { op: "reduction", notes: "full", ..row }).map(|o| o.what),
        Ok(What::Reduction { full: true })
    ));
    assert_eq!(operation(&Row { op: "memcpy", ..row }).map(|o| o.name()), Ok("copy"));
}

#[test]
fn bad_input_is_named() {
    let place = Place::new();
    for (words, says) in [
        (&["softmax", "--rows", "0", "--cols", "5"][..], &["rows = 0"][..]),
        (&["layernorm", "--rows", "5", "--cols", "0"], &["cols = 0"]),
        (&["elementwise", "add", "--rows", "5"], &["--cols"]),
        (&["elementwise", "add", "--elements", "0"], &["cols = 0"]),
        (&["elementwise", "other", "--elements", "5", "--reads", "0", "--writes", "0"], &["reads = 0 and writes = 0"]),
        (&["elementwise", "add", "--elements", "5", "--reads", "99"], &["99 tensors read", "64"]),
        (&["elementwise", "frobnicate", "--elements", "5"], &["`frobnicate`", "silu_and_mul", "--reads"]),
        (&["elementwise", "add", "--elements", "5", "--load-bytes", "3"], &["3 bytes", "16"]),
        (&["elementwise", "add", "--elements", "5", "--dtype", "fp12"], &["fp12"]),
        (&["elementwise", "add", "--elements", "5", "--dtype", "fp4"], &["fp4", "cast"]),
        (&["elementwise", "copy", "--elements", "5", "--dtype", "tf32"], &["tf32", "fp32"]),
        (&["softmax", "--rows", "5", "--cols", "5", "--dtype", "int8"], &["int8", "bf16"]),
        (&["reduction", "--rows", "5", "--cols", "5", "--dtype", "fp8"], &["fp8", "int32"]),
        (&["rmsnorm", "--rows", "9999999999999", "--cols", "5"], &["9999999999999", "2^40"]),
        (&["rmsnorm", "--rows", "1099511627776", "--cols", "1099511627776"], &["2^60"]),
        (&["softmax", "--rows", "5", "--cols", "5", "--gpu", "epyc-9654"], &["is a CPU"]),
        (&["softmax", "--rows", "5", "--cols", "5", "--stack", "nobody"], &["nobody", "neusight"]),
        (&["softmax", "--rows", "-5", "--cols", "5"], &["-5"]),
        (&["memcpy", "0 B"], &["1 byte"]),
        (&["memcpy", "1 GiB", "--direction", "up"], &["`up`", "h2d"]),
        (&["chart", "elementwise", "add", "--range", "5:5"], &["5:5"]),
        (&["chart", "rowwise", "softmax", "--range", "1:9:2"], &["LOW:HIGH"]),
        (&["chart", "rowwise", "softmax", "--rows", "0"], &["rows = 0"]),
    ] {
        place.refused(words, says);
    }
    let largest = place.out(&["elementwise", "add", "--elements", "1099511627776", "--format", "csv"]);
    assert!(!largest.contains("NaN") && !largest.contains("inf,inf"));
}

#[test]
fn commands_answer_on_several_gpus() {
    let place = Place::new();
    let rows = table(&place.out(&[
        "rmsnorm",
        "--rows",
        "4096",
        "--cols",
        "8192",
        "--gpu",
        "h100-sxm5-80gb",
        "--gpu",
        "instinct-mi300x",
        "--format",
        "csv",
    ]));
    let column = |name: &str| rows[0].iter().position(|h| h == name).unwrap();
    let of: Vec<&str> = rows[1..].iter().map(|r| r[column("calibration")].as_str()).collect();
    assert_eq!(of, ["gpu", "datasheet"]);
    let host = place.out(&["memcpy", "1 GiB", "--direction", "d2h", "--gpu", "a100-sxm4-80gb"]);
    assert!(host.contains("PCIe Gen4 x16") && host.contains("page") || host.contains("pageable"), "{host}");
    assert!(place.out(&["memcpy", "1 GiB"]).contains("copy 1x1073741824"));
    assert!(place.out(&["reduction", "--rows", "9", "--cols", "9", "--all"]).contains("full sum 9x9"));
    place
        .run(&["softmax", "--rows", "64", "--cols", "64", "--out", "o", "--quiet", "--fail-if", "time_us > 1"])
        .code(1);
    assert!(text(&place.read("o/report.md")).contains("softmax 64x64"));
}

#[test]
fn charts_show_every_regime() {
    let place = Place::new();
    place.out(&["chart", "elementwise", "add", "--gpu", "a100-sxm4-80gb", "-o", "e.csv"]);
    let rows = table(&text(&place.read("e.csv")));
    assert_eq!(rows[0], ["series", "bytes", "bandwidth_gb_per_s", "time_us", "regime"]);
    for regime in ["launch", "cache", "DRAM"] {
        assert!(rows.iter().any(|r| r[4] == regime), "{regime}");
    }
    place.out(&["chart", "rowwise", "layernorm", "--rows", "128", "--rows", "8192", "-o", "r.csv"]);
    let rows = table(&text(&place.read("r.csv")));
    assert!(rows.iter().any(|r| r[0] == "128 rows") && rows.iter().any(|r| r[0] == "8192 rows" && r[1] == "65536"));
    let svg = place.out(&["chart", "rowwise", "softmax"]);
    assert!(svg.starts_with("<svg") && svg.contains("softmax of bf16 rows by their length"));
    assert_eq!(svg, place.out(&["chart", "rowwise", "softmax"]));
}

#[test]
fn q36_a_faster_type_of_arithmetic_does_not_help_an_element_wise_kernel() {
    let found = analysis(&gpu("a100-sxm4-80gb"), &elementwise("add", 4096, 4096, DataType::Fp32), None, &[]).unwrap();
    assert_eq!(found.verdict.bound, Bound::Memory, "Q36");
    assert!(
        found.verdict.what_ifs.iter().all(|w| w.text.contains("DRAM bandwidth")),
        "Q36: {:?}",
        found.verdict.what_ifs
    );
}

#[test]
fn q39_a_stream_that_fits_in_l2_shows_l2() {
    // Three arrays of 8 MiB on a 4060 Ti class GPU with 24 to 32 MiB of L2: above its 272 GB/s of DRAM only from L2.
    let gpu = gpu("rtx-4060");
    let model = Model::new(&gpu).unwrap();
    let triad = |elements, warm| {
        let found = Operation { warm, ..elementwise("triad", 1, elements, DataType::Fp64) };
        let (read, written) = found.traffic();
        (read + written) / model.estimate(&found).time / gpu.memory.dram.bandwidth.get()
    };
    assert!(triad(1 << 19, true) > 1.5, "Q39: resident data are faster than DRAM: {}", triad(1 << 19, true));
    assert!(triad(1 << 24, true) < 1.0 && triad(1 << 24, false) < 1.0, "Q39: far above L2 it is DRAM");
}

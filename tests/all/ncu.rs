//! Nsight Compute CSV: every dialect in `tests/data/ncu`, its values, its errors, and that no damage makes the reader panic.

use proptest::prelude::*;
use wavecast::profile::{
    Format, ObservedKernel, ObservedPipe, Profile, ProfileError, RuleKind, detect, read, short_name,
};
use wavecast::units::{Bytes, Hertz, Seconds};

const DETAILS_2019: &[u8] = include_bytes!("../data/ncu/details_2019.csv");
const DETAILS_2025: &[u8] = include_bytes!("../data/ncu/details_2025_bom_crlf.csv");
const METRICS: &[u8] = include_bytes!("../data/ncu/details_metrics.csv");
const RAW: &[u8] = include_bytes!("../data/ncu/raw.csv");
const SEMICOLON: &[u8] = include_bytes!("../data/ncu/synthetic_semicolon_decimal_comma.csv");
const ALL: [&[u8]; 5] = [DETAILS_2019, DETAILS_2025, METRICS, RAW, SEMICOLON];

fn profile(bytes: &[u8]) -> Profile {
    read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str) -> String {
    read(text.as_bytes()).expect_err("no profile").to_string()
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs())
}

#[test]
fn old_details_page_with_mixed_rows() {
    let profile = profile(DETAILS_2019);
    assert_eq!((profile.format, profile.kernels.len()), (Format::NcuDetailsCsv, 2));
    assert_eq!(profile.warnings, ["line 4: ==WARNING== Profiling was slowed down by another client"]);
    let [pack, sum] = &profile.kernels[..] else { unreachable!() };
    assert_eq!((pack.id, pack.process_id, pack.name.as_str()), (Some(0), Some(4242), "halo_pack(int,float*,float*)"));
    assert_eq!((pack.grid, pack.block), (None, None), "this version has no size columns");
    assert_eq!((pack.grid_blocks, pack.threads_per_block), (Some(512), Some(192)));
    assert_eq!((pack.registers_per_thread, sum.registers_per_thread), (Some(20), Some(60)));
    let limits =
        |k: &ObservedKernel| [k.limit_blocks, k.limit_registers, k.limit_shared, k.limit_warps, k.limit_barriers];
    assert_eq!(limits(pack), [Some(32), Some(14), Some(64), Some(10), None]);
    assert_eq!(limits(sum)[1], Some(5));
    assert_eq!((pack.theoretical_occupancy_pct, sum.theoretical_occupancy_pct), (Some(93.75), Some(46.88)));
    assert_eq!(
        (pack.achieved_occupancy_pct, pack.waves_per_sm, sum.waves_per_sm),
        (Some(50.12), Some(0.64), Some(1.28))
    );
    assert!(near(pack.duration.map(Seconds::get), 9.92e-6) && near(sum.duration.map(Seconds::get), 41.216e-6));
    assert_eq!((pack.sm_clock, pack.dram_clock), (Some(Hertz(1.245e9)), Some(Hertz(876_543_210.12))));
    assert_eq!(pack.elapsed_cycles, Some(12_345.0));
    assert_eq!((pack.memory_throughput_pct, pack.compute_throughput_pct), (Some(41.5), Some(20.75)));
    assert_eq!(
        (pack.dram_throughput_pct, pack.l2_throughput_pct, pack.l1_throughput_pct),
        (Some(41.5), Some(12.25), Some(11.0))
    );
    let shared = pack.static_shared.expect("static shared memory");
    assert_eq!((shared.value, shared.half_width), (Bytes(1536.0), Bytes(0.0)));
    assert_eq!((pack.driver_shared, pack.dram_bytes, pack.cluster_blocks), (None, None, None));
    assert_eq!(pack.shared_configuration.map(|m| m.value), Some(Bytes(0.0)), "a stated 0 stays 0");
    assert_eq!((pack.metrics.len(), pack.metric("Threads")), (23, Some("98,304")));
    assert_eq!(pack.device.compute_capability, None);
}

#[test]
fn new_details_page_with_rules_and_damage() {
    let profile = profile(DETAILS_2025);
    let [scan, reduce] = &profile.kernels[..] else { panic!("{} kernels", profile.kernels.len()) };
    assert_eq!(scan.name, "void ns::scan<ns::Op<int, (ns::Mode)1>, float>(float *, const char *, \"tag\")");
    assert_eq!((scan.grid, scan.block), (Some([1000, 2, 1]), Some([256, 1, 1])));
    assert_eq!((scan.grid_blocks, scan.threads_per_block), (Some(2000), Some(256)));
    assert_eq!((reduce.grid_blocks, reduce.threads_per_block, reduce.cluster_blocks), (Some(132), Some(256), Some(2)));
    let device = |k: &ObservedKernel| (k.device.index, k.device.compute_capability.clone(), k.device.sm_count);
    assert_eq!(device(scan), (Some(0), Some("8.0".into()), Some(108)));
    assert_eq!(device(reduce), (Some(1), Some("9.0".into()), Some(132)));
    // The same name with two units: a percentage and a rate, the rate times the duration being the traffic.
    assert_eq!(scan.memory_throughput_pct, Some(23.76));
    assert!(near(scan.dram_bytes.map(Bytes::get), 483.89e9 * 100e-6));
    assert_eq!(scan.metrics.iter().filter(|m| m.key.name == "Memory Throughput").count(), 2);
    let dynamic = scan.dynamic_shared.expect("dynamic shared memory");
    assert!(near(Some(dynamic.value.get()), 16_380.0) && near(Some(dynamic.half_width.get()), 5.0));
    let whole = reduce.shared_configuration.expect("configuration");
    assert_eq!((whole.value, whole.half_width), (Bytes(8000.0), Bytes(5.0)), "8 Kbyte hides two decimals");
    assert_eq!(scan.static_shared.map(|m| (m.value, m.half_width)), Some((Bytes(48.0), Bytes(0.0))));
    assert!(near(scan.sm_clock.map(Hertz::get), 1.14e9) && near(reduce.duration.map(Seconds::get), 1.5e-3));
    assert_eq!((reduce.waves_per_sm, reduce.metric("Waves Per SM")), (None, Some("n/a")));
    assert_eq!((scan.local_spill_requests, scan.ipc, scan.issue_active), (Some(0.0), Some(2.2), Some(0.58)));
    assert_eq!((scan.eligible_warps, scan.l1_hit_pct, scan.l2_hit_pct), (Some(1.68), Some(37.5), Some(25.76)));
    assert_eq!((scan.stalls[0].name.as_str(), scan.stalls[0].cycles_per_instruction), ("long_scoreboard", 4.25));
    assert_eq!(scan.metric("Function Cache Configuration"), Some("CachePreferNone"));
    assert!(scan.operations.is_empty());

    let [bottleneck, occupancy, sampling] = &scan.rules[..] else { panic!("{} rules", scan.rules.len()) };
    assert!(bottleneck.text.contains("\"Scheduler\"") && bottleneck.text.ends_with("two lines."));
    assert_eq!((bottleneck.estimated_speedup_pct, &bottleneck.speedup_scope), (None, &None));
    assert_eq!((occupancy.kind.clone(), occupancy.estimated_speedup_pct), (RuleKind::Optimization, Some(42.47)));
    assert_eq!((occupancy.section.as_str(), occupancy.speedup_scope.as_deref()), ("Occupancy", Some("global")));
    assert_eq!((sampling.kind.clone(), reduce.rules[0].kind.clone()), (RuleKind::Warning, RuleKind::Information));

    for (line, part) in [
        (14, "==WARNING== Backing up"),
        (24, "a quote opens and does not close"),
        (13, "no rows, first \"training step 12"),
        (23, "ends before the column \"Metric Value\""),
        (46, "more fields than the header"),
    ] {
        let begins = format!("line {line}: ");
        let found = profile.warnings.iter().any(|w| w.starts_with(&begins) && w.contains(part));
        assert!(found, "line {line} {part}: {:#?}", profile.warnings);
    }
    assert_eq!(profile.warnings.len(), 5);
}

#[test]
fn counters_become_traffic_and_operations() {
    let profile = profile(METRICS);
    let kernel = &profile.kernels[0];
    assert!(near(kernel.dram_read.map(Bytes::get), 38.17e6) && near(kernel.dram_bytes.map(Bytes::get), 46.17e6));
    assert_eq!((kernel.l2_bytes, kernel.shared_bytes), (Some(Bytes(64e6)), Some(Bytes(1.25e9))));
    assert_eq!((kernel.sectors_per_request_load, kernel.sectors_per_request_store), (Some(4.0), None));
    assert_eq!((kernel.achieved_occupancy_pct, kernel.theoretical_occupancy_pct), (Some(62.28), None));
    assert_eq!((kernel.registers_per_thread, kernel.waves_per_sm, kernel.static_shared), (None, None, None));
    let tensor = |input: &str, accumulate: Option<&str>| ObservedPipe::Tensor {
        input: input.to_string(),
        accumulate: accumulate.map(ToString::to_string),
    };
    let expected = [
        (ObservedPipe::Fp64, 1.5 * 1000.0 + 3.0 * 1000.0),
        (ObservedPipe::Fp32, 8_003_000.0),
        (tensor("bf16", Some("fp32")), 1_048_576.0),
        (tensor("fp8", None), 2_048_000.0),
    ];
    assert_eq!(kernel.operations, expected, "half precision lacks two of its three counters");
    assert_eq!(kernel.stalls.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["barrier"]);
    assert_eq!(short_name(&kernel.name), "gemm_tile");
}

#[test]
fn raw_page() {
    let profile = profile(RAW);
    assert_eq!(profile.format, Format::NcuRawCsv);
    assert_eq!(profile.warnings, ["line 6: row skipped: 20 fields under a header of 38"]);
    let [attend, merge] = &profile.kernels[..] else { panic!("{} kernels", profile.kernels.len()) };
    assert_eq!(attend.name, "void attend<traits<128, 64, \"bf16\">, true>(params, int)");
    assert_eq!((attend.grid, attend.block, attend.grid_blocks), (Some([1, 32, 8]), Some([128, 1, 1]), Some(256)));
    assert_eq!((attend.registers_per_thread, attend.threads_per_block), (Some(255), Some(128)));
    assert_eq!((attend.cluster_blocks, merge.cluster_blocks), (None, Some(4)));
    assert_eq!((attend.limit_shared, merge.limit_shared), (Some(2), None), "an empty value is absent");
    assert_eq!((attend.limit_barriers, attend.barriers_per_block), (Some(32), Some(1)));
    assert_eq!(attend.shared_configuration.map(|m| m.value), Some(Bytes(135_168.0)));
    assert_eq!(attend.driver_shared.map(|m| m.half_width), Some(Bytes(0.0)));
    assert_eq!(
        (attend.theoretical_occupancy_pct, attend.waves_per_sm, attend.ipc),
        (Some(12.5), Some(0.86), Some(1.59))
    );
    assert!(near(attend.duration.map(Seconds::get), 740.608e-6));
    let device = &attend.device;
    assert_eq!((device.name.as_deref(), device.chip.as_deref()), (Some("Made-up B200"), Some("416")));
    assert_eq!((device.sm_count, device.memory_bus_bits, device.max_warps_per_sm), (Some(148), Some(7680), Some(64)));
    assert_eq!((device.l2_capacity, device.max_sm_clock), (Some(Bytes(132_644_864.0)), Some(Hertz(1.965e9))));
    assert_eq!((device.max_memory_clock, device.shared_per_sm), (Some(Hertz(3.996e9)), None));
    assert_eq!(
        (attend.metric("launch__tpc_enabled"), attend.metrics.len(), merge.metrics.len()),
        (Some("all"), 27, 25)
    );
}

#[test]
fn synthetic_semicolons_and_decimal_commas() {
    let profile = profile(SEMICOLON);
    let kernel = &profile.kernels[0];
    assert!(near(kernel.duration.map(Seconds::get), 1234.5e-6) && near(kernel.sm_clock.map(Hertz::get), 1.41e9));
    assert_eq!((kernel.elapsed_cycles, kernel.memory_throughput_pct), (Some(1_740_645.0), Some(91.25)));
    assert_eq!((kernel.grid_blocks, kernel.waves_per_sm, kernel.id), (Some(65_536), Some(133.2), Some(3)));
    assert!(near(kernel.dynamic_shared.map(|m| m.value.get()), 16_380.0));
}

#[test]
fn synthetic_utf16_reads_as_utf8_does() {
    let text = String::from_utf8_lossy(DETAILS_2019);
    let expected = profile(DETAILS_2019).kernels;
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (mark, bytes) in [([0xff, 0xfe], &little), ([0xfe, 0xff], &big)] {
        let file = [&mark[..], bytes].concat();
        assert_eq!(detect(&file), Some(Format::NcuDetailsCsv));
        assert_eq!(profile(&file).kernels, expected);
    }
}

#[test]
fn several_tables_in_one_file() {
    // Two runs appended to one file, the second as another process, and a third as another page.
    let text = String::from_utf8_lossy(DETAILS_2019).into_owned();
    let second = text.replace("4242", "4243");
    assert_eq!(profile(format!("{text}{second}").as_bytes()).kernels.len(), 4);
    let mixed = profile(format!("{text}{}", String::from_utf8_lossy(RAW)).as_bytes());
    assert_eq!(mixed.kernels.len(), 2);
    assert!(mixed.warnings.iter().any(|w| w.contains("another page is not read")), "{:#?}", mixed.warnings);
}

#[test]
fn formats_are_told_from_content() {
    assert_eq!(detect(DETAILS_2025), Some(Format::NcuDetailsCsv));
    assert_eq!(detect(RAW), Some(Format::NcuRawCsv));
    for other in ["", "a,b,c\n1,2,3\n", "{\"traceEvents\": []}", "\"Kernel Name\",\"Time\"\n"] {
        assert_eq!(detect(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn errors_name_the_cure() {
    assert_eq!(read(b" \n\t").err(), Some(ProfileError::Empty));
    assert!(read(b"NVR\0\x01\x02").expect_err("binary").to_string().contains("ncu --import FILE --csv --page details"));
    assert!(read(b"\x1f\x8b\x08\0").expect_err("gzip").to_string().contains("unpack it first"));
    assert!(read(b"ELF\0\0").expect_err("NUL").to_string().contains("binary"));
    let none = message("==PROF== Connected to process 5\n==ERROR== The application returned an error code (1).\n");
    assert!(
        none.contains("0 kernels") && none.contains("==ERROR== The application returned an error code (1)."),
        "{none}"
    );
    let header_only =
        message("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n==WARNING== No kernels were profiled.\n");
    assert!(header_only.contains("==WARNING== No kernels were profiled."), "{header_only}");
    let text = message("==PROF== Connected\n\n    Section: Occupancy\n");
    assert!(text.contains("line 3") && text.contains("no line names a launch"), "{text}");
    let summary = message("\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Minimum\",\"Maximum\",\"Average\"\n");
    assert!(
        summary.contains("lacks the columns \"ID\", \"Metric Value\"") && summary.contains("--print-summary"),
        "{summary}"
    );
    let other = message("time,value\n1,2\n");
    assert!(other.contains("begins \"time,value\"") && other.contains("raw page"), "{other}");
}

#[test]
fn a_raw_page_without_units_leaves_quantities_out() {
    let text = String::from_utf8_lossy(RAW);
    let without: String = text.lines().enumerate().filter(|(i, _)| *i != 2).map(|(_, l)| format!("{l}\n")).collect();
    let profile = profile(without.as_bytes());
    assert_eq!((profile.kernels[0].duration, profile.kernels[0].limit_warps), (None, Some(16)));
    assert!(profile.warnings.iter().any(|w| w.contains("no units row")), "{:#?}", profile.warnings);
}

/// One change to the bytes of a fixture.
#[derive(Clone, Debug)]
pub enum Damage {
    DeleteLine(usize),
    DuplicateLine(usize),
    Insert(usize, Vec<u8>),
    DeleteBytes(usize, usize),
    Truncate(usize),
}

/// Any change.
pub fn damage() -> impl Strategy<Value = Damage> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..8),
        prop::sample::select(vec![b"\"".to_vec(), b",".to_vec(), b"\n".to_vec(), b"\r".to_vec(), b"\0".to_vec()]),
        prop::sample::select(vec![b"1e308".to_vec(), b"e-999999999999".to_vec(), b"99999999999999999999".to_vec()]),
    ];
    prop_oneof![
        any::<usize>().prop_map(Damage::DeleteLine),
        any::<usize>().prop_map(Damage::DuplicateLine),
        (any::<usize>(), bytes).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<usize>(), 1..64_usize).prop_map(|(at, count)| Damage::DeleteBytes(at, count)),
        any::<usize>().prop_map(Damage::Truncate),
    ]
}

/// The bytes with one change.
pub fn apply(mut file: Vec<u8>, damage: &Damage) -> Vec<u8> {
    let size = file.len().max(1);
    let mut lines: Vec<Vec<u8>> = file.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let count = lines.len().max(1);
    match damage {
        Damage::DeleteLine(at) if !lines.is_empty() => drop(lines.remove(at % count)),
        Damage::DuplicateLine(at) if !lines.is_empty() => lines.insert(at % count, lines[at % count].clone()),
        Damage::DeleteLine(_) | Damage::DuplicateLine(_) => {}
        Damage::Insert(at, bytes) => {
            file.splice(at % size..at % size, bytes.iter().copied());
            return file;
        }
        Damage::DeleteBytes(at, bytes) => {
            let start = (at % size).min(file.len());
            file.drain(start..(start + bytes).min(file.len()));
            return file;
        }
        Damage::Truncate(at) => {
            file.truncate(at % size);
            return file;
        }
    }
    lines.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(
        which in 0..ALL.len(), wide in any::<bool>(), damages in prop::collection::vec(damage(), 1..6)
    ) {
        let mut file = ALL[which].to_vec();
        if wide {
            let text = String::from_utf8_lossy(ALL[which]);
            file = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        }
        for one in &damages {
            if file.is_empty() {
                break;
            }
            file = apply(file, one);
        }
        let format = detect(&file);
        if let Ok(profile) = read(&file) {
            prop_assert_eq!(format, Some(profile.format));
            prop_assert!(!profile.kernels.is_empty());
            for kernel in &profile.kernels {
                prop_assert!(kernel.duration.is_none_or(|t| t.get().is_finite()));
                prop_assert!((1..=40).contains(&short_name(&kernel.name).chars().count()));
            }
        }
    }

    #[test]
    fn one_damaged_row_costs_one_row(at in any::<usize>(), quote in any::<bool>()) {
        // A cut or an extra quote in a row leaves every other row as it was.
        let text = String::from_utf8_lossy(DETAILS_2019);
        let mut lines: Vec<String> = text.lines().map(ToString::to_string).collect();
        let row = 7 + at % (lines.len() - 8);
        let cut = lines[row].len() / 2;
        lines[row] = if quote { lines[row].replacen("halo", "ha\"lo", 1) } else { lines[row][..cut].to_string() };
        let damaged = profile(format!("{}\n", lines.join("\n")).as_bytes());
        let metrics = |p: &Profile| p.kernels.iter().map(|k| k.metrics.len()).sum::<usize>();
        prop_assert_eq!(metrics(&damaged), metrics(&profile(DETAILS_2019)) - 1);
        prop_assert_eq!(damaged.warnings.len(), 2);
    }

    #[test]
    fn names_of_any_text_are_short(name in ".{0,200}") {
        prop_assert!((1..=40).contains(&short_name(&name).chars().count()));
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = (detect(&bytes), read(&bytes).is_ok());
    }
}

//! Nsight Compute's text output: every form in `tests/data/ncu`, and that no damage makes the reader panic.

use proptest::prelude::*;
use wavecast::{
    gpu::Catalog,
    profile::{Format, ObservedKernel, Profile, RuleKind, detect, device, judge, read},
    units::{Bytes, Hertz, Seconds},
};

use super::ncu::{apply, damage};

const OLD: &[u8] = include_bytes!("../data/ncu/text_2019.txt");
const NEW: &[u8] = include_bytes!("../data/ncu/text_2025.txt");
const SUMMARY: &[u8] = include_bytes!("../data/ncu/text_summary.txt");
const ALL: [&[u8]; 3] = [OLD, NEW, SUMMARY];

fn profile(bytes: &[u8]) -> Profile {
    assert_eq!(detect(bytes), Some(Format::NcuText));
    let profile = read(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.format, Format::NcuText);
    profile
}

fn limits(k: &ObservedKernel) -> [Option<u32>; 4] {
    [k.limit_blocks, k.limit_registers, k.limit_shared, k.limit_warps]
}

/// The model states the same limits, occupancy and waves; returns how many figures were compared.
fn agrees(kernel: &ObservedKernel) -> usize {
    let device = device(&Catalog::embedded().unwrap(), &kernel.device, None);
    let judged = judge(kernel.clone(), device);
    assert!(judged.differences().is_empty(), "{:?}", judged.differences());
    judged.comparisons.len()
}

#[test]
fn tables_with_titles_and_advice() {
    let profile = profile(NEW);
    let [blur, sum] = &profile.kernels[..] else { panic!("{} kernels", profile.kernels.len()) };
    assert_eq!(blur.name, "void ns::blur<ns::Op<int, (ns::Mode)1>, float>(float *, const float *, int)");
    assert_eq!((blur.grid, blur.block), (Some([36, 60, 1]), Some([16, 16, 1])));
    assert_eq!((blur.id, blur.process_id, sum.id, sum.process_id), (Some(0), Some(4242), Some(1), Some(4243)));
    assert_eq!((blur.device.index, blur.device.compute_capability.as_deref()), (Some(0), Some("8.0")));
    assert_eq!((sum.device.index, sum.device.sm_count, sum.name.as_str()), (Some(1), Some(108), "sum(float *)"));
    assert_eq!((blur.grid_blocks, blur.threads_per_block, sum.grid_blocks), (Some(2160), Some(256), Some(108)));
    assert_eq!((blur.registers_per_thread, limits(blur)), (Some(40), [Some(32), Some(6), Some(10), Some(8)]));
    assert_eq!((blur.theoretical_occupancy_pct, blur.achieved_occupancy_pct), (Some(75.0), Some(68.12)));
    assert_eq!((blur.duration, blur.sm_clock), (Some(Seconds(100e-6)), Some(Hertz(1.14e9))));
    let shared = blur.shared_configuration.expect("configuration");
    assert!((shared.value.get() - 16_380.0).abs() < 1e-9 && (shared.half_width.get() - 5.0).abs() < 1e-9);
    assert_eq!(blur.static_shared.map(|m| (m.value, m.half_width)), Some((Bytes(512.0), Bytes(0.0))));
    // One name with two units, in two sections.
    assert_eq!(blur.memory_throughput_pct, Some(71.25));
    assert!(blur.dram_bytes.is_some_and(|b| (b.get() / (483.89e9 * 100e-6) - 1.0).abs() < 1e-9));
    assert_eq!((blur.metric("Function Cache Configuration"), blur.metrics.len()), (Some("CachePreferNone"), 33));
    assert_eq!((sum.waves_per_sm, sum.achieved_occupancy_pct, sum.metrics.len()), (None, None, 7));
    assert_eq!(agrees(blur), 6);

    let kinds: Vec<&RuleKind> = blur.rules.iter().map(|r| &r.kind).collect();
    let optimization = &RuleKind::Optimization;
    assert_eq!(kinds, [optimization, optimization, optimization, &RuleKind::Information]);
    let [first, wave, registers, _] = &blur.rules[..] else { unreachable!() };
    assert!(first.text.starts_with("Memory is more") && first.text.ends_with("see where the bottleneck is."));
    assert_eq!((first.estimated_speedup_pct, first.section.as_str()), (None, "GPU Speed Of Light Throughput"));
    assert_eq!((wave.estimated_speedup_pct, wave.speedup_scope.as_deref()), (Some(25.0), Some("global")));
    assert_eq!(
        wave.text,
        "A wave is how many blocks can run at once. This launch has 3 full waves and a partial one of 216 blocks."
    );
    assert_eq!((registers.estimated_speedup_pct, registers.speedup_scope.as_deref()), (Some(20.51), Some("local")));

    let expected = [
        "line 7: ==WARNING== Backing up device memory in system memory.",
        "line 105: no row of the table above it: left out",
        "line 41: 1 table with other columns than name, unit and value is not read",
    ];
    assert_eq!(profile.warnings, expected);
}

#[test]
fn advice_without_a_name_is_told_by_its_section() {
    let kernel = profile(NEW).kernels.remove(0);
    let device = device(&Catalog::embedded().unwrap(), &kernel.device, None);
    let advice: Vec<String> = judge(kernel, device).advice.into_iter().map(|a| a.text).collect();
    assert!(advice.contains(&"the profiler's advice under \"Launch Statistics\"".to_string()), "{advice:?}");
}

#[test]
fn the_first_tool_without_titles() {
    let profile = profile(OLD);
    assert_eq!(profile.warnings, [""; 0]);
    let [pack, sum] = &profile.kernels[..] else { panic!("{} kernels", profile.kernels.len()) };
    assert_eq!((pack.name.as_str(), sum.name.as_str()), ("halo_pack(int,float*)", "halo_sum(float*)"));
    assert_eq!((pack.grid, pack.grid_blocks, pack.threads_per_block), (None, Some(512), Some(192)));
    assert_eq!((pack.process_id, &pack.device.compute_capability), (Some(777), &None));
    assert_eq!((pack.registers_per_thread, limits(pack)), (Some(20), [Some(32), Some(14), Some(64), Some(10)]));
    assert_eq!((pack.theoretical_occupancy_pct, pack.waves_per_sm), (Some(93.75), Some(0.64)));
    assert_eq!((pack.duration, sum.duration), (Some(Seconds(9.92e-6)), Some(Seconds(41.216e-6))));
    assert_eq!((pack.sm_clock, pack.dram_clock), (Some(Hertz(1.24e9)), Some(Hertz(876.54e6))));
    assert_eq!(
        (pack.memory_throughput_pct, pack.l1_throughput_pct, pack.l2_hit_pct),
        (Some(41.5), Some(11.0), Some(52.4))
    );
    assert_eq!(pack.static_shared.map(|m| m.value), Some(Bytes(1536.0)));
    assert_eq!(
        (&pack.rules[0].kind, pack.rules[0].text.ends_with("bandwidth utilization.")),
        (&RuleKind::Warning, true)
    );
}

#[test]
fn a_summary_gives_averages() {
    let profile = profile(SUMMARY);
    let [blur, fill] = &profile.kernels[..] else { panic!("{} kernels", profile.kernels.len()) };
    assert_eq!(
        (blur.name.as_str(), blur.grid, fill.block),
        ("blur(float *, int)", Some([60, 36, 1]), Some([128, 1, 1]))
    );
    assert_eq!((blur.duration, fill.duration), (Some(Seconds(100e-6)), Some(Seconds(2e-6))));
    assert_eq!((blur.memory_throughput_pct, blur.achieved_occupancy_pct), (Some(11.0), Some(65.0)));
    assert_eq!((blur.registers_per_thread, limits(blur)), (Some(40), [Some(32), Some(6), Some(10), Some(8)]));
    assert_eq!(agrees(blur), 6);
    let [warning] = &profile.warnings[..] else { panic!("{:?}", profile.warnings) };
    assert!(warning.contains("2 kernels") && warning.contains("34 in all") && warning.contains("average"), "{warning}");
}

#[test]
fn text_moved_by_an_editor_is_read_the_same() {
    let text = String::from_utf8_lossy(NEW);
    let expected = profile(NEW).kernels;
    // Indented as in Markdown, stripped of its indentation, with trailing spaces and CRLF.
    let quoted: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let windows: String = text.lines().map(|line| format!("{line}  \r\n")).collect();
    for moved in [quoted.replace("    ==", "==").replace("    [42", "[42"), windows] {
        assert_eq!(profile(moved.as_bytes()).kernels, expected);
    }
}

#[test]
fn what_is_no_launch_is_none() {
    for none in [
        "Using Device 0, CC 8.6\n---- ----\n",
        "kernel, Context 1, Stream 7\nno section\n",
        "    Section: Occupancy\n    ---- ----\n",
    ] {
        assert_eq!(detect(none.as_bytes()), None, "{none}");
        assert!(read(none.as_bytes()).is_err());
    }
    // A launch line of the program's own among the rows takes no metric from the launch before it.
    let text = String::from_utf8_lossy(OLD).replacen("    SOL L2 ", "x, Context 1, Stream 7\n    SOL L2 ", 1);
    assert_eq!(profile(text.as_bytes()).kernels[0].duration, Some(Seconds(9.92e-6)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_never_panics(which in 0..ALL.len(), damages in prop::collection::vec(damage(), 1..6)) {
        let mut file = ALL[which].to_vec();
        for one in damages.iter() {
            if file.is_empty() {
                break;
            }
            file = apply(file, one);
        }
        let format = detect(&file);
        if let Ok(profile) = read(&file) {
            prop_assert_eq!(format, Some(profile.format));
            prop_assert!(profile.kernels.iter().all(|k| k.duration.is_none_or(|t| t.get().is_finite())));
        }
    }
}

#[test]
fn a_file_cut_anywhere_keeps_what_stands_before() {
    let whole = profile(NEW);
    for at in 0..NEW.len() {
        let Ok(cut) = read(&NEW[..at]) else { continue };
        assert!(cut.kernels.len() <= whole.kernels.len(), "cut at {at}");
        for (cut, whole) in cut.kernels.iter().zip(&whole.kernels) {
            // All but the last, which may have lost digits.
            let kept = cut.metrics.len().saturating_sub(1);
            assert!(cut.metrics.len() <= whole.metrics.len(), "cut at {at}");
            assert_eq!(cut.metrics[..kept], whole.metrics[..kept], "cut at {at}");
        }
    }
}

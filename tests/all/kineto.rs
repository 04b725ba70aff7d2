//! Traces of PyTorch's profiler: every dialect in `tests/data/kineto`, damage, and what the profiler itself states.

use std::io::{BufRead, BufReader, Cursor, Read};

use proptest::prelude::*;
use wavecast::{
    gpu::{Catalog, ComputeCapability},
    profile::{Format, ProfileError, Trace, detect_trace, kineto_figures, read_trace},
    units::{Bytes, Seconds},
};

const NVIDIA: &str = include_str!("../data/kineto/nvidia.json");
const LIST: &str = include_str!("../data/kineto/list_2021.json");
const COMPUTED: &str = include_str!("../data/kineto/computed_2021.json");
const AMD: &str = include_str!("../data/kineto/amd.json");
const DAMAGED: &str = include_str!("../data/kineto/damaged.json");
const ALL: [&str; 5] = [NVIDIA, LIST, COMPUTED, AMD, DAMAGED];

fn read(bytes: &[u8]) -> Result<Trace, ProfileError> {
    read_trace(Format::Kineto, &mut Cursor::new(bytes))
}

fn trace(text: &str) -> Trace {
    assert_eq!(detect_trace(text.as_bytes()), Some(Format::Kineto));
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Name, device, launches and nanoseconds of the groups, in the order of names.
fn groups(trace: &Trace) -> Vec<(&str, u32, u64, f64)> {
    let nanos = |time: Seconds| (time.get() * 1e12).round() / 1e3;
    let mut groups: Vec<_> =
        trace.groups.iter().map(|g| (g.kernel.name.as_str(), g.device, g.launches, nanos(g.total))).collect();
    groups.sort_by_key(|group| (group.0, group.1));
    groups
}

fn nanos(time: Seconds) -> i64 {
    (time.get() * 1e9).round() as i64
}

#[test]
fn launches_copies_and_devices_of_nvidia() {
    let trace = trace(NVIDIA);
    assert_eq!(trace.warnings, ["1 event with illegal JSON (escapes, numbers, a key twice) mended and read"]);
    let pack = "void pack<ns::{lambda()#1}, \"x\">(float const*, int)";
    assert_eq!(groups(&trace), [("sm90_gemm_128x128", 1, 1, 40_000.0), (pack, 0, 2, 6_000.0)]);
    let gemm = &trace.groups[0].kernel;
    assert_eq!((gemm.grid, gemm.block, gemm.registers_per_thread), (Some([16, 8, 1]), Some([384, 1, 1]), Some(168)));
    assert_eq!((gemm.static_shared, gemm.dynamic_shared.map(|m| m.value)), (None, Some(Bytes(212_992.0))));
    assert_eq!(
        (gemm.achieved_occupancy_pct, gemm.theoretical_occupancy_pct),
        (None, None),
        "the profiler's arithmetic"
    );
    assert_eq!(trace.groups[1].kernel.registers_per_thread, Some(32), "the last of equal keys");
    let [(0, first), (1, second)] = &trace.devices[..] else { panic!("{:?}", trace.devices) };
    assert_eq!(
        (first.name.as_deref(), first.compute_capability.as_deref()),
        (Some("NVIDIA H100 80GB HBM3"), Some("9.0"))
    );
    assert_eq!((first.sm_count, first.max_warps_per_sm, first.registers_per_sm), (Some(132), Some(64), Some(65_536)));
    assert_eq!((first.memory_capacity, first.shared_per_sm), (Some(Bytes(85_018_279_936.0)), Some(Bytes(233_472.0))));
    assert_eq!((second.registers_per_sm, second.shared_per_sm), (None, None), "absent in the file");
    assert_eq!(gemm.device.index, Some(1));
    let copy = &trace.transfers[0];
    assert_eq!(
        (copy.name.as_str(), copy.count, copy.bytes),
        ("Memcpy HtoD (Pinned -> Device)", 1, Some(Bytes(65_536.0)))
    );
    assert_eq!(trace.transfers[1].name, "Memset (Device)");
    // To the nanosecond, on a clock of 1.7e15 us: 640.001 to 642.501, 643.503 to 647.003, 648.001 to 653, 654 to 655.
    let time = trace.times[0];
    assert_eq!((nanos(time.span), nanos(time.kernels), nanos(time.gaps)), (14_999, 6_000, 1_002 + 998 + 1_000));
}

#[test]
fn the_forms_of_2021() {
    let list = trace(LIST);
    assert_eq!(groups(&list), [("add_kernel", 0, 1, 3_000.0), ("sum_kernel", 0, 1, 2_000.0)]);
    assert_eq!(list.devices[0].1.sm_count, Some(80), "100 blocks at 1.25 per SM");
    assert_eq!((list.devices[0].1.name.as_ref(), list.transfers[0].bytes), (None, Some(Bytes(4.0))));
    assert!(list.warnings[0].contains("80 SMs follow"), "{:?}", list.warnings);
    let computed = trace(COMPUTED);
    let device = &computed.groups[0].kernel.device;
    assert_eq!((device.index, device.sm_count, device.compute_capability.as_deref()), (Some(1), Some(80), Some("7.0")));
    assert_eq!(computed.groups[0].kernel.registers_per_thread, None, "0 registers are none");
    let missing = COMPUTED.find("{\"name\": \"no").unwrap();
    let expected =
        format!("byte {missing}: the description of a device that begins here was skipped: it has no number (`id`)");
    assert_eq!(computed.warnings, [expected]);
}

#[test]
fn contradicting_launches_tell_no_sms() {
    let text = LIST.replace("0.0125", "0.012658228");
    assert_eq!(trace(&text).devices[0].1.sm_count, None);
}

#[test]
fn amd_counts_kernels_once_and_blocks() {
    let trace = trace(AMD);
    assert_eq!((trace.launches(), nanos(trace.kernel_time())), (4, 21_500));
    let grid = |name: &str, grid: Option<[u64; 3]>| {
        let found = trace.groups.iter().any(|g| g.kernel.name == name && g.kernel.grid == grid);
        assert!(found, "{name} {grid:?} in {:?}", trace.groups);
    };
    grid("Cijk_MT128x128", Some([16, 4, 1]));
    grid("Cijk_MT128x128", None);
    grid("add", Some([256, 1, 1]));
    grid("odd", Some([1000, 1, 1]));
    let add = trace.groups.iter().find(|g| g.kernel.name == "add").unwrap();
    assert_eq!(
        (add.kernel.block, add.kernel.dynamic_shared.map(|m| m.value)),
        (Some([256, 1, 1]), Some(Bytes(1024.0)))
    );
    let device = &trace.devices[0].1;
    assert_eq!((&device.name, &device.compute_capability, device.sm_count), (&None, &None, Some(304)));
    assert_eq!((device.max_warps_per_sm, device.registers_per_sm), (Some(32), None));
    assert_eq!((trace.transfers[0].count, trace.transfers[0].bytes), (2, None), "one has no bytes");
    let [divided, uncertain] = &trace.warnings[..] else { panic!("{:?}", trace.warnings) };
    assert!(divided.starts_with("grids of 1 launch by hipExt"), "{divided}");
    assert!(uncertain.starts_with("grids of 1 launch are taken as blocks"), "{uncertain}");
}

#[test]
fn amd_is_told_by_name_or_by_warp_size() {
    for (name, warp) in [("AMD Radeon RX 7900 XTX", 32), ("AMD Instinct MI210", 64), ("", 64)] {
        let text =
            NVIDIA.replace("NVIDIA H100 80GB HBM3", name).replace("\"warpSize\": 32", &format!("\"warpSize\": {warp}"));
        assert_eq!(trace(&text).devices[0].1.compute_capability, None, "{name}");
    }
}

#[test]
fn what_damage_leaves() {
    let found = trace(DAMAGED);
    let names: Vec<(&str, u64)> = groups(&found).into_iter().map(|(name, _, launches, _)| (name, launches)).collect();
    assert_eq!(names, [("after", 1), ("half \u{fffd} pair", 1), ("in \\lib\\xdir", 1), ("last", 1), ("two lines", 1)]);
    let first = found.groups.iter().find(|g| g.kernel.name == "in \\lib\\xdir").unwrap();
    assert_eq!((nanos(first.total), first.kernel.grid, first.kernel.grid_blocks), (2_000, Some([8, 1, 1]), Some(8)));
    let after = found.groups.iter().find(|g| g.kernel.name == "after").unwrap();
    assert_eq!((after.device, after.kernel.grid, after.kernel.grid_blocks), (0, Some([u64::MAX, 9, 9]), None));
    let half = found.groups.iter().find(|g| g.kernel.name.starts_with("half")).unwrap();
    assert_eq!((half.timed, half.kernel.duration, half.kernel.grid), (0, None, None));
    let all = found.warnings.join("\n");
    for part in [
        "a kernel without a name",
        "is out of place",
        "the file ends within what begins here",
        "5 events with illegal JSON",
        "1 launch or copy without a duration",
    ] {
        assert!(all.contains(part), "no `{part}` in\n{all}");
    }
    let unclosed = DAMAGED.find("\"unclosed\"").unwrap();
    assert!(
        all.contains(&format!("byte {}: the event that begins here", DAMAGED[..unclosed].rfind('{').unwrap())),
        "{all}"
    );
}

#[test]
fn other_files_are_not_traces() {
    for text in ["", "[]", "{}", "[1, 2]", "{\"kernels\": []}", "name,duration\nk,3\n", "ID,Kernel Name"] {
        assert_eq!(detect_trace(text.as_bytes()), None, "{text}");
    }
    let idle = "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]}";
    let message = read(idle.as_bytes()).expect_err("no kernel").to_string();
    assert!(message.contains("0 kernel launches"), "{message}");
}

#[test]
fn other_encodings_and_line_ends_say_the_same() {
    let plain = groups(&trace(AMD)).len();
    let marked = format!("\u{feff}{}", AMD.replace('\n', "\r\n"));
    assert_eq!(groups(&trace(&marked)).len(), plain);
    for order in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let named = marked.replace("\"odd\"", "\"odd \u{1f600}\"");
        let bytes: Vec<u8> = named.encode_utf16().flat_map(order).collect();
        assert_eq!(detect_trace(&bytes), Some(Format::Kineto));
        // In pieces of odd length, so that units and pairs are cut.
        let mut input = BufReader::with_capacity(7, &bytes[..]);
        let wide = read_trace(Format::Kineto, &mut input).unwrap();
        assert!(groups(&wide).iter().any(|group| group.0 == "odd \u{1f600}"), "{wide:?}");
    }
}

/// A file that fails after its bytes, as a damaged archive does.
struct Breaking<'a>(&'a [u8]);

impl Read for Breaking<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() { Err(std::io::Error::other("corrupt deflate stream")) } else { self.0.read(into) }
    }
}

impl BufRead for Breaking<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.0.is_empty() { Err(std::io::Error::other("corrupt deflate stream")) } else { Ok(self.0) }
    }
    fn consume(&mut self, length: usize) {
        self.0 = &self.0[length..];
    }
}

#[test]
fn a_stream_that_breaks_keeps_what_was_read() {
    let cut = NVIDIA.find("sm90_gemm").unwrap();
    let found = read_trace(Format::Kineto, &mut Breaking(&NVIDIA.as_bytes()[..cut])).unwrap();
    assert_eq!(found.launches(), 2);
    let last = found.warnings.last().unwrap();
    assert_eq!(*last, format!("the file cannot be read on after {cut} bytes: corrupt deflate stream"));
    let error = read_trace(Format::Kineto, &mut Breaking(&NVIDIA.as_bytes()[..300])).expect_err("nothing yet");
    assert!(matches!(error, ProfileError::Stream { bytes: 300, .. }), "{error}");
}

#[test]
fn two_traces_in_one_file_and_a_list_without_end() {
    assert_eq!(trace(&format!("{NVIDIA}\n{AMD}")).launches(), 7);
    let open = LIST.trim_end().trim_end_matches(']');
    let found = trace(open);
    assert_eq!(found.launches(), 2);
    assert!(found.warnings[0].contains("breaks off"), "{:?}", found.warnings);
}

#[test]
fn long_and_deep_events_cost_one_event() {
    let kernel =
        |name: &str| format!("{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{name}\", \"ts\": 1, \"dur\": 1}}");
    let (long, deep) = ("x".repeat(5 << 20), "[".repeat(100_000));
    let deep = format!("{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"deep\", \"args\": {deep}");
    let text =
        format!("{{\"traceEvents\": [{},{},{},{deep},{}]}}", kernel("a"), kernel(&long), kernel("b"), kernel("c"));
    let found = trace(&text);
    let names: Vec<&str> = groups(&found).iter().map(|group| group.0).collect();
    assert_eq!(names, ["a", "b", "c"]);
    // Every brace could be an event: none may be gone over again without bound.
    let _ = read(format!("[{}", "{\"ph\"".repeat(200_000)).as_bytes());
    let _ = read(format!("[{}{}", "{\"ph\":".repeat(60_000), "}".repeat(60_000)).as_bytes());
}

/// What PyTorch's profiler states: SMs, grid, block, registers, shared memory, and from them blocks per SM, warps per
/// SM and estimated occupancy. From traces of the test data of facebookresearch/HolisticTraceAnalysis (MIT), commit
/// f4d0062c382f: an A100 (`critical_path/alexnet`) and a V100 (`ns_resolution_trace`).
type Stated = (&'static str, u32, [u64; 3], [u64; 3], u32, u32, f64, f64, u32);
const STATED: [Stated; 20] = [
    ("8.0", 108, [3, 169, 1], [128, 1, 1], 252, 67584, 4.6944447, 18.777779, 0),
    ("8.0", 108, [12, 1, 1], [256, 1, 1], 16, 0, 0.11111111, 0.8888889, 1),
    ("8.0", 108, [3025, 1, 1], [128, 1, 1], 160, 16384, 28.00926, 112.03704, 19),
    ("8.0", 108, [3, 2, 544], [256, 1, 1], 122, 24576, 30.222221, 241.77777, 25),
    ("8.0", 108, [768, 1, 1], [512, 1, 1], 64, 35904, 7.111111, 113.77778, 50),
    ("8.0", 108, [1024, 1, 1], [128, 1, 1], 18, 0, 9.481482, 37.925926, 59),
    ("8.0", 108, [864, 1, 1], [256, 1, 1], 47, 0, 8.0, 64.0, 63),
    ("8.0", 108, [96800, 1, 1], [128, 1, 1], 40, 0, 896.2963, 3585.1853, 75),
    ("8.0", 108, [2, 169, 1], [128, 1, 1], 252, 67584, 3.1296296, 12.518518, 0),
    ("7.0", 80, [1, 1, 1], [128, 1, 1], 24, 0, 0.0125, 0.05, 0),
    ("7.0", 80, [13, 1, 1], [256, 1, 1], 16, 0, 0.1625, 1.3, 2),
    ("7.0", 80, [63, 1, 1], [128, 1, 1], 22, 0, 0.7875, 3.15, 5),
    ("7.0", 80, [4, 16, 1], [32, 8, 1], 32, 9216, 0.8, 6.4, 10),
    ("7.0", 80, [16, 1, 5], [256, 1, 1], 82, 26624, 1.0, 8.0, 13),
    ("7.0", 80, [64, 1, 1], [512, 1, 1], 64, 144, 0.8, 12.8, 20),
    ("7.0", 80, [16, 2, 32], [8, 8, 1], 89, 3328, 12.8, 25.6, 31),
    ("7.0", 80, [16, 32, 1], [256, 1, 1], 64, 24704, 6.4, 51.200001, 38),
    ("7.0", 80, [155, 1, 1], [512, 1, 1], 32, 0, 1.9375, 31.0, 48),
    ("7.0", 80, [8, 128, 1], [256, 1, 1], 48, 16640, 12.8, 102.400002, 63),
    ("7.0", 80, [282, 1, 1], [512, 1, 1], 32, 0, 3.525, 56.400002, 88),
];

#[test]
fn the_profilers_figures() {
    let catalog = Catalog::embedded().unwrap();
    for (capability, sms, grid, block, registers, shared, blocks, warps, occupancy) in STATED {
        let limits = catalog.limits(capability.parse::<ComputeCapability>().unwrap()).unwrap();
        let found = kineto_figures(&limits, sms, grid, block, registers, shared);
        // Printed with eight digits, of single precision.
        let near = |found: f64, stated: f64| (found - stated).abs() <= 3e-7 * stated;
        assert!(near(found.blocks_per_sm, blocks) && near(found.warps_per_sm, warps), "{grid:?} {block:?}: {found:?}");
        assert_eq!(found.occupancy_pct, occupancy, "{grid:?} {block:?} {registers} {shared}");
    }
}

/// The launches of a damaged file.
fn harmless(bytes: &[u8]) -> u64 {
    let _ = detect_trace(bytes);
    match read(bytes) {
        Ok(trace) => {
            assert!(trace.launches() > 0 && trace.warnings.len() <= 51);
            assert!(trace.kernel_time().get().is_finite());
            trace.launches()
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            0
        }
    }
}

#[test]
fn cut_at_any_byte() {
    for text in ALL {
        let mut most = 0;
        for end in 0..text.len() {
            // The longer the file, the more is in it.
            let launches = harmless(&text.as_bytes()[..end]);
            assert!(launches >= most || text == DAMAGED, "{launches} at byte {end}, {most} before");
            most = launches;
        }
    }
}

proptest! {
    #[test]
    fn damaged_traces_never_panic(
        file in 0..ALL.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..12),
    ) {
        let mut bytes = ALL[file].as_bytes().to_vec();
        for (place, byte, what) in changes {
            let at = place.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"{}[]\",:\\"[usize::from(byte) % 8],
                2 => bytes.insert(at, byte),
                // A line twice.
                _ => {
                    let from = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                    let to = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |end| at + end + 1);
                    let line = bytes[from..to].to_vec();
                    bytes.splice(from..from, line);
                }
            }
        }
        harmless(&bytes);
    }
}

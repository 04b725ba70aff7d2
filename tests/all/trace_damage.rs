//! Traces that are cut, bent or doubled: every reader of tables gives launches or a sentence, and never panics.

use proptest::prelude::*;
use wavecast::profile::{Format, ProfileError, Trace, detect_trace, read_trace};

const FILES: [&[u8]; 15] = [
    include_bytes!("../data/nsys/trace_2022.csv"),
    include_bytes!("../data/nsys/trace_2025_bom_crlf.csv"),
    include_bytes!("../data/nsys/stats_c_locale.txt"),
    include_bytes!("../data/nsys/several_reports.csv"),
    include_bytes!("../data/nsys/synthetic_bordered_decimal_comma.txt"),
    include_bytes!("../data/nvprof/gpu_trace.csv"),
    include_bytes!("../data/nvprof/summary.csv"),
    include_bytes!("../data/nvprof/summary_2016.csv"),
    include_bytes!("../data/nvprof/metrics.csv"),
    include_bytes!("../data/rocprof/v1.csv"),
    include_bytes!("../data/rocprof/pmc_perf_v2.csv"),
    include_bytes!("../data/rocprof/v3_kernel_trace.csv"),
    include_bytes!("../data/rocprof/v3_counter_collection.csv"),
    include_bytes!("../data/rocprof/kernel_stats.csv"),
    include_bytes!("../data/rocprof/sysinfo.csv"),
];

const FORMATS: [Format; 3] = [Format::NsysTables, Format::Nvprof, Format::Rocprof];

/// What every answer keeps to.
fn check(answer: Result<Trace, ProfileError>) {
    match answer {
        Ok(trace) => {
            assert!(trace.launches() > 0 && trace.kernel_time().get().is_finite() && trace.warnings.len() < 60);
            for group in &trace.groups {
                let [total, shortest, longest] = [group.total, group.shortest, group.longest].map(|time| time.get());
                assert!(total >= 0.0 && shortest >= 0.0 && longest >= 0.0 && group.timed <= group.launches);
            }
            assert!(trace.times.iter().all(|time| time.gaps.get() >= 0.0 && time.span.get().is_finite()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn read_all(bytes: &[u8]) {
    let _ = detect_trace(bytes);
    for format in FORMATS {
        check(read_trace(format, &mut &*bytes));
    }
}

#[test]
fn cut_at_any_byte() {
    for file in FILES {
        (0..file.len()).step_by(7).for_each(|length| read_all(&file[..length]));
    }
}

#[test]
fn words_that_are_no_numbers() {
    let words = ["NaN", "-1", "Infinity", "1e999", "18446744073709551616", "\"", "-0", "1,5", "\u{0}", "9e300"];
    for file in FILES {
        let text = String::from_utf8_lossy(file);
        for word in words {
            let digits = |c: char| c.is_ascii_digit();
            let bent: String = text
                .split_inclusive(',')
                .map(|part| match part.trim_end_matches(',') {
                    number if !number.is_empty() && number.chars().all(digits) => format!("{word},"),
                    _ => part.into(),
                })
                .collect();
            read_all(bent.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bent_and_doubled(file in 0..FILES.len(), bytes in prop::collection::vec((any::<u32>(), any::<u8>()), 1..8), line in any::<u32>()) {
        let mut bent = FILES[file].to_vec();
        for (place, byte) in bytes {
            let place = place as usize % bent.len();
            bent[place] = byte;
        }
        let lines: Vec<&[u8]> = bent.split_inclusive(|byte| *byte == b'\n').collect();
        let line = line as usize % lines.len();
        let doubled = [lines[..=line].concat(), lines[line..].concat()].concat();
        read_all(&doubled);
    }
}

/// A stream that breaks off.
struct Broken<'a>(&'a [u8]);

impl std::io::Read for Broken<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(std::io::Error::other("unexpected end")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_stream_that_breaks_off_gives_what_was_read() {
    for (file, format) in [(FILES[1], Format::NsysTables), (FILES[6], Format::Nvprof), (FILES[10], Format::Rocprof)] {
        let mut input = std::io::BufReader::new(Broken(file));
        let trace = read_trace(format, &mut input).unwrap();
        let last = trace.warnings.last().expect("a warning");
        assert!(last.contains("unexpected end; what was read until then counts"), "{last}");
        let error = read_trace(format, &mut std::io::BufReader::new(Broken(&file[..20]))).expect_err("nothing");
        assert!(error.to_string().contains("after 20 bytes"), "{error}");
    }
}

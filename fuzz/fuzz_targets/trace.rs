//! Traces of every kind: told apart and read, whole and in small pieces.

#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use wavecast::profile::{Format, Trace, detect_trace, read_trace};
use wavecast_fuzz::said;

fn check(trace: &Trace) {
    assert!(trace.launches() > 0, "a trace without a launch");
    assert!(trace.kernel_time().get().is_finite() && trace.kernel_time().get() >= 0.0);
    assert!(trace.warnings.len() < 100, "{} warnings", trace.warnings.len());
    for time in &trace.times {
        for seconds in [time.span, time.kernels, time.gaps] {
            assert!(seconds.get().is_finite() && seconds.get() >= 0.0, "{time:?}");
        }
    }
    for group in &trace.groups {
        assert!(group.launches >= group.timed && group.shortest.get() <= group.longest.get(), "{group:?}");
    }
}

/// Kinds that share words with others, so that damage does not hide them behind the first that is asked.
const FORCED: [Format; 5] =
    [Format::NsysTables, Format::NsysSqlite, Format::Nvprof, Format::Rocprof, Format::Kineto];

fuzz_target!(|bytes: &[u8]| {
    for format in detect_trace(bytes).into_iter().chain(FORCED) {
        let whole = read_trace(format, &mut &bytes[..]);
        let pieces = read_trace(format, &mut BufReader::with_capacity(13, bytes));
        match (whole, pieces) {
            (Ok(whole), Ok(pieces)) => {
                check(&whole);
                assert_eq!((whole.groups, whole.warnings), (pieces.groups, pieces.warnings));
            }
            (Err(whole), Err(pieces)) => assert_eq!(said(whole), said(pieces)),
            (whole, pieces) => panic!("whole {whole:?}, in pieces {pieces:?}"),
        }
    }
});

//! Traces: every kind that a reader takes, by its beginning and by force.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::profile::{Format, detect_trace, read_trace};
use wavecast_fuzz::said;

/// Kinds that share words with others, so that damage does not hide them behind the first that is asked.
const FORCED: [Format; 4] = [Format::NsysTables, Format::NsysSqlite, Format::Nvprof, Format::Rocprof];

fuzz_target!(|bytes: &[u8]| {
    for format in detect_trace(bytes).into_iter().chain(FORCED) {
        let trace = match read_trace(format, &mut &*bytes) {
            Ok(trace) => trace,
            Err(error) => {
                said(error);
                continue;
            }
        };
        assert!(trace.launches() > 0, "a trace without launches");
        assert!(trace.kernel_time().get().is_finite(), "no time");
        for group in &trace.groups {
            assert!(group.timed <= group.launches && group.total.get() >= 0.0, "{group:?}");
            assert!(group.shortest.get() >= 0.0 && group.longest.get() >= 0.0, "{group:?}");
        }
        for time in &trace.times {
            assert!(time.gaps.get() >= 0.0 && time.span.get().is_finite() && time.kernels.get() >= 0.0, "{time:?}");
        }
    }
});

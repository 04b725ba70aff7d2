//! Groups, gaps and times by hand.

use super::*;

fn launch(name: &'static str, start: f64, duration: f64, blocks: u64) -> LaunchRecord<'static> {
    let shape = LaunchShape { grid: Some([blocks, 1, 1]), block: Some([128, 2, 1]), ..LaunchShape::default() };
    LaunchRecord { name, device: 0, start: Some(Seconds(start)), duration: Some(Seconds(duration)), shape }
}

#[test]
fn groups_gaps_and_overlap_by_hand() {
    let mut collector = Collector::default();
    // 0 to 3 and 2 to 5 overlap, a copy fills 5 to 6, 8 to 9 follows a gap of 2.
    for record in [launch("a", 0.0, 3.0, 10), launch("b", 2.0, 3.0, 10), launch("a", 8.0, 1.0, 10)] {
        collector.launch(&record);
    }
    collector.transfer("[copy]", 0, Some(Seconds(5.0)), Seconds(1.0), Some(Bytes(100.0)));
    collector.launch(&LaunchRecord { start: None, duration: None, ..launch("a", 0.0, 0.0, 11) });
    let trace = collector.finish(Format::NcuRawCsv);
    let time = trace.times[0];
    assert_eq!((time.span, time.kernels, time.gaps), (Seconds(9.0), Seconds(6.0), Seconds(2.0)));
    let first = &trace.groups[0];
    assert_eq!((first.kernel.name.as_str(), first.launches, first.total), ("a", 2, Seconds(4.0)));
    assert_eq!((first.shortest, first.longest), (Seconds(1.0), Seconds(3.0)));
    assert_eq!(first.kernel.duration, Some(Seconds(2.0)));
    assert_eq!((first.kernel.grid_blocks, first.kernel.threads_per_block), (Some(10), Some(256)));
    assert_eq!((trace.groups.len(), trace.launches()), (3, 4));
    assert_eq!(trace.groups[2].kernel.duration, None);
    assert_eq!(trace.transfers[0].bytes, Some(Bytes(100.0)));
}

#[test]
fn times_that_are_none_do_not_count() {
    let mut collector = Collector::default();
    for duration in [f64::NAN, -1.0, f64::INFINITY] {
        collector.launch(&launch("a", 0.0, duration, 1));
        collector.transfer("c", 0, None, Seconds(duration), None);
    }
    let trace = collector.finish(Format::NcuRawCsv);
    assert_eq!((trace.launches(), trace.kernel_time()), (3, Seconds::ZERO));
    assert!(trace.times.is_empty() && trace.transfers.is_empty());
}

#[test]
fn a_summary_that_contradicts_itself_is_its_mean() {
    let mut collector = Collector::default();
    collector.summary(&LaunchSummary {
        name: "a",
        launches: 4,
        total: Some(Seconds(8.0)),
        shortest: Some(Seconds(3.0)),
        longest: Some(Seconds(1.0)),
        ..LaunchSummary::default()
    });
    let trace = collector.finish(Format::Nvprof);
    let group = &trace.groups[0];
    assert_eq!((group.shortest, group.longest, group.timed), (Seconds(2.0), Seconds(2.0), 4));
}

//! Chrome traces: every block once, slots never doubly used, counters in percent, what is missing said.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::trace;
use crate::{
    gpu::Catalog,
    schedule::simulate::{Demand, Grid, Machine, Policy, Run, Runs},
    simulation::{Simulated, simulated},
    units::Seconds,
};

/// Two kernels on 5 SMs, the second persistent; lengths in thirds of a nanosecond, so that every time is rounded.
fn pair() -> Simulated {
    let gpu = Catalog::embedded().unwrap().find("h100-sxm5-80gb").unwrap().gpu;
    let demand = |math: f64, dram: f64| Demand { math: Seconds(math), dram: Seconds(dram), ..Demand::default() };
    let unequal = (1..40).map(|i| Run { count: 1, demand: demand(f64::from(i) * 7.3e-8 / 3.0, 1e-9) });
    let first = Grid::new("first \"quoted\" \\ <b>", Runs::new(unequal, 3), 3);
    let mut second = Grid::new("second", Runs::equal(31, demand(1e-7 / 3.0, 2e-9)), 2);
    (second.after, second.gap, second.policy) = (vec![0], Seconds(1.5e-6), Policy::Queue);
    simulated("two kernels", "early", &gpu, Machine::plain(5), vec![first, second]).unwrap()
}

fn events(text: &str) -> (Vec<Value>, Value) {
    let mut whole: Value = serde_json::from_str(text).unwrap();
    assert_eq!(whole["displayTimeUnit"], "ns");
    let Value::Array(events) = whole["traceEvents"].take() else { panic!("no events") };
    (events, whole["otherData"].take())
}

fn of<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |e| e["ph"] == phase)
}

/// Microseconds as whole nanoseconds; anything finer is refused.
fn nanos(time: &Value) -> i64 {
    let exact = time.as_f64().unwrap() * 1e3;
    assert!((exact - exact.round()).abs() < 1e-6 && exact >= 0.0, "{time}");
    exact.round() as i64
}

#[test]
fn every_block_stands_once_in_its_slot() {
    let simulated = pair();
    let (events, about) = events(&trace(&simulated));
    assert_eq!(of(&events, "X").count() as u64, simulated.outcome.blocks);
    assert_eq!(of(&events, "X").filter(|e| e["name"] == "second").count(), 31);
    let mut slots: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for event in of(&events, "X") {
        let (from, long) = (nanos(&event["ts"]), nanos(&event["dur"]));
        slots.entry(event["tid"].as_u64().unwrap()).or_default().push((from, from + long));
        assert!(event["args"]["block"].is_u64() && event["args"]["class"].is_u64());
    }
    for (slot, blocks) in &mut slots {
        blocks.sort_unstable();
        assert!(blocks.windows(2).all(|w| w[0].1 <= w[1].0), "slot {slot}: {blocks:?}");
    }
    let names: Vec<(u64, &str)> = of(&events, "M")
        .filter(|e| e["name"] == "thread_name")
        .map(|e| (e["tid"].as_u64().unwrap(), e["args"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!(names.iter().map(|n| n.0).collect::<Vec<_>>(), slots.keys().copied().collect::<Vec<_>>());
    assert!(names.contains(&(64, "SM 0 slot 0")) && names.contains(&(64 * 5 + 2, "SM 4 slot 2")), "{names:?}");
    assert_eq!(of(&events, "M").filter(|e| e["name"] == "thread_sort_index").count(), names.len());
    assert_eq!((&about["gpu"], &about["title"]), (&"H100 SXM5 80 GB".into(), &"two kernels".into()));
    assert!(about["note"].is_null() && about["version"].as_str().unwrap().starts_with("wavecast "));
}

#[test]
fn kernels_begin_and_end_and_counters_are_shares() {
    let simulated = pair();
    let (events, _) = events(&trace(&simulated));
    let at = |phase, id: u64| nanos(&of(&events, phase).find(|e| e["id"] == id).unwrap()["ts"]);
    let gap = at("b", 1) - at("e", 0);
    assert!((1499..=1501).contains(&gap), "{gap} ns");
    assert_eq!(at("e", 1), (simulated.outcome.makespan.get() * 1e9).round() as i64);
    assert_eq!(of(&events, "i").count(), 2);
    let mut last: BTreeMap<&str, (i64, f64)> = BTreeMap::new();
    for event in of(&events, "C") {
        let (name, share) = (event["name"].as_str().unwrap(), event["args"]["%"].as_f64().unwrap());
        assert!((0.0..=100.0).contains(&share), "{event}");
        let before = last.insert(name, (nanos(&event["ts"]), share));
        assert!(before.is_none_or(|b| b.0 < nanos(&event["ts"]) && b.1 != share), "{event}");
    }
    assert_eq!(last.keys().copied().collect::<Vec<_>>(), ["DRAM", "arithmetic", "slots filled"]);
    assert!(last.values().all(|end| end.1 == 0.0), "{last:?}");
}

#[test]
fn blocks_that_were_not_kept_are_owned_up_to() {
    let mut simulated = pair();
    simulated.record.blocks.truncate(20);
    let (events, about) = events(&trace(&simulated));
    assert_eq!(of(&events, "X").count(), 20);
    assert_eq!(about["note"], "only the first 20 of 148 blocks to end are here; the counters tell of all");
    assert!(of(&events, "M").any(|e| e["name"] == "process_labels" && e["args"]["labels"] == about["note"]));
}

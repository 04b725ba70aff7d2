//! What a profiled launch is said to be bound by, where its file has no throughput metrics.

use wavecast::{
    gpu::Catalog,
    profile::{ObservedDevice, ObservedKernel, ObservedPipe, device, judge},
    time::Bound,
    units::{Bytes, Seconds},
};

#[test]
fn traffic_alone_names_the_memory_bound_and_nothing_else() {
    let catalog = Catalog::embedded().unwrap();
    let gpu = catalog.find("l4").unwrap().gpu;
    let judged = |bytes: f64| {
        let observed = ObservedKernel {
            duration: Some(Seconds(1e-3)),
            dram_bytes: Some(Bytes(bytes)),
            ..ObservedKernel::default()
        };
        judge(observed, device(&catalog, &ObservedDevice::default(), Some(&gpu))).bound
    };
    let (bound, evidence) = judged(240e6).unwrap();
    assert_eq!((bound, evidence.as_str()), (Bound::Memory, "80 % of the DRAM's peak bandwidth 300 GB/s"));
    assert_eq!((judged(30e6), judged(400e6)), (None, None));
}

#[test]
fn a_launch_above_its_roof_has_a_diagnosis_and_no_bound() {
    let catalog = Catalog::embedded().unwrap();
    let gpu = catalog.find("l4").unwrap().gpu;
    let judged = |flops: f64| {
        let observed = ObservedKernel {
            duration: Some(Seconds(1e-3)),
            dram_bytes: Some(Bytes(1e6)),
            operations: vec![(ObservedPipe::Fp32, flops)],
            ..ObservedKernel::default()
        };
        judge(observed, device(&catalog, &ObservedDevice::default(), Some(&gpu)))
    };
    assert_eq!(judged(25e9).bound.map(|b| b.0), Some(Bound::Math));
    let above = judged(1e12);
    assert!(above.bound.is_none() && !above.points[0].1.is_empty(), "{:?}", above.bound);
}

//! What Nsight Compute stated about 299 real launches (figures from public repositories, named per row) against the
//! recomputed occupancy, block limits and waves. The rows without a driver's share come from the tool's versions of
//! 2019 and 2020, whose shared-memory limit used the SM's maximum instead of the configured carve-out.

use wavecast::{
    gpu::Catalog,
    profile::{Measured, ObservedKernel, device, judge},
    units::Bytes,
};

const LAUNCHES: &str = include_str!("../data/ncu_launches.csv");

#[test]
fn every_figure_of_299_launches() {
    let catalog = Catalog::embedded().unwrap();
    let mut reader = csv::Reader::from_reader(LAUNCHES.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let (mut launches, mut figures) = (0, 0);
    for record in reader.records() {
        let record = record.unwrap();
        let get = |name: &str| &record[headers.iter().position(|h| h == name).unwrap()];
        let count = |name: &str| get(name).parse::<u32>().ok();
        let bytes = |name: &str| get(name).parse().ok().map(|v| Measured { value: Bytes(v), half_width: Bytes(0.0) });
        let mut kernel = ObservedKernel {
            grid_blocks: get("grid_blocks").parse().ok(),
            threads_per_block: count("threads_per_block"),
            registers_per_thread: count("registers_per_thread"),
            static_shared: bytes("static_smem_bytes"),
            dynamic_shared: bytes("dynamic_smem_bytes"),
            driver_shared: bytes("driver_smem_bytes"),
            shared_configuration: bytes("smem_config_bytes"),
            limit_blocks: count("limit_blocks"),
            limit_registers: count("limit_regs"),
            limit_shared: count("limit_smem"),
            limit_warps: count("limit_warps"),
            theoretical_occupancy_pct: get("theoretical_occupancy_pct").parse().ok(),
            waves_per_sm: get("waves_per_sm").parse().ok(),
            ..ObservedKernel::default()
        };
        kernel.device.compute_capability = Some(get("compute_capability").into());
        kernel.device.sm_count = count("sm_count");
        let device = device(&catalog, &kernel.device, None);
        let judged = judge(kernel, device);
        assert_eq!(judged.comparisons.len(), 6, "{record:?}");
        assert!(judged.differences().is_empty(), "{record:?}: {:?}", judged.differences());
        launches += count("launches").unwrap();
        figures += judged.comparisons.len();
    }
    assert_eq!((launches, figures), (299, 123 * 6));
}

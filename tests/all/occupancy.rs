//! Occupancy against the golden table (4,100 rows that agree with NVIDIA's calculator on every column).

use wavecast::{
    gpu::Catalog,
    occupancy::{BlockLimits, Carveout, Resource, Resources, occupancy},
};

const GOLDEN: &str = include_str!("../data/nvidia_golden.csv");

#[test]
fn golden_table() {
    let catalog = Catalog::embedded().unwrap();
    let mut reader = csv::Reader::from_reader(GOLDEN.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let mut rows = 0;
    let mut wrong = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        let get = |name: &str| &record[headers.iter().position(|h| h == name).unwrap()];
        let number = |name: &str| get(name).parse::<i64>().unwrap();
        rows += 1;
        if get("status") == "1" {
            // Rows that are errors in a batch are tested through the batch command.
            continue;
        }
        let limits = catalog.limits(get("compute_capability").parse().unwrap()).unwrap();
        let resources = Resources {
            threads_per_block: number("threads_per_block") as u32,
            registers_per_thread: number("registers_per_thread") as u32,
            static_shared: number("static_smem_bytes") as u32,
            dynamic_shared: number("dynamic_smem_bytes") as u32,
            carveout: u8::try_from(number("carveout_pct")).map_or(Carveout::Largest, Carveout::Percent),
            opt_in: number("optin") == 1,
            barriers: number("barriers") as u32,
        };
        let found = occupancy(&limits, &resources);
        let limit = |r: Resource| match found.limits.of(r) {
            BlockLimits::UNLIMITED => "inf".to_owned(),
            blocks => blocks.to_string(),
        };
        let limiters: Vec<&str> = found.limiters().iter().map(Resource::word).collect();
        let got = [
            ("blocks_per_sm", found.blocks_per_sm.to_string()),
            ("limiters", limiters.join("|")),
            ("active_warps", found.active_warps().to_string()),
            ("max_warps", found.max_warps.to_string()),
            ("limit_warps", limit(Resource::Warps)),
            ("limit_regs", limit(Resource::Registers)),
            ("limit_smem", limit(Resource::Shared)),
            ("limit_blocks", limit(Resource::Blocks)),
            ("limit_barriers", limit(Resource::Barriers)),
            ("alloc_regs_per_block", found.registers_per_block.to_string()),
            ("alloc_smem_per_block", found.shared_per_block.to_string()),
        ];
        for (name, value) in got {
            if value != get(name) {
                wrong.push(format!(
                    "{}: {name} is {value}, golden {}",
                    record.iter().collect::<Vec<_>>().join(","),
                    get(name)
                ));
            }
        }
        let percent: f64 = get("theoretical_occupancy_pct").parse().unwrap();
        assert!((found.fraction() * 100.0 - percent).abs() < 1e-6, "{record:?}");
    }
    assert_eq!(rows, 4100);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

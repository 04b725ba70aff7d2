//! Speed of sweeps: `cargo bench --bench sweep`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::Catalog,
    kernel::Kernel,
    launch::Launch,
    scenario::Scenario,
    schedule::schedule,
    time::{Timing, outline},
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The kernels of the demo, each with 512 grids, in closed form: occupancy, waves, time and bound.
#[divan::bench(args = ["h100-sxm5-80gb", "h200-sxm-141gb"])]
fn kernels(bencher: Bencher, name: &str) {
    let gpu = Catalog::embedded().unwrap().find(name).unwrap().gpu;
    let text = wavecast::scenario::embedded_named("demo").unwrap();
    let scenario = Scenario::parse("demo", text).unwrap();
    let kernels: Vec<Option<Kernel>> = scenario.kernels.iter().map(|spec| Some(spec.build().unwrap().0)).collect();
    bencher.counter(ItemsCount::new(kernels.len() * 512)).with_inputs(|| kernels.clone()).bench_local_values(
        |mut kernels| {
            let mut sum = 0.0;
            for place in &mut kernels {
                for grid in 1..=512_u64 {
                    let kernel = place.take().unwrap();
                    let launch = Launch::new(black_box(&gpu), kernel, grid * 8).unwrap();
                    let waves = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
                    sum += outline(&gpu, &launch, &waves, Timing::Device).estimate.get();
                    *place = Some(launch.kernel);
                }
            }
            (sum, kernels)
        },
    );
}

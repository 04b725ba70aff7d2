//! Speed of sweeps: `cargo bench --bench sweep`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    fit::Prices,
    gpu::Catalog,
    kernel::Kernel,
    launch::Launch,
    scenario::Scenario,
    schedule::schedule,
    sweep::{Batch, Evaluator, Options, Plan, Sweeper, csv},
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

/// A plan from axes and fixed values.
fn plan(op: &str, axes: &[(&str, &str)], fixed: &[(&str, &str)]) -> Plan {
    let own = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let options = Options { axes: own(axes), fixed: own(fixed), ..Options::default() };
    Plan::of(op, (None, None), &options).unwrap()
}

/// A million products: 100 x 100 x 100 shapes.
fn products() -> Plan {
    let axes = [("m", "64:6400:64"), ("n", "64:6400:64"), ("k", "64:6400:64")];
    plan("gemm", &axes, &[("dtype", "bf16"), ("gpu", "h100-sxm5-80gb")])
}

/// Rows of a sweep on one thread, as columns in memory: from the axes to the last result.
#[divan::bench(args = ["gemm", "kernel", "softmax"])]
fn rows(bencher: Bencher, op: &str) {
    const ROWS: u64 = 16_384;
    let (catalog, prices) = (Catalog::embedded().unwrap(), Prices::embedded());
    let gpu = ("gpu", "h100-sxm5-80gb");
    let plan = match op {
        "gemm" => products(),
        "softmax" => plan(op, &[("rows", "1:1000"), ("cols", "64:64000:64")], &[("dtype", "fp16"), gpu]),
        _ => plan(
            op,
            &[("grid", "1:1000"), ("memory.dram.bandwidth", "1 TB/s:4 TB/s:/100")],
            &[("block", "256"), ("work.operations.vector.fp32", "1 GFLOP"), ("traffic.dram.read", "10 MB"), gpu],
        ),
    };
    let mut evaluator = Evaluator::new(&plan, &catalog, &prices);
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| evaluator.rows(0..ROWS).rows);
}

/// The bytes of rows: text against Parquet.
#[divan::bench(args = ["csv", "parquet"])]
fn encode(bencher: Bencher, form: &str) {
    let (catalog, prices, plan) = (Catalog::embedded().unwrap(), Prices::embedded(), products());
    let batch: Batch = Evaluator::new(&plan, &catalog, &prices).rows(0..16_384);
    let columns = wavecast::sweep::columns(&plan);
    let layout = wavecast::sweep::parquet::Layout::new(&columns, 4, &[]).unwrap();
    let bencher = bencher.counter(ItemsCount::new(batch.rows));
    match form {
        "csv" => bencher.bench_local(|| drop(csv::rows(&batch, 4))),
        _ => bencher.bench_local(|| drop(layout.encode(&batch).unwrap())),
    }
}

/// The whole on so many threads: evaluated, encoded as Parquet, handed over in order.
#[divan::bench(args = [1, 2], sample_count = 10)]
fn threads(bencher: Bencher, threads: usize) {
    const ROWS: u64 = 262_144;
    let (catalog, prices, plan) = (Catalog::embedded().unwrap(), Prices::embedded(), products());
    let layout = wavecast::sweep::parquet::Layout::new(&wavecast::sweep::columns(&plan), 4, &[]).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let sweeper = Sweeper::new(&plan, &catalog, &prices);
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        let mut file = layout.file(Vec::new()).unwrap();
        sweeper.run(0..ROWS, &pool, |batch| layout.encode(&batch), |_, group| file.push(group?)).unwrap();
        file.close().unwrap();
    });
}

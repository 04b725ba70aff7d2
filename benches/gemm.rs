//! Speed of the search for the kernel of a matrix product: `cargo bench --bench gemm`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::{Catalog, DataType},
    op::gemm::{Planner, Precision, Reuse, Shape},
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Shapes as in a sweep of a language model's layers: 13 x 13 weights at 36 row counts.
fn shapes() -> Vec<Shape> {
    const SIDES: [u64; 13] = [32, 128, 256, 512, 1024, 2048, 2560, 4096, 5120, 8192, 14336, 28672, 51200];
    let rows = (0..18).flat_map(|e| [1_u64 << e.min(15), (3_u64 << e.min(14)) / 2 + 1]);
    rows.flat_map(|m| SIDES.into_iter().flat_map(move |n| SIDES.map(|k| (m, n, k))))
        .map(|(m, n, k)| Shape::new(1, m, n, k).unwrap())
        .collect()
}

#[divan::bench(args = ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200"])]
fn plan(bencher: Bencher, name: &str) {
    let gpu = Catalog::embedded().unwrap().find(name).unwrap().gpu;
    let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Bf16, false).unwrap()).unwrap();
    let shapes = shapes();
    bencher
        .counter(ItemsCount::new(shapes.len()))
        .bench(|| shapes.iter().map(|shape| planner.plan(black_box(*shape), Reuse::Rotated(6)).time).sum::<f64>());
}

//! Speed of the time model of attention: `cargo bench --bench attention`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::Catalog,
    op::attention::{Model, Phase, Request, Shape},
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Shapes as in a sweep of a language model's layers: heads, groups, lengths and batches.
fn shapes(phase: Phase, window: Option<u64>) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (heads_q, heads_kv) in [(8, 1), (16, 16), (32, 4), (32, 8), (64, 8), (96, 96)] {
        for head_dim in [64, 128, 256] {
            for batch in [1, 3, 8, 64] {
                for length in (6..17).flat_map(|e| [1_u64 << e, (3_u64 << e) / 2 + 1]) {
                    let prefill = Shape::prefill(batch, (heads_q, heads_kv), length, head_dim);
                    let decode = Shape::decode(batch, (heads_q, heads_kv), length, head_dim);
                    let shape = if phase == Phase::Prefill { prefill } else { decode };
                    shapes.push(Shape { window, ..shape }.checked().unwrap());
                }
            }
        }
    }
    shapes
}

fn bench(bencher: Bencher, name: &str, shapes: &[Shape]) {
    let gpu = Catalog::embedded().unwrap().find(name).unwrap().gpu;
    let model = Model::new(&gpu, &Request::default()).unwrap();
    bencher
        .counter(ItemsCount::new(shapes.len()))
        .bench(|| shapes.iter().map(|shape| model.estimate(black_box(shape)).unwrap().time).sum::<f64>());
}

#[divan::bench(args = ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200"])]
fn prefill(bencher: Bencher, name: &str) {
    bench(bencher, name, &shapes(Phase::Prefill, None));
}

#[divan::bench(args = ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200"])]
fn prefill_with_a_window(bencher: Bencher, name: &str) {
    bench(bencher, name, &shapes(Phase::Prefill, Some(1024)));
}

#[divan::bench(args = ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200"])]
fn decode(bencher: Bencher, name: &str) {
    bench(bencher, name, &shapes(Phase::Decode, None));
}

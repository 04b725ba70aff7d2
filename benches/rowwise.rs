//! Speed of element-wise and row-wise estimates: `cargo bench --bench rowwise`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::{Catalog, DataType},
    op::rowwise::{Caller, Model, Operation, What},
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Tensors as in a sweep of a language model's layers.
fn operations(name: &str) -> Vec<Operation> {
    let rows = (0..16).flat_map(|e| [1_u64 << e, 3 << e, 5 << e]);
    let shapes = rows.flat_map(|rows| (5..17).flat_map(move |e| [1_u64 << e, 3 << e]).map(move |cols| (rows, cols)));
    let data = DataType::Fp16;
    let operation = |(rows, cols)| match name {
        "softmax" => Operation::new(What::Softmax, rows, cols, data),
        "layernorm" => Operation::new(What::LayerNorm, rows, cols, data),
        "rmsnorm" => Operation::new(What::RmsNorm, rows, cols, data),
        "reduction" => Operation::new(What::Reduction { full: false }, rows, cols, data),
        kind => Operation::elementwise(kind.parse().unwrap(), rows, cols, data),
    };
    shapes.map(operation).collect::<Result<_, _>>().unwrap()
}

#[divan::bench(args = ["add", "gelu", "silu_and_mul", "softmax", "layernorm", "rmsnorm", "reduction"])]
fn estimate(bencher: Bencher, name: &str) {
    let gpu = Catalog::embedded().unwrap().find("h100-sxm5-80gb").unwrap().gpu;
    let (model, operations) = (Model::new(&gpu).unwrap(), operations(name));
    bencher
        .counter(ItemsCount::new(operations.len()))
        .bench(|| operations.iter().map(|o| model.estimate(black_box(o)).time).sum::<f64>());
}

#[divan::bench(args = ["add", "softmax"])]
fn call(bencher: Bencher, name: &str) {
    let gpu = Catalog::embedded().unwrap().find("v100-pcie-32gb").unwrap().gpu;
    let (model, operations) = (Model::new(&gpu).unwrap(), operations(name));
    let caller = Caller::of("neusight", &gpu).unwrap();
    bencher
        .counter(ItemsCount::new(operations.len()))
        .bench(|| operations.iter().map(|o| model.call(black_box(o), &caller).estimate.time).sum::<f64>());
}

//! Speed of the choice of a convolution's kernels: `cargo bench --bench conv`.

use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use wavecast::{
    gpu::{Catalog, DataType},
    op::{
        conv::{Model, Phase, Shape, Sides},
        gemm::Reuse,
    },
};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Layers as in convolutional networks: every pass, filters of 1, 3 and 7.
fn shapes() -> Vec<Shape> {
    const CHANNELS: [u64; 6] = [3, 32, 64, 256, 512, 2048];
    let sizes = [7, 14, 28, 56, 112, 224].into_iter().flat_map(|side| [1, 3, 7].map(|filter| (side, filter)));
    let channels = move |(side, filter)| CHANNELS.into_iter().flat_map(move |c| CHANNELS.map(|k| (side, filter, c, k)));
    let passes = |(side, filter, c, k)| {
        Phase::ALL.map(|phase| {
            let plain = Shape::new(32, c, Sides::both(side), k, Sides::both(filter));
            Shape { phase, pad: Sides::both(filter / 2), ..plain }.checked().unwrap()
        })
    };
    sizes.flat_map(channels).flat_map(passes).collect()
}

#[divan::bench(args = [("v100-pcie-32gb", DataType::Fp32), ("a100-pcie-80gb", DataType::Fp16), ("h100-sxm5-80gb", DataType::Fp16)])]
fn estimate(bencher: Bencher, (name, input): (&str, DataType)) {
    let gpu = Catalog::embedded().unwrap().find(name).unwrap().gpu;
    let model = Model::new(&gpu, input).unwrap();
    let shapes = shapes();
    bencher
        .counter(ItemsCount::new(shapes.len()))
        .bench(|| shapes.iter().map(|shape| model.estimate(black_box(shape), Reuse::ColdWeights).time).sum::<f64>());
}

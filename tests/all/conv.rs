//! Convolutions and poolings: hand-worked sizes, laws, refusals, and the commands.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavecast::{
    gpu::{ConstantsOf, DataKind, DataType, Gpu},
    op::{
        conv::{Algorithm, Layout, Model, Phase, Request, Shape, Sides, convolution, parameters},
        gemm::Reuse,
        pool,
    },
};

use crate::{
    common::{close, gpu},
    place::Place,
};

fn shape(batch: u64, channels: u64, side: u64, filters: u64, filter: u64) -> Shape {
    Shape::new(batch, channels, Sides::both(side), filters, Sides::both(filter))
}

fn request(shape: Shape, input: DataType) -> Request {
    Request { shape, input, reuse: Reuse::ColdWeights, data: DataKind::Random }
}

#[test]
fn the_first_layer_of_a_residual_network_by_hand() {
    // 224 + 2 x 3 - 7 = 223, / 2 rounded down + 1 = 112.
    let stem = Shape { stride: Sides::both(2), pad: Sides::both(3), ..shape(32, 3, 224, 64, 7) }.checked().unwrap();
    assert_eq!(stem.output(), Sides::both(112));
    let product = stem.product();
    assert_eq!((product.batch, product.m, product.n, product.k), (1, 32 * 112 * 112, 64, 3 * 49));
    assert_eq!(stem.flop(), 2.0 * 401_408.0 * 64.0 * 147.0);
    let back = Shape { phase: Phase::BackwardWeight, ..stem }.product();
    assert_eq!((back.m, back.n, back.k), (64, 147, 401_408));
    let data = Shape { phase: Phase::BackwardData, ..stem }.product();
    // A quarter of the 64 x 49 elements meets each place of the input.
    assert_eq!((data.m, data.n, data.k), (32 * 224 * 224, 3, 784));
    assert_eq!(stem.elements(), [32.0 * 3.0 * 50_176.0, 64.0 * 147.0, 401_408.0 * 64.0]);
}

#[test]
fn groups_and_dilation_by_hand() {
    let grouped = Shape { groups: 32, pad: Sides::both(1), ..shape(8, 128, 56, 256, 3) }.checked().unwrap();
    let product = grouped.product();
    assert_eq!((product.batch, product.m, product.n, product.k), (32, 8 * 56 * 56, 8, 36));
    assert_eq!(grouped.flop(), 2.0 * 25_088.0 * 256.0 * 4.0 * 9.0);
    // A dilated filter of 3 spans 5: 33 - 5 + 1.
    let dilated = Shape { dilation: Sides::both(2), ..shape(1, 8, 33, 8, 3) }.checked().unwrap();
    assert_eq!(dilated.output(), Sides::both(29));
    // A stride beyond the filter leaves pixels out: rows in every layout, columns in NHWC.
    let strided = Shape { stride: Sides::both(2), ..shape(1, 16, 56, 16, 1) };
    assert_eq!(strided.elements()[0], 16.0 * 28.0 * 56.0);
    assert_eq!(Shape { layout: Layout::Nhwc, ..strided }.elements()[0], 16.0 * 28.0 * 28.0);
}

#[test]
fn winograd_blocks_are_those_of_the_measured_grids() {
    // NeuSight, A100 PCIe 80 GB: N=6 C=324 H=W=11 K=582 ran the fused kernel in 114 x 2 blocks; N=47 C=187 H=W=8 K=1622
    // ran 36 products in 2 x 13 tiles of 128 x 128; N=25 C=1905 H=W=9 K=302 in 3 x 3 (images count as 32).
    let gpu = gpu("a100-pcie-80gb");
    let model = Model::new(&gpu, DataType::Fp32).unwrap();
    let blocks = |shape: Shape, algorithm| {
        let shape = Shape { pad: Sides::both(1), ..shape }.checked().unwrap();
        let choices = model.choices(&shape, Reuse::Warm);
        choices.into_iter().flatten().find(|c| c.algorithm == algorithm).unwrap().blocks
    };
    assert_eq!(blocks(shape(6, 324, 11, 582, 3), Algorithm::Fused), 228.0);
    assert_eq!(blocks(shape(47, 187, 8, 1622, 3), Algorithm::Unfused), 36.0 * 26.0);
    assert_eq!(blocks(shape(25, 1905, 9, 302, 3), Algorithm::Unfused), 36.0 * 9.0);
}

#[test]
fn winograd_saves_what_its_name_says() {
    let model = Model::new(&gpu("v100-pcie-32gb"), DataType::Fp32).unwrap();
    let plain = Shape { pad: Sides::both(1), ..shape(32, 64, 56, 64, 3) }.checked().unwrap();
    let ways: Vec<_> = model.choices(&plain, Reuse::Warm).into_iter().flatten().collect();
    for (algorithm, saving) in [(Algorithm::Implicit, 1.0), (Algorithm::Fused, 2.25), (Algorithm::Unfused, 4.0)] {
        let way = ways.iter().find(|w| w.algorithm == algorithm).unwrap();
        close(algorithm.word(), plain.flop() / way.flop, saving, 1e-12);
        assert!(way.padded_flop >= way.flop, "{}", algorithm.word());
    }
    // 36 values for each of 32 x 14 x 14 tiles and 64 channels, in and out, and for each of 64 x 64 filters.
    let unfused = ways.iter().find(|w| w.algorithm == Algorithm::Unfused).unwrap();
    assert_eq!(unfused.workspace, 4.0 * 36.0 * (2.0 * 6272.0 * 64.0 + 64.0 * 64.0));
}

#[test]
fn winograd_is_for_plain_filters_of_three_in_fp32() {
    let ways = |gpu_name: &str, shape: Shape, input| {
        let model = Model::new(&gpu(gpu_name), input).unwrap();
        model.choices(&shape.checked().unwrap(), Reuse::Warm).into_iter().flatten().count()
    };
    let plain = Shape { pad: Sides::both(1), ..shape(32, 64, 56, 64, 3) };
    assert_eq!(ways("v100-pcie-32gb", plain, DataType::Fp32), 3);
    assert_eq!(ways("v100-pcie-32gb", Shape { phase: Phase::BackwardWeight, ..plain }, DataType::Fp32), 2);
    for other in [
        Shape { stride: Sides::both(2), ..plain },
        Shape { dilation: Sides::both(2), ..plain },
        Shape { groups: 2, ..plain },
        Shape { layout: Layout::Nhwc, ..plain },
        Shape { filter: Sides { height: 3, width: 1 }, ..plain },
    ] {
        assert_eq!(ways("v100-pcie-32gb", other, DataType::Fp32), 1, "{other:?}");
    }
    assert_eq!(ways("v100-pcie-32gb", plain, DataType::Fp16), 1);
    assert_eq!(ways("instinct-mi100", plain, DataType::Fp32), 1);
}

#[test]
fn one_by_one_filters_are_the_matrix_product() {
    let gpu = gpu("a100-sxm4-80gb");
    let found = Model::new(&gpu, DataType::Fp16).unwrap();
    let pointwise = Shape { layout: Layout::Nhwc, ..shape(16, 512, 28, 256, 1) }.checked().unwrap();
    let precision = wavecast::op::gemm::Precision::new(&gpu, DataType::Fp16, false).unwrap();
    let planner = wavecast::op::gemm::Planner::new(&gpu, precision).unwrap();
    let product = wavecast::op::gemm::Shape::new(1, 16 * 28 * 28, 256, 512).unwrap();
    let time = planner.plan(product, Reuse::Warm).time;
    assert_eq!(found.estimate(&pointwise, Reuse::Warm).time, time);
    // Channels first costs the turning.
    let first = Shape { layout: Layout::Nchw, ..pointwise };
    assert!(found.estimate(&first, Reuse::Warm).time > 1.2 * time);
}

#[test]
fn halves_without_units_of_their_own_are_calculated_in_fp32() {
    let plain = Shape { pad: Sides::both(1), ..shape(8, 64, 56, 64, 3) };
    let time = |name: &str, input| {
        let model = Model::new(&gpu(name), input).unwrap();
        model.choices(&plain, Reuse::Warm)[0].unwrap().time
    };
    // A GTX 1080 Ti does FP16 at 1/64 of FP32; a P100 at twice FP32.
    let (half, single) = (time("gtx-1080-ti", DataType::Fp16), time("gtx-1080-ti", DataType::Fp32));
    assert!(half < 1.5 * single, "{half} {single}");
    assert!(time("p100-sxm2", DataType::Fp16) < 0.8 * time("p100-sxm2", DataType::Fp32));
}

#[test]
fn depthwise_is_a_stream_and_grouped_is_a_batch() {
    let gpu = gpu("h100-sxm5-80gb");
    let depthwise = Shape { groups: 144, pad: Sides::both(1), layout: Layout::Nhwc, ..shape(32, 144, 56, 144, 3) };
    let found = convolution(&gpu, &request(depthwise, DataType::Fp16)).unwrap();
    assert_eq!(found.choice.algorithm, Algorithm::Depthwise);
    let bytes = 2.0 * (2.0 * 32.0 * 144.0 * 3136.0 + 144.0 * 9.0);
    close("traffic", found.choice.traffic, bytes, 1e-12);
    assert_eq!(found.analysis.verdict.bound.word(), "memory");
    let grouped = Shape { groups: 4, ..depthwise };
    let found = convolution(&gpu, &request(grouped, DataType::Fp16)).unwrap();
    assert_eq!(found.choice.algorithm, Algorithm::Implicit);
}

#[test]
fn channels_that_tensor_cores_do_not_like_are_named() {
    let stem = Shape { stride: Sides::both(2), pad: Sides::both(3), ..shape(32, 3, 224, 64, 7) };
    let left_out = |input| {
        let found = convolution(&gpu("a100-sxm4-80gb"), &request(stem, input)).unwrap();
        found.analysis.verdict.ignored.join("; ")
    };
    assert!(left_out(DataType::Fp16).contains("C = 3 is no multiple of 8"));
    assert!(!left_out(DataType::Fp32).contains("no multiple"));
}

#[test]
fn constants_are_named() {
    let of = |name: &str| Model::new(&gpu(name), DataType::Fp32).unwrap().of(Algorithm::Implicit).clone();
    assert_eq!(of("v100-pcie-32gb"), ConstantsOf::Gpu);
    assert_eq!(of("v100-sxm2-16gb"), ConstantsOf::Family("volta".into()));
    assert_eq!(of("h100-sxm5-80gb"), ConstantsOf::Datasheet);
    assert_eq!(of("a100-sxm4-80gb:3g.40gb"), ConstantsOf::Family("ampere-ga100".into()));
    let why = |name: &str, shape: Shape, input| {
        Model::new(&gpu(name), input).unwrap().unmeasured(&shape).unwrap_or("measured").to_owned()
    };
    let plain = Shape { pad: Sides::both(1), ..shape(32, 64, 56, 64, 3) };
    assert_eq!(why("t4", plain, DataType::Fp32), "measured");
    assert!(why("t4", Shape { pad: Sides::both(0), ..plain }, DataType::Fp32).contains("only forward"));
    assert!(why("l4", plain, DataType::Fp32).contains("this family"));
    assert!(why("t4", plain, DataType::Fp16).contains("this type"));
}

#[test]
fn rows_are_read_or_say_what_is_wrong() {
    let good = "N=38;C=893;H=5;W=7;K=326;R=3;S=1;stride=1;pad=1x0;dil=1;groups=1;layout=NCHW";
    let found = parameters(good, "bwd_data").unwrap();
    let image = Sides { height: 5, width: 7 };
    let expected = Shape::new(38, 893, image, 326, Sides { height: 3, width: 1 });
    assert_eq!(found, Shape { pad: Sides { height: 1, width: 0 }, phase: Phase::BackwardData, ..expected });
    for (text, phase, message) in [
        ("N=1;C=1;H=1;W=1;K=1;R=1", "", "S is absent"),
        ("N=1;N=1", "", "N is given twice"),
        ("N=-1", "", "N = `-1` is no whole number"),
        ("N=1;pad=a", "", "pad: `a` is no whole number"),
        ("N=1;colour=3", "", "`colour` is no key"),
        ("N1", "", "`N1` is no KEY=VALUE"),
        ("N=1;layout=CHWN", "", "layout `CHWN`: write NCHW or NHWC"),
        (good, "forward", "phase = `forward`: write fwd, bwd_data or bwd_weight"),
        ("N=1;C=1;H=1;W=1;K=1;R=2;S=1", "", "larger than the padded input: R = 2"),
    ] {
        let error = parameters(text, phase).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn bad_input_is_refused_with_its_cure() {
    let place = Place::new();
    let plain = ["1", "64", "5", "5", "64", "3"];
    for (change, words) in [
        (&["--pad", "-1"][..], "`-1` is no whole number from 0 up"),
        (&["--stride", "0"], "stride = 0: the filter moves by 1 or more pixels"),
        (&["--stride", "2x0"], "stride = 0"),
        (&["--dilation", "0"], "dilation = 0: elements of the filter are 1 or more pixels apart"),
        (&["--groups", "3"], "groups = 3 does not divide C = 64; numbers that do: 1, 2, 4, 8"),
        (&["--groups", "0"], "groups = 0"),
        (&["--dilation", "3"], "R = 7 rows or columns with dilation, H = 5 with padding; pad by 1 more on each side"),
        (&["--dtype", "fp4"], "fp4 convolutions are not known"),
        (&["--dtype", "bf16", "--gpu", "v100-sxm2-16gb"], "V100 SXM2 16 GB has no BF16 tensor unit"),
        (&["--gpu", "epyc-9654"], "is a CPU"),
        (&["--layout", "CHWN"], "layout `CHWN`: write NCHW or NHWC"),
    ] {
        place.refused(&[&["conv"], &plain[..], change].concat(), &[words]);
    }
    for (sizes, words) in [
        (["0", "64", "5", "5", "64", "3"], "N = 0"),
        (["1", "64", "5", "5", "64", "7"], "R = 7 rows or columns with dilation, H = 5"),
        (["4000000000", "64", "5", "5", "64", "3"], "at most 2147483648"),
        (["2000000000", "64", "50", "50", "64", "3"], "N x P x Q"),
    ] {
        place.refused(&[&["conv"], &sizes[..]].concat(), &[words]);
    }
}

#[test]
fn pools_stream_and_refuse() {
    let place = Place::new();
    let text = place.out(&["pool", "32", "64", "112", "112", "3", "--stride", "2", "--pad", "1", "--dtype", "fp16"]);
    // 2 bytes of 32 x 64 x (112^2 + 56^2) elements.
    assert!(text.contains("memory-bound") && text.contains("61.25 MiB") && text.contains("output 56 x 56"), "{text}");
    for (words, message) in [
        (&["1", "1", "8", "8", "2", "--pad", "2"][..], "pad = 2 is more than half the window of 2"),
        (&["1", "1", "8", "8", "0"], "R = 0"),
        (&["1", "1", "8", "8", "9"], "larger than the padded input"),
        (&["1", "1", "8", "8", "2", "--stride", "0"], "stride = 0"),
        (&["1", "1", "8", "8", "2", "--dtype", "fp8"], "fp8 has no pooling"),
        (&["1", "1", "8", "8", "2", "--kind", "min"], "write max or avg"),
    ] {
        place.refused(&[&["pool"], words].concat(), &[message]);
    }
}

/// GPUs with constants of each kind, with their models of FP32 and of FP16.
static MODELS: LazyLock<Vec<(Gpu, Model, Model)>> = LazyLock::new(|| {
    let of = |name| {
        let gpu = gpu(name);
        let model = |input| Model::new(&gpu, input).unwrap();
        let models = (model(DataType::Fp32), model(DataType::Fp16));
        (gpu.clone(), models.0, models.1)
    };
    ["a100-pcie-80gb", "p100-pcie-16gb", "t4", "h100-sxm5-80gb"].map(of).into()
});

#[test]
fn the_guide_s_pooling_has_2_25_operations_per_byte() {
    // NVIDIA's GPU performance background guide: max pooling, 3 x 3 window and unit stride, in 16 bits.
    let both = Sides::both;
    let (window, stride, pad, image) = (both(3), both(1), both(1), both(56));
    let shape =
        pool::Shape { batch: 8, channels: 64, image, window, stride, pad, kind: pool::Kind::Max, backward: false };
    let found = pool::pooling(&gpu("v100-sxm2-16gb"), &shape, DataType::Fp16).unwrap();
    let intensity = found.launch.kernel.intensity(wavecast::kernel::Level::Dram).unwrap();
    close("intensity", intensity.get(), 2.25, 1e-12);
}

proptest! {
    #[test]
    fn times_are_positive_finite_and_grow(
        batch in 1_u64..40, channels in 1_u64..300, side in 3_u64..80, filters in 1_u64..300,
        phase in 0_usize..3, filter in 1_u64..4, stride in 1_u64..3, name in 0_usize..4, half in any::<bool>()
    ) {
        let (gpu, single, halves) = &MODELS[name];
        let model = if half { halves } else { single };
        let of = |batch, channels, filters| {
            let plain = shape(batch, channels, side, filters, filter);
            let shape = Shape { phase: Phase::ALL[phase], stride: Sides::both(stride), ..plain }.checked().unwrap();
            model.estimate(&shape, Reuse::ColdWeights)
        };
        let now = of(batch, channels, filters);
        prop_assert!(now.time.is_finite() && now.time > 0.0);
        prop_assert!(now.low < now.time && now.time < now.high);
        prop_assert!(now.bytes / gpu.memory.dram.bandwidth.get() <= now.time * 8.0);
        // Another tile may suit the larger one better; where SMs are idle, more blocks draw more bandwidth.
        let least = if now.blocks < f64::from(gpu.units()) { 0.5 } else { 0.97 };
        for larger in [of(batch * 4, channels, filters), of(batch, channels * 4, filters), of(batch, channels, filters * 4)] {
            prop_assert!(larger.time >= least * now.time, "{} after {}", larger.time, now.time);
        }
    }
}

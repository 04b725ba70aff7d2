//! STREAM bandwidths (te42kyfo/gpu-benches@1c36d50, gpu-stream) against the model. The families of A40 and V100 took
//! their DRAM share from the scale figure; the others took theirs from matrix products. The bounds state what is
//! reached; they may only shrink.

use wavecast::{
    analysis::analyse,
    gpu::{Catalog, Pipe},
    kernel::{Access, Concurrency, Kernel, Traffic},
    occupancy::Resources,
    time::Timing,
    units::{Bytes, Flops},
};

/// GPU, measured GB/s of scale (a = s b) and triad (a = b + s c) over doubles, largest error in percent.
const MEASURED: [(&str, f64, f64, f64); 6] = [
    ("a100-sxm4-40gb", 1381.0, 1360.0, 15.0),
    ("a100-sxm4-80gb", 1732.0, 1759.0, 14.5),
    ("a40", 652.0, 653.0, 2.0),
    ("h100-pcie-80gb", 1704.0, 1832.0, 11.0),
    ("h200-sxm-141gb", 3165.0, 3534.0, 17.0),
    ("v100-pcie-32gb", 802.0, 814.0, 4.0),
];

fn modelled(gpu: &str, arrays_read: f64) -> f64 {
    let gpu = Catalog::embedded().unwrap().find(gpu).unwrap().gpu;
    let (blocks, threads) = (1_u64 << 20, 256_u32);
    let elements = blocks as f64 * f64::from(threads);
    let (read, write) = (Bytes(8.0 * arrays_read * elements), Bytes(8.0 * elements));
    let kernel = Kernel {
        name: "stream".into(),
        resources: Resources { threads_per_block: threads, registers_per_thread: 16, ..Default::default() },
        operations: vec![("vector.fp64".parse::<Pipe>().unwrap(), Flops(arrays_read * elements))],
        warp_instructions: None,
        traffic: Traffic { dram: Access { read, write, ..Default::default() }, ..Default::default() },
        concurrency: Concurrency { bytes_in_flight: 8.0 * arrays_read, ..Default::default() },
        tiled: None,
    };
    let analysis = analyse(&gpu, kernel, blocks, Timing::Device).unwrap();
    (read + write).get() / analysis.time.estimate.get() / 1e9
}

#[test]
fn stream_bandwidths() {
    for (gpu, scale, triad, most) in MEASURED {
        let errors = [modelled(gpu, 1.0) / scale - 1.0, modelled(gpu, 2.0) / triad - 1.0].map(|e| e * 100.0);
        println!(
            "{gpu}: scale {:.0} ({:+.1} %), triad {:.0} ({:+.1} %)",
            modelled(gpu, 1.0),
            errors[0],
            modelled(gpu, 2.0),
            errors[1]
        );
        assert!(errors.iter().all(|e| e.abs() <= most), "{gpu}: {errors:?}");
    }
}

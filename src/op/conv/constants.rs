//! The constants of convolutions, and which of them a GPU gets.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{
    gpu::{Band, ComputeCapability, ConstantsOf, Gpu, Limits},
    units::Cycles,
};

/// Shares of datasheet figures that FP32 convolutions sustain on one GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// GPU that was measured.
    pub gpu: String,
    /// The family.
    pub name: String,
    /// Its capabilities.
    pub compute_capabilities: Vec<ComputeCapability>,
    /// Implicit GEMM: share of the FP32 peak.
    pub implicit: f64,
    /// Fused Winograd: share of the FP32 peak.
    pub fused: f64,
    /// Products of the non-fused Winograd: share of the FP32 peak.
    pub product: f64,
    /// Transforms: share of the DRAM bandwidth.
    pub transform: f64,
    /// Tiles of the products.
    pub product_tiles: Vec<[u32; 2]>,
    /// Measured over predicted time.
    pub band: Band,
    /// How they were obtained.
    pub source: String,
}

/// Where nobody measured; shares of what a matrix product sustains.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    implicit: f64,
    fused: f64,
    product: f64,
    transform: f64,
    product_tiles: Vec<[u32; 2]>,
    band: Band,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bands {
    other_gpu: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    block_cost: Cycles,
    channel_latency: Cycles,
    image_multiple: u64,
    implicit_tiles: Vec<[u32; 2]>,
    elsewhere: Elsewhere,
    bands: Bands,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    band: Band,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: u32,
    shared: Shared,
    other_types: Other,
    family: Vec<Family>,
}

/// The file, read when first asked for. It is part of the program and read in its tests.
static FILE: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../gpus/operations/convolution.toml")).expect("the embedded constants are valid")
});

/// The constants of convolutions on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Implicit GEMM: share of the FP32 peak.
    pub implicit: f64,
    /// Fused Winograd: share of the FP32 peak.
    pub fused: f64,
    /// Products of the non-fused Winograd: share of the FP32 peak.
    pub product: f64,
    /// Transforms: share of the DRAM bandwidth.
    pub transform: f64,
    /// Tiles of the products, height in tiles of the output, width in filters.
    pub product_tiles: Vec<[u32; 2]>,
    /// Tiles of implicit GEMM, height in pixels of the output, width in filters.
    pub implicit_tiles: Vec<[u32; 2]>,
    /// Cost of a block of the fused kernel besides its arithmetic, in cycles of the vector clock.
    pub block_cost: Cycles,
    /// Least time of a channel of the fused kernel, in cycles of the vector clock.
    pub channel_latency: Cycles,
    /// Images are filled up to a multiple of this in the products of the non-fused kernels.
    pub image_multiple: u64,
    /// Measured over predicted time of FP32.
    pub band: Band,
    /// The same of other types and passes, which nobody measured.
    pub band_other: Band,
    /// Whose constants of FP32.
    pub of: ConstantsOf,
}

impl Constants {
    /// The constants of a GPU; a slice has those of the whole GPU.
    pub fn of(gpu: &Gpu) -> Self {
        let file = &*FILE;
        let id = gpu.mig.as_ref().map_or(&gpu.id, |slice| &slice.gpu);
        let capability = match &gpu.limits {
            Limits::Sm(sm) => Some(sm.compute_capability),
            Limits::Cu(_) | Limits::Core => None,
        };
        let own = file.family.iter().find(|f| f.gpu == *id);
        let family = file.family.iter().find(|f| capability.is_some_and(|c| f.compute_capabilities.contains(&c)));
        let Shared { block_cost, channel_latency, image_multiple, ref implicit_tiles, ref elsewhere, ref bands } =
            file.shared;
        let of_family = |f: &Family, band, of| Self {
            implicit: f.implicit,
            fused: f.fused,
            product: f.product,
            transform: f.transform,
            product_tiles: f.product_tiles.clone(),
            implicit_tiles: implicit_tiles.clone(),
            block_cost,
            channel_latency,
            image_multiple,
            band,
            band_other: file.other_types.band,
            of,
        };
        match (own, family) {
            (Some(own), _) => of_family(own, own.band, ConstantsOf::Gpu),
            (None, Some(f)) => of_family(f, f.band.widened(bands.other_gpu), ConstantsOf::Family(f.name.clone())),
            (None, None) => {
                let sustained = gpu.calibration.sustained_sgemm;
                Self {
                    implicit: elsewhere.implicit * sustained,
                    fused: elsewhere.fused * sustained,
                    product: elsewhere.product * sustained,
                    transform: elsewhere.transform,
                    product_tiles: elsewhere.product_tiles.clone(),
                    implicit_tiles: implicit_tiles.clone(),
                    block_cost,
                    channel_latency,
                    image_multiple,
                    band: elsewhere.band,
                    band_other: file.other_types.band,
                    of: ConstantsOf::Datasheet,
                }
            }
        }
    }
}

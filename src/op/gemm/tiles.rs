//! The tiles that libraries have kernels for, and how often k can be split.

use super::Precision;
use crate::{
    gpu::{Gpu, Pipe, Pipeline},
    occupancy::{Resources, occupancy},
};

/// Tiles of kernels whose threads load (cp.async): height x width of the output.
const CLASSIC: [(u32, u32); 16] = [
    (256, 128),
    (128, 256),
    (128, 128),
    (256, 64),
    (64, 256),
    (128, 64),
    (64, 128),
    (64, 64),
    (32, 128),
    (128, 32),
    (32, 64),
    (64, 32),
    (16, 64),
    (16, 128),
    (64, 16),
    (128, 16),
];

/// One side of the tiles of persistent kernels.
const SIDES: [u32; 3] = [64, 128, 256];
/// The other side.
const OTHER_SIDES: [u32; 10] = [8, 16, 32, 64, 96, 128, 160, 192, 224, 256];
/// Most elements of such a tile.
const MOST_ELEMENTS: u32 = 1 << 15;

/// No GPU has more tiles.
pub const MOST_TILES: usize = 44;

/// Ways of splitting k.
pub const SPLITS: [u32; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32];

/// Bytes of a row of an operand tile in one step of the k-loop, whatever the type.
pub const STEP_BYTES: f64 = 128.0;

/// To how many elements kernels fill up k: those of vector units take 8 at a time, those of tensor cores in whole steps.
pub fn padding(precision: &Precision) -> f64 {
    match precision.pipe {
        Pipe::Tensor { .. } => STEP_BYTES / precision.input_bytes,
        _ => 8.0,
    }
}

/// Height and width of a tile, such as 256x128.
///
/// # Errors
/// It is written otherwise.
pub fn sides(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X']).and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    sides.ok_or_else(|| format!("`{text}`: write HEIGHTxWIDTH, such as 256x128"))
}

/// A tile of the output with what its block asks of an SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// What one block asks of an SM.
    pub resources: Resources,
    /// Resident blocks per SM.
    pub per_sm: u32,
}

/// The tiles of a GPU's kernels, in the order in which ties are broken.
pub fn tiles(gpu: &Gpu, pipeline: Pipeline) -> Vec<Tile> {
    let sides: Vec<(u32, u32)> = match pipeline {
        Pipeline::Classic => CLASSIC.to_vec(),
        Pipeline::Persistent => {
            let mut all = Vec::new();
            for (a, b) in SIDES.into_iter().flat_map(|a| OTHER_SIDES.map(|b| (a, b))) {
                for tile in [(a, b), (b, a)] {
                    if a * b <= MOST_ELEMENTS && !all.contains(&tile) {
                        all.push(tile);
                    }
                }
            }
            all
        }
    };
    sides.into_iter().map(|(height, width)| tile(gpu, pipeline, height, width)).collect()
}

/// Most registers of a thread in these kernels.
const MOST_REGISTERS: u32 = 255;

/// A tile with the resources of its kernel: a thread of a classic block holds its share of the accumulators and 64
/// registers besides, and two stages of both operands are in shared memory; a persistent block has an SM to itself.
pub fn tile(gpu: &Gpu, pipeline: Pipeline, height: u32, width: u32) -> Tile {
    let elements = height * width;
    let stage = (STEP_BYTES as u32) * (height + width);
    // Where two stages do not fit, kernels take shorter ones.
    let most_shared = gpu.limits.max_shared(true);
    let resources = match pipeline {
        Pipeline::Classic => {
            let warps = if elements > 16_384 { 8 } else { 4 };
            Resources {
                threads_per_block: warps * 32,
                registers_per_thread: (elements / (warps * 32) + 64).min(MOST_REGISTERS),
                dynamic_shared: (2 * stage).min(most_shared),
                ..Resources::default()
            }
        }
        Pipeline::Persistent => Resources {
            threads_per_block: 384,
            registers_per_thread: 168,
            dynamic_shared: (4 * stage).min(most_shared),
            ..Resources::default()
        },
    };
    let per_sm = occupancy(&gpu.limits, &resources).blocks_per_sm.max(1);
    Tile { height, width, resources, per_sm }
}

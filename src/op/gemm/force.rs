//! Tile and split by order instead of by search.

use super::{SPLITS, Tile};

/// What of a kernel is given; the rest is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Force {
    /// Height and width of the tile.
    pub tile: Option<(u32, u32)>,
    /// Shares into which k is cut; a k of fewer steps is cut into its steps.
    pub splits: Option<u32>,
}

/// A kernel that no library has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForceError {
    /// A tile that is not among those of the GPU's kernels.
    #[error("there is no kernel with tiles of {height}x{width}; those of this GPU are {known}")]
    Tile {
        /// Rows asked for.
        height: u32,
        /// Columns asked for.
        width: u32,
        /// The tiles that there are.
        known: String,
    },
    /// A number of shares beyond those that are searched.
    #[error("k cut into {splits} shares: take from 1 to {most}")]
    Splits {
        /// Shares asked for.
        splits: u32,
        /// Most shares.
        most: u32,
    },
}

/// Those of the tiles that are left to search.
pub(super) fn forced(tiles: &[Tile], force: Force) -> Result<Vec<Tile>, ForceError> {
    let most = SPLITS[SPLITS.len() - 1];
    if let Some(splits) = force.splits.filter(|s| !(1..=most).contains(s)) {
        return Err(ForceError::Splits { splits, most });
    }
    let Some((height, width)) = force.tile else { return Ok(tiles.to_vec()) };
    match tiles.iter().find(|t| (t.height, t.width) == (height, width)) {
        Some(tile) => Ok(vec![*tile]),
        None => {
            let known: Vec<String> = tiles.iter().map(|t| format!("{}x{}", t.height, t.width)).collect();
            Err(ForceError::Tile { height, width, known: known.join(", ") })
        }
    }
}

//! Figures as SVG, PNG and CSV: plain data in, bytes out; the same bytes on every machine (SVG and CSV).
//!
//! Each figure is a struct of numbers with `draw(&self, Theme) -> Chart`. Nothing here knows the model:
//! the caller decides what is a roof, a point or a term, and the figure decides where ink goes.

mod axis;
mod bandwidth;
mod before_after;
mod canvas;
mod data;
pub mod figures;
mod font;
mod geometry;
mod labels;
mod lengths;
mod memory;
mod occupancy;
mod page;
mod palette;
#[cfg(feature = "png")]
mod png;
pub mod points;
mod race;
mod roofline;
mod shares;
mod side_by_side;
mod svg;
mod sweep;
mod tail;
mod terms;
#[cfg(test)]
mod tests;
mod timeline;
mod validation;
mod widths;

pub use bandwidth::{Bandwidth, BandwidthSample, BandwidthSeries};
pub use before_after::{BeforeAfter, Change};
pub use font::{FONT_BOLD, FONT_REGULAR};
pub use lengths::{LengthLine, Lengths};
pub use memory::{MemoryBar, MemoryBars, MemoryRun, MemorySteps};
pub use occupancy::{OccupancyPanels, Panel};
pub use palette::Theme;
pub use race::{Race, RaceSample};
pub use roofline::{Bound, ComputeRoof, MeasuredRoof, MemoryRoof, PointKind, Roofline, RooflinePoint};
pub use shares::{KernelShare, Share, ShareBar, Shares};
pub use side_by_side::{KernelBars, SideBySide, TimeBar};
pub use sweep::{MOST_SERIES, Sweep, SweepSample, SweepSeries};
pub use tail::{Tail, TailSample};
pub use terms::{KernelTerms, TimeBreakdown};
pub use timeline::{Timeline, TimelineBlock, TimelineKernel, TimelineMark, TimelineUse};
pub use validation::{
    ErrorBin, ErrorBySize, ErrorSeries, FEWEST_OF_BAND, MOST_PANELS, Scatter, ScatterPoint, ScatterSeries,
};

/// Words around a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// What the figure shows, bold at the top left.
    pub title: String,
    /// Name of the GPU, in the footer.
    pub gpu: String,
    /// What was assumed, one short phrase each, in the footer.
    pub assumptions: Vec<String>,
    /// Version of Wavecast that drew it, such as `0.1.0`, in the footer.
    pub version: String,
}

/// Why a chart could not be written in the wanted form.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The scale gives no picture that can be held in memory.
    #[error("scale {scale} gives a picture of {width} x {height} px: choose one from 0.1 up to a side of 16,384 px")]
    Scale {
        /// Pixels per SVG unit, as asked for.
        scale: f32,
        /// Width that it would give, in pixels.
        width: u32,
        /// Height that it would give, in pixels.
        height: u32,
    },
    /// The rasteriser refused the SVG or the PNG could not be encoded.
    #[error("the chart could not be drawn as PNG: {0}")]
    Raster(String),
}

/// A finished figure with the data behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    svg: String,
    csv: String,
}

impl Chart {
    /// The figure as an SVG document.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The numbers in the figure as CSV, with units in the column names.
    pub fn csv(&self) -> &str {
        &self.csv
    }

    /// The figure as PNG bytes with `scale` pixels per SVG unit, in the embedded fonts only.
    #[cfg(feature = "png")]
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, ChartError> {
        png::rasterise(&self.svg, scale)
    }
}

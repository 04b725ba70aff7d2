//! A convolution by its sizes: what is legal, and the matrix product that it is.

use std::str::FromStr;

use super::{
    ConvError,
    products::{Products, divisors},
};
use crate::op::gemm;

/// Which of the three passes of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// The output of input and filter.
    #[default]
    Forward,
    /// The gradient of the input, from those of the output and the filter.
    BackwardData,
    /// The gradient of the filter, from that of the output and the input.
    BackwardWeight,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 3] = [Self::Forward, Self::BackwardData, Self::BackwardWeight];

    /// The word used in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Forward => "fwd",
            Self::BackwardData => "bwd_data",
            Self::BackwardWeight => "bwd_weight",
        }
    }
}

impl FromStr for Phase {
    type Err = ConvError;

    fn from_str(text: &str) -> Result<Self, ConvError> {
        Self::ALL.into_iter().find(|phase| phase.word() == text).ok_or_else(|| ConvError::Phase { input: text.into() })
    }
}

/// Order of the dimensions in memory, the last one contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// Images of whole channels.
    #[default]
    Nchw,
    /// Pixels of all channels.
    Nhwc,
}

impl Layout {
    /// The word used in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nchw => "NCHW",
            Self::Nhwc => "NHWC",
        }
    }
}

impl FromStr for Layout {
    type Err = ConvError;

    fn from_str(text: &str) -> Result<Self, ConvError> {
        [Self::Nchw, Self::Nhwc]
            .into_iter()
            .find(|layout| layout.word().eq_ignore_ascii_case(text))
            .ok_or_else(|| ConvError::Layout { input: text.into() })
    }
}

/// A number for the height and one for the width, such as strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// Along H.
    pub height: u64,
    /// Along W.
    pub width: u64,
}

impl Sides {
    /// The same along both.
    pub fn both(value: u64) -> Self {
        Self { height: value, width: value }
    }

    /// Both numbers.
    pub fn each(self) -> [u64; 2] {
        [self.height, self.width]
    }
}

impl std::fmt::Display for Sides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.height == self.width {
            write!(f, "{}", self.height)
        } else {
            write!(f, "{}x{}", self.height, self.width)
        }
    }
}

impl FromStr for Sides {
    type Err = String;

    /// One number for both sides, or HEIGHTxWIDTH.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse().ok();
        let sides = match text.split_once(['x', 'X']) {
            Some((height, width)) => number(height).zip(number(width)),
            None => number(text).map(|both| (both, both)),
        };
        let (height, width) = sides
            .ok_or_else(|| format!("`{text}` is no whole number from 0 up; write 2, or 2x1 for height and width"))?;
        Ok(Self { height, width })
    }
}

/// A convolution by its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images (N).
    pub batch: u64,
    /// Channels of the input (C).
    pub channels: u64,
    /// Rows and columns of the input (H, W).
    pub image: Sides,
    /// Channels of the output: filters (K).
    pub filters: u64,
    /// Rows and columns of a filter (R, S).
    pub filter: Sides,
    /// Pixels between two places of the filter.
    pub stride: Sides,
    /// Rows and columns of zeros on each side of the input.
    pub pad: Sides,
    /// Pixels between two elements of the filter.
    pub dilation: Sides,
    /// Groups of channels that are convolved by themselves.
    pub groups: u64,
    /// Order in memory.
    pub layout: Layout,
    /// The pass.
    pub phase: Phase,
}

/// Most of any size: products of two stay below 2^64.
const MOST: u64 = 1 << 31;

/// The sides of image, filter and steps as names.
const SIDES: [(&str, &str); 2] = [("H", "R"), ("W", "S")];

impl Shape {
    /// A forward convolution in NCHW with stride 1, dilation 1, one group and no padding; unchecked.
    pub fn new(batch: u64, channels: u64, image: Sides, filters: u64, filter: Sides) -> Self {
        Self {
            batch,
            channels,
            image,
            filters,
            filter,
            stride: Sides::both(1),
            pad: Sides::both(0),
            dilation: Sides::both(1),
            groups: 1,
            layout: Layout::default(),
            phase: Phase::default(),
        }
    }

    /// The shape, checked.
    ///
    /// # Errors
    /// A size, stride or dilation is 0, a size is above 2^31, the groups do not divide both channels, the filter is
    /// larger than the padded input, or the matrix product is one that no GPU does.
    pub fn checked(self) -> Result<Self, ConvError> {
        let once = "a convolution has at least one";
        let step = "the filter moves by 1 or more pixels";
        let apart = "elements of the filter are 1 or more pixels apart (1 is an ordinary filter)";
        let [stride, pad, dilation] = [self.stride, self.pad, self.dilation];
        for (field, value, least, rule) in [
            ("N", self.batch, 1, once),
            ("C", self.channels, 1, once),
            ("H", self.image.height, 1, once),
            ("W", self.image.width, 1, once),
            ("K", self.filters, 1, once),
            ("R", self.filter.height, 1, once),
            ("S", self.filter.width, 1, once),
            ("groups", self.groups, 1, once),
            ("stride", stride.height.min(stride.width), 1, step),
            ("dilation", dilation.height.min(dilation.width), 1, apart),
            ("stride", stride.height.max(stride.width), 1, step),
            ("dilation", dilation.height.max(dilation.width), 1, apart),
            ("pad", pad.height.max(pad.width), 0, once),
        ] {
            if value < least {
                return Err(ConvError::Zero { field, rule });
            }
            if value > MOST {
                return Err(ConvError::Large { field, value, most: MOST });
            }
        }
        for (field, value) in [("C", self.channels), ("K", self.filters)] {
            if value % self.groups != 0 {
                let near = divisors(self.channels, self.filters, self.groups);
                return Err(ConvError::Groups { groups: self.groups, field, value, near });
            }
        }
        for (side, (image, filter)) in SIDES.into_iter().enumerate() {
            let (extent, padded) = (self.extent(side), self.image.each()[side] + 2 * pad.each()[side]);
            if extent > padded {
                let more = (extent - padded).div_ceil(2);
                return Err(ConvError::Filter { filter, extent, image, padded, more });
            }
        }
        let pixels = |sides: Sides| sides.height as f64 * sides.width as f64 * self.batch as f64;
        let counts = [
            ("N x P x Q", pixels(self.output())),
            ("N x H x W", pixels(self.image)),
            ("C x R x S", self.channels as f64 * pixels(self.filter) / self.batch as f64),
            ("K x R x S", self.filters as f64 * pixels(self.filter) / self.batch as f64),
        ];
        let most = 1 << 40;
        if let Some((field, value)) = counts.into_iter().find(|(_, count)| *count > most as f64) {
            return Err(ConvError::Large { field, value: value as u64, most });
        }
        let product = self.product();
        gemm::Shape::new(product.batch, product.m, product.n, product.k)?;
        Ok(self)
    }

    /// Rows (side 0) or columns (side 1) that a dilated filter spans.
    fn extent(&self, side: usize) -> u64 {
        self.dilation.each()[side] * (self.filter.each()[side] - 1) + 1
    }

    /// Rows and columns of the output (P, Q).
    pub fn output(&self) -> Sides {
        let of = |side: usize| {
            (self.image.each()[side] + 2 * self.pad.each()[side] - self.extent(side)) / self.stride.each()[side] + 1
        };
        Sides { height: of(0), width: of(1) }
    }

    /// Whether each group has one channel of the input: every filter sees one.
    pub fn is_depthwise(&self) -> bool {
        self.groups == self.channels && self.groups > 1
    }

    /// Pixels of all images of the output.
    pub fn output_pixels(&self) -> f64 {
        let Sides { height, width } = self.output();
        self.batch as f64 * height as f64 * width as f64
    }

    /// Elements of the input that the filter touches, of the filter, and of the output.
    pub fn elements(&self) -> [f64; 3] {
        let out = self.output();
        // Strides beyond the filter leave rows out, and in NHWC columns.
        let touched = |side: usize| {
            let (places, image) = (out.each()[side], self.image.each()[side]);
            let skips = self.stride.each()[side] > self.extent(side) && (side == 0 || self.layout == Layout::Nhwc);
            if skips { (places * self.filter.each()[side]).min(image) as f64 } else { image as f64 }
        };
        let taps = self.filter.height as f64 * self.filter.width as f64;
        let filter = self.filters as f64 * (self.channels / self.groups) as f64 * taps;
        let input = self.batch as f64 * self.channels as f64 * touched(0) * touched(1);
        [input, filter, self.output_pixels() * self.filters as f64]
    }

    /// Operations by the direct count, 2 N K P Q (C / groups) R S, in every phase; multiplications with padding are
    /// counted.
    pub fn flop(&self) -> f64 {
        let taps = self.filter.height as f64 * self.filter.width as f64;
        2.0 * self.output_pixels() * self.filters as f64 * (self.channels / self.groups) as f64 * taps
    }

    /// The matrix product that the convolution is, one per group: forward M = N P Q, N = K, K = C R S; backward data
    /// M = N H W, N = C, K = K R S / stride^2; backward weight M = K, N = C R S, K = N P Q.
    pub fn product(&self) -> gemm::Shape {
        let (c, k) = (self.channels / self.groups, self.filters / self.groups);
        let taps = self.filter.height * self.filter.width;
        let pixels = |sides: Sides| self.batch * sides.height * sides.width;
        let batch = self.groups;
        match self.phase {
            Phase::Forward => gemm::Shape { batch, m: pixels(self.output()), n: k, k: c * taps },
            Phase::BackwardData => {
                let m = pixels(self.image);
                // Each place of the input sees one in stride^2 elements of the filter.
                let depth = self.output_pixels() * k as f64 * taps as f64 / m as f64;
                gemm::Shape { batch, m, n: c, k: depth.ceil().max(1.0) as u64 }
            }
            Phase::BackwardWeight => gemm::Shape { batch, m: k, n: c * taps, k: pixels(self.output()) },
        }
    }

    /// The product with what of it is in memory: an element of the image stands in up to R S places of the matrix.
    pub fn products(&self) -> Products {
        let [input, filter, output] = self.elements();
        // B, then A.
        let stored = match self.phase {
            Phase::Forward => [filter, input],
            Phase::BackwardData => [filter, output],
            Phase::BackwardWeight => [input, output],
        };
        Products { shape: self.product(), stored }
    }

    /// Elements that the pass reads, and that it writes.
    pub fn moved(&self) -> [f64; 2] {
        let [input, filter, output] = self.elements();
        match self.phase {
            Phase::Forward => [input + filter, output],
            Phase::BackwardData => [output + filter, input],
            Phase::BackwardWeight => [input + output, filter],
        }
    }
}

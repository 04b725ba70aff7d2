//! How many tokens each expert gets.

use std::str::FromStr;

use super::{MoeError, Shape};

/// How tokens are spread over the experts.
#[derive(Clone, Debug, PartialEq)]
pub enum Routing {
    /// The same number for each, as far as that goes.
    Balanced,
    /// A power law with this exponent, in a fixed pseudo-random order of the experts: 1.01 and 1.2 are common in benchmarks.
    Power(f64),
    /// Tokens of each expert.
    Counts(Vec<u64>),
}

impl FromStr for Routing {
    type Err = MoeError;

    fn from_str(text: &str) -> Result<Self, MoeError> {
        let wrong = || MoeError::Routing { input: text.into() };
        if text == "balanced" {
            return Ok(Self::Balanced);
        }
        if let Some(alpha) = text.strip_prefix("power:") {
            return alpha.parse().map(Self::Power).map_err(|_| wrong());
        }
        let counts: Result<Vec<u64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        counts.map(Self::Counts).map_err(|_| wrong())
    }
}

/// Most that the exponent of a power law may be: beyond it all tokens go to the same experts.
const MOST_ALPHA: f64 = 10.0;

/// Tokens of the experts of the rank that has most of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loads {
    /// Tokens of each expert of the rank, in their order.
    pub rows: Vec<u64>,
    /// Place of the first of them among all experts.
    pub first: usize,
}

/// What one expert has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expert {
    /// Place among all experts, from 0.
    pub place: usize,
    /// Tokens.
    pub tokens: u64,
    /// Tiles of rows.
    pub tiles: u64,
    /// Share of the rows of its tiles that hold no token, 0 to 1.
    pub padding: f64,
}

impl Loads {
    /// The loads of a checked shape.
    ///
    /// # Errors
    /// Given counts do not fit the shape, or the exponent is none.
    pub fn new(shape: &Shape, routing: &Routing) -> Result<Self, MoeError> {
        let all = match routing {
            Routing::Balanced => {
                let (each, rest) = (shape.routed() / shape.experts, shape.routed() % shape.experts);
                (0..shape.experts).map(|expert| each + u64::from(expert < rest)).collect()
            }
            Routing::Power(alpha) => power(shape, *alpha)?,
            Routing::Counts(counts) => given(shape, counts)?,
        };
        let local = (shape.experts / shape.expert_parallel) as usize;
        // The first of equal groups.
        let busiest = all.chunks(local).enumerate().fold((0, 0), |best, (place, group)| {
            let sum = group.iter().sum::<u64>();
            if sum > best.1 { (place, sum) } else { best }
        });
        let first = busiest.0 * local;
        Ok(Self { rows: all[first..first + local].to_vec(), first })
    }

    /// Tokens of the rank.
    pub fn total(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Experts that have any.
    pub fn active(&self) -> u64 {
        self.rows.iter().filter(|rows| **rows > 0).count() as u64
    }

    /// Tiles of so many rows.
    pub fn tiles(&self, height: u64) -> u64 {
        self.rows.iter().map(|rows| rows.div_ceil(height)).sum()
    }

    /// Each expert, with tiles of so many rows.
    pub fn experts(&self, height: u64) -> Vec<Expert> {
        let expert = |(place, tokens): (usize, &u64)| {
            let tiles = tokens.div_ceil(height);
            let rows = (tiles * height) as f64;
            let padding = if tiles > 0 { 1.0 - *tokens as f64 / rows } else { 0.0 };
            Expert { place: self.first + place, tokens: *tokens, tiles, padding }
        };
        self.rows.iter().enumerate().map(expert).collect()
    }
}

/// x_i = ((hi^(1-a) - lo^(1-a)) u_i + lo^(1-a))^(1/(1-a)) with u_i = (i + 1/2) / E, in proportion to which the tokens are
/// spread; (lo, hi) = (1, 0.8 tokens), or (0.01, 2) where there are no more routed rows than experts.
fn power(shape: &Shape, alpha: f64) -> Result<Vec<u64>, MoeError> {
    if !(0.0..=MOST_ALPHA).contains(&alpha) {
        return Err(MoeError::Alpha { alpha, most: MOST_ALPHA });
    }
    let experts = shape.experts as usize;
    let (low, high) = if shape.routed() > shape.experts { (1.0, 0.8 * shape.tokens as f64) } else { (0.01, 2.0) };
    let exponent = 1.0 - alpha;
    let drawn = |i: usize| {
        let u = (i as f64 + 0.5) / experts as f64;
        if exponent.abs() < 1e-9 {
            return low * libm::pow(high / low, u);
        }
        let (from, to) = (libm::pow(low, exponent), libm::pow(high, exponent));
        libm::pow((to - from) * u + from, 1.0 / exponent)
    };
    let mut shares: Vec<f64> = (0..experts).map(drawn).collect();
    shuffle(&mut shares);
    let sum: f64 = shares.iter().sum();
    let routed = shape.routed() as f64;
    Ok(shares.iter().map(|share| ((share / sum * routed).round() as u64).min(shape.tokens)).collect())
}

/// An order that looks random and is the same everywhere (splitmix64, Fisher and Yates).
fn shuffle(values: &mut [f64]) {
    let mut state = 0_u64;
    for last in (1..values.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        values.swap(last, (mixed % (last as u64 + 1)) as usize);
    }
}

fn given(shape: &Shape, counts: &[u64]) -> Result<Vec<u64>, MoeError> {
    if counts.len() as u64 != shape.experts {
        return Err(MoeError::Counts { given: counts.len() as u64, experts: shape.experts });
    }
    if let Some((expert, count)) = counts.iter().enumerate().find(|(_, count)| **count > shape.tokens) {
        return Err(MoeError::Count { expert, count: *count, tokens: shape.tokens });
    }
    let sum = counts.iter().sum();
    if sum != shape.routed() {
        let (tokens, top_k) = (shape.tokens, shape.top_k);
        return Err(MoeError::Sum { sum, tokens, top_k, routed: shape.routed() });
    }
    Ok(counts.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tokens: u64, experts: u64, top_k: u64, expert_parallel: u64) -> Shape {
        Shape { tokens, experts, top_k, hidden: 64, inter: 64, expert_parallel }
    }

    #[test]
    fn balanced_loads_differ_by_one_at_most() {
        let loads = Loads::new(&shape(10, 8, 2, 1), &Routing::Balanced).unwrap();
        assert_eq!(loads.rows, [3, 3, 3, 3, 2, 2, 2, 2]);
        assert_eq!((loads.total(), loads.active(), loads.tiles(2)), (20, 8, 12));
        assert_eq!(Loads::new(&shape(1, 8, 2, 1), &Routing::Balanced).unwrap().active(), 2);
    }

    #[test]
    fn a_power_law_is_the_formula_in_another_order() {
        // a = 2, lo = 1, hi = 8: x = 1 / (1 - 7/8 u), u = 1/8, 3/8, 5/8, 7/8; 20 routed rows.
        let mut rows = Loads::new(&shape(10, 4, 2, 1), &Routing::Power(2.0)).unwrap().rows;
        rows.sort_unstable();
        let x = [0.125, 0.375, 0.625, 0.875].map(|u| 1.0 / (1.0 - 0.875 * u));
        let sum: f64 = x.iter().sum();
        assert_eq!(rows, x.map(|x: f64| (x / sum * 20.0).round() as u64));
        assert_eq!(Loads::new(&shape(10, 4, 2, 1), &Routing::Power(0.0)).unwrap().total(), 20);
    }

    #[test]
    fn the_busiest_rank_is_taken() {
        let counts = Routing::Counts(vec![1, 2, 9, 1, 2, 5]);
        let loads = Loads::new(&shape(10, 6, 2, 3), &counts).unwrap();
        assert_eq!((loads.first, loads.rows.as_slice()), (2, &[9, 1][..]));
        let hottest = loads.experts(8)[0];
        assert_eq!((hottest.place, hottest.tiles, hottest.padding), (2, 2, 7.0 / 16.0));
    }
}

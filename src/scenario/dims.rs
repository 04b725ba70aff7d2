//! The extent of a grid or block in one to three dimensions.

use std::{fmt, str::FromStr};

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// Extent in x, y and z; 1 where not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims(pub [u64; 3]);

impl Default for Dims {
    fn default() -> Self {
        Self([1; 3])
    }
}

impl From<u64> for Dims {
    fn from(x: u64) -> Self {
        Self([x, 1, 1])
    }
}

impl Dims {
    /// All dimensions multiplied; `None` above 2^64.
    pub fn total(self) -> Option<u64> {
        self.0.into_iter().try_fold(1_u64, u64::checked_mul)
    }

    /// The first dimension that is 0 or above its limit, as (axis, value, limit).
    pub(super) fn outside(self, most: [u64; 3]) -> Option<(char, u64, u64)> {
        let axes = ['x', 'y', 'z'].into_iter().zip(self.0).zip(most);
        axes.map(|((axis, value), most)| (axis, value, most)).find(|(_, value, most)| value == &0 || value > most)
    }
}

/// A text that is not an extent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not an extent: write a whole number or up to three, such as 65536, 128x32 or 8x8x8")]
pub struct DimsError {
    /// The text as given.
    pub input: String,
}

impl FromStr for Dims {
    type Err = DimsError;

    fn from_str(text: &str) -> Result<Self, DimsError> {
        let fail = || DimsError { input: text.into() };
        let mut dims = [1; 3];
        let mut parts = text.split(['x', ',']);
        for (place, part) in dims.iter_mut().zip(&mut parts) {
            *place = part.trim().parse().map_err(|_| fail())?;
        }
        if parts.next().is_some() { Err(fail()) } else { Ok(Self(dims)) }
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [x, 1, 1] => write!(f, "{x}"),
            [x, y, 1] => write!(f, "{x}x{y}"),
            [x, y, z] => write!(f, "{x}x{y}x{z}"),
        }
    }
}

const EXPECTED: &str = "a whole number, or a list of up to three: 65536 or [128, 32]";

struct DimsVisitor;

impl<'de> Visitor<'de> for DimsVisitor {
    type Value = Dims;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Dims, E> {
        let negative = || E::custom(format!("{number} is negative: write {EXPECTED}"));
        u64::try_from(number).map(Dims::from).map_err(|_| negative())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Dims, E> {
        Ok(Dims::from(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Dims, A::Error> {
        let mut dims = [1; 3];
        let mut count = 0;
        while let Some(number) = list.next_element::<i64>()? {
            let place =
                dims.get_mut(count).ok_or_else(|| de::Error::custom(format!("four numbers: write {EXPECTED}")))?;
            *place = u64::try_from(number)
                .map_err(|_| de::Error::custom(format!("{number} is negative: write {EXPECTED}")))?;
            count += 1;
        }
        if count == 0 { Err(de::Error::custom(format!("an empty list: write {EXPECTED}"))) } else { Ok(Dims(dims)) }
    }
}

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DimsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["1", "65536", "16x16", "8x8x8", "4x1x2"] {
            assert_eq!(text.parse::<Dims>().map(|d| d.to_string()), Ok(text.into()));
        }
        for text in ["", "x", "16x", "1x2x3x4", "-1", "1.5"] {
            assert!(text.parse::<Dims>().is_err(), "{text}");
        }
        assert_eq!(Dims([u64::MAX, 2, 1]).total(), None);
    }
}

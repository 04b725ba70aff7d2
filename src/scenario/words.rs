//! The words and numbers of a scenario file that stand for values of the model, each with its own refusal.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::{
    gpu::Pipe,
    kernel::Level,
    op::gemm::Reuse,
    time::{Bound, Timing},
    units::Flops,
};

/// What a stated amount is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Per {
    /// The whole launch.
    #[default]
    Launch,
    /// Each block.
    Block,
    /// Each thread.
    Thread,
}

impl Per {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Block => "block",
            Self::Thread => "thread",
        }
    }
}

/// Reads one of a few words.
pub(crate) fn word<'de, D: Deserializer<'de>, T: Copy>(deserializer: D, words: &[(&str, T)]) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        de::Error::custom(format!("`{text}` is not known here: write {}", known.join(", ")))
    })
}

impl<'de> Deserialize<'de> for Per {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, &[Self::Launch, Self::Block, Self::Thread].map(|p| (p.word(), p)))
    }
}

pub(super) fn timing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timing, D::Error> {
    word(deserializer, &[("device", Timing::Device), ("launch", Timing::Launch)])
}

pub(super) fn reuse<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reuse, D::Error> {
    word(deserializer, &[("cold-weights", Reuse::ColdWeights), ("cold", Reuse::Cold), ("warm", Reuse::Warm)])
}

pub(super) fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Level>, D::Error> {
    word(deserializer, &[("dram", Level::Dram), ("l2", Level::L2), ("shared", Level::Shared)]).map(Some)
}

pub(super) fn bound<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bound>, D::Error> {
    word(deserializer, &[Bound::Math, Bound::Memory, Bound::Latency].map(|b| (b.word(), b))).map(Some)
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number without unit or quotes")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number)
            .map_err(|_| E::custom(format!("{number} is negative: write a whole number of at least 0")))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
}

pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(CountVisitor)
}

pub(crate) fn some_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    count(deserializer).map(Some)
}

struct OperationsVisitor;

impl<'de> Visitor<'de> for OperationsVisitor {
    type Value = Vec<(Pipe, Flops)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of units and operations: { \"vector.fp32\" = \"2 FLOP\" }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut operations: Self::Value = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let flops = map.next_value::<Flops>()?;
            let pipe: Pipe = key.parse().map_err(de::Error::custom)?;
            if operations.iter().any(|(known, _)| *known == pipe) {
                return Err(de::Error::custom(format!("the unit {pipe} is given twice: add the two up")));
            }
            operations.push((pipe, flops));
        }
        Ok(operations)
    }
}

pub(super) fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(Pipe, Flops)>, D::Error> {
    deserializer.deserialize_map(OperationsVisitor)
}

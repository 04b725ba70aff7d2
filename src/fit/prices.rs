//! Prices of GPUs per hour: published offers, dated, each with its source; or a table of one's own.

use std::{collections::HashMap, sync::OnceLock};

use serde::Deserialize;

use crate::gpu::{Catalog, Gpu};

/// The built-in offers.
const BUILT_IN: &str = include_str!("../../gpus/prices.csv");

/// A row of a table, its price as written.
#[derive(Deserialize)]
struct Row {
    gpu: String,
    usd_per_gpu_hour: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    region: String,
    #[serde(default)]
    date: String,
    #[serde(default)]
    source: String,
}

/// An offer of one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The GPU as the offer calls it.
    pub gpu: String,
    /// Who offers it.
    pub provider: String,
    /// Where.
    pub region: String,
    /// US dollars per hour.
    pub usd_per_hour: f64,
    /// When.
    pub date: String,
    /// Where the price was read.
    pub source: String,
}

/// A table of prices that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceError {
    /// A row is none.
    #[error(
        "line {line}: {reason}; the columns are gpu and usd_per_gpu_hour, and if wanted provider, region, date, source"
    )]
    Row {
        /// Line of the table.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A price is no price.
    #[error("line {line}: `{price}` US dollars per hour for `{gpu}`: write a number above 0, up to 10000")]
    Price {
        /// Line of the table.
        line: u64,
        /// As given.
        price: String,
        /// The GPU.
        gpu: String,
    },
}

/// Offers.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    all: Vec<Price>,
    /// The cheapest offer of each GPU by its id, made when first asked for.
    cheapest: OnceLock<HashMap<String, usize>>,
}

impl Prices {
    /// The built-in offers.
    pub fn embedded() -> Self {
        Self::read(BUILT_IN.as_bytes()).unwrap_or_default()
    }

    /// Offers of a CSV table with the columns `gpu` and `usd_per_gpu_hour`.
    ///
    /// # Errors
    /// A row lacks one of them, or its price is none.
    pub fn read(bytes: &[u8]) -> Result<Self, PriceError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let mut all = Vec::new();
        for (line, row) in (2..).zip(reader.deserialize::<Row>()) {
            let row = row.map_err(|error| PriceError::Row { line, reason: error.to_string() })?;
            let price: Option<f64> = row.usd_per_gpu_hour.parse().ok().filter(|price| *price > 0.0 && *price <= 1e4);
            let Some(usd_per_hour) = price else {
                return Err(PriceError::Price { line, price: row.usd_per_gpu_hour, gpu: row.gpu });
            };
            let Row { gpu, provider, region, date, source, .. } = row;
            all.push(Price { gpu, provider, region, usd_per_hour, date, source });
        }
        Ok(Self { all, cheapest: OnceLock::new() })
    }

    /// The offers.
    pub fn all(&self) -> &[Price] {
        &self.all
    }

    /// The cheapest offer of a GPU; absent for slices, which are not sold by themselves, and where there is none.
    pub fn cheapest(&self, catalog: &Catalog, gpu: &Gpu) -> Option<&Price> {
        let by_gpu = self.cheapest.get_or_init(|| {
            let mut found: HashMap<String, usize> = HashMap::new();
            for (place, price) in self.all.iter().enumerate() {
                let Ok(known) = catalog.find(&price.gpu) else { continue };
                let best = found.entry(known.gpu.id).or_insert(place);
                if price.usd_per_hour < self.all[*best].usd_per_hour {
                    *best = place;
                }
            }
            found
        });
        by_gpu.get(&gpu.id).filter(|_| gpu.mig.is_none()).and_then(|place| self.all.get(*place))
    }

    /// Offers of GPUs that the catalog does not know.
    pub fn unknown<'a>(&'a self, catalog: &'a Catalog) -> impl Iterator<Item = &'a Price> {
        self.all.iter().filter(|price| catalog.find(&price.gpu).is_err())
    }
}

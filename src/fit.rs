//! The right GPU or MIG slice for a network: what fits, how fast it is there, and what it costs.

mod prices;
mod slices;

pub use prices::{Price, PriceError, Prices};
pub use slices::{Slices, slices};

use crate::{
    gpu::{Catalog, Gpu},
    memory::{Inference, Subject},
    network::{Network, Step, StepError, TimedError},
    units::{Bytes, counted, decimal},
};

/// What is wanted of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// Longest time of the step in seconds.
    pub latency: Option<f64>,
    /// Fewest tokens per second of all sequences together.
    pub throughput: Option<f64>,
}

/// A GPU, or several that share every layer, with what the network takes and gives there.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Id of the GPU, or of the slice as `gpu:profile`.
    pub gpu: String,
    /// Its name.
    pub name: String,
    /// GPUs.
    pub count: u64,
    /// Memory of one.
    pub capacity: Bytes,
    /// What one holds.
    pub need: Bytes,
    /// Time of the step in seconds, and the ends of its band.
    pub time: (f64, f64, f64),
    /// Tokens per second of all sequences.
    pub tokens_per_s: f64,
    /// The cheapest price of one, where one is known.
    pub price: Option<Price>,
    /// Whether it meets the target.
    pub meets: bool,
}

impl Offer {
    /// US dollars per hour of all GPUs.
    pub fn per_hour(&self) -> Option<f64> {
        self.price.as_ref().map(|price| price.usd_per_hour * self.count as f64)
    }

    /// US dollars per million tokens at full use.
    pub fn per_million(&self) -> Option<f64> {
        self.per_hour().map(|hour| hour / 3600.0 / self.tokens_per_s * 1e6)
    }
}

/// Why a GPU is no offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Id of the GPU or slice.
    pub gpu: String,
    /// The reason.
    pub reason: String,
}

/// What is asked about a network.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The network.
    pub network: &'a Network,
    /// How it is held.
    pub memory: Inference,
    /// What is wanted.
    pub target: Target,
    /// Most GPUs that share a layer.
    pub most: u64,
    /// Whether the number of GPUs with the shortest step is wanted instead of the fewest.
    pub fastest: bool,
}

/// Most GPUs that are tried.
pub const MOST_GPUS: u64 = 1024;

/// The fewest GPUs of a kind on which the network fits and meets the target, or on which it fits where it cannot meet it, or the fastest;
/// `step_on` is the step on a GPU for one degree of parallelism.
///
/// # Errors
/// No degree fits or runs; the reason is that of the last one.
pub fn offer(
    wish: &Wish,
    gpu: &Gpu,
    step_on: &dyn Fn(&Gpu, u64) -> Step,
    prices: &Prices,
    catalog: &Catalog,
) -> Result<Offer, Refused> {
    let refused = |reason: String| Refused { gpu: gpu.id.clone(), reason };
    let capacity = gpu.memory.dram.capacity.ok_or_else(|| refused("its file states no memory size".into()))?;
    let most = if gpu.mig.is_some() { 1 } else { wish.most };
    let mut best: Option<Offer> = None;
    let mut last = String::new();
    for count in 1..=most.min(MOST_GPUS) {
        let memory = Inference { tensor: count, ..wish.memory };
        let need = match memory.anatomy(Subject::Network(wish.network)) {
            Ok(anatomy) => anatomy.total(),
            Err(error) => {
                if last.is_empty() {
                    last = error.to_string();
                }
                continue;
            }
        };
        if need > capacity {
            let gib = |bytes: Bytes| decimal(bytes.get() / f64::from(1 << 30), 1);
            last = format!("it takes {} of {} GiB on each of {}", gib(need), gib(capacity), counted(count, "GPU"));
            continue;
        }
        let found = match wish.network.timed(gpu, &step_on(gpu, count)) {
            Ok(found) => found,
            Err(TimedError::Step(StepError::Degree { .. })) => continue,
            Err(error) => return Err(refused(error.to_string())),
        };
        let time = found.device;
        let tokens_per_s = found.tokens() as f64 / time.0;
        let meets = wish.target.latency.is_none_or(|most| time.0 <= most)
            && wish.target.throughput.is_none_or(|least| tokens_per_s >= least);
        let price = prices.cheapest(catalog, gpu).cloned();
        let (gpu_id, name) = (gpu.id.clone(), gpu.name.clone());
        let offer = Offer { gpu: gpu_id, name, count, capacity, need, time, tokens_per_s, price, meets };
        if meets && !wish.fastest {
            return Ok(offer);
        }
        let better = |known: &Offer| wish.fastest && offer.time.0 < known.time.0;
        if best.as_ref().is_none_or(better) {
            best = Some(offer);
        }
    }
    best.ok_or_else(|| refused(last))
}

/// Offers that meet the target first; among them the fewest GPUs, of these the least memory, of these the fastest.
pub fn smallest_first(offers: &mut [Offer]) {
    offers.sort_by(|a, b| {
        let order = b.meets.cmp(&a.meets).then(a.count.cmp(&b.count));
        let order = order.then(a.capacity.get().total_cmp(&b.capacity.get()));
        order.then(a.time.0.total_cmp(&b.time.0)).then_with(|| a.gpu.cmp(&b.gpu))
    });
}

/// GPUs with the slices that MIG cuts them into, those whose figures have a source; media extensions change nothing here, and the
/// slice of all is the GPU.
pub fn with_slices(catalog: &Catalog, gpus: Vec<Gpu>) -> Vec<Gpu> {
    let of = |gpu: &Gpu| -> Vec<Gpu> {
        let table = catalog.mig(gpu).filter(|_| gpu.mig.is_none());
        let profiles = table.into_iter().flat_map(|table| &table.profiles);
        let plain = profiles.filter(|profile| !profile.name.contains('+') && profile.max_instances > 1);
        plain.filter_map(|profile| catalog.slice(gpu.clone(), &profile.name, &[]).ok()).collect()
    };
    gpus.into_iter().flat_map(|gpu| of(&gpu).into_iter().chain([gpu])).collect()
}

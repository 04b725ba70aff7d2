//! MIG against time-sharing: the same network in every slice of a GPU at once, or by turns on the whole GPU.

use super::{Offer, Wish, offer, prices::Prices};
use crate::{
    gpu::{Catalog, Gpu},
    network::Step,
};

/// A kind of slice with a network in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Slices {
    /// The network in one slice.
    pub one: Offer,
    /// Slices of this kind that go together.
    pub instances: u64,
    /// SMs of one.
    pub sms: u32,
    /// Tokens per second of all slices together.
    pub together: f64,
    /// Tokens per second of as many processes that take turns on the whole GPU: each step has it alone.
    pub shared: f64,
    /// Tokens per second of one process on the whole GPU with all their sequences in one batch.
    pub batched: Option<f64>,
    /// Whether as many copies of the network fit the whole GPU.
    pub shared_fits: bool,
}

impl Slices {
    /// What isolation costs: the share of the tokens that turns on the whole GPU would make more; negative where slices make more.
    pub fn cost(&self) -> f64 {
        1.0 - self.together / self.shared
    }
}

/// The kinds of slices of a GPU in which the network fits, smallest first, and why the others are none.
pub fn slices(
    wish: &Wish,
    whole: &Gpu,
    step_on: &dyn Fn(&Gpu, u64) -> Step,
    prices: &Prices,
    catalog: &Catalog,
) -> (Vec<Slices>, Vec<String>) {
    let Some(table) = catalog.mig(whole) else {
        return (Vec::new(), vec![format!("{} has no MIG", whole.name)]);
    };
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let timed = |step: &Step| wish.network.timed(whole, step).ok().map(|all| all.tokens() as f64 / all.device.0);
    let alone = step_on(whole, 1);
    for profile in &table.profiles {
        // Media extensions change nothing that is counted here.
        if profile.name.contains('+') {
            continue;
        }
        let cut = match catalog.slice(whole.clone(), &profile.name, &[]) {
            Ok(cut) => cut,
            Err(error) => {
                refused.push(format!("{}: {error}", profile.name));
                continue;
            }
        };
        match offer(wish, &cut, step_on, prices, catalog) {
            Ok(one) => {
                let instances = u64::from(profile.max_instances);
                let shared_fits =
                    whole.memory.dram.capacity.is_some_and(|all| one.need.get() * instances as f64 <= all.get());
                let batched = Step { batch: alone.batch * instances, ..alone };
                found.push(Slices {
                    together: one.tokens_per_s * instances as f64,
                    shared: timed(&alone).unwrap_or(0.0),
                    batched: timed(&batched),
                    sms: cut.sm.count,
                    one,
                    instances,
                    shared_fits,
                });
            }
            Err(why) => refused.push(format!("{}: {}", profile.name, why.reason)),
        }
    }
    (found, refused)
}

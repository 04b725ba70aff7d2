//! How far the simulation of blocks that share several resources is from the p-sum, from perfect overlap and from perfect
//! balance: random launches on plain machines.
//!
//! ```sh
//! cargo run --release --example overlap
//! ```

use anyhow::{Context, Result};
use wavecast::{
    gpu::Catalog,
    schedule::simulate::{Balance, Demand, Grid, Machine, Run, Runs, simulate},
    units::Seconds,
    validate::quantile,
};

/// Launches of each line.
const LAUNCHES: usize = 400;
/// Distinct blocks of a launch, which repeat.
const CLASSES: u64 = 1000;
const SMS: [u32; 4] = [20, 58, 108, 132];
const MOST_BLOCKS_PER_SM: f64 = 8.0;

/// How unequal blocks are.
#[derive(Clone, Copy)]
enum Lengths {
    /// Each demand from 1 - x to 1 + x times its mean.
    Around(f64),
    /// One block in ten has ten times the demand.
    OneInTen,
}

/// Numbers from 0 to 1 that are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn factor(&mut self, lengths: Lengths) -> f64 {
        match lengths {
            Lengths::Around(share) => 1.0 - share + 2.0 * share * self.next(),
            Lengths::OneInTen => {
                if self.next() < 0.1 {
                    10.0
                } else {
                    1.0
                }
            }
        }
    }
}

/// A launch of a number of waves between two: arithmetic and DRAM always, port, L2 and latency in every second one; each
/// takes the whole machine for times within a factor of 4.
fn launch(chance: &mut Chance, lengths: Lengths, waves: [f64; 2]) -> (Machine, Grid) {
    let sms = SMS[(chance.next() * SMS.len() as f64) as usize];
    let blocks_per_sm = 1.0 + (chance.next() * MOST_BLOCKS_PER_SM).floor();
    let slots = f64::from(sms) * blocks_per_sm;
    let waves = waves[0] * libm::pow(waves[1] / waves[0], chance.next());
    let blocks = ((slots * waves) as u64).max(1);
    let sides: [f64; 5] = std::array::from_fn(|resource| {
        let is_used = resource == 0 || resource == 3 || chance.next() < 0.5;
        if is_used { libm::pow(4.0, -chance.next()) } else { 0.0 }
    });
    let classes = blocks.min(CLASSES);
    let run = |_| {
        let mut part = |resource: usize, users: f64| Seconds(sides[resource] / users * chance.factor(lengths));
        let (math, port) = (part(0, blocks_per_sm), part(1, blocks_per_sm));
        let demand = Demand { math, port, l2: part(2, slots), dram: part(3, slots), latency: part(4, 1.0) };
        Run { count: 1, demand }
    };
    let runs = Runs::new((0..classes).map(run), blocks / classes);
    (Machine::plain(sms), Grid::new("k", runs, blocks_per_sm as u32))
}

fn p_sum(terms: &Demand, p: f64) -> f64 {
    let largest = terms.alone().get();
    let all = terms.shares().into_iter().chain([terms.latency.get()]);
    largest * libm::pow(all.map(|term| libm::pow(term / largest, p)).sum(), 1.0 / p)
}

fn main() -> Result<()> {
    let catalog = Catalog::embedded()?;
    let p = catalog.gpus().next().context("there are GPUs")?.calibration.constants.overlap_exponent;
    println!("| Blocks | Waves | To the p-sum (10 to 90 %) | To the largest term | To perfect balance | Worst |");
    println!("|---|---|---|---|---|---|");
    let kinds = [
        ("equal", Lengths::Around(0.0)),
        ("0.5 to 1.5", Lengths::Around(0.5)),
        ("0.1 to 1.9", Lengths::Around(0.9)),
        ("one in ten is 10", Lengths::OneInTen),
    ];
    let mut chance = Chance(7);
    for (name, lengths) in kinds {
        for [from, to] in [[0.2, 1.0], [1.0, 4.0], [4.0, 20.0]] {
            let mut ratios: [Vec<f64>; 3] = Default::default();
            for _ in 0..LAUNCHES {
                let (machine, grid) = launch(&mut chance, lengths, [from, to]);
                let grids = [grid];
                let time = simulate(&machine, &grids, &mut ())?.makespan.get();
                let terms = grids[0].terms(&machine);
                let forms = [p_sum(&terms, p), terms.alone().get(), Balance::of(&machine, &grids).least().get()];
                ratios.iter_mut().zip(forms).for_each(|(ratios, form)| ratios.push(time / form));
            }
            ratios.iter_mut().for_each(|ratios| ratios.sort_by(f64::total_cmp));
            let [summed, largest, balance] = &ratios;
            let mean = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len() as f64;
            println!(
                "| {name} | {from} to {to} | {:.2} ({:.2} to {:.2}) | {:.2} | {:.2} | {:.2} |",
                mean(summed),
                quantile(summed, 0.1),
                quantile(summed, 0.9),
                mean(largest),
                mean(balance),
                quantile(balance, 1.0),
            );
        }
    }
    Ok(())
}

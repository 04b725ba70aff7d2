//! How well the model of matrix products predicts what it was not fitted to: pairs (n, k) held out, and GPUs left out.
//!
//! ```sh
//! cargo run --release --example cross_validate -- MEASURED.csv...
//! ```
//!
//! The tables have the columns of `wavecast validate`; rows are 16-bit products on tensor cores with the time of the
//! device alone. The ten shared constants and three of each GPU are fitted again from the rows that a score does not see;
//! the factors of the families stay as they are in `gpus/calibration.toml`.

mod fit;
mod report;
mod rows;
mod study;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use wavecast::gpu::Catalog;

use report::{accuracy, constants, regimes, searches, transfers};
use study::{Study, Transfer};

/// Exponent on the band of the other GPUs, as `other_gpu` in `gpus/calibration.toml`.
const WIDENED: f64 = 1.5;

/// Fits the constants of matrix products again and scores rows that the fit did not see.
#[derive(Parser)]
struct Arguments {
    /// Tables of measured times (CSV).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Rows of each GPU that a fit sees, evenly spaced.
    #[arg(long, default_value_t = 700)]
    rows: usize,
    /// Errors of the held-out rows by kind of product, too.
    #[arg(long)]
    regimes: bool,
    /// Only the pairs, not the GPUs.
    #[arg(long)]
    pairs: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let catalog = Catalog::embedded()?;
    let (boards, left_out) = rows::read(&arguments.files, &catalog)?;
    for (reason, count) in left_out {
        eprintln!("{count} rows left out: {reason}");
    }
    let study = Study::new(&boards, arguments.rows);
    println!("## Pairs (n, k) held out\n");
    let folds = study.folds();
    let found: Vec<_> = (0..boards.len()).map(|place| study.held_out(place, &folds)).collect();
    accuracy(&boards, &found);
    println!("\nConstants, each fold's from the rows outside it:\n");
    constants(&boards, &folds);
    println!("\nSearches:\n");
    searches(&folds);
    if arguments.regimes {
        println!("\nHeld-out rows by kind of product:\n");
        regimes(&boards, &found);
    }
    if arguments.pairs {
        return Ok(());
    }
    let without = study.without();
    if without.is_empty() {
        println!("\nGive rows of three GPUs or more to leave one out.");
        return Ok(());
    }
    println!("\n## One GPU left out\n");
    let found: Vec<Transfer> =
        without.iter().enumerate().map(|(target, pair)| study.transfer(target, pair, WIDENED)).collect();
    transfers(&boards, &found);
    println!("\nSearches:\n");
    searches(&without);
    Ok(())
}

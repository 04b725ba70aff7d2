//! Whether a list schedule of its blocks predicts causal attention better than the closed form, and which one.
//!
//! ```sh
//! cargo run --release --example list_schedule -- MEASURED.csv...
//! ```
//!
//! The tables have the columns of `wavecast validate`; rows are prefills in 16 bits with the time of the device alone. For
//! each GPU and each choice of blocks per SM and their order, the constants of prefill are fitted again to the same
//! rows; the errors are of these rows.

mod fit;
mod rows;

use std::{path::PathBuf, time::Instant};

use anyhow::Result;
use clap::Parser;
use wavecast::{gpu::Catalog, op::attention::Order, validate::Score};

use fit::{Choice, NAMES, Search};
use rows::Board;

/// Fits causal attention by list scheduling and by the closed form.
#[derive(Parser)]
struct Arguments {
    /// Tables of measured times (CSV).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Rows of each GPU, evenly spaced.
    #[arg(long, default_value_t = 500)]
    rows: usize,
    /// Constants that the searches found, too.
    #[arg(long)]
    constants: bool,
}

/// The closed form, and all choices of blocks per SM and order.
fn choices() -> Vec<(String, Choice)> {
    let orders = [
        ("head after head", Order::HeadAfterHead),
        ("row after row", Order::RowAfterRow),
        ("longest first", Order::LongestFirst),
    ];
    let places = [
        ("1", 1, Some(1.0), &orders[..]),
        ("2 that share", 2, Some(1.0), &orders[..]),
        ("2 at half speed", 2, Some(0.5), &orders[..]),
        ("2, speed of one by itself fitted", 2, None, &orders[..1]),
    ];
    let lists = places.into_iter().flat_map(|(place, slots, draw, orders)| {
        orders
            .iter()
            .map(move |(name, order)| (format!("{place}, {name}"), Choice::List { slots, draw, order: *order }))
    });
    std::iter::once(("closed form".into(), Choice::ClosedForm)).chain(lists).collect()
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let catalog = Catalog::embedded()?;
    let (boards, left_out) = rows::read(&arguments.files, &catalog)?;
    for (reason, count) in left_out {
        eprintln!("{count} rows left out: {reason}");
    }
    for board in boards {
        let board = Board { rows: rows::thinned(&board.rows, arguments.rows), ..board };
        println!("## {}, {} rows\n", board.gpu.name, board.rows.len());
        println!("| Blocks on an SM, order | MAPE % | median % | p90 % | constants of the program, MAPE % |");
        println!("|---|---|---|---|---|");
        let mut found = Vec::new();
        for (name, choice) in choices() {
            let search = Search::new(&board, choice)?;
            let before = search.score(&search.start())?;
            let began = Instant::now();
            let at = search.run()?;
            let fitted = began.elapsed().as_secs_f64();
            let began = Instant::now();
            let Score { mape, median, p90, .. } = search.score(&at)?;
            let rate = board.rows.len() as f64 / began.elapsed().as_secs_f64();
            eprintln!("{name}: fitted in {fitted:.0} s; {rate:.0} predictions per second on all cores");
            println!("| {name} | {mape:.2} | {median:.2} | {p90:.2} | {:.2} |", before.mape);
            found.push((name, at));
        }
        if arguments.constants {
            println!("\n| Blocks on an SM, order | {} |\n|---|{}|", NAMES.join(" | "), ["---"; NAMES.len()].join("|"));
            for (name, at) in found {
                println!("| {name} | {} |", at.map(|value| wavecast::units::significant(value, 3)).join(" | "));
            }
        }
        println!();
    }
    Ok(())
}

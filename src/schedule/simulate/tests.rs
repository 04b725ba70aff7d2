//! Cases by hand, and laws that hold for every simulation.

use super::*;
use crate::units::Seconds;

fn math(time: f64) -> Demand {
    Demand { math: Seconds(time), ..Demand::default() }
}

fn run(machine: &Machine, grids: &[Grid]) -> Outcome {
    simulate(machine, grids, &mut ()).unwrap()
}

#[test]
fn a_wave_and_one_block_more() {
    let machine = Machine::plain(108);
    let outcome = run(&machine, &[Grid::new("k", Runs::equal(109, math(2.0)), 1)]);
    assert_eq!(outcome.makespan, Seconds(4.0));
    assert_eq!(outcome.tail_start(), Seconds(2.0));
    assert_eq!((outcome.blocks, outcome.critical.index, outcome.critical.sm), (109, 108, 0));
    assert!((outcome.tail_cost() - 107.0 / 216.0).abs() < 1e-15);
}

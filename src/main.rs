//! The `wavecast` program.

fn main() {}

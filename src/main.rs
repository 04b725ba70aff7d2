//! The `wavecast` program: parse, run, print the chain of an error, exit with a documented code.

use std::process::ExitCode;

use wavecast::cli;

fn main() -> ExitCode {
    cli::main()
}

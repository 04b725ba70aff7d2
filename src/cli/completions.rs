//! `completions SHELL`: a script that completes commands and options in a shell.

use anyhow::Result;
use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::Shell;

use super::{Cli, EXIT_OK, world};

#[derive(ClapArgs)]
pub struct Args {
    /// The shell that reads the script
    shell: Shell,
}

pub fn run(args: Args) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wavecast", &mut script);
    world::emit(None, &String::from_utf8(script)?)?;
    Ok(EXIT_OK)
}

//! `serve`: the page at an address of this machine.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::{EXIT_OK, args::GpuFolder, world};
use crate::{
    page::Site,
    serve::{PORT, Server},
};

#[derive(ClapArgs)]
pub struct Args {
    /// Port of 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    #[command(flatten)]
    folder: GpuFolder,
    /// No note on standard error
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: Args) -> Result<u8> {
    let site = Site::new(args.folder.catalog()?);
    let server = Server::bind(args.port)?;
    world::emit(None, &format!("{}\n", server.address()))?;
    world::note(args.quiet, "The page is at this address, for this machine alone; Ctrl-C ends it.");
    server.run(site)?;
    Ok(EXIT_OK)
}

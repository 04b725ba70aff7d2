//! `moe`: a layer of a mixture of experts by its sizes.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::{
    operation::{Called, OperationArgs},
    world,
};
use crate::{
    gpu::DataType,
    op::moe::{Expert, Request, Routing, Shape, mixture},
    units::significant,
};

#[derive(ClapArgs)]
pub struct Args {
    /// Tokens of all ranks together
    tokens: u64,
    /// Experts of all ranks together
    experts: u64,
    /// Experts that each token goes to
    #[arg(value_name = "TOP_K")]
    top_k: u64,
    /// Width of a token
    hidden: u64,
    /// Width inside an expert, after division by tensor parallelism
    inter: u64,
    /// How tokens are spread: balanced, power:ALPHA (1.01 and 1.2 are common), or one count per expert joined by commas
    #[arg(long, value_name = "ROUTING", default_value = "balanced")]
    routing: Routing,
    /// Ranks that the experts are divided among; the one with most tokens is timed
    #[arg(long, value_name = "RANKS", default_value_t = 1)]
    expert_parallel: u64,
    /// Type of the weights: bf16, fp16, fp8, int8, fp4
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// File for a table of every expert of the rank: tokens, tiles, padding
    #[arg(long = "experts", value_name = "FILE.csv")]
    table: Option<PathBuf>,
    #[command(flatten)]
    operation: OperationArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let shape = Shape {
        tokens: args.tokens,
        experts: args.experts,
        top_k: args.top_k,
        hidden: args.hidden,
        inter: args.inter,
        expert_parallel: args.expert_parallel,
    };
    let request = Request { shape, routing: args.routing.clone(), input: args.dtype };
    let called = Called { name: "moe", what: "the mixture of experts" };
    if let Some(path) = &args.table {
        let catalog = args.operation.gpu.folder.catalog()?;
        let (gpus, _) = args.operation.gpu.resolve(&catalog)?;
        let [gpu] = gpus.as_slice() else { bail!("--experts takes one GPU: tiles differ between GPUs") };
        let found = mixture(gpu, &request).with_context(|| format!("{} is refused", called.what))?;
        world::write(path, table(&found.experts).as_bytes())?;
    }
    args.operation.run(called, Vec::new(), &|gpu, outcome| {
        let found = mixture(gpu, &request)?;
        outcome.add_operation(found.analysis, &found.of, |kernel| {
            kernel.tile = Some(format!("{}x{}", found.tile.0, found.tile.1));
            kernel.choices = found.choices;
        });
        Ok(())
    })
}

/// One row per expert, in their order.
fn table(experts: &[Expert]) -> String {
    let mut text = String::from("expert,tokens,tiles,padding_pct\n");
    for expert in experts {
        let padding = significant(expert.padding * 100.0, 6);
        text.push_str(&format!("{},{},{},{padding}\n", expert.place, expert.tokens, expert.tiles));
    }
    text
}

//! `attention`: an attention call by its shape.

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::operation::{Called, OperationArgs};
use crate::{
    gpu::DataType,
    op::attention::{Library, Phase, Request, Row, Shape, attention},
};

/// A call by its shape.
#[derive(ClapArgs, Clone, Debug)]
pub struct ShapeArgs {
    /// Sequences
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u64,
    /// Query heads
    #[arg(long, value_name = "COUNT")]
    heads: u64,
    /// Heads of K and V, where they are fewer: GQA, 1 for MQA
    #[arg(long, value_name = "COUNT")]
    kv_heads: Option<u64>,
    /// Query tokens of each sequence; in decode 1
    #[arg(long, value_name = "TOKENS")]
    seq_q: Option<u64>,
    /// Tokens in K and V of each sequence, the new ones included; as many as queries without it. More than queries: a
    /// chunk of a prompt
    #[arg(long, value_name = "TOKENS")]
    seq_kv: Option<u64>,
    /// Elements of a head, a multiple of 8 up to 256
    #[arg(long, value_name = "SIZE", default_value_t = 128)]
    head_dim: u64,
    /// Every query sees every key
    #[arg(long)]
    no_causal: bool,
    /// Keys that a query sees, itself and those before it
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,
    /// prefill (many queries per sequence) or decode (one); decode where there is one
    #[arg(long, value_name = "prefill|decode")]
    phase: Option<Phase>,
    /// Type of Q, K and V: bf16, fp16, fp8, tf32, fp32
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// Whose kernel, instead of the one that is usual for the GPU: fa2, fa2-kvcache, fa3, flashinfer, trtllm
    #[arg(long, value_name = "NAME")]
    library: Option<Library>,
    /// The attention kernel alone; without it a serving call, which also appends to the KV cache
    #[arg(long)]
    bare: bool,
}

impl ShapeArgs {
    /// The checked shape.
    pub fn shape(&self) -> Result<Shape> {
        if self.seq_q.is_none() && self.seq_kv.is_none() {
            bail!("no length was given: --seq-q TOKENS for a prompt, --seq-kv TOKENS for a decode");
        }
        let row = Row {
            batch: Some(self.batch),
            heads_q: self.heads,
            heads_kv: self.kv_heads,
            seq_q: self.seq_q,
            seq_kv: self.seq_kv,
            head_dim: self.head_dim,
            causal: Some(!self.no_causal),
            phase: self.phase.map(Phase::word),
            window: self.window,
        };
        Ok(row.shape()?)
    }

    /// What is asked besides the shape.
    pub fn request(&self) -> Request {
        Request { input: self.dtype, library: self.library, bare: self.bare }
    }

    /// What is assumed, for a report or a figure.
    pub fn assumptions(&self) -> Vec<String> {
        let call = if self.bare {
            "the attention kernel alone, without the append to the KV cache"
        } else {
            "a serving call: append to the KV cache and attention (--bare)"
        };
        vec![call.into()]
    }
}

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    operation: OperationArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let (shape, request) = (args.shape.shape().context("the call is refused")?, args.shape.request());
    let called = Called { name: "attention", what: "the call" };
    args.operation.run(called, args.shape.assumptions(), &|gpu, outcome| {
        outcome.add_attention(attention(gpu, &shape, &request)?);
        Ok(())
    })
}

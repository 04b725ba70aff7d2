//! `memory`: what a GPU must hold to train or to serve a network, and whether it fits.

mod show;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{GpuArgs, OutputArgs},
    model,
    show::write_chart,
};
use crate::{
    chart::{Theme, figures::memory_figure},
    gpu::Gpu,
    memory::{
        Anatomy, Cache, Grows, Inference, Overhead, Parallel, Recipe, Recompute, Request, Schedule, Subject, Technique,
        Training, Width, Zero, largest,
    },
    network::Network,
    units::Bytes,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    pub question: Question,
    /// The largest batch or context that fits the GPU
    #[arg(long, value_enum, value_name = "batch|context")]
    largest: Option<GrowsArg>,
    /// Exit with 1 where it does not fit
    #[arg(long)]
    must_fit: bool,
    /// File for a chart of the parts, as asked and with each change that saves: .svg, .png or .csv (the data)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is asked: network, phase, division, GPU.
#[derive(ClapArgs)]
pub struct Question {
    /// A built-in network, or a Hugging Face config.json
    #[arg(value_name = "NETWORK|CONFIG.json", required_unless_present = "params", conflicts_with = "params")]
    network: Option<String>,
    /// Parameters instead of a network, such as 7.5e9: weights and states alone
    #[arg(long, value_name = "COUNT", value_parser = parameters)]
    params: Option<u64>,
    /// Training, or serving
    #[arg(long, value_enum, default_value = "train")]
    phase: PhaseArg,
    /// Sequences: of a micro-batch on one data-parallel rank, or served at a time
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u64,
    /// Tokens of a sequence; as many as the network takes without, 4096 at most
    #[arg(long, value_name = "TOKENS")]
    seq: Option<u64>,
    /// Tensor-parallel ranks
    #[arg(long, value_name = "RANKS", default_value_t = 1)]
    tp: u64,
    #[command(flatten)]
    train: TrainArgs,
    #[command(flatten)]
    infer: InferArgs,
    /// What the process takes besides, NCCL included; 3.5 GiB, and 392 MiB for NCCL where there are several GPUs, without
    #[arg(long, value_name = "SIZE")]
    overhead: Option<Bytes>,
    #[command(flatten)]
    pub gpu: GpuArgs,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Training")]
struct TrainArgs {
    /// Bytes per parameter: mixed-adam, zero, 8bit-adam, bf16-states, sgd, fp32, or those of weights, master weights, gradients and
    /// optimizer, as 2+4+4+8; mixed-adam without
    #[arg(long, value_name = "RECIPE")]
    recipe: Option<Recipe>,
    /// What data-parallel ranks divide: 0 nothing, 1 optimizer, 2 and gradients, 3 (fsdp) and weights
    #[arg(long, value_name = "STAGE")]
    zero: Option<Zero>,
    /// Data-parallel ranks
    #[arg(long, value_name = "RANKS")]
    dp: Option<u64>,
    /// Tensor-parallel ranks divide the sequence where they would hold copies
    #[arg(long)]
    sp: bool,
    /// Pipeline stages
    #[arg(long, value_name = "STAGES")]
    pp: Option<u64>,
    /// Chunks of layers that a stage holds
    #[arg(long, value_name = "CHUNKS")]
    interleave: Option<u64>,
    /// Order of micro-batches in the pipeline: 1f1b or gpipe
    #[arg(long, value_name = "1f1b|gpipe")]
    schedule: Option<Schedule>,
    /// What is computed again in the backward pass: none, selective (attention's scores), full (whole layers)
    #[arg(long, value_name = "none|selective|full")]
    recompute: Option<Recompute>,
    /// Micro-batches of a step on one data-parallel rank; as many as stages without
    #[arg(long, value_name = "COUNT")]
    micro_batches: Option<u64>,
    /// Attention that keeps its scores, instead of one fused kernel (FlashAttention)
    #[arg(long)]
    no_flash: bool,
    /// Whether layers have dropout, whose masks are kept; that of the family without
    #[arg(long, value_name = "true|false")]
    dropout: Option<bool>,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Inference")]
struct InferArgs {
    /// Type of the weights: bf16, fp8, int4, mxfp4, ..., or bytes as "0.58 B"; as stored without
    #[arg(long, value_name = "TYPE")]
    dtype: Option<Width>,
    /// Type of the KV cache; bf16 without
    #[arg(long, value_name = "TYPE")]
    kv_dtype: Option<Width>,
    /// Latent attention caches the keys and values of every head instead of the latent
    #[arg(long)]
    expanded: bool,
    /// Most prompt tokens of one forward pass; 8192 without
    #[arg(long, value_name = "TOKENS")]
    chunk: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PhaseArg {
    Train,
    Inference,
}

#[derive(Clone, Copy, ValueEnum)]
enum GrowsArg {
    Batch,
    Context,
}

/// A whole number, which may be written as 7.5e9.
fn parameters(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number of parameters: write it like 7.5e9 or 6738415616");
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    let count: f64 = text.trim().parse().map_err(|_| wrong())?;
    if (1.0..=1e15).contains(&count) { Ok(count.round() as u64) } else { Err(wrong()) }
}

/// So many tokens are taken at most where none are given.
const USUAL: u64 = 4096;

/// A question that can be answered.
pub struct Asked {
    network: Option<Network>,
    parameters: u64,
    /// Name of the network.
    pub name: String,
    /// The question.
    pub request: Request,
    /// The GPU.
    pub gpu: Gpu,
    /// What the GPU has.
    pub capacity: Bytes,
    /// What was assumed.
    pub assumptions: Vec<String>,
}

impl Asked {
    /// What is held.
    pub fn subject(&self) -> Subject<'_> {
        self.network.as_ref().map_or(Subject::Parameters(self.parameters), Subject::Network)
    }
}

impl Question {
    /// Reads network and GPU, and refuses options of the other phase.
    pub fn asked(&self) -> Result<Asked> {
        let mut assumptions = Vec::new();
        let network = self.network.as_deref().map(model::read).transpose()?;
        let sequence = match (&network, self.seq) {
            (_, Some(tokens)) => tokens,
            (None, None) => 1,
            (Some(network), None) => {
                let tokens = network.longest.min(USUAL);
                assumptions.push(format!("no --seq was given: {tokens} tokens"));
                tokens
            }
        };
        let request = match self.phase {
            PhaseArg::Train => {
                self.infer.refuse()?;
                Request::Training(self.train.training(self, sequence))
            }
            PhaseArg::Inference => {
                self.train.refuse()?;
                Request::Inference(self.infer.inference(self, sequence))
            }
        };
        if network.is_none() && self.seq.is_some() {
            bail!("--seq is about layers, and --params has none: name a network instead");
        }
        let (gpu, assumed) = self.gpu.resolve_one(&self.gpu.folder.catalog()?)?;
        assumptions.splice(0..0, assumed);
        let capacity = gpu.memory.dram.capacity.with_context(|| {
            format!("the memory of {} is not known: --set memory.dram.capacity=\"80 GB\" gives it", gpu.name)
        })?;
        let name = network.as_ref().map_or_else(
            || format!("{} parameters", crate::units::grouped(self.params.unwrap_or(0))),
            |network| network.name.clone(),
        );
        Ok(Asked { network, parameters: self.params.unwrap_or(0), name, request, gpu, capacity, assumptions })
    }

    fn overhead(&self) -> Overhead {
        self.overhead.map_or_else(Overhead::default, Overhead::all)
    }
}

impl TrainArgs {
    fn training(&self, question: &Question, sequence: u64) -> Training {
        Training {
            recipe: self.recipe.unwrap_or(Recipe::MIXED_ADAM),
            parallel: Parallel {
                data: self.dp.unwrap_or(1),
                tensor: question.tp,
                sequence: self.sp,
                pipeline: self.pp.unwrap_or(1),
                interleave: self.interleave.unwrap_or(1),
                zero: self.zero.unwrap_or_default(),
            },
            recompute: self.recompute.unwrap_or_default(),
            schedule: self.schedule.unwrap_or_default(),
            batch: question.batch,
            sequence,
            micro_batches: self.micro_batches,
            flash: !self.no_flash,
            dropout: self.dropout,
            overhead: question.overhead(),
        }
    }

    /// Refuses options of training in inference.
    fn refuse(&self) -> Result<()> {
        refuse(
            "--phase inference",
            "training",
            &[
                ("--recipe", self.recipe.is_some()),
                ("--zero", self.zero.is_some()),
                ("--dp", self.dp.is_some()),
                ("--sp", self.sp),
                ("--pp", self.pp.is_some()),
                ("--interleave", self.interleave.is_some()),
                ("--schedule", self.schedule.is_some()),
                ("--recompute", self.recompute.is_some()),
                ("--micro-batches", self.micro_batches.is_some()),
                ("--no-flash", self.no_flash),
                ("--dropout", self.dropout.is_some()),
            ],
        )
    }
}

impl InferArgs {
    fn inference(&self, question: &Question, sequence: u64) -> Inference {
        let base = Inference::default();
        Inference {
            weights: self.dtype,
            cache: Cache { width: self.kv_dtype.unwrap_or(Width::BF16), expanded: self.expanded },
            batch: question.batch,
            sequence,
            chunk: self.chunk.unwrap_or(base.chunk),
            tensor: question.tp,
            overhead: question.overhead(),
        }
    }

    /// Refuses options of inference in training.
    fn refuse(&self) -> Result<()> {
        refuse(
            "--phase train",
            "inference",
            &[
                ("--dtype", self.dtype.is_some()),
                ("--kv-dtype", self.kv_dtype.is_some()),
                ("--expanded", self.expanded),
                ("--chunk", self.chunk.is_some()),
            ],
        )
    }
}

fn refuse(phase: &str, other: &str, options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => bail!("{option} is about {other} and contradicts {phase}: leave one of them out"),
        None => Ok(()),
    }
}

/// What was found.
struct Found {
    asked: Asked,
    anatomy: Anatomy,
    techniques: Vec<Technique>,
    /// What grows, how far it fits, and whether something else than memory ends it.
    largest: Option<(Grows, u64, bool)>,
}

pub fn run(args: Args) -> Result<u8> {
    let asked = args.question.asked()?;
    let (subject, request) = (asked.subject(), asked.request);
    let anatomy = request.anatomy(subject).context("the question is refused")?;
    let techniques = request.techniques(subject)?;
    let largest = match args.largest {
        None => None,
        Some(grows) => {
            let grows = match grows {
                GrowsArg::Batch => Grows::Batch,
                GrowsArg::Context => Grows::Context,
            };
            let (most, ended) = largest(request, subject, grows, &asked.gpu.name, asked.capacity)?;
            Some((grows, most, ended))
        }
    };
    if let Some(path) = &args.chart {
        let figure = memory_figure((&asked.name, &request.words()), &asked.gpu, &anatomy, &techniques, asked.capacity);
        write_chart(path, &figure.draw(Theme::Light))?;
    }
    let fits = anatomy.fit(asked.capacity).fits();
    let found = Found { asked, anatomy, techniques, largest };
    args.output.emit(&show::rendered(&found, args.output.format)?)?;
    Ok(if args.must_fit && !fits { EXIT_CHECK } else { EXIT_OK })
}

//! `model`: one step of a whole network, from its Hugging Face configuration.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{
    EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    show::{NamedChart, write_files},
    world,
};
use crate::{
    chart::{
        Theme,
        figures::{network_roofline, network_shares},
    },
    gpu::{DataType, Gpu, Pipe},
    memory::{Cache, Inference, Parallel, Request, Subject, Training, Width},
    network::{self, Network, Phase, Recompute, Step},
    op::{gemm::Precision, rowwise::bytes},
    report::{NetworkReport, network_csv, network_json, network_markdown, network_text},
    units::{Bytes, Seconds, decimal},
};

/// The forms of the answer.
const FORMS: [Format; 4] = [Format::Text, Format::Json, Format::Csv, Format::Markdown];

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&FORMS, &[]))))]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    output: OutputArgs,
    /// Folder for the report in every form and the charts: the operations under the roofs, where the time goes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A step of a network on a GPU.
#[derive(ClapArgs)]
pub struct Selection {
    #[command(flatten)]
    own: StepArgs,
    /// What the step does
    #[arg(long, value_enum, default_value = "prefill")]
    phase: PhaseArg,
    /// GPUs that share every layer
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    tp: u64,
    /// What training computes again in the backward pass
    #[arg(long, value_name = "none|selective|full", default_value = "none")]
    recompute: Recompute,
    /// Time between two launches of the host, such as 5us, where there are no CUDA graphs; with graphs launches cost nothing more
    #[arg(long, value_name = "TIME", value_parser = between_launches)]
    launch: Option<Seconds>,
    #[command(flatten)]
    gpu: GpuArgs,
}

/// A network, and what runs through it.
#[derive(ClapArgs)]
pub struct StepArgs {
    /// A Hugging Face config.json, or a built-in network such as llama-3.1-8b
    #[arg(value_name = "CONFIG.json|NAME")]
    pub network: String,
    /// Sequences
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub batch: u64,
    /// Tokens of a sequence: the prompt, the cache with the new token (decode), or the training sequence; 2048, or as many as
    /// the network allows
    #[arg(long, value_name = "TOKENS")]
    pub seq: Option<u64>,
    /// Type of activations and plain weights: bf16, fp16, fp32, tf32; that of the configuration without it
    #[arg(long, value_name = "TYPE")]
    dtype: Option<DataType>,
    /// Type of the products with weights, activations included: fp8, int8, fp4
    #[arg(long, value_name = "TYPE")]
    products: Option<DataType>,
    /// Bits of a weight in memory, unpacked before the product: 8, 4.25 (4 bits and a scale per 64)
    #[arg(long, value_name = "BITS")]
    weight_bits: Option<f64>,
    /// Type of keys and values in the cache: bf16, fp8, int4, or bytes per element such as "0.58 B"
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    pub kv_dtype: Width,
    /// Attention as product, softmax, product, with the scores in memory
    #[arg(long)]
    unfused: bool,
}

/// A time between two launches: hosts take microseconds.
fn between_launches(text: &str) -> Result<Seconds, String> {
    let time: Seconds = text.parse().map_err(|error| format!("{error}"))?;
    let plausible = (0.0..=1.0).contains(&time.get());
    if plausible { Ok(time) } else { Err("write a time from 0 to 1 s, such as 5us".into()) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PhaseArg {
    /// Whole prompts, and the first new token of each
    Prefill,
    /// One new token per sequence
    Decode,
    /// Forward, backward and optimizer
    Train,
}

/// A network by its built-in name, or its file where there is one of the name or it ends in `.json`.
pub fn read(name: &str) -> Result<Network> {
    let path = Path::new(name);
    if name != "-" && !path.exists() && path.extension().is_none_or(|ending| ending != "json") {
        return Ok(network::named(name)?);
    }
    Network::read(name, &world::read(path)?).with_context(|| format!("`{name}` is no network"))
}

/// Most tokens of a step without `--seq`.
const TOKENS: u64 = 2048;

impl StepArgs {
    /// Whether the options say how weights are stored, instead of the configuration.
    pub fn chooses_weights(&self) -> bool {
        self.dtype.is_some() || self.products.is_some() || self.weight_bits.is_some()
    }

    /// What serving the step holds.
    pub fn held(&self, step: &Step) -> Inference {
        Inference {
            weights: self.chooses_weights().then_some(Width { name: "own", bytes: step.weight_bytes }),
            cache: Cache { width: self.kv_dtype, ..Cache::default() },
            batch: step.batch,
            sequence: step.tokens,
            tensor: step.tensor_parallel,
            ..Inference::default()
        }
    }

    /// The step on one GPU, and what had to be decided for it.
    pub fn step(&self, network: &Network, gpu: &Gpu, phase: Phase) -> Result<(Step, Vec<String>)> {
        let mut notes = network.notes.clone();
        if let Some(narrow) = self.dtype.filter(|data| bytes(*data) < 2.0 || *data == DataType::Int32) {
            let name = narrow.name();
            bail!(
                "--dtype {name}: activations have 16 bits or more; --products {name} or --weight-bits 8 narrows weights"
            );
        }
        let stored = network.stored.filter(|stored| bytes(*stored) > 1.0).unwrap_or(DataType::Bf16);
        let has = |data: &DataType| Precision::new(gpu, *data, false).is_ok();
        // Without a unit for the stored type the widest of 16 bits that there is, else 32.
        let usual = [stored, DataType::Fp16, DataType::Fp32].into_iter().find(has).unwrap_or(stored);
        if self.dtype.is_none() && usual != stored {
            notes.push(format!("{} has no {} products: {} instead", gpu.name, stored.name(), usual.name()));
        }
        let data = self.dtype.unwrap_or(usual);
        let mut products = data;
        let (mut weights, mut experts) = (bytes(data), bytes(data));
        if let Some(quantised) = network.quantised.as_ref().filter(|_| !self.chooses_weights()) {
            let storage = quantised.storage;
            // Weights of 4 bits meet activations of 16 bits; FP8 weights meet FP8 where the GPU has it.
            let native = storage.data == DataType::Fp8 && Precision::new(gpu, DataType::Fp8, false).is_ok();
            products = if native { DataType::Fp8 } else { data };
            experts = storage.bytes_per_weight;
            if quantised.method != "mxfp4" {
                weights = storage.bytes_per_weight;
            }
            let unit = if native { "in FP8".into() } else { format!("unpacked to {}", data.name()) };
            notes.push(format!("weights as the configuration quantises them ({}), products {unit}", quantised.method));
        }
        if let Some(wanted) = self.products {
            (products, weights, experts) = (wanted, bytes(wanted), bytes(wanted));
        }
        if let Some(bits) = self.weight_bits {
            let most = 8.0 * bytes(data);
            if !(1.0..=most).contains(&bits) {
                bail!(
                    "--weight-bits {bits}: write the bits of a weight with its share of the scale, from 1 to {most} of {}, such as 4.25",
                    data.name()
                );
            }
            (weights, experts) = (bits / 8.0, bits / 8.0);
        }
        let step = Step {
            phase,
            batch: self.batch,
            tokens: self.seq.unwrap_or(TOKENS.min(network.longest)),
            data,
            products,
            weight_bytes: weights,
            expert_bytes: experts,
            cache_bytes: self.kv_dtype.bytes,
            tensor_parallel: 1,
            fused: !self.unfused,
            recompute: Recompute::None,
        };
        Ok((step, notes))
    }
}

impl Selection {
    /// That the GPU cannot hold what the step needs.
    fn too_large(&self, network: &Network, gpu: &Gpu, step: &Step) -> Option<String> {
        let parallel = Parallel { tensor: step.tensor_parallel, ..Parallel::default() };
        let request = match step.phase {
            Phase::Train => Request::Training(Training {
                parallel,
                recompute: step.recompute,
                batch: step.batch,
                sequence: step.tokens,
                flash: step.fused,
                ..Training::default()
            }),
            Phase::Prefill | Phase::Decode => Request::Inference(self.own.held(step)),
        };
        let fit = request.anatomy(Subject::Network(network)).ok()?.fit(gpu.memory.dram.capacity?);
        let gib = |bytes: Bytes| decimal(bytes.get() / f64::from(1 << 30), 1);
        (!fit.fits()).then(|| {
            let (need, has) = (gib(fit.need), gib(fit.capacity));
            format!("it does not fit: {need} GiB are needed on each GPU of {has} GiB (`wavecast memory` says of what)")
        })
    }

    /// The step with its times, on its GPU, whose pipe multiplies.
    pub fn run(&self) -> Result<(Gpu, NetworkReport, Pipe)> {
        let catalog = self.gpu.folder.catalog()?;
        let (gpu, assumed) = self.gpu.resolve_one(&catalog)?;
        let network = read(&self.own.network)?;
        let phase = match self.phase {
            PhaseArg::Prefill => Phase::Prefill,
            PhaseArg::Decode => Phase::Decode,
            PhaseArg::Train => Phase::Train,
        };
        if phase != Phase::Train && self.recompute != Recompute::None {
            bail!("--recompute is for --phase train: nothing else goes backward");
        }
        let (step, mut notes) = self.own.step(&network, &gpu, phase)?;
        let step = Step { tensor_parallel: self.tp, recompute: self.recompute, ..step };
        notes.splice(0..0, assumed);
        if gpu.mig.is_some() && self.tp > 1 {
            bail!("--tp {}: slices of MIG do not reach each other; take whole GPUs", self.tp);
        }
        let found = network.timed(&gpu, &step)?;
        notes.extend(self.too_large(&network, &gpu, &step));
        if self.tp > 8 {
            notes.push(
                "all GPUs of a group are taken to have the link of one node, which ends at 8 on most machines".into(),
            );
        }
        let report = NetworkReport::new(&network, &gpu, &found, self.launch.map(|time| time.get()), &notes);
        let pipe = Precision::new(&gpu, step.products, false)?.pipe;
        Ok((gpu, report, pipe))
    }
}

pub fn run(args: Args) -> Result<u8> {
    let (gpu, report, pipe) = args.selection.run()?;
    let text = match args.output.format {
        Format::Json => network_json(&report),
        Format::Csv => network_csv(&report)?,
        Format::Markdown => network_markdown(&report),
        Format::Text | Format::Html => network_text(&report, world::width()),
    };
    if let Some(folder) = &args.out {
        let reports = [
            ("model.json", network_json(&report)),
            ("model.csv", network_csv(&report)?),
            ("model.md", network_markdown(&report)),
        ];
        let named = |name: &str, label: &str, chart| NamedChart { name: name.into(), label: label.into(), chart };
        let charts = [
            named("roofline", "Roofline", network_roofline(&gpu, &report, pipe).draw(Theme::Light)),
            named("time", "Where the time goes", network_shares(&gpu, &report).draw(Theme::Light)),
        ];
        write_files(folder, &reports, &charts, args.output.quiet)?;
    }
    args.output.emit(&text)?;
    Ok(EXIT_OK)
}

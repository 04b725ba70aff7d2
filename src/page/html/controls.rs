//! The controls: a label, a number and a slider each; without script the number alone.

use maud::{Markup, html};

use super::lab;
use crate::{
    gpu::{DataType, Gpu, Limits, Pipe},
    op::gemm::Reuse,
    page::{
        run::{L2_WORDS, Launch, Network, Phase, Product, Run},
        site::{Shown, Site},
        state::State,
    },
};

/// A number with a slider.
pub(super) struct Slider<'a> {
    pub key: &'a str,
    pub label: &'a str,
    pub value: Option<String>,
    pub least: f64,
    pub most: f64,
    pub step: f64,
    /// Whether equal steps of the slider are equal factors.
    pub log: bool,
}

impl Slider<'_> {
    pub(super) fn html(&self) -> Markup {
        let Self { key, label, value, least, most, step, log } = self;
        html! {
            div.control {
                label for=(key) { (label) }
                input type="number" id=(key) name=(key) value=[value] min=(least) max=(most) step="any" inputmode="decimal";
                input type="range" hidden data-for=(key) data-least=(least) data-most=(most) data-step=(step)
                    data-log=[log.then_some("")] aria-label={ (label) ", slider" } min="0" max="1000" step="1";
            }
        }
    }
}

/// A slider of whole numbers, by factors.
pub(super) fn count(key: &str, label: &str, value: u64, least: f64, most: f64, step: f64) -> Markup {
    Slider { key, label, value: Some(value.to_string()), least, most, step, log: least >= 1.0 && most > 2000.0 }.html()
}

/// A list to choose from, as (value, label).
pub(super) fn select(key: &str, label: &str, chosen: &str, options: &[(String, String)]) -> Markup {
    html! {
        div.control {
            label for=(key) { (label) }
            select id=(key) name=(key) {
                @for (value, text) in options {
                    option value=(value) selected[value == chosen] { (text) }
                }
            }
        }
    }
}

fn same(word: &str) -> (String, String) {
    (word.into(), word.into())
}

pub(super) fn form(site: &Site, shown: &Shown) -> Markup {
    let state = &shown.state;
    let locked = shown.card.as_ref().is_some_and(crate::page::course::Card::locked);
    html! {
        @for (key, value) in hidden(state) { input type="hidden" name=(key) value=(value); }
        @if locked { p.notice { "Predict first: the controls open with your number." } }
        fieldset disabled[locked] {
            legend { "GPU" }
            (gpus(site, &state.gpu))
            div #slices data-into="slices" { (slices(site, state)) }
        }
        fieldset disabled[locked] {
            @match &state.run {
                Run::Product(product) => (product_controls(product)),
                Run::Launch(launch) => (launch_controls(launch)),
                Run::Network(network) => (network_controls(network)),
            }
        }
        fieldset disabled[locked] {
            legend { "What if" }
            p.hint { "Empty: as the GPU is." }
            (Slider { key: "sm", label: "SMs", value: state.sms.map(|n| n.to_string()), least: 1.0, most: 1024.0, step: 1.0, log: true }.html())
            (Slider { key: "bw", label: "DRAM bandwidth, TB/s", value: state.bandwidth.map(|n| n.to_string()), least: 0.1, most: 20.0, step: 0.01, log: true }.html())
            (Slider { key: "clock", label: "Clock, GHz", value: state.clock.map(|n| n.to_string()), least: 0.5, most: 3.5, step: 0.01, log: false }.html())
        }
        button.noscript type="submit" { "Show" }
        (lab::menu(site, state))
    }
}

/// What the address holds besides the controls.
fn hidden(state: &State) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("op", state.run.word().to_owned()), ("tab", state.tab.word().to_owned())];
    pairs.extend(state.lab.map(|lab| ("lab", lab.to_string())));
    for (key, value) in [("seed", &state.seed), ("guess", &state.guess), ("answer", &state.answer), ("pin", &state.pin)]
    {
        pairs.extend(value.clone().map(|value| (key, value)));
    }
    pairs.extend((state.hints > 0).then(|| ("hints", state.hints.to_string())));
    pairs
}

fn gpus(site: &Site, chosen: &str) -> Markup {
    let kind = |gpu: &Gpu| match gpu.limits {
        Limits::Sm(_) => "NVIDIA",
        Limits::Cu(_) => "AMD",
        Limits::Core => "CPU",
    };
    let all: Vec<&Gpu> = site.catalog.gpus().collect();
    // A name of the address may be an alias: the list shows what it means.
    let chosen = site.catalog.find(chosen).map_or_else(|_| chosen.to_owned(), |found| found.gpu.id);
    html! {
        div.control {
            label for="gpu" { "GPU" }
            select #gpu name="gpu" {
                @for vendor in ["NVIDIA", "AMD"] {
                    optgroup label=(vendor) {
                        @for gpu in all.iter().filter(|gpu| kind(gpu) == vendor) {
                            option value=(gpu.id) selected[gpu.id == chosen] { (gpu.name) }
                        }
                    }
                }
            }
        }
    }
}

/// The MIG slices of the GPU, and what it has.
pub(super) fn slices(site: &Site, state: &State) -> Markup {
    let Ok(found) = site.catalog.find(&state.gpu) else { return html! {} };
    let gpu = found.gpu;
    let table = site.catalog.mig(&gpu);
    let profiles = table.into_iter().flat_map(|t| &t.profiles).filter(|p| p.sourced_sm().is_some());
    let none = (String::new(), "whole GPU".to_owned());
    let options: Vec<_> = [none].into_iter().chain(profiles.map(|profile| same(&profile.name))).collect();
    let words = gpu.limits.words();
    html! {
        @if options.len() > 1 { (select("mig", "MIG slice", state.mig.as_deref().unwrap_or(""), &options)) }
        p.hint { (gpu.sm.count) " " (if words.unit == "SM" { "SMs" } else { "CUs" }) ", " (gpu.memory.dram.bandwidth) ", " (gpu.clocks.vector) }
    }
}

/// Tiles that most GPUs have kernels for; the address takes any other that the GPU has.
const TILES: [&str; 9] = ["64x64", "64x128", "128x64", "128x128", "64x256", "256x64", "128x192", "128x256", "256x128"];

fn product_controls(product: &Product) -> Markup {
    let types: Vec<_> = DataType::ALL.iter().filter(|t| **t != DataType::Int32).map(|t| same(t.name())).collect();
    let tile = product.tile.map(|(height, width)| format!("{height}x{width}"));
    let mut tiles = vec![(String::new(), "fastest".to_owned())];
    tiles.extend(TILES.iter().map(|tile| same(tile)));
    tiles.extend(tile.iter().filter(|tile| !TILES.contains(&tile.as_str())).map(|tile| same(tile)));
    let l2 = [("weights", "weights cold"), ("cold", "nothing"), ("warm", "all that fits")];
    let l2: Vec<_> = l2.iter().map(|(word, text)| ((*word).to_owned(), (*text).to_owned())).collect();
    let held = L2_WORDS.iter().find(|(_, held)| *held == product.l2).map_or("weights", |(word, _)| word);
    let sparse = [("".to_owned(), "dense".to_owned()), ("1".to_owned(), "2:4 sparse".to_owned())];
    html! {
        legend { "Product C[M,N] = A[M,K] B[K,N]" }
        (count("m", "M", product.m, 1.0, 65536.0, 1.0))
        (count("n", "N", product.n, 1.0, 65536.0, 1.0))
        (count("k", "K", product.k, 1.0, 65536.0, 1.0))
        (select("dtype", "Type of A and B", product.dtype.name(), &types))
        (select("tile", "Tile", tile.as_deref().unwrap_or(""), &tiles))
        (select("sparse", "Weights B", if product.sparse { "1" } else { "" }, &sparse))
        (select("l2", "In L2 at the start", if product.l2 == Reuse::ColdWeights { "weights" } else { held }, &l2))
    }
}

fn launch_controls(launch: &Launch) -> Markup {
    let tensor = |input: DataType| Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse: false };
    let pipes = [
        Pipe::Vector(DataType::Fp32),
        Pipe::Vector(DataType::Fp64),
        Pipe::Vector(DataType::Fp16),
        Pipe::Vector(DataType::Int32),
        tensor(DataType::Bf16),
        tensor(DataType::Fp16),
        tensor(DataType::Tf32),
        tensor(DataType::Fp8),
    ];
    let mut pipes: Vec<_> = pipes.iter().map(|pipe| (pipe.to_string(), pipe.label())).collect();
    let chosen = launch.pipe.to_string();
    if pipes.iter().all(|(word, _)| *word != chosen) {
        pipes.push((chosen.clone(), launch.pipe.label()));
    }
    let real = |key, label, value: f64, most, log| {
        Slider { key, label, value: Some(value.to_string()), least: if log { 1.0 } else { 0.0 }, most, step: 1.0, log }
            .html()
    };
    html! {
        legend { "Launch" }
        (count("grid", "Blocks of the grid", launch.grid, 1.0, 1_048_576.0, 1.0))
        (count("block", "Threads per block", launch.block, 1.0, 1024.0, 32.0))
        (count("regs", "Registers per thread", launch.registers, 1.0, 255.0, 1.0))
        (count("smem", "Shared memory per block, bytes", launch.shared, 0.0, 232_448.0, 1024.0))
        p.hint { "Of each thread:" }
        (select("pipe", "Unit", &chosen, &pipes))
        (real("flop", "Operations, FLOP", launch.flop, 1024.0, false))
        (real("read", "Bytes read from DRAM", launch.read, 256.0, false))
        (real("write", "Bytes written to DRAM", launch.write, 256.0, false))
        (real("flight", "Bytes of loads in flight", launch.flight, 256.0, true))
    }
}

fn network_controls(network: &Network) -> Markup {
    let names: Vec<_> = crate::network::names().map(same).collect();
    let phases: Vec<_> =
        [("train", "training"), ("inference", "serving")].map(|(w, t)| (w.to_owned(), t.to_owned())).into();
    let stages: Vec<_> = (0..=3).map(|stage| (stage.to_string(), format!("ZeRO-{stage}"))).collect();
    html! {
        legend { "Network in memory" }
        (select("net", "Network", &network.name, &names))
        (select("phase", "Phase", network.phase.word(), &phases))
        (count("batch", "Sequences", network.batch, 1.0, 4096.0, 1.0))
        (count("seq", "Tokens of a sequence", network.seq, 1.0, 131_072.0, 1.0))
        @if network.phase == Phase::Train {
            (count("dp", "Data-parallel GPUs", network.dp, 1.0, 1024.0, 1.0))
            (select("zero", "Divided among them", &network.zero.to_string(), &stages))
        }
    }
}

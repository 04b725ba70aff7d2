//! The controls of each kind of run.

use maud::{Markup, html};

use super::{Controls, Slider, listed, same};
use crate::{
    gpu::{DataType, Pipe},
    op::gemm::Reuse,
    page::{
        blocks::Blocks,
        race::{self, Race},
        run::{BILLION, Held, L2_WORDS, Launch, Network, PARAMETERS, Phase, Product},
        site::Site,
        state::State,
    },
};

/// Tiles that most GPUs have kernels for; the address takes any other that the GPU has.
const TILES: [&str; 9] = ["64x64", "64x128", "128x64", "128x128", "64x256", "256x64", "128x192", "128x256", "256x128"];

impl Controls<'_> {
    pub fn product(self, product: &Product) -> Markup {
        let types: Vec<_> = DataType::ALL.iter().filter(|t| **t != DataType::Int32).map(|t| same(t.name())).collect();
        let tile = product.tile.map(|(height, width)| format!("{height}x{width}"));
        let mut tiles = vec![(String::new(), "fastest".to_owned())];
        tiles.extend(TILES.iter().map(|tile| same(tile)));
        tiles.extend(tile.iter().filter(|tile| !TILES.contains(&tile.as_str())).map(|tile| same(tile)));
        let l2 = listed(&[("weights", "weights cold"), ("cold", "nothing"), ("warm", "all that fits")]);
        let held = L2_WORDS.iter().find(|(_, held)| *held == product.l2).map_or("weights", |(word, _)| word);
        let sparse = listed(&[("", "dense"), ("1", "2:4 sparse")]);
        let side = |key: &str, label: &str, value| self.count(key, label, value, (1.0, 65_536.0), 1.0);
        html! {
            legend { "Product C[M,N] = A[M,K] B[K,N]" }
            (side("m", "M", product.m))
            (side("n", "N", product.n))
            (side("k", "K", product.k))
            (self.select("dtype", "Type of A and B", product.dtype.name(), &types))
            (self.select("tile", "Tile", tile.as_deref().unwrap_or(""), &tiles))
            (self.select("sparse", "Weights B", if product.sparse { "1" } else { "" }, &sparse))
            (self.select("l2", "In L2 at the start", if product.l2 == Reuse::ColdWeights { "weights" } else { held }, &l2))
        }
    }

    pub fn launch(self, launch: &Launch) -> Markup {
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
        let real = |key, label, value: f64, (least, most)| {
            let log = least >= 1.0;
            self.slider(&Slider { key, label, value: Some(value.to_string()), least, most, step: 1.0, log })
        };
        html! {
            legend { "Launch" }
            (self.count("grid", "Blocks of the grid", launch.grid, (1.0, 1_048_576.0), 1.0))
            (self.count("block", "Threads per block", launch.block, (1.0, 1024.0), 32.0))
            (self.count("regs", "Registers per thread", launch.registers, (1.0, 255.0), 1.0))
            (self.count("smem", "Shared memory per block, bytes", launch.shared, (0.0, 232_448.0), 1024.0))
            p.hint { "Of each thread:" }
            (self.select("pipe", "Unit", &chosen, &pipes))
            (real("flop", "Operations, FLOP", launch.flop, (0.0, 1024.0)))
            (real("read", "Bytes read from DRAM", launch.read, (0.0, 256.0)))
            (real("write", "Bytes written to DRAM", launch.write, (0.0, 256.0)))
            (real("flight", "Bytes of loads in flight", launch.flight, (1.0, 256.0)))
        }
    }

    pub fn blocks(self, blocks: Blocks) -> Markup {
        let ms = Some(blocks.ms.to_string());
        html! {
            legend { "Equal blocks, one per SM" }
            (self.count("blocks", "Blocks", blocks.count, (1.0, 2000.0), 1.0))
            (self.slider(&Slider { key: "ms", label: "Time of a block, ms", value: ms, least: 0.01, most: 100.0, step: 0.01, log: true }))
        }
    }

    pub fn network(self, network: &Network) -> Markup {
        let mut names: Vec<_> = crate::network::names().map(same).collect();
        names.push((PARAMETERS.0.to_owned(), "parameters alone".to_owned()));
        let phases = listed(&[("train", "training"), ("inference", "serving")]);
        let stages = listed(&[
            ("0", "nothing"),
            ("1", "optimizer (ZeRO-1)"),
            ("2", "and gradients (ZeRO-2)"),
            ("3", "and weights (ZeRO-3)"),
        ]);
        let name = if let Held::Network(name) = &network.held { name } else { PARAMETERS.0 };
        html! {
            legend { "Network in memory" }
            (self.select("net", "Network", name, &names))
            @if let Held::Parameters(count) = network.held {
                @let value = Some((count as f64 / BILLION).to_string());
                (self.slider(&Slider { key: "billions", label: "Parameters, billions", value, least: 0.1, most: 1000.0, step: 0.1, log: true }))
            }
            (self.select("phase", "Phase", network.phase.word(), &phases))
            @if let Held::Network(_) = network.held {
                (self.count("batch", "Sequences", network.batch, (1.0, 4096.0), 1.0))
                (self.count("seq", "Tokens of a sequence", network.seq, (1.0, 131_072.0), 1.0))
            }
            @if network.phase == Phase::Train {
                (self.count("dp", "Data-parallel GPUs", network.dp, (1.0, 1024.0), 1.0))
                (self.select("zero", "Divided among them", &network.zero.to_string(), &stages))
            }
        }
    }

    pub fn race(self, race: &Race, site: &Site) -> Markup {
        let kinds: Vec<_> = race::kinds().map(same).collect();
        let cpus: Vec<_> =
            site.catalog.gpus().filter(|cpu| cpu.is_cpu()).map(|c| (c.id.clone(), c.name.clone())).collect();
        let cpu = site.catalog.find(&race.cpu).map_or_else(|_| race.cpu.clone(), |found| found.gpu.id);
        let types: Vec<_> = [DataType::Fp32, DataType::Fp64].iter().map(|t| same(t.name())).collect();
        let places =
            listed(&[("host", "on the host"), ("input", "on the host, result stays"), ("resident", "on the GPU")]);
        html! {
            legend { "The same on a CPU and on the GPU" }
            (self.select("kind", "Operation", &race.kind, &kinds))
            (self.select("cpu", "CPU", &cpu, &cpus))
            (self.select("dtype", "Type", race.dtype.name(), &types))
            (self.select("place", "Data are", race.place_word(), &places))
            (self.count("reuse", "Calls that share one transfer", race.reuse, (1.0, 10_000.0), 1.0))
            (self.count("n", "Sizes n up to", race.range.1, (2.0, race::longest(&race.kind) as f64), 1.0))
            input type="hidden" name="low" value=(race.range.0);
        }
    }

    /// The figures of the GPU that can be changed; of a lab those that it opens or has changed.
    pub fn what_ifs(self, state: &State) -> Vec<Markup> {
        let word = |value: Option<f64>| value.map(|n| n.to_string());
        let all = [
            Slider {
                key: "sm",
                label: "SMs",
                value: state.sms.map(|n| n.to_string()),
                least: 1.0,
                most: 1024.0,
                step: 1.0,
                log: true,
            },
            Slider {
                key: "bw",
                label: "DRAM bandwidth, TB/s",
                value: word(state.bandwidth),
                least: 0.1,
                most: 20.0,
                step: 0.01,
                log: true,
            },
            Slider {
                key: "clock",
                label: "Clock, GHz",
                value: word(state.clock),
                least: 0.5,
                most: 3.5,
                step: 0.01,
                log: false,
            },
        ];
        all.iter().filter(|s| self.has(s.key) || s.value.is_some()).map(|slider| self.slider(slider)).collect()
    }
}

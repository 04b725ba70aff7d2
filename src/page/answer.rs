//! A state through the model: the GPU with its what-ifs, and what was found.

use super::{
    query::Refusals,
    race::Compared,
    run::{Held, Launch, Network, Phase, Product, Run},
    state::State,
};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{Catalog, Gpu},
    memory::{Anatomy, Inference, Parallel, Recipe, Request, Subject, Technique, Training, Zero},
    network::named,
    op::gemm::{self, Force, GemmError, Reuse, Shape, product},
    scenario::{ConcurrencySpec, Dims, KernelSpec, Per, TrafficSpec, WorkSpec},
    simulation::Simulated,
    time::Timing,
    units::{Bytes, Flops, grouped},
};

/// What a state means.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The GPU, with what-ifs applied.
    pub gpu: Gpu,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// What was found.
    pub outcome: Outcome,
}

/// What was found of a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Of a matrix product.
    Product(Box<gemm::Product>),
    /// Of a described kernel.
    Launch(Box<Analysis>),
    /// Of equal blocks.
    Blocks(Box<Simulated>),
    /// Of a network in memory.
    Residents(Box<Residents>),
    /// Of a CPU against the GPU.
    Compared(Box<Compared>),
}

/// What is in the memory of a GPU.
#[derive(Clone, Debug)]
pub struct Residents {
    /// Name of the network, or the number of parameters.
    pub name: String,
    /// What was asked.
    pub request: Request,
    /// Part by part.
    pub anatomy: Anatomy,
    /// What would save.
    pub techniques: Vec<Technique>,
    /// What the GPU has.
    pub capacity: Bytes,
}

impl Answer {
    /// The analysed kernel, where there is one.
    pub fn analysis(&self) -> Option<&Analysis> {
        match &self.outcome {
            Outcome::Product(product) => Some(&product.analysis),
            Outcome::Launch(analysis) => Some(analysis),
            Outcome::Blocks(_) | Outcome::Residents(_) | Outcome::Compared(_) => None,
        }
    }
}

impl State {
    /// The GPU of the state.
    ///
    /// # Errors
    /// Nothing has the name, it has no such slice, or a what-if does not fit it.
    pub fn found(&self, catalog: &Catalog) -> Result<(Gpu, Option<String>), Refusals> {
        let refuse = |problem: String| Refusals::one("gpu", &self.device(), problem);
        let found = catalog.find_with(&self.device(), &self.changes()).map_err(|e| refuse(e.to_string()))?;
        if found.gpu.is_cpu() {
            return Err(refuse("it is a CPU; the page is about GPUs".into()));
        }
        Ok((found.gpu, found.assumption))
    }

    /// Runs the model.
    ///
    /// # Errors
    /// The GPU, the shape, the launch or the network is refused; the key that decides is named.
    pub fn answer(&self, catalog: &Catalog) -> Result<Answer, Refusals> {
        let (gpu, assumption) = self.found(catalog)?;
        let mut assumptions: Vec<String> = assumption.into_iter().collect();
        let outcome = match &self.run {
            Run::Product(asked) => {
                if asked.l2 == Reuse::ColdWeights {
                    let text = "weights come from DRAM, activations and output are in L2 as far as they fit";
                    assumptions.push(text.into());
                }
                assumptions.push("operands of random numbers".into());
                Outcome::Product(Box::new(asked.of(&gpu)?))
            }
            Run::Launch(asked) => {
                let (analysis, assumed) = asked.of(&gpu)?;
                assumptions.extend(assumed);
                Outcome::Launch(Box::new(analysis))
            }
            Run::Blocks(asked) => Outcome::Blocks(Box::new(asked.simulated(&gpu)?)),
            Run::Network(asked) => Outcome::Residents(Box::new(asked.of(&gpu)?)),
            Run::Race(asked) => Outcome::Compared(Box::new(asked.compared(&gpu, catalog)?)),
        };
        Ok(Answer { gpu, assumptions, outcome })
    }
}

impl Product {
    fn of(&self, gpu: &Gpu) -> Result<gemm::Product, Refusals> {
        product(gpu, &self.request()?).map_err(|error| {
            let (key, value) = match &error {
                GemmError::Force(_) => ("tile", self.tile.map_or_else(String::new, |(h, w)| format!("{h}x{w}"))),
                GemmError::Precision(_) if self.sparse => ("sparse", "1".into()),
                GemmError::Precision(_) => ("dtype", self.dtype.name().to_owned()),
                GemmError::Cpu { .. } => ("gpu", gpu.id.clone()),
                GemmError::Shape(_) | GemmError::Launch(_) => ("m", self.m.to_string()),
            };
            Refusals::one(key, &value, error)
        })
    }

    /// The product as the model takes it.
    ///
    /// # Errors
    /// The shape is beyond any GPU.
    pub(super) fn request(&self) -> Result<gemm::Request, Refusals> {
        let shape = Shape::new(1, self.m, self.n, self.k);
        let shape = shape.map_err(|error| Refusals::one("m", &self.m.to_string(), error))?;
        let force = Force { tile: self.tile, splits: None };
        Ok(gemm::Request { sparse: self.sparse, reuse: self.l2, force, ..gemm::Request::new(shape, self.dtype) })
    }
}

impl Launch {
    /// The kernel as scenario files describe it.
    pub(super) fn spec(&self) -> KernelSpec {
        KernelSpec {
            grid: Dims::from(self.grid),
            block: Dims::from(self.block),
            registers_per_thread: self.registers,
            dynamic_shared: Bytes::count(self.shared),
            work: WorkSpec {
                per: Per::Thread,
                operations: vec![(self.pipe, Flops(self.flop))],
                warp_instructions: None,
            },
            traffic: TrafficSpec {
                per: Per::Thread,
                dram: crate::scenario::AccessSpec {
                    read: Bytes(self.read),
                    write: Bytes(self.write),
                    ..Default::default()
                },
                ..TrafficSpec::default()
            },
            concurrency: ConcurrencySpec {
                bytes_in_flight: Some(self.flight),
                dependent_level: Some(crate::kernel::Level::Dram),
                ..ConcurrencySpec::default()
            },
            ..KernelSpec::default()
        }
    }

    fn of(&self, gpu: &Gpu) -> Result<(Analysis, Vec<String>), Refusals> {
        let refuse = |problem: String| Refusals::one("block", &self.block.to_string(), problem);
        let (kernel, blocks, assumed) = self.spec().build().map_err(|e| refuse(e.to_string()))?;
        let analysis = analyse(gpu, kernel, blocks, Timing::Device).map_err(|e| refuse(e.to_string()))?;
        Ok((analysis, assumed))
    }
}

impl Network {
    fn of(&self, gpu: &Gpu) -> Result<Residents, Refusals> {
        let network;
        let (name, subject) = match &self.held {
            Held::Network(name) => {
                network = named(name).map_err(|error| Refusals::one("net", name, error))?;
                (network.name.clone(), Subject::Network(&network))
            }
            Held::Parameters(count) => (format!("{} parameters", grouped(*count)), Subject::Parameters(*count)),
        };
        let refuse = |problem: String| Refusals::one("seq", &self.seq.to_string(), problem);
        let capacity = gpu
            .memory
            .dram
            .capacity
            .ok_or_else(|| Refusals::one("gpu", &gpu.id, "its memory is not known; take another GPU"))?;
        let request = match self.phase {
            Phase::Train => Request::Training(Training {
                recipe: Recipe::MIXED_ADAM,
                parallel: Parallel { data: self.dp, zero: self.stage(), ..Parallel::default() },
                batch: self.batch,
                sequence: self.seq,
                ..Training::default()
            }),
            Phase::Inference => {
                Request::Inference(Inference { batch: self.batch, sequence: self.seq, ..Inference::default() })
            }
        };
        let anatomy = request.anatomy(subject).map_err(|e| refuse(e.to_string()))?;
        let techniques = request.techniques(subject).map_err(|e| refuse(e.to_string()))?;
        Ok(Residents { name, request, anatomy, techniques, capacity })
    }

    fn stage(&self) -> Zero {
        match self.zero {
            0 => Zero::None,
            1 => Zero::Optimizer,
            2 => Zero::Gradients,
            _ => Zero::Weights,
        }
    }
}

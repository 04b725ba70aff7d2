//! What a lab asks the program: each kind of measure has settings and gives named quantities, in base units.

use std::{cell::RefCell, collections::BTreeMap, fmt::Display, str::FromStr};

use super::scope::{Fields, Form, Scope, Value};
use crate::{
    crossover::{self, Family, Place},
    gpu::{DataType, Gpu, Limits, Pipe},
    memory::{Overhead, Parallel, Part, Recipe, Request, Subject, Training, Zero},
    occupancy::{Resource, Resources, occupancy},
    op::gemm::{self, Force, Precision, Reuse, Shape, product, sides},
    schedule::schedule,
    time::Bound,
    units::Bytes,
};

/// Kinds of measures, for messages.
const KINDS: &str = "gpu, occupancy, waves, gemm, memory, crossover";

/// Asks the program.
pub(super) fn measure(scope: &Scope, table: &BTreeMap<String, Value>) -> Result<Fields, String> {
    let settings = Settings { scope, table, used: RefCell::new(vec!["kind"]) };
    let kind = table.get("kind").map(Value::print).unwrap_or_default();
    let fields = match kind.as_str() {
        "gpu" => device(&settings)?,
        "occupancy" => residency(&settings)?,
        "waves" => waves(&settings)?,
        "gemm" => matrix_product(&settings)?,
        "memory" => training_memory(&settings)?,
        "crossover" => cpu_and_gpu(&settings)?,
        _ => return Err(format!("kind = \"{kind}\" is unknown; write one of {KINDS}")),
    };
    settings.finish()?;
    Ok(fields)
}

/// The settings of a measure: expressions, or texts with placeholders.
struct Settings<'a, 'b> {
    scope: &'a Scope<'b>,
    table: &'a BTreeMap<String, Value>,
    used: RefCell<Vec<&'static str>>,
}

impl Settings<'_, '_> {
    fn get(&self, key: &'static str) -> Option<&Value> {
        self.used.borrow_mut().push(key);
        self.table.get(key)
    }

    fn number(&self, key: &'static str, without: Option<f64>) -> Result<f64, String> {
        match self.get(key) {
            Some(Value::Number(number)) => Ok(*number),
            Some(Value::Word(text)) => self.scope.number(text).map_err(|e| format!("{key} = \"{text}\": {e}")),
            None => without.ok_or_else(|| format!("`{key}` is missing")),
        }
    }

    /// A whole number, as counts are.
    fn count(&self, key: &'static str, without: Option<u64>) -> Result<u64, String> {
        let number = self.number(key, without.map(|count| count as f64))?;
        let whole = number.fract() == 0.0 && (0.0..=9e15).contains(&number);
        if whole { Ok(number as u64) } else { Err(format!("{key} = {number}: it must be a whole number")) }
    }

    fn small(&self, key: &'static str, without: Option<u64>) -> Result<u32, String> {
        let count = self.count(key, without)?;
        u32::try_from(count).map_err(|_| format!("{key} = {count}: it must be below 2^32"))
    }

    fn word(&self, key: &'static str) -> Result<Option<String>, String> {
        let text = self.get(key).map(Value::print);
        text.map(|text| self.scope.text(&text, Form::Command).map_err(|e| format!("{key} = \"{text}\": {e}")))
            .transpose()
    }

    /// A word that means something, such as a type.
    fn meaning<T: FromStr<Err: Display>>(&self, key: &'static str) -> Result<Option<T>, String> {
        let read = |text: String| text.parse().map_err(|e: T::Err| format!("{key} = \"{text}\": {e}"));
        self.word(key)?.map(read).transpose()
    }

    fn device(&self, key: &'static str) -> Result<Gpu, String> {
        let name = self.word(key)?.ok_or_else(|| format!("`{key}` is missing: name a device"))?;
        Ok(self.scope.catalog.find(&name).map_err(|e| format!("{key} = \"{name}\": {e}"))?.gpu)
    }

    fn finish(&self) -> Result<(), String> {
        let used = self.used.borrow();
        match self.table.keys().find(|key| !used.contains(&key.as_str())) {
            Some(key) => Err(format!("nothing reads the setting `{key}`; there are {}", used[1..].join(", "))),
            None => Ok(()),
        }
    }
}

fn count(value: impl Into<f64>) -> Value {
    Value::Number(value.into())
}

/// Adds what is known; what no source has is no field.
fn add(fields: &mut Fields, name: &'static str, value: Option<f64>) {
    if let Some(value) = value {
        fields.insert(name, Value::Number(value));
    }
}

/// Settings: gpu, and `pipe` for peak and ridge.
fn device(settings: &Settings) -> Result<Fields, String> {
    let gpu = settings.device("gpu")?;
    let dram = &gpu.memory.dram;
    let mut fields = Fields::from([
        ("name", Value::Word(gpu.name.clone())),
        ("sms", count(gpu.units())),
        ("warps", count(gpu.limits.max_warps())),
        ("warp_size", count(gpu.limits.warp_size())),
        ("bandwidth", count(dram.bandwidth.get())),
        ("latency", count(gpu.dram_latency().get())),
    ]);
    if let Limits::Sm(sm) = &gpu.limits {
        fields.insert("blocks", count(sm.max_blocks_per_sm));
        fields.insert("registers", count(sm.registers_per_sm));
        fields.insert("register_unit", count(sm.register_allocation_unit));
        fields.insert("partitions", count(sm.sub_partitions));
        fields.insert("shared", count(sm.shared_per_sm));
        fields.insert("reserved", count(sm.reserved_shared_per_block));
    }
    add(&mut fields, "capacity", dram.capacity.map(Bytes::get));
    add(&mut fields, "sparsity", gpu.rates.sparsity);
    if let Some(slice) = &gpu.mig {
        fields.insert("profile", Value::Word(slice.profile.name.clone()));
        fields.insert("whole", Value::Word(slice.gpu_name.clone()));
        fields.insert("whole_id", Value::Word(slice.gpu.clone()));
        fields.insert("whole_sms", count(slice.gpu_sm_count));
        fields.insert("instances", count(slice.profile.max_instances));
        fields.insert("compute_slices", count(slice.profile.compute_slices));
        add(&mut fields, "memory_share", slice.profile.mem_fraction.map(|share| share.get()));
    }
    if let Some(pipe) = settings.meaning::<Pipe>("pipe")? {
        let peak = gpu.peak(pipe).ok_or_else(|| format!("{} has no {pipe} unit", gpu.name))?;
        fields.insert("peak", count(peak.get()));
        fields.insert("ridge", count((peak / dram.bandwidth).get()));
    }
    Ok(fields)
}

/// Settings: gpu, block, regs, smem (bytes, dynamic).
fn residency(settings: &Settings) -> Result<Fields, String> {
    let gpu = settings.device("gpu")?;
    let resources = Resources {
        threads_per_block: settings.small("block", None)?,
        registers_per_thread: settings.small("regs", Some(32))?,
        dynamic_shared: settings.small("smem", Some(0))?,
        ..Resources::default()
    };
    let found = occupancy(&gpu.limits, &resources);
    if found.blocks_per_sm == 0 {
        return Err(format!("a block of {} threads does not fit on {}", resources.threads_per_block, gpu.name));
    }
    let limit = |resource| count(found.limits.of(resource));
    Ok(Fields::from([
        ("blocks", count(found.blocks_per_sm)),
        ("warps", count(found.active_warps())),
        ("max_warps", count(found.max_warps)),
        ("share", count(found.fraction())),
        ("limit_warps", limit(Resource::Warps)),
        ("limit_regs", limit(Resource::Registers)),
        ("limit_smem", limit(Resource::Shared)),
        ("limit_blocks", limit(Resource::Blocks)),
        ("warps_per_block", count(found.warps_per_block)),
        ("regs_per_block", count(found.registers_per_block)),
        ("smem_per_block", count(found.shared_per_block)),
    ]))
}

/// Settings: gpu, blocks, per_sm.
fn waves(settings: &Settings) -> Result<Fields, String> {
    let gpu = settings.device("gpu")?;
    let found = schedule(settings.count("blocks", None)?, gpu.units(), settings.small("per_sm", Some(1))?);
    let whole = |value: u64| count(value as f64);
    Ok(Fields::from([
        ("waves", count(found.waves())),
        ("whole", whole(found.whole_waves())),
        ("full", whole(found.full_waves())),
        ("tail", whole(found.tail_blocks())),
        ("wave_blocks", whole(found.wave_blocks())),
        ("use", count(found.utilization())),
    ]))
}

/// Settings: gpu, m, n, k, dtype, sparse (1 or 0), cold (1 or 0), tile, as those of `wavecast gemm`.
fn matrix_product(settings: &Settings) -> Result<Fields, String> {
    let gpu = settings.device("gpu")?;
    let side = |key| settings.count(key, None);
    let shape = Shape::new(1, side("m")?, side("n")?, side("k")?).map_err(|e| e.to_string())?;
    let data = settings.meaning("dtype")?.unwrap_or(DataType::Bf16);
    let tile = settings.word("tile")?.map(|text| sides(&text).map_err(|e| format!("tile = \"{text}\": {e}")));
    let sparse = settings.number("sparse", Some(0.0))? != 0.0;
    let reuse = if settings.number("cold", Some(0.0))? != 0.0 { Reuse::Cold } else { Reuse::default() };
    let request = gemm::Request {
        sparse,
        reuse,
        force: Force { tile: tile.transpose()?, splits: None },
        ..gemm::Request::new(shape, data)
    };
    let found = product(&gpu, &request).map_err(|e| e.to_string())?;
    let Precision { input_bytes, output_bytes, weight_share, pipe, .. } = found.precision;
    let sized = |rows: u64, columns: u64, bytes: f64| rows as f64 * columns as f64 * bytes;
    let (a, c) = (sized(shape.m, shape.k, input_bytes), sized(shape.m, shape.n, output_bytes));
    let b = sized(shape.k, shape.n, input_bytes) * weight_share;
    let peak = gpu.peak(pipe).ok_or_else(|| format!("{} has no {pipe} unit", gpu.name))?;
    let bound = |bound| count(u8::from(found.analysis.verdict.bound == bound));
    Ok(Fields::from([
        ("time", count(found.analysis.time.estimate.get())),
        ("blocks", count(found.analysis.launch.grid_blocks as f64)),
        ("waves", count(found.analysis.schedule.waves())),
        ("memory_bound", bound(Bound::Memory)),
        ("math_bound", bound(Bound::Math)),
        ("flop", count(shape.flop())),
        ("a", count(a)),
        ("b", count(b)),
        ("c", count(c)),
        ("bytes", count(a + b + c)),
        ("math", count(shape.flop() / peak.get())),
        ("memory", count((a + b + c) / gpu.memory.dram.bandwidth.get())),
    ]))
}

/// Settings: params, recipe, zero, dp.
fn training_memory(settings: &Settings) -> Result<Fields, String> {
    let recipe = settings.meaning::<Recipe>("recipe")?.unwrap_or(Recipe::MIXED_ADAM);
    let parallel = Parallel {
        data: settings.count("dp", Some(1))?,
        zero: settings.meaning::<Zero>("zero")?.unwrap_or_default(),
        ..Parallel::default()
    };
    let training = Training { recipe, parallel, overhead: Overhead::default(), ..Training::default() };
    let subject = Subject::Parameters(settings.count("params", None)?);
    let found = Request::Training(training).anatomy(subject).map_err(|e| e.to_string())?;
    let part = |part| count(found.of(part).get());
    Ok(Fields::from([
        ("states", count(found.states().get())),
        ("weights", part(Part::Weights)),
        ("master", part(Part::Master)),
        ("gradients", part(Part::Gradients)),
        ("optimizer", part(Part::Optimizer)),
        ("weight_bytes", count(recipe.weights)),
        ("master_bytes", count(recipe.master)),
        ("gradient_bytes", count(recipe.gradients)),
        ("optimizer_bytes", count(recipe.optimizer)),
        ("bytes", count(recipe.bytes())),
    ]))
}

/// Settings: cpu, gpu, family (axpy or an element-wise kind), n, place (host or resident), reuse.
fn cpu_and_gpu(settings: &Settings) -> Result<Fields, String> {
    let (cpu, gpu) = (settings.device("cpu")?, settings.device("gpu")?);
    let kind = settings.meaning("family")?.ok_or("`family` is missing: write an element-wise kind, such as add")?;
    let place = match settings.word("place")?.as_deref() {
        None | Some("host") => Place::Host,
        Some("resident") => Place::Resident,
        Some(other) => return Err(format!("place = \"{other}\": write host or resident")),
    };
    let data = settings.meaning("dtype")?.unwrap_or(DataType::Fp32);
    let family = Family::Elementwise { kind, in_place: false };
    let request =
        crossover::Request { place, reuse: settings.count("reuse", Some(1))?, ..crossover::Request::new(family, data) };
    let model = crossover::Model::new(&cpu, &gpu, &request).map_err(|e| e.to_string())?;
    let sample = model.at(settings.count("n", None)?).map_err(|e| e.to_string())?;
    Ok(Fields::from([
        ("cpu_name", Value::Word(cpu.name)),
        ("gpu_name", Value::Word(gpu.name)),
        ("link", Value::Word(sample.gpu.link.clone().unwrap_or_default())),
        ("bytes", count(sample.bytes)),
        ("cpu", count(sample.cpu.time)),
        ("gpu", count(sample.gpu.time)),
        ("kernel", count(sample.gpu.kernel)),
        ("launch", count(sample.gpu.launch)),
        ("copies", count(sample.gpu.transfer)),
        ("speedup", count(sample.speedup())),
    ]))
}

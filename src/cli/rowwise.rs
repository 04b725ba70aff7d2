//! `elementwise`, `softmax`, `layernorm`, `rmsnorm`, `reduction` and `memcpy`: operations that bandwidth and launches decide.

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::operation::{Called, OperationArgs};
use crate::{
    gpu::{ConstantsOf, DataType, Gpu},
    op::rowwise::{
        Caller, Kind, Operation, What, analysis,
        link::{Direction, LinkCopy, copy},
        name,
    },
    report::KernelReport,
    time::Bound,
    units::{Bytes, BytesPerSecond, Seconds},
};

/// Whose clock stands around the call, and the end of every such command.
#[derive(ClapArgs)]
struct Common {
    /// Include what the host adds to launches that follow each other in a stream
    #[arg(long, conflicts_with = "stack")]
    launch_overhead: bool,
    /// Time one call as the host of this source of measurements saw it: neusight, llmcompass
    #[arg(long, value_name = "SOURCE")]
    stack: Option<String>,
    /// An element-wise kernel that follows on the result: what fusing would save; several times for a chain
    #[arg(long, value_name = "KIND")]
    then: Vec<Kind>,
    #[command(flatten)]
    operation: OperationArgs,
}

#[derive(ClapArgs)]
pub struct ElementwiseArgs {
    /// Kind: add mul div fma relu gelu silu silu_and_mul exp tanh cast copy fill transpose transpose-naive embedding dropout
    /// ..., or `other` with --reads and --writes
    kind: Kind,
    /// Rows
    #[arg(long, required_unless_present = "elements")]
    rows: Option<u64>,
    /// Columns
    #[arg(long, required_unless_present = "elements")]
    cols: Option<u64>,
    /// Elements, instead of rows and columns
    #[arg(long, conflicts_with_all = ["rows", "cols"])]
    elements: Option<u64>,
    /// Type: fp64 fp32 fp16 bf16 fp8 fp6 fp4 int32 int8 int4
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// Type of the result, where it differs
    #[arg(long, value_name = "TYPE")]
    to: Option<DataType>,
    /// Tensors read, instead of the kind's own number
    #[arg(long, value_name = "COUNT")]
    reads: Option<u32>,
    /// Tensors written
    #[arg(long, value_name = "COUNT")]
    writes: Option<u32>,
    /// Bytes of one load of a thread: 16 where kernels are vectorised, the element's size where they are not
    #[arg(long, value_name = "BYTES")]
    load_bytes: Option<f64>,
    /// The launch before left the operands in L2, as far as they fit
    #[arg(long)]
    warm: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(ClapArgs)]
pub struct RowArgs {
    /// Rows
    #[arg(long)]
    rows: u64,
    /// Columns: the length of a row
    #[arg(long)]
    cols: u64,
    /// Type: fp64 fp32 fp16 bf16; sums take int32 and int8 too
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    #[command(flatten)]
    common: Common,
}

#[derive(ClapArgs)]
pub struct ReductionArgs {
    #[command(flatten)]
    rows: RowArgs,
    /// One sum over everything, instead of one per row
    #[arg(long)]
    all: bool,
}

#[derive(ClapArgs)]
pub struct MemcpyArgs {
    /// Bytes to copy, such as "1 GiB"
    bytes: Bytes,
    /// d2d (within the device), h2d (from page-locked memory of the host), d2h (to it), p2p (to another device)
    #[arg(long, value_name = "WAY", default_value = "d2d")]
    direction: Direction,
    #[command(flatten)]
    operation: OperationArgs,
}

impl ElementwiseArgs {
    fn operation(&self) -> Result<Operation> {
        let (rows, cols) = match self.elements {
            Some(elements) => (1, elements),
            None => (self.rows.unwrap_or(0), self.cols.unwrap_or(0)),
        };
        let plain = Operation::elementwise(self.kind, rows, cols, self.dtype)?;
        let What::Elementwise { kind, reads, writes, load } = plain.what else { return Ok(plain) };
        let what = What::Elementwise {
            kind,
            reads: self.reads.unwrap_or(reads),
            writes: self.writes.unwrap_or(writes),
            load: self.load_bytes.unwrap_or(load),
        };
        let output = self.to.unwrap_or(self.dtype);
        Ok(Operation { what, output, warm: self.warm, ..plain }.checked()?)
    }
}

/// `elementwise`.
pub fn elementwise(args: ElementwiseArgs) -> Result<u8> {
    run(&args.operation()?, args.common)
}

/// `softmax`.
pub fn softmax(args: RowArgs) -> Result<u8> {
    rowwise(What::Softmax, args)
}

/// `layernorm`.
pub fn layernorm(args: RowArgs) -> Result<u8> {
    rowwise(What::LayerNorm, args)
}

/// `rmsnorm`.
pub fn rmsnorm(args: RowArgs) -> Result<u8> {
    rowwise(What::RmsNorm, args)
}

/// `reduction`.
pub fn reduction(args: ReductionArgs) -> Result<u8> {
    rowwise(What::Reduction { full: args.all }, args.rows)
}

fn rowwise(what: What, args: RowArgs) -> Result<u8> {
    run(&Operation::new(what, args.rows, args.cols, args.dtype)?, args.common)
}

fn run(operation: &Operation, common: Common) -> Result<u8> {
    let called = Called { name: &name(operation), what: "the operation" };
    common.operation.run(called, Vec::new(), &|gpu, outcome| {
        let caller = match (&common.stack, common.launch_overhead) {
            (Some(source), _) => Some(Caller::of(source, gpu).context("--stack")?),
            (None, true) => Some(Caller::Stream(gpu.calibration.constants.launch_overhead)),
            (None, false) => None,
        };
        outcome.add(analysis(gpu, operation, caller, &common.then)?);
        Ok(())
    })
}

/// `memcpy`.
pub fn memcpy(args: MemcpyArgs) -> Result<u8> {
    let bytes = args.bytes.get();
    if !(1.0..=(1_u64 << 40) as f64).contains(&bytes) {
        bail!("{}: a copy moves 1 byte to 1 TiB", args.bytes);
    }
    args.operation.run(Called { name: "memcpy", what: "the copy" }, Vec::new(), &|gpu, outcome| {
        if args.direction == Direction::DeviceToDevice {
            let operation = Operation::elementwise(Kind::COPY, 1, bytes as u64, DataType::Int8)?;
            outcome.add(analysis(gpu, &operation, None, &[])?);
        } else {
            outcome.kernels.push(linked(gpu, &args, &copy(gpu, bytes, args.direction)?));
        }
        Ok(())
    })
}

/// A copy over a link has no kernel: its row says what the link does.
fn linked(gpu: &Gpu, args: &MemcpyArgs, found: &LinkCopy) -> KernelReport {
    let micros = |time: f64| Some(time * 1e6);
    let reached = BytesPerSecond(args.bytes.get() / found.time);
    let mut report = KernelReport::of_gpu(gpu);
    report.kernel = format!("memcpy {} {}", args.direction.word(), args.bytes);
    report.calibration = Some(ConstantsOf::Datasheet.to_string());
    (report.time_us, report.low_us, report.high_us) = (micros(found.time), micros(found.low), micros(found.high));
    let (bound, resource) = match found.bound() {
        Bound::Latency => ("latency", "start of the copy engine"),
        _ => ("memory", &*found.link),
    };
    report.bound = Some(bound.into());
    report.bound_resource = Some(resource.into());
    report.verdict = Some(format!("{bound}-bound ({resource})"));
    report.findings = vec![format!(
        "{reached} of the {} of one direction; the copy engine starts in {}",
        BytesPerSecond(found.rate),
        Seconds(found.start)
    )];
    report.ignored = vec![
        "pageable memory of the host, which is copied twice; copies in both directions at once; other traffic on the link".into(),
    ];
    report.confidence =
        Some("packet headers and flow control taken off the rate of the link; band: the raw rate to 1.5 times the estimate, never measured".into());
    report
}

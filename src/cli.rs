//! The command line: definitions here, one file per command below. Only this module touches files and streams.

mod analyze;
mod args;
mod asked;
mod attention;
mod calibrate;
mod ceilings;
mod chart;
mod check;
mod compare;
mod compiled;
mod completions;
mod conv;
mod crossover;
mod filter;
mod fit;
mod gemm;
mod gpus;
mod input;
mod kernel;
mod lab;
mod memory;
mod model;
mod moe;
mod occupancy;
mod operation;
mod outcome;
mod pool;
mod predict;
mod rowwise;
#[cfg(feature = "serve")]
mod serve;
mod shapes;
mod show;
mod simulate;
mod sweep;
mod table;
mod unpack;
mod validate;
mod world;

use std::{error::Error, num::ParseIntError, process::ExitCode};

use clap::{
    Arg, Command as ClapCommand, CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ErrorKind},
};

/// Everything was done and no requested check failed.
pub const EXIT_OK: u8 = 0;
/// A requested check failed (`--fail-if`, `--must-fit`, `gpus check`), an answer is wrong (`lab check`), or rows of a batch could
/// not be evaluated.
pub const EXIT_CHECK: u8 = 1;
/// Bad use or bad input; nothing was written.
pub const EXIT_INPUT: u8 = 2;

/// How fast can this kernel be on that GPU, what holds it back, and what would change that?
#[derive(Parser)]
#[command(name = "wavecast", version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine; 1 a requested check failed, an answer is wrong, or rows could not be evaluated; 2 bad use or bad input.
Sizes, rates and clocks are written with their unit: \"48 KiB\", \"3.35 TB/s\", \"1.98 GHz\".
Start with: wavecast demo";

#[derive(Subcommand)]
enum Command {
    /// The embedded scenario: verdicts on the terminal, charts and report in ./wavecast-out
    Demo(analyze::DemoArgs),
    /// Scenarios, profiles (Nsight Compute and Systems, PyTorch, nvprof, rocprof) and compiler reports, told apart by content
    Analyze(analyze::Args),
    /// One launch described by options: occupancy, waves, roofline, time, verdict
    Kernel(Box<kernel::Args>),
    /// One matrix product by its shape: the kernel that a library would run, its waves, its time, and good sizes near
    Gemm(Box<gemm::Args>),
    /// One attention call by its shape, prefill or decode: its kernel, grid, split of the keys, time and bound
    Attention(Box<attention::Args>),
    /// An operation on every element: what it moves, launch, cache or DRAM, what fusing saves
    Elementwise(Box<rowwise::ElementwiseArgs>),
    /// Softmax over the rows of a tensor: the kernel, its passes, whether re-reads hit L2
    Softmax(Box<rowwise::RowArgs>),
    /// Layer norm over the rows of a tensor
    Layernorm(Box<rowwise::RowArgs>),
    /// RMS norm over the rows of a tensor
    Rmsnorm(Box<rowwise::RowArgs>),
    /// Sums over the rows of a tensor, or over everything
    Reduction(Box<rowwise::ReductionArgs>),
    /// A copy within the device, or over PCIe or NVLink
    Memcpy(Box<rowwise::MemcpyArgs>),
    /// One convolution by its sizes: the way that a library would take, what Winograd saves, tiles, scratch memory
    Conv(Box<conv::Args>),
    /// One layer of a mixture of experts: loads, tiles, padding, the hottest expert, where the time goes
    Moe(Box<moe::Args>),
    /// One pooling of images by its sizes
    Pool(Box<pool::Args>),
    /// Kernels block by block: unequal blocks, persistent kernels, stream-K, streams; the tail, the critical block
    Simulate(Box<simulate::Args>),
    /// A whole network by its Hugging Face configuration: a prompt, a new token or a training iteration, layer by layer
    Model(Box<model::Args>),
    /// What a GPU must hold to train or serve a network, part by part: does it fit, what would save memory
    Memory(Box<memory::Args>),
    /// The smallest GPU or MIG slice on which a network fits and is fast enough, with prices
    Fit(Box<fit::Args>),
    /// The same operation on a CPU and on a GPU, copies included: the size from which the GPU wins
    Crossover(Box<crossover::Args>),
    /// Parameter spaces: any key over lists and ranges, millions of points to CSV or Parquet; the best, what moves the answer
    Sweep(Box<sweep::Args>),
    /// The results of shards of a sweep, checked and joined
    Merge(sweep::MergeArgs),
    /// One scenario on several GPUs side by side; two profiles before and after
    Compare(Box<compare::Args>),
    /// Any chart by itself, as SVG, PNG or the data behind it
    Chart(Box<chart::Args>),
    /// The GPUs that are known: list them, show a file, check one of your own
    Gpus(gpus::Args),
    /// Blocks per SM, limiters, the next step to one more block, good block sizes
    Occupancy(occupancy::Args),
    /// Tables of shapes answered row by row: the kernel, its time with a band, its bound
    Predict(predict::Args),
    /// Predictions against measured times, by groups, with two rooflines beside them
    Validate(validate::Args),
    /// The constants of a GPU from measured products or rates, as a table for its file
    Calibrate(Box<calibrate::Args>),
    /// Labs for classes: a question first, then what to run, why it is so, and how answers are graded
    Lab(lab::Args),
    /// A local page to play with: the same answers and charts with sliders, and the labs
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// A script that completes commands and options in a shell
    Completions(completions::Args),
}

/// An option that takes `-5` as its value, so that the message is about the range and not about an argument `-5`.
fn takes_negative(option: Arg) -> Arg {
    let takes = option.get_action().takes_values() && !option.is_positional();
    option.allow_negative_numbers(takes)
}

/// The same refusal with words for a person where a count is none: its parser says "invalid digit found in string".
fn in_words(error: clap::Error) -> clap::Error {
    let count = error.source().is_some_and(|source| source.is::<ParseIntError>());
    let (option, value) = (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue));
    let (true, Some(option), Some(value)) = (count, option, value) else { return error };
    let example = match value.to_string().parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => number as u64,
        _ => 4096,
    };
    let text = format!(
        "invalid value '{value}' for '{option}': write a whole number in digits, such as {example}\n\n\
         For more information, try '--help'.\n"
    );
    clap::Error::raw(ErrorKind::ValueValidation, text)
}

fn parsed() -> Result<Cli, clap::Error> {
    fn every_option(command: ClapCommand) -> ClapCommand {
        command.mut_args(takes_negative).mut_subcommands(every_option)
    }
    Cli::from_arg_matches(&every_option(Cli::command()).try_get_matches().map_err(in_words)?)
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let cli = parsed().unwrap_or_else(|error| error.exit());
    let result = match cli.command {
        Command::Demo(args) => analyze::demo(args),
        Command::Analyze(args) => analyze::run(args),
        Command::Kernel(args) => kernel::run(*args),
        Command::Gemm(args) => gemm::run(*args),
        Command::Attention(args) => attention::run(*args),
        Command::Elementwise(args) => rowwise::elementwise(*args),
        Command::Softmax(args) => rowwise::softmax(*args),
        Command::Layernorm(args) => rowwise::layernorm(*args),
        Command::Rmsnorm(args) => rowwise::rmsnorm(*args),
        Command::Reduction(args) => rowwise::reduction(*args),
        Command::Memcpy(args) => rowwise::memcpy(*args),
        Command::Conv(args) => conv::run(*args),
        Command::Moe(args) => moe::run(*args),
        Command::Pool(args) => pool::run(*args),
        Command::Memory(args) => memory::run(*args),
        Command::Simulate(args) => simulate::run(*args),
        Command::Model(args) => model::run(*args),
        Command::Fit(args) => fit::run(*args),
        Command::Crossover(args) => crossover::run(*args),
        Command::Sweep(args) => sweep::run(*args),
        Command::Merge(args) => sweep::merge(args),
        Command::Compare(args) => compare::run(*args),
        Command::Chart(args) => chart::run(*args),
        Command::Gpus(args) => gpus::run(args),
        Command::Occupancy(args) => occupancy::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Calibrate(args) => calibrate::run(*args),
        Command::Lab(args) => lab::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Completions(args) => completions::run(args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if world::is_broken_pipe(&error) => ExitCode::from(EXIT_OK),
        Err(error) => {
            world::note(false, &format!("error: {error:#}"));
            ExitCode::from(EXIT_INPUT)
        }
    }
}

//! Options that several commands share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use super::world;
use crate::gpu::{Catalog, Gpu, GpuError, Override, split_profile};

/// Which GPUs to use.
#[derive(Args, Clone, Debug)]
pub struct GpuArgs {
    /// GPU by name, alias or file (see `gpus list`), or a MIG slice of it, as in a100-sxm4-80gb:3g.40gb
    #[arg(long, value_name = "NAME|FILE.toml[:MIG]")]
    pub gpu: Vec<String>,
    #[command(flatten)]
    pub folder: GpuFolder,
    /// What-if: change a figure of the GPU, such as sm.count=144 or memory.dram.bandwidth="4.8 TB/s"
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
}

/// Where further GPU files are.
#[derive(Args, Clone, Debug)]
pub struct GpuFolder {
    /// Folder with further GPU files (*.toml)
    #[arg(long, value_name = "DIR")]
    pub gpu_dir: Option<PathBuf>,
}

/// The GPU that is used when none is named.
pub const DEFAULT_GPU: &str = "h100-sxm5-80gb";

impl GpuFolder {
    /// The built-in catalog, and the files of `--gpu-dir`.
    pub fn catalog(&self) -> Result<Catalog> {
        let mut catalog = Catalog::embedded()?;
        if let Some(folder) = &self.gpu_dir {
            let what = || format!("--gpu-dir `{}` cannot be read", folder.display());
            let mut paths = Vec::new();
            for entry in std::fs::read_dir(folder).with_context(what)? {
                paths.push(entry.with_context(what)?.path());
            }
            paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
            paths.sort();
            for path in paths {
                world::must_be_file(&path)?;
                catalog
                    .add(&stem(&path), &world::read_text(&path)?)
                    .with_context(|| format!("`{}`", path.display()))?;
            }
        }
        Ok(catalog)
    }
}

impl GpuArgs {
    /// The GPUs named, with the what-ifs applied, and what had to be assumed about their names.
    pub fn resolve(&self, catalog: &Catalog) -> Result<(Vec<Gpu>, Vec<String>)> {
        let named: Vec<&str> = match self.gpu.as_slice() {
            [] => vec![DEFAULT_GPU],
            names => names.iter().map(String::as_str).collect(),
        };
        let mut gpus = Vec::new();
        let mut assumptions = Vec::new();
        if self.gpu.is_empty() {
            assumptions.push(format!("no --gpu was given: {DEFAULT_GPU}"));
        }
        for name in named {
            let (gpu, assumption) = one(catalog, name, &self.set)?;
            gpus.push(gpu);
            assumptions.extend(assumption);
        }
        Ok((gpus, assumptions))
    }

    /// The one GPU that a command takes.
    pub fn resolve_one(&self, catalog: &Catalog) -> Result<(Gpu, Vec<String>)> {
        let (mut gpus, assumptions) = self.resolve(catalog)?;
        match gpus.len() {
            1 => Ok((gpus.remove(0), assumptions)),
            count => bail!("--gpu was given {count} times; this command takes one (see `compare`)"),
        }
    }
}

/// What of a `--gpu` is the file or name, and the MIG profile of a file behind it.
fn parts(name: &str) -> (&str, Option<&str>, bool) {
    let is_file = |name: &str| Path::new(name).extension().is_some_and(|e| e == "toml");
    let (file, profile) = if is_file(name) { (name, None) } else { split_profile(name) };
    (file, profile, is_file(file))
}

/// The text of a GPU's file, of a slice that of the whole GPU; `name` is the `--gpu` that it was found by.
pub fn file_of(catalog: &Catalog, name: &str, gpu: &Gpu) -> Result<String> {
    match parts(name) {
        (file, _, true) => world::read_text(Path::new(file)),
        _ => Ok(catalog.text(gpu.mig.as_ref().map_or(&gpu.id, |slice| &slice.gpu)).unwrap_or_default().into()),
    }
}

/// A GPU by file or name.
fn one(catalog: &Catalog, name: &str, set: &[Override]) -> Result<(Gpu, Option<String>)> {
    if name.trim().is_empty() {
        bail!("--gpu is empty: name a GPU of `wavecast gpus list` or a file");
    }
    let (file, profile, is_file) = parts(name);
    if is_file {
        let path = Path::new(file);
        let text = world::read_text(path)?;
        let what = || format!("`{name}`");
        let gpu = catalog.read(&stem(path), &text, set).with_context(what)?;
        let gpu = match profile {
            Some(profile) => catalog.slice(gpu, profile, set).with_context(what)?,
            None => gpu,
        };
        return Ok((gpu, None));
    }
    let found = catalog.find_with(name, set).map_err(|error| {
        let several = name.contains(',') && name.split(',').any(|part| catalog.find(part.trim()).is_ok());
        match error {
            GpuError::Unknown { .. } if several => anyhow!("--gpu `{name}`: repeat --gpu for several GPUs"),
            GpuError::Mig(_) if split_profile(name).1 == Some("") => {
                anyhow!("--gpu `{name}`: the MIG profile behind the colon is empty: {error}")
            }
            other => other.into(),
        }
    })?;
    Ok((found.gpu, found.assumption))
}

/// The id of a GPU file: its name without the ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

pub use crate::op::gemm::sides as tile;

/// How results are printed.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Form of the result
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// File for the result, written whole; standard output without it
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No notes on standard error
    #[arg(long)]
    pub quiet: bool,
}

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// Versioned, for programs
    Json,
    /// One row per answer, units in the column names
    Csv,
    /// A table to paste
    Markdown,
    /// One page for a browser, with charts and a table that sorts
    Html,
}

impl Format {
    /// A parser for a command that takes some formats alone, so that its help lists no other; `hidden` ones are taken and not
    /// listed.
    pub fn among(listed: &[Self], hidden: &[Self]) -> impl TypedValueParser<Value = Self> {
        let shown = |format: &Self, hide: bool| Some(format.to_possible_value()?.hide(hide));
        let listed = listed.iter().filter_map(|format| shown(format, false));
        let all: Vec<PossibleValue> = listed.chain(hidden.iter().filter_map(|format| shown(format, true))).collect();
        PossibleValuesParser::new(all).try_map(|word| Self::from_str(&word, false))
    }
}

impl OutputArgs {
    /// Prints the result to where the user wants it.
    pub fn emit(&self, text: &str) -> Result<()> {
        world::emit(self.output.as_deref(), text)
    }
}

/// Options of the commands that end in a report.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    pub output: OutputArgs,
    /// Folder for the report in every form and the charts (SVG, PNG, and the data behind each as CSV)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Every kernel in full, also where there are many
    #[arg(long)]
    pub full: bool,
    /// Exit with 1 when this holds for a kernel, such as 'percent_of_roof < 60' or 'tail_cost > 20'
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
}

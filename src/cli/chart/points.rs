//! `chart lines`, `heatmap`, `pareto`, `tornado` and `multiples`: tables of points, such as those of a sweep.

use std::path::PathBuf;

#[cfg(feature = "parquet")]
use anyhow::Context;
use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::Drawing;
#[cfg(feature = "parquet")]
use crate::sweep;
use crate::{
    chart::{
        Chart, Theme,
        points::{
            Front, FrontAsked, Heat, HeatAsked, Lines, LinesAsked, LogAxes, Multiples, MultiplesAsked, Points, Tornado,
        },
    },
    cli::world,
};

/// The table of a chart.
#[derive(ClapArgs)]
struct Table {
    /// Table with a row for each point, as `sweep` writes it (CSV or Parquet, `-` for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only the rows with one of these values in this column; several times for several columns
    #[arg(long, value_name = "COLUMN=VALUE[,VALUE]")]
    only: Vec<String>,
}

impl Table {
    /// The table as CSV, whichever form its file has.
    fn text(&self) -> Result<Vec<u8>> {
        let bytes = world::read(&self.file)?;
        if !bytes.starts_with(b"PAR1") {
            return Ok(bytes);
        }
        #[cfg(feature = "parquet")]
        {
            let what = || format!("`{}` cannot be read as Parquet", self.file.display());
            world::hushed(|| {
                let reader = sweep::parquet::Reader::new(bytes::Bytes::from(bytes)).with_context(what)?;
                let mut text = sweep::csv::header(reader.columns());
                for group in 0..reader.groups() {
                    text.extend(sweep::csv::rows(&reader.group(group).with_context(what)?, reader.inputs()));
                }
                Ok(text)
            })
        }
        #[cfg(not(feature = "parquet"))]
        bail!("`{}` is Parquet, and this program was built without it: write the rows as CSV", self.file.display())
    }

    fn read(&self) -> Result<Points> {
        let mut points = Points::read(&self.file.display().to_string(), &self.text()?)?;
        for only in &self.only {
            let Some((column, values)) = only.split_once('=') else {
                bail!("--only `{only}`: write COLUMN=VALUE or COLUMN=VALUE,VALUE, such as gpu=h100-sxm5-80gb");
            };
            // A cell may hold commas itself.
            let whole = [values.trim().to_owned()];
            points = match points.clone().only(column.trim(), &whole) {
                Ok(kept) => kept,
                Err(_) => {
                    points.only(column.trim(), &values.split(',').map(|v| v.trim().to_owned()).collect::<Vec<_>>())?
                }
            };
        }
        Ok(points)
    }
}

/// Axes of which the caller says whether they are logarithmic.
#[derive(ClapArgs)]
struct Axes {
    /// Logarithmic axes; without it those over more than two decades
    #[arg(long, value_enum, value_name = "AXES")]
    log: Option<Log>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Log {
    X,
    Y,
    Xy,
    None,
}

impl Axes {
    fn log(&self) -> Option<LogAxes> {
        let log = self.log?;
        Some(LogAxes { x: matches!(log, Log::X | Log::Xy), y: matches!(log, Log::Y | Log::Xy) })
    }
}

#[derive(ClapArgs)]
pub struct LinesArgs {
    #[command(flatten)]
    table: Table,
    /// Column of the level axis
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column of the upright axis
    #[arg(long, value_name = "COLUMN", default_value = "predicted_us")]
    y: String,
    /// Columns whose values have a curve each, six at most
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    by: Vec<String>,
    #[command(flatten)]
    axes: Axes,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(ClapArgs)]
pub struct HeatArgs {
    #[command(flatten)]
    table: Table,
    /// Column of the level axis
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column of the upright axis
    #[arg(long, value_name = "COLUMN")]
    y: String,
    /// Column of the colours
    #[arg(long, value_name = "COLUMN", default_value = "predicted_us")]
    z: String,
    /// Logarithmic colours; without it where they span more than a decade
    #[arg(long)]
    log_z: bool,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(ClapArgs)]
pub struct ParetoArgs {
    #[command(flatten)]
    table: Table,
    /// Column of the level axis
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column of the upright axis
    #[arg(long, value_name = "COLUMN", default_value = "predicted_us")]
    y: String,
    /// Columns whose values have a colour and marker each, six at most; the GPU without it
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    by: Vec<String>,
    /// Of this column more is better; of others less is
    #[arg(long, value_name = "COLUMN")]
    max: Vec<String>,
    #[command(flatten)]
    axes: Axes,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(ClapArgs)]
pub struct TornadoArgs {
    #[command(flatten)]
    table: Table,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(ClapArgs)]
pub struct MultiplesArgs {
    #[command(flatten)]
    table: Table,
    /// Column of the level axes
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column of the upright axes
    #[arg(long, value_name = "COLUMN", default_value = "predicted_us")]
    y: String,
    /// Columns whose values have a panel each, twelve at most
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', required = true)]
    panels: Vec<String>,
    /// Columns whose values have a curve each, six at most
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    by: Vec<String>,
    #[command(flatten)]
    axes: Axes,
    #[command(flatten)]
    pub drawing: Drawing,
}

pub fn lines(args: &LinesArgs, theme: Theme) -> Result<Chart> {
    let asked = LinesAsked { x: args.x.clone(), y: args.y.clone(), by: args.by.clone(), log: args.axes.log() };
    Ok(Lines::new(&args.table.read()?, &asked)?.draw(theme))
}

pub fn heat(args: &HeatArgs, theme: Theme) -> Result<Chart> {
    let log = args.log_z.then_some(true);
    let asked = HeatAsked { x: args.x.clone(), y: args.y.clone(), z: args.z.clone(), log };
    Ok(Heat::new(&args.table.read()?, &asked)?.draw(theme))
}

pub fn pareto(args: &ParetoArgs, theme: Theme) -> Result<Chart> {
    let asked = FrontAsked {
        x: args.x.clone(),
        y: args.y.clone(),
        by: args.by.clone(),
        max: args.max.clone(),
        log: args.axes.log(),
    };
    Ok(Front::new(&args.table.read()?, &asked)?.draw(theme))
}

pub fn tornado(args: &TornadoArgs, theme: Theme) -> Result<Chart> {
    Ok(Tornado::new(&args.table.read()?)?.draw(theme))
}

pub fn multiples(args: &MultiplesArgs, theme: Theme) -> Result<Chart> {
    let asked = MultiplesAsked {
        x: args.x.clone(),
        y: args.y.clone(),
        panels: args.panels.clone(),
        by: args.by.clone(),
        log: args.axes.log(),
    };
    Ok(Multiples::new(&args.table.read()?, &asked)?.draw(theme))
}

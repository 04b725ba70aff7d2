//! Measured ceilings: read for `--ceilings` and `calibrate --roofline`, and the table that `analyze` answers with.

use std::{io::Read, path::Path};

use anyhow::{Context, Result};

use super::{
    EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    input::Opening,
    table::{Cell, Table},
    world,
};
use crate::{
    calibrate::{self, Benchmark, Constant, Origin, Request, benchmark, calibrate},
    ceilings::{self, Ceiling, Ceilings, Tool, What},
    gpu::{Catalog, DataKind, Gpu},
    units::{plural, significant},
};

/// A file of ceilings.
pub struct Named {
    /// Its name without folders.
    pub name: String,
    /// What it holds.
    pub file: Ceilings,
}

/// Reads a file of ceilings, gzip or not.
pub fn read(path: &Path) -> Result<Named> {
    let what = || format!("`{}`", path.display());
    let mut bytes = Vec::new();
    Opening::default()
        .open(path, true)?
        .read_to_end(&mut bytes)
        .with_context(|| format!("{} cannot be read", what()))?;
    let file = ceilings::read(&bytes).with_context(what)?;
    let name = match path.file_name() {
        Some(name) if path != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard input".into(),
    };
    Ok(Named { name, file })
}

/// Reads ceilings that are to be drawn, and says what was left aside.
pub fn to_draw(path: &Path, quiet: bool) -> Result<Named> {
    let named = read(path)?;
    named.file.notes.iter().for_each(|note| world::note(quiet, &format!("note: {}: {note}", named.name)));
    Ok(named)
}

/// Above the datasheet by more than its own rounding.
const ABOVE: f64 = 1.001;

/// A ceiling beside what is known of it.
struct Row<'a> {
    one: &'a Ceiling,
    datasheet: Option<f64>,
    /// Whether that was measured by others.
    measured_too: bool,
    /// The constant that `calibrate` sets by it, and where the GPU is known its values before and after.
    constant: Option<(Constant, Option<(f64, f64)>)>,
}

impl Row<'_> {
    fn share(&self) -> Option<f64> {
        self.datasheet.map(|datasheet| self.one.rate / datasheet)
    }
}

/// Prints the table of a file's ceilings.
pub fn run(file: &Ceilings, gpus: &GpuArgs, catalog: &Catalog, output: &OutputArgs) -> Result<u8> {
    let (gpu, mut notes) = device(file, gpus, catalog)?;
    let taken = benchmark(file).map_err(|error| notes.push(format!("`calibrate` takes nothing: {error}"))).ok();
    notes.extend(file.notes.iter().cloned());
    let mut rows = Vec::new();
    for (place, one) in file.ceilings.iter().enumerate() {
        let constant = taken.as_ref().and_then(|taken| constant(taken, place, gpu.as_ref(), catalog, &mut notes));
        let datasheet = gpu.as_ref().and_then(|gpu| one.datasheet(gpu));
        let measured_too = datasheet.is_some() && gpu.as_ref().is_some_and(|gpu| one.against_measurement(gpu));
        rows.push(Row { one, datasheet, measured_too, constant });
    }
    let on_board = gpu.as_ref().and_then(|gpu| catalog.find(&format!("{}-gcd", gpu.id)).ok());
    if let (Tool::RocprofCompute, Some(die)) = (file.tool, on_board) {
        notes.push(format!("rocprofiler-compute measures every die by itself: --gpu {} is one", die.gpu.id));
    }
    notes.iter().for_each(|note| world::note(output.quiet, &format!("note: {note}")));
    let warnings = rows.iter().filter_map(|row| above(row, gpu.as_ref()?));
    warnings.for_each(|warning| world::note(output.quiet, &format!("warning: {warning}")));
    let people = matches!(output.format, Format::Text | Format::Markdown | Format::Html);
    let table = if people { for_people(&rows) } else { for_programs(&rows) };
    let devices = plural(file.devices as u64, "device");
    let mut text = table.titled(&format!("Measured ceilings: {}, {devices}", file.tool.label()), output.format)?;
    if output.format == Format::Text {
        text += LEGEND;
        if file.devices > 1 {
            text += SPREAD;
        }
        if let Some(gpu) = &gpu {
            let measured = rows.iter().any(|row| row.measured_too);
            text += &format!("datasheet: {}{}.\n", gpu.name, if measured { MEASURED } else { "" });
        }
    }
    output.emit(&text)?;
    Ok(EXIT_OK)
}

/// Why a ceiling is higher than it can be, where it is.
fn above(row: &Row, gpu: &Gpu) -> Option<String> {
    let (one, share) = (row.one, row.share().filter(|share| *share > ABOVE)?);
    let (rate, known) = (one.print(one.rate), one.print(row.datasheet?));
    let start = format!("{}: {rate} is {} % of", one.name, significant(share * 100.0, 4));
    if row.measured_too {
        return Some(format!("{start} {known}, which others measured on {}; no datasheet has it", gpu.name));
    }
    let cause = match one.what {
        What::Bandwidth(_) => "another GPU, or data that came from a cache",
        What::Rate(_) => "another GPU, a clock above the rated one, or another unit",
    };
    Some(format!("{start} the datasheet's {known} of {}: {cause}", gpu.name))
}

/// What the columns of the text mean.
const LEGEND: &str = "\
share: of the datasheet's figure, in %.
calibrate: the constant that `calibrate --roofline` sets by it.
";
const SPREAD: &str = "spread: most less least of the devices, in % of their median.\n";
const MEASURED: &str = "; * is no datasheet's, others measured it";

/// The GPU of the command line, else the one that the file names.
fn device(file: &Ceilings, gpus: &GpuArgs, catalog: &Catalog) -> Result<(Option<Gpu>, Vec<String>)> {
    let mut notes = Vec::new();
    if let Some(why) = file.cpu {
        notes.push(format!("an {} result of a CPU: {why}", file.tool.label()));
    }
    let named = file.gpu.as_ref().map(|name| catalog.find(name));
    if !gpus.gpu.is_empty() || !gpus.set.is_empty() {
        let (gpu, assumed) = gpus.resolve_one(catalog)?;
        notes.extend(assumed);
        if file.cpu.is_some() && !gpu.is_cpu() {
            notes.push(format!("--gpu is {}, no CPU: the shares say nothing", gpu.name));
        }
        match (named, &file.gpu) {
            (Some(Ok(own)), _) if own.gpu.id != gpu.id => {
                notes.push(format!("the file names {}, --gpu is {}", own.gpu.name, gpu.name));
            }
            (Some(Err(_)), Some(name)) => {
                notes.push(format!("the file names `{name}`, which is not in the catalog; --gpu is {}", gpu.name));
            }
            _ => {}
        }
        return Ok((Some(gpu), notes));
    }
    match named {
        Some(Ok(found)) => {
            notes.extend(found.assumption);
            Ok((Some(found.gpu), notes))
        }
        Some(Err(error)) => {
            notes.push(format!("{error}, so that nothing is compared"));
            Ok((None, notes))
        }
        None => {
            let what = if file.cpu.is_some() { "processor" } else { "GPU" };
            notes.push(format!("the file does not name its {what}: --gpu NAME sets the datasheet beside it"));
            Ok((None, notes))
        }
    }
}

/// What `calibrate` would do with the ceiling at a place of the file.
fn constant(
    taken: &Benchmark,
    place: usize,
    gpu: Option<&Gpu>,
    catalog: &Catalog,
    notes: &mut Vec<String>,
) -> Option<(Constant, Option<(f64, f64)>)> {
    let rate = &taken.ceilings[taken.from.iter().position(|from| *from == place)?];
    let sets = match rate {
        calibrate::Ceiling::Bandwidth(_) => Constant::DramEfficiency,
        calibrate::Ceiling::Unit(crate::gpu::Pipe::Tensor { .. }, _) => Constant::SustainedTensor,
        calibrate::Ceiling::Unit(..) => Constant::SustainedVector,
        calibrate::Ceiling::Product(..) => return None,
    };
    let Some(gpu) = gpu else { return Some((sets, None)) };
    // One at a time: what is wrong with one says nothing of the others.
    let rates = std::slice::from_ref(rate);
    let request = Request { gpu, tables: &[], ceilings: rates, data: DataKind::Random, any_gpu: false };
    match calibrate(catalog, &request) {
        Ok(found) => {
            let own = found.constants.iter().find(|one| matches!(one.origin, Origin::Ceiling(_)))?;
            Some((own.constant, Some((own.before, own.after))))
        }
        Err(error) => {
            notes.push(format!("`calibrate` would refuse it: {error}"));
            None
        }
    }
}

fn for_people(rows: &[Row]) -> Table<'static> {
    let several = rows.iter().any(|row| row.one.spread.is_some());
    let line = |row: &Row| {
        let one = row.one;
        let spread = one.spread.map(|(least, most)| (most - least) / one.rate * 100.0);
        let sets = row.constant.map(|(constant, values)| match values {
            Some((_, after)) => format!("{} {}", constant.name(), significant(after, 4)),
            None => constant.name().into(),
        });
        let star = if row.measured_too { " *" } else { "" };
        let spread = spread.map_or(Cell::Absent, |percent| Cell::Fixed(percent, 1));
        let head = [one.name.as_str().into(), one.print(one.rate).into()].into_iter();
        let tail = [
            row.datasheet.map(|rate| one.print(rate) + star).into(),
            row.share().map_or(Cell::Absent, |share| Cell::Fixed(share * 100.0, 1)),
            sets.into(),
        ];
        head.chain(several.then_some(spread)).chain(tail).collect()
    };
    let mut columns = vec![
        ("ceiling", "ceiling"),
        ("measured", "measured"),
        ("datasheet", "datasheet"),
        ("share", "datasheet_pct"),
        ("calibrate", "constant"),
    ];
    if several {
        columns.insert(2, ("spread", "spread_pct"));
    }
    Table { columns, rows: rows.iter().map(line).collect() }
}

/// Rates in bytes and operations per second.
fn for_programs(rows: &[Row]) -> Table<'static> {
    let line = |row: &Row| {
        let one = row.one;
        let values = row.constant.and_then(|(_, values)| values);
        let unit = if matches!(one.what, What::Bandwidth(_)) { "byte/s" } else { "op/s" };
        vec![
            one.name.as_str().into(),
            one.key().into(),
            unit.into(),
            one.rate.into(),
            one.spread.map(|(least, _)| least).into(),
            one.spread.map(|(_, most)| most).into(),
            row.datasheet.into(),
            row.datasheet.map(|_| if row.measured_too { "measured" } else { "specified" }).into(),
            row.share().map(|share| share * 100.0).into(),
            row.constant.map(|(constant, _)| constant.name()).into(),
            values.map(|(before, _)| before).into(),
            values.map(|(_, after)| after).into(),
        ]
    };
    let columns = [
        "ceiling",
        "of",
        "unit",
        "measured",
        "least",
        "most",
        "datasheet",
        "datasheet_basis",
        "datasheet_pct",
        "constant",
        "constant_before",
        "constant_after",
    ];
    Table { columns: columns.map(|name| (name, name)).to_vec(), rows: rows.iter().map(line).collect() }
}

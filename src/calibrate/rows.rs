//! Tables of measured times: which rows speak of the GPU, and why others do not.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    io::Read,
};

use crate::{
    gpu::{Catalog, Gpu},
    op::{
        batch::TableError,
        predict::Predictor,
        table::{Columns, HeaderError, Request, Timing},
    },
    units::significant,
};

/// A table as it was read.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    columns: Columns,
    records: Vec<csv::ByteRecord>,
}

impl Table {
    /// Reads a table; `name` stands for it in messages.
    ///
    /// # Errors
    /// The table lacks a column that every row needs, or cannot be read.
    pub fn read(name: &str, input: impl Read) -> Result<Self, TableError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let header = reader.byte_headers().map_err(TableError::Read)?;
        let columns = Columns::new(header)?;
        if !header.iter().any(|column| column.trim_ascii() == b"measured_us") {
            return Err(HeaderError::Absent("measured_us").into());
        }
        let records = reader.byte_records().collect::<Result<_, _>>().map_err(TableError::Read)?;
        Ok(Self { name: name.into(), columns, records })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its rows, those without use among them.
    pub fn rows(&self) -> usize {
        self.records.len()
    }
}

/// A measured product on the GPU.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    table: &'a str,
    line: u64,
    /// The product; no GPU is named in it.
    pub request: Request<'a>,
    /// Measured time, seconds.
    pub measured: f64,
    /// Host's time in the prediction with the constants as they were, seconds; absent where only the device is timed.
    pub launch: Option<f64>,
    /// Least time at the datasheet's rates, without what L2 may still hold, seconds.
    pub floor: f64,
    /// Whether nothing says what was in L2.
    pub assumed_cold: bool,
    /// Whether the product runs on tensor cores.
    pub tensor: bool,
    /// Whether measurements stand behind the model of such products: 16 bits or FP32, n and k multiples of 32.
    pub known: bool,
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.request.shape;
        let batch = if shape.batch > 1 { format!("{} x ", shape.batch) } else { String::new() };
        write!(f, "{}:{} ({batch}{} x {} x {} in ", self.table, self.line, shape.m, shape.n, shape.k)?;
        write!(f, "{})", self.request.data.name())
    }
}

/// Rows left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The reason.
    pub reason: String,
    /// How many.
    pub rows: u64,
    /// Table and line of the first.
    pub first: String,
}

/// Reads the rows that speak of the GPU; the others are counted by their reason. What open names were taken for comes last.
pub(super) fn usable<'a>(
    tables: &'a [Table],
    catalog: &Catalog,
    gpu: &Gpu,
    any_gpu: bool,
) -> (Vec<Row<'a>>, Vec<LeftOut>, Vec<String>) {
    let mut predictor = Predictor::new(catalog, Some(gpu.clone()));
    let mut devices: HashMap<&str, Option<String>> = HashMap::new();
    let (mut rows, mut assumptions) = (Vec::new(), Vec::new());
    let mut left_out: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for (table, record) in tables.iter().flat_map(|table| table.records.iter().map(move |record| (table, record))) {
        let line = record.position().map_or(0, csv::Position::line);
        let read = table.columns.request(record).map_err(|e| e.to_string()).and_then(|request| {
            let mut of_gpu = |name| {
                let other = if any_gpu { return None } else { other_device(catalog, gpu, name) };
                if other.is_none() {
                    assumptions.extend(catalog.find(name).ok().and_then(|found| found.assumption));
                }
                other
            };
            if let Some(reason) = devices.entry(request.gpu).or_insert_with(|| of_gpu(request.gpu)) {
                return Err(reason.clone());
            }
            let known = request.weight_copies.is_some() || catalog.protocol(request.source, request.op, gpu).is_some();
            let row = row(table, line, record, request, &mut predictor)?;
            Ok(Row { assumed_cold: !known, ..row })
        });
        match read {
            Ok(row) => rows.push(row),
            Err(reason) => {
                left_out.entry(reason).or_insert_with(|| (0, format!("{}:{line}", table.name))).0 += 1;
            }
        }
    }
    let left_out = left_out.into_iter().map(|(reason, (rows, first))| LeftOut { reason, rows, first });
    let mut left_out: Vec<LeftOut> = left_out.collect();
    left_out.sort_by_key(|left| std::cmp::Reverse(left.rows));
    (rows, left_out, assumptions)
}

/// Why a row's GPU is not the one that is calibrated. A row without a name was measured on it.
fn other_device(catalog: &Catalog, gpu: &Gpu, name: &str) -> Option<String> {
    let cure = "--any-gpu takes such rows too";
    if name.is_empty() {
        return None;
    }
    match catalog.means(name, gpu) {
        Ok(true) => None,
        Ok(false) => Some(format!("measured on `{name}`, not on {}; {cure}", gpu.name)),
        Err(_) => Some(format!("measured on `{name}`, which is no name of {} nor of another GPU; {cure}", gpu.name)),
    }
}

/// Seconds that a kernel may take.
const PLAUSIBLE: (f64, f64) = (1e-9, 1e6);

fn row<'a>(
    table: &'a Table,
    line: u64,
    record: &csv::ByteRecord,
    request: Request<'a>,
    predictor: &mut Predictor,
) -> Result<Row<'a>, String> {
    let measured = table.columns.measured(record).map_err(|e| e.to_string())?.ok_or("measured_us is empty")?;
    if !(PLAUSIBLE.0..=PLAUSIBLE.1).contains(&measured) {
        let us = significant(measured * 1e6, 3);
        return Err(format!("measured_us = {us} is no time of a kernel (0.001 us to 1,000,000 s)"));
    }
    let request = Request { gpu: "", ..request };
    let found = predictor.predict(&request).map_err(|e| e.to_string())?;
    let traffic = found.plan.bytes.get() - found.plan.resident.get();
    Ok(Row {
        table: &table.name,
        line,
        request,
        measured,
        launch: found.launch.filter(|_| request.timing == Timing::Launch),
        floor: (request.shape.flop() / found.peak).max(traffic / found.bandwidth),
        assumed_cold: false,
        tensor: matches!(found.pipe, crate::gpu::Pipe::Tensor { .. }),
        known: found.uncalibrated.is_none(),
    })
}

//! Rows in files: one, or the parts of a folder with a manifest that says what belongs together.

use std::{
    io::{BufWriter, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::{Swept, world};
#[cfg(feature = "parquet")]
use crate::sweep::parquet;
use crate::sweep::{Batch, Column, MOST_SHARDS, Plan, Shard, csv, fingerprint};

/// The form of a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Text, one line per row
    Csv,
    /// Typed columns, compressed
    Parquet,
}

#[cfg(feature = "parquet")]
pub const DEFAULT_FORM: &str = "parquet";
#[cfg(not(feature = "parquet"))]
pub const DEFAULT_FORM: &str = "csv";

impl Form {
    /// The form that the name of a file asks for.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => {
                bail!("`{}`: rows are written as .csv or .parquet; the report goes to standard output", path.display())
            }
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// How rows become bytes.
pub struct Encoder {
    columns: Vec<Column>,
    inputs: usize,
    form: Encoding,
}

enum Encoding {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Layout>),
}

/// Encoded rows.
pub enum Piece {
    /// Lines.
    Csv(Vec<u8>),
    /// A row group.
    #[cfg(feature = "parquet")]
    Parquet(parquet::Group),
}

/// Version of the columns and of what a file says of itself.
const SCHEMA: u32 = 1;

impl Encoder {
    /// For rows of these columns, of which the first `inputs` are never empty.
    pub fn new(form: Form, columns: &[Column], inputs: usize, about: &[(&str, String)]) -> Result<Self> {
        let form = match form {
            Form::Csv => Encoding::Csv,
            #[cfg(feature = "parquet")]
            Form::Parquet => Encoding::Parquet(Box::new(parquet::Layout::new(columns, inputs, about)?)),
            #[cfg(not(feature = "parquet"))]
            Form::Parquet => bail!("this program was built without the feature `parquet`; write .csv"),
        };
        #[cfg(not(feature = "parquet"))]
        let _ = about;
        Ok(Self { columns: columns.to_vec(), inputs, form })
    }

    /// The bytes of a batch.
    pub fn encode(&self, batch: &Batch) -> Result<Piece> {
        Ok(match &self.form {
            Encoding::Csv => Piece::Csv(csv::rows(batch, self.inputs)),
            #[cfg(feature = "parquet")]
            Encoding::Parquet(layout) => Piece::Parquet(layout.encode(batch)?),
        })
    }

    /// Writes a file: `rows` gives its pieces in order to what it is handed.
    pub fn write<'a>(
        &'a self,
        to: impl Write + Send + 'a,
        rows: impl FnOnce(&mut dyn FnMut(Piece) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        match &self.form {
            Encoding::Csv => {
                let mut to = BufWriter::with_capacity(1 << 18, to);
                to.write_all(&csv::header(&self.columns))?;
                rows(&mut |piece| match piece {
                    Piece::Csv(bytes) => Ok(to.write_all(&bytes)?),
                    #[cfg(feature = "parquet")]
                    Piece::Parquet(_) => bail!("rows of another form"),
                })?;
                Ok(to.flush()?)
            }
            #[cfg(feature = "parquet")]
            Encoding::Parquet(layout) => {
                let mut file = layout.file(to)?;
                rows(&mut |piece| match piece {
                    Piece::Parquet(group) => Ok(file.push(group)?),
                    Piece::Csv(_) => bail!("rows of another form"),
                })?;
                Ok(file.close()?)
            }
        }
    }
}

/// What a folder of parts says of itself: one file per shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: u32,
    pub wavecast: String,
    pub title: String,
    pub command: String,
    /// Tells sweeps apart: of the axes, the fixed values, the files of the GPUs, and the version of the model.
    pub fingerprint: String,
    /// Rows of the whole sweep.
    pub rows: u64,
    /// Which part of them, from 1.
    pub shard: u64,
    /// Of how many.
    pub shards: u64,
    /// The first row of this shard, and the one behind its last.
    pub first_row: u64,
    pub end_row: u64,
    /// Rows of a part, and of a row group.
    pub part_rows: u64,
    pub chunk_rows: u64,
    pub form: Form,
    /// Columns that are never empty: the point and its axes.
    pub inputs: usize,
    pub columns: Vec<Named>,
}

/// A column of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub kind: String,
}

impl Manifest {
    pub fn new(space: &Swept, columns: &[Column], shard: Shard, part_rows: u64, form: Form) -> Self {
        let rows = shard.rows(space.plan.rows());
        Self {
            schema: SCHEMA,
            wavecast: env!("CARGO_PKG_VERSION").into(),
            title: space.plan.title.clone(),
            command: space.command.clone(),
            fingerprint: mark(space),
            rows: space.plan.rows(),
            shard: shard.index,
            shards: shard.count,
            first_row: rows.start,
            end_row: rows.end,
            part_rows,
            chunk_rows: space.plan.chunk(),
            form,
            inputs: inputs(&space.plan),
            columns: columns.iter().map(|c| Named { name: c.name.clone(), kind: format!("{:?}", c.kind) }).collect(),
        }
    }

    /// What a file of rows says of itself.
    pub fn about(&self) -> Vec<(&'static str, String)> {
        vec![
            ("wavecast.schema", self.schema.to_string()),
            ("wavecast.version", self.wavecast.clone()),
            ("wavecast.command", self.command.clone()),
            ("wavecast.title", self.title.clone()),
            ("wavecast.fingerprint", self.fingerprint.clone()),
            ("wavecast.rows", self.rows.to_string()),
        ]
    }

    /// Name of the file of a shard; numbers of equal length sort.
    pub fn name(&self) -> String {
        let width = self.shards.to_string().len();
        format!("shard-{:0width$}-of-{}.json", self.shard, self.shards)
    }

    /// The parts of the shard with the rows of each, cut at multiples of `part_rows`.
    pub fn parts(&self) -> impl Iterator<Item = (String, std::ops::Range<u64>)> {
        let width = self.rows.to_string().len();
        crate::sweep::chunks(self.first_row..self.end_row, self.part_rows)
            .map(move |rows| (format!("rows-{:0width$}.{}", rows.start, self.form.extension()), rows))
    }

    pub fn read(path: &Path) -> Result<Self> {
        let text = world::read_text(path)?;
        let found: Self =
            serde_json::from_str(&text).with_context(|| format!("`{}` is no manifest of a sweep", path.display()))?;
        let wrong = |field: &str, value: u64, rule: &str| {
            bail!("`{}` is damaged: {field} = {value}, {rule}; sweep that shard again", path.display())
        };
        if found.schema != SCHEMA {
            return wrong("schema", found.schema.into(), "this program reads 1");
        }
        if !(1..=MOST_SHARDS).contains(&found.shards) || !(1..=found.shards).contains(&found.shard) {
            return wrong(
                "shard",
                found.shard,
                &format!("of {} shards; at most {MOST_SHARDS} are joined", found.shards),
            );
        }
        if found.part_rows == 0 {
            return wrong("part_rows", 0, "a part has at least 1 row");
        }
        if !(1..=1 << 20).contains(&found.chunk_rows) {
            return wrong("chunk_rows", found.chunk_rows, "a row group has 1 to 2^20 rows");
        }
        let rows = Shard { index: found.shard, count: found.shards }.rows(found.rows);
        if rows != (found.first_row..found.end_row) || found.rows >= 1 << 63 {
            return wrong(
                "first_row",
                found.first_row,
                &format!("that shard of {} rows starts at {}", found.rows, rows.start),
            );
        }
        if found.inputs > found.columns.len() {
            return wrong("inputs", found.inputs as u64, &format!("there are {} columns", found.columns.len()));
        }
        Ok(found)
    }
}

/// Columns before the results.
pub fn inputs(plan: &Plan) -> usize {
    1 + plan.axes().count()
}

/// The fingerprint of a sweep.
fn mark(space: &Swept) -> String {
    let Swept { plan, catalog, .. } = space;
    let canonical = plan.canonical();
    let mut parts = vec![env!("CARGO_PKG_VERSION"), &canonical];
    let names = super::gpu_names(plan);
    // The file behind each name: a GPU of one's own may differ between machines.
    let ids: Vec<String> = names.iter().filter_map(|name| Some(catalog.find(name).ok()?.gpu.id)).collect();
    parts.extend(ids.iter().filter_map(|id| catalog.text(id.split(':').next().unwrap_or(id))));
    let prices: Vec<String> = space.prices.all().iter().map(|p| format!("{}={}", p.gpu, p.usd_per_hour)).collect();
    parts.extend(prices.iter().map(String::as_str));
    format!("{:016x}", fingerprint(&parts))
}

impl Manifest {
    /// Why the shards of two are not of one sweep; absent where they are. Parts may be of different lengths.
    pub fn apart_from(&self, other: &Self) -> Option<String> {
        let alike = Self {
            shard: other.shard,
            first_row: other.first_row,
            end_row: other.end_row,
            part_rows: other.part_rows,
            ..self.clone()
        };
        (alike != *other).then(|| alike.difference(other))
    }

    /// In which field two differ first, for people.
    pub fn difference(&self, other: &Self) -> String {
        let fields = |m: &Self| serde_json::to_value(m).ok();
        let (Some(serde_json::Value::Object(mine)), Some(theirs)) = (fields(self), fields(other)) else {
            return "they differ".into();
        };
        // The command says more than the number that follows from it.
        let order = ["wavecast", "command", "rows", "shards", "part_rows", "form"];
        let keys = order.into_iter().chain(mine.keys().map(String::as_str));
        let differs = keys.into_iter().find(|key| mine.get(*key) != theirs.get(*key));
        differs.map_or("nothing".into(), |key| match key {
            "fingerprint" => "the file of a GPU or the sweep file changed".into(),
            key => format!("{key} is {} there and {} here", mine[key], theirs[key]),
        })
    }
}

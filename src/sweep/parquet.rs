//! Rows as Parquet: one row group per batch, typed columns, what made the file in its metadata.

use std::{io::Write, sync::Arc};

use bytes::Bytes;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    column::{
        reader::{ColumnReader, ColumnReaderImpl},
        writer::{ColumnCloseResult, ColumnWriter, get_column_writer},
    },
    data_type::{ByteArray, DataType},
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr},
        reader::{ChunkReader, FileReader},
        serialized_reader::SerializedFileReader,
        writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite},
    },
    schema::types::{ColumnPath, SchemaDescriptor, Type, TypePtr},
};

use super::batch::{ABSENT, Batch, Cell, Cells, Column};

/// How batches become row groups of one file.
#[derive(Clone)]
pub struct Layout {
    schema: TypePtr,
    descriptor: Arc<SchemaDescriptor>,
    properties: WriterPropertiesPtr,
}

/// A row group that only waits to be written.
pub struct Group(Vec<(Bytes, ColumnCloseResult)>);

impl Layout {
    /// The layout of a table whose first `inputs` columns are never empty, with what the file says of itself.
    ///
    /// # Errors
    /// Two columns of one name.
    pub fn new(columns: &[Column], inputs: usize, about: &[(&str, String)]) -> Result<Self, ParquetError> {
        let field = |(place, column): (usize, &Column)| {
            let (physical, logical) = match column.kind {
                Cell::Whole => (Physical::INT64, None),
                Cell::Number => (Physical::DOUBLE, None),
                Cell::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let repetition = if place < inputs { Repetition::REQUIRED } else { Repetition::OPTIONAL };
            let field = Type::primitive_type_builder(&column.name, physical);
            field.with_logical_type(logical).with_repetition(repetition).build().map(Arc::new)
        };
        let fields = columns.iter().enumerate().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
        let about = about.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(about));
        // Times hardly repeat; a dictionary of them is work for nothing.
        for column in columns.iter().skip(inputs).filter(|c| c.kind == Cell::Number) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::new(vec![column.name.clone()]), false);
        }
        let descriptor = Arc::new(SchemaDescriptor::new(schema.clone()));
        Ok(Self { schema, descriptor, properties: Arc::new(properties.build()) })
    }

    /// The row group of a batch.
    ///
    /// # Errors
    /// The batch does not have the columns of the layout.
    pub fn encode(&self, batch: &Batch) -> Result<Group, ParquetError> {
        let columns = batch.cells.iter().enumerate().map(|(place, cells)| self.column(place, cells));
        columns.collect::<Result<Vec<_>, _>>().map(Group)
    }

    fn column(&self, place: usize, cells: &Cells) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let descriptor = self.descriptor.column(place);
        let optional = descriptor.max_def_level() > 0;
        let mut bytes = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut bytes));
        let mut writer = get_column_writer(descriptor, self.properties.clone(), pages);
        fn there<T: Copy>(all: &[T], optional: bool, there: impl Fn(T) -> bool) -> (Vec<T>, Option<Vec<i16>>) {
            if !optional {
                return (all.to_vec(), None);
            }
            let levels = all.iter().map(|v| i16::from(there(*v))).collect();
            (all.iter().copied().filter(|v| there(*v)).collect(), Some(levels))
        }
        match (&mut writer, cells) {
            (ColumnWriter::Int64ColumnWriter(to), Cells::Whole(all)) => {
                let (values, levels) = there(all, optional, |v| v != ABSENT);
                to.write_batch(&values, levels.as_deref(), None)?;
            }
            (ColumnWriter::DoubleColumnWriter(to), Cells::Number(all)) => {
                let (values, levels) = there(all, optional, |v| !v.is_nan());
                to.write_batch(&values, levels.as_deref(), None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(to), Cells::Text(all)) => {
                let known: Vec<ByteArray> = all.known.iter().map(|t| ByteArray::from(t.as_str())).collect();
                let (places, levels) = there(&all.places, optional, |p| (p as usize) < known.len());
                let values: Vec<ByteArray> = places
                    .iter()
                    .map(|p| known.get(*p as usize).cloned().unwrap_or_else(|| ByteArray::from("")))
                    .collect();
                to.write_batch(&values, levels.as_deref(), None)?;
            }
            _ => return Err(ParquetError::General(format!("column {place} is of another type"))),
        }
        let close = writer.close()?;
        Ok((Bytes::from(bytes.into_inner()?), close))
    }

    /// A file that takes row groups in order.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn file<W: Write + Send>(&self, to: W) -> Result<File<W>, ParquetError> {
        Ok(File(SerializedFileWriter::new(to, self.schema.clone(), self.properties.clone())?))
    }
}

/// A file that is being written.
pub struct File<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> File<W> {
    /// Adds a row group.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn push(&mut self, group: Group) -> Result<(), ParquetError> {
        let mut to = self.0.next_row_group()?;
        for (bytes, close) in group.0 {
            to.append_column(&bytes, close)?;
        }
        to.close()?;
        Ok(())
    }

    /// Writes what stands behind the last row group.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn close(self) -> Result<(), ParquetError> {
        self.0.close()?;
        Ok(())
    }
}

/// A file of rows, read row group by row group.
pub struct Reader<R: ChunkReader + 'static> {
    reader: SerializedFileReader<R>,
    columns: Vec<Column>,
}

impl<R: ChunkReader + 'static> Reader<R> {
    /// Opens a file of rows, whatever its columns.
    ///
    /// # Errors
    /// It is no Parquet file, or has columns of other types than those of a sweep.
    pub fn new(from: R) -> Result<Self, ParquetError> {
        let reader = SerializedFileReader::new(from)?;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let column = |c: &parquet::schema::types::ColumnDescPtr| {
            let kind = match c.physical_type() {
                Physical::INT64 => Cell::Whole,
                Physical::DOUBLE => Cell::Number,
                Physical::BYTE_ARRAY => Cell::Text,
                other => return Err(ParquetError::General(format!("column `{}` is of type {other}", c.name()))),
            };
            Ok(Column { name: c.name().to_owned(), kind })
        };
        let columns = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { reader, columns })
    }

    /// Opens a file that has these columns and no other.
    ///
    /// # Errors
    /// It is no Parquet file, or has other columns.
    pub fn open(from: R, columns: &[Column]) -> Result<Self, ParquetError> {
        let found = Self::new(from)?;
        if found.columns != columns {
            return Err(ParquetError::General("it has other columns than its manifest says".into()));
        }
        Ok(found)
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Columns before the first that may be empty: the point and its axes.
    pub fn inputs(&self) -> usize {
        let columns = self.reader.metadata().file_metadata().schema_descr().columns();
        columns.iter().take_while(|c| c.max_def_level() == 0).count()
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows().unsigned_abs()
    }

    /// Row groups.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The rows of a group.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn group(&self, group: usize) -> Result<Batch, ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let mut batch = Batch::new(&self.columns);
        batch.rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        for (place, cells) in batch.cells.iter_mut().enumerate() {
            let rows = batch.rows;
            match (group.get_column_reader(place)?, cells) {
                (ColumnReader::Int64ColumnReader(from), Cells::Whole(to)) => *to = spread(from, rows, ABSENT)?,
                (ColumnReader::DoubleColumnReader(from), Cells::Number(to)) => *to = spread(from, rows, f64::NAN)?,
                (ColumnReader::ByteArrayColumnReader(from), Cells::Text(to)) => {
                    for text in spread(from, rows, ByteArray::from(""))? {
                        to.push(text.as_utf8().unwrap_or_default());
                    }
                }
                _ => return Err(ParquetError::General(format!("column {place} is of another type"))),
            }
        }
        Ok(batch)
    }
}

/// The values of a column chunk, one per row, with `absent` where there is none.
fn spread<T: DataType>(mut from: ColumnReaderImpl<T>, rows: usize, absent: T::T) -> Result<Vec<T::T>, ParquetError> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    while levels.len() < rows && values.len() < rows {
        let (records, ..) = from.read_records(rows, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
    }
    if levels.is_empty() {
        return Ok(values);
    }
    let mut values = values.into_iter();
    Ok(levels
        .iter()
        .map(|level| if *level > 0 { values.next() } else { None }.unwrap_or_else(|| absent.clone()))
        .collect())
}

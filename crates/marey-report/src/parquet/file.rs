//! Rows as a Parquet file.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{KeyValue, SortingColumn};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::SCHEMA_VERSION;
use super::column::{ColumnFacts, ColumnType};
use super::kind::Kind;
use super::rows::Rows;

/// Rows of a row group: what engines read as one piece.
const GROUP_ROWS: usize = 1 << 20;

/// A Parquet file of one kind. The column `rank` is not in it: the name of its folder says it.
#[derive(Debug)]
pub struct ParquetFile<W: Write + Send> {
    writer: ArrowWriter<W>,
    /// Which columns of a batch are written.
    kept: Vec<usize>,
    schema: SchemaRef,
}

impl<W: Write + Send> ParquetFile<W> {
    /// An empty file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(kind: Kind, out: W) -> Result<Self> {
        let columns = kind.columns();
        let kept = (0..columns.len()).filter(|place| columns[*place].name != "rank");
        let kept: Vec<usize> = kept.collect();
        let schema = Arc::new(kind.schema().project(&kept).map_err(ParquetError::from)?);
        let columns: Vec<ColumnFacts> = kept.iter().map(|place| columns[*place]).collect();
        // Without Arrow's own schema in it: it is of use to Arrow's readers alone.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(kind, &columns))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options)?;
        Ok(Self { writer, kept, schema })
    }

    /// Writes all rows. Memory: a row group.
    ///
    /// # Errors
    /// When they cannot be made or written.
    pub fn write(&mut self, rows: &mut Rows) -> Result<()> {
        for batch in rows {
            let batch = batch?.project(&self.kept)?;
            let columns = batch.columns().to_vec();
            let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
            self.writer.write(&batch)?;
        }
        Ok(())
    }

    /// Writes the end of the file, and returns what it was written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<W> {
        self.writer.into_inner()
    }
}

fn properties(kind: Kind, columns: &[ColumnFacts]) -> WriterProperties {
    let version = KeyValue::new("marey.schema_version".to_owned(), SCHEMA_VERSION.to_owned());
    let table = KeyValue::new("marey.kind".to_owned(), kind.name().to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("marey ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![version, table]))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    for column in columns {
        let path = ColumnPath::from(column.name);
        // Times hardly repeat, and neighbours are near each other.
        if column.kind == ColumnType::Integer && column.unit == "ns" {
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let start = columns.iter().position(|column| column.name == "start_ns");
    if let Some(place) = start.filter(|_| kind == Kind::Sections) {
        let place = i32::try_from(place).unwrap_or(i32::MAX);
        let by_start = SortingColumn { column_idx: place, descending: false, nulls_first: false };
        properties = properties.set_sorting_columns(Some(vec![by_start]));
    }
    properties.build()
}

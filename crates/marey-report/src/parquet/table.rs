//! What a kind of table is made of.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, Schema, SchemaRef};

use super::column::{Column, ColumnFacts, integers, texts};
use super::process::Process;

/// A kind of table: what its rows are made of.
pub(super) trait Table: Send + Sized {
    /// What a row is made of.
    type Row<'a>;

    /// Columns, without those that every table has.
    fn columns<'a>() -> Vec<Column<Self::Row<'a>>>;

    /// What is found out once for all rows.
    fn new(process: &Process) -> Self;

    /// Number of rows.
    fn len(&self, process: &Process) -> usize;

    /// A row; `None` beyond the last one.
    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Self::Row<'a>>;
}

/// Columns of a kind with those that every table has.
pub(super) fn facts_of<T: Table>() -> Vec<ColumnFacts> {
    let own = T::columns();
    let common = common_columns();
    let facts = common.iter().map(|column| column.facts);
    facts.chain(own.iter().map(|column| column.facts)).collect()
}

fn common_columns() -> [Column<()>; 2] {
    [
        Column::text("process", "the process: host, process id and start", |()| None),
        Column::number("rank", "place in the job", |()| None)
            .null("outside a job of several ranks"),
    ]
}

/// The Arrow schema of columns.
pub(super) fn schema_of(facts: &[ColumnFacts]) -> SchemaRef {
    let fields: Vec<_> = facts.iter().map(ColumnFacts::field).collect();
    Arc::new(Schema::new(fields))
}

/// What makes the columns of some rows.
pub(super) trait MakeBatch: Send {
    /// Number of rows.
    fn len(&self) -> usize;

    fn columns(
        &self,
        places: std::ops::Range<usize>,
        n_too_large: &mut u64,
    ) -> Result<Vec<ArrayRef>, ArrowError>;
}

struct RowsOf<T> {
    table: T,
    process: Arc<Process>,
}

impl<T: Table> MakeBatch for RowsOf<T> {
    fn len(&self) -> usize {
        self.table.len(&self.process)
    }

    fn columns(
        &self,
        places: std::ops::Range<usize>,
        n_too_large: &mut u64,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let rows = places.filter_map(|place| self.table.row(&self.process, place));
        let rows: Vec<T::Row<'_>> = rows.collect();
        let id = self.process.id.as_str();
        let rank = self.process.rank().map(u64::from);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(texts(rows.iter().map(|_| Some(id)))?),
            Arc::new(integers(rows.iter().map(|_| rank), n_too_large)?),
        ];
        for column in T::columns() {
            columns.push(column.values(&rows, n_too_large)?);
        }
        Ok(columns)
    }
}

/// The rows of a table of a process.
pub(super) fn rows_of<T: Table + 'static>(process: Arc<Process>) -> Box<dyn MakeBatch> {
    let table = T::new(&process);
    Box::new(RowsOf { table, process })
}

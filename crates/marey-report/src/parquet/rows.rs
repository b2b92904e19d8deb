//! What a kind of table is made of, and rows of a process as record batches.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use super::column::{Column, ColumnFacts, integers};
use super::kind::Kind;
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

/// Makes the columns of some rows; the number grows by the numbers that have no place.
pub(super) type MakeColumns = Box<dyn Fn(Range<usize>, &mut u64) -> Vec<ArrayRef> + Send>;

/// The number of rows that a table has of a process, and what makes their columns.
pub(super) fn rows_of<T: Table + 'static>(process: Arc<Process>) -> (usize, MakeColumns) {
    let table = T::new(&process);
    let len = table.len(&process);
    let make = move |places: Range<usize>, n_too_large: &mut u64| {
        let rows = places.filter_map(|place| table.row(&process, place));
        let rows: Vec<T::Row<'_>> = rows.collect();
        let id = process.id.as_str();
        let rank = process.rank().map(u64::from);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|_| Some(id)).collect::<StringArray>()),
            Arc::new(integers(rows.iter().map(|_| rank), n_too_large)),
        ];
        columns.extend(T::columns().iter().map(|column| column.values(&rows, n_too_large)));
        columns
    };
    (len, Box::new(make))
}

/// Rows of a batch. So few that no column has more than 2 GiB of text: a note has at most 32 KiB, as JSON six times that.
const BATCH_ROWS: usize = 8192;

/// Rows of one process and kind, made batch by batch.
pub struct Rows {
    schema: SchemaRef,
    kind: Kind,
    len: usize,
    made: usize,
    n_too_large: u64,
    make: MakeColumns,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Rows");
        shown.field("kind", &self.kind).field("len", &self.len);
        shown.finish_non_exhaustive()
    }
}

impl Kind {
    /// Its rows of a process. What has to be sorted or looked up is, here.
    pub fn rows(self, process: Arc<Process>) -> Rows {
        let (len, make) = self.table(process);
        Rows { schema: self.schema(), kind: self, len, made: 0, n_too_large: 0, make }
    }
}

impl Rows {
    /// Their kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many there are, those that were handed out, too.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Numbers in what was handed out that have no place in 63 bits: they are null.
    pub fn n_too_large(&self) -> u64 {
        self.n_too_large
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.made >= self.len {
            return None;
        }
        let end = self.made.saturating_add(BATCH_ROWS).min(self.len);
        let places = std::mem::replace(&mut self.made, end)..end;
        let schema = Arc::clone(&self.schema);
        Some(RecordBatch::try_new(schema, (self.make)(places, &mut self.n_too_large)))
    }
}

impl FusedIterator for Rows {}

/// Rows of several processes, one after the other.
#[derive(Debug)]
pub struct Batches {
    kind: Kind,
    waiting: std::vec::IntoIter<Arc<Process>>,
    now: Option<Rows>,
}

impl Batches {
    /// Rows of this kind of all these processes.
    pub fn new(kind: Kind, processes: Vec<Arc<Process>>) -> Self {
        Self { kind, waiting: processes.into_iter(), now: None }
    }

    /// Columns of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.kind.schema()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.now.as_mut().and_then(Iterator::next) {
                return Some(batch);
            }
            self.now = Some(self.kind.rows(self.waiting.next()?));
        }
    }
}

impl arrow_array::RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Self::schema(self)
    }
}

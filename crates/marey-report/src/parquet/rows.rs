//! Rows of a process as record batches.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::kind::Kind;
use super::process::Process;
use super::table::MakeBatch;

/// Rows of a batch. So few that no column has more than 2 GiB of text: a note has at most 32 KiB, as JSON six times that.
const BATCH_ROWS: usize = 8192;

/// Rows of one process and kind, made batch by batch.
pub struct Rows {
    schema: SchemaRef,
    kind: Kind,
    len: usize,
    made: usize,
    n_too_large: u64,
    make: Box<dyn MakeBatch>,
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
        Rows::of(self, process)
    }
}

impl Rows {
    fn of(kind: Kind, process: Arc<Process>) -> Self {
        let make = kind.table(process);
        Self { schema: kind.schema(), kind, len: make.len(), made: 0, n_too_large: 0, make }
    }

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
        let columns = self.make.columns(places, &mut self.n_too_large);
        Some(columns.and_then(|columns| RecordBatch::try_new(schema, columns)))
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

//! Tables of a list of the run: an item a row, in the order of the list.

use marey::Run;

use super::column::Column;
use super::process::Process;
use super::table::Table;

/// A table that has a row for each item of a list of the run.
pub(super) trait Listed: Default + Send {
    /// What the list is of.
    type Item: 'static;

    /// The list.
    fn list(run: &Run) -> &[Self::Item];

    /// Columns, without those that every table has.
    fn columns<'a>() -> Vec<Column<At<'a, Self::Item>>>;
}

/// An item of a list of the run, with the process.
pub(super) struct At<'a, T> {
    pub(super) process: &'a Process,
    pub(super) it: &'a T,
}

impl<L: Listed> Table for L {
    type Row<'a> = At<'a, L::Item>;

    fn columns<'a>() -> Vec<Column<Self::Row<'a>>> {
        <L as Listed>::columns()
    }

    fn new(_: &Process) -> Self {
        Self::default()
    }

    fn len(&self, process: &Process) -> usize {
        L::list(&process.run).len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Self::Row<'a>> {
        let it = L::list(&process.run).get(place)?;
        Some(At { process, it })
    }
}

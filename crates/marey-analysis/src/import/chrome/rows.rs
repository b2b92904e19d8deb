//! Events that last, as columns.

use std::collections::BTreeMap;

use super::category::Class;
use super::names::Names;
use super::tracks::Identifier;
use crate::intervals::Interval;

/// Every event with a beginning and a duration, one row each, in the order of the file; events that were written as a
/// beginning and an end follow. All columns are equally long. 25 bytes a row.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Nanoseconds after the first event of the trace.
    pub start_ns: Vec<u64>,
    /// Nanoseconds.
    pub duration_ns: Vec<u64>,
    /// Its name, by its number in `Trace::names`.
    pub name: Vec<u32>,
    /// Where it happened: an index into `Tracks::each`.
    pub track: Vec<u32>,
    /// Its category, an index into [`Categories`].
    pub category: Vec<u8>,
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// All of them, in order.
    pub fn each(&self) -> impl Iterator<Item = u32> + use<> {
        (0_u32..).take(self.len())
    }

    /// When the last of them ends; 0 without any.
    pub fn last_end_ns(&self) -> u64 {
        self.each().map(|row| self.end_ns(row)).max().unwrap_or_default()
    }

    /// When the row ends.
    pub fn end_ns(&self, row: u32) -> u64 {
        self.start_of(row).saturating_add(self.duration_of(row))
    }

    /// When it begins; 0 when there is no such row.
    pub fn start_of(&self, row: u32) -> u64 {
        self.start_ns.get(row as usize).copied().unwrap_or_default()
    }

    /// When it goes on, likewise.
    pub fn time_of(&self, row: u32) -> Interval {
        Interval { start_ns: self.start_of(row), end_ns: self.end_ns(row) }
    }

    /// The number of its name; `None` when there is no such row.
    pub fn name_of(&self, row: u32) -> Option<u32> {
        self.name.get(row as usize).copied()
    }

    /// How long it is; 0 when there is no such row.
    pub fn duration_of(&self, row: u32) -> u64 {
        let duration = self.duration_ns.get(row as usize);
        duration.copied().unwrap_or_default()
    }

    /// How many there are of each category of devices that is not analysed. One pass over a column, if there is such a category.
    pub(super) fn not_analysed(&self, categories: &Categories) -> BTreeMap<String, u64> {
        let numbers = (0..OTHERS).take(categories.classes.len());
        let wanted = numbers.filter(|number| Class::is_not_analysed(categories.name(*number)));
        let counted = wanted.map(|number| {
            let rows = self.category.iter().filter(|category| **category == number);
            (categories.name(number).to_owned(), rows.count() as u64)
        });
        counted.collect()
    }
}

/// What is known of a row that is work of a device, beyond the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Which row.
    pub row: u32,
    /// What kind of work.
    pub class: Class,
    /// What ties it to the call that launched it; `None` when the trace does not say.
    pub correlation: Option<i64>,
    /// The stream it ran on, else its track.
    pub stream: Identifier,
    /// Bytes that it moved or filled; `None` when the trace does not say.
    pub bytes: Option<u64>,
}

/// A call of the runtime or the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which row.
    pub row: u32,
    /// What ties it to the work that it launched; `None` when the trace does not say.
    pub correlation: Option<i64>,
    /// The kernel that it launched, by its number in `Trace::names`; `None` when the call does not say: only those of AMD do.
    pub kernel: Option<u32>,
}

/// The categories of a trace, each with what it stands for. There are at most 255; those beyond are one, without a name.
#[derive(Clone, Debug, Default)]
pub struct Categories {
    pub(super) names: Names,
    pub(super) classes: Vec<Class>,
}

/// Categories beyond this number are not told apart.
pub(super) const OTHERS: u8 = u8::MAX;

impl Categories {
    /// The name of a category; empty for those that are not told apart.
    pub fn name(&self, category: u8) -> &str {
        self.names.get(u32::from(category))
    }

    /// What it stands for.
    pub fn class(&self, category: u8) -> Class {
        let class = self.classes.get(category as usize).copied();
        class.unwrap_or(Class::Other)
    }
}

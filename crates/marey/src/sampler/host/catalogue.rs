//! What is put together at the start: series and who reads them, reasons, facts.

use std::path::{Path, PathBuf};

use super::HostOptions;
use super::kept_file::{Buffer, KeptFile, below};
use super::pace::Pace;
use super::table::{Column, File, Switch};
use crate::series::{SeriesInfo, Unavailable};

/// The place of a series among the values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(usize);

impl Slot {
    /// Of a series that does not exist: what is put there is dropped.
    pub(super) const NONE: Self = Self(usize::MAX);

    /// Puts a value into its place.
    pub(super) fn put(self, values: &mut [f64], value: f64) {
        if let Some(place) = values.get_mut(self.0) {
            *place = value;
        }
    }
}

/// Puts the readings of a part of the machine, mostly one file, in their places; `None` when it stopped because something is not to be had
/// now.
pub(super) type Part = Box<dyn FnMut(&mut Round<'_>) -> Option<()> + Send>;

/// One reading of everything.
#[derive(Debug)]
pub(super) struct Round<'a> {
    /// Now, `CLOCK_MONOTONIC`.
    pub now_ns: u64,
    /// For the text of the file at hand.
    pub buffer: &'a mut Buffer,
    /// The values of all series.
    pub values: &'a mut [f64],
    /// Processes and threads that the machine has started since it booted; `None` when that was not read in this round.
    pub n_started: Option<f64>,
}

/// What is found at the start.
pub(super) struct Catalogue<'a> {
    /// What was asked for.
    pub options: &'a HostOptions,
    /// Who reads, and how often at most.
    pub parts: Vec<(Pace, Part)>,
    /// The series so far.
    pub series: Vec<SeriesInfo>,
    /// What there is not, so far.
    pub unavailable: Vec<Unavailable>,
    /// Facts so far.
    pub facts: Vec<(String, String)>,
}

impl<'a> Catalogue<'a> {
    /// An empty one.
    pub(super) fn new(options: &'a HostOptions) -> Self {
        Self {
            options,
            parts: Vec::new(),
            series: Vec::new(),
            unavailable: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// A path of the machine, below the root. `<pid>` in it is the process.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        let pid = self.options.pid;
        let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
        below(&self.options.root, path.replace("<pid>", &process))
    }

    /// A series, if it is asked for.
    pub(super) fn series(&mut self, of: Switch, series: SeriesInfo) -> Slot {
        if !of.is_on(self.options) {
            return Slot::NONE;
        }
        self.series.push(series);
        Slot(self.series.len() - 1)
    }

    /// Has something read in each round, at this pace at most.
    pub(super) fn part(
        &mut self,
        pace: Pace,
        read: impl FnMut(&mut Round<'_>) -> Option<()> + Send + 'static,
    ) {
        self.parts.push((pace, Box::new(read)));
    }

    /// Opens a file of the table: those of its series that are wanted are read if they are to be had now.
    pub(super) fn file(&mut self, path: &Path, subject: &str, row: &File) {
        let wanted = row.columns.iter().filter(|column| column.switch.is_on(self.options));
        let wanted: Vec<&Column> = wanted.collect();
        if wanted.is_empty() {
            return;
        }
        let Some((file, text)) = self.open(path, &names(&wanted, subject), row.remedy) else {
            return;
        };
        let is_given = |column: &&Column| (column.value)(&text).is_some();
        let (given, lacking): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_given);
        if !lacking.is_empty() {
            let folder = path.parent().unwrap_or(path).display().to_string();
            self.lacks(&names(&lacking, subject), &row.lack.replace("<folder>", &folder));
        }
        let add = |column: &&Column| {
            let slot = self.series(column.switch, column.series(subject));
            (slot, column.value)
        };
        let values: Vec<_> = given.iter().map(add).collect();
        if values.is_empty() {
            return;
        }
        self.part(row.pace, move |round| {
            let text = file.read(round.buffer)?;
            for (slot, value) in &values {
                slot.put(round.values, value(text).unwrap_or(f64::NAN));
            }
            Some(())
        });
    }

    /// Opens a file. When it is not to be had, says so of the series that it would have given.
    pub(super) fn open(
        &mut self,
        path: &Path,
        what: &str,
        remedy: &str,
    ) -> Option<(KeptFile, Vec<u8>)> {
        KeptFile::open(path).map_err(|why| self.lacks(what, &format!("{why}{remedy}"))).ok()
    }

    /// Series that do not exist, and why.
    pub(super) fn lacks(&mut self, what: &str, why: &str) {
        self.unavailable.push(Unavailable { what: what.into(), why: why.into() });
    }

    /// A fact.
    pub(super) fn fact(&mut self, key: &str, value: &impl ToString) {
        self.facts.push((key.into(), value.to_string()));
    }
}

/// The series of some columns, in words.
fn names(columns: &[&Column], subject: &str) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let of_what = if subject.is_empty() { String::new() } else { format!(" of {subject}") };
    names.join(", ") + &of_what
}

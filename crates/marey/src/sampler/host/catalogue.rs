//! What is put together at the start: series, reasons, facts.

use std::path::{Path, PathBuf};

use super::HostOptions;
use super::kept_file::{Buffer, KeptFile, below};
use super::pace::Pace;
use crate::series::{SeriesInfo, Unavailable, Unit};

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

/// Part of the machine that is read at once: mostly one file.
pub(super) trait Part: Send {
    /// How often it is read, at most.
    fn pace(&self) -> Pace {
        Pace::of_file()
    }

    /// Puts its readings in their places; `None` when it stopped because something is not to be had now.
    fn read(&mut self, round: &mut Round<'_>) -> Option<()>;
}

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

/// What parts find at the start.
#[derive(Debug)]
pub(super) struct Catalogue<'a> {
    /// What was asked for.
    pub options: &'a HostOptions,
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
        Self { options, series: Vec::new(), unavailable: Vec::new(), facts: Vec::new() }
    }

    /// A path of the machine, below the root.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        below(&self.options.root, path)
    }

    /// A file of the process in `/proc`.
    pub(super) fn process_file(&self, name: &str) -> PathBuf {
        let pid = self.options.pid;
        let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
        self.path("proc").join(process).join(name)
    }

    /// A series of readings of now.
    pub(super) fn gauge(&mut self, name: &str, subject: &str, unit: Unit) -> Slot {
        self.add(SeriesInfo::gauge(name, subject, unit))
    }

    /// A series of readings that only grow.
    pub(super) fn cumulative(&mut self, name: &str, subject: &str, unit: Unit) -> Slot {
        self.add(SeriesInfo::cumulative(name, subject, unit))
    }

    fn add(&mut self, series: SeriesInfo) -> Slot {
        self.series.push(series);
        Slot(self.series.len() - 1)
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

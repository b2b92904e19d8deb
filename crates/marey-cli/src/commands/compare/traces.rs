//! Traces of torch.profiler as a side of a comparison.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey_analysis::TracedSide;
use marey_analysis::import::chrome::{Limits, read};
use marey_report::{ComparedRun, ComparedSide, escape};

use crate::console::{Console, shown};
use crate::content::Beginning;
use crate::run_folder::{RecordedRuns, files};

/// The traces of a path, and what is shown of them.
pub(in crate::commands::compare) struct TracesOfSide {
    pub(super) side: TracedSide,
    pub(super) facts: ComparedSide,
}

impl TracesOfSide {
    /// Reads the files one after the other: only one of them is in memory at a time.
    pub(super) fn read(
        path: &Path,
        files: &[PathBuf],
        console: &mut Console<'_>,
    ) -> anyhow::Result<Self> {
        let mut found = Self {
            side: TracedSide::default(),
            facts: ComparedSide { path: shown(path), ..ComparedSide::default() },
        };
        for file in files {
            if let Err(error) = found.add(file) {
                let said = format!("{}: {error:#}", shown(file));
                console.say(&format!("cannot read {}", escape::visible(&said)));
                found.facts.unreadable.push(said);
            }
        }
        if found.side.runs().is_empty() {
            bail!("{} holds no trace that can be read", path.display());
        }
        found.facts.ranks = found.side.ranks().unwrap_or_default();
        Ok(found)
    }

    /// Traces that are samples; the ranks of a job are none.
    pub(super) fn n_repeats(&self) -> usize {
        match self.side.ranks() {
            Some(_) => 1,
            None => self.side.runs().len(),
        }
    }

    fn add(&mut self, file: &Path) -> anyhow::Result<()> {
        let trace = read(File::open(file)?, Limits::default())?;
        if trace.rows.is_empty() {
            bail!(
                "it has no event with a duration; reports of Marey are no traces, and only the captures (*.marey) that they were made from can be compared"
            );
        }
        self.side.push(&trace);
        let name = file.file_name().unwrap_or(file.as_os_str());
        let run = self.side.runs().last();
        let facts = run.map(|run| ComparedRun::new(shown(Path::new(name)), run, 0));
        self.facts.runs.extend(facts);
        Ok(())
    }
}

/// The traces at a path, by name: the file itself, or those of a folder without captures. `None` when there are none.
pub(super) fn traces_at(path: &Path) -> Option<Vec<PathBuf>> {
    if !path.is_dir() {
        return is_json(path).then(|| vec![path.to_owned()]);
    }
    let traces = files(path, |file| is_named_so(file) && is_json(file)).ok()?;
    // A job's folder has reports beside its captures.
    let has_captures = || RecordedRuns::at(path).is_ok_and(|found| !found.runs.is_empty());
    (!traces.is_empty() && !has_captures()).then_some(traces)
}

/// A path that [`traces_at`] found something at does hold a trace.
pub(super) fn holds_trace(path: &Path) -> bool {
    let files = traces_at(path).unwrap_or_default();
    files.iter().any(|file| {
        let source = File::open(file).ok();
        let trace = source.and_then(|source| read(source, Limits::default()).ok());
        trace.is_some_and(|trace| !trace.rows.is_empty())
    })
}

fn is_named_so(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name.ends_with(".json") || name.ends_with(".json.gz")
}

/// It is a regular file that begins as JSON, compressed or not, and is no report of Marey.
fn is_json(path: &Path) -> bool {
    Beginning::of(path, 256).is_ok_and(|first| {
        let is_report = String::from_utf8_lossy(&first.bytes).contains("\"schema_version\"");
        let begin = first.bytes.trim_ascii_start();
        first.is_packed || !is_report && matches!(begin.first(), Some(b'{' | b'['))
    })
}

//! What is compared: the runs that two paths hold.

use std::path::Path;

use anyhow::bail;
use marey::Run;
use marey_analysis::CompareOptions;
use marey_report::{ComparedRun, ComparedSide, ComparisonReport, RankTimes, TrendReport};

use super::traces::{TracesOfSide, holds_trace, traces_at};
use crate::console::{Console, shown};
use crate::run_folder::{RecordedRun, RecordedRuns};

/// Both sides, the baseline first, in memory.
pub(super) enum Sides {
    /// Recordings of Marey.
    Recorded([Side; 2]),
    /// Traces of torch.profiler.
    Traced([TracesOfSide; 2]),
}

/// The runs of a path, and what is shown of them; the same order.
pub(super) struct Side {
    runs: Vec<Run>,
    facts: ComparedSide,
}

impl Sides {
    pub(super) fn read(
        baseline: &Path,
        candidate: &Path,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Self> {
        match (traces_at(baseline), traces_at(candidate)) {
            (Some(first), Some(second)) => Ok(Self::Traced([
                TracesOfSide::read(baseline, &first, console)?,
                TracesOfSide::read(candidate, &second, console)?,
            ])),
            (None, None) => Ok(Self::Recorded([
                Side::read(baseline, console)?,
                Side::read(candidate, console)?,
            ])),
            (traced, _) => {
                let (trace, other) = match traced {
                    Some(_) => (baseline, candidate),
                    None => (candidate, baseline),
                };
                if !holds_trace(trace) {
                    Side::read(trace, console)?;
                }
                bail!(
                    "{} is a trace and {} is none: a trace is compared with a trace, a recording of Marey with a recording",
                    trace.display(),
                    other.display()
                )
            }
        }
    }

    /// Each run can be a sample.
    pub(super) fn are_repeated(&self) -> bool {
        let n_repeats = match self {
            Self::Recorded(sides) => sides.each_ref().map(|side| side.runs.len()),
            Self::Traced(sides) => sides.each_ref().map(TracesOfSide::n_repeats),
        };
        n_repeats.iter().all(|n| *n >= 2)
    }

    pub(super) fn compare(self, options: &CompareOptions) -> ComparisonReport {
        let (comparison, facts) = match self {
            Self::Recorded([a, b]) => {
                (marey_analysis::compare(&a.runs, &b.runs, options), [a.facts, b.facts])
            }
            Self::Traced([a, b]) => {
                (marey_analysis::compare_traces(&a.side, &b.side, options), [a.facts, b.facts])
            }
        };
        ComparisonReport::new(comparison, options, facts)
    }
}

/// The figures of all runs below a folder, over time.
pub(super) fn trend(folder: &Path, console: &mut Console<'_>) -> anyhow::Result<TrendReport> {
    let side = Side::read(folder, console)?;
    if side.runs.len() < 2 {
        bail!("{} holds one run; a trend needs several", folder.display());
    }
    let names = side.facts.runs.iter().map(|run| run.name.clone());
    let runs: Vec<(String, &Run)> = names.zip(&side.runs).collect();
    Ok(TrendReport::new(marey_analysis::trend(&runs), side.facts))
}

impl Side {
    fn read(path: &Path, console: &mut Console<'_>) -> anyhow::Result<Self> {
        let found = RecordedRuns::at(path).map_err(|error| explained(error, path))?;
        for unreadable in &found.unreadable {
            console.say(&unreadable.to_string());
        }
        if found.runs.is_empty() {
            bail!(
                "{} holds no captures (*.marey) that can be read; name a capture, a job's folder or a folder of them",
                path.display()
            );
        }
        let unreadable = found.unreadable.iter().map(ToString::to_string).collect();
        let rank_times = match found.runs.as_slice() {
            [only] => only.ranks.clone(),
            _ => RankTimes::new(),
        };
        let (runs, facts) = found.runs.into_iter().map(taken_apart).unzip();
        Ok(Self {
            runs,
            facts: ComparedSide {
                path: shown(path),
                runs: facts,
                unreadable,
                rank_times,
                ranks: Vec::new(),
            },
        })
    }
}

fn taken_apart(found: RecordedRun) -> (Run, ComparedRun) {
    let facts = ComparedRun::new(found.name, &found.run, found.n_others);
    (found.run, facts)
}

/// A report is taken for a capture easily.
fn explained(error: anyhow::Error, path: &Path) -> anyhow::Error {
    if path.extension().is_some_and(|ending| ending == "json") {
        return error.context(
            "reports cannot be compared, only the captures (*.marey) that they were made from",
        );
    }
    error
}

//! What is compared: recordings of Marey, or traces of torch.profiler, that two paths hold.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey::Run;
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::{CompareOptions, TracedSide};
use marey_folder::content::{Beginning, Content, Json};
use marey_folder::run_folder::{
    RecordedRun, RecordedRuns, captures, files, folders_below, launch_captures,
};
use marey_folder::shown;
use marey_report::{ComparedRun, ComparedSide, ComparisonReport, TrendReport, escape};

use crate::console::Console;

/// Both sides, the baseline first, in memory, each with what is shown of it.
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub(super) enum Sides {
    /// Recordings of Marey, in order of their start.
    Recorded([(Vec<Run>, ComparedSide); 2]),
    /// Traces of torch.profiler.
    Traced([(TracedSide, ComparedSide); 2]),
}

impl Sides {
    pub(super) fn read(
        baseline: &Path,
        candidate: &Path,
        console: &mut Console<'_>,
    ) -> anyhow::Result<Self> {
        let (trace, other) = match (traces_at(baseline), traces_at(candidate)) {
            (Some(first), Some(second)) => {
                let baseline = traced(baseline, &first, console)?;
                return Ok(Self::Traced([baseline, traced(candidate, &second, console)?]));
            }
            (None, None) => {
                let baseline = recorded(baseline, console)?;
                return Ok(Self::Recorded([baseline, recorded(candidate, console)?]));
            }
            (Some(_), None) => (baseline, candidate),
            (None, Some(_)) => (candidate, baseline),
        };
        bail!(
            "{} is a trace and {} is none: a trace is compared with a trace, a recording of Marey with a recording",
            trace.display(),
            other.display()
        )
    }

    /// Each run can be a sample; the ranks of a job are none.
    pub(super) fn are_repeated(&self) -> bool {
        let n_repeats = |runs: &[Run], facts: &ComparedSide| match facts.ranks.as_slice() {
            [] => runs.len(),
            _ => 1,
        };
        let n_repeats = match self {
            Self::Recorded(sides) => sides.each_ref().map(|(runs, facts)| n_repeats(runs, facts)),
            Self::Traced(sides) => {
                sides.each_ref().map(|(side, facts)| n_repeats(side.runs(), facts))
            }
        };
        n_repeats.iter().all(|n| *n >= 2)
    }

    pub(super) fn compare(self, options: &CompareOptions) -> ComparisonReport {
        let (comparison, facts) = match self {
            Self::Recorded([(a, of_a), (b, of_b)]) => {
                (marey_analysis::compare(&a, &b, options), [of_a, of_b])
            }
            Self::Traced([(a, of_a), (b, of_b)]) => {
                (marey_analysis::compare_traces(&a, &b, options), [of_a, of_b])
            }
        };
        ComparisonReport::new(comparison, options, facts)
    }
}

/// The figures of all runs below a folder, over time.
pub(super) fn trend(folder: &Path, console: &mut Console<'_>) -> anyhow::Result<TrendReport> {
    let (runs, facts) = recorded(folder, console)?;
    if runs.len() < 2 {
        bail!("{} holds one run; a trend needs several", folder.display());
    }
    let names = facts.runs.iter().map(|run| run.name.clone());
    let runs: Vec<(String, &Run)> = names.zip(&runs).collect();
    Ok(TrendReport::new(marey_analysis::trend(&runs), facts))
}

fn recorded(path: &Path, console: &mut Console<'_>) -> anyhow::Result<(Vec<Run>, ComparedSide)> {
    let found = RecordedRuns::at(path).map_err(|error| explained(error, path))?;
    let mut facts = ComparedSide { path: shown(path), ..ComparedSide::default() };
    facts.unreadable = found.unreadable.iter().map(ToString::to_string).collect();
    for unreadable in &facts.unreadable {
        console.say(unreadable);
    }
    if found.runs.is_empty() {
        bail!(
            "{} holds no captures (*.marey) that can be read; name a capture, a job's folder or a folder of them",
            path.display()
        );
    }
    if let [only] = found.runs.as_slice() {
        facts.rank_times.clone_from(&only.ranks);
    }
    let of_run = |one: &RecordedRun| ComparedRun::new(one.name.clone(), &one.run, one.n_others);
    facts.runs = found.runs.iter().map(of_run).collect();
    Ok((found.runs.into_iter().map(|one| one.run).collect(), facts))
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

/// Reads the files one after the other: only one of them is in memory at a time.
fn traced(
    path: &Path,
    files: &[PathBuf],
    console: &mut Console<'_>,
) -> anyhow::Result<(TracedSide, ComparedSide)> {
    let mut side = TracedSide::default();
    let mut facts = ComparedSide { path: shown(path), ..ComparedSide::default() };
    for file in files {
        match add_trace(&mut side, file) {
            Ok(()) => {
                let name = shown(Path::new(file.file_name().unwrap_or(file.as_os_str())));
                let run = side.runs().last();
                facts.runs.extend(run.map(|run| ComparedRun::new(name, run, 0)));
            }
            Err(error) => {
                let said = format!("{}: {error:#}", shown(file));
                console.say(&format!("cannot read {}", escape::visible(&said)));
                facts.unreadable.push(said);
            }
        }
    }
    if side.runs().is_empty() {
        bail!("{} holds no trace that can be read", path.display());
    }
    facts.ranks = side.ranks().unwrap_or_default();
    Ok((side, facts))
}

fn add_trace(side: &mut TracedSide, file: &Path) -> anyhow::Result<()> {
    let trace = read(File::open(file)?, Limits::default())?;
    if trace.rows.is_empty() {
        bail!(
            "it has no event with a duration; reports of Marey are no traces, and only the captures (*.marey) that they were made from can be compared"
        );
    }
    side.push(&trace);
    Ok(())
}

/// The traces at a path, by name: the file itself, or those of a folder without captures. `None` when there are none.
fn traces_at(path: &Path) -> Option<Vec<PathBuf>> {
    if !path.is_dir() {
        return is_trace(path).then(|| vec![path.to_owned()]);
    }
    let is_named_so = |file: &Path| {
        let name = file.to_string_lossy();
        name.ends_with(".json") || name.ends_with(".json.gz")
    };
    let traces = files(path, |file| is_named_so(file) && is_trace(file)).ok()?;
    // A job's folder has reports beside its captures.
    let has_captures = || {
        let all = folders_below(path, |_| true).0;
        let here = |folder: &PathBuf| {
            captures(folder).unwrap_or_default().into_iter().chain(launch_captures(folder))
        };
        all.iter().flat_map(here).any(|capture| marey::peek(&capture).is_some())
    };
    (!traces.is_empty() && !has_captures()).then_some(traces)
}

/// It may hold events: it is JSON, and no document of Marey.
fn is_trace(path: &Path) -> bool {
    let is_ours = || {
        Beginning::of(path).is_ok_and(|first| {
            let head = first.bytes.get(..256).unwrap_or(&first.bytes);
            String::from_utf8_lossy(head).contains("\"schema_version\"")
        })
    };
    match Content::of(path) {
        Ok(Content::Json(Json::Trace)) => true,
        Ok(Content::Json(Json::Other)) => !is_ours(),
        _ => false,
    }
}

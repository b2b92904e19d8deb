//! All that is shown of a comparison, once.

use marey::Run;
use marey_analysis::compare::{Basis, Comparison, Trend};
use marey_analysis::{CompareOptions, Thresholds, diffusion};
use serde::Serialize;

use super::ranks::{ComparedRank, RankTimes};
use crate::model::{Loss, RunStatus, StatusKind, run_id};
use crate::quantity::{UNKNOWN, counted, percent};

/// A comparison, where its sides come from, and whether it passes.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonReport {
    /// What was found.
    pub comparison: Comparison,
    /// How it was made.
    pub options: CompareOptions,
    /// What is compared with.
    pub baseline: ComparedSide,
    /// What is judged.
    pub candidate: ComparedSide,
    /// What fails it; empty when nothing can.
    pub criteria: Vec<Criterion>,
}

/// `2026-11-20 18:33` of nanoseconds since 1970, in UTC. `None` for 0, which is not known.
pub(crate) fn minute(unix_ns: u64) -> Option<String> {
    let [year, month, day, hour, minute, _] = marey::utc(unix_ns);
    (unix_ns > 0).then(|| format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"))
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedSide {
    /// The path that was given; not safe to print.
    pub path: String,
    /// Its runs, in order of their start.
    pub runs: Vec<ComparedRun>,
    /// Processes of one job that its traces are of; empty for repeats and for a single run.
    pub ranks: Vec<u32>,
    /// What held each rank up, of a single job of several; empty otherwise.
    pub rank_times: RankTimes,
    /// Captures of which nothing could be read, and why; not safe to print.
    pub unreadable: Vec<String>,
}

/// One run of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRun {
    /// Where it lies below the side's path; not safe to print.
    pub name: String,
    /// Host, process id and start: no two runs share them.
    pub id: String,
    /// Wall clock at the start, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// From the start to the end, or to the last thing known.
    pub wall_ns: u64,
    /// How it ended.
    pub status: RunStatus,
    /// How long each denoising step took, in order of time; `None` where that is not known.
    pub step_ns: Vec<Option<u64>>,
    /// Nothing was lost and the capture was sound.
    pub is_complete: bool,
    /// What was not recorded.
    pub losses: Vec<Loss>,
    /// What was wrong with the capture.
    pub warnings: Vec<String>,
    /// Processes of the same job that are left out.
    pub n_others: u64,
}

/// Figures of many runs over time, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendReport {
    /// What was found.
    pub trend: Trend,
    /// The runs, by the path that they were looked for below.
    pub runs: ComparedSide,
}

/// Something that makes a comparison fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Criterion {
    /// As it was given: `memory>10%`.
    pub given: String,
    /// It is the matter.
    pub is_met: bool,
    /// Measures for which it is: indices into [`Comparison::measures`].
    pub measures: Vec<usize>,
}

impl ComparisonReport {
    /// Of a comparison that was made with these options.
    pub fn new(
        comparison: Comparison,
        options: &CompareOptions,
        [baseline, candidate]: [ComparedSide; 2],
    ) -> Self {
        Self { comparison, options: *options, baseline, candidate, criteria: Vec::new() }
    }

    /// The same with what makes it fail.
    #[must_use]
    pub fn judged(mut self, criteria: Vec<Criterion>) -> Self {
        self.criteria = criteria;
        self
    }

    /// Each run is a sample.
    pub(crate) fn are_repeats(&self) -> bool {
        self.comparison.basis == Basis::Repeats
    }

    /// Ranks that both sides have, the one of which a part changed most first; empty unless each side is one job of several.
    pub(crate) fn ranks(&self) -> Vec<ComparedRank> {
        ComparedRank::all([&self.baseline, &self.candidate].map(|side| &side.rank_times))
    }

    /// No criterion is met.
    pub fn is_passed(&self) -> bool {
        self.criteria.iter().all(|criterion| !criterion.is_met)
    }

    /// Changes of time below this share are the same: the floor that holds for these sides.
    pub(crate) fn min_change_ratio(&self) -> f64 {
        if self.are_repeats() {
            self.options.min_repeated_change_ratio
        } else {
            self.options.min_change_ratio
        }
    }

    /// How it was decided, one line.
    pub(crate) fn decided_text(&self) -> String {
        let Comparison { basis, baseline, candidate, n_tests, .. } = &self.comparison;
        let (samples, test) = match basis {
            Basis::Repeats => (
                format!(
                    "{} against {}, each a sample",
                    baseline.n_runs,
                    counted(candidate.n_runs, "run", "runs")
                ),
                "Welch",
            ),
            Basis::Calls => ("single runs, each call or iteration a sample".into(), "Mann-Whitney"),
            Basis::SingleValues => ("one value on each side".into(), "none"),
        };
        format!(
            "{samples}; {} ({test}), corrected (Holm) for {} false alarms overall; changes of time below {} are the same",
            counted(*n_tests, "test", "tests"),
            percent(self.options.alpha),
            percent(self.min_change_ratio())
        )
    }

    /// What would tell more.
    pub(crate) fn remedy(&self) -> &'static str {
        if self.are_repeats() {
            "more repeats of both sides tell more"
        } else {
            "5 or more repeats of both sides tell more"
        }
    }
}

impl TrendReport {
    /// Of the runs below a path.
    pub fn new(trend: Trend, runs: ComparedSide) -> Self {
        Self { trend, runs }
    }
}

impl ComparedSide {
    /// Repeats of one program in a line: how many, of when, and how whole they are. Not safe to print.
    pub(crate) fn text(&self) -> String {
        self.text_of("repeated runs")
    }

    /// The same, for runs that are called so.
    pub(crate) fn text_of(&self, several: &str) -> String {
        let n = self.runs.len() as u64;
        let mut parts = vec![counted(n, "run", several)];
        if !self.ranks.is_empty() {
            let ranks: Vec<String> = self.ranks.iter().map(u32::to_string).collect();
            let runs = counted(n, "trace", "traces");
            parts = vec![format!("{runs} of ranks {} of one job", ranks.join(", "))];
        }
        parts.extend(self.when());
        let others: u64 = self.runs.iter().map(|run| run.n_others).sum();
        if others > 0 {
            let processes = counted(others, "other process", "other processes");
            parts.push(format!("{processes} of the same jobs left out"));
        }
        parts.push(self.quality());
        format!("{}: {}", self.path, parts.join(", "))
    }

    fn when(&self) -> Option<String> {
        let first = minute(self.runs.first()?.start_unix_ns)?;
        let last = minute(self.runs.last()?.start_unix_ns)?;
        if first == last {
            return Some(format!("{first} UTC"));
        }
        Some(format!("{first} to {last} UTC"))
    }

    /// What was not whole, in short.
    fn quality(&self) -> String {
        let of = |is_so: fn(&&ComparedRun) -> bool| self.runs.iter().filter(is_so).count() as u64;
        let counts = [
            (of(|run| run.status.kind.has_failed()), "failed"),
            (of(|run| !run.is_finished() && !run.status.kind.has_failed()), "not finished"),
            (of(|run| !run.is_complete), "with losses"),
        ];
        let counts = counts.into_iter().filter(|(n, _)| *n > 0);
        let mut parts: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
        if !self.unreadable.is_empty() {
            let n = self.unreadable.len() as u64;
            parts.push(counted(n, "unreadable capture", "unreadable captures"));
        }
        if parts.is_empty() {
            return "complete".into();
        }
        parts.join(", ")
    }

    /// What was incomplete, one line a thing. Not safe to print.
    pub(crate) fn incomplete(&self) -> Vec<String> {
        let of_runs = self.runs.iter().flat_map(ComparedRun::incomplete);
        self.unreadable.iter().cloned().chain(of_runs).collect()
    }
}

impl ComparedRun {
    /// Of a run that is called so, with so many other processes in its job.
    pub fn new(name: String, run: &Run, n_others: usize) -> Self {
        let losses = Loss::all(&run.losses, &run.status);
        let steps = diffusion(run, &Thresholds::of(run)).and_then(|found| found.steps);
        let is_whole = losses.iter().all(|loss| loss.is_only_risk);
        Self {
            name,
            id: run_id(run),
            start_unix_ns: run.info.start_unix_ns,
            wall_ns: run.wall_ns,
            step_ns: steps
                .iter()
                .flat_map(|steps| &steps.each)
                .map(|one| one.duration_ns)
                .collect(),
            status: RunStatus::new(&run.ending()),
            is_complete: is_whole && run.warnings.is_empty(),
            losses,
            warnings: run.warnings.iter().map(ToString::to_string).collect(),
            n_others: n_others as u64,
        }
    }

    fn is_finished(&self) -> bool {
        self.status.kind == StatusKind::Finished
    }

    fn incomplete(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if !self.is_finished() {
            parts.push(self.status.text());
        }
        let lost = self.losses.iter().filter(|loss| !loss.is_only_risk);
        parts.extend(lost.map(|loss| format!("{} {}", loss.count, loss.meaning)));
        parts.extend(self.warnings.iter().cloned());
        let name = Some(self.name.as_str()).filter(|name| !name.is_empty());
        let name = name.unwrap_or(UNKNOWN);
        parts.iter().map(|part| format!("{name}: {part}")).collect()
    }
}

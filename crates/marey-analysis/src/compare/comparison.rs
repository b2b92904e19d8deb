//! What a comparison says.

use super::environment::{Difference, EnvironmentCategory};
use super::headline::Headline;
use super::matching::SectionMatch;
use super::measure::Measure;
use super::obstacles::Obstacle;
use super::traced_work::{self, WorkChange};
use super::verdict::{Basis, Verdict};
use crate::SharedAccount;

/// Two sides, what differs between them, and how sure that is. Texts hold names as the user gave them; they are not safe
/// to print.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// [`Verdict::Worse`] when any measure or obstacle is, else [`Verdict::CannotTell`] when there is an obstacle, no measure
    /// could be decided, or there is nothing on a side, else [`Verdict::Better`] when any measure is, else [`Verdict::Same`].
    pub verdict: Verdict,
    /// What became of the time: [`Verdict::Worse`] or [`Verdict::Better`]; `None` where no change of it is decided.
    pub time: Option<Verdict>,
    /// Why the sides are not two whole runs of one program, the gravest first; mostly none.
    pub obstacles: Vec<Obstacle>,
    /// What chance was judged by.
    pub basis: Basis,
    /// The runs that are compared with.
    pub baseline: Side,
    /// The runs that are judged.
    pub candidate: Side,
    /// Facts that differ, configuration and command first.
    pub environment: Vec<Difference>,
    /// What neither differs nor is the same as far as anybody knows: a side says nothing of it.
    pub unknown_environment: Vec<EnvironmentCategory>,
    /// What matters, most important first: wall time by its loss or gain, then memory, then disks; regressions before
    /// improvements.
    pub headline: Vec<Headline>,
    /// Call paths of both sides, in the order of the baseline's tree, those of the candidate after them.
    pub sections: Vec<SectionMatch>,
    /// Everything that was compared, the same order as [`super::MeasureKind`], then by subject.
    pub measures: Vec<Measure>,
    /// What held each run up, those of the baseline first, of each side the shortest first, in the baseline's words; of traces their phases.
    /// `None` where that is not known of one of them, and of the ranks of a job.
    pub account: Option<SharedAccount>,
    /// Of two traces whose time differs: device time by class of operators, and whether work or speed changed it, what changed most first.
    /// Empty unless most of the work of both is known.
    pub work: Vec<WorkChange>,
    /// Tests that chance was corrected for (Holm).
    pub n_tests: u64,
    /// What a reader should know about the comparison itself, sentences.
    pub notes: Vec<String>,
}

impl Comparison {
    /// No difference of any kind was found, and none was left open.
    pub fn is_empty(&self) -> bool {
        self.environment.is_empty() && self.differences().next().is_none()
    }

    /// Why device time changed, in a sentence; `None` where that is not known, or it hardly did.
    pub fn work_said(&self) -> Option<String> {
        traced_work::said(&self.work)
    }

    /// Measures that are not the same, in the order of `measures`.
    pub fn differences(&self) -> impl Iterator<Item = &Measure> {
        let is_different = |measure: &&Measure| measure.verdict != Verdict::Same;
        self.measures.iter().filter(is_different)
    }
}

/// One run, or several repeats of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Runs.
    pub n_runs: u64,
    /// Runs that did not end by themselves, or failed: their times and counts are not of the whole work.
    pub n_unfinished: u64,
    /// Median wall time of the runs; `None` without runs.
    pub wall_ns: Option<f64>,
    /// Runs that lost records: figures of single calls are not of all calls.
    pub n_with_losses: u64,
}

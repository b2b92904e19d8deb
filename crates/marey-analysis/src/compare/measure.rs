//! One figure of both sides.

use serde::Serialize;

use super::measure_kind::MeasureKind;
use super::verdict::{Basis, Verdict};
use crate::findings::{Confidence, FigureUnit};

/// One figure of both sides, and what its change means.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// What the figures count.
    pub unit: FigureUnit,
    /// Which direction is good.
    pub better: Better,
    /// `None` when the baseline does not have it.
    pub baseline: Option<Observed>,
    /// `None` when the candidate does not have it.
    pub candidate: Option<Observed>,
    /// `None` unless both sides have it.
    pub change: Option<Change>,
    /// What chance was judged by.
    pub basis: Basis,
    /// What became of it.
    pub verdict: Verdict,
    /// How sure the verdict is.
    pub confidence: Confidence,
    /// Why the verdict is what it is, one sentence fragment with the figures that decided.
    pub reason: String,
    /// For times: what the change adds to the time of a run (negative: takes from it), nanoseconds, all calls together.
    /// `None` for what is no time, or on one side only.
    pub impact_ns: Option<f64>,
}

/// A figure of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Median of the runs; of a call, the median of the runs' medians. Always finite.
    pub value: f64,
    /// Lowest of the samples.
    pub min: f64,
    /// Highest of the samples.
    pub max: f64,
    /// Runs, or calls, that it is of.
    pub n_samples: u64,
}

/// The candidate against the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Candidate less baseline.
    pub difference: f64,
    /// Candidate over baseline; 1.05 is 5 % more. `None` when the baseline is 0 or one of them is below 0.
    pub ratio: Option<f64>,
    /// Where `ratio` lies with 95 % confidence; `None` for single values.
    pub interval: Option<(f64, f64)>,
    /// Chance of such a difference when nothing changed; `None` where there is no test.
    pub p_value: Option<f64>,
    /// The same after correction for all tests of the comparison (Holm).
    pub adjusted_p_value: Option<f64>,
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Neither is.
    Neither,
}

impl Better {
    /// What a difference, candidate less baseline, is good for.
    pub(super) fn verdict(self, difference: f64) -> Verdict {
        match (self, difference > 0.0) {
            (Self::Neither, _) => Verdict::Different,
            (Self::Less, true) | (Self::More, false) => Verdict::Worse,
            (Self::Less, false) | (Self::More, true) => Verdict::Better,
        }
    }
}

/// What a measure is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The whole run.
    Run,
    /// A call path, names from the outermost to the innermost; in the baseline's words when both sides have it.
    Path(Vec<String>),
    /// All sections of a name.
    Name(String),
    /// All iterations of the loops of a name.
    Loop(String),
    /// A source of memory readings: `process`, `cuda:0`.
    Memory(String),
    /// A source of memory readings, while a call path was open.
    MemoryDuring {
        /// The call path.
        path: Vec<String>,
        /// The source.
        source: String,
    },
    /// A GPU: its number if that is known, else its UUID.
    Gpu(String),
    /// A rate of frames, in words.
    Rate(String),
    /// A cache.
    Cache(String),
    /// All kernels of a name, on all devices.
    Kernel(String),
    /// All kernels of a class: `attention`, `gemm`.
    KernelClass(String),
    /// Copies of a direction: `HtoD`.
    Transfer(String),
    /// All parts of a trace that do one thing in a generation: `text encoder`.
    Phase(String),
    /// Attention by one path: `flash`.
    Attention(String),
    /// Idle time of devices by its cause: `host late`.
    IdleCause(String),
}

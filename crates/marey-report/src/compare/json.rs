//! A comparison as JSON. Its fields are described in `docs/schema/comparison.schema.json`.

use marey_analysis::compare::{
    Area, Basis, Better, Change, Comparison, Difference, EnvironmentCategory, Headline,
    HeadlineFigure, Measure, MeasureKind, Observed, Obstacle, SectionMatch, Subject, Verdict,
};
use marey_analysis::findings::{Confidence, FigureUnit};
use serde::Serialize;

use super::headline;
use super::model::{ComparedRun, ComparedSide, ComparisonReport, Criterion};
use crate::escape;
use crate::model::StatusKind;

/// Version of the document's shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    verdict: Verdict,
    obstacles: &'a [Obstacle],
    passed: bool,
    criteria: &'a [Criterion],
    headline: Vec<HeadlineObject<'a>>,
    baseline: SideObject<'a>,
    candidate: SideObject<'a>,
    environment: Vec<DifferenceObject<'a>>,
    sections: Vec<SectionObject<'a>>,
    measures: Vec<MeasureObject<'a>>,
    decided: DecidedObject,
    notes: &'a [String],
}

#[derive(Serialize)]
struct HeadlineObject<'a> {
    verdict: Verdict,
    what: &'static str,
    text: String,
    subject: SubjectObject<'a>,
    measure: usize,
    figures: Vec<HeadlineFigureObject<'a>>,
}

#[derive(Serialize)]
struct HeadlineFigureObject<'a> {
    kind: MeasureKind,
    subject: SubjectObject<'a>,
    unit: UnitObject,
    baseline: Option<f64>,
    candidate: Option<f64>,
}

#[derive(Serialize)]
struct SideObject<'a> {
    path: &'a str,
    n_runs: usize,
    runs: Vec<RunObject<'a>>,
    unreadable: &'a [String],
}

#[derive(Serialize)]
pub(super) struct RunObject<'a> {
    name: &'a str,
    id: &'a str,
    start: f64,
    wall: f64,
    status: StatusKind,
    status_text: String,
    complete: bool,
    losses: Vec<LossObject>,
    warnings: &'a [String],
    other_processes: u64,
}

#[derive(Serialize)]
struct LossObject {
    kind: &'static str,
    count: u64,
    only_a_risk: bool,
}

#[derive(Serialize)]
struct DifferenceObject<'a> {
    category: EnvironmentCategory,
    name: &'a str,
    baseline: &'a [String],
    candidate: &'a [String],
}

#[derive(Serialize)]
struct SectionObject<'a> {
    path: &'a [String],
    candidate_path: Option<&'a [String]>,
    presence: Verdict,
    is_loop: bool,
}

#[derive(Serialize)]
struct MeasureObject<'a> {
    kind: MeasureKind,
    area: Area,
    meaning: &'static str,
    subject: SubjectObject<'a>,
    unit: UnitObject,
    better: Better,
    baseline: Option<ObservedObject>,
    candidate: Option<ObservedObject>,
    change: Option<ChangeObject>,
    impact: Option<f64>,
    verdict: Verdict,
    basis: Basis,
    confidence: Confidence,
    reason: &'a str,
}

#[derive(Serialize)]
struct ObservedObject {
    value: f64,
    min: f64,
    max: f64,
    samples: u64,
}

#[derive(Serialize)]
struct ChangeObject {
    difference: f64,
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    p_value: Option<f64>,
    adjusted_p_value: Option<f64>,
}

#[derive(Serialize)]
struct DecidedObject {
    basis: Basis,
    tests: u64,
    min_change_ratio: f64,
    min_share_ratio: f64,
    alpha: f64,
    resamples: u32,
    seed: u64,
}

/// What something is of: a kind, and the names that belong to it.
#[derive(Serialize)]
pub(super) struct SubjectObject<'a> {
    kind: &'static str,
    path: Option<&'a [String]>,
    name: Option<&'a str>,
}

/// A unit, as it stands in the document: times are seconds there.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnitObject {
    Count,
    Seconds,
    Bytes,
    BytesPerSecond,
    Ratio,
    PerSecond,
    Celsius,
    Watts,
    Joules,
    Hertz,
    Number,
}

/// The comparison as UTF-8 JSON, indented; valid and finite whatever names the user chose.
pub fn comparison_json(report: &ComparisonReport) -> Vec<u8> {
    let comparison = &report.comparison;
    document(&Document {
        schema_version: SCHEMA_VERSION,
        verdict: comparison.verdict,
        obstacles: &comparison.obstacles,
        passed: report.is_passed(),
        criteria: &report.criteria,
        headline: headlines(comparison),
        baseline: SideObject::new(&report.baseline),
        candidate: SideObject::new(&report.candidate),
        environment: comparison
            .environment
            .iter()
            .map(DifferenceObject::new)
            .collect(),
        sections: comparison.sections.iter().map(SectionObject::new).collect(),
        measures: comparison.measures.iter().map(MeasureObject::new).collect(),
        decided: DecidedObject::new(report),
        notes: &comparison.notes,
    })
}

/// Indented, with nothing in strings that a terminal or a browser would act on.
pub(super) fn document(content: &impl Serialize) -> Vec<u8> {
    // String keys and plain values always serialize; what is not finite becomes null.
    let text = serde_json::to_string_pretty(content).unwrap_or_default();
    (escape::json(&text).into_owned() + "\n").into_bytes()
}

/// A figure in the unit that the document has.
pub(super) fn in_unit(value: f64, unit: FigureUnit) -> f64 {
    if unit == FigureUnit::Ns {
        value / 1e9
    } else {
        value
    }
}

/// Exact to a microsecond also for times since 1970.
pub(super) fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}

fn headlines(comparison: &Comparison) -> Vec<HeadlineObject<'_>> {
    let object = |found: &'_ Headline| headline::text(comparison, found, str::to_owned);
    let all = comparison.headline.iter();
    all.map(|found| HeadlineObject {
        verdict: found.verdict,
        what: found.what,
        text: object(found),
        subject: SubjectObject::new(&found.subject),
        measure: found.measure,
        figures: found
            .figures
            .iter()
            .map(HeadlineFigureObject::new)
            .collect(),
    })
    .collect()
}

impl<'a> HeadlineFigureObject<'a> {
    fn new(part: &'a HeadlineFigure) -> Self {
        Self {
            kind: part.kind,
            subject: SubjectObject::new(&part.subject),
            unit: UnitObject::new(part.unit),
            baseline: part.baseline.map(|value| in_unit(value, part.unit)),
            candidate: part.candidate.map(|value| in_unit(value, part.unit)),
        }
    }
}

impl<'a> SideObject<'a> {
    fn new(side: &'a ComparedSide) -> Self {
        Self {
            path: &side.path,
            n_runs: side.runs.len(),
            runs: side.runs.iter().map(RunObject::new).collect(),
            unreadable: &side.unreadable,
        }
    }
}

impl<'a> RunObject<'a> {
    pub(super) fn new(run: &'a ComparedRun) -> Self {
        let losses = run.losses.iter();
        Self {
            name: &run.name,
            id: &run.id,
            start: seconds(run.start_unix_ns),
            wall: seconds(run.wall_ns),
            status: run.status.kind,
            status_text: run.status.text(),
            complete: run.is_complete,
            losses: losses
                .map(|loss| LossObject {
                    kind: loss.kind,
                    count: loss.count,
                    only_a_risk: loss.is_only_risk,
                })
                .collect(),
            warnings: &run.warnings,
            other_processes: run.n_others,
        }
    }
}

impl<'a> DifferenceObject<'a> {
    fn new(difference: &'a Difference) -> Self {
        Self {
            category: difference.category,
            name: &difference.name,
            baseline: &difference.baseline,
            candidate: &difference.candidate,
        }
    }
}

impl<'a> SectionObject<'a> {
    fn new(section: &'a SectionMatch) -> Self {
        Self {
            path: &section.path,
            candidate_path: section.candidate_path.as_deref(),
            presence: section.presence,
            is_loop: section.is_loop,
        }
    }
}

impl<'a> MeasureObject<'a> {
    fn new(measure: &'a Measure) -> Self {
        let unit = measure.unit;
        Self {
            kind: measure.kind,
            area: measure.kind.area(),
            meaning: measure.kind.meaning(),
            subject: SubjectObject::new(&measure.subject),
            unit: UnitObject::new(unit),
            better: measure.better,
            baseline: measure
                .baseline
                .as_ref()
                .map(|side| ObservedObject::new(side, unit)),
            candidate: measure
                .candidate
                .as_ref()
                .map(|side| ObservedObject::new(side, unit)),
            change: measure
                .change
                .as_ref()
                .map(|change| ChangeObject::new(change, unit)),
            impact: measure.impact_ns.map(|ns| ns / 1e9),
            verdict: measure.verdict,
            basis: measure.basis,
            confidence: measure.confidence,
            reason: &measure.reason,
        }
    }
}

impl ObservedObject {
    fn new(side: &Observed, unit: FigureUnit) -> Self {
        Self {
            value: in_unit(side.value, unit),
            min: in_unit(side.min, unit),
            max: in_unit(side.max, unit),
            samples: side.n_samples,
        }
    }
}

impl ChangeObject {
    fn new(change: &Change, unit: FigureUnit) -> Self {
        Self {
            difference: in_unit(change.difference, unit),
            ratio: change.ratio,
            interval: change.interval.map(|(low, high)| [low, high]),
            p_value: change.p_value,
            adjusted_p_value: change.adjusted_p_value,
        }
    }
}

impl DecidedObject {
    fn new(report: &ComparisonReport) -> Self {
        let decided = &report.decided;
        Self {
            basis: decided.basis,
            tests: decided.n_tests,
            min_change_ratio: decided.min_change_ratio,
            min_share_ratio: decided.min_share_ratio,
            alpha: decided.alpha,
            resamples: decided.n_resamples,
            seed: decided.seed,
        }
    }
}

impl<'a> SubjectObject<'a> {
    pub(super) fn new(subject: &'a Subject) -> Self {
        let (kind, path, name) = match subject {
            Subject::Run => ("run", None, None),
            Subject::Path(path) => ("path", Some(path.as_slice()), None),
            Subject::Name(name) => ("name", None, Some(name)),
            Subject::Loop(name) => ("loop", None, Some(name)),
            Subject::Memory(name) => ("memory", None, Some(name)),
            Subject::MemoryDuring { path, source } => {
                ("memory_during", Some(path.as_slice()), Some(source))
            }
            Subject::Gpu(name) => ("gpu", None, Some(name)),
            Subject::Rate(name) => ("rate", None, Some(name)),
            Subject::Cache(name) => ("cache", None, Some(name)),
            Subject::Kernel(name) => ("kernel", None, Some(name)),
            Subject::KernelClass(name) => ("kernel_class", None, Some(name)),
            Subject::Transfer(name) => ("transfer", None, Some(name)),
            Subject::Phase(name) => ("phase", None, Some(name)),
            Subject::Attention(name) => ("attention", None, Some(name)),
            Subject::IdleCause(name) => ("idle_cause", None, Some(name)),
        };
        Self {
            kind,
            path,
            name: name.map(String::as_str),
        }
    }
}

impl UnitObject {
    pub(super) fn new(unit: FigureUnit) -> Self {
        match unit {
            FigureUnit::Count => Self::Count,
            FigureUnit::Ns => Self::Seconds,
            FigureUnit::Bytes => Self::Bytes,
            FigureUnit::BytesPerSecond => Self::BytesPerSecond,
            FigureUnit::Ratio => Self::Ratio,
            FigureUnit::PerSecond => Self::PerSecond,
            FigureUnit::Celsius => Self::Celsius,
            FigureUnit::Watts => Self::Watts,
            FigureUnit::Joules => Self::Joules,
            FigureUnit::Hertz => Self::Hertz,
            FigureUnit::Number => Self::Number,
        }
    }
}

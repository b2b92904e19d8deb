//! Comparisons and trends. Their fields are described in `docs/schema/comparison.schema.json` and `docs/schema/trend.schema.json`.

use marey_analysis::compare::{
    Change, Comparison, Headline, MeanChange, Measure, Observed, Side, Subject, TrendMeasure,
};
use marey_analysis::findings::FigureUnit;
use serde::Serialize;

use super::object::object;
use super::recommendations::unit;
use super::{bytes_of, float_seconds, list, seconds};
use crate::compare::{
    ComparedPart, ComparedRun, ComparedSide, ComparedTime, ComparisonReport, TrendReport,
    headline_text,
};

/// Version of both shapes.
const SCHEMA_VERSION: &str = "2.0";

/// The comparison as UTF-8 JSON, indented; valid and finite whatever names the user chose.
pub fn comparison_json(report: &ComparisonReport) -> Vec<u8> {
    bytes_of(&comparison(report))
}

/// The figures of many runs, likewise.
pub fn trend_json(report: &TrendReport) -> Vec<u8> {
    let runs = &report.runs;
    bytes_of(&object! {
        schema_version: SCHEMA_VERSION,
        path: &runs.path,
        runs: list(&runs.runs, run),
        unreadable: &runs.unreadable,
        measures: list(&report.trend.measures, trend_measure),
    })
}

/// What the document and the page have.
pub(crate) fn comparison(report: &ComparisonReport) -> impl Serialize + use<'_> {
    let found = &report.comparison;
    let decided = &report.decided;
    object! {
        schema_version: SCHEMA_VERSION,
        verdict: found.verdict,
        obstacles: &found.obstacles,
        passed: report.is_passed(),
        criteria: &report.criteria,
        headline: list(&found.headline, |line| headline(found, line)),
        baseline: side(&report.baseline, &found.baseline),
        candidate: side(&report.candidate, &found.candidate),
        environment: &found.environment,
        unknown_environment: &found.unknown_environment,
        sections: &found.sections,
        measures: list(&found.measures, measure),
        time: ComparedTime::new(report).as_ref().map(time),
        decided: object! {
            basis: decided.basis,
            tests: decided.n_tests,
            min_change_ratio: decided.min_change_ratio,
            min_share_ratio: decided.min_share_ratio,
            alpha: decided.alpha,
            resamples: decided.n_resamples,
            seed: decided.seed,
        },
        notes: &found.notes,
    }
}

fn headline<'a>(found: &'a Comparison, line: &'a Headline) -> impl Serialize + use<'a> {
    object! {
        verdict: line.verdict,
        what: line.what,
        text: headline_text(found, line, str::to_owned),
        subject: subject(&line.subject),
        measure: line.measure,
        figures: list(&line.figures, |figure| object! {
            kind: figure.kind,
            subject: subject(&figure.subject),
            unit: unit(figure.unit).0,
            baseline: figure.baseline.map(|value| in_unit(value, figure.unit)),
            candidate: figure.candidate.map(|value| in_unit(value, figure.unit)),
        }),
    }
}

fn side<'a>(side: &'a ComparedSide, found: &Side) -> impl Serialize + use<'a> {
    object! {
        path: &side.path,
        n_runs: side.runs.len(),
        n_unfinished: found.n_unfinished,
        n_with_losses: found.n_with_losses,
        wall_s: found.wall_ns.map(float_seconds),
        ranks: &side.ranks,
        runs: list(&side.runs, run),
        unreadable: &side.unreadable,
    }
}

fn run(run: &ComparedRun) -> impl Serialize + use<'_> {
    object! {
        name: &run.name,
        id: &run.id,
        start_unix_s: seconds(run.start_unix_ns),
        wall_s: seconds(run.wall_ns),
        status: run.status.kind,
        status_text: run.status.text(),
        complete: run.is_complete,
        losses: list(&run.losses, |loss| object! {
            kind: loss.kind,
            count: loss.count,
            only_a_risk: loss.is_only_risk,
        }),
        warnings: &run.warnings,
        other_processes: run.n_others,
    }
}

fn measure(of: &Measure) -> impl Serialize + use<'_> {
    object! {
        kind: of.kind,
        area: of.kind.area(),
        meaning: of.kind.meaning(),
        subject: subject(&of.subject),
        unit: unit(of.unit).0,
        better: of.better,
        baseline: of.baseline.map(|side| observed(side, of.unit)),
        candidate: of.candidate.map(|side| observed(side, of.unit)),
        change: of.change.map(|found| change(found, of.unit)),
        impact_s: of.impact_ns.map(float_seconds),
        verdict: of.verdict,
        basis: of.basis,
        confidence: of.confidence,
        reason: &of.reason,
    }
}

/// The mean wall time of both sides, and the parts of it, which add up.
fn time(found: &ComparedTime) -> impl Serialize + use<> {
    object! {
        total: time_part("total", found.total_ns, &found.total),
        detectable_s: found.total.chance.map(|chance| float_seconds(chance.detectable)),
        parts: list(&found.parts, |one: &ComparedPart| time_part(&one.name, one.held_ns, &one.change)),
    }
}

fn time_part(name: &str, held_ns: [u64; 2], change: &MeanChange) -> impl Serialize + use<> {
    let chance = change.chance;
    object! {
        name: name.to_owned(),
        baseline_s: seconds(held_ns[0]),
        candidate_s: seconds(held_ns[1]),
        half_width_s: chance.map(|chance| float_seconds(chance.half_width)),
        adjusted_p_value: chance.map(|chance| chance.p_value),
    }
}

fn observed(side: Observed, unit: FigureUnit) -> impl Serialize {
    object! {
        value: in_unit(side.value, unit),
        min: in_unit(side.min, unit),
        max: in_unit(side.max, unit),
        samples: side.n_samples,
    }
}

fn change(found: Change, unit: FigureUnit) -> impl Serialize {
    object! {
        difference: in_unit(found.difference, unit),
        ratio: found.ratio,
        interval: found.interval,
        p_value: found.p_value,
        adjusted_p_value: found.adjusted_p_value,
    }
}

fn trend_measure(of: &TrendMeasure) -> impl Serialize + use<'_> {
    object! {
        kind: of.kind,
        meaning: of.kind.meaning(),
        subject: subject(&of.subject),
        unit: unit(of.unit).0,
        points: list(&of.points, |point| object! {
            run: &point.run,
            start_unix_s: seconds(point.at_unix_ns),
            value: in_unit(point.value, of.unit),
        }),
    }
}

/// A figure in the unit that stands beside it.
fn in_unit(value: f64, of: FigureUnit) -> f64 {
    value / unit(of).1
}

/// What something is of: a kind, and the names that belong to it.
fn subject(of: &Subject) -> impl Serialize + use<'_> {
    let (kind, path, name) = match of {
        Subject::Run => ("run", None, None),
        Subject::Path(path) => ("path", Some(path), None),
        Subject::Name(name) => ("name", None, Some(name)),
        Subject::Loop(name) => ("loop", None, Some(name)),
        Subject::Memory(name) => ("memory", None, Some(name)),
        Subject::MemoryDuring { path, source } => ("memory_during", Some(path), Some(source)),
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
    object! { kind: kind, path: path, name: name }
}

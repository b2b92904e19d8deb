//! Many runs over time as JSON. Its fields are described in `docs/schema/trend.schema.json`.

use marey_analysis::compare::{ChangePoint, MeasureKind, TrendMeasure, Verdict};
use marey_analysis::findings::Confidence;
use serde::Serialize;

use super::json::{RunObject, SubjectObject, UnitObject, document, in_unit, seconds};
use super::trend_model::TrendReport;

/// Version of the document's shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    path: &'a str,
    runs: Vec<RunObject<'a>>,
    unreadable: &'a [String],
    measures: Vec<MeasureObject<'a>>,
}

#[derive(Serialize)]
struct MeasureObject<'a> {
    kind: MeasureKind,
    meaning: &'static str,
    subject: SubjectObject<'a>,
    unit: UnitObject,
    points: Vec<PointObject<'a>>,
    changes: Vec<ChangeObject<'a>>,
    drift_ratio: Option<f64>,
}

#[derive(Serialize)]
struct PointObject<'a> {
    run: &'a str,
    start: f64,
    value: f64,
}

#[derive(Serialize)]
struct ChangeObject<'a> {
    index: usize,
    run: Option<&'a str>,
    start: Option<f64>,
    before: f64,
    after: f64,
    ratio: Option<f64>,
    verdict: Verdict,
    confidence: Confidence,
}

/// The figures of many runs as UTF-8 JSON, indented.
pub fn trend_json(report: &TrendReport) -> Vec<u8> {
    document(&Document {
        schema_version: SCHEMA_VERSION,
        path: &report.runs.path,
        runs: report.runs.runs.iter().map(RunObject::new).collect(),
        unreadable: &report.runs.unreadable,
        measures: report
            .trend
            .measures
            .iter()
            .map(MeasureObject::new)
            .collect(),
    })
}

impl<'a> MeasureObject<'a> {
    fn new(measure: &'a TrendMeasure) -> Self {
        let points = measure.points.iter();
        Self {
            kind: measure.kind,
            meaning: measure.kind.meaning(),
            subject: SubjectObject::new(&measure.subject),
            unit: UnitObject::new(measure.unit),
            points: points
                .map(|point| PointObject {
                    run: &point.run,
                    start: seconds(point.at_unix_ns),
                    value: in_unit(point.value, measure.unit),
                })
                .collect(),
            changes: measure
                .changes
                .iter()
                .map(|change| ChangeObject::new(measure, change))
                .collect(),
            drift_ratio: measure.drift_ratio,
        }
    }
}

impl<'a> ChangeObject<'a> {
    fn new(measure: &'a TrendMeasure, change: &ChangePoint) -> Self {
        let first = measure.points.get(change.index);
        Self {
            index: change.index,
            run: first.map(|point| point.run.as_str()),
            start: first.map(|point| seconds(point.at_unix_ns)),
            before: in_unit(change.before, measure.unit),
            after: in_unit(change.after, measure.unit),
            ratio: change.ratio,
            verdict: change.verdict,
            confidence: change.confidence,
        }
    }
}

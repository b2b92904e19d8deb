//! Many runs over time as JSON. Its fields are described in `docs/schema/trend.schema.json`.

use marey_analysis::compare::{MeasureKind, TrendMeasure};
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
}

#[derive(Serialize)]
struct PointObject<'a> {
    run: &'a str,
    start: f64,
    value: f64,
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
        }
    }
}

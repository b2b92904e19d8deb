//! `raw_profiling_data_<session>.json`: every point of every series.

use marey::{Run, Series, SeriesKind, SeriesPoint};
use marey_analysis::SessionRun;
use serde::Serialize;

use super::{SCHEMA_VERSION, bytes_of, seconds};
use crate::model::run_id;

#[derive(Serialize)]
struct RawData<'a> {
    schema_version: &'static str,
    session_id: &'a str,
    start_time: f64,
    saved_at: f64,
    gpu_data: Vec<SeriesObject<'a>>,
    cpu_data: Vec<SeriesObject<'a>>,
}

#[derive(Serialize)]
struct SeriesObject<'a> {
    name: &'a str,
    subject: &'a str,
    unit: &'static str,
    kind: &'static str,
    points: Vec<PointObject>,
}

#[derive(Serialize)]
struct PointObject {
    timestamp: f64,
    until: f64,
    count: u32,
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    last: Option<f64>,
}

/// The series of a run as UTF-8 JSON.
pub fn raw_profiling_data(run: &Run) -> Vec<u8> {
    bytes(run, &run_id(run))
}

/// Those of a session.
pub fn raw_profiling_data_of_session(session: &SessionRun) -> Vec<u8> {
    let itself = session.run.sessions.first();
    bytes(&session.run, itself.map_or("", |itself| &itself.name))
}

fn bytes(run: &Run, id: &str) -> Vec<u8> {
    let start_unix_ns = run.info.start_unix_ns;
    let series = |is_gpu: bool| {
        let is_wanted = move |s: &&Series| is_of_gpu(s) == is_gpu;
        let wanted = run.series.iter().filter(is_wanted);
        wanted
            .map(|s| SeriesObject::new(s, start_unix_ns))
            .collect()
    };
    bytes_of(&RawData {
        schema_version: SCHEMA_VERSION,
        session_id: id,
        start_time: seconds(start_unix_ns),
        saved_at: seconds(start_unix_ns.saturating_add(run.wall_ns)),
        gpu_data: series(true),
        cpu_data: series(false),
    })
}

fn is_of_gpu(series: &Series) -> bool {
    let info = &series.info;
    let is_sampler = info.name.starts_with("sampler.") && info.subject == "gpu";
    info.name.starts_with("gpu.") || is_sampler
}

impl<'a> SeriesObject<'a> {
    fn new(series: &'a Series, start_unix_ns: u64) -> Self {
        let points = series.points.iter();
        Self {
            name: &series.info.name,
            subject: &series.info.subject,
            unit: series.info.unit.symbol(),
            kind: match series.info.kind {
                SeriesKind::Gauge => "gauge",
                SeriesKind::Cumulative => "cumulative",
            },
            points: points
                .map(|point| PointObject::new(point, start_unix_ns))
                .collect(),
        }
    }
}

impl PointObject {
    fn new(point: &SeriesPoint, start_unix_ns: u64) -> Self {
        let number = |value: f64| value.is_finite().then_some(value);
        let at = |ns: u64| seconds(start_unix_ns.saturating_add(ns));
        Self {
            timestamp: at(point.first_ns),
            until: at(point.last_ns),
            count: point.count,
            min: number(point.min),
            mean: number(point.mean()),
            max: number(point.max),
            last: number(point.last),
        }
    }
}

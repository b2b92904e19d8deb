//! `raw_profiling_data_<session>.json`: every point of every series.

use marey::{Run, Series, SeriesKind};
use marey_analysis::SessionRun;

use super::object::{Json, object};
use super::{bytes_of, list, seconds};
use crate::model::run_id;

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
    let data = |is_gpu: bool| {
        let wanted = run.series.iter().filter(|one| is_of_gpu(one) == is_gpu);
        wanted.map(|one| series(one, start_unix_ns)).collect::<Vec<_>>()
    };
    bytes_of(&object! {
        schema_version: "1.0",
        session_id: id,
        start_time: seconds(start_unix_ns),
        saved_at: seconds(start_unix_ns.saturating_add(run.wall_ns)),
        gpu_data: data(true),
        cpu_data: data(false),
    })
}

fn is_of_gpu(series: &Series) -> bool {
    let info = &series.info;
    let is_sampler = info.name.starts_with("sampler.") && info.subject == "gpu";
    info.name.starts_with("gpu.") || is_sampler
}

fn series(found: &Series, start_unix_ns: u64) -> impl Json {
    let number = |value: f64| value.is_finite().then_some(value);
    let at = |ns: u64| seconds(start_unix_ns.saturating_add(ns));
    object! {
        name: &found.info.name,
        subject: &found.info.subject,
        unit: found.info.unit.symbol(),
        kind: match found.info.kind {
            SeriesKind::Gauge => "gauge",
            SeriesKind::Cumulative => "cumulative",
        },
        points: list(&found.points, |point| object! {
            timestamp: at(point.first_ns),
            until: at(point.last_ns),
            count: point.count,
            min: number(point.min),
            mean: number(point.mean()),
            max: number(point.max),
            last: number(point.last),
        }),
    }
}

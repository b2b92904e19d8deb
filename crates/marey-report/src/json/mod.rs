//! `profiling_report.json`. Its fields are described in `docs/schema/profiling_report.schema.json`.

mod activity;
mod allocations;
mod analyzed;
mod blocks;
mod caches;
mod calls;
mod comparison;
mod counters;
mod cpu;
mod device_work;
mod diffusion;
mod figures;
mod gpu;
mod job;
mod layers;
mod memory;
mod models;
pub(crate) mod object;
mod pipelines;
mod quality;
mod raw;
mod recommendations;
mod run;
mod section_resources;
mod sections;
mod stages;
mod streaming;
mod summary;
mod windows;

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::escape;
use crate::model::Report;
use crate::quantity::float;

use figures::Scope;
use object::{Fields, object};

pub use analyzed::{snapshot_json, trace_json};
pub(crate) use comparison::comparison;
pub use comparison::{comparison_json, trend_json};
pub use job::aggregation_json;
pub(crate) use memory::snapshots;
pub use raw::{raw_profiling_data, raw_profiling_data_of_session};
pub use run::launch_object;
pub(crate) use sections::reason;

/// Version of the document's shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// The profiling report as UTF-8 JSON, indented. It is finite and valid whatever names the user chose; strings in it
/// hold nothing that a terminal or a browser would act on.
pub fn profiling_report(report: &Report) -> Vec<u8> {
    let activity = &report.activity;
    let n_left_short = report.n_sessions_left_short();
    // In the order in which a person would read it.
    bytes_of(&object! {
        schema_version: SCHEMA_VERSION,
        timestamp: seconds(report.run.start_unix_ns),
        run: run::run(&report.run),
        status: run::status(&report.status),
        launch?: report.run.launch.as_ref().map(launch_object),
        session_info: activity::session_info(report),
        summary: summary::of(activity),
        ..of_sections(report),
        memory_snapshot_files?: analyzed::snapshot_files(&report.snapshot_files),
        trace_files?: Some(&report.trace_files).filter(|files| !files.is_empty()),
        ..activity::measured(Scope::new(report, activity)),
        profiler_windows: windows::of(activity),
        counters: pairs(&report.counters, |found| (&*found.name, counters::counter(report, found))),
        section_attributes: list(&report.attributes.calls, |call| object! {
            section: call.node,
            start_s: seconds(call.start_ns),
            duration_s: seconds(call.duration_ns),
            attributes: &call.attributes,
        }),
        section_attributes_left_out: report.attributes.n_calls_left_out,
        pipelines: list(&report.pipelines, pipelines::pipeline),
        sessions: list(&report.sessions, |session| activity::session(report, session)),
        sessions_left_short?: Some(n_left_short).filter(|n| *n > 0),
        events: run::events(activity),
        recommendations: recommendations::of(Scope::new(report, activity)),
        checks: recommendations::checks(&activity.findings),
        data_quality: quality::of(report),
    })
}

/// What is about sections and loops.
fn of_sections(report: &Report) -> impl Fields + use<'_> {
    let sections = &report.sections;
    let first = report.iterations.first();
    object! {
        timing_stats: pairs(&sections.by_name, |row| (&*row.name, calls::timing_stats(row))),
        memory_snapshots: snapshots(report),
        iteration_stats: MaybeEmpty(first.map(calls::iteration_stats)),
        iteration_profilers: pairs(&report.iterations, |found| {
            (&*found.name, calls::iteration_stats(found))
        }),
        sections: list(&sections.tree, |row| sections::section(report, row)),
        under_no_section: sections::under_no_section(report),
        gpu_time: report.gpu_times.as_ref().map(device_work::gpu_time),
        stage_analysis: stages::of(&report.activity.stages),
        memory: report.memory.as_ref().map(|found| memory::of(report, found)),
        section_memory: list(&report.section_peaks, device_work::section_peak),
        section_resources: list(&report.used_resources, section_resources::of),
    }
}

/// Each item as an object.
fn list<'a, T, O>(all: &'a [T], object: impl Fn(&'a T) -> O) -> Vec<O> {
    all.iter().map(object).collect()
}

/// Each item under its name.
fn pairs<'a, T, O>(all: &'a [T], named: impl Fn(&'a T) -> (&'a str, O)) -> Pairs<&'a str, O> {
    Pairs(all.iter().map(named).collect())
}

/// A value as indented JSON with a line feed at its end.
pub(crate) fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    let text =
        serde_json::to_string_pretty(value).expect("string keys and plain values always serialize");
    let mut shown = match escape::json(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    };
    shown.push('\n');
    shown.into_bytes()
}

/// A JSON object with its keys in the given order. Keys differ.
struct Pairs<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The object, or `{}`.
struct MaybeEmpty<T>(Option<T>);

impl<T: Serialize> Serialize for MaybeEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => Pairs::<&str, &str>(Vec::new()).serialize(serializer),
        }
    }
}

/// Nanoseconds as seconds. Whole seconds apart, because nanoseconds since 1970 do not fit into a float.
fn seconds(ns: u64) -> f64 {
    float(ns / 1_000_000_000) + float(ns % 1_000_000_000) / 1e9
}

/// Fractions of nanoseconds as seconds.
fn float_seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Bytes as MiB.
fn mebibytes(bytes: u64) -> f64 {
    float(bytes) / 1_048_576.0
}

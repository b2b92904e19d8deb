//! `profiling_report.json`. Its fields are described in `docs/schema/profiling_report.schema.json`.

mod activity;
mod analyzed;
mod caches;
mod calls;
mod comparison;
mod cpu;
mod dialect;
mod diffusion;
mod figures;
mod gpu;
mod memory;
mod models;
pub(crate) mod object;
mod quality;
mod raw;
mod recommendations;
mod run;
mod schema;
mod sections;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::escape;
use crate::model::{NamedValues, Report};
use crate::quantity::float;

use dialect::Dialect;
use figures::Scope;
use object::{Fields, Json, object};

pub use analyzed::{aggregation_json, snapshot_json, trace_json};
pub use comparison::{comparison_json, trend_json};
pub(crate) use dialect::key;
pub use memory::memory_log;
pub use raw::{raw_profiling_data, raw_profiling_data_of_session};
pub use run::{launch_object, status_object};
pub(crate) use schema::schema_of;
pub use schema::schemas;
pub(crate) use sections::reason;

/// Version of the documents' shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "2.0";

/// The profiling report as UTF-8 JSON, indented. It is finite and valid whatever names the user chose; strings in it
/// hold nothing that a terminal or a browser would act on.
pub fn profiling_report(report: &Report) -> Vec<u8> {
    bytes_of(&document(report))
}

fn document(report: &Report) -> impl Json {
    let activity = &report.activity;
    let n_left_short = report.n_sessions_left_short();
    // In the order in which a person would read it.
    object! {
        /// One run of one process. Durations are seconds, keys that end in _mb are MiB, in _bytes bytes. What is not known is null, never
        /// 0.
        struct ProfilingReport;
        /// The first number changes when a key changes its meaning or goes.
        schema_version: SCHEMA_VERSION,
        /// Start of the run, seconds since 1970.
        timestamp: seconds(report.run.start_unix_ns),
        /// Where, when and how the process ran.
        run: run::run(&report.run),
        /// How the run ended.
        status: status_object(&report.status),
        /// What `marey run` saw of the command that the run belongs to; absent without it.
        launch?: report.run.launch.as_ref().map(launch_object),
        session_info: activity::session_info(report),
        summary: activity::summary(activity),
        ..of_sections(report),
        /// CUDA memory snapshots that lie beside the capture, and those that windows wrote; absent when there are none.
        memory_snapshot_files?: Some(&report.snapshot_files).filter(|files| !files.is_empty()),
        /// Traces that windows of torch's profiler wrote, four at most, each of 64 MiB at most; absent when there are none.
        trace_files?: Some(&report.trace_files).filter(|files| !files.is_empty()),
        ..activity::measured(Scope::new(report, activity)),
        /// Windows of torch's profiler and the like, in the order in which they were opened. Moments are since the start of the run.
        profiler_windows: run::profiler_windows(activity),
        /// Every counter by name; readings that are no finite number are passed over.
        counters: pairs(&report.counters, |found| (&*found.name, calls::counter(report, found))),
        /// Calls that attributes were given to, ascending by start: the first 10000 of those that were recorded one by one. sync: true says
        /// that the call was synchronised with the GPU at both ends.
        section_attributes: list(&report.attributes.calls, |call| object! {
            /// id of an entry of sections.
            section: call.node,
            /// When it was entered, seconds since the start of the run.
            start_s: seconds(call.start_ns),
            /// How long it took, seconds.
            duration_s: seconds(call.duration_ns),
            attributes: NamedValues::new(&call.attributes),
        }),
        /// Calls with attributes beyond those in section_attributes.
        section_attributes_left_out: report.attributes.n_calls_left_out,
        /// Pipelines, in the order of their first calls; of more than a hundred those with most calls. Empty when no session has the tag.
        pipelines: list(&report.pipelines, models::pipeline),
        /// Named intervals in order of their start.
        sessions: list(&report.sessions, |session| activity::session(report, session)),
        /// Sessions of which only name, start, duration, outcome, tags and parent are given, because there are more than a hundred: all but
        /// the first 40, the last 20 and the 40 longest of the others, or those nested so deep that they would have more than eight times
        /// what the run has. Absent if there are none.
        sessions_left_short?: Some(n_left_short).filter(|n| *n > 0),
        /// Points in time, in order.
        events: run::events(activity),
        /// Findings, most severe first; [] when nothing was found.
        recommendations: recommendations::of(Scope::new(report, activity)),
        /// Rules that found nothing, and rules that could not tell.
        checks: recommendations::checks(&activity.findings),
        /// How far the figures can be trusted.
        data_quality: quality::of(report),
    }
}

/// What is about sections and loops.
fn of_sections(report: &Report) -> impl Fields + use<'_> {
    let sections = &report.sections;
    let first = report.iterations.first();
    object! {
        /// Sections by name, longest total first; completed calls only.
        timing_stats: pairs(&sections.by_name, |row| (&*row.name, calls::timing_stats(row))),
        /// Labelled memory readings in order of time.
        memory_snapshots: memory::snapshots(report),
        /// The first loop; {} when there is none.
        iteration_stats: MaybeEmpty(first.map(calls::iteration_stats)),
        /// Every loop by name.
        iteration_profilers: pairs(&report.iterations, |found| {
            (&*found.name, calls::iteration_stats(found))
        }),
        /// Call paths, parents before their children, children by inclusive time.
        sections: list(&sections.tree, |row| sections::section(report, row)),
        under_no_section: sections::under_no_section(report),
        /// How GPU times of sections were measured; null when none was. The times are in sections.
        gpu_time: report.gpu_times.as_ref().map(sections::gpu_times),
        stage_analysis: sections::stage_analysis(&report.activity.stages),
        memory: report.memory.as_ref().map(|found| memory::of(report, found)),
        /// Most that torch's allocator held during measured calls of each call path, by device; empty when nothing was measured.
        section_memory: list(&report.section_peaks, sections::section_peak),
        /// What the calls of outer call paths (the two upper levels of each thread) used, read at both ends; empty when none was read.
        section_resources: list(&report.used_resources, sections::resources),
    }
}

/// Each item as an object.
pub(crate) fn list<'a, T, O>(all: &'a [T], object: impl Fn(&'a T) -> O) -> Vec<O> {
    all.iter().map(object).collect()
}

/// Each item under its name.
fn pairs<'a, T, O>(all: &'a [T], named: impl Fn(&'a T) -> (&'a str, O)) -> Pairs<&'a str, O> {
    Pairs(all.iter().map(named).collect())
}

/// A value as indented JSON with a line feed at its end.
pub(crate) fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    written(value, PrettyFormatter::new())
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> Vec<u8> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Dialect::new(formatter));
    let outcome = value.serialize(&mut serializer);
    outcome.expect("string keys and plain values always serialize");
    let text = String::from_utf8(text).expect("JSON is UTF-8");
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

impl<K, V: JsonSchema> JsonSchema for Pairs<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Pairs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, V>>::json_schema(generator)
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

impl<T: JsonSchema> JsonSchema for MaybeEmpty<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MaybeEmpty".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let nothing = json_schema!({ "type": "object", "maxProperties": 0 });
        json_schema!({ "anyOf": [generator.subschema_for::<T>(), nothing] })
    }
}

/// Nanoseconds as seconds, exact to the nanosecond for 97 days. Whole seconds apart where they are since 1970: those do not fit into a float.
pub(crate) fn seconds(ns: u64) -> f64 {
    if ns < 1 << f64::MANTISSA_DIGITS {
        return float(ns) / 1e9;
    }
    float(ns / 1_000_000_000) + float(ns % 1_000_000_000) / 1e9
}

/// Fractions of nanoseconds as seconds.
pub(crate) fn float_seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Bytes as MiB.
fn mebibytes(bytes: u64) -> f64 {
    float(bytes) / 1_048_576.0
}

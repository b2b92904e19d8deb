//! `profiling_report.json`. Its fields are described in `docs/schema/profiling_report.schema.json`.

mod attributes;
mod caches;
mod calls;
mod counters;
mod memory;
mod quality;
mod run;
mod sections;

use serde::{Serialize, Serializer};

use crate::escape;
use crate::model::Report;
use crate::quantity::float;

use attributes::AttributedObject;
use caches::CacheAnalysis;
use calls::{IterationStats, TimingStats};
use counters::CounterObject;
use memory::MemoryAnalysis;
use quality::DataQuality;
use run::{EventObject, RunObject, SessionObject, StatusObject};
use sections::{SectionObject, UnderNoSectionObject};

pub(crate) use memory::snapshots;
pub(crate) use sections::reason;

/// Version of the document's shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// The whole document, in the order in which a person would read it.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    timestamp: f64,
    run: RunObject<'a>,
    status: StatusObject<'a>,
    timing_stats: Pairs<&'a str, TimingStats>,
    memory_snapshots: Vec<memory::Snapshot<'a>>,
    iteration_stats: MaybeEmpty<IterationStats>,
    iteration_profilers: Pairs<&'a str, IterationStats>,
    sections: Vec<SectionObject<'a>>,
    under_no_section: UnderNoSectionObject,
    memory: Option<MemoryAnalysis<'a>>,
    cache_analysis: Option<CacheAnalysis<'a>>,
    counters: Pairs<&'a str, CounterObject>,
    section_attributes: Vec<AttributedObject<'a>>,
    section_attributes_left_out: u64,
    sessions: Vec<SessionObject<'a>>,
    events: Vec<EventObject<'a>>,
    data_quality: DataQuality<'a>,
}

/// The profiling report as UTF-8 JSON, indented. It is finite and valid whatever names the user chose; strings in it
/// hold nothing that a terminal or a browser would act on.
pub fn profiling_report(report: &Report) -> Vec<u8> {
    let stats = |found: &marey_analysis::Iterations| IterationStats::new(found);
    let first = report.iterations.first().map(stats);
    bytes_of(&Document {
        schema_version: SCHEMA_VERSION,
        timestamp: seconds(report.run.start_unix_ns),
        run: RunObject::new(&report.run),
        status: StatusObject::new(&report.status),
        timing_stats: Pairs(
            report
                .sections
                .by_name
                .iter()
                .map(|row| (row.name.as_str(), TimingStats::new(row)))
                .collect(),
        ),
        memory_snapshots: snapshots(report),
        iteration_stats: MaybeEmpty(first),
        iteration_profilers: Pairs(
            report
                .iterations
                .iter()
                .map(|found| (found.name.as_str(), stats(found)))
                .collect(),
        ),
        sections: report
            .sections
            .tree
            .iter()
            .map(SectionObject::new)
            .collect(),
        under_no_section: UnderNoSectionObject::new(report),
        memory: report
            .memory
            .as_ref()
            .map(|memory| MemoryAnalysis::new(report, memory)),
        cache_analysis: report
            .caches
            .as_ref()
            .map(|caches| CacheAnalysis::new(report, caches)),
        counters: Pairs(
            report
                .counters
                .iter()
                .map(|found| (found.name.as_str(), CounterObject::new(report, found)))
                .collect(),
        ),
        section_attributes: report
            .attributes
            .calls
            .iter()
            .map(AttributedObject::new)
            .collect(),
        section_attributes_left_out: report.attributes.n_calls_left_out,
        sessions: report.sessions.iter().map(SessionObject::new).collect(),
        events: report
            .events
            .iter()
            .map(|event| EventObject::new(&report.run, event))
            .collect(),
        data_quality: DataQuality::new(report),
    })
}

/// A value as indented JSON with a line feed at its end.
pub(crate) fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    let text =
        serde_json::to_string_pretty(value).expect("string keys and plain values always serialize");
    let mut shown = escape::json(&text);
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

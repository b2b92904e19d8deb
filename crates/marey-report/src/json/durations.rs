//! Figures of durations and amounts, as several analyses have them.

use marey_analysis::{Durations, Spread, StepSource};
use serde::Serialize;

use crate::quantity::float;

/// Figures of durations, in milliseconds.
#[derive(Serialize)]
pub(super) struct DurationsObject {
    count: u64,
    total_ms: f64,
    avg_ms: f64,
    min_ms: f64,
    max_ms: f64,
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
    std_dev_ms: Option<f64>,
}

impl DurationsObject {
    pub(super) fn new(found: &Durations) -> Self {
        Self {
            count: found.count,
            total_ms: milliseconds(found.total_ns),
            avg_ms: found.mean_ns / 1e6,
            min_ms: milliseconds(found.min_ns),
            max_ms: milliseconds(found.max_ns),
            p50_ms: milliseconds(found.p50_ns),
            p95_ms: milliseconds(found.p95_ns),
            p99_ms: milliseconds(found.p99_ns),
            std_dev_ms: found.std_dev_ns.map(|ns| ns / 1e6),
        }
    }

    pub(super) fn of(found: Option<&Durations>) -> Option<Self> {
        found.map(Self::new)
    }
}

/// The documented four figures of all computation times. Null when no time is known.
#[derive(Serialize)]
pub(super) struct ComputationTimes {
    #[serde(rename = "total_computation_time_ms")]
    total: Option<f64>,
    #[serde(rename = "avg_computation_time_ms")]
    avg: Option<f64>,
    #[serde(rename = "min_computation_time_ms")]
    min: Option<f64>,
    #[serde(rename = "max_computation_time_ms")]
    max: Option<f64>,
}

impl ComputationTimes {
    pub(super) fn new(found: Option<&Durations>) -> Self {
        Self {
            total: found.map(|all| milliseconds(all.total_ns)),
            avg: found.map(|all| all.mean_ns / 1e6),
            min: found.map(|all| milliseconds(all.min_ns)),
            max: found.map(|all| milliseconds(all.max_ns)),
        }
    }
}

/// The documented three figures of latent frames.
#[derive(Serialize)]
pub(super) struct BlockSizes {
    #[serde(rename = "avg_block_size")]
    avg: Option<f64>,
    #[serde(rename = "min_block_size")]
    min: Option<f64>,
    #[serde(rename = "max_block_size")]
    max: Option<f64>,
}

impl BlockSizes {
    pub(super) fn new(found: Option<Spread>) -> Self {
        Self {
            avg: found.map(|sizes| sizes.mean),
            min: found.map(|sizes| sizes.min),
            max: found.map(|sizes| sizes.max),
        }
    }
}

/// Where steps or blocks are known from.
#[derive(Serialize)]
pub(super) struct SourceObject<'a> {
    kind: &'static str,
    name: Option<&'a str>,
}

impl<'a> SourceObject<'a> {
    pub(super) fn new(source: &'a StepSource) -> Self {
        let (kind, name) = match source {
            StepSource::Reported => ("reported", None),
            StepSource::Iterations(name) => ("iterations", Some(name.as_str())),
            StepSource::Sections(name) => ("sections", Some(name.as_str())),
        };
        Self { kind, name }
    }
}

/// Nanoseconds as milliseconds.
pub(super) fn milliseconds(ns: u64) -> f64 {
    float(ns) / 1e6
}

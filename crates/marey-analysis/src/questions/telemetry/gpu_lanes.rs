//! Several GPUs as if they were one.

use marey::SeriesPoint;

use super::sampled::Sampled;
use crate::readings::{Merge, together};

/// The readings of all GPUs as if they were one; empty where one of them was never read.
pub(super) struct GpuLanes {
    pub(super) memory_used: Vec<SeriesPoint>,
    pub(super) memory_total: Vec<SeriesPoint>,
    pub(super) utilization: Vec<SeriesPoint>,
    pub(super) temperature: Vec<SeriesPoint>,
    pub(super) power: Vec<SeriesPoint>,
    pub(super) memory_process: Vec<SeriesPoint>,
}

impl GpuLanes {
    pub(super) fn new(sampled: &Sampled<'_>, uuids: &[&str]) -> Self {
        let lane = |name: &str, how| {
            let each = uuids.iter().map(|uuid| sampled.points(name, uuid));
            let each: Option<Vec<Vec<SeriesPoint>>> = each.map(|p| p.map(<[_]>::to_vec)).collect();
            each.map(|each| together(&each, how)).unwrap_or_default()
        };
        Self {
            memory_used: lane("gpu.memory.used", Merge::Sum),
            memory_total: lane("gpu.memory.total", Merge::Sum),
            utilization: lane("gpu.utilization", Merge::Highest),
            temperature: lane("gpu.temperature", Merge::Highest),
            power: lane("gpu.power", Merge::Sum),
            memory_process: lane("gpu.memory.process", Merge::Sum),
        }
    }

    /// Rounds in which they were read.
    pub(super) fn n_readings(&self) -> u64 {
        let lanes = self.each().into_iter();
        let counts = lanes.map(|points| points.iter().map(|p| u64::from(p.count)).sum());
        counts.max().unwrap_or(0)
    }

    fn each(&self) -> [&Vec<SeriesPoint>; 5] {
        [&self.memory_used, &self.memory_total, &self.utilization, &self.temperature, &self.power]
    }
}

//! What one process of a job did, in some 5 to 100 kB as a rule.
//!
//! It does not grow with the length of the run once its lists are full, only with the lengths of names, which are kept whole. With all
//! lists full and names of 20 letters, three deep, it comes to some 1.5 MB of JSON:
//!
//! ```text
//!   256 call paths                  × (190 B + 3 names × 23 B + 54 buckets, durations over a factor of ten, × 9 B)     190 kB
//! 1 024 cells of steps and blocks   × 150 B                                                                           150 kB
//! 65 536 calls of collectives       × 15 B                                                                              1 MB
//!   256 pieces of stages × 55 B, 64 groups and names × 200 B                                                           27 kB
//! ```
//!
//! Times are nanoseconds since the start of the process (`start_unix_ns` says when that was), sizes bytes, ratios 0 to 1. What is
//! not known is `None`. Names are as the user gave them: not safe to print. Every list is bounded.

use serde::{Deserialize, Serialize};

use super::LogBuckets;
use crate::import::flight_recorder::FlightDump;
use crate::intervals::Interval;

/// One process of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankSummary {
    /// Which process.
    pub process: RankProcess,
    /// What it was read from.
    pub source: Source,
    /// The file, as whoever read it calls it.
    pub file: String,
    /// What a report calls the session or run that it is of; `None` when it does not say, and of captures and traces.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Version of Marey that wrote it; `None` when another tool did, or it does not say.
    pub marey: Option<String>,
    /// How it ended.
    pub ended: Ended,
    /// The file ends within a block, or within the events of a trace: it was cut, or whoever wrote it was stopped meanwhile.
    #[serde(default)]
    pub is_truncated: bool,
    /// From its start to its end.
    pub wall_ns: u64,
    /// Sections that are in the sums but were not recorded one by one, and notes that were dropped.
    pub n_lost: u64,
    /// What was wrong with the file, at most [`RankSummary::MAX_WARNINGS`].
    pub warnings: Vec<String>,
    /// Sums of each call path, in order of the path; at most [`RankSummary::MAX_SECTIONS`], those with the most time.
    pub sections: Vec<SectionSums>,
    /// Denoising steps; `None` when it recorded none.
    pub steps: Option<IterationSums>,
    /// Autoregressive blocks, or chunks of frames; `None` when it recorded none.
    pub blocks: Option<IterationSums>,
    /// What it did when: sections of its main thread that say that, and collectives, in order of time, at most
    /// [`RankSummary::MAX_PIECES`].
    pub stages: Vec<StagePiece>,
    /// Names that `stages` refers to.
    pub stage_names: Vec<String>,
    /// Which of `stage_names` are collectives, and waits for them.
    #[serde(default)]
    pub communication_names: Vec<u32>,
    /// Calls of collectives, by group and name, at most [`RankSummary::MAX_COLLECTIVES`], those with the most time.
    pub collectives: Vec<CollectiveSums>,
    /// Groups and names that are not in `collectives`.
    #[serde(default)]
    pub n_collectives_left_out: u64,
    /// When it set marks for the alignment of clocks (`start_mark`), in order; at most [`RankSummary::MAX_MARKS`], the first ones.
    #[serde(default)]
    pub marks: Vec<u64>,
    /// Marks that are not in `marks`.
    #[serde(default)]
    pub n_marks_left_out: u64,
    /// What its GPU did, of a trace with one; `None` of all others.
    #[serde(default)]
    pub device: Option<DeviceSums>,
    /// The newest calls of each of its groups, of a dump of torch's flight recorder; `None` of all others.
    #[serde(default)]
    pub dump: Option<FlightDump>,
    /// The machine meanwhile.
    pub machine: MachineSums,
    /// What it made.
    pub work: Work,
    /// What a report says is the matter with it, most severe first, at most [`RankSummary::MAX_FINDINGS`]; empty for captures and traces,
    /// of which no rule is asked rank by rank: that takes ten times as long as the summary.
    pub findings: Vec<RankFinding>,
}

impl RankSummary {
    /// Warnings that are kept.
    pub const MAX_WARNINGS: usize = 4;
    /// Call paths that are kept.
    pub const MAX_SECTIONS: usize = 256;
    /// Pieces of `stages`.
    pub const MAX_PIECES: usize = 256;
    /// Cells of [`IterationSums`].
    pub const MAX_CELLS: usize = 512;
    /// Calls that all [`CollectiveSums`] together keep.
    pub const MAX_CALLS: usize = 65_536;
    /// Groups and names of collectives that are kept.
    pub const MAX_COLLECTIVES: usize = 64;
    /// Marks that are kept.
    pub const MAX_MARKS: usize = 256;
    /// Findings that are kept.
    pub const MAX_FINDINGS: usize = 8;
}

/// Which process of which job.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RankProcess {
    /// The job; empty when not known.
    pub job_id: String,
    /// Place in the job; `None` when not known.
    pub rank: Option<u32>,
    /// Host name; empty when not known.
    pub host: String,
    /// Process id; 0 when not known.
    pub pid: u32,
    /// Wall clock at its start, nanoseconds since 1970; 0 when not known.
    pub start_unix_ns: u64,
    /// Number of ranks in the job.
    pub world_size: Option<u32>,
    /// Place among the ranks of its host.
    pub local_rank: Option<u32>,
    /// The process that it was forked from.
    pub forked_from: Option<u32>,
    /// One start of the host: processes that share it read the same clock. Empty when not known.
    pub boot_id: String,
}

impl RankProcess {
    /// When it began, nanoseconds since 1970; `None` when not known: not said, or past the year 2262, which no clock shows.
    pub fn start_ns(&self) -> Option<u64> {
        let is_date = self.start_unix_ns > 0 && i64::try_from(self.start_unix_ns).is_ok();
        is_date.then_some(self.start_unix_ns)
    }
}

/// What a summary was read from, the best first.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A capture of Marey.
    #[default]
    Capture,
    /// A trace of torch.profiler.
    Trace,
    /// A `profiling_report.json`, of Marey or in the shape of the documents.
    Report,
    /// A dump of torch's flight recorder.
    FlightRecorder,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The file does not say.
    #[default]
    NotKnown,
    /// It had not ended when the file was read.
    Running,
    /// By itself.
    Finished,
    /// It said that it failed, and why.
    Failed(String),
    /// `marey run` saw it die of this signal.
    Killed(i32),
    /// It is gone and never closed its capture.
    WithoutClosing,
}

impl Ended {
    /// It failed, was killed or vanished.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Killed(_) | Self::WithoutClosing)
    }
}

/// All calls of one call path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SectionSums {
    /// Names from the outermost section to this one.
    pub path: Vec<String>,
    /// Iterations of a loop instead of a section.
    pub is_iteration: bool,
    /// Completed calls.
    pub count: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Shortest call; 0 when `count` is 0.
    pub min_ns: u64,
    /// Longest call; 0 when `count` is 0.
    pub max_ns: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Durations of all calls; `None` when they are not known one by one and no histogram was kept.
    pub durations: Option<LogBuckets>,
    /// Open when the process ended: how long so far; `None` when none was.
    pub open_ns: Option<u64>,
    /// What it held the process up without what is below it: all call paths, those that are not kept, and what no section had open add up to
    /// its wall time. `None` where that is not known, and of reports.
    #[serde(default)]
    pub held_ns: Option<u64>,
}

/// Iterations of one kind, denoising steps say, in order of time. Of more than [`RankSummary::MAX_CELLS`] each cell holds several.
///
/// ```text
/// iterations   0 1 2 3 4 5 6        with room for four cells: per_cell 2
/// cells        |0  |1  |2  |3
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationSums {
    /// All of them whose duration is known.
    pub count: u64,
    /// Median of all that are no warm-up; `None` when there are none.
    pub median_ns: Option<u64>,
    /// Iterations of a cell: 1, 2, 4, …; the last cell may have fewer.
    pub per_cell: u32,
    /// In order of time.
    pub cells: Vec<IterationCell>,
}

/// Some iterations that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationCell {
    /// When the first began.
    pub start_ns: u64,
    /// When the last ended.
    pub end_ns: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Time in which a collective was open meanwhile that succeeded, each moment counted once; `None` when the process recorded no
    /// collectives.
    pub communication_ns: Option<u64>,
    /// Time in which only collectives were open that failed: neither communication nor the process's own work.
    #[serde(default)]
    pub failed_ns: u64,
    /// It holds the first iteration of the run, which warms up.
    pub is_warm_up: bool,
}

/// A stage from when to when.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct StagePiece {
    /// Index into [`RankSummary::stage_names`].
    pub name: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended, or the last of several short ones that were put together.
    pub end_ns: u64,
}

/// Calls of one collective in one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectiveSums {
    /// The group; `None` when not known.
    pub group: Option<String>,
    /// Ranks in the group; `None` when not known.
    pub group_size: Option<u64>,
    /// The collective: `all_reduce`.
    pub name: String,
    /// Measured on a device (kernels, or events there) instead of on the host.
    pub is_device: bool,
    /// Nobody leaves it before everybody has come: its calls tell what clocks differ by.
    pub is_synchronising: bool,
    /// All calls.
    pub count: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Bytes that calls said they moved, together; `None` when none said.
    pub bytes: Option<u64>,
    /// Calls that were left by an error. They are in no other figure.
    #[serde(default)]
    pub n_failed: u64,
    /// Sum of their durations: until somebody gave up.
    #[serde(default)]
    pub failed_ns: u64,
    /// Each call, in order of time; of a process with more than [`RankSummary::MAX_CALLS`] those that began first.
    #[serde(with = "super::collectives")]
    pub calls: Vec<Interval>,
}

/// What the GPU of a trace did in its time: the three add up to its `wall_ns`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct DeviceSums {
    /// Kernels other than communication, copies or fills ran.
    pub working_ns: u64,
    /// Nothing but communication ran: transfer, or waiting for other ranks.
    pub communication_ns: u64,
    /// Nothing ran.
    pub idle_ns: u64,
}

/// Lowest, mean and highest of readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Range {
    /// Lowest.
    pub min: f64,
    /// Mean over the time.
    pub mean: f64,
    /// Highest.
    pub max: f64,
}

/// The machine while the process ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MachineSums {
    /// Its GPUs, by UUID.
    pub gpus: Vec<GpuSums>,
    /// Cores that the process kept busy: 2.5 is two and a half.
    pub process_cores: Option<Range>,
    /// Share of the host's processors that was busy.
    pub host_cpu_ratio: Option<Range>,
    /// Memory of the host in use.
    pub host_memory_bytes: Option<Range>,
    /// Most resident memory of the process.
    pub process_memory_peak_bytes: Option<u64>,
    /// Most that torch had allocated on one device.
    pub torch_allocated_peak_bytes: Option<u64>,
    /// Most that torch held of one device.
    pub torch_reserved_peak_bytes: Option<u64>,
}

/// One GPU while the process ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GpuSums {
    /// Which one; several processes may name the same. Empty when not known.
    pub uuid: String,
    /// Its model.
    pub name: Option<String>,
    /// Memory in use, by anybody.
    pub memory_bytes: Option<Range>,
    /// Memory that it has.
    pub memory_total_bytes: Option<f64>,
    /// Share of the time in which a kernel ran.
    pub utilization_ratio: Option<Range>,
    /// Degrees Celsius.
    pub temperature_celsius: Option<Range>,
    /// Watts.
    pub power_watts: Option<Range>,
    /// Joules.
    pub energy_joules: Option<f64>,
    /// Its clocks were held down for heat, or it was hotter than 85 °C; `None` when not known.
    pub is_at_thermal_risk: Option<bool>,
}

/// What a process made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Work {
    /// Latent frames of its blocks or steps, each counted once.
    pub latent_frames: Option<u64>,
    /// Pixel frames that were delivered, or decoded where none was delivered.
    pub pixel_frames: Option<u64>,
    /// Latent frames in a second of the blocks or steps.
    pub latent_frames_per_second: Option<f64>,
    /// Pixel frames in a second, by the rate with the longest time.
    pub pixel_frames_per_second: Option<f64>,
    /// Blocks in a second.
    pub blocks_per_second: Option<f64>,
    /// Ended sessions.
    pub n_sessions: u64,
}

/// Something that is the matter with one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFinding {
    /// The rule.
    pub rule: String,
    /// `critical`, `warning` or `note`, as the rule's finding says it.
    pub severity: String,
    /// What is the matter.
    pub issue: String,
}

impl RankSummary {
    /// Makes numbers unknown that are none.
    pub(super) fn keep_finite(&mut self) {
        let machine = &mut self.machine;
        for range in [
            &mut machine.process_cores,
            &mut machine.host_cpu_ratio,
            &mut machine.host_memory_bytes,
        ] {
            *range = range.filter(Range::is_finite);
        }
        for gpu in &mut machine.gpus {
            for range in [
                &mut gpu.memory_bytes,
                &mut gpu.utilization_ratio,
                &mut gpu.temperature_celsius,
                &mut gpu.power_watts,
            ] {
                *range = range.filter(Range::is_finite);
            }
            for number in [&mut gpu.memory_total_bytes, &mut gpu.energy_joules] {
                *number = number.filter(|number| number.is_finite());
            }
        }
        for rate in [
            &mut self.work.latent_frames_per_second,
            &mut self.work.pixel_frames_per_second,
            &mut self.work.blocks_per_second,
        ] {
            *rate = rate.filter(|rate| rate.is_finite());
        }
    }
}

impl Range {
    /// Lowest of the lowest, mean of the means, highest of the highest; `None` of none.
    pub fn over(ranges: impl Iterator<Item = Self>) -> Option<Self> {
        let mut count = 0.0;
        let sums = ranges.inspect(|_| count += 1.0).reduce(|all, next| Self {
            min: all.min.min(next.min),
            mean: all.mean + next.mean,
            max: all.max.max(next.max),
        })?;
        Some(Self { mean: sums.mean / count, ..sums }).filter(Self::is_finite)
    }

    /// All three are numbers.
    fn is_finite(&self) -> bool {
        self.min.is_finite() && self.mean.is_finite() && self.max.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_no_date_is_not_known() {
        let at = |start_unix_ns| {
            let process = RankProcess { start_unix_ns, ..RankProcess::default() };
            process.start_ns()
        };
        assert_eq!(at(0), None);
        assert_eq!(at(1), Some(1));
        assert_eq!(at((1 << 63) - 1), Some((1 << 63) - 1));
        assert_eq!([at(1 << 63), at(u64::MAX)], [None, None]);
    }
}

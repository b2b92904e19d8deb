//! The figures of all ranks that the documents name, in their units.

use marey_analysis::job::{GpuSums, Range};
use marey_analysis::ranks::{JobAnswers, RankResources, RanksAnswers};

/// A mebibyte.
const MIB: f64 = 1_048_576.0;
const PERCENT: f64 = 100.0;

/// A figure of each rank that has it: its key, and what it is.
pub(crate) struct Documented {
    pub(crate) key: &'static str,
    of: fn(&RankResources) -> Option<f64>,
}

/// `summary.gpu` of a rank's report. Of several GPUs memory is added up, and utilisation is the highest. A GPU that ranks share counts for
/// each of them.
pub(crate) const GPU: [Documented; 5] = [
    Documented {
        key: "peak_memory_usage_mb",
        of: |rank| sum(rank, |gpu| Some(gpu.memory_bytes?.max / MIB)),
    },
    Documented {
        key: "avg_memory_usage_mb",
        of: |rank| sum(rank, |gpu| Some(gpu.memory_bytes?.mean / MIB)),
    },
    Documented {
        key: "peak_memory_utilization",
        of: |rank| {
            highest(rank, |gpu| {
                let total = gpu.memory_total_bytes.filter(|total| *total > 0.0)?;
                Some(gpu.memory_bytes?.max / total * PERCENT)
            })
        },
    },
    Documented {
        key: "avg_gpu_utilization",
        of: |rank| highest(rank, |gpu| Some(gpu.utilization_ratio?.mean * PERCENT)),
    },
    Documented {
        key: "peak_gpu_utilization",
        of: |rank| highest(rank, |gpu| Some(gpu.utilization_ratio?.max * PERCENT)),
    },
];

/// `summary.cpu` of a rank's report.
pub(crate) const CPU: [Documented; 4] = [
    Documented {
        key: "avg_cpu_usage",
        of: |rank| Some(rank.machine.host_cpu_ratio?.mean * PERCENT),
    },
    Documented {
        key: "peak_cpu_usage",
        of: |rank| Some(rank.machine.host_cpu_ratio?.max * PERCENT),
    },
    Documented {
        key: "avg_memory_usage_mb",
        of: |rank| Some(rank.machine.host_memory_bytes?.mean / MIB),
    },
    Documented {
        key: "peak_memory_usage_mb",
        of: |rank| Some(rank.machine.host_memory_bytes?.max / MIB),
    },
];

fn sum(rank: &RankResources, of: impl Fn(&GpuSums) -> Option<f64>) -> Option<f64> {
    rank.machine.gpus.iter().filter_map(of).reduce(|a, b| a + b)
}

fn highest(rank: &RankResources, of: impl Fn(&GpuSums) -> Option<f64>) -> Option<f64> {
    rank.machine.gpus.iter().filter_map(of).reduce(f64::max)
}

impl Documented {
    /// The figure of each rank of all jobs that has it.
    pub(crate) fn values(&self, answers: &RanksAnswers) -> Vec<f64> {
        let ranks = answers.jobs.iter().flat_map(|job| &job.resources.ranks);
        let known = ranks.filter_map(self.of);
        known.filter(|value| value.is_finite()).collect()
    }
}

/// Memory of GPUs in mebibytes and their utilisation in percent: lowest, mean, highest; each GPU once. `None` when not read.
pub(crate) fn gpus(answers: &RanksAnswers) -> (Option<Range>, Option<Range>) {
    let all = |of: fn(&JobAnswers) -> Option<Range>, factor: f64| {
        let known: Vec<(Range, usize)> = answers
            .jobs
            .iter()
            .filter_map(|job| Some((of(job)?, job.resources.gpus.len().max(1))))
            .collect();
        let n_gpus: usize = known.iter().map(|(_, n)| n).sum();
        let both = known.iter().map(|(range, _)| *range).reduce(|a, b| Range {
            min: a.min.min(b.min),
            mean: 0.0,
            max: a.max.max(b.max),
        })?;
        #[expect(clippy::cast_precision_loss, reason = "few GPUs")]
        let mean =
            known.iter().map(|(range, n)| range.mean * (*n as f64)).sum::<f64>() / n_gpus as f64;
        Some(Range { min: both.min * factor, mean: mean * factor, max: both.max * factor })
    };
    (
        all(|job| job.resources.gpu_memory_bytes, 1.0 / MIB),
        all(|job| job.resources.gpu_utilization_ratio, PERCENT),
    )
}

//! The figures of all ranks that the documents name, in their units.

use marey_analysis::job::{GpuSums, MachineSums, Range};
use marey_analysis::ranks::RanksAnswers;

/// A mebibyte.
const MIB: f64 = 1_048_576.0;
const PERCENT: f64 = 100.0;

/// A figure of each rank that has it: its key, and what it is.
pub(crate) type Documented = (&'static str, fn(&MachineSums) -> Option<f64>);

/// `summary.gpu` of a rank's report. Of several GPUs memory is added up, and utilisation is the highest. A GPU that ranks share counts for
/// each of them.
pub(crate) const GPU: [Documented; 5] = [
    ("peak_memory_usage_mb", |rank| sum(rank, |gpu| Some(gpu.memory_bytes?.max / MIB))),
    ("avg_memory_usage_mb", |rank| sum(rank, |gpu| Some(gpu.memory_bytes?.mean / MIB))),
    ("peak_memory_utilization", |rank| {
        highest(rank, |gpu| {
            let total = gpu.memory_total_bytes.filter(|total| *total > 0.0)?;
            Some(gpu.memory_bytes?.max / total * PERCENT)
        })
    }),
    ("avg_gpu_utilization", |rank| {
        highest(rank, |gpu| Some(gpu.utilization_ratio?.mean * PERCENT))
    }),
    ("peak_gpu_utilization", |rank| {
        highest(rank, |gpu| Some(gpu.utilization_ratio?.max * PERCENT))
    }),
];

/// `summary.cpu` of a rank's report.
pub(crate) const CPU: [Documented; 4] = [
    ("avg_cpu_usage", |rank| Some(rank.host_cpu_ratio?.mean * PERCENT)),
    ("peak_cpu_usage", |rank| Some(rank.host_cpu_ratio?.max * PERCENT)),
    ("avg_memory_usage_mb", |rank| Some(rank.host_memory_bytes?.mean / MIB)),
    ("peak_memory_usage_mb", |rank| Some(rank.host_memory_bytes?.max / MIB)),
];

fn sum(rank: &MachineSums, of: impl Fn(&GpuSums) -> Option<f64>) -> Option<f64> {
    rank.gpus.iter().filter_map(of).reduce(|a, b| a + b)
}

fn highest(rank: &MachineSums, of: impl Fn(&GpuSums) -> Option<f64>) -> Option<f64> {
    rank.gpus.iter().filter_map(of).reduce(f64::max)
}

/// Memory of GPUs in mebibytes and their utilisation in percent: lowest, mean, highest; each GPU once. `None` when not read.
pub(crate) fn gpus(answers: &RanksAnswers) -> (Option<Range>, Option<Range>) {
    let all = |of: fn(&GpuSums) -> Option<Range>| {
        let gpus = answers.jobs.iter().flat_map(|job| &job.resources.gpus);
        Range::over(gpus.filter_map(|row| of(&row.gpu)))
    };
    (
        all(|gpu| {
            let Range { min, mean, max } = gpu.memory_bytes?;
            Some(Range { min: min / MIB, mean: mean / MIB, max: max / MIB })
        }),
        all(|gpu| {
            let mean = gpu.utilization_ratio?.mean * PERCENT;
            Some(Range { min: mean, mean, max: mean })
        }),
    )
}

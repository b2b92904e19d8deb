//! What did the job use of its machines and GPUs?

use std::collections::BTreeMap;

use serde::Serialize;

use super::placed;
use crate::job::{GpuSums, MachineSums, Range, RankSummary};

/// Machines and GPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Resources {
    /// GPUs by UUID, each once however many ranks used it; those without a UUID by rank.
    pub gpus: Vec<RankGpu>,
    /// Memory in use of all GPUs: lowest, mean of the means, highest, bytes; `None` when none was read, as all below.
    pub gpu_memory_bytes: Option<Range>,
    /// Utilisation of all GPUs: of their means lowest, mean, highest.
    pub gpu_utilization_ratio: Option<Range>,
    /// Power of all GPUs together, on average, watts; `None` also when one of them was not read.
    pub power_watts: Option<f64>,
    /// Energy of all GPUs, joules; likewise.
    pub energy_joules: Option<f64>,
    /// Each rank's own use, by place.
    pub ranks: Vec<RankResources>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankGpu {
    /// Ranks that read it.
    pub places: Vec<u32>,
    /// Its host.
    pub host: String,
    /// What was read; of several ranks, the one that ran longest.
    pub gpu: GpuSums,
}

/// Use of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankResources {
    /// Its place.
    pub place: u32,
    /// What was read.
    pub machine: MachineSums,
}

/// A GPU is one by its UUID; one that says none is its rank's own.
type Key<'a> = (&'a str, Option<(u32, usize)>);

/// GPUs, each once, in order of the first rank that read it, and the use of each rank.
///
/// ```text
/// rank 0 ─► GPU-a  12 to 20 GB ─╮
/// rank 1 ─► GPU-a  12 to 20 GB ─┴─ counted once: what the rank that ran longer read
/// rank 2 ─► GPU-b   8 to 24 GB       memory 8 to 24 GB
/// ```
///
/// Sums are of all GPUs: one that was not read leaves them unknown.
pub(super) fn resources(places: &[&RankSummary]) -> Resources {
    let gpus = gpus(places);
    let memory = gpus.iter().filter_map(|row| row.gpu.memory_bytes);
    let utilization = gpus.iter().filter_map(|row| Some(row.gpu.utilization_ratio?.mean));
    let means = utilization.map(|mean| Range { min: mean, mean, max: mean });
    Resources {
        gpu_memory_bytes: Range::over(memory),
        gpu_utilization_ratio: Range::over(means),
        power_watts: sum(&gpus, |gpu| Some(gpu.power_watts?.mean)),
        energy_joules: sum(&gpus, |gpu| gpu.energy_joules),
        ranks: ranks(places),
        gpus,
    }
}

fn gpus(places: &[&RankSummary]) -> Vec<RankGpu> {
    let mut at: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut found: Vec<(RankGpu, u64)> = Vec::new();
    for (place, rank) in placed(places) {
        for (number, gpu) in rank.machine.gpus.iter().enumerate() {
            let own = gpu.uuid.is_empty().then_some((place, number));
            let index = *at.entry((&gpu.uuid, own)).or_insert(found.len());
            if let Some((row, longest_ns)) = found.get_mut(index) {
                if row.places.last() != Some(&place) {
                    row.places.push(place);
                }
                if rank.wall_ns > *longest_ns {
                    *longest_ns = rank.wall_ns;
                    row.gpu = gpu.clone();
                }
            } else {
                let row = RankGpu {
                    places: vec![place],
                    host: rank.process.host.clone(),
                    gpu: gpu.clone(),
                };
                found.push((row, rank.wall_ns));
            }
        }
    }
    found.into_iter().map(|(row, _)| row).collect()
}

/// Ranks of which anything was read.
fn ranks(places: &[&RankSummary]) -> Vec<RankResources> {
    let read = placed(places).filter(|(_, rank)| rank.machine != MachineSums::default());
    let row =
        |(place, rank): (u32, &RankSummary)| RankResources { place, machine: rank.machine.clone() };
    read.map(row).collect()
}

/// Of all GPUs; `None` when there are none, or one was not read.
fn sum(gpus: &[RankGpu], of: impl Fn(&GpuSums) -> Option<f64>) -> Option<f64> {
    let figures: Option<Vec<f64>> = gpus.iter().map(|row| of(&row.gpu)).collect();
    let figures = figures.filter(|figures| !figures.is_empty())?;
    Some(figures.iter().sum()).filter(|sum: &f64| sum.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::MachineSums;

    #[expect(clippy::unnecessary_wraps, reason = "as the fields have it")]
    fn range(min: f64, mean: f64, max: f64) -> Option<Range> {
        Some(Range { min, mean, max })
    }

    fn gpu(uuid: &str, memory: (f64, f64, f64), watts: Option<f64>) -> GpuSums {
        GpuSums {
            uuid: uuid.to_owned(),
            memory_bytes: range(memory.0, memory.1, memory.2),
            utilization_ratio: range(0.0, memory.1 / 100.0, 1.0),
            power_watts: watts.and_then(|watts| range(watts, watts, watts)),
            ..GpuSums::default()
        }
    }

    fn rank(wall_ns: u64, gpus: Vec<GpuSums>) -> RankSummary {
        RankSummary {
            wall_ns,
            machine: MachineSums { gpus, ..MachineSums::default() },
            ..RankSummary::default()
        }
    }

    #[test]
    fn a_gpu_that_two_ranks_read_is_counted_once() {
        // rank 0 and 1 read a, rank 1 for longer; rank 2 reads b.
        let ranks = [
            rank(5, vec![gpu("a", (12.0, 14.0, 20.0), Some(200.0))]),
            rank(9, vec![gpu("a", (10.0, 16.0, 22.0), Some(300.0))]),
            rank(5, vec![gpu("b", (8.0, 20.0, 24.0), Some(100.0))]),
        ];
        let found = resources(&ranks.each_ref());
        assert_eq!(found.gpus.len(), 2);
        assert_eq!(found.gpus[0].places, [0, 1]);
        assert_eq!(found.gpu_memory_bytes, range(8.0, 18.0, 24.0));
        assert_eq!(found.gpu_utilization_ratio, range(0.16, 0.18, 0.2));
        assert_eq!(found.power_watts, Some(400.0));
        assert_eq!(found.energy_joules, None);
        assert_eq!(found.ranks.len(), 3);
    }

    #[test]
    fn gpus_without_a_uuid_are_their_ranks_own() {
        let one = || gpu("", (1.0, 1.0, 1.0), None);
        let ranks = [rank(1, vec![one(), one()]), rank(1, vec![one()])];
        let found = resources(&ranks.each_ref());
        assert_eq!(found.gpus.len(), 3);
        assert_eq!(found.power_watts, None);
    }

    #[test]
    fn where_nothing_was_read_nothing_is_known() {
        assert_eq!(resources(&[&rank(1, vec![])]), Resources::default());
        assert_eq!(resources(&[]), Resources::default());
    }
}

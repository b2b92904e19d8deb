//! From a dump of torch's flight recorder to a summary.

use super::rank_name::number_at_end;
use super::{RankProcess, RankSummary, Source, rank_in_name};
use crate::import::flight_recorder::FlightDump;

/// Groups of all ranks, by what they are for or by name.
const ALL_RANKS: [&str; 2] = ["default_pg", "0"];

impl RankSummary {
    /// What a dump comes to, read from a file of this name, which ends in the rank: `nccl_trace_rank_node-7_3`. It says neither when the
    /// process began nor how long it ran.
    pub fn of_dump(dump: FlightDump, file: &str) -> Self {
        let of_all = ALL_RANKS.iter().find_map(|wanted| {
            let mut groups = dump.groups.iter();
            groups.find(|group| [&*group.purpose, &*group.name].contains(wanted))
        });
        let n_ranks = of_all.and_then(|group| u32::try_from(group.members.len()).ok());
        let unusable = (dump.n_unusable > 0)
            .then(|| format!("{} of the calls could not be read", dump.n_unusable));
        Self {
            process: RankProcess {
                rank: dump.rank.or_else(|| number_at_end(file)).or_else(|| rank_in_name(file)),
                world_size: n_ranks.filter(|n| *n > 0),
                ..RankProcess::default()
            },
            source: Source::FlightRecorder,
            file: file.to_owned(),
            warnings: unusable.into_iter().collect(),
            dump: Some(dump),
            ..Self::default()
        }
    }
}

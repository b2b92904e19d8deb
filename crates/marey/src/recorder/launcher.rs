//! What launched this process as one of many: its place in the job.
//!
//! Launchers say it in variables. They lie in each other (Slurm starts torchrun, which starts the ranks), and a process inherits the
//! variables of all of them, so rank and number of ranks are taken from one launcher, the innermost that says both:
//!
//! ```text
//! sbatch ─► srun ──────────────► torchrun ──────► python
//!           SLURM_PROCID=0       RANK=3           is rank 3 of 8, not 0 of 1
//!           SLURM_NTASKS=1       WORLD_SIZE=8
//! ```
//!
//! Slurm also sets `SLURM_PROCID=0` and `SLURM_NTASKS=8` in a batch script, which is one process and not rank 0 of 8: Slurm is
//! believed in a step only (`srun`), and of that the step's number of tasks.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::Config;

/// A process's place in its job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Below `world_size`.
    pub(crate) rank: u32,
    /// Number of ranks; `None` when the launcher does not say.
    pub(crate) world_size: Option<u32>,
    /// Place among the ranks of the host.
    pub(crate) local_rank: Option<u32>,
    /// Number of ranks on the host.
    pub(crate) local_size: Option<u32>,
    /// The host's number in the job.
    pub(crate) node: Option<u32>,
    /// Who said so.
    pub(crate) launcher: &'static str,
}

/// In which variables a launcher says what. Of several names the first that is set counts.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    world_size: &'static [&'static str],
    local_rank: &'static str,
    local_size: &'static [&'static str],
    node: &'static str,
    /// One of these is set when the launcher's variables mean a rank; none are needed when it is empty.
    proof: &'static [&'static str],
}

/// The one table, innermost first. accelerate and Ray Train set torchrun's variables, Intel MPI those of MPICH; deepspeed sets `RANK` and
/// `WORLD_SIZE` with `LOCAL_SIZE`.
const LAUNCHERS: [Launcher; 6] = [
    Launcher { name: "torchrun", proof: &["TORCHELASTIC_RUN_ID"], ..ENVIRONMENT },
    ENVIRONMENT,
    Launcher {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        world_size: &["OMPI_COMM_WORLD_SIZE"],
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        local_size: &["OMPI_COMM_WORLD_LOCAL_SIZE"],
        node: "OMPI_COMM_WORLD_NODE",
        proof: &[],
    },
    Launcher {
        name: "MPICH",
        rank: "PMI_RANK",
        world_size: &["PMI_SIZE"],
        local_rank: "MPI_LOCALRANKID",
        local_size: &["MPI_LOCALNRANKS"],
        node: "",
        proof: &[],
    },
    Launcher {
        name: "Slurm",
        rank: "SLURM_PROCID",
        world_size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local_rank: "SLURM_LOCALID",
        local_size: &[],
        node: "SLURM_NODEID",
        proof: &["SLURM_STEP_ID", "SLURM_STEPID"],
    },
    Launcher {
        name: "PMIx",
        rank: "PMIX_RANK",
        world_size: &[],
        local_rank: "PMIX_LOCAL_RANK",
        local_size: &[],
        node: "",
        proof: &[],
    },
];

const ENVIRONMENT: Launcher = Launcher {
    name: "environment",
    rank: "RANK",
    world_size: &["WORLD_SIZE"],
    local_rank: "LOCAL_RANK",
    local_size: &["LOCAL_WORLD_SIZE", "LOCAL_SIZE"],
    node: "GROUP_RANK",
    proof: &[],
};

/// Longest value of a variable that is repeated in a fact, in characters.
const MAX_SHOWN: usize = 40;

/// The place that the variables give, and what they say that makes no sense.
pub(crate) fn place(variable: &dyn Fn(&str) -> Option<String>) -> (Option<Place>, Vec<String>) {
    let mut refused = Vec::new();
    let all: Vec<Place> =
        LAUNCHERS.iter().filter_map(|launcher| launcher.place(variable, &mut refused)).collect();
    let whole = all.iter().find(|place| place.world_size.is_some());
    (whole.or(all.first()).copied(), refused)
}

/// The variable in which a launcher says the rank; empty for a name that no launcher has.
pub(crate) fn rank_variable(launcher: &str) -> &'static str {
    let known = LAUNCHERS.iter().find(|known| known.name == launcher);
    known.map_or("", |known| known.rank)
}

/// A variable of this process; an empty one is none.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Launcher {
    fn place(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        refused: &mut Vec<String>,
    ) -> Option<Place> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_proved = self.proof.is_empty() || self.proof.iter().any(|n| given(n).is_some());
        let said_rank = given(self.rank).filter(|_| is_proved)?;
        let sizes = self.world_size.iter();
        let said_size = sizes.map(|name| (*name, given(name)));
        let said_size = said_size.into_iter().find_map(|(n, v)| Some((n, v?)));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let rank = number(&said_rank);
        let size = said_size.as_ref().map(|(_, text)| number(text));
        let is_sense = rank.is_some_and(|rank| match size {
            None => true,
            Some(size) => size.is_some_and(|size| rank < size),
        });
        let Some(rank) = rank.filter(|_| is_sense) else {
            let size = said_size.map(|(name, text)| format!(", {name}={}", shown(&text)));
            let rank = format!("{}={}", self.rank, shown(&said_rank));
            let said = format!("{rank}{}", size.unwrap_or_default());
            // Two rows of the table have the same variables.
            if !refused.contains(&said) {
                refused.push(said);
            }
            return None;
        };
        let world_size = size.flatten();
        let mut local_sizes = self.local_size.iter().filter_map(|name| given(name));
        let local_size = local_sizes.next().and_then(|text| number(&text));
        let limit = local_size.or(world_size).unwrap_or(u32::MAX);
        let local_rank = given(self.local_rank).and_then(|text| number(&text));
        Some(Place {
            rank,
            world_size,
            local_rank: local_rank.filter(|local| *local < limit),
            local_size,
            node: given(self.node).and_then(|text| number(&text)),
            launcher: self.name,
        })
    }
}

fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(MAX_SHOWN).collect::<String>())
}

/// What the program itself said: rank, number of ranks and local rank, each plus one; 0 while it said nothing.
static SAID: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Keeps what the program says of its own place, for recordings that start later, too. False for what makes no sense.
pub(super) fn keep(rank: u32, world_size: u32, local_rank: Option<u32>) -> bool {
    if rank >= world_size || local_rank.is_some_and(|local| local >= world_size) {
        return false;
    }
    let plus_one = |number: u32| u64::from(number) + 1;
    SAID[2].store(local_rank.map_or(0, plus_one), Relaxed);
    SAID[1].store(plus_one(world_size), Relaxed);
    SAID[0].store(plus_one(rank), Release);
    true
}

/// What the program itself said of its place.
fn said() -> Option<Place> {
    let get = |word: &AtomicU64, order| u32::try_from(word.load(order).checked_sub(1)?).ok();
    Some(Place {
        rank: get(&SAID[0], Acquire)?,
        world_size: get(&SAID[1], Relaxed),
        local_rank: get(&SAID[2], Relaxed),
        launcher: "program",
        ..Place::default()
    })
}

/// This process's place: as the program said, else as configured, else as its launcher says. And what made no sense.
pub(crate) fn place_of_this_process(config: &Config) -> (Option<Place>, Vec<String>) {
    let (launched, refused) = place(&variable);
    let launched = match config.rank {
        None => launched,
        Some(rank) => Some(Place {
            rank,
            world_size: launched.and_then(|place| place.world_size).filter(|size| rank < *size),
            ..launched.unwrap_or(Place { launcher: "configuration", ..Place::default() })
        }),
    };
    let node = launched.and_then(|place| place.node);
    let said = said().map(|place| Place { node, ..place });
    (said.or(launched), refused)
}

/// The rank of this process: what the program said ([`crate::set_rank`]), else what its launcher did; `None` outside a job of ranks.
pub fn rank() -> Option<u32> {
    place_of_this_process(&Config::default()).0.map(|place| place.rank)
}

/// Rank, number of ranks and who said so ("program", or the launcher's name), each `None` when not known.
pub fn place_in_job() -> (Option<u32>, Option<u32>, Option<&'static str>) {
    let (place, _) = place_of_this_process(&Config::default());
    place.map_or((None, None, None), |place| {
        (Some(place.rank), place.world_size, Some(place.launcher))
    })
}

#[cfg(test)]
mod tests;

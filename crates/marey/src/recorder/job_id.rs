//! What a job is called: the name of its folder, and how readers know which captures belong together.
//!
//! All ranks of a job have to come to the same name without talking to each other, two jobs into one folder to different ones. The
//! first of these that is known:
//!
//! | | as | same on all hosts |
//! |---|---|---|
//! | `MAREY_JOB_ID`, or the configuration | it is | yes |
//! | the launcher's own name of the job: torchrun's run id (unless it is `none`), Open MPI's namespace, Slurm's job and step | `<run id>-<restart>`, `mpi-<namespace>`, `slurm-<job>.<step>` | yes |
//! | all ranks are on this host: the process that started them | `<host>-<its pid>-<its start in ticks since boot>` | - |
//! | Slurm's job and step, around a launcher that names nothing | `slurm-<job>.<step>` | yes |
//! | where the ranks meet: `MASTER_ADDR` and `MASTER_PORT` | `torchrun-<address>-<port>-<restart>` | yes, but the next job there has the same |
//! | nothing of all this | `<date>-<time>-<host>-<pid>` of this process | no: a job each |
//!
//! The process that started the ranks is the nearest ancestor that does not have this process's rank in its environment itself, so a
//! shell between torchrun and Python does not hide it.

use super::config::Config;
use super::identity;
use super::launcher::{self, Place};
use crate::clock;

/// How many ancestors are looked at.
const MAX_ANCESTORS: usize = 16;

/// Name of the job, safe as a folder name; see the table above.
pub fn job_id(config: &Config) -> String {
    if let Some(id) = &config.job_id {
        return safe_name(id);
    }
    let (place, _) = launcher::place(&launcher::variable);
    let named = place.and_then(|place| {
        of_ranks(&place, &launcher::variable, &|variable| launching_process(variable))
    });
    named.unwrap_or_else(|| {
        let [year, month, day, hour, minute, second] = clock::utc(clock::unix_ns());
        let date = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
        safe_name(&format!("{date}-{}-{}", host(), std::process::id()))
    })
}

impl Config {
    /// The same with the job's name filled in, so that whoever is started with it goes to the same folder.
    pub(super) fn with_job_id(&self) -> Self {
        Self { job_id: Some(job_id(self)), ..self.clone() }
    }
}

/// Name of a job of ranks; `None` when ranks cannot agree on one. `launching` names the process that started those on this host.
fn of_ranks(
    place: &Place,
    variable: &dyn Fn(&str) -> Option<String>,
    launching: &dyn Fn(&'static str) -> Option<String>,
) -> Option<String> {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let restart = given("TORCHELASTIC_RESTART_COUNT").map(|n| format!("-{n}"));
    let restart = restart.unwrap_or_default();
    let slurm = || {
        let job = given("SLURM_JOB_ID").or(given("SLURM_JOBID"))?;
        let step = given("SLURM_STEP_ID").or(given("SLURM_STEPID"));
        let step = step.map_or_else(String::new, |step| format!(".{step}"));
        let again = given("SLURM_RESTART_COUNT").filter(|n| n != "0");
        let again = again.map_or_else(String::new, |n| format!("-again{n}"));
        Some(format!("slurm-{job}{step}{again}"))
    };
    let own = match place.launcher {
        "torchrun" => given("TORCHELASTIC_RUN_ID")
            .filter(|id| id != "none")
            .map(|id| format!("{id}{}", if restart.is_empty() { "-0" } else { &restart })),
        "Open MPI" | "PMIx" => given("PMIX_NAMESPACE")
            .or(given("OMPI_MCA_ess_base_jobid"))
            .map(|name| format!("mpi-{name}")),
        "Slurm" => slurm(),
        _ => None,
    };
    let is_one_host = place.local_size.is_some() && place.local_size == place.world_size;
    let here = || {
        let launched_by = launching(launcher::rank_variable(place.launcher));
        let named = launched_by.filter(|_| is_one_host)?;
        Some(format!("{named}{restart}"))
    };
    let meeting_place = || {
        let (address, port) = (given("MASTER_ADDR")?, given("MASTER_PORT")?);
        let is_torchrun = place.launcher == "torchrun";
        is_torchrun.then(|| format!("torchrun-{address}-{port}{restart}"))
    };
    let around = || Some(format!("{}{restart}", slurm()?));
    let id = own.or_else(here).or_else(around).or_else(meeting_place)?;
    Some(safe_name(&id))
}

/// The process that started this rank and those beside it, as a name: the nearest ancestor without that variable.
fn launching_process(rank_variable: &str) -> Option<String> {
    let mut pid = std::process::id();
    for _ in 0..MAX_ANCESTORS {
        pid = identity::parent_of(pid).filter(|parent| *parent > 0)?;
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        let wanted = format!("{rank_variable}=");
        if !variables.any(|variable| variable.starts_with(wanted.as_bytes())) {
            // Not the time of day: what the kernel says of that changes when the clock is set.
            let started = identity::start_time(pid)?;
            return Some(format!("{}-{pid}-{started}", host()));
        }
    }
    None
}

fn host() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    host.trim().to_owned()
}

/// What lies in a folder of output beside the jobs.
const TAKEN: [&str; 6] = [
    "latest",
    "memory_log.json",
    "profiling_report.json",
    "report.html",
    "report.md",
    "timing_summary.txt",
];

/// Letters, digits, `.`, `_`, `-`; anything else becomes `_`. Never empty, never hidden, never longer than 101 bytes, never the name of what
/// lies beside it.
pub(crate) fn safe_name(name: &str) -> String {
    let mut safe: String = name
        .chars()
        .take(100)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' })
        .collect();
    if safe.is_empty() || safe.starts_with('.') || TAKEN.contains(&safe.as_str()) {
        safe.insert(0, '_');
    }
    safe
}

#[cfg(test)]
mod tests;

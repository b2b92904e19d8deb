//! Names of jobs: equal for ranks of one job, different for two jobs, and safe as folders.

use super::*;

fn named(variables: &[(&str, &str)], launching: Option<&str>) -> Option<String> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let (place, _) = launcher::place(&variable);
    of_ranks(&place?, &variable, &|_| launching.map(str::to_owned))
}

/// A rank of torchrun on `hosts` hosts of two.
fn torchrun(
    rank: &'static str,
    hosts: u32,
    run_id: &'static str,
) -> Vec<(&'static str, &'static str)> {
    vec![
        ("RANK", rank),
        ("WORLD_SIZE", if hosts == 1 { "2" } else { "4" }),
        ("LOCAL_RANK", if rank == "1" { "1" } else { "0" }),
        ("LOCAL_WORLD_SIZE", "2"),
        ("TORCHELASTIC_RUN_ID", run_id),
        ("TORCHELASTIC_RESTART_COUNT", "1"),
        ("MASTER_ADDR", "node-0"),
        ("MASTER_PORT", "29500"),
    ]
}

const AGENT: &str = "node-0-4242-1001";

#[test]
fn ranks_of_torchrun_have_its_run_id_and_restart() {
    let of = |rank| named(&torchrun(rank, 1, "flux-42"), Some(AGENT));
    assert_eq!(of("0").as_deref(), Some("flux-42-1"));
    assert_eq!(of("0"), of("1"));
}

#[test]
fn without_a_run_id_ranks_of_one_host_are_named_after_their_agent() {
    let of = |rank| named(&torchrun(rank, 1, "none"), Some(AGENT));
    assert_eq!(of("0").as_deref(), Some("node-0-4242-1001-1"));
    assert_eq!(of("0"), of("1"));
    let other = named(&torchrun("0", 1, "none"), Some("node-0-4300-2002"));
    assert_ne!(of("0"), other);
}

#[test]
fn ranks_of_a_launcher_that_says_local_size_are_one_job() {
    let of = |rank: &'static str| {
        let variables = [
            ("RANK", rank),
            ("WORLD_SIZE", "2"),
            ("LOCAL_RANK", rank),
            ("LOCAL_SIZE", "2"),
            ("MASTER_ADDR", "localhost"),
            ("MASTER_PORT", "29500"),
        ];
        named(&variables, Some(AGENT))
    };
    assert_eq!(of("0").as_deref(), Some("node-0-4242-1001"));
    assert_eq!(of("0"), of("1"));
}

#[test]
fn without_a_run_id_ranks_of_several_hosts_are_named_after_where_they_meet() {
    let first = named(&torchrun("0", 2, "none"), Some(AGENT));
    let on_another = named(&torchrun("2", 2, "none"), Some("node-1-77-1003"));
    assert_eq!(first.as_deref(), Some("torchrun-node-0-29500-1"));
    assert_eq!(first, on_another);
    // Slurm's name is the better one: the next job there has another.
    let mut variables = torchrun("0", 2, "none");
    variables.extend([("SLURM_JOB_ID", "77"), ("SLURM_STEP_ID", "0")]);
    assert_eq!(named(&variables, Some(AGENT)).as_deref(), Some("slurm-77.0-1"));
}

#[test]
fn steps_of_slurm_are_jobs_of_their_own_and_so_is_a_requeued_job() {
    let step = |step: &'static str, again: &'static str| {
        let variables = [
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_NUM_TASKS", "2"),
            ("SLURM_JOB_ID", "77"),
            ("SLURM_STEP_ID", step),
            ("SLURM_RESTART_COUNT", again),
        ];
        named(&variables, None)
    };
    assert_eq!(step("0", "").as_deref(), Some("slurm-77.0"));
    assert_eq!(step("1", "0").as_deref(), Some("slurm-77.1"));
    assert_eq!(step("0", "2").as_deref(), Some("slurm-77.0-again2"));
}

#[test]
fn ranks_of_mpi_have_its_namespace_or_their_launcher_on_one_host() {
    let open_mpi = [
        ("OMPI_COMM_WORLD_RANK", "1"),
        ("OMPI_COMM_WORLD_SIZE", "4"),
        ("PMIX_NAMESPACE", "prterun-node-0-99@1"),
    ];
    assert_eq!(named(&open_mpi, None).as_deref(), Some("mpi-prterun-node-0-99_1"));
    let mpich = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "4")];
    assert_eq!(named(&mpich, Some(AGENT)).as_deref(), Some(AGENT));
    // On several hosts MPICH names nothing that all ranks know.
    let several = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")];
    assert_eq!(named(&several, Some(AGENT)), None);
}

#[test]
fn the_launcher_is_the_first_ancestor_without_the_rank() {
    let name = launching_process("RANK_OF_TEST").unwrap();
    let parent = identity::parent_of(std::process::id()).unwrap();
    let started = identity::start_time(parent).unwrap();
    assert!(name.ends_with(&format!("-{parent}-{started}")), "{name}");
}

#[test]
fn job_ids_never_leave_their_folder() {
    assert_eq!(safe_name("../../etc/passwd"), "_.._.._etc_passwd");
    assert_eq!(safe_name("a b\u{1b}[31m"), "a_b__31m");
    assert_eq!(safe_name(""), "_");
    assert_eq!(safe_name("report.html"), "_report.html");
    assert_eq!(safe_name("latest"), "_latest");
    assert_eq!(safe_name(&"x".repeat(500)).len(), 100);
}

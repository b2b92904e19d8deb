//! Variables as launchers set them, and as they leave them for each other.

use super::*;

fn place_in(variables: &[(&str, &str)]) -> (Option<Place>, Vec<String>) {
    let variable = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    place(&variable)
}

/// Launcher, rank, number of ranks, local rank.
fn who(variables: &[(&str, &str)]) -> Option<(&'static str, u32, Option<u32>, Option<u32>)> {
    let place = place_in(variables).0?;
    Some((place.launcher, place.rank, place.world_size, place.local_rank))
}

const TORCHRUN: [(&str, &str); 6] = [
    ("RANK", "5"),
    ("WORLD_SIZE", "8"),
    ("LOCAL_RANK", "1"),
    ("LOCAL_WORLD_SIZE", "4"),
    ("GROUP_RANK", "1"),
    ("TORCHELASTIC_RUN_ID", "none"),
];

#[test]
fn every_launcher_says_rank_number_of_ranks_and_local_rank() {
    assert_eq!(who(&TORCHRUN), Some(("torchrun", 5, Some(8), Some(1))));
    assert_eq!(place_in(&TORCHRUN).0.and_then(|place| place.node), Some(1));
    // Accelerate without torchrun, DeepSpeed, Ray Train.
    let plain = [("RANK", "1"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "1")];
    assert_eq!(who(&plain), Some(("environment", 1, Some(2), Some(1))));
    let open_mpi = [
        ("OMPI_COMM_WORLD_RANK", "3"),
        ("OMPI_COMM_WORLD_SIZE", "4"),
        ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
        ("PMIX_RANK", "3"),
    ];
    assert_eq!(who(&open_mpi), Some(("Open MPI", 3, Some(4), Some(1))));
    let mpich = [("PMI_RANK", "2"), ("PMI_SIZE", "4"), ("MPI_LOCALRANKID", "0")];
    assert_eq!(who(&mpich), Some(("MPICH", 2, Some(4), Some(0))));
    let slurm = [
        ("SLURM_PROCID", "6"),
        ("SLURM_NTASKS", "16"),
        ("SLURM_STEP_NUM_TASKS", "8"),
        ("SLURM_LOCALID", "2"),
        ("SLURM_STEP_ID", "0"),
        ("PMIX_RANK", "6"),
    ];
    assert_eq!(who(&slurm), Some(("Slurm", 6, Some(8), Some(2))));
}

#[test]
fn torchrun_inside_a_slurm_step_is_the_one_that_counts() {
    let slurm = [
        ("SLURM_PROCID", "1"),
        ("SLURM_NTASKS", "2"),
        ("SLURM_LOCALID", "0"),
        ("SLURM_STEP_ID", "3"),
    ];
    let both: Vec<_> = slurm.into_iter().chain(TORCHRUN).collect();
    assert_eq!(who(&both), Some(("torchrun", 5, Some(8), Some(1))));
    // Open MPI below a step of one task, likewise.
    let open_mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
    let both: Vec<_> = slurm.into_iter().chain(open_mpi).collect();
    assert_eq!(who(&both), Some(("Open MPI", 3, Some(4), None)));
}

#[test]
fn the_process_of_a_batch_script_is_not_rank_0_of_the_tasks_it_asked_for() {
    let batch = [
        ("SLURM_PROCID", "0"),
        ("SLURM_NTASKS", "8"),
        ("SLURM_LOCALID", "0"),
        ("SLURM_JOB_ID", "77"),
    ];
    assert_eq!(who(&batch), None);
    assert_eq!(place_in(&batch).1, Vec::<String>::new());
    // What it starts with srun -n 1 is a rank of its own.
    let step = [
        ("SLURM_PROCID", "0"),
        ("SLURM_NTASKS", "8"),
        ("SLURM_STEP_NUM_TASKS", "1"),
        ("SLURM_STEP_ID", "0"),
    ];
    assert_eq!(who(&step), Some(("Slurm", 0, Some(1), None)));
}

#[test]
fn a_whole_set_comes_before_a_rank_alone() {
    // Somebody's variable RANK beside a whole set of Slurm's.
    let mixed =
        [("RANK", "7"), ("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2"), ("SLURM_STEP_ID", "0")];
    assert_eq!(who(&mixed), Some(("Slurm", 1, Some(2), None)));
    assert_eq!(who(&[("RANK", "7")]), Some(("environment", 7, None, None)));
    assert_eq!(who(&[("PMIX_RANK", "2")]), Some(("PMIx", 2, None, None)));
}

#[test]
fn nonsense_is_not_believed_and_said() {
    let refused = |variables: &[(&str, &str)]| {
        let (place, refused) = place_in(variables);
        assert_eq!(place, None, "{variables:?}");
        refused
    };
    assert_eq!(refused(&[("RANK", "4"), ("WORLD_SIZE", "4")]), [r#"RANK="4", WORLD_SIZE="4""#]);
    // Once, although two rows of the table have these variables.
    assert_eq!(
        refused(&[("RANK", "-1"), ("WORLD_SIZE", "2"), ("TORCHELASTIC_RUN_ID", "x")]),
        [r#"RANK="-1", WORLD_SIZE="2""#]
    );
    assert_eq!(refused(&[("RANK", "first")]), [r#"RANK="first""#]);
    assert_eq!(refused(&[("RANK", "a\u{1b}[31m")]), [r#"RANK="a\u{1b}[31m""#]);
    assert_eq!(refused(&[("RANK", "0"), ("WORLD_SIZE", "0")]), [r#"RANK="0", WORLD_SIZE="0""#]);
    assert_eq!(
        refused(&[("RANK", "0"), ("WORLD_SIZE", "many")]),
        [r#"RANK="0", WORLD_SIZE="many""#]
    );
    assert_eq!(refused(&[("RANK", "")]), Vec::<String>::new());
    assert_eq!(refused(&[]), Vec::<String>::new());
}

#[test]
fn after_nonsense_the_next_launcher_counts() {
    let both = [
        ("RANK", "9"),
        ("WORLD_SIZE", "2"),
        ("OMPI_COMM_WORLD_RANK", "1"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
    ];
    assert_eq!(who(&both), Some(("Open MPI", 1, Some(2), None)));
}

#[test]
fn a_local_rank_that_cannot_be_is_absent() {
    let local = |local: &str, size: &str| {
        let variables =
            [("RANK", "3"), ("WORLD_SIZE", "4"), ("LOCAL_RANK", local), ("LOCAL_WORLD_SIZE", size)];
        place_in(&variables).0.and_then(|place| place.local_rank)
    };
    assert_eq!(local("1", "2"), Some(1));
    assert_eq!(local("2", "2"), None);
    assert_eq!(local("3", ""), Some(3));
    assert_eq!(local("4", ""), None);
    assert_eq!(local("-1", "2"), None);
}

#[test]
fn numbers_at_the_edge_of_what_fits_are_taken_or_refused() {
    let edge = [("RANK", "4294967294"), ("WORLD_SIZE", "4294967295")];
    assert_eq!(who(&edge), Some(("environment", u32::MAX - 1, Some(u32::MAX), None)));
    assert_eq!(who(&[("RANK", "4294967296")]), None);
}

//! Many threads.

use crate::program::{assert_adds_up, calls, number, only_run, printed, recorded};

#[test]
fn sixty_four_threads_at_once_are_all_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("loads", folder.path()).args(["threads", "64"]));
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 64 * 20_000);
    assert_eq!(calls(&run, "inner"), 64 * 20_000);
    for i in 0..64 {
        let name = format!("worker-{i}");
        let named = run.threads.iter().filter(|thread| thread.name == name);
        assert_eq!(named.count(), 1, "{name}");
    }
    assert!(run.threads.iter().all(|thread| thread.os_id != 0));
    assert_eq!(run.losses.threads_in_private_memory, 0);
}

#[test]
fn a_thousand_short_threads_share_a_few_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let printed = printed(recorded("loads", folder.path()).args(["short threads", "1000"]));
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!((calls(&run, "step"), run.threads.len()), (1000, 1000));
    let step = run.nodes.iter().position(|node| node.name == "step").unwrap();
    assert_eq!(run.totals[step].n_threads, 1000);
    let lanes = number(&printed, "lanes");
    // How many depends on how often the drain comes by in these milliseconds; one each would be 1000.
    assert!((1..=250).contains(&lanes), "{lanes} lanes");
}

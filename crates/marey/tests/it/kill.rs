//! SIGKILL at random moments: nothing that was complete is lost, nothing is torn.

use marey::Status;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::flood::Flood;
use crate::program::{captures, completed, rings};

#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_complete() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let (mut all_completed, mut n_open) = (0, 0);
    for trial in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let n_threads = 1 + trial % 3;
        let hold = if trial % 2 == 0 { "open" } else { "none" };
        let mut flood = Flood::start(folder.path(), n_threads, hold, &[]);
        flood.wait_for(1000 + u64::from(random.next_u32() % 400_000));
        flood.kill();
        let counted = flood.completed();

        // Read where it lies, with the rings still there; then again after the capture was completed from them.
        let capture = &captures(folder.path())[0];
        let before = marey::load(capture).unwrap();
        let closed = marey::close_leftovers(&rings(folder.path()), |_| Status::Killed(9));
        assert_eq!(closed.len(), 1, "trial {trial}");
        assert!(!rings(folder.path()).exists(), "rings are removed");
        let run = marey::load(capture).unwrap();
        assert_eq!(run.status, Status::Killed(9));
        assert_eq!(
            (&run.sections, &run.totals),
            (&before.sections, &before.totals),
            "trial {trial}"
        );
        assert_eq!(before.status, Status::EndedWithoutClosing);

        // Between a section's end and the flood's own count, at most one step and its inner section are uncounted, per thread.
        let found = completed(&run);
        let slack = 2 * n_threads as u64;
        assert!(
            (counted..=counted + slack).contains(&found),
            "trial {trial}: {found} found, {counted} counted"
        );
        assert_eq!(
            run.sections.len() as u64 + run.losses.sections_missing(),
            found,
            "trial {trial}"
        );
        let named = |node: u32| run.nodes[node as usize].name.as_str();
        for (node, totals) in run.totals.iter().enumerate().filter(|(_, t)| t.count > 0) {
            let histogram = totals.histogram.as_ref().expect("the arena is large enough");
            assert_eq!(
                histogram.count(),
                totals.count,
                "trial {trial}: {}",
                named(u32::try_from(node).unwrap())
            );
        }
        assert!(run.sections.iter().all(|s| ["step", "inner"].contains(&named(s.node))));
        assert!(run.warnings.is_empty(), "trial {trial}: {:?}", run.warnings);
        let is_outer_open = run.open.iter().any(|open| named(open.node) == "outer");
        assert_eq!(is_outer_open, hold == "open", "trial {trial}");
        n_open += run.open.len();
        all_completed += found;
    }
    assert!(
        all_completed >= 1_000_000,
        "{all_completed} sections in 20 trials are too few to prove anything"
    );
    assert!(n_open >= 10);
}

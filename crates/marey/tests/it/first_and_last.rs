//! A capture that has no room for all keeps the first sections and the last, and everything that is not a section.

use marey::{Run, Section, Status};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::flood::Flood;
use crate::program::{
    assert_adds_up, calls, captures, completed, only_run, printed, recorded, rings,
};

/// Room for all that is recorded between two rounds of the drain, however seldom it gets to run.
const LARGE_RING: (&str, &str) = ("MAREY_RING_RECORDS", "1048576");

/// The recorded sections of a name.
fn named<'a>(run: &'a Run, name: &'a str) -> impl Iterator<Item = &'a Section> {
    let sections = run.sections.iter();
    sections.filter(move |section| run.nodes[section.node as usize].name == name)
}

/// Gaps hold what is missing, and none of what is there.
fn assert_gaps_are_gaps(run: &Run) {
    let missing: u64 = run.gaps.iter().map(|gap| gap.sections).sum();
    assert_eq!(missing, run.losses.sections_not_written);
    assert!(run.gaps.windows(2).all(|two| two[0].end_ns < two[1].start_ns));
    for gap in &run.gaps {
        let within = run.sections.iter();
        let within = within.filter(|s| gap.start_ns < s.end_ns && s.end_ns < gap.end_ns);
        assert_eq!((within.count(), gap.start_ns < gap.end_ns), (0, true), "{gap:?}");
    }
}

#[test]
fn a_section_takes_ten_bytes_at_most() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("loads", folder.path()).args(["soak", "200000"]).envs([LARGE_RING]));
    let run = only_run(folder.path());
    assert_eq!((completed(&run), run.losses.is_none()), (200_000, true));
    assert_eq!((run.sections.len(), &run.gaps[..]), (200_000, &[][..]));
    let length = captures(folder.path())[0].metadata().unwrap().len();
    assert!(length <= 10 * 200_000, "{length} bytes");
}

#[test]
fn past_the_cap_every_session_is_there_with_its_end_and_the_newest_sections_as_well_as_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("MAREY_CAPTURE_BYTES", "2_000_000"), LARGE_RING];
    printed(recorded("loads", folder.path()).args(["generations", "100000"]).envs(settings));
    let run = only_run(folder.path());
    assert_eq!((run.status.clone(), &run.warnings[..]), (Status::Finished, &[][..]));
    let sessions: Vec<&str> = run.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(sessions, ["clip-0", "clip-1", "clip-2", "clip-3", "clip-4", "clip-5"]);
    assert!(run.sessions.iter().all(|session| session.end_ns > Some(session.start_ns)));
    assert_eq!((run.events.len(), run.losses.notes_dropped), (6, 0));

    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 600_000);
    assert_eq!(run.losses.sections_ring_full, 0);
    assert_eq!(named(&run, "first of clip-0").count(), 1);
    assert_eq!(named(&run, "last of clip-5").count(), 1);
    assert_eq!(run.gaps.len(), 1, "{:?}", run.gaps);
    assert_gaps_are_gaps(&run);
    let (first, last) = (&run.sessions[0], &run.sessions[5]);
    let gap = run.gaps[0];
    assert!(gap.start_ns > first.start_ns && Some(gap.end_ns) < last.end_ns);
    // Three eighths of the room each.
    let before = run.sections.partition_point(|section| section.end_ns <= gap.start_ns);
    let after = run.sections.len() - before;
    assert!(before > 75_000 && after > 75_000, "{before} before, {after} after");

    let length = captures(folder.path())[0].metadata().unwrap().len();
    assert!(length <= 2_000_000, "{length} bytes");
}

#[test]
fn a_kill_while_the_last_part_is_written_over_loses_nothing_that_is_not_counted() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut n_gaps = 0;
    for trial in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let n_threads = 1 + trial % 2;
        let settings = [("MAREY_CAPTURE_BYTES", "400_000"), ("MAREY_DRAIN_INTERVAL_MS", "1")];
        let mut flood = Flood::start(folder.path(), n_threads, "none", &settings);
        let begun = || captures(folder.path()).first().map(|path| path.metadata().unwrap().len());
        // Of first and last sections 300 000 bytes; beyond, it grows by a little each second.
        while begun() < Some(250_000) {
            flood.assert_runs();
            std::thread::yield_now();
        }
        if trial % 4 < 2 {
            let more = u64::from(random.next_u32() % 400_000);
            flood.wait_for(flood.completed() + more);
        } else {
            let capture = &captures(folder.path())[0];
            while marey::load(capture).unwrap().gaps.is_empty() {
                flood.assert_runs();
            }
        }
        flood.kill();
        let capture = &captures(folder.path())[0];
        let before = marey::load(capture).unwrap();
        marey::close_leftovers(&rings(folder.path()), |_| Status::Killed(9));
        let run = marey::load(capture).unwrap();
        assert_eq!(
            (&run.status, &run.warnings[..]),
            (&Status::Killed(9), &[][..]),
            "trial {trial}"
        );
        assert_eq!(
            (&run.sections, &run.totals, &run.gaps),
            (&before.sections, &before.totals, &before.gaps),
            "trial {trial}"
        );
        assert_adds_up(&run);
        let missing: u64 = run.gaps.iter().map(|gap| gap.sections).sum();
        assert_eq!(missing, run.losses.sections_not_written, "trial {trial}");
        n_gaps += run.gaps.len();
        // The very last ones are there: what was in the rings when it died.
        let (found, counted) = (completed(&run), flood.completed());
        assert!((counted..=counted + 2 * n_threads as u64).contains(&found), "trial {trial}");
        // Of one thread, that is; so little room may hold nothing of another's last round.
        let newest = run.sections.iter().map(|section| section.end_ns).max();
        let is_newest_there = run.gaps.iter().all(|gap| Some(gap.end_ns) <= newest);
        assert!(n_threads > 1 || is_newest_there, "trial {trial}");
    }
    assert!(n_gaps >= 4, "{n_gaps} gaps in 8 trials are too few to prove anything");
}

#[test]
fn a_capture_that_filled_its_memory_goes_on_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("MAREY_CAPTURE_BYTES", "1_000_000"), LARGE_RING];
    printed(recorded("loads", folder.path()).args(["moved", "200000"]).envs(settings));
    let run = only_run(folder.path());
    assert_eq!((run.status.clone(), &run.warnings[..]), (Status::Finished, &[][..]));
    assert_adds_up(&run);
    assert_eq!((run.losses.sections_ring_full, calls(&run, "step")), (0, 400_000));
    for name in ["first of memory", "last of folder"] {
        assert_eq!(named(&run, name).count(), 1, "{name}");
    }
    assert_eq!(run.sessions.len(), 2);
    assert!(!run.gaps.is_empty());
    assert_gaps_are_gaps(&run);
}

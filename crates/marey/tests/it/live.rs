//! Reading a process that is at work.

use marey::Status;

use crate::flood::Flood;
use crate::program::{captures, completed};

#[test]
fn a_process_at_work_is_read_as_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    // A small capture, so that it is full early and records are lost.
    let small = [("MAREY_CAPTURE_BYTES", "20_000_000")];
    let mut flood = Flood::start(folder.path(), 2, "open", &small);
    flood.wait_for(1);
    let path = &captures(folder.path())[0];
    let (mut last, mut n_looks) = (0, 0);
    while n_looks < 30 || last <= 1000 {
        let run = marey::load(path).unwrap();
        flood.assert_runs();
        assert_eq!(run.status, Status::Running);
        let recorded = run.sections.len() as u64;
        let missing = run.losses.sections_missing();
        assert_eq!(recorded + missing, completed(&run), "{:?}", run.losses);
        assert!(completed(&run) >= last.max(1));
        // A histogram may be some calls ahead, but never behind.
        for totals in &run.totals {
            let counted = totals.histogram.as_ref().map_or(0, marey::Histogram::count);
            assert!(counted >= totals.count);
        }
        last = completed(&run);
        n_looks += 1;
    }
}

//! Reading a process that is at work.

use std::fs;

use marey::Status;

use crate::program::{captures, completed, recorded};

/// The flood, until it is dropped.
struct Flood(std::process::Child);

impl Drop for Flood {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_process_at_work_is_read_as_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let counter = folder.path().join("counter");
    fs::write(&counter, []).unwrap();
    let mut flood = recorded("flood", folder.path());
    // A small capture, so that it is full early and records are lost.
    flood.env("MAREY_CAPTURE_BYTES", "20_000_000");
    let flood = flood.arg(&counter).args(["2", "open"]);
    let mut flood = Flood(flood.spawn().expect("examples are built"));
    while captures(folder.path()).is_empty() {
        assert!(
            flood.0.try_wait().unwrap().is_none(),
            "the flood ended by itself"
        );
        std::thread::yield_now();
    }
    let path = &captures(folder.path())[0];
    let (mut last, mut n_with_sections) = (0, 0);
    while n_with_sections < 30 {
        let run = marey::load(path).unwrap();
        assert!(
            flood.0.try_wait().unwrap().is_none(),
            "the flood ended by itself"
        );
        if completed(&run) == 0 {
            continue;
        }
        assert_eq!(run.status, Status::Running);
        let recorded = run.sections.len() as u64;
        let missing = run.losses.sections_missing();
        assert_eq!(recorded + missing, completed(&run), "{:?}", run.losses);
        assert!(completed(&run) >= last);
        // A histogram may be some calls ahead, but never behind.
        for totals in &run.totals {
            let counted = totals.histogram.as_ref().map_or(0, marey::Histogram::count);
            assert!(counted >= totals.count);
        }
        last = completed(&run);
        n_with_sections += 1;
    }
    assert!(last > 1000, "{last}");
}

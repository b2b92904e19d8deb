//! Runs the example `flood`, which records as fast as it can and counts what it has completed in a file of its own.

use std::path::{Path, PathBuf};
use std::process::Child;

use crate::program::recorded;

/// The flood, until it is dropped.
pub(crate) struct Flood {
    process: Child,
    counter: PathBuf,
}

impl Flood {
    /// With so many threads; `hold` is `open` for an outer section that stays open, or `none`.
    pub(crate) fn start(
        folder: &Path,
        n_threads: usize,
        hold: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        let counter = folder.join("counter");
        std::fs::write(&counter, []).unwrap();
        let mut command = recorded("flood", folder);
        command.envs(settings.iter().copied());
        command.arg(&counter).arg(n_threads.to_string()).arg(hold);
        let process = command.spawn().expect("examples are built");
        Self { process, counter }
    }

    /// Sections that all threads have completed so far.
    pub(crate) fn completed(&self) -> u64 {
        let bytes = std::fs::read(&self.counter).unwrap();
        let counters = bytes.chunks_exact(8);
        counters.map(|b| u64::from_le_bytes(b.try_into().unwrap())).sum()
    }

    /// Returns when it has completed so many sections.
    pub(crate) fn wait_for(&mut self, sections: u64) {
        while self.completed() < sections {
            self.assert_runs();
            std::thread::yield_now();
        }
    }

    pub(crate) fn assert_runs(&mut self) {
        let ended = self.process.try_wait().unwrap();
        assert!(ended.is_none(), "the flood ended by itself");
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

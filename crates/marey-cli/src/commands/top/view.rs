//! What is watched, and what its resources were lately.

use std::collections::HashMap;
use std::path::PathBuf;

use marey_report::live::LiveSnapshot;

use super::lanes::Lanes;
use super::layout::Shown;
use crate::live_processes::{LiveProcesses, Target};

/// Dead processes that stay on the screen.
const MAX_DEAD: usize = 32;

/// What is watched.
pub(super) struct View {
    pub(super) processes: LiveProcesses,
    lanes: HashMap<PathBuf, Lanes>,
}

impl View {
    /// Looks once.
    pub(super) fn new(target: Target) -> Self {
        let mut view = Self { processes: LiveProcesses::new(target), lanes: HashMap::new() };
        view.refresh();
        view
    }

    /// Finds what is new, and looks at every process.
    pub(super) fn refresh(&mut self) {
        self.processes.refresh();
        for gone in self.processes.take_over(MAX_DEAD) {
            self.lanes.remove(&gone.process().folder);
        }
        for process in self.processes.all() {
            let lanes = self.lanes.entry(process.process().folder.clone()).or_default();
            lanes.take(&process.snapshot);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.processes.all().is_empty()
    }

    pub(super) fn snapshots(&self) -> impl Iterator<Item = &LiveSnapshot> {
        self.processes.all().iter().map(|process| &process.snapshot)
    }

    /// What is to be shown, in order.
    pub(super) fn shown(&self) -> Vec<Shown<'_>> {
        let all = self.processes.all().iter();
        all.filter_map(|process| {
            Some(Shown {
                process: process.process(),
                now: &process.snapshot,
                lanes: self.lanes.get(&process.process().folder)?,
            })
        })
        .collect()
    }
}

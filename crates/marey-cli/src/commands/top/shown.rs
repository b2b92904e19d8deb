//! What is shown of one process: its latest look, and what the looks before it add.

use marey::NodeKind;
use marey::live::{Interval, Look, Process, Turns};
use marey_report::{Metrics, Pace};

use super::lanes::Lanes;

/// What is shown of one process.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) process: Process,
    pub(super) look: Look,
    /// The look before, for rates.
    pub(super) before: Option<Look>,
    pub(super) metrics: Metrics,
    pub(super) lanes: Lanes,
    figures: marey_report::Watch,
    newest_loop: Option<Loop>,
    turns: Pace,
}

/// A loop, wherever in the program it turns: all call paths that end in its name.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Not safe to print.
    pub(super) name: String,
    /// Completed turns.
    pub(super) count: u64,
    sum_ns: u64,
    /// The turn that ended last.
    pub(super) last_ns: u64,
    /// The newest turns of each call path.
    pub(super) newest: Turns,
}

impl Shown {
    /// Nothing is known yet but who it is.
    pub(super) fn new(process: Process) -> Self {
        Self {
            process,
            look: Look::default(),
            before: None,
            metrics: Metrics::default(),
            lanes: Lanes::default(),
            figures: marey_report::Watch::default(),
            newest_loop: None,
            turns: Pace::default(),
        }
    }

    /// Takes the next look.
    pub(super) fn take(&mut self, look: Look) {
        // The first look is none, and the dead do not change.
        let had_one = !self.look.nodes.is_empty();
        if had_one && !self.look.is_running() {
            self.look = look;
            return;
        }
        let before = std::mem::replace(&mut self.look, look);
        self.before = had_one.then_some(before);
        self.metrics = self.figures.look((&self.look).into());
        self.count_turns();
        if self.look.is_running() {
            let interval = self.before.as_ref().map(|earlier| Interval {
                earlier,
                later: &self.look,
            });
            self.lanes.take(&self.look, interval, &self.metrics);
        }
    }

    /// The process records.
    pub(super) fn is_running(&self) -> bool {
        self.look.nodes.is_empty() || self.look.is_running()
    }

    /// The loop that turned last.
    pub(super) fn newest_loop(&self) -> Option<&Loop> {
        self.newest_loop.as_ref()
    }

    /// Turns a second of the loop that turned last.
    pub(super) fn turns_per_second(&self) -> Option<f64> {
        self.turns.per_second().filter(|_| self.look.is_running())
    }

    /// Frames a second: delivered ones, or latent ones of finished blocks.
    pub(super) fn frames_per_second(&self) -> Option<f64> {
        self.metrics
            .frames_per_second
            .filter(|_| self.look.is_running())
    }

    /// Blocks a second.
    pub(super) fn blocks_per_second(&self) -> Option<f64> {
        self.metrics
            .blocks_per_second
            .filter(|_| self.look.is_running())
    }

    /// Denoising steps a second.
    pub(super) fn steps_per_second(&self) -> Option<f64> {
        self.metrics
            .steps_per_second
            .filter(|_| self.look.is_running())
    }

    fn count_turns(&mut self) {
        let look = &self.look;
        let newest = Loop::newest(look);
        let name = |newest: &Option<Loop>| newest.as_ref().map(|newest| newest.name.clone());
        if name(&newest) != name(&self.newest_loop) {
            self.turns = Pace::default();
        }
        let is_newest = |node| {
            newest
                .as_ref()
                .is_some_and(|newest| newest.is_at(look, node))
        };
        self.turns.take_calls(look.at_ns, &look.totals, is_newest);
        self.newest_loop = newest;
    }
}

impl Loop {
    fn newest(look: &Look) -> Option<Self> {
        let newest = look.newest_loop()?;
        let name = *look.path(newest.node).last()?;
        let mut all = Self {
            name: name.to_owned(),
            count: 0,
            sum_ns: 0,
            last_ns: newest.last_ns,
            newest: Turns::default(),
        };
        let own = look
            .totals
            .iter()
            .filter(|totals| all.is_at(look, totals.node));
        for totals in own.collect::<Vec<_>>() {
            all.count = all.count.saturating_add(totals.count);
            all.sum_ns = all.sum_ns.saturating_add(totals.sum_ns);
            let turns = totals.turns.iter().flat_map(|turns| &turns.newest_ns);
            all.newest.newest_ns.extend(turns);
        }
        Some(all)
    }

    /// A node of its call paths.
    fn is_at(&self, look: &Look, node: u32) -> bool {
        look.kind(node) == NodeKind::Iteration
            && look.path(node).last() == Some(&self.name.as_str())
    }

    /// Mean duration of all turns.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(super) fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count.max(1) as f64
    }
}

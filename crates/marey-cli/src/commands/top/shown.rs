//! What is shown of one process: its latest look, and what the looks before it add.

use marey::NodeKind;
use marey::live::{Interval, Look, Process, Totals, Turns};
use marey_report::Metrics;

use super::lanes::Lanes;
use super::turn_rate::TurnRate;

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
    turns: TurnRate,
    steps: TurnRate,
    blocks: TurnRate,
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
            turns: TurnRate::default(),
            steps: TurnRate::default(),
            blocks: TurnRate::default(),
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
        let readings = self.look.series.iter();
        self.metrics = self.figures.look(marey_report::Look {
            at_ns: self.look.at_ns,
            readings: readings
                .map(|r| (r.info.clone(), r.value, r.age_ns))
                .collect(),
            generated: self.look.generated,
        });
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

    /// Blocks a second: as the program reports them, otherwise turns of loops and sections that are called `block`.
    pub(super) fn blocks_per_second(&self) -> Option<f64> {
        let reported = self.metrics.blocks_per_second;
        let counted = self
            .blocks
            .per_second()
            .filter(|_| self.look.generated.blocks == 0);
        reported.or(counted).filter(|_| self.look.is_running())
    }

    /// Denoising steps a second: as the program reports them, otherwise turns of loops that are called `step`.
    pub(super) fn steps_per_second(&self) -> Option<f64> {
        let reported = self.metrics.steps_per_second;
        let counted = self
            .steps
            .per_second()
            .filter(|_| self.look.generated.steps == 0);
        reported.or(counted).filter(|_| self.look.is_running())
    }

    fn count_turns(&mut self) {
        let look = &self.look;
        let newest = Loop::newest(look);
        let name = |newest: &Option<Loop>| newest.as_ref().map(|newest| newest.name.clone());
        if name(&newest) != name(&self.newest_loop) {
            self.turns = TurnRate::default();
        }
        if let Some(newest) = &newest {
            self.turns.take(look.at_ns, newest.count);
        }
        self.newest_loop = newest;
        let is_loop = |node| look.kind(node) == NodeKind::Iteration;
        let steps = count_named(look, "step", is_loop);
        self.steps.take(look.at_ns, steps);
        self.blocks
            .take(look.at_ns, count_named(look, "block", |_| true));
    }
}

impl Loop {
    fn newest(look: &Look) -> Option<Self> {
        let newest = look.newest_loop()?;
        let name = *look.path(newest.node).last()?;
        let is_it = |totals: &&Totals| {
            look.kind(totals.node) == NodeKind::Iteration
                && look.path(totals.node).last() == Some(&name)
        };
        let mut all = Self {
            name: name.to_owned(),
            count: 0,
            sum_ns: 0,
            last_ns: newest.last_ns,
            newest: Turns::default(),
        };
        for totals in look.totals.iter().filter(is_it) {
            all.count = all.count.saturating_add(totals.count);
            all.sum_ns = all.sum_ns.saturating_add(totals.sum_ns);
            let turns = totals.turns.iter().flat_map(|turns| &turns.newest_ns);
            all.newest.newest_ns.extend(turns);
        }
        Some(all)
    }

    /// Mean duration of all turns.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(super) fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count.max(1) as f64
    }
}

/// Completed calls of the nodes whose own name is `word`, or ends in it after an underscore.
fn count_named(look: &Look, word: &str, counts: impl Fn(u32) -> bool) -> u64 {
    let is_named = |node: u32| {
        let name = look.path(node).pop().unwrap_or_default();
        let before = name.strip_suffix(word);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let named = look
        .totals
        .iter()
        .filter(|totals| counts(totals.node) && is_named(totals.node));
    named
        .map(|totals| totals.count)
        .fold(0, u64::saturating_add)
}

//! What a rule says.

use std::fmt;

use serde::Serialize;

use crate::intervals::Interval;
use crate::quantity::{Figure, FigureUnit, bytes, duration_ns};
use crate::stats::float;

/// Something that is the matter. Texts hold names as the user gave them; they are not safe to print.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// What it is about.
    pub category: Category,
    /// How much it matters.
    pub severity: Severity,
    /// The finding in one sentence, with its figure.
    pub issue: String,
    /// What could be done, one or two sentences.
    pub remedy: String,
    /// The figures that it rests on.
    pub evidence: Vec<Evidence>,
    /// When it was the matter, in order of time, at most [`Finding::MAX_INTERVALS`] of them, the longest; empty when it is about
    /// the whole run.
    pub intervals: Vec<Interval>,
    /// Call path that it is about, as index into `Run::nodes`; `None` when it is about no single one.
    pub node: Option<u32>,
    /// What could be saved; `None` where nothing can be said of that.
    pub saving: Option<Saving>,
    /// How sure it is.
    pub confidence: Confidence,
}

impl Finding {
    /// Intervals that a finding has at most.
    pub const MAX_INTERVALS: usize = 20;

    /// The longest of them, in order of time. Holds no more than twice as many.
    pub(super) fn longest(intervals: impl IntoIterator<Item = Interval>) -> Vec<Interval> {
        let mut kept: Vec<Interval> = Vec::new();
        for interval in intervals {
            kept.push(interval);
            if kept.len() == 2 * Self::MAX_INTERVALS {
                keep_longest(&mut kept);
            }
        }
        keep_longest(&mut kept);
        kept.sort_unstable();
        kept
    }
}

fn keep_longest(kept: &mut Vec<Interval>) {
    kept.sort_unstable_by_key(|i| (std::cmp::Reverse(i.length_ns()), *i));
    kept.truncate(Finding::MAX_INTERVALS);
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Time on the host or the GPU.
    Performance,
    /// Memory of the host or the GPU.
    Memory,
    /// Disks, transfers.
    Io,
    /// Heat and power.
    Thermal,
    /// Delivered frames.
    Streaming,
    /// Steps, blocks, models.
    Diffusion,
    /// Caches.
    Cache,
    /// Several GPUs or ranks.
    Scaling,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a change.
    Medium,
    /// Costs much, or is about to fail.
    High,
}

impl Severity {
    /// By the share of the wall time that is at stake: high from a fifth on, medium from a twentieth on.
    pub(super) fn of_share(share: f64) -> Self {
        if share >= 0.2 {
            Self::High
        } else if share >= 0.05 {
            Self::Medium
        } else {
            Self::Low
        }
    }

    /// The word for it: `High`.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "High",
            Self::Medium => "Medium",
            Self::Low => "Low",
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Other causes would look the same.
    Low,
    /// The figures point there; the cause was not measured itself.
    Medium,
    /// Measured.
    High,
}

/// A figure that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(into = "InDocuments")]
pub struct Evidence {
    /// What was measured, in words.
    pub what: String,
    /// The figure.
    pub figure: Figure,
    /// What it was compared with, in the same unit; `None` for a figure that only explains.
    pub limit: Option<f64>,
}

/// A figure that a finding rests on.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "Evidence")]
struct InDocuments {
    /// What was measured.
    what: String,
    /// The figure.
    value: f64,
    /// What it was compared with; `None` for a figure that only explains.
    limit: Option<f64>,
    /// Of value and limit: `count`, `seconds`, `bytes`, `bytes_per_second`, `ratio`, `per_second`, `celsius`, `watts`, `joules`, `hertz` or
    /// `number`.
    unit: &'static str,
    /// The figure as people read it.
    text: String,
}

impl From<Evidence> for InDocuments {
    fn from(of: Evidence) -> Self {
        let (unit, one) = of.figure.unit.in_documents();
        Self {
            what: of.what,
            value: of.figure.value / one,
            limit: of.limit.map(|limit| limit / one),
            unit,
            text: of.figure.to_string(),
        }
    }
}

/// What could be saved: an estimate where one can be made, and what it cannot be more than.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Saving {
    /// Time that is expected to go; `None` when only the bound is known.
    pub estimate_ns: Option<u64>,
    /// Time that goes at most: what the remedy is about took no longer, as wall time. `None` when it saves no time.
    pub at_most_ns: Option<u64>,
    /// Memory that goes at most; `None` when it saves none.
    pub at_most_bytes: Option<u64>,
    /// How estimate and bound were made, one sentence.
    pub how: String,
}

impl Saving {
    /// A saving of wall time, at most `at_most_ns`.
    pub fn of_time(estimate_ns: Option<u64>, at_most_ns: u64, how: impl Into<String>) -> Self {
        Self { estimate_ns, at_most_ns: Some(at_most_ns), at_most_bytes: None, how: how.into() }
    }

    /// A saving of memory, at most `at_most_bytes`.
    pub fn of_memory(at_most_bytes: u64, how: impl Into<String>) -> Self {
        Self {
            estimate_ns: None,
            at_most_ns: None,
            at_most_bytes: Some(at_most_bytes),
            how: how.into(),
        }
    }

    pub(super) fn bound_ns(&self) -> Option<u64> {
        self.at_most_ns
    }

    /// In short: `about 200 ms, at most 530 ms`. `None` when it is neither time nor memory.
    pub fn text(&self) -> Option<String> {
        let about = self.estimate_ns.map(|ns| format!("about {}", duration_ns(ns)));
        let time = self.at_most_ns.map(|ns| format!("at most {}", duration_ns(ns)));
        let memory = self.at_most_bytes.map(|size| format!("at most {} of memory", bytes(size)));
        let parts: Vec<String> = about.into_iter().chain(time).chain(memory).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Evidence {
    /// A share.
    pub(super) fn ratio(what: impl Into<String>, ratio: f64) -> Self {
        Self::new(what, ratio, FigureUnit::Ratio)
    }

    /// A time.
    pub(super) fn ns(what: impl Into<String>, ns: u64) -> Self {
        Self::new(what, float(ns), FigureUnit::Ns)
    }

    /// A number of something.
    pub(super) fn count(what: impl Into<String>, count: u64) -> Self {
        Self::new(what, float(count), FigureUnit::Count)
    }

    /// A figure that explains.
    pub fn new(what: impl Into<String>, value: f64, unit: FigureUnit) -> Self {
        Self { what: what.into(), figure: Figure { value, unit }, limit: None }
    }

    /// The figure that decided, with its limit.
    #[must_use]
    pub fn against(mut self, limit: f64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// What was measured, its figure, and the limit that it was compared with; what a user named is as it was given.
///
/// ```text
/// peak share in use 95.0 % (limit 90.0 %)
/// ```
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, figure, limit } = self;
        write!(f, "{what} {figure}")?;
        match limit {
            Some(limit) => write!(f, " (limit {})", figure.unit.text(*limit)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_intervals_stay_in_order_of_time() {
        // Lengths 0, 1, … 99: those of 80 to 99 stay.
        let all = (0..100).map(|n| Interval { start_ns: n * 100, end_ns: n * 100 + n });
        let kept = Finding::longest(all);
        let starts: Vec<u64> = kept.iter().map(|i| i.start_ns / 100).collect();
        assert_eq!(starts, (80..100).collect::<Vec<u64>>());
    }

    #[test]
    fn evidence_names_its_limit() {
        let one = Evidence::new("peak share in use", 0.95, FigureUnit::Ratio);
        assert_eq!(one.to_string(), "peak share in use 95.0 %");
        assert_eq!(one.against(0.9).to_string(), "peak share in use 95.0 % (limit 90.0 %)");
    }

    #[test]
    fn a_saving_says_what_is_known() {
        let of_time = Saving::of_time(Some(200), 530, "");
        assert_eq!(of_time.text().as_deref(), Some("about 200 ns, at most 530 ns"));
        let of_memory = Saving::of_memory(4096, "");
        assert_eq!(of_memory.text().as_deref(), Some("at most 4.0 KiB of memory"));
        let neither = Saving { at_most_bytes: None, ..of_memory };
        assert_eq!(neither.text(), None);
    }
}

//! The wall time of both sides by parts: the means of their runs, which add up.

use std::cmp::{Ordering, Reverse};

use marey_analysis::SharedAccount;
use marey_analysis::compare::{MeanChange, adjust};

use super::model::ComparisonReport;
use crate::first_screen::shared_parts;
use crate::quantity::{Column, Unit, float, given_out, whole};

/// Share of a side's total from which on *other* is a row.
const OTHER: f64 = 0.0005;
/// Chance of a false alarm in all parts together.
const ALPHA: f64 = 0.05;

/// Mean wall times of both sides, and the parts of them.
#[derive(Clone, Debug)]
pub(crate) struct ComparedTime {
    pub(crate) total: MeanChange,
    /// The same in whole nanoseconds.
    pub(crate) total_ns: [u64; 2],
    /// Those that changed most first; of each side they add up to its total. Empty where it is not known what held the runs up.
    pub(crate) parts: Vec<ComparedPart>,
    pub(crate) n_runs: [u64; 2],
    /// Every call path with what it took of each run, the baseline's first; `None` where that is not known.
    pub(crate) account: Option<SharedAccount>,
}

/// A part of the wall time of both sides.
#[derive(Clone, Debug)]
pub(crate) struct ComparedPart {
    /// As the user named it; not safe to print.
    pub(crate) name: String,
    /// Means of the runs; chances are corrected for the number of parts.
    pub(crate) change: MeanChange,
    /// The means in whole nanoseconds that add up.
    pub(crate) held_ns: [u64; 2],
    /// Rows of the account that it is made of.
    pub(crate) nodes: Vec<usize>,
    /// All that no other part has.
    pub(crate) is_other: bool,
}

impl ComparedPart {
    /// By more than chance, however many parts there are.
    pub(crate) fn has_changed(&self) -> bool {
        has_changed(&self.change)
    }

    /// Candidate less baseline.
    pub(crate) fn difference_ns(&self) -> i64 {
        difference(self.held_ns)
    }
}

/// By more than chance.
pub(crate) fn has_changed(change: &MeanChange) -> bool {
    change.chance.is_some_and(|chance| chance.p_value < ALPHA)
}

impl ComparedTime {
    /// `None` without runs on a side.
    pub(crate) fn new(report: &ComparisonReport) -> Option<Self> {
        let account = report.comparison.account.as_ref();
        let sides = [&report.baseline, &report.candidate];
        let n_runs = sides.map(|side| side.runs.len());
        let walls: Vec<u64> = match account {
            Some(account) => account.wall_ns.clone(),
            None => sides.iter().flat_map(|side| &side.runs).map(|run| run.wall_ns).collect(),
        };
        let split = Split { n_baseline: n_runs[0], has_chance: report.are_repeats() };
        let total = split.change(&walls)?;
        let total_ns = [total.baseline, total.candidate].map(|mean| whole(mean.round()));
        Some(Self {
            parts: account.map_or_else(Vec::new, |account| parts(account, &split, total_ns)),
            total,
            total_ns,
            n_runs: n_runs.map(|n| n as u64),
            account: account.cloned(),
        })
    }

    /// How all times are written.
    pub(crate) fn column(&self) -> Column {
        Column::of_difference(Unit::Time, self.total_ns)
    }

    /// It is more than half of the last digit that is shown.
    pub(crate) fn is_seen(&self, difference_ns: i64) -> bool {
        self.column().quanta(difference_ns.unsigned_abs()) > 0
    }

    /// Mean of a row of the account on each side.
    pub(crate) fn means(&self, of_runs: &[u64]) -> [f64; 2] {
        let n = usize::try_from(self.n_runs[0]).unwrap_or(usize::MAX).min(of_runs.len());
        let (before, after) = of_runs.split_at(n);
        [before, after].map(mean)
    }
}

/// Which of the runs are which side's.
struct Split {
    n_baseline: usize,
    has_chance: bool,
}

impl Split {
    fn sides<'a>(&self, of_runs: &'a [u64]) -> [&'a [u64]; 2] {
        of_runs.split_at(self.n_baseline.min(of_runs.len())).into()
    }

    fn change(&self, of_runs: &[u64]) -> Option<MeanChange> {
        let [before, after] = self.sides(of_runs);
        let mut change = MeanChange::new(before, after)?;
        change.chance = change.chance.filter(|_| self.has_chance);
        Some(change)
    }
}

fn mean(values: &[u64]) -> f64 {
    let sum: f64 = values.iter().map(|ns| float(*ns)).sum();
    sum / float(values.len().max(1) as u64)
}

/// The parts of the total, *other* among them. Empty where a side has no run.
fn parts(account: &SharedAccount, split: &Split, total_ns: [u64; 2]) -> Vec<ComparedPart> {
    let (shared, left) = shared_parts(account);
    let compared = |name: String, of_runs: &[u64], nodes: Vec<usize>, is_other: bool| {
        let held_ns = split.sides(of_runs).map(|side| side.iter().sum());
        Some(ComparedPart { name, change: split.change(of_runs)?, held_ns, nodes, is_other })
    };
    let shared = shared.into_iter();
    let shared = shared.map(|part| compared(part.name, &part.of_runs, part.nodes, false));
    let Some(mut parts) = shared.collect::<Option<Vec<ComparedPart>>>() else {
        return Vec::new();
    };
    let other = compared("other".into(), &left, Vec::new(), true);
    parts.extend(other.filter(|other| {
        other.change.baseline >= OTHER * float(total_ns[0])
            || other.change.candidate >= OTHER * float(total_ns[1])
    }));
    for (side, total_ns) in total_ns.into_iter().enumerate() {
        let sums: Vec<u64> = parts.iter().map(|part| part.held_ns[side]).collect();
        for (part, ns) in parts.iter_mut().zip(given_out(total_ns, &sums)) {
            part.held_ns[side] = ns;
        }
    }
    let mut changes: Vec<MeanChange> = parts.iter().map(|part| part.change).collect();
    adjust(&mut changes);
    for (part, change) in parts.iter_mut().zip(changes) {
        part.change = change;
    }
    parts.sort_by_key(|part| Reverse(part.difference_ns().unsigned_abs()));
    parts
}

/// The second less the first.
pub(crate) fn difference([before, after]: [u64; 2]) -> i64 {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    signed(after) - signed(before)
}

/// The difference of two times as they are printed: `+51.7 ms`, `0.0 ms`.
pub(crate) fn change_text(column: Column, times_ns: [u64; 2]) -> String {
    let [before, after] = times_ns.map(|ns| column.quanta(ns));
    let sign = match before.cmp(&after) {
        Ordering::Less => "+",
        Ordering::Equal => "",
        Ordering::Greater => "−",
    };
    format!("{sign}{}", column.shown(before.abs_diff(after)))
}

/// Two times with their unit once: `1812.7 → 1864.4 ms`.
pub(crate) fn both_text(column: Column, times_ns: [u64; 2]) -> String {
    let [before, after] = times_ns.map(|ns| column.text(ns));
    without_unit(&before, &after)
}

/// `372 → 381 MiB` of `372 MiB` and `381 MiB`.
pub(crate) fn without_unit(before: &str, after: &str) -> String {
    let unit = after.rsplit_once(' ').map(|(_, unit)| format!(" {unit}"));
    let before = unit.as_deref().and_then(|unit| before.strip_suffix(unit)).unwrap_or(before);
    format!("{before} → {after}")
}

/// A width of what is not known well, with two digits: `28 ms`.
pub(crate) fn about(ns: f64) -> String {
    let (size, unit) = match ns {
        ns if ns < 995.0 => (1.0, "ns"),
        ns if ns < 995e3 => (1e3, "µs"),
        ns if ns < 995e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let decimals = usize::from(ns / size < 9.95 && size > 1.0);
    format!("{:.decimals$} {unit}", ns / size)
}

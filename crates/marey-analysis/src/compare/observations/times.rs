//! How long sections, loops and the run took.

use std::collections::BTreeSet;

use marey::{NodeKind, Run};

use super::{Asked, Observations, Value};
use crate::compare::bootstrap::Statistic;
use crate::compare::{MeasureKind, Subject};
use crate::intervals::union_length_ns;
use crate::questions::names::nodes_by_name;
use crate::records::Records;
use crate::stats::float;

/// So many calls or iterations there have to be for the first one to be taken apart.
const APART: usize = 3;

pub(super) fn observe(asked: &Asked<'_>, names: &BTreeSet<String>, found: &mut Observations) {
    let run = asked.run;
    let wall = Value { figure: float(run.wall_ns), calls: Vec::new(), share: 1.0 };
    if run.wall_ns > 0 {
        found.add_value(MeasureKind::WallTime, Subject::Run, wall);
    }
    let records = Records::new(run, |node| node > 0);
    let kinds = [MeasureKind::SectionTotal, MeasureKind::SectionPerCall, MeasureKind::SectionCalls];
    for (path, nodes) in asked.section_paths() {
        let calls = Calls::new(run, &records, nodes);
        calls.add_to(found, kinds, &Subject::Path(path.clone()));
    }
    let kinds = [MeasureKind::NameTotal, MeasureKind::NamePerCall, MeasureKind::NameCalls];
    for (name, nodes) in nodes_by_name(run, NodeKind::Section) {
        if names.contains(name) {
            let calls = Calls::new(run, &records, &nodes);
            calls.add_to(found, kinds, &Subject::Name(name.to_owned()));
        }
    }
    for (name, nodes) in nodes_by_name(run, NodeKind::Iteration) {
        Calls::new(run, &records, &nodes).add_turns_to(found, &Subject::Loop(name.to_owned()));
    }
}

/// Completed calls of some nodes.
struct Calls {
    count: u64,
    total_ns: f64,
    share: f64,
    wall_ns: f64,
    /// Durations, in order of start; empty where less than half of them were recorded one by one.
    recorded: Vec<f64>,
    /// Mean of all calls but the first, where that is known, else of all.
    mean_ns: Option<f64>,
}

impl Calls {
    fn new(run: &Run, records: &Records, nodes: &[usize]) -> Self {
        let stats = crate::questions::names::calls(run, records, nodes);
        let mut intervals = records.of_all(nodes);
        intervals.sort_unstable();
        let is_mostly_recorded = intervals.len() as u64 >= stats.count.div_ceil(2);
        let recorded = if is_mostly_recorded {
            intervals.iter().map(|call| float(call.length_ns())).collect()
        } else {
            Vec::new()
        };
        let total_ns = float(stats.total_ns);
        let covered_ns =
            if is_mostly_recorded { float(union_length_ns(intervals)) } else { total_ns };
        let wall_ns = float(run.wall_ns.max(1));
        Self {
            count: stats.count,
            total_ns,
            share: (covered_ns / wall_ns).min(1.0),
            wall_ns,
            recorded,
            mean_ns: stats.rest_mean_ns.or(stats.mean_ns),
        }
    }

    fn add_to(
        self,
        found: &mut Observations,
        [total, per_call, count]: [MeasureKind; 3],
        of: &Subject,
    ) {
        if self.count == 0 {
            return;
        }
        let of_total =
            Value { figure: self.total_ns, calls: self.recorded.clone(), share: self.share };
        found.add_value(total, of.clone(), of_total);
        found.add(count, of.clone(), Some(float(self.count)));
        if self.count >= 2 {
            self.add_each(found, per_call, of);
        }
    }

    fn add_turns_to(self, found: &mut Observations, of: &Subject) {
        if self.count == 0 {
            return;
        }
        found.add(MeasureKind::Iterations, of.clone(), Some(float(self.count)));
        if self.count >= APART as u64 {
            let first_ns = self.recorded.first().copied().unwrap_or(f64::NAN);
            let first = Value {
                figure: first_ns,
                calls: Vec::new(),
                share: (first_ns / self.wall_ns).min(1.0),
            };
            found.add_value(MeasureKind::FirstIteration, of.clone(), first);
        }
        self.add_each(found, MeasureKind::Iteration, of);
    }

    /// The duration of a call: the median of those that were recorded, the first one apart.
    fn add_each(self, found: &mut Observations, kind: MeasureKind, of: &Subject) {
        let mut calls = self.recorded;
        if calls.len() >= APART {
            calls.remove(0);
        }
        let median = Statistic::Median.of(&mut calls.clone());
        let Some(figure) = median.or(self.mean_ns) else {
            return;
        };
        let value = Value { figure, calls, share: self.share };
        found.add_value(kind, of.clone(), value);
    }
}

//! One row a call path: exact figures of all its calls, those that were not recorded one by one, too.

use std::collections::BTreeMap;

use marey::{Node, NodeKind, NodeTotals};
use marey_analysis::sections;

use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Totals {
    /// Nodes that were called.
    nodes: Vec<u32>,
    self_ns: BTreeMap<u32, u64>,
}

/// A call path.
pub(crate) struct Row<'a> {
    process: &'a Process,
    number: u32,
    node: &'a Node,
    totals: &'a NodeTotals,
    self_ns: Option<u64>,
}

impl Row<'_> {
    /// Nothing is the shortest or longest of no calls.
    fn of_calls(&self, ns: u64) -> Option<u64> {
        (self.totals.count > 0).then_some(ns)
    }
}

impl Table for Totals {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            number("node", "its number in the process") => Some(row.number.into());
            number("parent", "`node` of the call path around it") null "it is outermost"
                => row.node.parent.filter(|parent| *parent > 0).map(u64::from);
            path() => Some(row.process.path(row.number)?.text.as_str());
            text("name", "its last name") => Some(row.node.name.as_str());
            count("depth", "sections around it") => Some(row.process.path(row.number)?.depth);
            flag("is_iteration", "iterations of a loop") => Some(row.node.kind == NodeKind::Iteration);
            count("calls", "completed calls") => Some(row.totals.count);
            count("errors", "calls that were left by an error") => Some(row.totals.errors);
            ns("total_ns", "sum of the durations of completed calls") => Some(row.totals.sum_ns);
            ns("self_ns", "time of all calls, open ones up to the end, without what is under them")
                null "what is under them took longer than they did: children in several threads, or that outlived them"
                => row.self_ns;
            ns("min_ns", "shortest call") null "no call was completed" => row.of_calls(row.totals.min_ns);
            ns("max_ns", "longest call") null "no call was completed" => row.of_calls(row.totals.max_ns);
            ns("first_ns", "the call that began first")
                null "no call was completed" => row.of_calls(row.totals.first_ns);
            ns("last_ns", "the call that ended last")
                null "no call was completed" => row.of_calls(row.totals.last_ns);
            count("threads", "threads that completed calls") => Some(row.totals.n_threads.into());
        }
    }

    fn new(process: &Process) -> Self {
        let tree = sections(&process.run).tree;
        let self_ns = tree.iter().filter_map(|row| Some((row.node, row.self_ns?)));
        let mut nodes: Vec<u32> = tree.iter().map(|row| row.node).collect();
        nodes.sort_unstable();
        Self { self_ns: self_ns.collect(), nodes }
    }

    fn len(&self, _: &Process) -> usize {
        self.nodes.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let number = *self.nodes.get(place)?;
        Some(Row {
            process,
            number,
            node: process.run.nodes.get(number as usize)?,
            totals: process.run.totals.get(number as usize)?,
            self_ns: self.self_ns.get(&number).copied(),
        })
    }
}

//! One row a call path: exact figures of all its calls, those that were not recorded one by one, too.

use std::collections::BTreeMap;

use marey::{Node, NodeKind, NodeTotals};
use marey_analysis::sections;

use super::whereabouts::path;
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::table::Table;

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
        vec![
            Column::number("node", "its number in the process", |row: &Row<'_>| {
                Some(u64::from(row.number))
            }),
            Column::number("parent", "`node` of the call path around it", |row: &Row<'_>| {
                row.node.parent.filter(|parent| *parent > 0).map(u64::from)
            })
            .null("it is outermost"),
            path(|row: &Row<'_>| {
                Some(row.process.path(row.number)?.text.as_str())
            }),
            Column::text("name", "its last name", |row: &Row<'_>| Some(row.node.name.as_str())),
            Column::number("depth", "sections around it", |row: &Row<'_>| {
                Some(row.process.path(row.number)?.depth)
            })
            .in_unit("1"),
            Column::flag("is_iteration", "turns of a loop", |row: &Row<'_>| {
                Some(row.node.kind == NodeKind::Iteration)
            }),
            Column::number("calls", "completed calls", |row: &Row<'_>| Some(row.totals.count))
                .in_unit("1"),
            Column::number("errors", "calls that were left by an error", |row: &Row<'_>| {
                Some(row.totals.errors)
            })
            .in_unit("1"),
            Column::number("total_ns", "sum of the durations of completed calls", |row: &Row<'_>| {
                Some(row.totals.sum_ns)
            })
            .in_unit("ns"),
            Column::number(
                "self_ns",
                "time of all calls, open ones up to the end, without what is under them",
                |row: &Row<'_>| row.self_ns,
            )
            .in_unit("ns")
            .null("what is under them took longer than they did: children in several threads, or that outlived them"),
            Column::number("min_ns", "shortest call", |row: &Row<'_>| row.of_calls(row.totals.min_ns))
                .in_unit("ns")
                .null("no call was completed"),
            Column::number("max_ns", "longest call", |row: &Row<'_>| row.of_calls(row.totals.max_ns))
                .in_unit("ns")
                .null("no call was completed"),
            Column::number("first_ns", "the call that began first", |row: &Row<'_>| {
                row.of_calls(row.totals.first_ns)
            })
            .in_unit("ns")
            .null("no call was completed"),
            Column::number("last_ns", "the call that ended last", |row: &Row<'_>| {
                row.of_calls(row.totals.last_ns)
            })
            .in_unit("ns")
            .null("no call was completed"),
            Column::number("threads", "threads that completed calls", |row: &Row<'_>| {
                Some(u64::from(row.totals.n_threads))
            })
            .in_unit("1"),
        ]
    }

    fn new(process: &Process) -> Self {
        let tree = sections(&process.run).tree;
        let self_ns = tree.iter().filter_map(|row| Some((row.node, row.self_ns?)));
        let mut nodes: Vec<u32> = tree.iter().map(|row| row.node).collect();
        nodes.sort_unstable();
        Self {
            self_ns: self_ns.collect(),
            nodes,
        }
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

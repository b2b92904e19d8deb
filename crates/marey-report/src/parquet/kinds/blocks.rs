//! One row an autoregressive block, or chunk of frames, in order of their ends.

use marey_analysis::{BlockPoint, Blocks as Found};

use super::number;
use super::whereabouts::{belongs_to, on_the_wall_clock, thread};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::table::Table;

/// The table.
pub(crate) struct Blocks;

/// A block.
pub(crate) struct Row<'a> {
    process: &'a Process,
    place: usize,
    block: &'a BlockPoint,
}

fn found(process: &Process) -> Option<&Found> {
    process.diffusion()?.blocks.as_ref()
}

impl Table for Blocks {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "turn",
                "its place among the blocks of the process, from 0",
                |row: &Row<'_>| number(row.place),
            ),
            Column::number(
                "block",
                "its number, as reported, otherwise counted from 0",
                |row: &Row<'_>| Some(row.block.index),
            ),
            Column::number(
                "generation",
                "the generation that it is of, from 0",
                |row: &Row<'_>| Some(row.block.generation),
            ),
            on_the_wall_clock(
                "end_unix_ns",
                "when it ended, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.block.end_ns),
            ),
            Column::number(
                "start_ns",
                "when it began, since the start of the process",
                |row: &Row<'_>| Some(row.block.end_ns.saturating_sub(row.block.duration_ns?)),
            )
            .in_unit("ns")
            .null("its duration is not known"),
            Column::number("end_ns", "when it ended", |row: &Row<'_>| {
                Some(row.block.end_ns)
            })
            .in_unit("ns"),
            Column::number("duration_ns", "how long it took", |row: &Row<'_>| {
                row.block.duration_ns
            })
            .in_unit("ns")
            .null("not known"),
            Column::number("frames", "latent frames in it", |row: &Row<'_>| {
                row.block.frames
            })
            .in_unit("1")
            .null("not said"),
            Column::number(
                "memory_bytes",
                "memory in use, as the program read it",
                |row: &Row<'_>| row.block.memory_bytes,
            )
            .in_unit("B")
            .null("not said"),
            thread(|row: &Row<'_>| Some(u64::from(row.block.thread))),
            belongs_to(|row: &Row<'_>| row.process.session_name(row.block.session)),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        found(process).map_or(0, |found| found.each.len())
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        Some(Row {
            process,
            place,
            block: found(process)?.each.get(place)?,
        })
    }
}

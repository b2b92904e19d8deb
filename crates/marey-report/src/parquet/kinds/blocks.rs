//! One row an autoregressive block, or chunk of frames, in order of their ends.

use marey_analysis::{BlockPoint, Blocks as Found};

use super::number;
use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            number("turn", "its place among the blocks of the process, from 0") => number(row.place);
            number("block", "its number, as reported, otherwise counted from 0") => Some(row.block.index);
            number("generation", "the generation that it is of, from 0") => Some(row.block.generation);
            unix_ns("end_unix_ns", "when it ended, on the wall clock, since 1970")
                => row.process.unix_ns(row.block.end_ns);
            ns("start_ns", "when it began, since the start of the process") null "its duration is not known"
                => Some(row.block.end_ns.saturating_sub(row.block.duration_ns?));
            ns("end_ns", "when it ended") => Some(row.block.end_ns);
            ns("duration_ns", "how long it took") null "not known" => row.block.duration_ns;
            count("frames", "latent frames in it") null "not said" => row.block.frames;
            bytes("memory_bytes", "memory in use, as the program read it") null "not said" => row.block.memory_bytes;
            thread() => Some(row.block.thread.into());
            belongs_to() => row.process.session_name(row.block.session);
        }
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        found(process).map_or(0, |found| found.each.len())
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        Some(Row { process, place, block: found(process)?.each.get(place)? })
    }
}

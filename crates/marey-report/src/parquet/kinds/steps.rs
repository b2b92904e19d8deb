//! One row a denoising step, in order of their ends.

use std::collections::BTreeSet;

use marey_analysis::{StepPoint, Steps as Found};

use super::number;
use super::whereabouts::{belongs_to, on_the_wall_clock, thread};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::table::Table;

/// The table.
pub(crate) struct Steps {
    outliers: BTreeSet<usize>,
}

/// A step.
pub(crate) struct Row<'a> {
    process: &'a Process,
    place: usize,
    step: &'a StepPoint,
    is_outlier: bool,
}

fn found(process: &Process) -> Option<&Found> {
    process.diffusion()?.steps.as_ref()
}

impl Table for Steps {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "turn",
                "its place among the steps of the process, from 0",
                |row: &Row<'_>| number(row.place),
            ),
            Column::number(
                "step",
                "its number in its loop, as reported, otherwise counted from 0",
                |row: &Row<'_>| Some(row.step.step),
            ),
            Column::number(
                "loop",
                "the loop: a generation, or a block of one; from 0",
                |row: &Row<'_>| Some(row.step.loop_number),
            ),
            Column::number(
                "block",
                "number of the block that it belongs to",
                |row: &Row<'_>| row.step.block,
            )
            .null("there are no blocks, or that block had not ended"),
            on_the_wall_clock(
                "end_unix_ns",
                "when it ended, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.step.end_ns),
            ),
            Column::number(
                "start_ns",
                "when it began, since the start of the process",
                |row: &Row<'_>| Some(row.step.end_ns.saturating_sub(row.step.duration_ns?)),
            )
            .in_unit("ns")
            .null("its duration is not known"),
            Column::number("end_ns", "when it ended", |row: &Row<'_>| {
                Some(row.step.end_ns)
            })
            .in_unit("ns"),
            Column::number("duration_ns", "how long it took", |row: &Row<'_>| {
                row.step.duration_ns
            })
            .in_unit("ns")
            .null("not known"),
            Column::number(
                "gpu_ns",
                "time on the GPU between events at both ends of its section",
                |row: &Row<'_>| row.step.gpu_ns,
            )
            .in_unit("ns")
            .null("not measured, or the step was reported"),
            Column::number(
                "passes",
                "passes of the network in it that were reported or recorded one by one",
                |row: &Row<'_>| Some(row.step.n_passes),
            ),
            Column::real("timestep", "time step of the schedule", |row: &Row<'_>| {
                row.step.timestep
            })
            .null("not said"),
            Column::number(
                "frames",
                "latent frames that it worked on",
                |row: &Row<'_>| row.step.frames,
            )
            .in_unit("1")
            .null("not said"),
            Column::real(
                "guidance_scale",
                "scale of the guidance",
                |row: &Row<'_>| row.step.guidance_scale,
            )
            .null("not said"),
            Column::flag(
                "is_cached",
                "a cache answered, or was asked in vain",
                |row: &Row<'_>| row.step.is_cached,
            )
            .null("no cache said anything of it"),
            Column::flag(
                "is_warm_up",
                "it is part of the warm-up",
                |row: &Row<'_>| Some(row.step.is_warm_up),
            ),
            Column::flag(
                "is_outlier",
                "it took much longer than those like it in its loop or its pipeline",
                |row: &Row<'_>| Some(row.is_outlier),
            ),
            thread(|row: &Row<'_>| Some(u64::from(row.step.thread))),
            belongs_to(|row: &Row<'_>| row.process.session_name(row.step.session)),
        ]
    }

    fn new(process: &Process) -> Self {
        let outliers = found(process).map(|found| found.outliers.iter().copied());
        Self {
            outliers: outliers.into_iter().flatten().collect(),
        }
    }

    fn len(&self, process: &Process) -> usize {
        found(process).map_or(0, |found| found.each.len())
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let found = found(process)?;
        Some(Row {
            process,
            place,
            step: found.each.get(place)?,
            is_outlier: self.outliers.contains(&place),
        })
    }
}

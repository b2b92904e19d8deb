//! One row a denoising step, in order of their ends.

use std::collections::BTreeSet;

use marey_analysis::{StepPoint, Steps as Found};

use super::number;
use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            number("turn", "its place among the steps of the process, from 0") => number(row.place);
            number("step", "its number in its loop, as reported, otherwise counted from 0") => Some(row.step.step);
            number("loop", "the loop: a generation, or a block of one; from 0") => Some(row.step.loop_number);
            number("block", "number of the block that it belongs to")
                null "there are no blocks, or that block had not ended"
                => row.step.block;
            unix_ns("end_unix_ns", "when it ended, on the wall clock, since 1970")
                => row.process.unix_ns(row.step.end_ns);
            ns("start_ns", "when it began, since the start of the process") null "its duration is not known"
                => Some(row.step.end_ns.saturating_sub(row.step.duration_ns?));
            ns("end_ns", "when it ended") => Some(row.step.end_ns);
            ns("duration_ns", "how long it took") null "not known" => row.step.duration_ns;
            ns("gpu_ns", "time on the GPU between events at both ends of its section")
                null "not measured, or the step was reported"
                => row.step.gpu_ns;
            number("passes", "passes of the network in it that were reported or recorded one by one")
                => Some(row.step.n_passes);
            real("timestep", "time step of the schedule") null "not said" => row.step.timestep;
            count("frames", "latent frames that it worked on") null "not said" => row.step.frames;
            real("guidance_scale", "scale of the guidance") null "not said" => row.step.guidance_scale;
            flag("is_cached", "a cache answered, or was asked in vain") null "no cache said anything of it"
                => row.step.is_cached;
            flag("is_warm_up", "it is part of the warm-up") => Some(row.step.is_warm_up);
            flag("is_outlier", "it took much longer than those like it in its loop or its pipeline")
                => Some(row.is_outlier);
            thread() => Some(row.step.thread.into());
            belongs_to() => row.process.session_name(row.step.session);
        }
    }

    fn new(process: &Process) -> Self {
        let outliers = found(process).map(|found| found.outliers.iter().copied());
        Self { outliers: outliers.into_iter().flatten().collect() }
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

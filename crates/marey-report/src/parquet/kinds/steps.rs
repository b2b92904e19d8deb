//! Denoising steps, and autoregressive blocks or chunks of frames, each in order of their ends; and in which of them sections lie.

use std::collections::{BTreeMap, BTreeSet};

use marey::Section;
use marey_analysis::{Interval, StepPoint, Steps as Found};

use super::number;
use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table of steps.
pub(crate) struct Steps {
    outliers: BTreeSet<usize>,
}

/// A step, or a block.
pub(crate) struct Row<'a> {
    process: &'a Process,
    place: usize,
    step: &'a StepPoint,
    is_outlier: bool,
}

pub(super) fn steps(process: &Process) -> Option<&Found> {
    process.diffusion()?.steps.as_ref()
}

pub(super) fn blocks(process: &Process) -> Option<&Found> {
    process.diffusion()?.blocks.as_ref()
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
        let outliers = steps(process).map(|found| found.outliers.iter().copied());
        Self { outliers: outliers.into_iter().flatten().collect() }
    }

    fn len(&self, process: &Process) -> usize {
        steps(process).map_or(0, |found| found.each.len())
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let step = steps(process)?.each.get(place)?;
        Some(Row { process, place, step, is_outlier: self.outliers.contains(&place) })
    }
}

/// The table of blocks.
pub(crate) struct Blocks;

impl Table for Blocks {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            number("turn", "its place among the blocks of the process, from 0") => number(row.place);
            number("block", "its number, as reported, otherwise counted from 0") => Some(row.step.step);
            number("generation", "the generation that it is of, from 0") => Some(row.step.loop_number);
            unix_ns("end_unix_ns", "when it ended, on the wall clock, since 1970")
                => row.process.unix_ns(row.step.end_ns);
            ns("start_ns", "when it began, since the start of the process") null "its duration is not known"
                => Some(row.step.end_ns.saturating_sub(row.step.duration_ns?));
            ns("end_ns", "when it ended") => Some(row.step.end_ns);
            ns("duration_ns", "how long it took") null "not known" => row.step.duration_ns;
            count("frames", "latent frames in it") null "not said" => row.step.frames;
            bytes("memory_bytes", "memory in use, as the program read it") null "not said" => row.step.memory_bytes;
            thread() => Some(row.step.thread.into());
            belongs_to() => row.process.session_name(row.step.session);
        }
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        blocks(process).map_or(0, |found| found.each.len())
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let step = blocks(process)?.each.get(place)?;
        Some(Row { process, place, step, is_outlier: false })
    }
}

/// Iterations of one kind with their numbers, by thread.
///
/// ```text
/// steps      |---- 0 ----|  |---- 1 ----|
/// sections    |a|  |b|     |c|   |d|        a, b: 0   c, which began before step 1: none   d: 1
/// ```
#[derive(Debug, Default)]
pub(super) struct Iterations(BTreeMap<u32, Vec<(Interval, u64)>>);

impl Iterations {
    /// Those whose duration is known.
    pub(super) fn of(found: Option<&Found>) -> Self {
        let mut by_thread: BTreeMap<u32, Vec<(Interval, u64)>> = BTreeMap::new();
        for step in found.into_iter().flat_map(|found| &found.each) {
            let of_thread = by_thread.entry(step.thread).or_default();
            of_thread.extend(step.time().map(|time| (time, step.step)));
        }
        for each in by_thread.values_mut() {
            each.sort_by_key(|(time, _)| time.start_ns);
        }
        Self(by_thread)
    }

    /// The number of the iteration that a section lies in.
    pub(super) fn of_section(&self, section: &Section) -> Option<u64> {
        let each = self.0.get(&section.thread)?;
        let begun = each.partition_point(|(time, _)| time.start_ns <= section.start_ns);
        let (time, number) = each[..begun].last()?;
        (section.end_ns <= time.end_ns).then_some(*number)
    }
}

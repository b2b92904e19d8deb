//! One row a section, or iteration of a loop, that was recorded one by one; in order of their start.

use marey::{NodeKind, Section};
use marey_analysis::{SectionSessions, SessionAssignment};

use super::json;
use super::steps::{Iterations, blocks, steps};
use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table. Memory: 16 bytes a section, 4 more where there are sessions.
pub(crate) struct Sections {
    /// Start, and index into `Run::sections`, in order.
    order: Vec<(u64, usize)>,
    sessions: SectionSessions,
    steps: Iterations,
    blocks: Iterations,
}

/// A section.
pub(crate) struct Row<'a> {
    process: &'a Process,
    table: &'a Sections,
    section: &'a Section,
    place: usize,
}

impl Row<'_> {
    fn kind(&self) -> Option<NodeKind> {
        let node = self.process.run.nodes.get(self.section.node as usize)?;
        Some(node.kind)
    }

    fn attributes(&self) -> Option<String> {
        let given = &self.process.run.section_attributes;
        let place = given.binary_search_by_key(&self.place, |noted| noted.section);
        json(&given.get(place.ok()?)?.attributes)
    }

    fn session(&self) -> Option<&str> {
        let session = self.table.sessions.of(self.place);
        self.process.session_name(session)
    }
}

impl Table for Sections {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            unix_ns("start_unix_ns", "when it was entered, on the wall clock, since 1970")
                => row.process.unix_ns(row.section.start_ns);
            ns("start_ns", "when it was entered, since the start of the process") => Some(row.section.start_ns);
            ns("end_ns", "when it was left") => Some(row.section.end_ns);
            ns("duration_ns", "how long it took; of one that paused, how long it ran")
                => Some(row.section.end_ns.saturating_sub(row.section.start_ns));
            thread() => Some(row.section.thread.into());
            text("thread_name", "name of the thread")
                null "it has none" => row.process.thread_name(row.section.thread);
            number("node", "its call path, by number in the process: `totals.node`") => Some(row.section.node.into());
            text("path", "names from the outermost section to this one, ` / ` between them; the middle is left out beyond 4 096 bytes")
                => Some(row.process.path(row.section.node)?.text.as_str());
            text("name", "its name") => row.process.name(row.section.node);
            count("depth", "sections around it") => Some(row.process.path(row.section.node)?.depth);
            flag("is_iteration", "it is an iteration of a loop") => Some(row.kind()? == NodeKind::Iteration);
            flag("is_failed", "it was left by an error") => Some(row.section.is_failed);
            flag("has_pauses", "it was suspended in between: `end_ns` is its start and the time that it ran")
                => Some(row.section.has_pauses);
            number("task", "0 for the thread's own stack, else the asyncio task or greenlet")
                => Some(row.section.flow.into());
            number("step", "number of the denoising step that it lies in, or is")
                null "it lies in none, or it is not known when steps began"
                => row.table.steps.of_section(row.section);
            number("block", "number of the block of frames that it lies in, or is")
                null "it lies in none, or it is not known when blocks began"
                => row.table.blocks.of_section(row.section);
            belongs_to() => row.session();
            made("attributes", "what it was given, a JSON object") null "nothing was" => row.attributes();
        }
    }

    fn new(process: &Process) -> Self {
        let run = &process.run;
        let sections = run.sections.iter().enumerate();
        let mut order: Vec<(u64, usize)> =
            sections.map(|(place, section)| (section.start_ns, place)).collect();
        order.sort_unstable();
        Self {
            order,
            sessions: SessionAssignment::new(run).into_sections(),
            steps: Iterations::of(steps(process)),
            blocks: Iterations::of(blocks(process)),
        }
    }

    fn len(&self, _: &Process) -> usize {
        self.order.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let (_, place) = *self.order.get(place)?;
        Some(Row { process, table: self, section: process.run.sections.get(place)?, place })
    }
}

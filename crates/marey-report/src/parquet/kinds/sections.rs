//! One row a section, or turn of a loop, that was recorded one by one; in order of their start.

use marey::{NodeKind, Section};
use marey_analysis::{Belonging, SectionSessions};

use super::json;
use super::whereabouts::{belongs_to, on_the_wall_clock, thread};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::table::Table;
use crate::parquet::turns::Turns;

/// The table. Memory: 16 bytes a section, 4 more where there are sessions.
pub(crate) struct Sections {
    /// Start, and index into `Run::sections`, in order.
    order: Vec<(u64, usize)>,
    sessions: SectionSessions,
    steps: Turns,
    blocks: Turns,
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
        vec![
            on_the_wall_clock(
                "start_unix_ns",
                "when it was entered, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.section.start_ns),
            ),
            Column::number(
                "start_ns",
                "when it was entered, since the start of the process",
                |row: &Row<'_>| Some(row.section.start_ns),
            )
            .in_unit("ns"),
            Column::number("end_ns", "when it was left", |row: &Row<'_>| {
                Some(row.section.end_ns)
            })
            .in_unit("ns"),
            Column::number(
                "duration_ns",
                "how long it took; of one that paused, how long it ran",
                |row: &Row<'_>| Some(row.section.end_ns.saturating_sub(row.section.start_ns)),
            )
            .in_unit("ns"),
            thread(|row: &Row<'_>| Some(u64::from(row.section.thread))),
            Column::text("thread_name", "name of the thread", |row: &Row<'_>| {
                row.process.thread_name(row.section.thread)
            })
            .null("it has none"),
            Column::number(
                "node",
                "its call path, by number in the process: `totals.node`",
                |row: &Row<'_>| Some(u64::from(row.section.node)),
            ),
            Column::text(
                "path",
                "names from the outermost section to this one, ` / ` between them; the middle is left out beyond 4 096 bytes",
                |row: &Row<'_>| Some(row.process.path(row.section.node)?.text.as_str()),
            ),
            Column::text("name", "its name", |row: &Row<'_>| {
                row.process.name(row.section.node)
            }),
            Column::number("depth", "sections around it", |row: &Row<'_>| {
                Some(row.process.path(row.section.node)?.depth)
            })
            .in_unit("1"),
            Column::flag("is_iteration", "it is a turn of a loop", |row: &Row<'_>| {
                Some(row.kind()? == NodeKind::Iteration)
            }),
            Column::flag("is_failed", "it was left by an error", |row: &Row<'_>| {
                Some(row.section.is_failed)
            }),
            Column::flag(
                "has_pauses",
                "it was suspended in between: `end_ns` is its start and the time that it ran",
                |row: &Row<'_>| Some(row.section.has_pauses),
            ),
            Column::number(
                "task",
                "0 for the thread's own stack, else the asyncio task or greenlet",
                |row: &Row<'_>| Some(u64::from(row.section.flow)),
            ),
            Column::number(
                "step",
                "number of the denoising step that it lies in, or is",
                |row: &Row<'_>| row.table.steps.of_section(row.section),
            )
            .null("it lies in none, or it is not known when steps began"),
            Column::number(
                "block",
                "number of the block of frames that it lies in, or is",
                |row: &Row<'_>| row.table.blocks.of_section(row.section),
            )
            .null("it lies in none, or it is not known when blocks began"),
            belongs_to(|row: &Row<'_>| row.session()),
            Column::made(
                "attributes",
                "what it was given, a JSON object",
                Row::attributes,
            )
            .null("nothing was"),
        ]
    }

    fn new(process: &Process) -> Self {
        let run = &process.run;
        let sections = run.sections.iter().enumerate();
        let mut order: Vec<(u64, usize)> = sections
            .map(|(place, section)| (section.start_ns, place))
            .collect();
        order.sort_unstable();
        Self {
            order,
            sessions: Belonging::new(run).into_sections(),
            steps: Turns::of_steps(process),
            blocks: Turns::of_blocks(process),
        }
    }

    fn len(&self, _: &Process) -> usize {
        self.order.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let (_, place) = *self.order.get(place)?;
        Some(Row {
            process,
            table: self,
            section: process.run.sections.get(place)?,
            place,
        })
    }
}

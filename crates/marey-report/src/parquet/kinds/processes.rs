//! One row a process: where, when and how it ran, how it ended, and what of it was not recorded.

use marey::Run;
use serde_json::{Map, Value as Json};

use super::number;
use crate::model::{RunStatus, StatusKind};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::table::Table;

/// The table.
pub(crate) struct Processes {
    status: RunStatus,
}

/// The process.
pub(crate) struct Row<'a> {
    run: &'a Run,
    status: &'a RunStatus,
}

impl<'a> Row<'a> {
    fn fact(&self, key: &str) -> Option<&'a str> {
        let facts = self.run.info.facts.iter().rev();
        let mut values = facts.filter(|(name, _)| name == key);
        values.next().map(|(_, value)| value.as_str())
    }
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl Table for Processes {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::text("job", "the job that it belongs to", |row: &Row<'_>| {
                known(&row.run.info.job_id)
            })
            .null("not known"),
            Column::number("world_size", "ranks of the job", |row: &Row<'_>| {
                row.run.info.world_size.map(u64::from)
            })
            .null("outside a job of several ranks"),
            Column::text("host", "host name", |row: &Row<'_>| {
                known(&row.run.info.host)
            })
            .null("not known"),
            Column::number("pid", "process id", |row: &Row<'_>| {
                Some(u64::from(row.run.info.pid))
            }),
            Column::number(
                "forked_from",
                "process id of the recording process that it was forked from",
                |row: &Row<'_>| row.fact("forked_from")?.parse().ok(),
            )
            .null("it was not forked from one"),
            Column::number(
                "start_unix_ns",
                "its start on the wall clock, since 1970",
                |row: &Row<'_>| Some(row.run.info.start_unix_ns).filter(|start| *start > 0),
            )
            .in_unit("ns")
            .null("not known"),
            Column::number(
                "wall_ns",
                "from its start to its end, or to the last thing known",
                |row: &Row<'_>| Some(row.run.wall_ns),
            )
            .in_unit("ns"),
            Column::text(
                "status",
                "how it ended: finished, failed, killed, out_of_memory, ended_without_closing, or running when it was read",
                |row: &Row<'_>| {
                    Some(match row.status.kind {
                        StatusKind::Running => "running",
                        StatusKind::Finished => "finished",
                        StatusKind::Failed => "failed",
                        StatusKind::Killed => "killed",
                        StatusKind::OutOfMemory => "out_of_memory",
                        StatusKind::EndedWithoutClosing => "ended_without_closing",
                    })
                },
            ),
            Column::number(
                "signal",
                "number of the signal that killed it",
                |row: &Row<'_>| {
                    row.status
                        .signal
                        .and_then(|signal| u64::try_from(signal).ok())
                },
            )
            .null("it was not seen to die of one"),
            Column::text(
                "reason",
                "why it failed, in its own words",
                |row: &Row<'_>| row.status.reason.as_deref(),
            )
            .null("it did not fail, or did not say"),
            Column::text(
                "marey",
                "version of Marey that recorded it",
                |row: &Row<'_>| row.fact("marey"),
            )
            .null("not known"),
            Column::text("python", "version of Python", |row: &Row<'_>| {
                row.fact("python")
            })
            .null("not a Python program"),
            Column::text("torch", "version of torch", |row: &Row<'_>| {
                row.fact("torch")
            })
            .null("not known"),
            Column::text(
                "clock",
                "how time was read: tsc or monotonic",
                |row: &Row<'_>| known(&row.run.info.clock),
            )
            .null("not known"),
            Column::made(
                "command",
                "command line, a JSON array; values of prompts are replaced",
                |row: &Row<'_>| {
                    let words = &row.run.info.command;
                    (!words.is_empty()).then(|| Json::from(words.clone()).to_string())
                },
            )
            .null("not known"),
            Column::made(
                "facts",
                "everything else that is known of it, a JSON object of texts",
                |row: &Row<'_>| {
                    let facts = row.run.info.facts.iter();
                    let facts =
                        facts.map(|(name, value)| (name.clone(), Json::from(value.as_str())));
                    let facts: Map<String, Json> = facts.collect();
                    (!facts.is_empty()).then(|| Json::Object(facts).to_string())
                },
            )
            .null("nothing is"),
            Column::number(
                "sections",
                "sections and turns of loops that were recorded one by one: rows of `sections`",
                |row: &Row<'_>| number(row.run.sections.len()),
            )
            .in_unit("1"),
            Column::number(
                "sections_missing",
                "calls that are in `totals` and not in `sections`",
                |row: &Row<'_>| Some(row.run.losses.sections_missing()),
            )
            .in_unit("1"),
            Column::number(
                "sections_unrecorded",
                "calls that are in no table: too many were open, or there was no memory for their threads",
                |row: &Row<'_>| Some(row.run.losses.sections_unrecorded),
            )
            .in_unit("1"),
            Column::number(
                "notes_dropped",
                "events, readings and the like that are in no table",
                |row: &Row<'_>| Some(row.run.losses.notes_dropped),
            )
            .in_unit("1"),
            Column::number(
                "calls_without_name",
                "calls that are counted under the name (other)",
                |row: &Row<'_>| Some(row.run.losses.calls_without_name),
            )
            .in_unit("1"),
            Column::number(
                "warnings",
                "things that were wrong with the capture",
                |row: &Row<'_>| number(row.run.warnings.len()),
            )
            .in_unit("1"),
        ]
    }

    fn new(process: &Process) -> Self {
        Self {
            status: RunStatus::new(&process.run.status),
        }
    }

    fn len(&self, _: &Process) -> usize {
        1
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        (place == 0).then_some(Row {
            run: &process.run,
            status: &self.status,
        })
    }
}

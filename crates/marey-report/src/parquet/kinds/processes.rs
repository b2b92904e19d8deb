//! One row a process: where, when and how it ran, how it ended, and what of it was not recorded.

use marey::Run;
use serde_json::{Map, Value as Json};

use super::number;
use crate::model::{RunStatus, StatusKind};
use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

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

    fn facts(&self) -> Option<String> {
        let facts = self.run.info.facts.iter();
        let facts = facts.map(|(name, value)| (name.clone(), Json::from(value.as_str())));
        let facts: Map<String, Json> = facts.collect();
        (!facts.is_empty()).then(|| Json::Object(facts).to_string())
    }

    fn command(&self) -> Option<String> {
        let words = &self.run.info.command;
        (!words.is_empty()).then(|| Json::from(words.clone()).to_string())
    }
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl Table for Processes {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            text("job", "the job that it belongs to") null "not known" => known(&row.run.info.job_id);
            number("world_size", "ranks of the job") null "outside a job of several ranks"
                => row.run.info.world_size.map(u64::from);
            text("host", "host name") null "not known" => known(&row.run.info.host);
            number("pid", "process id") => Some(row.run.info.pid.into());
            number("forked_from", "process id of the recording process that it was forked from")
                null "it was not forked from one"
                => row.fact("forked_from")?.parse().ok();
            ns("start_unix_ns", "its start on the wall clock, since 1970") null "not known"
                => Some(row.run.info.start_unix_ns).filter(|start| *start > 0);
            ns("wall_ns", "from its start to its end, or to the last thing known") => Some(row.run.wall_ns);
            text("status", "how it ended: finished, failed, killed, out_of_memory, ended_without_closing, or running when it was read")
                => Some(match row.status.kind {
                    StatusKind::Running => "running",
                    StatusKind::Finished => "finished",
                    StatusKind::Failed => "failed",
                    StatusKind::Killed => "killed",
                    StatusKind::OutOfMemory => "out_of_memory",
                    StatusKind::EndedWithoutClosing => "ended_without_closing",
                });
            number("signal", "number of the signal that killed it") null "it was not seen to die of one"
                => row.status.signal.and_then(|signal| u64::try_from(signal).ok());
            text("reason", "why it failed, in its own words") null "it did not fail, or did not say"
                => row.status.reason.as_deref();
            text("marey", "version of Marey that recorded it") null "not known" => row.fact("marey");
            text("python", "version of Python") null "not a Python program" => row.fact("python");
            text("torch", "version of torch") null "not known" => row.fact("torch");
            text("clock", "how time was read: tsc or monotonic") null "not known" => known(&row.run.info.clock);
            made("command", "command line, a JSON array; values of prompts are replaced") null "not known"
                => row.command();
            made("facts", "everything else that is known of it, a JSON object of texts") null "nothing is"
                => row.facts();
            count("sections", "sections and iterations of loops that were recorded one by one: rows of `sections`")
                => number(row.run.sections.len());
            count("sections_missing", "calls that are in `totals` and not in `sections`")
                => Some(row.run.losses.sections_missing());
            count("sections_unrecorded", "calls that are in no table: too many were open, or there was no memory for their threads")
                => Some(row.run.losses.sections_unrecorded);
            count("notes_dropped", "events, readings and the like that are in no table")
                => Some(row.run.losses.notes_dropped);
            count("calls_without_name", "calls that are counted under the name (other)")
                => Some(row.run.losses.calls_without_name);
            count("warnings", "things that were wrong with the capture") => number(row.run.warnings.len());
        }
    }

    fn new(process: &Process) -> Self {
        Self { status: RunStatus::new(&process.run.status) }
    }

    fn len(&self, _: &Process) -> usize {
        1
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        (place == 0).then_some(Row { run: &process.run, status: &self.status })
    }
}

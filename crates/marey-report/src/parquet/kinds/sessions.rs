//! One row a session, in order of their start.

use marey::{Run, Session};

use super::json;
use crate::parquet::column::{Column, columns};
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Sessions;

type Row<'a> = At<'a, Session>;

impl Listed for Sessions {
    type Item = Session;

    fn list(run: &Run) -> &[Session] {
        &run.sessions
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            text("session", "its name") => Some(row.it.name.as_str());
            number("number", "its number in the process: several may have one name") => Some(row.it.number);
            unix_ns("start_unix_ns", "when it began, on the wall clock, since 1970")
                => row.process.unix_ns(row.it.start_ns);
            ns("start_ns", "when it began, since the start of the process") => Some(row.it.start_ns);
            ns("end_ns", "when it ended") null "it was open when the capture ended" => row.it.end_ns;
            ns("duration_ns", "how long it took") null "it was open when the capture ended"
                => Some(row.it.end_ns?.saturating_sub(row.it.start_ns));
            text("outcome", "`done`, `failed`, or `cut_off`: stopped before its end, or open when the capture ended")
                => Some(row.it.outcome.name());
            text("parent", "name of the session that it is nested in") null "it is nested in none"
                => row.process.session_name(row.it.parent);
            number("thread", "the thread that began it, by number in the process") => Some(row.it.thread.into());
            ns("cpu_ns", "processor time of the whole process meanwhile")
                null "it had not ended, or that was not read"
                => Some(row.it.used?.process.cpu_ns);
            bytes("read_bytes", "fetched from storage by the whole process meanwhile")
                null "it had not ended, or that was not read"
                => row.it.used?.process.read_bytes;
            bytes("written_bytes", "made by the whole process to be written to storage meanwhile")
                null "it had not ended, or that was not read"
                => row.it.used?.process.written_bytes;
            bytes("resident_before_bytes", "resident memory of the process when it began")
                null "it had not ended, or that was not read"
                => row.it.used?.resident_before;
            bytes("resident_after_bytes", "resident memory of the process when it ended")
                null "it had not ended, or that was not read"
                => row.it.used?.resident_after;
            made("tags", "the user's tags, a JSON object") null "there are none" => json(&row.it.tags);
        }
    }
}

//! One row a session, in order of their start.

use marey::{Run, Session};

use super::json;
use super::whereabouts::on_the_wall_clock;
use crate::parquet::column::Column;
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
        vec![
            Column::text("session", "its name", |row: &Row<'_>| {
                Some(row.it.name.as_str())
            }),
            Column::number(
                "number",
                "its number in the process: several may have one name",
                |row: &Row<'_>| Some(row.it.number),
            ),
            on_the_wall_clock(
                "start_unix_ns",
                "when it began, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.it.start_ns),
            ),
            Column::number(
                "start_ns",
                "when it began, since the start of the process",
                |row: &Row<'_>| Some(row.it.start_ns),
            )
            .in_unit("ns"),
            Column::number("end_ns", "when it ended", |row: &Row<'_>| row.it.end_ns)
                .in_unit("ns")
                .null("it was open when the capture ended"),
            Column::number("duration_ns", "how long it took", |row: &Row<'_>| {
                Some(row.it.end_ns?.saturating_sub(row.it.start_ns))
            })
            .in_unit("ns")
            .null("it was open when the capture ended"),
            Column::text(
                "outcome",
                "`done`, `failed`, or `cut_off`: stopped before its end, or open when the capture ended",
                |row: &Row<'_>| Some(row.it.outcome.name()),
            ),
            Column::text(
                "parent",
                "name of the session that it is nested in",
                |row: &Row<'_>| row.process.session_name(row.it.parent),
            )
            .null("it is nested in none"),
            Column::number(
                "thread",
                "the thread that began it, by number in the process",
                |row: &Row<'_>| Some(u64::from(row.it.thread)),
            ),
            Column::number(
                "cpu_ns",
                "processor time of the whole process meanwhile",
                |row: &Row<'_>| Some(row.it.used?.process.cpu_ns),
            )
            .in_unit("ns")
            .null("it had not ended, or that was not read"),
            Column::number(
                "read_bytes",
                "fetched from storage by the whole process meanwhile",
                |row: &Row<'_>| row.it.used?.process.read_bytes,
            )
            .in_unit("B")
            .null("it had not ended, or that was not read"),
            Column::number(
                "written_bytes",
                "made by the whole process to be written to storage meanwhile",
                |row: &Row<'_>| row.it.used?.process.written_bytes,
            )
            .in_unit("B")
            .null("it had not ended, or that was not read"),
            Column::number(
                "resident_before_bytes",
                "resident memory of the process when it began",
                |row: &Row<'_>| row.it.used?.resident_before,
            )
            .in_unit("B")
            .null("it had not ended, or that was not read"),
            Column::number(
                "resident_after_bytes",
                "resident memory of the process when it ended",
                |row: &Row<'_>| row.it.used?.resident_after,
            )
            .in_unit("B")
            .null("it had not ended, or that was not read"),
            Column::made("tags", "the user's tags, a JSON object", |row: &Row<'_>| {
                json(&row.it.tags)
            })
            .null("there are none"),
        ]
    }
}

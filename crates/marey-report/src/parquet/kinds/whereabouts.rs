//! Columns that several tables have with one meaning: when it was, in which thread and section, for whom.

use crate::parquet::column::Column;

type Number<R> = fn(&R) -> Option<u64>;
type Text<R> = for<'r> fn(&'r R) -> Option<&'r str>;

pub(in crate::parquet) fn at_unix_ns<R>(get: Number<R>) -> Column<R> {
    on_the_wall_clock("at_unix_ns", "when, on the wall clock, since 1970", get)
}

/// A moment on the wall clock, which is not known where the start of the process is not.
pub(super) fn on_the_wall_clock<R>(
    name: &'static str,
    about: &'static str,
    get: Number<R>,
) -> Column<R> {
    Column::number(name, about, get)
        .in_unit("ns")
        .null("the start of the process is not known")
}

pub(in crate::parquet) fn at_ns<R>(get: Number<R>) -> Column<R> {
    Column::number("at_ns", "when, since the start of the process", get).in_unit("ns")
}

pub(in crate::parquet) fn thread<R>(get: Number<R>) -> Column<R> {
    Column::number("thread", "its thread, by number in the process", get)
}

pub(super) fn node<R>(get: Number<R>) -> Column<R> {
    Column::number("node", "its call path, by number in the process", get)
}

pub(super) fn path<R>(get: Text<R>) -> Column<R> {
    Column::text(
        "path",
        "names from the outermost section to this one, as in `sections`",
        get,
    )
}

/// Of what the program recorded for a session.
pub(in crate::parquet) fn recorded_for<R>(get: Text<R>) -> Column<R> {
    Column::text(
        "session",
        "name of the session that it was recorded for",
        get,
    )
    .null("it was recorded for none")
}

/// Of what is found to lie in a session.
pub(super) fn belongs_to<R>(get: Text<R>) -> Column<R> {
    Column::text("session", "name of the session that it belongs to", get)
        .null("it belongs to none, or it is not known to which")
}

//! What a run's document looks like in its formats, for tests of single facts.

use marey::Run;
use marey_report::{Cell, Report, Table, markdown_text, run_document};

/// The report in Markdown.
pub(crate) fn markdown(report: &Report) -> String {
    markdown_text(&run_document(report, None))
}

/// The table of this name.
pub(crate) fn table(run: &Run, key: &str) -> Option<Table> {
    let tables = run_document(&Report::new(run), None).into_tables();
    tables.into_iter().find(|table| table.key == key)
}

/// The row that begins with this name.
pub(crate) fn row(table: &Table, name: &str) -> Option<Vec<Cell>> {
    let is_its = |cell: &Cell| match cell {
        Cell::Name(text) | Cell::Text(text) | Cell::Nested(_, text) => text == name,
        _ => false,
    };
    let mut rows = table.rows.iter();
    rows.find(|row| row.first().is_some_and(is_its)).cloned()
}

/// The text with one blank between two words, however it was broken into lines and aligned.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of the text from this title to the next empty one.
#[track_caller]
pub(crate) fn block(text: &str, title: &str) -> String {
    let mut lines = text.lines().skip_while(|line| *line != title);
    let lines = lines.by_ref().take_while(|line| !line.is_empty());
    let block = lines.collect::<Vec<_>>().join("\n");
    assert!(!block.is_empty(), "{title}\n{text}");
    block
}

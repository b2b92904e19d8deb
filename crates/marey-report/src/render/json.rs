//! A table for programs: numbers without units, which are in the keys of its columns.

use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Cell, Column, Table};
use crate::escape;

#[derive(Serialize)]
struct Object<'a> {
    key: &'a str,
    title: &'a str,
    columns: &'a [Column],
    rows: Vec<Vec<Value>>,
    notes: &'a [String],
}

/// Key, title, columns, rows and notes as UTF-8 JSON, safe to print. What is not known is `null`.
pub fn table_json(table: &Table) -> String {
    let rows = table.rows.iter();
    let object = Object {
        key: table.key,
        title: &table.title,
        columns: &table.columns,
        rows: rows.map(|row| row.iter().map(value).collect()).collect(),
        notes: &table.notes,
    };
    // String keys and plain values always serialize.
    let text = serde_json::to_string_pretty(&object).unwrap_or_default();
    escape::json(&text).into_owned() + "\n"
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Absent => Value::Null,
        Cell::Text(text) | Cell::Name(text) | Cell::Nested(_, text) => json!(text),
        Cell::About(cell) | Cell::AtLeast(cell) => value(cell),
        Cell::Growth(difference) => json!(difference),
        Cell::Count(number)
        | Cell::Parameters(number)
        | Cell::Duration(number)
        | Cell::Moment(number)
        | Cell::Bytes(number) => json!(number),
        // Of a number that is not finite JSON makes null.
        Cell::Mean(number)
        | Cell::BytesPerSecond(number)
        | Cell::Ratio(number)
        | Cell::Number(number)
        | Cell::PerSecond(number)
        | Cell::Change(number) => json!(number),
        Cell::Path(path) => json!(path),
        Cell::Figure(figure) | Cell::Difference(figure) => json!(figure.value),
        Cell::ChangeBetween(low, high) => json!([low, high]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_what_is_not_known_is_null() {
        let mut table = Table::new("loops", "Loops", &[("name", "Loop"), ("mean_ns", "Mean")]);
        table.row(vec![Cell::name("a\u{1b}<b>"), Cell::Mean(1.5)]);
        table.row(vec![Cell::name("b"), Cell::Mean(f64::NAN)]);
        let text = table_json(&table);
        assert!(!text.contains(['\u{1b}', '<']), "{text}");
        let said: Value = serde_json::from_str(&text).unwrap();
        let columns =
            json!([{"key": "name", "title": "Loop"}, {"key": "mean_ns", "title": "Mean"}]);
        assert_eq!(said["columns"], columns);
        assert_eq!(said["rows"], json!([["a\u{1b}<b>", 1.5], ["b", null]]));
    }
}

//! A table for programs: numbers without units, which are in the keys of its columns.

use serde_json::{Value, json};

use crate::document::{Cell, Column, Table};
use crate::json::object::object;
use crate::json::{bytes_of, float_seconds, key, seconds};

/// Key, title, columns, rows and notes as UTF-8 JSON, safe to print. What is not known is `null`.
pub fn table_json(table: &Table) -> String {
    let columns = table.columns.iter();
    let columns = columns.map(|of| object! { key: key(of.key), title: of.title });
    let rows = table.rows.iter();
    let rows = rows.map(|row| row.iter().zip(&table.columns).map(in_column).collect());
    let object = object! {
        key: table.key,
        title: &table.title,
        columns: columns.collect::<Vec<_>>(),
        rows: rows.collect::<Vec<Vec<Value>>>(),
        notes: &table.notes,
    };
    String::from_utf8_lossy(&bytes_of(&object)).into_owned()
}

/// Of figures in units of their own the unit, as documents call it, is in a column.
fn in_column((cell, column): (&Cell, &Column)) -> Value {
    match cell {
        Cell::Text(unit) if column.key == "unit" && unit == "ns" => json!("seconds"),
        _ => value(cell),
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Absent => Value::Null,
        Cell::Text(text) | Cell::Name(text) | Cell::Nested(_, text) => json!(text),
        Cell::About(cell) | Cell::AtLeast(cell) => value(cell),
        Cell::Growth(difference) => json!(difference),
        Cell::Count(number)
        | Cell::Parameters(number)
        | Cell::Flops(number)
        | Cell::Bytes(number) => json!(number),
        Cell::Duration(ns) | Cell::Moment(ns) => json!(seconds(*ns)),
        Cell::Mean(ns) => json!(float_seconds(*ns)),
        // Of a number that is not finite JSON makes null.
        Cell::BytesPerSecond(number)
        | Cell::Ratio(number)
        | Cell::Number(number)
        | Cell::PerSecond(number)
        | Cell::FlopsPerSecond(number)
        | Cell::Change(number) => json!(number),
        Cell::Path(path) => json!(path),
        Cell::Figure(figure) | Cell::Difference(figure) => {
            json!(figure.value / figure.unit.in_documents().1)
        }
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
        table.row(vec![Cell::name("c"), Cell::Moment(123_456_789)]);
        let text = table_json(&table);
        assert!(!text.contains(['\u{1b}', '<']), "{text}");
        let said: Value = serde_json::from_str(&text).unwrap();
        let columns = json!([{"key": "name", "title": "Loop"}, {"key": "mean_s", "title": "Mean"}]);
        assert_eq!(said["columns"], columns);
        assert_eq!(
            said["rows"],
            json!([["a\u{1b}<b>", 1.5e-9], ["b", null], ["c", 0.123_456_789]])
        );
    }
}

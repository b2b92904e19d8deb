//! Tables of rows that are written as JSON: a column is a field of theirs, and the end of its name says the unit.

use marey_analysis::quantity::whole;
use serde::Serialize;
use serde_json::Value;

use super::table::{Cell, Table};

impl Table {
    /// A row for each of these things. Columns are fields of theirs, or of what they hold, each with its title: `"name: Name, total_ns:
    /// Total"`. What is none is absent until [`Table::shows`] says it.
    pub(crate) fn of_fields(
        key: &'static str,
        title: impl Into<String>,
        rows: impl IntoIterator<Item = impl Serialize>,
        columns: &'static str,
    ) -> Self {
        let columns = columns.split(',').filter_map(|column| column.trim().split_once(": "));
        let columns: Vec<(&str, &str)> = columns.collect();
        let mut table = Self::new(key, title, &columns);
        for row in rows {
            let Ok(Value::Object(fields)) = serde_json::to_value(row) else { continue };
            let held = |key: &str| fields.values().find_map(|inner| inner.get(key));
            let cells = columns.iter().map(|(key, _)| {
                let value = fields.get(*key).or_else(|| held(key));
                value.map_or(Cell::Absent, |value| cell(key, value))
            });
            table.row(cells.collect());
        }
        table
    }

    /// The same with these cells in a column, one for each of its rows.
    #[must_use]
    pub(crate) fn shows<T>(
        mut self,
        key: &str,
        rows: impl IntoIterator<Item = T>,
        shown: impl Fn(T) -> Cell,
    ) -> Self {
        if let Some(at) = self.columns.iter().position(|column| column.key == key) {
            for (cells, row) in self.rows.iter_mut().zip(rows) {
                cells[at] = shown(row);
            }
        }
        self
    }
}

/// Fields that hold one of several words of ours.
const WORDS: [&str; 7] = ["bound", "class", "host_memory", "kind", "path", "reasons", "role"];

fn cell(key: &str, value: &Value) -> Cell {
    match value {
        Value::Null | Value::Object(_) => Cell::Absent,
        Value::Bool(is) => Cell::text(if *is { "yes" } else { "no" }),
        Value::String(text) if WORDS.contains(&key) => Cell::Text(in_words(text)),
        Value::String(text) => Cell::text(text),
        Value::Array(texts) => {
            let texts = texts.iter().filter_map(Value::as_str).collect::<Vec<&str>>().join(", ");
            let texts = if WORDS.contains(&key) { in_words(&texts) } else { texts };
            Cell::known(Some(texts).filter(|texts| !texts.is_empty()), Cell::Text)
        }
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            let whole = number.as_u64().unwrap_or_else(|| whole(float.round()));
            match key {
                "rank" => Cell::Text(number.to_string()),
                "mean_ns" => Cell::Mean(float),
                _ if key.ends_with("start_ns") || key.ends_with("at_ns") => Cell::Moment(whole),
                _ if key.ends_with("_ns") => Cell::Duration(whole),
                _ if key.ends_with("ratio") => Cell::Ratio(float),
                "flops_per_byte" => Cell::Number((float * 10.0).round() / 10.0),
                _ if key.ends_with("flops_per_second") => Cell::FlopsPerSecond(float),
                _ if key.ends_with("flops") => Cell::Flops(whole),
                _ if key.ends_with("bytes_per_second") => Cell::BytesPerSecond(float),
                _ if key.ends_with("bytes") || key.starts_with("bytes_") => Cell::Bytes(whole),
                _ => Cell::Count(whole),
            }
        }
    }
}

fn in_words(name: &str) -> String {
    name.replace('_', " ")
}

/// The name that a value has in JSON.
pub(crate) fn name_of(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    let written = written.as_ref().and_then(|value| value.as_str());
    written.map(in_words).unwrap_or_default()
}

/// Likewise, as a cell; absent where it is `None`.
pub(crate) fn named(value: &impl Serialize) -> Cell {
    let name = Some(name_of(value)).filter(|name| !name.is_empty());
    Cell::known(name, Cell::Text)
}

//! A [`Table`] as programs read it: whole, and one where people see several of a kind.

use super::{Cell, Column, Table};

/// One table of several with the same key, none without one: columns in front say which file or job and which device a row is about, where
/// the tables say that. A name in a tree has its depth beside it, a figure in a unit of its own that unit. Columns that a table has not are
/// empty in its rows.
pub fn joined(tables: &[Table]) -> Option<Table> {
    let first = tables.first()?;
    let mut all = Columns::default();
    if let Some((kind, _)) = tables.iter().find_map(|table| table.origin.as_ref()) {
        all.at(kind, kind);
    }
    if tables.iter().any(|table| table.device.is_some()) {
        all.at("device", "Device");
    }
    let mut notes: Vec<String> = Vec::new();
    for table in tables {
        all.add(table);
        let new: Vec<&String> = table.notes.iter().filter(|n| !notes.contains(n)).collect();
        notes.extend(new.into_iter().cloned());
    }
    let title = match tables {
        [_] => &first.title,
        // Of several, each names its own device.
        _ => first.title.split(" · ").next().unwrap_or_default(),
    };
    let mut table = Table::new(first.key, title, &[]).limited(usize::MAX);
    table.notes = notes;
    (table.columns, table.rows) = all.into_rows();
    Some(table)
}

/// Cells by column.
#[derive(Default)]
struct Columns {
    each: Vec<(Column, Vec<Cell>)>,
    n_rows: usize,
}

impl Columns {
    /// The cells of the column of this key, as many as there are rows so far.
    fn at(&mut self, key: &'static str, title: &'static str) -> &mut Vec<Cell> {
        let known = self.each.iter().position(|(column, _)| column.key == key);
        let at = known.unwrap_or(self.each.len());
        if known.is_none() {
            self.each.push((Column { key, title }, Vec::new()));
        }
        let cells = &mut self.each[at].1;
        cells.resize(self.n_rows, Cell::Absent);
        cells
    }

    fn add(&mut self, table: &Table) {
        let n = table.rows.len();
        let all = |text: &String| std::iter::repeat_n(Cell::Text(text.clone()), n);
        if let Some((kind, name)) = &table.origin {
            self.at(kind, kind).extend(all(name));
        }
        if let Some(device) = &table.device {
            self.at("device", "Device").extend(all(device));
        }
        for (at, Column { key, title }) in table.columns.iter().enumerate() {
            let cells = || table.rows.iter().filter_map(|row| row.get(at));
            if cells().any(|cell| depth(cell).is_some()) {
                let depths = cells().map(|cell| Cell::known(depth(cell), Cell::Count));
                self.at("depth", "Depth").extend(depths);
            }
            let has_units = cells().any(|cell| matches!(cell, Cell::Figure(_)));
            if has_units && self.at("unit", "Unit").len() == self.n_rows {
                self.at("unit", "Unit").extend(cells().map(unit));
            }
            self.at(key, title).extend(cells().cloned());
        }
        self.n_rows += n;
    }

    fn into_rows(mut self) -> (Vec<Column>, Vec<Vec<Cell>>) {
        let mut rows = vec![Vec::with_capacity(self.each.len()); self.n_rows];
        for (_, cells) in &mut self.each {
            cells.resize(self.n_rows, Cell::Absent);
            for (row, cell) in rows.iter_mut().zip(cells.drain(..)) {
                row.push(cell);
            }
        }
        (self.each.into_iter().map(|(column, _)| column).collect(), rows)
    }
}

fn depth(cell: &Cell) -> Option<u64> {
    match cell {
        Cell::Nested(depth, _) => Some((*depth).into()),
        _ => None,
    }
}

fn unit(cell: &Cell) -> Cell {
    match cell {
        Cell::Figure(figure) => match serde_json::to_value(figure.unit) {
            Ok(serde_json::Value::String(unit)) => Cell::Text(unit),
            _ => Cell::Absent,
        },
        _ => Cell::Absent,
    }
}

#[cfg(test)]
mod tests {
    use marey_analysis::findings::{Figure, FigureUnit};

    use super::*;

    #[test]
    fn tables_of_one_key_are_one_with_what_tells_their_rows_apart() {
        let mut a = Table::new("kernels", "Kernels · GPU 0", &[("name", "Name")]).of("file", "a");
        a.device = Some("GPU 0".into());
        a.row(vec![Cell::text("k")]);
        a.notes = vec!["once".into()];
        let mut b = Table::new("kernels", "Kernels", &[("n", "N"), ("name", "Name")]);
        b.origin = Some(("file", "b".into()));
        b.row(vec![Cell::Count(1), Cell::text("l")]);
        b.notes = vec!["once".into()];
        let joined = joined(&[a, b]).unwrap();
        let keys: Vec<&str> = joined.columns.iter().map(|column| column.key).collect();
        assert_eq!(keys, ["file", "device", "name", "n"]);
        let text = |text: &str| Cell::text(text);
        let first = [text("a"), text("GPU 0"), text("k"), Cell::Absent];
        assert_eq!(joined.rows[0], first);
        let second = [text("b"), Cell::Absent, text("l"), Cell::Count(1)];
        assert_eq!(joined.rows[1], second);
        assert_eq!((joined.title.as_str(), joined.notes.len()), ("Kernels", 1));
    }

    #[test]
    fn what_people_see_at_a_cell_has_a_column() {
        let mut table = Table::new("t", "T", &[("a", "A"), ("mean", "Mean"), ("peak", "Peak")]);
        let figure = |value| Cell::Figure(Figure { value, unit: FigureUnit::Watts });
        table.row(vec![Cell::Nested(2, "x".into()), figure(1.0), figure(2.0)]);
        let joined = joined(&[table]).unwrap();
        let keys: Vec<&str> = joined.columns.iter().map(|column| column.key).collect();
        assert_eq!(keys, ["depth", "a", "unit", "mean", "peak"]);
        assert_eq!(joined.rows[0][0], Cell::Count(2));
        assert_eq!(joined.rows[0][2], Cell::text("watts"));
        assert_eq!(super::joined(&[]), None);
    }
}

//! A [`Table`] for spreadsheets and programs: RFC 4180, UTF-8, figures without units, which are in the headers.

use crate::model::{Cell, Table};

/// All rows under the keys of the columns. What is not known is empty. Lines end with CR LF.
///
/// Texts that a spreadsheet would take for a formula begin with an apostrophe.
pub fn table_csv(table: &Table) -> String {
    let headers = table.columns.iter().map(|column| column.key.to_owned());
    let mut text = line(headers);
    for row in &table.rows {
        text.push_str(&line(row.iter().map(written)));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Absent => String::new(),
        Cell::Text(text) => quoted(text),
        Cell::Count(number)
        | Cell::Duration(number)
        | Cell::Moment(number)
        | Cell::Bytes(number) => number.to_string(),
        Cell::Mean(number)
        | Cell::BytesPerSecond(number)
        | Cell::Ratio(number)
        | Cell::Number(number) => number.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_cell_is_quoted_and_nothing_is_a_formula() {
        let mut table = Table::new(
            "kernels",
            "Kernels",
            &[("name", "Name"), ("total_ns", "Total")],
        );
        table.row(vec![Cell::text("gemm<float, 2>"), Cell::Duration(1_500)]);
        table.row(vec![Cell::text("a \"b\"\n"), Cell::Absent]);
        table.row(vec![Cell::text("=1+1"), Cell::Ratio(0.25)]);
        let expected =
            "name,total_ns\r\n\"gemm<float, 2>\",1500\r\n\"a \"\"b\"\"\n\",\r\n'=1+1,0.25\r\n";
        assert_eq!(table_csv(&table), expected);
    }
}

//! A table for spreadsheets and programs: RFC 4180, UTF-8, figures without units, which are in the headers.

use marey_analysis::findings::Figure;

use crate::document::{Cell, Table};

/// The header and all rows. What is not known is empty. Lines end with CR LF. Texts that a spreadsheet would take for a formula begin with
/// an apostrophe.
pub fn csv(table: &Table) -> String {
    let header = line(table.columns.iter().map(|column| column.key.to_owned()));
    let rows = table.rows.iter().map(|row| line(row.iter().map(written)));
    header + &rows.collect::<String>()
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Name(text) | Cell::Nested(_, text) => quoted(text),
        Cell::Path(path) => quoted(&path.join(" / ")),
        Cell::About(cell) | Cell::AtLeast(cell) => written(cell),
        Cell::Growth(difference) => difference.to_string(),
        Cell::Count(number)
        | Cell::Parameters(number)
        | Cell::Flops(number)
        | Cell::Duration(number)
        | Cell::Moment(number)
        | Cell::Bytes(number) => number.to_string(),
        Cell::Mean(number)
        | Cell::BytesPerSecond(number)
        | Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Number(number)
        | Cell::PerSecond(number)
        | Cell::FlopsPerSecond(number)
        | Cell::Figure(Figure { value: number, .. })
        | Cell::Difference(Figure { value: number, .. }) => {
            // Of what is no number nothing is written.
            if number.is_finite() { number.to_string() } else { String::new() }
        }
        Cell::Absent | Cell::ChangeBetween(..) => String::new(),
    }
}

fn quoted(text: &str) -> String {
    // A program reads it, and so may a terminal: control codes are spelled out.
    let text = crate::escape::visible(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula { format!("'{text}") } else { text };
    if text.contains([',', '"']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_cell_is_quoted_and_nothing_is_a_formula() {
        let columns = [("name", "Name"), ("total_ns", "Total")];
        let mut table = Table::new("kernels", "Kernels", &columns);
        table.row(vec![Cell::text("gemm<float, 2>"), Cell::Duration(1_500)]);
        table.row(vec![Cell::text("a \"b\"\n\x1b["), Cell::Absent]);
        table.row(vec![Cell::text("=1+1"), Cell::Ratio(0.25)]);
        table.row(vec![Cell::text("</script>"), Cell::Mean(f64::NAN)]);
        let expected = [
            "name,total_ns\r\n",
            "\"gemm<float, 2>\",1500\r\n",
            "\"a \"\"b\"\"\\x0a\\x1b[\",\r\n",
            "'=1+1,0.25\r\n",
            "</script>,\r\n",
        ];
        assert_eq!(csv(&table), expected.concat());
    }
}

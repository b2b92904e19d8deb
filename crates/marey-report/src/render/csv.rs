//! Tables for spreadsheets and programs: RFC 4180, UTF-8, figures without units, which are in the headers.

use marey_analysis::findings::Figure;

use crate::document::{Cell, Column, Table};
use crate::model::{TraceFile, TraceRanks};
use crate::trace_report::{all_rank_tables, file_tables};

/// One table of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvTable {
    /// What the file is called, without its ending: `kernels`.
    pub key: &'static str,
    /// Its lines.
    pub text: String,
}

/// Every table of these files, each once: its rows say first which file, and which device, they are
/// about. What is about all ranks together has no file.
pub fn trace_csv(files: &[TraceFile], ranks: Option<&TraceRanks>) -> Vec<CsvTable> {
    let of_files = files.iter().map(|file| (&*file.file, file_tables(file)));
    let of_ranks = ranks.map(|ranks| ("", all_rank_tables(ranks)));
    let mut all: Vec<(CsvTable, Vec<Column>)> = Vec::new();
    for (file, tables) in of_files.chain(of_ranks) {
        for table in tables {
            let known = all.iter().position(|(csv, _)| csv.key == table.key);
            let at = known.unwrap_or_else(|| {
                all.push((started(&table), table.columns.clone()));
                all.len() - 1
            });
            if let Some((csv, columns)) = all.get_mut(at) {
                debug_assert_eq!(*columns, table.columns);
                csv.text.push_str(&rows(file, &table));
            }
        }
    }
    all.into_iter().map(|(csv, _)| csv).collect()
}

fn started(table: &Table) -> CsvTable {
    let about = ["file"]
        .into_iter()
        .chain(table.device.as_ref().map(|_| "device"));
    let own = table.columns.iter().map(|column| column.key);
    CsvTable {
        key: table.key,
        text: line(about.chain(own).map(str::to_owned)),
    }
}

/// All rows. What is not known is empty. Lines end with CR LF. Texts that a spreadsheet would take for a formula begin with an
/// apostrophe.
fn rows(file: &str, table: &Table) -> String {
    let about = || [file].into_iter().chain(table.device.as_deref());
    let lines = table.rows.iter();
    let lines = lines.map(|row| line(about().map(quoted).chain(row.iter().map(written))));
    lines.collect()
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\r\n"
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Nested(_, text) => quoted(text),
        Cell::Path(path) => quoted(&path.join(" / ")),
        Cell::About(cell) | Cell::AtLeast(cell) => written(cell),
        Cell::Growth(difference) => difference.to_string(),
        Cell::Count(number)
        | Cell::Duration(number)
        | Cell::Moment(number)
        | Cell::Bytes(number) => number.to_string(),
        Cell::Mean(number)
        | Cell::BytesPerSecond(number)
        | Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Number(number)
        | Cell::Figure(Figure { value: number, .. })
        | Cell::Difference(Figure { value: number, .. })
            if number.is_finite() =>
        {
            number.to_string()
        }
        // Not known, or none.
        Cell::Absent
        | Cell::Mean(_)
        | Cell::BytesPerSecond(_)
        | Cell::Ratio(_)
        | Cell::Change(_)
        | Cell::ChangeBetween(..)
        | Cell::Figure(_)
        | Cell::Difference(_)
        | Cell::Number(_) => String::new(),
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
        table.device = Some("GPU 0".into());
        table.row(vec![Cell::text("gemm<float, 2>"), Cell::Duration(1_500)]);
        table.row(vec![Cell::text("a \"b\"\n\x1b["), Cell::Absent]);
        table.row(vec![Cell::text("=1+1"), Cell::Ratio(0.25)]);
        table.row(vec![Cell::text("</script>"), Cell::Mean(f64::NAN)]);
        let expected = [
            "a.json,GPU 0,\"gemm<float, 2>\",1500\r\n",
            "a.json,GPU 0,\"a \"\"b\"\"\\x0a\\x1b[\",\r\n",
            "a.json,GPU 0,'=1+1,0.25\r\n",
            "a.json,GPU 0,</script>,\r\n",
        ];
        assert_eq!(started(&table).text, "file,device,name,total_ns\r\n");
        assert_eq!(rows("a.json", &table), expected.concat());
    }
}

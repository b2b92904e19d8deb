//! A document on a terminal, and in a file of text.

use crate::document::{Block, Document, Facts, ListedFinding, ListedFindings, ShownTable, Table};
use crate::escape::{cut, visible};
use crate::width::{columns, pad_end, pad_start, without_middle, wrapped};

/// Columns of sentences, where the terminal has no fewer.
const WIDTH: usize = 100;
/// A sentence may hold a name of any length.
const SENTENCE_WIDTH: usize = 400;
/// Columns of the severity before each finding.
const INDENT: usize = 8;
/// Least columns of a text that is cut so that its table fits.
const LEAST_TEXT: usize = 21;
/// Columns between two cells.
const GAP: usize = 2;

/// The blocks with an empty line in between; of each table the rows up to its limit. No line is wider than `width`, where one is given: texts
/// lose their middle, then columns move below the others. Ends with a line feed.
pub fn text(document: &Document, width: Option<usize>) -> String {
    let blocks = document.blocks.iter().map(|block| text_of(block, width));
    let blocks: Vec<String> = blocks.filter(|text| !text.is_empty()).collect();
    blocks.join("\n")
}

fn text_of(block: &Block, width: Option<usize>) -> String {
    let narrow = width.unwrap_or(WIDTH).min(WIDTH);
    match block {
        Block::Title(title) => ruled(&cut(title, SENTENCE_WIDTH), narrow),
        Block::Facts(facts) => lines(&facts_lines(facts, narrow)),
        Block::Findings(findings) => lines(&findings_lines(findings, narrow)),
        Block::Table(table) => lines(&table_lines(table, width)),
        Block::Text(text) => lines(&wrapped(&visible(text), narrow)),
        Block::Verbatim(text) => text.clone(),
        Block::Aside(title, blocks) => {
            let blocks = blocks.iter().map(|block| text_of(block, width));
            let title = visible(title).to_uppercase() + "\n";
            std::iter::once(title).chain(blocks).collect::<String>()
        }
    }
}

fn lines(lines: &[String]) -> String {
    let ended = lines.iter().map(|line| line.trim_end().to_owned() + "\n");
    ended.collect()
}

/// A title between rules.
fn ruled(title: &str, width: usize) -> String {
    let rule = "=".repeat(width);
    format!("{rule}\n{title}\n{rule}\n")
}

/// A column of labels and one of sentences; a list where there are no labels.
fn facts_lines(facts: &Facts, width: usize) -> Vec<String> {
    let title = facts.title.iter().map(|title| visible(title).to_uppercase());
    let mut lines: Vec<String> = title.collect();
    let labels: Vec<String> = facts.rows.iter().map(|(label, _)| visible(label)).collect();
    let label_width = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
    let is_list = label_width == 0;
    let mut last = "";
    for (label, (_, sentence)) in labels.iter().zip(&facts.rows) {
        let left = width.saturating_sub(label_width + GAP).max(LEAST_TEXT);
        for (at, line) in wrapped(&cut(sentence, SENTENCE_WIDTH), left).iter().enumerate() {
            let shown = if at == 0 && label != last { label } else { "" };
            let before = if at == 0 && is_list { "- " } else { "  " };
            lines.push(format!("{}{before}{line}", pad_end(shown, label_width)));
        }
        last = label;
    }
    lines
}

fn findings_lines(all: &ListedFindings, width: usize) -> Vec<String> {
    if all.found.is_empty() {
        return wrapped(
            &cut(&format!("Rules found nothing; {}", all.checks), SENTENCE_WIDTH),
            width,
        );
    }
    let mut lines = vec!["FINDINGS".to_owned()];
    let (first, n_more) = all.first();
    lines.extend(first.iter().flat_map(|found| finding_lines(found, width)));
    if n_more > 0 {
        lines.push(format!("… and {n_more} more"));
    }
    lines.extend(wrapped(&all.checks, width));
    lines
}

/// Severity and issue, then figures, place, remedy and saving, all wrapped and indented.
fn finding_lines(found: &ListedFinding, width: usize) -> Vec<String> {
    let place = found.place.iter().map(|place| format!("Where: {place}"));
    let saving = found.saving.iter().map(|saving| format!("Saves {saving}"));
    let texts = [found.issue.clone(), found.evidence.clone()];
    let texts = texts.into_iter().chain(place).chain([found.remedy.clone()]).chain(saving);
    let left = width.saturating_sub(INDENT).max(LEAST_TEXT);
    let texts = texts.filter(|text| !text.is_empty());
    let mut before = found.severity.to_uppercase();
    let mut lines = Vec::new();
    for line in texts.flat_map(|text| wrapped(&cut(&text, SENTENCE_WIDTH), left)) {
        lines.push(pad_end(&std::mem::take(&mut before), INDENT) + &line);
    }
    lines.push(String::new());
    lines
}

/// Title, header, rule, rows and notes; several times where not all columns fit.
fn table_lines(table: &Table, width: Option<usize>) -> Vec<String> {
    let shown = Shown::new(table, width);
    let title = Some(visible(&table.title)).filter(|title| !title.is_empty());
    let mut lines: Vec<String> = title.iter().map(|title| title.to_uppercase()).collect();
    for part in shown.parts(width) {
        lines.extend(shown.lines(&part));
    }
    lines.extend(shown.cells.more());
    let notes_width = width.unwrap_or(usize::MAX).min(shown.width().max(WIDTH));
    let notes = table.notes.iter();
    lines.extend(notes.flat_map(|note| wrapped(&visible(note), notes_width)));
    lines
}

/// The cells of a table as texts, and how wide each column is.
struct Shown {
    cells: ShownTable,
    widths: Vec<usize>,
}

impl Shown {
    fn new(table: &Table, width: Option<usize>) -> Self {
        let cells = ShownTable::new(table, table.limit);
        let mut shown = Self { cells, widths: Vec::new() };
        shown.measure();
        if let Some(width) = width {
            shown.shorten(width);
        }
        shown
    }

    fn measure(&mut self) {
        let widest = |at: usize, title: &String| {
            let cells = self.cells.rows.iter().filter_map(|row| row.get(at));
            cells.chain([title]).map(|cell| columns(cell)).max().unwrap_or(0)
        };
        let titles = self.cells.titles.iter().enumerate();
        self.widths = titles.map(|(at, title)| widest(at, title)).collect();
    }

    fn width(&self) -> usize {
        self.widths.iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Texts lose their middle, the widest column first, so far that all columns fit beside each other, or where that cannot be, any two.
    fn shorten(&mut self, width: usize) {
        let least = self.widths.iter().zip(&self.cells.is_text);
        let least: usize = least
            .map(|(own, is_text)| GAP + if *is_text { LEAST_TEXT.min(*own) } else { *own })
            .sum();
        let each = (least > width + GAP).then(|| (width / 2).saturating_sub(GAP));
        let each = each.unwrap_or(0).max(LEAST_TEXT);
        while self.width() > width {
            let texts = (0..self.widths.len()).filter(|at| self.cells.is_text[*at]);
            let Some(widest) = texts.max_by_key(|at| self.widths[*at]) else {
                return;
            };
            let too_much = self.width() - width;
            let less = self.widths[widest].saturating_sub(too_much).max(each);
            if less >= self.widths[widest] {
                return;
            }
            for row in &mut self.cells.rows {
                if let Some(cell) = row.get_mut(widest) {
                    *cell = without_middle(cell, less);
                }
            }
            self.cells.titles[widest] = without_middle(&self.cells.titles[widest], less);
            self.measure();
        }
    }

    /// The columns that stand beside each other: the first one with as many others as fit.
    fn parts(&self, width: Option<usize>) -> Vec<Vec<usize>> {
        let width = width.unwrap_or(usize::MAX);
        let first = self.widths.first().copied().unwrap_or(0);
        let mut parts = vec![vec![0]];
        let mut taken = first;
        for (at, own) in self.widths.iter().enumerate().skip(1) {
            let part = parts.len() - 1;
            if taken + GAP + own > width && parts[part].len() > 1 {
                parts.push(vec![0, at]);
                taken = first + GAP + own;
            } else {
                parts[part].push(at);
                taken += GAP + own;
            }
        }
        parts
    }

    fn lines(&self, part: &[usize]) -> Vec<String> {
        let header = self.line(&self.cells.titles, part);
        let rule = "-".repeat(columns(&header));
        let rows = self.cells.rows.iter().map(|row| self.line(row, part));
        [header, rule].into_iter().chain(rows).collect()
    }

    fn line(&self, cells: &[String], part: &[usize]) -> String {
        let padded = part.iter().filter_map(|at| {
            let (cell, width) = (cells.get(*at)?, *self.widths.get(*at)?);
            let is_text = self.cells.is_text.get(*at)?;
            Some(if *is_text { pad_end(cell, width) } else { pad_start(cell, width) })
        });
        padded.collect::<Vec<_>>().join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Cell;

    fn shown(name: &str, n_figures: usize, width: usize) -> Vec<String> {
        let figures = (0..n_figures).map(|_| ("ns", "Duration"));
        let columns: Vec<_> = [("name", "Name")].into_iter().chain(figures).collect();
        let mut table = Table::new("t", "T", &columns);
        let figures = (0..n_figures).map(|_| Cell::Duration(1));
        table.row([Cell::name(name)].into_iter().chain(figures).collect());
        let lines = table_lines(&table, Some(width));
        let is_within = |line: &String| crate::width::columns(line) <= width;
        assert!(lines.iter().all(is_within), "{lines:#?}");
        lines
    }

    #[test]
    fn a_name_loses_its_middle_where_that_keeps_columns_beside_each_other() {
        let name = "a section with a name of forty-two columns";
        let lines = shown(name, 3, 60);
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert!(lines[3].contains("a section") && !lines[3].contains(name));
        // Five of them cannot stand there: the name is whole, and they stand below.
        let lines = shown("a section of 26 columns ..", 5, 60);
        assert_eq!(
            lines.iter().filter(|line| line.starts_with("a section of 26 columns ..")).count(),
            2
        );
    }
}

//! A document in Markdown, for pull requests, issues and wikis. A table can be read as plain text, too.

use crate::document::{Block, Document, Facts, ListedFinding, ListedFindings, ShownTable, Table};
use crate::escape::{cut, markdown, markdown_code, visible};
use crate::quantity::UNKNOWN;
use crate::width::{columns, pad_end, pad_start};

/// What GitHub takes as a comment are 65 536 characters: below that there is room for a few words around it.
const MAX_BYTES: usize = 60_000;
/// Rows of each table, of these the first with which a document is short enough.
const ROWS: [usize; 5] = [usize::MAX, 50, 25, 10, 3];
/// A sentence may hold a name of any length.
const SENTENCE_WIDTH: usize = 480;
/// What Markdown needs at least: `---`, or `--:`.
const MIN_WIDTH: usize = 3;

/// The blocks, below 60 kB: tables are as long as their limits and that allow, and what comes last goes first. Ends with a line feed.
pub fn markdown_text(document: &Document) -> String {
    let mut shortest = Vec::new();
    for rows in ROWS {
        let blocks = document.blocks.iter().map(|block| block_of(block, rows));
        shortest = blocks.filter(|block| !block.is_empty()).collect();
        if length(&shortest) < MAX_BYTES {
            break;
        }
    }
    // Whole blocks from the end, so that what is left is still whole.
    while shortest.len() > 1 && length(&shortest) >= MAX_BYTES {
        shortest.pop();
    }
    shortest.join("\n")
}

fn length(blocks: &[String]) -> usize {
    blocks.iter().map(|block| block.len() + 1).sum()
}

fn block_of(block: &Block, rows: usize) -> String {
    match block {
        Block::Title(title) => format!("## {}\n", sentence(title)),
        Block::Facts(facts) => facts_list(facts),
        Block::Findings(findings) => findings_list(findings),
        Block::Table(table) => table_of(table, rows),
        Block::Text(text) => sentence(text) + "\n",
        // Lines of a terminal, which nothing in them ends.
        Block::Verbatim(text) => format!("````text\n{text}````\n"),
        Block::Aside(title, blocks) => {
            let blocks: Vec<String> = blocks.iter().map(|block| block_of(block, rows)).collect();
            format!(
                "<details><summary>{}</summary>\n\n{}\n</details>\n",
                sentence(title),
                blocks.join("\n")
            )
        }
    }
}

fn sentence(text: &str) -> String {
    markdown(&cut(text, SENTENCE_WIDTH))
}

fn facts_list(facts: &Facts) -> String {
    let title = facts.title.iter().map(|title| format!("### {}\n\n", sentence(title)));
    let rows = facts.rows.iter().map(|(label, text)| match label.as_str() {
        "" => format!("- {}\n", sentence(text)),
        label => format!("- {}: {}\n", sentence(label), sentence(text)),
    });
    title.chain(rows).collect()
}

fn findings_list(all: &ListedFindings) -> String {
    let (first, n_more) = all.first();
    let mut lines: Vec<String> = first.iter().map(finding).collect();
    if first.is_empty() {
        lines.push("Nothing was found.".into());
    }
    if n_more > 0 {
        lines.push(format!("- … and {n_more} more"));
    }
    format!("### Findings\n\n{}\n\n{}.\n", lines.join("\n"), sentence(&all.checks))
}

fn finding(found: &ListedFinding) -> String {
    let evidence = Some(&found.evidence).filter(|text| !text.is_empty());
    let parts = [
        Some(found.issue.trim_end_matches('.').to_owned() + "."),
        evidence.map(|text| format!("{text}.")),
        found.place.as_ref().map(|place| format!("Where: {place}.")),
        Some(found.remedy.clone()),
        found.saving.as_ref().map(|saving| format!("Saves {saving}.")),
    ];
    let parts: Vec<String> = parts.iter().flatten().map(|text| sentence(text)).collect();
    format!("- **{}**: {}", found.severity, parts.join(" "))
}

/// A heading, the first rows, how many there are more, notes.
fn table_of(table: &Table, rows: usize) -> String {
    let shown = ShownTable::new(table, table.limit.min(rows));
    let mut cells = vec![shown.titles.clone()];
    let escaped = |row: &Vec<String>| {
        let row = row.iter().zip(&shown.is_name);
        row.map(|(cell, is_name)| safe(cell, *is_name)).collect()
    };
    cells.extend(shown.rows.iter().map(escaped));
    let title = Some(sentence(&table.title)).filter(|title| !title.is_empty());
    let mut parts: Vec<String> = title.map(|title| format!("### {title}\n")).into_iter().collect();
    parts.push(grid(&shown.is_text, &cells));
    parts.extend(shown.more().map(|more| format!("{more}\n")));
    let notes = table.notes.iter();
    parts.extend(notes.map(|note| markdown(&visible(note)) + "\n"));
    parts.join("\n")
}

/// What is visible already, but not what Markdown acts on. Names are code: nobody is mentioned by one. Blanks in front would be lost.
fn safe(cell: &str, is_name: bool) -> String {
    let text = cell.trim_start_matches(' ');
    let blanks = "&nbsp;".repeat(cell.len() - text.len());
    if is_name && text != UNKNOWN {
        return blanks + &markdown_code(text);
    }
    blanks + &markdown(text)
}

/// Texts to the left, figures to the right.
fn grid(is_text: &[bool], rows: &[Vec<String>]) -> String {
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| columns(cell)).max().unwrap_or(0).max(MIN_WIDTH)
    };
    let widths: Vec<usize> = (0..is_text.len()).map(widest).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(is_text);
        let cells =
            cells.map(
                |((cell, width), is_text)| {
                    if *is_text { pad_end(cell, *width) } else { pad_start(cell, *width) }
                },
            );
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rules = widths.iter().zip(is_text).map(|(width, is_text)| {
        if *is_text { "-".repeat(*width) } else { "-".repeat(width - 1) + ":" }
    });
    let rule = format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
    let mut lines = rows.iter().map(line);
    let header = lines.next().unwrap_or_default();
    header + &rule + &lines.collect::<String>()
}

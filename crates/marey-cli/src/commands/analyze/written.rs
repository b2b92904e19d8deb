//! What was read, in the format and at the place that were asked for.

use std::io::stdout;
use std::path::Path;

use anyhow::bail;
use marey_report::{
    Document, FirstScreen, SnapshotFile, TraceFile, TraceRanks, all_rank_tables, document_text,
    html_snapshots, markdown_text, ranks_document, snapshot_document, snapshot_json,
    snapshot_tables, trace_document, trace_file_tables, trace_json,
};

use super::inputs::Input;
use super::read::Said;
use super::{Arguments, Format};
use crate::commands::{ROWS, show_paths};
use crate::console::Console;
use crate::first_screen;
use crate::run_folder::{replace_named, trace_page};
use crate::tables::{TableFormat, Tables};
use crate::terminal_width::terminal_width;

pub(super) fn write(
    arguments: &Arguments,
    inputs: &[Input],
    said: &[Said],
    ranks: Option<&TraceRanks>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let is_file = arguments.output.is_some();
    let width = terminal_width(&stdout()).filter(|_| !is_file);
    let document = match (&arguments.table, arguments.format()) {
        (Some(name), format) => {
            let rows = arguments.rows.unwrap_or(usize::MAX);
            tables(said, ranks).named(name, TableFormat::of(&format, width)?, rows)?
        }
        (None, Format::Html) => return html(arguments, inputs, (said, ranks), console),
        (None, Format::Csv) => {
            let written = tables(said, ranks).write_csv(arguments.output.as_deref())?;
            return show_paths(&written, console);
        }
        (None, Format::Json) if arguments.brief => {
            let screens = said.iter().filter_map(screen);
            screens.map(|screen| screen.json()).collect()
        }
        (None, Format::Text) if !arguments.full && !arguments.is_of_part() => {
            first_screens(arguments, said, ranks)
        }
        (None, Format::Text) => document_text(&document(arguments, said, ranks), width),
        (None, Format::Markdown) => markdown_text(&document(arguments, said, ranks)),
        (None, Format::Json) => String::from_utf8_lossy(&json(said, ranks)).into_owned(),
    };
    match &arguments.output {
        Some(path) => show_paths(&[replace_named(path.clone(), document.as_bytes())?], console),
        None => Ok(console.show(&document)?),
    }
}

/// The screen of each file that was read, one after the other, or all of it where it has none; then what ranks say together.
fn first_screens(arguments: &Arguments, said: &[Said], ranks: Option<&TraceRanks>) -> String {
    let out = arguments.output.is_none().then(stdout);
    let width = out.as_ref().and_then(terminal_width);
    let read = said.iter().filter(|said| said.problem().is_none());
    let files = read.map(|said| match screen(said) {
        Some(screen) => first_screen::text(&screen, arguments.color, out.as_ref()),
        None => document_text(&of_file(arguments, said), width),
    });
    let ranks = ranks.map(|ranks| document_text(&ranks_document(ranks, ROWS), width));
    files.chain(ranks).collect::<Vec<_>>().join("\n")
}

fn screen(said: &Said) -> Option<FirstScreen> {
    match said {
        Said::Trace(file, _) => FirstScreen::of_trace(file),
        Said::Snapshot(file, _) => FirstScreen::of_snapshot(file),
    }
}

/// Refuses to write over what is about to be read.
pub(super) fn keep_inputs(arguments: &Arguments, inputs: &[Input]) -> anyhow::Result<()> {
    let Some(output) = arguments.output.as_ref() else {
        return Ok(());
    };
    let place = output.canonicalize().ok();
    let is_output = |input: &&Input| place.is_some() && input.path.canonicalize().ok() == place;
    if inputs.iter().any(|input| is_output(&input)) {
        bail!("{} is one of the files to read; name another one for --output", output.display());
    }
    Ok(())
}

/// Every table of each file that was read, and of what ranks say together.
fn tables(said: &[Said], ranks: Option<&TraceRanks>) -> Tables {
    let read = said.iter().filter(|said| said.problem().is_none());
    let of_files = read.flat_map(|said| match said {
        Said::Trace(file, _) => trace_file_tables(file),
        Said::Snapshot(file, _) => snapshot_tables(file),
    });
    Tables::new(of_files.chain(ranks.into_iter().flat_map(all_rank_tables)))
}

fn of_file(arguments: &Arguments, said: &Said) -> Document {
    let rows = arguments.rows.unwrap_or(ROWS);
    match said {
        Said::Trace(file, _) => trace_document(file, rows, arguments.full),
        Said::Snapshot(file, _) => snapshot_document(file),
    }
}

/// Each file that was read, one after the other, then what ranks say together.
fn document(arguments: &Arguments, said: &[Said], ranks: Option<&TraceRanks>) -> Document {
    let rows = arguments.rows.unwrap_or(ROWS);
    let read = said.iter().filter(|said| said.problem().is_none());
    let files = read.map(|said| of_file(arguments, said));
    let together = ranks.map(|ranks| ranks_document(ranks, rows));
    let blocks = files.chain(together).flat_map(|document| document.blocks);
    Document::from(blocks.collect::<Vec<_>>())
}

/// A memory snapshot by itself has a document of its own.
fn json(said: &[Said], ranks: Option<&TraceRanks>) -> Vec<u8> {
    if let [Said::Snapshot(file, _)] = said {
        return snapshot_json(file);
    }
    let (traces, snapshots) = files(said);
    trace_json(&traces, ranks, &snapshots)
}

/// Traces and memory snapshots, also those that could not be read.
fn files(said: &[Said]) -> (Vec<TraceFile>, Vec<SnapshotFile>) {
    let (mut traces, mut snapshots) = (Vec::new(), Vec::new());
    for one in said {
        match one {
            Said::Trace(file, _) => traces.push((**file).clone()),
            Said::Snapshot(file, _) => snapshots.push((**file).clone()),
        }
    }
    (traces, snapshots)
}

/// The page of all files, with the timeline of the first trace that could be read; that of memory snapshots where there is none.
fn html(
    arguments: &Arguments,
    inputs: &[Input],
    (said, ranks): (&[Said], Option<&TraceRanks>),
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let is_read = |said: &Said| matches!(said, Said::Trace(..)) && said.problem().is_none();
    let mut each = inputs.iter().zip(said);
    let first = each.find(|(_, said)| is_read(said));
    let (traces, snapshots) = files(said);
    match first {
        Some((first, _)) => {
            let page = trace_page(&traces, ranks, &snapshots, &first.path)?;
            show_page(arguments, "trace.html", &page, console)
        }
        None => show_page(arguments, "snapshot.html", &html_snapshots(&snapshots), console),
    }
}

/// Writes a page, by itself under this name.
fn show_page(
    arguments: &Arguments,
    name: &str,
    page: &[u8],
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let output = arguments.output.as_deref();
    let output = output.unwrap_or_else(|| Path::new(name));
    show_paths(&[replace_named(output.to_owned(), page)?], console)
}

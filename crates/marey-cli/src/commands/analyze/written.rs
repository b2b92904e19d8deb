//! What was read, in the format and at the place that were asked for.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_report::{
    CsvTable, Document, TraceFile, TraceRanks, document_text, escape, markdown_text,
    ranks_document, snapshot_document, snapshot_json, trace_csv, trace_document, trace_json,
};

use super::inputs::Input;
use super::read::Said;
use super::{Arguments, Format};
use crate::console::Console;
use crate::run_folder::{replace_named, trace_page};
use crate::shown_path::shown;

pub(super) fn write(
    arguments: &Arguments,
    inputs: &[Input],
    said: &[Said],
    ranks: Option<&TraceRanks>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let document = match arguments.format {
        Format::Csv => return csv(arguments, said, ranks, console),
        Format::Html => return html(arguments, inputs, (said, ranks), console),
        Format::Text => document_text(&document(arguments, said, ranks), None),
        Format::Markdown => markdown_text(&document(arguments, said, ranks)),
        Format::Json => String::from_utf8_lossy(&json(said, ranks)).into_owned(),
    };
    match &arguments.output {
        Some(path) => show(
            &[replace_named(path.clone(), document.as_bytes())?],
            console,
        ),
        None => Ok(console.show(&document)?),
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
        bail!(
            "{} is one of the files to read; name another one for --output",
            output.display()
        );
    }
    Ok(())
}

/// Each file that was read, one after the other, then what ranks say together.
fn document(arguments: &Arguments, said: &[Said], ranks: Option<&TraceRanks>) -> Document {
    let read = said.iter().filter(|said| said.problem().is_none());
    let files = read.map(|said| match said {
        Said::Trace(file, _) => trace_document(file, arguments.rows, arguments.details),
        Said::Snapshot(file, _) => snapshot_document(file),
    });
    let together = ranks.map(|ranks| ranks_document(ranks, arguments.rows));
    let blocks = files.chain(together).flat_map(|document| document.blocks);
    Document::from(blocks.collect::<Vec<_>>())
}

/// A memory snapshot by itself has a document of its own.
fn json(said: &[Said], ranks: Option<&TraceRanks>) -> Vec<u8> {
    if let [Said::Snapshot(file, _)] = said {
        return snapshot_json(file);
    }
    let (mut traces, mut snapshots) = (Vec::new(), Vec::new());
    for one in said {
        match one {
            Said::Trace(file, _) => traces.push((**file).clone()),
            Said::Snapshot(file, _) => snapshots.push((**file).clone()),
        }
    }
    trace_json(&traces, ranks, &snapshots)
}

/// The page of all traces, with the timeline of the first that could be read.
fn html(
    arguments: &Arguments,
    inputs: &[Input],
    (said, ranks): (&[Said], Option<&TraceRanks>),
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let traces = inputs
        .iter()
        .zip(said)
        .filter_map(|(input, said)| match said {
            Said::Trace(file, _) => Some((input, (**file).clone())),
            Said::Snapshot(..) => None,
        });
    let (inputs, files): (Vec<&Input>, Vec<TraceFile>) = traces.unzip();
    let mut read = inputs.iter().zip(&files);
    let Some((first, _)) = read.find(|(_, file)| file.problem.is_none()) else {
        bail!("html is for traces; the page of a run shows memory snapshots beside it");
    };
    let page = trace_page(&files, ranks, &first.path)?;
    let output = arguments.output.as_deref();
    let output = output.unwrap_or_else(|| Path::new("trace.html"));
    show(&[replace_named(output.to_owned(), &page)?], console)
}

fn csv(
    arguments: &Arguments,
    said: &[Said],
    ranks: Option<&TraceRanks>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let read = said.iter().filter(|said| said.problem().is_none());
    let traces = read.filter_map(|said| match said {
        Said::Trace(file, _) => Some((**file).clone()),
        Said::Snapshot(..) => None,
    });
    let traces: Vec<TraceFile> = traces.collect();
    if traces.is_empty() {
        bail!("csv is for traces; --format json has what memory snapshots say");
    }
    let tables = trace_csv(&traces, ranks);
    match (&arguments.table, &arguments.output) {
        (Some(wanted), output) => {
            let table = named(&tables, wanted)?;
            match output {
                Some(path) => show(
                    &[replace_named(path.clone(), table.text.as_bytes())?],
                    console,
                ),
                None => Ok(console.show(&table.text)?),
            }
        }
        (None, Some(folder)) => show(&in_folder(folder, &tables)?, console),
        (None, None) => bail!(
            "csv is one file a table: name a folder with --output, or one table with --table ({})",
            keys(&tables)
        ),
    }
}

fn named<'a>(tables: &'a [CsvTable], wanted: &str) -> anyhow::Result<&'a CsvTable> {
    let found = tables.iter().find(|table| table.key == wanted);
    found.with_context(|| format!("there is no table `{wanted}`; there are {}", keys(tables)))
}

fn keys(tables: &[CsvTable]) -> String {
    let keys: Vec<&str> = tables.iter().map(|table| table.key).collect();
    keys.join(", ")
}

/// One file a table. Files that lie there under other names stay.
fn in_folder(folder: &Path, tables: &[CsvTable]) -> anyhow::Result<Vec<PathBuf>> {
    let refused = || format!("cannot make the folder {}", folder.display());
    std::fs::create_dir_all(folder).with_context(refused)?;
    let mut written = Vec::new();
    for table in tables {
        let path = folder.join(format!("{}.csv", table.key));
        written.push(replace_named(path, table.text.as_bytes())?);
    }
    Ok(written)
}

fn show(paths: &[PathBuf], console: &mut Console<'_>) -> anyhow::Result<()> {
    for path in paths {
        console.show(&(escape::visible(&shown(path)) + "\n"))?;
    }
    Ok(())
}

//! `marey compare`: what got slower or hungrier between two runs, or two sets of repeated runs, and is it more than chance?

mod criterion;
mod sides;
mod traces;

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use marey_report::{
    Document, comparison_document, comparison_json, document_text, escape, html_comparison,
    markdown_text, trend_document, trend_json,
};

use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::replace_named;
use crate::shown_path::shown;
use criterion::FailOn;
use sides::Sides;

/// Say what got slower or hungrier from one run to another, and whether that is more than chance
///
/// Each side is a capture, a job's folder, or a folder of several: all runs at or below it are repeats of one. It may also be a trace
/// of torch.profiler, or a folder of them; then the other side has to be, too. With repeats
/// on both sides each run is a sample, otherwise each call of a section. Captures are read as they are, nothing is written
/// to their folders.
///
/// Ends with 0 when nothing that --fail-on names is the matter, with 1 when it is, with 2 when there is nothing to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to compare with
    #[arg(value_name = "BASELINE", required_unless_present = "trend")]
    baseline: Option<PathBuf>,
    /// What to judge
    #[arg(value_name = "CANDIDATE", required_unless_present = "trend")]
    candidate: Option<PathBuf>,
    /// What makes the command end with 1: worse, any-change, cannot-tell, never, or a limit such as "time>5%", "memory>10%",
    /// "section:NAME>3%"; may be given several times
    #[arg(long, value_name = "WHAT", default_value = "worse")]
    fail_on: Vec<FailOn>,
    /// The figures of all runs below a folder over time
    #[arg(long, value_name = "DIR", conflicts_with_all = ["baseline", "candidate", "fail_on"])]
    trend: Option<PathBuf>,
    /// What to show
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For programs
    Json,
    /// For a pull request
    Markdown,
    /// A page, as a file: comparison.html in this folder unless --output names it
    Html,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.trend {
        if arguments.format == Format::Html {
            bail!("a trend has no page; text, json and markdown have it");
        }
        let report = sides::trend(folder, console)?;
        let shown = match arguments.format {
            Format::Json => trend_json(&report),
            _ => text(arguments, &trend_document(&report), console),
        };
        show(arguments, &shown, console)?;
        return Ok(Exit::SUCCESS);
    }
    let (Some(baseline), Some(candidate)) = (&arguments.baseline, &arguments.candidate) else {
        bail!("a baseline and a candidate are needed");
    };
    criterion::check(&arguments.fail_on)?;
    let sides = Sides::read(baseline, candidate, console)?;
    let options = criterion::options(&arguments.fail_on, sides.are_repeated(), console);
    let report = sides.compare(&options);
    let met = arguments.fail_on.iter();
    let met = met
        .map(|fail_on| fail_on.judge(&report.comparison))
        .collect();
    let report = report.judged(met);
    criterion::check_names(&arguments.fail_on, &report.comparison)?;
    let shown = match arguments.format {
        Format::Text | Format::Markdown => text(arguments, &comparison_document(&report), console),
        Format::Json => comparison_json(&report),
        Format::Html => html_comparison(&report),
    };
    show(arguments, &shown, console)?;
    Ok(if report.is_passed() {
        Exit::SUCCESS
    } else {
        Exit::FAILED
    })
}

/// As Markdown, or as wide as the terminal that it is shown on.
fn text(arguments: &Arguments, document: &Document, console: &Console<'_>) -> Vec<u8> {
    let shown = match arguments.format {
        Format::Markdown => markdown_text(document),
        _ if arguments.output.is_some() => document_text(document, None),
        _ => document_text(document, console.width()),
    };
    shown.into_bytes()
}

/// On standard output, or in a file, whose path is on standard output then. A page always is a file.
fn show(arguments: &Arguments, bytes: &[u8], console: &mut Console<'_>) -> anyhow::Result<()> {
    let page = Path::new("comparison.html");
    let page = (arguments.format == Format::Html).then_some(page);
    match arguments.output.as_deref().or(page) {
        Some(file) => {
            let written = replace_named(file.to_owned(), bytes)?;
            console.show(&(escape::visible(&shown(&written)) + "\n"))?;
        }
        None => console.show(&String::from_utf8_lossy(bytes))?,
    }
    Ok(())
}

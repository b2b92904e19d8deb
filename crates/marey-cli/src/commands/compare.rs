//! `marey compare`: what got slower or hungrier between two runs, or two sets of repeated runs, and is it more than chance?

mod criterion;
mod sides;
mod traces;

use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use marey_report::{
    ComparisonReport, Document, FirstScreen, comparison_document, comparison_json, document_text,
    escape, html_comparison, markdown_text, trend_document, trend_json,
};

use super::show_paths;
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::{self, Color};
use crate::output_format;
use crate::run_folder::replace_named;
use crate::shown_path::shown;
use crate::tables::{TableFormat, Tables};
use criterion::FailOn;
use sides::Sides;

/// Compare two runs: time, memory and throughput, and whether a change is more than chance
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
    /// What to show; by itself what the ending of --output says, otherwise text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Show everything as text, not only the first screen
    #[arg(long, visible_alias = "details")]
    full: bool,
    /// Only this table, such as `time`, with all its rows, as text, JSON, Markdown or CSV; `list` shows the names of all
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Show only the first screen: as JSON a line of at most 4 KiB
    #[arg(long, conflicts_with_all = ["full", "table", "trend"])]
    brief: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Write to this file instead of standard output, text with everything; csv without --table: into this folder, one file a table
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
    /// All rows of each table as a file, or of one --table
    Csv,
    /// A page, as a file: comparison.html in this folder unless --output names it
    Html,
}

impl Arguments {
    fn format(&self) -> Format {
        let said = || output_format::said_by(self.output.as_deref()?);
        self.format.or_else(said).unwrap_or(Format::Text)
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if arguments.table.is_some() {
        TableFormat::of(&arguments.format(), None)?;
    }
    if arguments.brief && !matches!(arguments.format(), Format::Text | Format::Json) {
        bail!("--brief goes with --format text or json");
    }
    if let Some(folder) = &arguments.trend {
        if arguments.format() == Format::Html {
            bail!("a trend has no page; text, json, markdown and csv have it");
        }
        let report = sides::trend(folder, console)?;
        let json = || trend_json(&report);
        let text = |console: &Console<'_>| text(arguments, &trend_document(&report), console);
        show(arguments, &trend_document(&report), json, text, console)?;
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
    let met = met.map(|fail_on| fail_on.judge(&report.comparison)).collect();
    let report = report.judged(met);
    criterion::check_names(&arguments.fail_on, &report.comparison)?;
    let document = comparison_document(&report);
    let json = || match arguments.format() {
        Format::Html => html_comparison(&report),
        _ if arguments.brief => screen(&report).json().into_bytes(),
        _ => comparison_json(&report),
    };
    let is_whole = !arguments.brief && (arguments.full || arguments.output.is_some());
    let text = |console: &Console<'_>| {
        if is_whole {
            return text(arguments, &document, console);
        }
        let out = stdout();
        let out = Some(&out).filter(|_| arguments.output.is_none());
        first_screen::text(&screen(&report), arguments.color, out).into_bytes()
    };
    show(arguments, &document, json, text, console)?;
    Ok(if report.is_passed() { Exit::SUCCESS } else { Exit::FAILED })
}

/// What is shown first, with the command that shows everything.
fn screen(report: &ComparisonReport) -> FirstScreen {
    let [baseline, candidate] = [&report.baseline, &report.candidate].map(|side| &side.path);
    let full = format!("marey compare --full {baseline} {candidate}");
    FirstScreen::of_comparison(report, escape::visible(&full))
}

/// All of it, as wide as the terminal that it is shown on.
fn text(arguments: &Arguments, document: &Document, console: &Console<'_>) -> Vec<u8> {
    let width = console.width().filter(|_| arguments.output.is_none());
    document_text(document, width).into_bytes()
}

/// On standard output, or in a file, whose path is on standard output then. A page always is a file.
fn show(
    arguments: &Arguments,
    document: &Document,
    json: impl FnOnce() -> Vec<u8>,
    text: impl FnOnce(&Console<'_>) -> Vec<u8>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let tables = || Tables::new(document.clone().into_tables());
    let width = console.width().filter(|_| arguments.output.is_none());
    let bytes = match (&arguments.table, arguments.format()) {
        (Some(name), format) => {
            let format = TableFormat::of(&format, width)?;
            tables().named(name, format, usize::MAX)?.into_bytes()
        }
        (None, Format::Csv) => {
            let written = tables().write_csv(arguments.output.as_deref())?;
            return show_paths(&written, console);
        }
        (None, Format::Text) => text(console),
        (None, Format::Markdown) => markdown_text(document).into_bytes(),
        (None, Format::Json | Format::Html) => json(),
    };
    let page = Path::new("comparison.html");
    let page = (arguments.format() == Format::Html).then_some(page);
    match arguments.output.as_deref().or(page) {
        Some(file) => {
            let written = replace_named(file.to_owned(), &bytes)?;
            console.show(&(escape::visible(&shown(&written)) + "\n"))?;
        }
        None => console.show(&String::from_utf8_lossy(&bytes))?,
    }
    Ok(())
}

//! `marey compare`: what got slower or hungrier between two runs, or two sets of repeated runs, and is it more than chance?

mod criterion;
mod sides;

use std::path::PathBuf;

use anyhow::bail;
use marey_report::{
    ComparisonReport, Document, FirstScreen, Table, TrendReport, comparison_document,
    comparison_json, escape, html_comparison, trend_document, trend_json,
};

use super::output::{self, Format, Found, Output};
use crate::console::Console;
use crate::exit::Exit;
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
#[command(mut_arg("format", |arg| {
    arg.value_parser(Format::parser("comparison.html in this folder", &[]))
}))]
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
    #[arg(long, value_name = "DIR", conflicts_with_all = ["baseline", "candidate", "fail_on", "brief"])]
    trend: Option<PathBuf>,
    #[command(flatten)]
    output: output::Arguments,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let output = arguments.output.output(&[], None)?;
    if let Some(folder) = &arguments.trend {
        output.show(&sides::trend(folder, console)?, console)?;
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
    output.show(&report, console)?;
    Ok(if report.is_passed() { Exit::SUCCESS } else { Exit::FAILED })
}

/// What is shown first, with the command that shows everything.
fn screen(report: &ComparisonReport) -> FirstScreen {
    let [baseline, candidate] = [&report.baseline, &report.candidate].map(|side| &side.path);
    let full = format!("marey compare --full {baseline} {candidate}");
    FirstScreen::of_comparison(report, escape::visible(&full))
}

impl Found for ComparisonReport {
    /// All of it in a file, too.
    fn text(&self, output: &Output<'_>) -> String {
        if !output.asked.brief && (output.asked.full || output.file.is_some()) {
            return output.whole(&self.document(output));
        }
        output.screen(&screen(self))
    }

    fn document(&self, _output: &Output<'_>) -> Document {
        comparison_document(self)
    }

    fn tables(&self) -> Vec<Table> {
        comparison_document(self).into_tables()
    }

    fn json(&self, output: &Output<'_>) -> Vec<u8> {
        if output.asked.brief { screen(self).json().into_bytes() } else { comparison_json(self) }
    }

    fn page(&self) -> anyhow::Result<Vec<u8>> {
        Ok(html_comparison(self))
    }

    fn page_name(&self) -> PathBuf {
        "comparison.html".into()
    }
}

impl Found for TrendReport {
    fn text(&self, output: &Output<'_>) -> String {
        output.whole(&self.document(output))
    }

    fn document(&self, _output: &Output<'_>) -> Document {
        trend_document(self)
    }

    fn tables(&self) -> Vec<Table> {
        trend_document(self).into_tables()
    }

    fn json(&self, _output: &Output<'_>) -> Vec<u8> {
        trend_json(self)
    }

    fn page(&self) -> anyhow::Result<Vec<u8>> {
        bail!("a trend has no page; text, json, markdown and csv have it")
    }

    fn page_name(&self) -> PathBuf {
        PathBuf::new()
    }
}

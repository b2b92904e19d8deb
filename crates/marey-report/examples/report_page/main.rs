//! Writes the HTML report of a drawn run, for the tests and benches of the page; says on standard output how much CPU time the
//! report took and, of that, the page.
//!
//!     report_page video|hostile|empty|killed|overlap|machine|hostile-machine|gpu|hostile-gpu|deep|million|crowded OUT.html
//!     report_page trace|hostile-trace|comparison|hostile-comparison OUT.html
//!     report_page ranks|hostile-ranks|thousand-ranks|lone-rank|missing-ranks|several-jobs OUT.html

mod deep;
mod gpu;
mod killed;
mod machine;
mod memory_snapshots;
mod million;
mod overlap;
mod ranks;
mod slower;
mod trace;
mod video;

use std::io::Write;

use marey_analysis::ranks::RanksAnswers;
use marey_analysis::{CompareOptions, compare};
use marey_report::{
    ComparedRun, ComparedSide, ComparisonReport, RankedJob, Report, html_comparison, html_ranks,
    html_report,
};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(path), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return usage();
    };
    if let Some(answers) = ranks_answers(&kind) {
        return std::fs::write(path, html_ranks(&answers));
    }
    let ranks = (kind == "job").then(|| RankedJob::of(ranks::eight(video::PLAIN), None)).flatten();
    let run = match kind.as_str() {
        "trace" => return std::fs::write(path, trace::page("")),
        "hostile-trace" => {
            return std::fs::write(
                path,
                trace::page("<img src=x onerror=window.injected=1>\u{202e}\u{1b}"),
            );
        }
        "comparison" => return comparison(&path, video::PLAIN),
        "hostile-comparison" => return comparison(&path, video::HOSTILE),
        "video" => video::run(video::PLAIN),
        "job" => with_rank(video::run(video::PLAIN)),
        "hostile" => video::run(video::HOSTILE),
        "empty" => marey_testing::RunBuilder::new().finish(0),
        "killed" => killed::run(),
        "overlap" => overlap::run(),
        "machine" => machine::run(video::PLAIN),
        "hostile-machine" => machine::run(video::HOSTILE),
        "gpu" => gpu::run(video::PLAIN),
        "hostile-gpu" => gpu::run(video::HOSTILE),
        "deep" => deep::run(),
        "million" => million::run(1_000_000),
        "crowded" => million::run(2_000_000),
        _ => return usage(),
    };
    let begun = cpu_ns()?;
    let mut report = Report::new(&run);
    report.snapshot_files = match kind.as_str() {
        "gpu" => memory_snapshots::files(&run, video::PLAIN),
        "hostile-gpu" => memory_snapshots::files(&run, video::HOSTILE),
        _ => Vec::new(),
    };
    let asked = cpu_ns()?;
    let page = html_report(&report, &run, ranks.as_ref());
    let written = cpu_ns()?;
    std::fs::write(path, page)?;
    writeln!(
        std::io::stdout(),
        r#"{{"slices": {}, "report_cpu_ns": {}, "page_cpu_ns": {}}}"#,
        run.sections.len(),
        asked - begun,
        written - asked
    )
}

/// The first of eight ranks.
fn with_rank(mut run: marey::Run) -> marey::Run {
    (run.info.rank, run.info.world_size) = (Some(0), Some(8));
    run
}

/// The page of a comparison: the drawn video against one whose decoder is slower.
fn comparison(path: &str, naming: video::Naming) -> std::io::Result<()> {
    let baseline = [video::run(naming)];
    let candidate = [slower::slower(&baseline[0], "vae_decode")];
    let options = CompareOptions::default();
    let found = compare(&baseline, &candidate, &options);
    let sides = [("before", &baseline), ("after", &candidate)].map(|(path, runs)| ComparedSide {
        path: path.into(),
        runs: runs.iter().map(|run| ComparedRun::new("c1".into(), run, 0)).collect(),
        ..ComparedSide::default()
    });
    let report = ComparisonReport::new(found, &options, sides);
    std::fs::write(path, html_comparison(&report))
}

fn ranks_answers(kind: &str) -> Option<RanksAnswers> {
    match kind {
        "ranks" => Some(ranks::eight(video::PLAIN)),
        "hostile-ranks" => Some(ranks::missing(video::HOSTILE)),
        "thousand-ranks" => Some(ranks::thousand(video::PLAIN)),
        "lone-rank" => Some(ranks::lone(video::PLAIN)),
        "missing-ranks" => Some(ranks::missing(video::PLAIN)),
        "several-jobs" => Some(ranks::several(video::PLAIN)),
        _ => None,
    }
}

/// CPU time of this thread so far, the only one that there is.
fn cpu_ns() -> std::io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().map_err(|_| std::io::ErrorKind::InvalidData.into())
}

fn usage() -> std::io::Result<()> {
    writeln!(
        std::io::stderr(),
        "report_page video|hostile|empty|killed|overlap|machine|hostile-machine|gpu|hostile-gpu|deep|million|crowded|trace|hostile-trace|comparison|hostile-comparison|ranks|hostile-ranks|thousand-ranks|lone-rank|missing-ranks|several-jobs OUT.html"
    )?;
    Err(std::io::ErrorKind::InvalidInput.into())
}

//! How fast runs become Parquet files, and how long those are, against the targets. One thread.
//!
//! ```text
//! cargo bench -p marey-report --features parquet --bench parquet [SECTIONS]
//! ```

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::disallowed_methods, reason = "a program that measures time")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use marey::{Node, NodeKind, NodeTotals, Run, Section};
use marey_report::parquet::{Kind, ParquetFile, Process};
use marey_testing::RunBuilder;

/// Rows in a second.
const LEAST_ROWS: f64 = 2e6;
/// Bytes of a row.
const MOST_BYTES: f64 = 40.0;
const REPEATS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let run = Arc::new(steps_of_layers(wanted.unwrap_or(2_000_000)));
    println!("{} sections in {} steps of 60 layers", run.sections.len(), run.sections.len() / 181);
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..REPEATS {
        let begun = Instant::now();
        let process = Arc::new(Process::new(Arc::clone(&run)));
        let mut file = ParquetFile::new(Kind::Sections, Vec::new())?;
        file.write(&mut Kind::Sections.rows(process))?;
        bytes = file.finish()?.len();
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let n = float(run.sections.len());
    let (rows, length) = (n / best, float(bytes) / n);
    println!(
        "rows a second   {rows:>12.0}   {:.2} × the target of at least {LEAST_ROWS:.0}",
        rows / LEAST_ROWS
    );
    println!(
        "bytes a row     {length:>12.1}   {:.2} × the target of at most {MOST_BYTES:.0}",
        length / MOST_BYTES
    );
    Ok(())
}

fn float(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::NAN, f64::from)
}

/// Denoising steps of 60 layers with attention and a feed-forward part each; lengths stray, as they do.
fn steps_of_layers(n_sections: usize) -> Run {
    let node = |parent, name: &str, kind| Node {
        parent: Some(parent),
        name: name.into(),
        kind,
        is_detached: false,
    };
    let mut run = RunBuilder::new().finish(0);
    run.info.host = "node-17".into();
    run.info.start_unix_ns = 1_795_000_000_000_000_000;
    run.nodes.push(node(0, "denoising_step", NodeKind::Iteration));
    for layer in 0..60 {
        let number = u32::try_from(run.nodes.len()).unwrap_or(u32::MAX);
        run.nodes.push(node(1, &format!("block_{layer}"), NodeKind::Section));
        run.nodes.push(node(number, "attention", NodeKind::Section));
        run.nodes.push(node(number, "feed_forward", NodeKind::Section));
    }
    run.totals = vec![NodeTotals::default(); run.nodes.len()];
    let mut random: u64 = 7;
    let mut now = 0;
    let mut pass = |mean: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        now += mean + (random >> 33) % (mean / 4);
        now
    };
    while run.sections.len() < n_sections {
        let begin = pass(2_000);
        for layer in 0..60 {
            let outer = pass(500);
            for (place, mean) in [(1, 180_000), (2, 90_000)] {
                let (start_ns, end_ns) = (pass(400), pass(mean));
                run.sections.push(section(2 + layer * 3 + place, start_ns, end_ns));
            }
            run.sections.push(section(2 + layer * 3, outer, pass(300)));
        }
        run.sections.push(section(1, begin, pass(900)));
    }
    run.wall_ns = pass(1_000);
    run
}

fn section(node: u32, start_ns: u64, end_ns: u64) -> Section {
    Section { thread: 0, node, start_ns, end_ns, flow: 0, is_failed: false, has_pauses: false }
}

//! What it takes to read a trace of torch.profiler. One measure a process, so that `/usr/bin/time -f "%U %S %M"` says its CPU
//! time and its memory:
//!
//! ```text
//! cargo bench -p marey-analysis --bench reading_traces -- floor|columns|nesting|breakdowns|answers TRACE…
//! ```

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::fs::File;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{
    HostRows, TraceContext, idle_gaps, kernels, overlap, trace_answers, utilization,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut arguments = arguments.iter().filter(|argument| *argument != "--bench");
    let measure = arguments.next().map_or("", String::as_str);
    for path in arguments {
        let file = File::open(path)?;
        match measure {
            "floor" => println!("{path}: {} ends of lines", floor(file)?),
            "columns" => {
                let trace = read(file, Limits::default())?;
                println!(
                    "{path}: {} rows, {} inputs, {} collectives, {} waits, {} allocations",
                    trace.rows.len(),
                    trace.inputs.len(),
                    trace.collectives.len(),
                    trace.waits.len(),
                    trace.allocations.len(),
                );
            }
            "breakdowns" => breakdowns(path, &read(file, Limits::default())?),
            "nesting" => {
                let trace = read(file, Limits::default())?;
                let host = HostRows::new(&trace);
                println!("{path}: {} rows overlap", host.n_overlaps);
            }
            "answers" => {
                let answers = trace_answers(&read(file, Limits::default())?, None);
                println!("{path}: {} devices, {} rows", answers.devices.len(), answers.n_rows);
            }
            _ => println!(
                "what to measure: floor, columns, nesting, breakdowns or answers, then files"
            ),
        }
    }
    Ok(())
}

/// The least that any reader does: decompresses, and looks at every byte once, with vector instructions.
fn floor(mut file: File) -> Result<usize, Box<dyn Error>> {
    let mut first = [0; 2];
    file.read_exact(&mut first)?;
    let is_compressed = first == [0x1F, 0x8B];
    let whole = std::io::Cursor::new(first).chain(file);
    let mut source: Box<dyn Read> =
        if is_compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    let mut piece = vec![0; 1 << 18];
    let mut n_lines = 0;
    loop {
        match source.read(&mut piece)? {
            0 => return Ok(n_lines),
            length => n_lines += memchr::memchr_iter(b'\n', &piece[..length]).count(),
        }
    }
}

/// The four questions that `HolisticTraceAnalysis` is asked in its own examples.
fn breakdowns(path: &str, trace: &Trace) {
    println!("{path}: {} rows", trace.rows.len());
    let context = TraceContext::new(trace, None);
    for timeline in &context.timelines {
        let used = utilization(trace, timeline);
        let kernels = kernels(&context, timeline);
        let gaps = idle_gaps(&context, timeline);
        let overlap = overlap(timeline);
        println!(
            "device {}: {} ops, span {} ns, idle {} ns, {} kernels, {} gaps, {} ns of communication hidden",
            used.device,
            used.n_ops,
            used.span_ns,
            used.idle_ns,
            kernels.rows.len(),
            gaps.n_gaps,
            overlap.overlapped_communication_ns,
        );
    }
}

//! `marey doctor`: what can be measured on this machine, and why not the rest.

mod check;
mod gpu;
mod machine;
mod python;
mod rings;
mod windows;

use std::path::PathBuf;

use anyhow::Result;
use marey_report::escape;
use serde::Serialize;

use crate::console::Console;
use crate::exit::Exit;
use check::Check;
use rings::Rings;

/// Version of the shape of `--json`.
const SCHEMA_VERSION: &str = "1.0";

/// Check what can be measured on this machine, and why not the rest
///
/// Looks only; changes nothing unless --clean is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Complete the captures of dead processes from what they left in shared memory, and free that memory
    #[arg(long)]
    clean: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Where to look for jobs that ended in a window of a profiler [default: the output folder]
    folder: Option<PathBuf>,
}

/// Everything that was looked at.
#[derive(Serialize)]
struct Diagnosis {
    schema_version: &'static str,
    marey: &'static str,
    checks: Vec<Check>,
    rings: Rings,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let mut checks = vec![
        machine::clock(),
        machine::shared_memory(),
        machine::output_disk(),
        machine::memory_limit(),
        machine::pressure(),
    ];
    checks.extend(python::checks());
    checks.extend(gpu::checks());
    checks.extend(windows::checks(arguments.folder.as_deref()));
    let diagnosis = Diagnosis {
        schema_version: SCHEMA_VERSION,
        marey: env!("CARGO_PKG_VERSION"),
        checks,
        rings: Rings::look(arguments.clean),
    };
    let text = if arguments.json {
        let document = serde_json::to_string_pretty(&diagnosis)
            .expect("string keys and plain values always serialize");
        escape::json(&document).into_owned() + "\n"
    } else {
        text(&diagnosis)
    };
    console.show(&text)?;
    Ok(Exit::SUCCESS)
}

fn text(diagnosis: &Diagnosis) -> String {
    let mut lines = vec![format!("marey {}", diagnosis.marey)];
    lines.extend(diagnosis.checks.iter().map(Check::line));
    lines.extend(diagnosis.rings.lines());
    lines.join("\n") + "\n"
}

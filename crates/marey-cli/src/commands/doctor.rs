//! `marey doctor`: what can be measured on this machine, and why not the rest.

mod gpu;
mod machine;
mod python;
mod rings;

use std::io::{self, stdout};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Result;
use marey_folder::json;
use marey_folder::run_folder::{JobCaptures, captures, output_dir};
use marey_report::escape;
use marey_report::width::wrapped;
use serde::Serialize;

use crate::console::{Console, entry, terminal_width};
use crate::exit::Exit;
use State::{Available, Limited, NotAvailable};
use rings::Rings;

/// Version of the shape of `--json`.
const SCHEMA_VERSION: &str = "1.0";

/// Looks at a part of the machine: what can be measured of it, in words.
type Look = fn() -> (State, String);

/// What is looked at of the machine, in this order.
const MACHINE: [(&str, Look); 5] = [
    ("clock", machine::clock),
    ("shared memory", machine::shared_memory),
    ("output folder", machine::output_disk),
    ("memory limit", machine::memory_limit),
    ("pressure", machine::pressure),
];

/// Of the newest jobs so many are looked at for windows in which they ended.
const MAX_JOBS: usize = 10;
/// Captures that are larger in all are not read for this.
const MOST_BYTES: u64 = 256 << 20;

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

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    /// What.
    name: &'static str,
    /// How well it works.
    state: State,
    /// What was found; when something is missing also why, and what to do.
    text: String,
}

/// How well something works.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Available,
    Limited,
    NotAvailable,
}

impl Check {
    fn new(name: &'static str, (state, text): (State, String)) -> Self {
        Self { name, state, text }
    }

    /// For a terminal of so many columns.
    fn lines(&self, width: usize) -> String {
        let state = match self.state {
            Available => "ok",
            Limited => "limited",
            NotAvailable => "not available",
        };
        let name = format!("{:<14} {state:<14} ", self.name);
        entry(&name, name.len(), &escape::visible(&self.text), width)
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let machine = MACHINE.iter().map(|(name, look)| Check::new(name, look()));
    let mut checks: Vec<Check> = machine.chain(python::checks()).chain(gpu::checks()).collect();
    checks.extend(windows(arguments.folder.as_deref()));
    let rings = Rings::look(arguments.clean);
    let marey = env!("CARGO_PKG_VERSION");
    let diagnosis = Diagnosis { schema_version: SCHEMA_VERSION, marey, checks, rings };
    let text = if arguments.json {
        json(&diagnosis)
    } else {
        let width = terminal_width(&stdout()).unwrap_or(usize::MAX);
        let checks = diagnosis.checks.iter().map(|check| check.lines(width));
        let rings = diagnosis.rings.lines().into_iter();
        let rings = rings.map(|line| wrapped(&line, width).join("\n") + "\n");
        format!("marey {marey}\n") + &checks.chain(rings).collect::<String>()
    };
    console.show(&text)?;
    Ok(Exit::SUCCESS)
}

/// A check for each of the newest jobs of which a process ended in a window of a profiler, as the next one may; none when none did, or there
/// is no job. In this folder, else where programs record.
fn windows(folder: Option<&Path>) -> Vec<Check> {
    if let Some(Err(problem)) = folder.map(captures) {
        return vec![Check::new("window", (Limited, problem.to_string()))];
    }
    let out = folder.map_or_else(output_dir, Path::to_owned);
    let mut bytes = MOST_BYTES;
    let jobs = JobCaptures::newest(&out, MAX_JOBS).into_iter();
    let checks = jobs.filter_map(|job| {
        let cut_off = job.cut_off(&mut bytes);
        let first = cut_off.first()?;
        let others = match cut_off.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        let text = format!(
            "the job {} ended in {} ({}{others}); marey report tells what it did until then. Next time record fewer steps, without \
             shapes and stacks, or lower max_host_bytes",
            job.name(),
            first.windows.join(", "),
            first.capture.display(),
        );
        Some(Check::new("window", (Limited, text)))
    });
    checks.collect()
}

/// What `look` finds; `None` where it takes longer, and goes on behind it.
///
/// # Errors
/// When no thread is to be had.
fn within<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (found, is_found) = mpsc::channel();
    let thread = std::thread::Builder::new().name("marey-doctor".into());
    let look = move || drop(found.send(look()));
    marey::without_signals(|| thread.spawn(look))?;
    Ok(is_found.recv_timeout(patience).ok())
}

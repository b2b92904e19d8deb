//! `marey top`: what recording processes are doing now.
//!
//! ```text
//! rings ─► LiveProcesses ─► LiveSnapshot ─┬─► View (lanes: what was lately) ─► layout ─┬─► screen   live
//!                                         │                                            └─► text     --once
//!                                         └─► its JSON                                              --once --json
//! ```

mod hangs;
mod keys;
mod lanes;
mod layout;
mod screen;
mod sections;
mod terminal;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use marey_folder::json;
use marey_report::escape;
use marey_report::live::LiveSnapshot;
use serde::Serialize;

use crate::console::{Console, locale_is_utf8};
use crate::exit::Exit;
use crate::live_processes::{LiveProcesses, Target};
use hangs::{Hang, Hangs};
use lanes::Lanes;
use layout::Shown;
use screen::Palette;

/// Nothing records, or the process that was named does not.
const NOTHING_TO_SHOW: Exit = Exit::Code(1);
/// Columns of `--once`.
const TEXT_WIDTH: usize = 100;
/// Version of the shape of `--json`: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "2.0";

/// Watch processes while they record
///
/// Attaches from outside by what a recording process shares: the process neither helps nor waits. Shows the sections that it is
/// in, the time of its steps, frames and blocks a second, the GPUs, CPU, memory and disk that its samplers read, and a table of its
/// sections, and which rank of a job has not come to a collective that the others are in. When a process dies it stays on the screen with how it ended; a new process of the same job appears by itself.
///
/// Keys: q quits, arrows or Tab switch between processes and scroll, p pauses, ? shows help.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  marey top                            all processes of this user that record, newest job first
  marey top 4242                       one process, and what its job starts later
  marey top profiling_results          the newest job there
  marey top --once --json 4242         one document for a script: rates are those of one --interval

Exit status: 0; 1 when nothing records; 2 when something is wrong with the arguments or the terminal.")]
pub(crate) struct Arguments {
    /// A process id, a job's folder, the folder above it (its newest job is taken), or a capture. Without it, every process of
    /// this user that records
    #[arg(value_name = "PID|RUN")]
    target: Option<OsString>,
    /// Print one state as text, and end. Looks twice, an interval apart
    #[arg(long)]
    once: bool,
    /// With --once: print JSON
    #[arg(long, requires = "once")]
    json: bool,
    /// Time between two looks, 0.1 to 3600
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    interval: Duration,
    #[arg(long, help = "Draw without colours; so do the variables NO_COLOR and TERM=dumb")]
    no_color: bool,
}

/// A number of seconds, 0.1 to 3600.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err("not between 0.1 and 3600 seconds".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let is_terminal = || std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if !arguments.once && !is_terminal() {
        bail!(
            "the live view needs a terminal; `marey top --once` prints one state, --once --json a document"
        );
    }
    let mut view = View::new(Target::find(arguments.target.as_deref())?);
    if arguments.once {
        return once(&mut view, arguments, console);
    }
    if view.is_empty() {
        return Ok(nothing(&view, console));
    }
    let palette = Palette::of_environment(arguments.no_color);
    // No locale at all is that of the C library, which is ASCII.
    let is_ascii = locale_is_utf8() != Some(true);
    terminal::show(&mut view, arguments.interval, palette, is_ascii)
}

fn once(view: &mut View, arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    if !view.is_empty() {
        std::thread::sleep(arguments.interval);
        view.refresh();
    }
    if arguments.json {
        let snapshots = view.processes.all().iter().map(|process| &process.snapshot);
        console.show(&document(snapshots.collect(), view.hangs.all(), marey::unix_ns()))?;
    } else {
        let blocks = view.shown().into_iter();
        let blocks = blocks.map(|shown| layout::whole(shown, TEXT_WIDTH));
        console.show(&blocks.collect::<Vec<_>>().join("\n"))?;
    }
    if view.is_empty() {
        return Ok(nothing(view, console));
    }
    Ok(Exit::SUCCESS)
}

/// Everything that is known now as UTF-8, safe to print, with a line end.
fn document(processes: Vec<&LiveSnapshot>, hangs: Vec<&Hang>, at_unix_ns: u64) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema_version: &'static str,
        at_unix_ns: u64,
        hangs: Vec<&'a Hang>,
        processes: Vec<&'a LiveSnapshot>,
    }
    json(&Document { schema_version: SCHEMA_VERSION, at_unix_ns, hangs, processes })
}

fn nothing(view: &View, console: &mut Console<'_>) -> Exit {
    console.say(&escape::visible(&view.processes.nothing()));
    NOTHING_TO_SHOW
}

/// Dead processes that stay on the screen.
const MAX_DEAD: usize = 32;

/// What is watched.
struct View {
    processes: LiveProcesses,
    lanes: HashMap<PathBuf, Lanes>,
    hangs: Hangs,
}

impl View {
    /// Looks once.
    fn new(target: Target) -> Self {
        let mut view = Self {
            processes: LiveProcesses::new(target),
            lanes: HashMap::new(),
            hangs: Hangs::default(),
        };
        view.refresh();
        view
    }

    /// Finds what is new, and looks at every process.
    fn refresh(&mut self) {
        self.processes.refresh();
        for gone in self.processes.take_over(MAX_DEAD) {
            self.lanes.remove(&gone.process.folder);
        }
        for process in self.processes.all() {
            let lanes = self.lanes.entry(process.process.folder.clone()).or_default();
            lanes.take(&process.snapshot);
        }
        self.hangs.take(self.processes.all());
    }

    fn is_empty(&self) -> bool {
        self.processes.all().is_empty()
    }

    /// What is to be shown, in order.
    fn shown(&self) -> Vec<Shown<'_>> {
        let all = self.processes.all().iter();
        all.filter_map(|process| {
            Some(Shown {
                process: &process.process,
                now: &process.snapshot,
                lanes: self.lanes.get(&process.process.folder)?,
                hang: self.hangs.of(process),
            })
        })
        .collect()
    }
}

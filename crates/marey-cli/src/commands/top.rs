//! `marey top`: what recording processes are doing now.
//!
//! ```text
//! rings ─► watch (processes, looks) ─► shown (figures, history) ─┬─► layout ─► screen   live
//!                                                                ├─► layout ─► text     --once
//!                                                                └─► json               --once --json
//! ```

mod charset;
mod history;
mod json;
mod keys;
mod lanes;
mod layout;
mod line;
mod screen;
mod sections;
mod shown;
mod target;
mod terminal;
mod warnings;
mod watch;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Result, bail};
use marey_report::escape;

use crate::console::Console;
use crate::exit::Exit;
use charset::Charset;
use screen::Palette;
use target::Target;
use watch::Watch;

/// Nothing records, or the process that was named does not.
const NOTHING_TO_SHOW: Exit = Exit::Code(1);
/// Columns of `--once`.
const TEXT_WIDTH: usize = 100;

/// Watch processes while they record
///
/// Attaches from outside by what a recording process shares: the process neither helps nor waits. Shows the sections that it is
/// in, the time of its steps, frames and blocks a second, the GPUs, CPU, memory and disk that its samplers read, and a table of its
/// sections. When a process dies it stays on the screen with how it ended; a new process of the same job appears by itself.
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
    #[arg(
        long,
        help = "Draw without colours; so do the variables NO_COLOR and TERM=dumb"
    )]
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
    let target = Target::find(arguments.target.as_deref())?;
    let mut watch = Watch::new(target);
    watch.refresh();
    if arguments.once {
        return once(&mut watch, arguments, console);
    }
    if watch.is_empty() {
        return Ok(nothing(&watch, console));
    }
    let palette = Palette::of_environment(arguments.no_color);
    terminal::show(
        &mut watch,
        arguments.interval,
        palette,
        Charset::of_environment(),
    )
}

fn once(watch: &mut Watch, arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    if !watch.is_empty() {
        std::thread::sleep(arguments.interval);
        watch.refresh();
    }
    if arguments.json {
        console.show(&json::document(watch))?;
    } else {
        let blocks = watch
            .shown()
            .map(|shown| line::text(&layout::whole(shown, TEXT_WIDTH)));
        console.show(&blocks.collect::<Vec<_>>().join("\n"))?;
    }
    if watch.is_empty() {
        return Ok(nothing(watch, console));
    }
    Ok(Exit::SUCCESS)
}

fn nothing(watch: &Watch, console: &mut Console<'_>) -> Exit {
    console.say(&escape::visible(&watch.nothing()));
    NOTHING_TO_SHOW
}

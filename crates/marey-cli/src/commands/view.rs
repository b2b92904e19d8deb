//! `marey view`: a recording in Perfetto's viewer, without a file and without sending it anywhere.
//!
//! ```text
//! captures ─► trace in a nameless file ─► 127.0.0.1:PORT/RANDOM/trace.pftrace.gz ─► the viewer's page in the browser
//! ```
//!
//! The page comes from the viewer's site and reads the trace from this machine; nothing goes the other way.

mod link;
mod shared_trace;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};
use marey_folder::environment;
use marey_report::{Compression, TraceFormat};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::export::{Target, TorchTraces, Trace, only};
use crate::console::Console;
use crate::exit::Exit;
use link::Viewer;
use shared_trace::Event;

/// How long those who are still reading may go on when one has read it all.
const LAST_WAIT: Duration = Duration::from_secs(15);

/// Open a recording in Perfetto's viewer
///
/// Serves the trace on this machine only, at an address that nobody can guess, to the viewer's page only; ends when it was read once.
/// The trace stays on this machine: the page reads it in the browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On another machine: forward the port with `ssh -L 9001:127.0.0.1:9001 MACHINE`, run `marey view --no-browser RUN` there, and open the link here.

Exit status: 0 when the trace was read; 1 when nobody read it in time; 2 when something is wrong with the arguments.")]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file; or traces of torch.profiler, or a folder of them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Only processes of this rank
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// Only print the link
    #[arg(long)]
    no_browser: bool,
    /// Address of the viewer, for a copy of your own
    #[arg(long, value_name = "URL", default_value = "https://ui.perfetto.dev")]
    perfetto_ui: Viewer,
    /// Port to serve on; the viewer's site reads from no other than 9001
    #[arg(long, value_name = "PORT", default_value_t = 9001)]
    port: u16,
    /// End when nobody has read the trace for so long, 1 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    // Without a name it goes with the process.
    let mut trace = tempfile::tempfile().context("no room for the trace")?;
    let of_torch = TorchTraces::find(&arguments.runs, arguments.rank, console)?;
    let written = if let Some(traces) = of_torch {
        traces.write(&mut trace, Compression::Gzip)
    } else {
        let run = only(&arguments.runs)?;
        let target = Target::find(run, arguments.rank, false, console)?;
        Trace::of(TraceFormat::Perfetto, &target.captures).write(&mut trace, Compression::Gzip)
    };
    written.context("no room for the trace")?;
    let (sender, events) = mpsc::channel();
    let viewer = &arguments.perfetto_ui;
    let (server, address) = shared_trace::serve(trace, viewer.origin(), arguments.port, sender.clone())
        .with_context(|| {
            format!(
                "cannot serve on 127.0.0.1:{}: is another viewer open? --port takes another one, which needs a viewer of your own",
                arguments.port
            )
        })?;
    let signals = watch_signals(sender)?;
    let link = viewer.link(&address);
    console.show(&format!("{link}\n"))?;
    console.flush()?;
    if !arguments.no_browser && !open(&link) {
        console.say("open this link in a browser: none could be started from here");
    }
    let event = events.recv_timeout(Duration::from_secs(arguments.timeout));
    signals.close();
    server.end(LAST_WAIT);
    Ok(match event {
        Ok(Event::Read) => Exit::SUCCESS,
        Ok(Event::Signal(signal)) => Exit::Signal(signal),
        Err(_) => {
            console.say(&format!("nobody read the trace in {} s", arguments.timeout));
            Exit::FAILED
        }
    })
}

/// Ctrl-C and its like become events: inside a Python program they would not end a wait by themselves.
fn watch_signals(events: mpsc::Sender<Event>) -> Result<signal_hook::iterator::Handle> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let tell = move || {
        for signal in signals.forever() {
            // Whoever waits may have stopped.
            events.send(Event::Signal(signal)).ok();
        }
    };
    let thread = std::thread::Builder::new().name("marey-signals".into());
    marey::without_signals(|| thread.spawn(tell))?;
    Ok(handle)
}

/// Whether a browser was asked to open the link. It is not waited for.
fn open(link: &str) -> bool {
    let is_mac = cfg!(target_os = "macos");
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"]
        .iter()
        .any(|name| environment(name).is_some());
    if !is_mac && !has_display {
        return false;
    }
    let program = if is_mac { "open" } else { "xdg-open" };
    Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

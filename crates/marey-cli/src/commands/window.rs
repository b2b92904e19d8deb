//! `marey window`: has running processes record some steps with torch's profiler.
//!
//! ```text
//! us        `window` beside the rings: lock, what is wanted ─► ring ············ read what it says until its last line
//! process                                                  takes it ─► waiting ─► starting ─► open ─► written PATH | failed WHY
//! ```
//!
//! The lock goes with us, however we end: a window that is not open then does not open any more, and one that is ends by itself.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use marey::Identity;
use marey::live::Process;
use marey_folder::in_one_line;
use marey_report::escape;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::top;
use crate::console::Console;
use crate::exit::Exit;
use crate::live_processes::{LiveProcesses, Target, job_folder};

/// Time between two looks at what processes said.
const REST: Duration = Duration::from_millis(100);
/// Looks without an answer after which `marey window` says what it waits for.
const PATIENCE: u32 = 20;

/// Have a running process record some steps with torch's profiler
///
/// Opens a window of torch's profiler in a process that `marey run` or marey.start() records, without restarting it and without code
/// in it, and waits for the trace. The window opens at the end of a denoising step, in the thread that took it, records one step for
/// warm-up and then so many; or, with --seconds, whatever the program does. It is bounded in time, memory and bytes. The first start of
/// torch's profiler in a process takes seconds, in which the program waits.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts for a terminal, where backticks are noise")]
#[command(after_help = "\
Examples:
  marey window 4242                    its next three steps
  marey window 4242 --seconds 5        five seconds of a program whose steps Marey does not see
  marey window 4242 --rank all         the process of each rank of its job
  marey window profiling_results       the newest job there, its first rank

Ctrl-C gives up: a window that is open ends by itself, one that waits for a step does not open any more.
Exit status: 0; 1 when a process wrote no trace; 2 when something is wrong with the arguments.")]
pub(crate) struct Arguments {
    /// A process id, also that of `marey run`; or a job's folder, the folder above it, or a capture
    #[arg(value_name = "PID|RUN")]
    target: OsString,
    /// Denoising steps that are kept
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    steps: u32,
    /// Record so long, 0.1 to 3600, instead of steps; the operations of all threads, where torch can do that
    #[arg(long, conflicts_with = "steps", value_parser = top::interval)]
    seconds: Option<Duration>,
    /// The process of this rank of the job, or of each of them
    #[arg(long, value_name = "N|all")]
    rank: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [SIGINT, SIGTERM] {
        let value = usize::try_from(number).unwrap_or(0);
        signal_hook::flag::register_usize(number, Arc::clone(&signal), value)
            .context("cannot take signals")?;
    }
    let wanted = match arguments.seconds {
        Some(seconds) => format!("seconds {}", seconds.as_secs_f64()),
        None => format!("steps {}", arguments.steps),
    };
    let asked = match chosen(Target::find(Some(&arguments.target))?, arguments.rank.as_deref()) {
        Ok(processes) => processes.iter().map(|one| Asked::ask(one, &wanted)).collect(),
        Err(why_not) => vec![Err(why_not)],
    };
    let n_asked = asked.len();
    let (mut waiting, mut n_written) = (Vec::new(), 0);
    for one in asked {
        match one {
            Ok(one) => waiting.push(one),
            Err(why_not) => console.say(&in_one_line(&why_not)),
        }
    }
    while !waiting.is_empty() {
        std::thread::sleep(REST);
        if let Ok(number @ 1..) = i32::try_from(signal.load(Relaxed)) {
            console.say("given up: a window that is open ends by itself");
            return Ok(Exit::Signal(number));
        }
        for mut one in std::mem::take(&mut waiting) {
            match one.listen(console)? {
                Some(is_written) => n_written += usize::from(is_written),
                None => waiting.push(one),
            }
        }
    }
    Ok(if n_written == n_asked { Exit::SUCCESS } else { Exit::FAILED })
}

/// The processes that are to open a window, one a rank: others of a rank are workers of it.
fn chosen(target: Target, rank: Option<&str>) -> Result<Vec<Process>> {
    let mut found = recording(target)?;
    if let (Some(_), Some(job)) = (rank, found.first().and_then(job_folder)) {
        found = recording(Target::Job(job.to_owned()))?;
    }
    found.dedup_by_key(|process| process.rank);
    match rank {
        None => found.truncate(1),
        Some("all") => {}
        Some(rank) => {
            found.retain(|process| process.rank.is_some_and(|found| found.to_string() == rank));
            ensure!(!found.is_empty(), "no process of rank {rank} records in this job");
        }
    }
    Ok(found)
}

/// The processes of a target that record, in order; why there are none.
fn recording(target: Target) -> Result<Vec<Process>> {
    let pid = if let Target::Pid(pid) = target { Some(pid) } else { None };
    let mut processes = LiveProcesses::new(target);
    processes.refresh();
    let all = processes.all().iter();
    let running = all.filter(|one| one.snapshot.look.is_running());
    let running: Vec<Process> = running.map(|one| one.process.clone()).collect();
    if !running.is_empty() {
        return Ok(running);
    }
    let owner = |pid: &str| std::fs::metadata(format!("/proc/{pid}")).map(|file| file.uid()).ok();
    let why_not = pid.and_then(|pid| match (owner(&pid.to_string()), owner("self")) {
        (None, _) => Some(format!("there is no process {pid}")),
        (Some(theirs), Some(ours)) if theirs != ours => Some(format!(
            "process {pid} belongs to another user, who alone can have it open a window"
        )),
        _ => None,
    });
    Err(anyhow!(why_not.unwrap_or_else(|| processes.nothing())))
}

/// A process that was asked for a window.
struct Asked {
    /// What people call it.
    name: String,
    identity: Identity,
    path: PathBuf,
    /// The same, which stays readable when it is removed.
    file: File,
    /// Lines of it that were read.
    n_read: usize,
    n_looks: u32,
    is_of_steps: bool,
    /// What it waits for, in words, and what of that was said.
    waits_for: &'static str,
    told: &'static str,
}

impl Asked {
    fn ask(process: &Process, wanted: &str) -> Result<Self> {
        let pid = process.pid();
        let name = match process.rank {
            Some(rank) => format!("rank {rank}, process {pid}"),
            None => format!("process {pid}"),
        };
        ensure!(
            process.is_alive.is_some(),
            "{name} runs in another container: `marey window` has to run there, too"
        );
        ensure!(
            process.outside_of.is_none(),
            "{name} is recorded from outside: only a Python program that Marey is in opens windows"
        );
        ensure!(
            process.capture.is_some(),
            "{name} records in memory only: `marey run` or marey.start() gives it a folder for the trace"
        );
        let path = process.folder.join("window");
        let mut options = File::options();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.with_context(|| format!("cannot ask {name}"))?;
        ensure!(file.try_lock().is_ok(), "{name}: another `marey window` waits for it");
        // No other request is the same line: answers to an earlier one are not taken for ours.
        let line = format!("{wanted} {}-{}\n", std::process::id(), marey::monotonic_ns());
        let written = file.set_len(0).and_then(|()| file.write_all(line.as_bytes()));
        let asked = written.and_then(|()| marey::ask_for_window(&process.folder));
        let is_asked = asked.with_context(|| format!("cannot ask {name}"))?;
        ensure!(is_asked, "{name} opens no windows: it is no Python program");
        let is_of_steps = wanted.starts_with("steps");
        let waits_for = "waiting for its main thread to run Python";
        Ok(Self {
            name,
            identity: process.identity,
            path,
            file,
            n_read: 1,
            n_looks: 0,
            is_of_steps,
            waits_for,
            told: "",
        })
    }

    /// Shows what the process has said since the last look. At its last word: whether it wrote a trace.
    fn listen(&mut self, console: &mut Console<'_>) -> Result<Option<bool>> {
        let name = self.name.clone();
        // Before its words: who has ended has said the last one.
        let is_over = marey::is_alive(&self.identity) != Some(true) || !self.path.exists();
        let said = self.new_lines()?;
        for line in &said {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("waiting", _) if self.is_of_steps => {
                    self.waits_for = "waiting for a denoising step; --seconds needs none";
                }
                ("starting", _) => {
                    self.waits_for =
                        "waiting for torch's profiler, whose first start takes seconds";
                }
                ("open", _) => {
                    console.say(&format!("{name}: the window is open"));
                    self.told = self.waits_for;
                }
                ("written", path) => {
                    console.show(&(escape::visible(path) + "\n"))?;
                    console.say(&format!("{name}: look at it with `marey analyze {path}`"));
                    return Ok(Some(true));
                }
                ("failed", why_not) => {
                    console.say(&format!("{name} wrote no trace: {why_not}"));
                    return Ok(Some(false));
                }
                _ => {}
            }
        }
        if is_over {
            console.say(&format!("{name} ended, or recorded no more, before there was a trace"));
            return Ok(Some(false));
        }
        self.n_looks += 1;
        if self.n_looks.is_multiple_of(PATIENCE) && self.told != self.waits_for {
            self.told = self.waits_for;
            console.say(&format!("{name}: still {}", self.waits_for));
        }
        Ok(None)
    }

    /// Whole lines that were not read before.
    fn new_lines(&mut self) -> Result<Vec<String>> {
        let mut bytes = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let new: Vec<String> = whole.skip(self.n_read).map(str::to_owned).collect();
        self.n_read += new.len();
        Ok(new)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

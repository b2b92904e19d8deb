//! `marey run`: records a program without changing it.
//!
//! ```text
//! prepare the job's folder ─► start the program ─► wait, pass signals on ─► complete captures ─► reports, summary ─► end as it did
//!                                                  sample it from outside, if it does not record
//! ```
//!
//! Whatever goes wrong around it, the program runs, and its exit code or signal is ours.

mod child;
mod conclusion;
mod job;
mod outside;
mod prometheus;
mod python;
mod signals;
mod startup_folder;
mod witness;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use marey::{Launch, LaunchCapture, Outside, Usage};

use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::Color;
use child::{Child, NoEnding};
use conclusion::Conclusion;
use job::Job;
use outside::{Started, Watch};

/// Run a program and record it
///
/// The program gets this terminal, and its exit code is passed on. A Python program is recorded with the sections that it opens,
/// without another change; a Rust program if it calls marey::start_from_env(). Of any other program that runs for more than a second
/// its processes and the machine are sampled, from outside.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "help texts for a terminal, where backticks are noise")]
#[command(after_help = "\
Examples:
  marey run -- python pipeline.py --steps 30
  marey run --output results -- torchrun --nproc-per-node 4 generate.py
  marey run --prometheus 9400 -- python server.py     figures while it runs, at http://127.0.0.1:9400/metrics
  marey run --torch-profile -- python pipeline.py     and a trace of its first steps by torch's profiler

Reports go to <DIR>/<job id>/, and those of the newest job also to <DIR> itself. What Marey says goes to standard error.")]
pub(crate) struct Arguments {
    /// Folder for recordings and reports [default: $MAREY_OUTPUT_DIR, else profiling_results]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Name of this job's folder [default: $MAREY_JOB_ID, else time, host and process]
    #[arg(long, value_name = "ID")]
    job_id: Option<String>,
    /// Show everything as text at the end, not only the first screen
    #[arg(long)]
    full: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Show no summary, only where the reports are
    #[arg(long)]
    no_summary: bool,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
    /// Serve figures of the running job to Prometheus at http://HOST:PORT/metrics. Without a host only this machine can ask;
    /// port 0 takes any that is free
    #[arg(long, value_name = "[HOST:]PORT", value_parser = prometheus::address)]
    prometheus: Option<String>,
    /// Record the first so many denoising steps of each process with torch's profiler, after one for warm-up [default: 3]
    #[arg(long, value_name = "STEPS", num_args = 0..=1, require_equals = true, default_missing_value = "3", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    torch_profile: Option<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Arguments {
    /// The user's command, with our own settings for the environment.
    fn command(&self, job: Option<&Job>) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        if let Some(steps) = self.torch_profile {
            command.env("MAREY_TORCH_PROFILE", steps.to_string());
        }
        match job {
            Some(job) => job.set_environment(&mut command),
            None => {
                command.env_remove("MAREY_ENABLED");
            }
        }
        command
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Exit {
    let prepared = Job::prepare(arguments.output.clone(), arguments.job_id.clone());
    let job =
        prepared.inspect_err(|problem| console.say(&format!("recording is off: {problem}"))).ok();
    let entry = python::entry(&arguments.command);
    if let (Some(_), Some(reason)) = (&job, &entry.closed_by) {
        console.say(&format!("Python itself is not recorded: {reason}"));
    }
    let asked = arguments.prometheus.as_deref().zip(job.as_ref());
    let server = asked.map(|(at, job)| prometheus::start(at, job, arguments.quiet, console));
    let server = match server.transpose() {
        Ok(server) => server,
        Err(problem) => {
            console.say(&problem);
            return Exit::USAGE;
        }
    };
    let command = arguments.command(job.as_ref());
    let words = arguments.command.iter();
    let outside = Outside::starting(words.map(|word| word.to_string_lossy().into_owned()));
    let (mut launch, oom_kills) = (None, marey::oom_kills());
    let ended = std::thread::scope(|scope| {
        child::run_to_end(command, |pid| {
            console.hand_over();
            let job = job.as_ref()?;
            let program = outside.started(pid);
            launch = job.launched(program.clone());
            Watch::start(scope, Started { job, entry: &entry, outside: program })
        })
    });
    drop(server);
    match ended {
        Err(NoEnding { text, code }) => {
            console.say(&text);
            Exit::Code(code)
        }
        Ok(child) => {
            let launched = launch.and_then(|launch| finished(launch, &child, oom_kills));
            if let Some(job) = &job {
                let launched = launched.as_ref();
                Conclusion { launched, arguments, job, child: &child, entry: &entry }.show(console);
            }
            child.exit()
        }
    }
}

/// Writes down how the program ended, `oom_kills` being those before it began. What was written.
fn finished(mut launch: LaunchCapture, child: &Child, oom_kills: Option<u64>) -> Option<Launch> {
    let (now, before) = (marey::oom_kills(), oom_kills);
    // What the kernel counts begins with what we held when the program was put in our place.
    let held = marey::peak_resident_bytes().unwrap_or(0);
    launch.launch = Launch {
        exit_code: child.exit_code(),
        signal: child.killed_by(),
        usage: Some(Usage { is_peak_at_most: child.usage.peak_bytes <= held, ..child.usage }),
        oom_kills: now.zip(before).map(|(now, before)| now.saturating_sub(before)),
        ..launch.launch
    };
    launch.finish()
}

//! One process of a job, in a line, and in `run.json`: there with times in seconds.

use std::path::Path;

use marey::Run;
use marey_analysis::job::program_name;
use marey_report::{RunStatus, StatusKind, escape, quantity, status_object};
use serde::{Serialize, Serializer};

use super::Launched;
use super::documents::seconds;

/// What a job's list says about one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    /// File name of its capture.
    pub file: String,
    /// Process id.
    pub pid: u32,
    /// Place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Host name; `None` when unknown.
    pub host: Option<String>,
    /// Process id of the recording process that it was forked from.
    pub forked_from: Option<u32>,
    /// Command line; not safe to print.
    pub command: Vec<String>,
    /// How it ended.
    #[serde(serialize_with = "as_status")]
    pub status: RunStatus,
    /// The section that it began last and had not left at its end, with those around it, outermost first; empty where it was in none.
    #[serde(skip)]
    pub open: Vec<String>,
    /// Wall clock at its start, nanoseconds since 1970.
    #[serde(rename = "start", serialize_with = "as_seconds")]
    pub start_unix_ns: u64,
    /// From the start to the end, or to the last thing known.
    #[serde(rename = "wall", serialize_with = "as_seconds")]
    pub wall_ns: u64,
    /// It recorded nothing but readings that the recorder takes by itself.
    #[serde(rename = "recorded_something", serialize_with = "as_negated")]
    pub is_empty: bool,
    /// It did not record itself: `marey run` sampled it from outside.
    #[serde(rename = "sampled_from_outside")]
    pub is_outside: bool,
}

impl Process {
    pub(super) fn new(capture: &Path, run: &Run) -> Self {
        let info = &run.info;
        let file = capture.file_name().unwrap_or_default();
        let fact = |key: &str| info.facts.iter().rev().find(|(k, _)| k == key);
        Self {
            file: file.to_string_lossy().into_owned(),
            pid: info.pid,
            rank: info.rank,
            host: (!info.host.is_empty()).then(|| info.host.clone()),
            forked_from: fact("forked_from").and_then(|(_, pid)| pid.parse().ok()),
            command: info.command.clone(),
            status: RunStatus::new(&run.ending()),
            open: open(run),
            start_unix_ns: info.start_unix_ns,
            wall_ns: run.wall_ns,
            is_empty: is_empty(run),
            is_outside: info.facts.iter().any(|(key, _)| key == "outside_of"),
        }
    }

    /// It ended, and did not close its capture.
    pub(super) fn is_gone(&self) -> bool {
        let kind = self.status.kind;
        matches!(kind, StatusKind::EndedWithoutClosing | StatusKind::Killed)
    }

    /// It is in no section, and no rank, of which each is waited for.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.rank.is_none()
    }

    /// One line for a terminal.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("pid {}", self.pid)];
        parts.extend(self.rank.map(|rank| format!("rank {rank}")));
        parts.extend(self.forked_from.map(|pid| format!("forked from {pid}")));
        parts.push(escape::cut(&self.status.text(), 120));
        parts.push(format!("wall time {}", quantity::duration_ns(self.wall_ns)));
        if self.is_outside {
            parts.push("sampled from outside".into());
        } else if self.is_empty {
            parts.push("recorded nothing".into());
        }
        format!("{}: {}", escape::visible(&self.file), parts.join(", "))
    }
}

fn open(run: &Run) -> Vec<String> {
    let last = run.open.iter().max_by_key(|open| (open.start_ns, open.node));
    let node = |node: u32| run.nodes.get(node as usize);
    let innermost = last.and_then(|open| node(open.node));
    let upwards = std::iter::successors(innermost, |below| node(below.parent?));
    // The root has no parent and no name.
    let names = upwards.filter(|found| found.parent.is_some());
    let mut names: Vec<String> = names.map(|found| found.name.clone()).collect();
    names.reverse();
    names
}

fn is_empty(run: &Run) -> bool {
    run.totals.iter().all(|totals| totals.count == 0)
        && run.open.is_empty()
        && run.sessions.is_empty()
        && run.events.is_empty()
        && run.counters.is_empty()
        && run.cache_events.is_empty()
        && run.generation.is_empty()
        && run.memory.iter().all(|reading| reading.label.is_none())
}

/// Whether a capture is of a program that was sampled from outside, by its name.
pub fn is_outside_capture(capture: &Path) -> bool {
    let name = capture.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"outside-")
}

fn as_status<S: Serializer>(status: &RunStatus, to: S) -> Result<S::Ok, S::Error> {
    status_object(status).serialize(to)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn as_seconds<S: Serializer>(ns: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(seconds(*ns))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn as_negated<S: Serializer>(is_not: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(!is_not)
}

/// Processes that are gone while the job went on, which a command that ends well does not say, with the section that they were in, in order of their start: `load.py (pid 7) in decode › read`. Without one they are named
/// where the kernel killed as many of the job for lack of memory. The job's documents are about the processes at the places `described`,
/// that at `main` before all.
///
/// ```text
/// marey run -- film.py   |==============================|  exit code 0
///   film.py                |----------------------------|
///     loader                  |--decode--x                   gone in a section: lost
///     worker of a pool        |--decode--|         x         terminated when it had nothing to do: as ever
///     loader                  |--decode--x|--tool--|         replaced by another program (`exec`)
/// ```
pub(super) fn lost(
    processes: &[Process],
    described: &[usize],
    main: usize,
    launched: Option<&Launched>,
) -> Vec<String> {
    let launch = launched.map(|launched| &launched.launch);
    let command = launch.map_or(processes[main].pid, |launch| launch.pid);
    let n_killed = launch.and_then(|launch| launch.oom_kills).unwrap_or(0);
    let is_lost = |at: &usize| {
        let one = &processes[*at];
        let is_of_job = match launched {
            Some(launched) => launched.saw(one.host.as_deref(), one.start_unix_ns),
            None => described.contains(at),
        };
        let mut later = processes.iter().skip(at + 1);
        let is_replaced = later.any(|next| (next.pid, &next.host) == (one.pid, &one.host));
        one.is_gone() && one.pid != command && is_of_job && !is_replaced
    };
    let gone: Vec<usize> = (0..processes.len()).filter(is_lost).collect();
    let are_killed = gone.len() as u64 <= n_killed;
    let gone = gone.into_iter().map(|at| &processes[at]);
    let named = gone.filter(|one| are_killed || !one.open.is_empty());
    named.map(name).collect()
}

fn name(process: &Process) -> String {
    let program = match program_name(&process.command) {
        "" => "a process",
        program => program,
    };
    let within = match process.open.as_slice() {
        [] => String::new(),
        open => format!(" in {}", open.join(" › ")),
    };
    format!("{program} (pid {}){within}", process.pid)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use marey::{Launch, Run, Status};
    use marey_testing::RunBuilder;

    use super::*;

    /// A process `(pid, how it ended, the section that it was in)`; each begins after the one before.
    type Drawn = (u32, Status, Option<&'static str>);

    fn process(start: u64, (pid, status, open): &Drawn) -> Process {
        let drawn = RunBuilder::new();
        let drawn = match open {
            Some(name) => drawn.open("decode", 10, |s| {
                s.open(name, 20, |_| {});
            }),
            None => drawn.section("decode", 10, 60, |_| {}),
        };
        let mut run = drawn.finish(70);
        run.info.pid = *pid;
        run.info.start_unix_ns = start;
        run.info.command = vec!["python".into(), "/home/me/load.py".into()];
        if *pid == 99 {
            run.info.host = "elsewhere".into();
        }
        run.status = status.clone();
        Process::new(Path::new("rank0.marey"), &run)
    }

    /// Of a job whose first process is the one that its documents are about; with so many that the kernel killed, below a launcher.
    fn lost_of(drawn: &[Drawn], n_killed: Option<u64>) -> Vec<String> {
        let processes: Vec<Process> = (0..).zip(drawn).map(|(at, one)| process(at, one)).collect();
        let launched = n_killed.map(|n| Launched {
            capture: PathBuf::from("launcher-6.launch"),
            run: Run::default(),
            launch: Launch { pid: 7, oom_kills: Some(n), ..Launch::default() },
        });
        let here = (0..processes.len()).filter(|index| processes[*index].host.is_none());
        let described: Vec<usize> = here.collect();
        lost(&processes, &described, 0, launched.as_ref())
    }

    const GONE: Status = Status::EndedWithoutClosing;

    #[test]
    fn who_is_gone_in_a_section_is_lost_and_an_idle_worker_is_not() {
        let main = (7, Status::Finished, None);
        let idle = (8, GONE, None);
        let busy = (9, GONE, Some("read"));
        let other_job = (99, GONE, Some("read"));
        let closed = (10, Status::Failed("ValueError".into()), None);
        let all = [main, idle, busy, other_job, closed];
        for launched in [None, Some(0), Some(1)] {
            assert_eq!(lost_of(&all, launched), ["load.py (pid 9) in decode › read"]);
        }
    }

    #[test]
    fn how_the_command_itself_ended_is_the_jobs_end_and_a_replaced_program_goes_on() {
        let all = [(7, GONE, Some("read"))];
        assert!(lost_of(&all, None).is_empty() && lost_of(&all, Some(0)).is_empty());
        let replaced =
            [(7, Status::Finished, None), (8, GONE, Some("read")), (8, Status::Finished, None)];
        assert!(lost_of(&replaced, Some(0)).is_empty());
        // A script is the command, and what the report is about one of its programs.
        let script = [(8, GONE, Some("read")), (9, Status::Finished, None)];
        assert_eq!(lost_of(&script, Some(0)), ["load.py (pid 8) in decode › read"]);
    }

    #[test]
    fn whom_the_kernel_killed_for_lack_of_memory_need_not_be_in_a_section() {
        let all = [(7, Status::Finished, None), (8, GONE, None)];
        assert!(lost_of(&all, Some(0)).is_empty());
        assert_eq!(lost_of(&all, Some(1)), ["load.py (pid 8)"]);
        // Nobody knows which of them.
        let two = [(7, Status::Finished, None), (8, GONE, None), (9, GONE, None)];
        assert!(lost_of(&two, Some(1)).is_empty());
    }
}

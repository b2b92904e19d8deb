//! How a command ended that `marey run` started, and what it used: what its launcher knows and no process of it can say.

use crate::run::{RunInfo, Status};

/// What a launcher saw of its command. It stands in the launcher's capture as facts `launch.…`, and readers put those beside the facts of the
/// processes that the command consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Process id of the command.
    pub pid: u32,
    /// Process id of the launcher.
    pub launcher: u32,
    /// Process id of the launcher around this one, whose command this is part of; `None` for most.
    pub within: Option<u32>,
    /// Its exit code; `None` while it runs, and when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// From its start to its end, nanoseconds; `None` while it runs.
    pub wall_ns: Option<u64>,
    /// What it used.
    pub usage: Option<Usage>,
    /// Processes of the launcher's control group, and of those below, that the kernel killed for lack of memory meanwhile. `None` when the
    /// group cannot be read.
    pub oom_kills: Option<u64>,
}

/// What a process and the descendants that were waited for used, as the kernel adds it up (`wait4`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in the program, nanoseconds.
    pub cpu_user_ns: u64,
    /// Processor time in the kernel, nanoseconds.
    pub cpu_system_ns: u64,
    /// Most resident bytes of the largest of them. The kernel counts from before the program was put in its launcher's place, so this is
    /// never less than what the launcher held.
    pub peak_bytes: u64,
    /// It is no more than what the launcher held: the processes had at most this.
    pub is_peak_at_most: bool,
}

impl Launch {
    /// What a launcher saw, as the facts of a run say it; `None` without one.
    pub fn of(info: &RunInfo) -> Option<Self> {
        let fact = |name: &str| info.fact(&format!("{PREFIX}{name}"));
        let number = |name: &str| fact(name)?.parse::<u64>().ok();
        let code = |name: &str| fact(name)?.parse::<i32>().ok();
        let usage = || {
            Some(Usage {
                cpu_user_ns: number("cpu_user_ns")?,
                cpu_system_ns: number("cpu_system_ns")?,
                peak_bytes: number("peak_bytes")?,
                is_peak_at_most: fact("is_peak_at_most") == Some("true"),
            })
        };
        Some(Self {
            pid: fact("pid")?.parse().ok()?,
            launcher: fact("launcher")?.parse().ok()?,
            within: fact("within").and_then(|pid| pid.parse().ok()),
            exit_code: code("exit_code"),
            signal: code("signal"),
            wall_ns: number("wall_ns"),
            usage: usage(),
            oom_kills: number("oom_kills"),
        })
    }

    /// The facts that say it; what is not known is not among them.
    pub fn facts(&self) -> Vec<(String, String)> {
        let text = |value: Option<u64>| value.map(|value| value.to_string());
        let code = |value: Option<i32>| value.map(|value| value.to_string());
        let usage = |of: fn(Usage) -> u64| text(self.usage.map(of));
        let at_most = self.usage.map(|usage| usage.is_peak_at_most.to_string());
        [
            ("pid", Some(self.pid.to_string())),
            ("launcher", Some(self.launcher.to_string())),
            ("within", self.within.map(|pid| pid.to_string())),
            ("exit_code", code(self.exit_code)),
            ("signal", code(self.signal)),
            ("wall_ns", text(self.wall_ns)),
            ("cpu_user_ns", usage(|usage| usage.cpu_user_ns)),
            ("cpu_system_ns", usage(|usage| usage.cpu_system_ns)),
            ("peak_bytes", usage(|usage| usage.peak_bytes)),
            ("is_peak_at_most", at_most),
            ("oom_kills", text(self.oom_kills)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((format!("{PREFIX}{name}"), value?)))
        .collect()
    }

    /// Whether a fact is one of these.
    pub fn is_fact(key: &str) -> bool {
        key.starts_with(PREFIX)
    }

    /// How the command ended; `None` while it runs, or where its launcher ended before it.
    pub fn status(&self) -> Option<Status> {
        let killed = match self.oom_kills.unwrap_or(0) {
            0 => None,
            1 => Some("the kernel killed 1 process".to_owned()),
            n => Some(format!("the kernel killed {n} processes")),
        };
        Some(match (self.signal, self.exit_code, killed) {
            (Some(SIGKILL), _, Some(_)) => Status::OutOfMemory("the kernel killed it".into()),
            (Some(signal), _, _) => Status::Killed(signal),
            (None, Some(0), None) => Status::Finished,
            (None, Some(code), Some(killed)) => {
                Status::OutOfMemory(format!("{killed}, exit code {code}"))
            }
            (None, Some(code), None) => Status::Failed(format!("exit code {code}")),
            (None, None, _) => return None,
        })
    }
}

/// `SIGKILL (9)`. Numbers of Linux on x86 and Arm: signal(7).
pub fn signal_text(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    format!("{name} ({signal})")
}

const PREFIX: &str = "launch.";
const SIGKILL: i32 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;

    fn ended(exit_code: Option<i32>, signal: Option<i32>, oom_kills: Option<u64>) -> Launch {
        Launch { pid: 7, exit_code, signal, oom_kills, ..Launch::default() }
    }

    /// A process of a command that ended so.
    fn ending(pid: u32, own: Status, launch: &Launch) -> Status {
        let mut run = Run { status: own, ..Run::default() };
        run.info.pid = pid;
        run.info.facts = launch.facts();
        run.ending()
    }

    #[test]
    fn what_was_seen_comes_back_from_facts() {
        let full = Launch {
            launcher: 6,
            within: Some(5),
            wall_ns: Some(1_500_000_000),
            usage: Some(Usage {
                cpu_user_ns: 1,
                cpu_system_ns: 2,
                peak_bytes: 3,
                is_peak_at_most: true,
            }),
            ..ended(Some(3), None, Some(0))
        };
        for launch in [full, ended(None, Some(9), None), ended(None, None, None)] {
            let info = RunInfo { facts: launch.facts(), ..RunInfo::default() };
            assert_eq!(Launch::of(&info), Some(launch));
        }
        assert_eq!(Launch::of(&RunInfo::default()), None);
    }

    #[test]
    fn a_kill_for_lack_of_memory_is_told_from_other_ends() {
        let failed = |reason: &str| Some(Status::Failed(reason.into()));
        let no_memory = |reason: &str| Some(Status::OutOfMemory(reason.into()));
        for (code, signal, kills, expected) in [
            (Some(0), None, Some(0), Some(Status::Finished)),
            (Some(0), None, Some(2), no_memory("the kernel killed 2 processes, exit code 0")),
            (Some(5), None, Some(0), failed("exit code 5")),
            (Some(5), None, None, failed("exit code 5")),
            (Some(137), None, Some(1), no_memory("the kernel killed 1 process, exit code 137")),
            (None, Some(9), Some(1), no_memory("the kernel killed it")),
            (None, Some(9), Some(0), Some(Status::Killed(9))),
            (None, Some(9), None, Some(Status::Killed(9))),
            (None, Some(15), Some(1), Some(Status::Killed(15))),
            (None, None, None, None),
        ] {
            assert_eq!(ended(code, signal, kills).status(), expected);
        }
    }

    #[test]
    fn a_process_has_failed_where_its_command_has() {
        let failed = || Status::Failed("ValueError".into());
        let of_code = |code: &str| Status::Failed(code.into());
        let three = ended(Some(3), None, None);
        assert_eq!(ending(7, Status::Finished, &three), of_code("exit code 3"));
        assert_eq!(ending(8, Status::Finished, &three), of_code("exit code 3"));
        assert_eq!(ending(8, failed(), &three), failed());
        let fine = ended(Some(0), None, None);
        assert_eq!(ending(7, failed(), &fine), Status::Finished);
        assert_eq!(ending(8, failed(), &fine), failed());
        let killed = ended(None, Some(11), None);
        assert_eq!(ending(7, Status::EndedWithoutClosing, &killed), Status::Killed(11));
        let running = ended(None, None, None);
        assert_eq!(ending(7, Status::Running, &running), Status::Running);
    }

    #[test]
    fn exceptions_for_lack_of_memory_are_known_by_their_names() {
        let no_memory =
            |name: &str| matches!(Status::of_failure(name.into()), Status::OutOfMemory(_));
        assert!(no_memory("MemoryError") && no_memory("torch.OutOfMemoryError"));
        assert!(no_memory("torch.cuda.OutOfMemoryError"));
        assert!(no_memory("RuntimeError of DefaultCPUAllocator"));
        assert!(!no_memory("ValueError") && !no_memory("app.NotMemoryError"));
    }
}

//! A job for those who watch many: its figures for Prometheus, while it runs.
//!
//! ```text
//! rings of the job's processes ─► LiveProcesses ─► metrics: Prometheus asks, one look at the processes for each request
//! ```
//!
//! All of it happens in `marey run`: the program neither helps nor waits, and nothing that a client does reaches it.

use std::io;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use marey_report::live::Fleet;

use super::job::Job;
use crate::console::Console;
use crate::http_server::{Answer, Request, Server, Service};
use crate::live_processes::LiveProcesses;

/// How long a client may take to ask, and then to read what it gets.
const PATIENCE: Duration = Duration::from_secs(5);

/// Processes that are looked at at a time, and that are over and still shown.
const MAX_PROCESSES: usize = 256;

/// Host and port of `9400`, `host:9400` or `[::1]:9400`. Without a host only this machine can ask.
pub(super) fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
    let port: u16 = port.parse().map_err(|_| "not a port (0 to 65535), or HOST:PORT")?;
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || !is_bracketed && host.contains(':') {
        return Err("not a host before the port; an IPv6 address stands in brackets".into());
    }
    Ok(format!("{host}:{port}"))
}

/// The figures of a job.
#[derive(Debug)]
struct Metrics {
    /// Name of this machine; empty when the system does not say.
    host: String,
    job_id: String,
    seen: Mutex<Seen>,
    /// Nobody listens on other machines.
    is_local: bool,
}

/// What is known of a job.
#[derive(Debug)]
struct Seen {
    processes: LiveProcesses,
    /// What recordings had counted when they ended.
    over: Fleet,
}

/// Serves the figures until the server is dropped.
///
/// # Errors
/// When it cannot be had, in words.
pub(super) fn start(
    address: &str,
    job: &Job,
    is_quiet: bool,
    console: &mut Console<'_>,
) -> Result<Server, String> {
    let server = serve(address, job).map_err(|problem| {
        format!(
            "cannot serve metrics at {address}: {problem}; choose another place with --prometheus"
        )
    })?;
    // Nobody could know a port that was free.
    if !is_quiet || address.ends_with(":0") {
        console.say(&format!("metrics are at http://{}/metrics", server.address()));
    }
    Ok(server)
}

fn serve(address: &str, job: &Job) -> io::Result<Server> {
    let listener = TcpListener::bind(address)?;
    let host = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    let earlier = job.earlier.iter().cloned();
    let metrics = Metrics {
        host: String::from_utf8_lossy(host.trim_ascii()).into_owned(),
        job_id: job.id.clone(),
        is_local: listener.local_addr()?.ip().is_loopback(),
        seen: Mutex::new(Seen {
            processes: LiveProcesses::of_job_that_starts(
                job.folder.clone(),
                earlier,
                MAX_PROCESSES,
            ),
            over: Fleet::default(),
        }),
    };
    Server::start(listener, PATIENCE, metrics)
}

impl Service for Metrics {
    fn answer(&self, request: &Request<'_>) -> Answer {
        allowed(request, self.is_local).unwrap_or_else(|| {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let now = seen.look();
            let left_out = seen.processes.left_out();
            drop(seen);
            Answer::text(
                "text/plain; version=0.0.4; charset=utf-8",
                now.exposition(&self.host, &self.job_id, left_out),
            )
        })
    }
}

impl Seen {
    /// What all its processes on this machine have done so far.
    fn look(&mut self) -> Fleet {
        self.processes.refresh();
        for over in self.processes.take_over(0) {
            self.over.take(&over.snapshot);
        }
        let running = self.processes.all();
        let runs = |pid| running.iter().any(|p| p.process.pid() == pid);
        self.over.forget(MAX_PROCESSES, runs);
        let mut now = self.over.clone();
        for process in running {
            now.take(&process.snapshot);
        }
        now
    }
}

/// The refusal of a request; `None` where it gets the figures. Whoever listens on this machine alone answers only to this machine's names: a
/// name that leads here from elsewhere (DNS rebinding) shows in `Host`.
fn allowed(request: &Request<'_>, is_local: bool) -> Option<Answer> {
    if is_local && !request.header("host").is_none_or(names_this_machine) {
        return Some(Answer::status("403 Forbidden"));
    }
    match request.method {
        _ if request.path != "/metrics" => Some(Answer::status("404 Not Found")),
        "GET" | "HEAD" => None,
        _ => Some(Answer::status("405 Method Not Allowed").with("Allow", "GET, HEAD")),
    }
}

/// Any port: a tunnel may lead here from another one.
fn names_this_machine(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].contains(&without_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the figures are given; `None` for what is no request.
    fn given(head: &str, is_local: bool) -> Option<bool> {
        Request::parse(head.as_bytes()).map(|request| allowed(&request, is_local).is_none())
    }

    #[test]
    fn one_path_is_served_and_everything_else_is_refused() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: localhost:9400", Some(true)),
            ("GET /metrics?x=1 HTTP/1.0", Some(true)),
            ("HEAD /metrics HTTP/1.1\r\nhost: 127.0.0.1:1", Some(true)),
            ("GET /metrics HTTP/1.1\r\nHost: [::1]:9400", Some(true)),
            ("POST /metrics HTTP/1.1\r\nHost: localhost", Some(false)),
            ("GET / HTTP/1.1\r\nHost: localhost", Some(false)),
            ("GET /metrics/../secret HTTP/1.1\r\nHost: localhost", Some(false)),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example:9400", Some(false)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost", Some(false)),
            ("GET /metrics HTTP/2", None),
            ("GET /metrics HTTP/1.1\r\nno field", None),
            ("", None),
            ("\u{0}\u{1}", None),
        ] {
            assert_eq!(given(head, true), expected, "{head:?}");
        }
        let elsewhere = "GET /metrics HTTP/1.1\r\nHost: node7:9400";
        assert_eq!(given(elsewhere, false), Some(true), "who listens for others");
    }

    #[test]
    fn only_this_machine_can_ask_unless_a_host_is_given() {
        let given = [
            ("9400", "127.0.0.1:9400"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:9400", "0.0.0.0:9400"),
            ("box:1", "box:1"),
            ("[::1]:9400", "[::1]:9400"),
        ];
        for (text, address) in given {
            assert_eq!(super::address(text).unwrap(), address);
        }
        for text in ["", "x", "65536", "-1", ":9400", "::1:9400", "box:", "box"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}

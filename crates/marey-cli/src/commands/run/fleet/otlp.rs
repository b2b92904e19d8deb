//! Sends the figures and phases of a job to a collector of OpenTelemetry.
//!
//! ```text
//! program   |───────────────────────────────────|
//! look for  · · · · · · · · · · · · · · · · · · ·           new processes
//! metrics        |       |       |       |       |          each interval, and at its end
//! spans                                             |       when the captures are complete
//! reports                                        |──|
//! waited for                                        |──|    3 s at most
//! ```
//!
//! One thread does it all, one request at a time: a collector that is slow gets fewer, and nothing piles up. All figures are totals, so
//! one that was not sent is in the next.

mod collector;
mod encode;
mod environment;
mod headers;
mod metrics;
mod pairs;
mod service;
mod spans;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use std::{io, mem};

use prost::Message;

use self::collector::{Collector, Failure};
use self::environment::Environment;
use self::service::Service;
pub(super) use self::spans::JobSpan;
use super::endpoint::Endpoint;
use super::members::Members;

/// How long the end of the run waits for the collector.
const LAST_WAIT: Duration = Duration::from_secs(3);
/// Time between two looks for new processes: one that comes and goes in between is in the spans alone.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// To whom is sent, and as what.
#[derive(Debug)]
pub(super) struct Plan {
    endpoint: Endpoint,
    metrics: Collector,
    traces: Collector,
    service: Service,
}

/// What is sent, until it is ended.
#[derive(Debug)]
pub(super) struct Otlp {
    orders: Sender<Order>,
    outcome: Receiver<Outcome>,
    endpoint: String,
}

/// What the thread is told.
#[derive(Debug)]
enum Order {
    /// The program has ended.
    Ended,
    /// The captures are complete. The last order.
    Captures(JobSpan, Vec<PathBuf>),
}

/// What became of what was sent.
#[derive(Debug, Default)]
struct Outcome {
    sent: u64,
    /// Why the first one failed, and how many did.
    failed: Option<(String, u64)>,
    /// The phases were not even tried: nobody had answered before.
    is_without_phases: bool,
}

impl Outcome {
    /// What did not arrive, in words; `None` when all did.
    fn problem(&self, endpoint: &str) -> Option<String> {
        let (why, failed) = self.failed.as_ref()?;
        let phases = if self.is_without_phases {
            "; the phases were not sent"
        } else {
            ""
        };
        Some(format!(
            "{failed} of {} requests to the collector at {endpoint} failed and were dropped: {why}{phases}",
            self.sent.saturating_add(*failed)
        ))
    }
}

struct Push {
    plan: Plan,
    members: Arc<Mutex<Members>>,
    outcome: Outcome,
    /// The last request met nobody who answers: another one would only take time.
    is_silent: bool,
}

impl Plan {
    /// As the environment says. `command` is the program's.
    ///
    /// # Errors
    /// When a variable of OpenTelemetry is wrong; names it, without its value.
    pub(super) fn of(endpoint: Endpoint, command: &[OsString]) -> Result<Self, String> {
        let environment = Environment::of_this_process();
        Ok(Self {
            metrics: Collector::of_signal("metrics", &endpoint, &environment)?,
            traces: Collector::of_signal("traces", &endpoint, &environment)?,
            service: Service::of(command, &environment)?,
            endpoint,
        })
    }
}

impl Otlp {
    /// Begins to send.
    ///
    /// # Errors
    /// When no thread is to be had.
    pub(super) fn start(
        plan: Plan,
        interval: Duration,
        members: Arc<Mutex<Members>>,
    ) -> io::Result<Self> {
        let (orders, ordered) = channel();
        let (told, outcome) = channel();
        let endpoint = plan.endpoint.to_string();
        let push = Push {
            plan,
            members,
            outcome: Outcome::default(),
            is_silent: false,
        };
        Builder::new().name("marey-otlp".into()).spawn(move || {
            // Nobody waits for it any more when that fails.
            told.send(push.work(&ordered, interval)).ok();
        })?;
        Ok(Self {
            orders,
            outcome,
            endpoint,
        })
    }

    /// The program has ended: its last figures are sent now.
    pub(super) fn program_ended(&self) {
        self.orders.send(Order::Ended).ok();
    }

    /// Sends the phases of what was recorded, and waits for the end of it, a moment. What failed, in words.
    pub(super) fn finish(self, job: JobSpan, captures: Vec<PathBuf>) -> Option<String> {
        self.orders.send(Order::Captures(job, captures)).ok();
        let endpoint = &self.endpoint;
        match self.outcome.recv_timeout(LAST_WAIT) {
            Err(_) => Some(format!(
                "the collector at {endpoint} did not take everything in time: the end of the run is not waiting for it"
            )),
            Ok(outcome) => outcome.problem(endpoint),
        }
    }
}

impl Push {
    fn work(mut self, orders: &Receiver<Order>, interval: Duration) -> Outcome {
        let mut next_ns = after(interval);
        loop {
            let left = Duration::from_nanos(next_ns.saturating_sub(marey::monotonic_ns()));
            match orders.recv_timeout(left.min(LOOK_AROUND)) {
                Err(RecvTimeoutError::Timeout) if left <= LOOK_AROUND => {
                    self.push_metrics();
                    next_ns = after(interval);
                }
                Err(RecvTimeoutError::Timeout) => self.with_members(Members::find),
                Ok(Order::Ended) => {
                    self.push_metrics();
                    next_ns = u64::MAX;
                }
                Ok(Order::Captures(job, captures)) => {
                    self.push_spans(&job, &captures);
                    return mem::take(&mut self.outcome);
                }
                Err(RecvTimeoutError::Disconnected) => return mem::take(&mut self.outcome),
            }
        }
    }

    fn push_metrics(&mut self) {
        let fleet = self.with_members(Members::look);
        let request = metrics::request(&fleet, &self.plan.service, marey::unix_ns());
        let result = self.plan.metrics.send(&request.encode_to_vec());
        self.count(result);
    }

    fn push_spans(&mut self, job: &JobSpan, captures: &[PathBuf]) {
        if self.is_silent {
            self.outcome.is_without_phases = true;
            return;
        }
        let (host, job_id) = self.with_members(|members| members.place());
        let request = spans::request(job, captures, &host, &job_id, &self.plan.service);
        let result = self.plan.traces.send(&request.encode_to_vec());
        self.count(result);
    }

    fn count(&mut self, result: Result<(), Failure>) {
        self.is_silent = matches!(&result, Err(failure) if failure.is_silent);
        match result {
            Ok(()) => self.outcome.sent += 1,
            Err(failure) => {
                let failed = self.outcome.failed.get_or_insert((failure.why, 0));
                failed.1 += 1;
            }
        }
    }

    fn with_members<T>(&self, ask: impl FnOnce(&mut Members) -> T) -> T {
        ask(&mut self.members.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn after(interval: Duration) -> u64 {
    let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    marey::monotonic_ns().saturating_add(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_were_never_tried_are_said() {
        let mut outcome = Outcome {
            sent: 1,
            failed: Some(("timeout".into(), 2)),
            is_without_phases: true,
        };
        let said = outcome.problem("http://a").unwrap_or_default();
        assert_eq!(
            said,
            "2 of 3 requests to the collector at http://a failed and were dropped: timeout; the phases were not sent"
        );
        outcome.is_without_phases = false;
        let said = outcome.problem("http://a").unwrap_or_default();
        assert!(said.ends_with(": timeout"), "{said}");
        assert_eq!(Outcome::default().problem("http://a"), None);
    }
}

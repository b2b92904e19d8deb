//! A job for those who watch many: its figures for monitoring systems, while it runs.
//!
//! ```text
//! rings of the job's processes ─► members (live looks) ─┬─► server    Prometheus asks
//!                                                       └─► otlp      a collector is told (feature `otlp`)
//! ```
//!
//! All of it happens in `marey run`: the program neither helps nor waits, and nothing that a client or a collector does reaches it.

mod address;
mod endpoint;
mod members;
#[cfg(feature = "otlp")]
mod otlp;
mod request;
mod server;

use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) use address::Address;
pub(super) use endpoint::Endpoint;
use members::Members;
use server::Server;

use super::job::Job;
use crate::console::Console;

/// What `--otlp` needs that is not there.
#[cfg(not(feature = "otlp"))]
const WITHOUT_OTLP: &str = "this marey was built without OpenTelemetry; build it with the feature: \
    cargo install --path crates/marey-cli --features otlp, or for Python maturin build --release --features otlp";

/// What is asked for on the command line.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(
    clippy::doc_markdown,
    clippy::option_option,
    reason = "help texts for a terminal; an option whose value is optional"
)]
pub(super) struct Arguments {
    /// Serve figures of the running job to Prometheus at http://HOST:PORT/metrics. Without a host only this machine can ask;
    /// port 0 takes any that is free
    #[arg(long, value_name = "[HOST:]PORT")]
    prometheus: Option<Address>,
    /// Send figures while the job runs, and its phases at the end, to a collector of OpenTelemetry, by OTLP over HTTP
    /// [default endpoint: $OTEL_EXPORTER_OTLP_ENDPOINT, else http://127.0.0.1:4318]
    #[arg(long, value_name = "ENDPOINT", num_args = 0..=1)]
    otlp: Option<Option<Endpoint>>,
    /// Time between two sendings, 0.1 to 3600
    #[arg(long, value_name = "SECONDS", default_value = "10", requires = "otlp", value_parser = crate::commands::top::interval)]
    otlp_interval: Duration,
}

/// A job that is watched from elsewhere, until it is ended.
#[derive(Debug)]
pub(super) struct Fleet {
    server: Option<Server>,
    #[cfg(feature = "otlp")]
    otlp: Option<otlp::Otlp>,
    /// Wall clock at the start of the program, and at its end.
    #[cfg(feature = "otlp")]
    unix_ns: [u64; 2],
}

impl Arguments {
    /// Begins what is asked for; `None` when that is nothing. `command` is the program's.
    ///
    /// # Errors
    /// When it cannot be had, in words.
    pub(super) fn start(
        &self,
        job: Option<&Job>,
        command: &[OsString],
        is_quiet: bool,
        console: &mut Console<'_>,
    ) -> Result<Option<Fleet>, String> {
        let endpoint = self
            .otlp
            .as_ref()
            .map(|given| Endpoint::or_of_environment(given.as_ref()))
            .transpose()?;
        #[cfg(not(feature = "otlp"))]
        if endpoint.is_some() {
            return Err(WITHOUT_OTLP.into());
        }
        #[cfg(feature = "otlp")]
        let plan = endpoint
            .map(|endpoint| otlp::Plan::of(endpoint, command))
            .transpose()?;
        let Some(job) = job.filter(|_| self.prometheus.is_some() || self.otlp.is_some()) else {
            return Ok(None);
        };
        let members = Arc::new(Mutex::new(Members::of(job)));
        let server = self.prometheus.as_ref().map(|address| {
            let server = Server::start(address, Arc::clone(&members));
            server.map_err(|problem| {
                format!("cannot serve metrics at {address}: {problem}; choose another place with --prometheus")
            })
        });
        let server = server.transpose()?;
        if let (Some(address), Some(server)) = (&self.prometheus, &server) {
            // Nobody could know a port that was free.
            if !is_quiet || address.is_any_port() {
                console.say(&format!("metrics are at {}", server.url()));
            }
        }
        #[cfg(feature = "otlp")]
        let otlp = plan
            .map(|plan| otlp::Otlp::start(plan, self.otlp_interval, members))
            .transpose()
            .map_err(|problem| format!("cannot send metrics: {problem}"))?;
        #[cfg(not(feature = "otlp"))]
        drop((command, members));
        Ok(Some(Fleet {
            server,
            #[cfg(feature = "otlp")]
            otlp,
            #[cfg(feature = "otlp")]
            unix_ns: [marey::unix_ns(); 2],
        }))
    }
}

impl Fleet {
    /// The program has ended: nothing is served any more, and the last figures are sent.
    pub(super) fn program_ended(&mut self) {
        self.server = None;
        #[cfg(feature = "otlp")]
        if let Some(otlp) = &self.otlp {
            otlp.program_ended();
            self.unix_ns[1] = marey::unix_ns();
        }
    }

    /// The captures of the job are complete. Waits a moment for a collector, and says what it did not take.
    #[cfg_attr(
        not(feature = "otlp"),
        expect(clippy::unused_self, reason = "nothing is left to end")
    )]
    pub(super) fn finish(self, job: &Job, is_failed: bool, console: &mut Console<'_>) {
        #[cfg(feature = "otlp")]
        if let Some(otlp) = self.otlp {
            let span = otlp::JobSpan {
                start_unix_ns: self.unix_ns[0],
                end_unix_ns: self.unix_ns[1],
                is_failed,
            };
            let captures = crate::run_folder::captures(&job.folder).unwrap_or_default();
            let captures = captures
                .into_iter()
                .filter(|capture| !job.earlier.contains(capture))
                .collect();
            if let Some(problem) = otlp.finish(span, captures) {
                console.say(&problem);
            }
        }
        #[cfg(not(feature = "otlp"))]
        let _ = (job, is_failed, console);
    }
}

//! A job for those who watch many: its figures for Prometheus, while it runs.
//!
//! ```text
//! rings of the job's processes ─► LiveProcesses ─► metrics: Prometheus asks
//! ```
//!
//! All of it happens in `marey run`: the program neither helps nor waits, and nothing that a client does reaches it.

mod address;
mod metrics;

pub(super) use address::Address;

use super::job::Job;
use crate::console::Console;
use crate::http_server::Server;

/// What is asked for on the command line.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Serve figures of the running job to Prometheus at http://HOST:PORT/metrics. Without a host only this machine can ask;
    /// port 0 takes any that is free
    #[arg(long, value_name = "[HOST:]PORT")]
    prometheus: Option<Address>,
}

impl Arguments {
    /// Serves what is asked for until the server is dropped; `None` when that is nothing.
    ///
    /// # Errors
    /// When it cannot be had, in words.
    pub(super) fn start(
        &self,
        job: Option<&Job>,
        is_quiet: bool,
        console: &mut Console<'_>,
    ) -> Result<Option<Server>, String> {
        let (Some(address), Some(job)) = (&self.prometheus, job) else {
            return Ok(None);
        };
        let (server, url) = metrics::serve(address, job).map_err(|problem| {
            format!("cannot serve metrics at {address}: {problem}; choose another place with --prometheus")
        })?;
        // Nobody could know a port that was free.
        if !is_quiet || address.is_any_port() {
            console.say(&format!("metrics are at {url}"));
        }
        Ok(Some(server))
    }
}

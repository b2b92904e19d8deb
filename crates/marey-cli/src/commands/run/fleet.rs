//! A job for those who watch many: its figures for monitoring systems, while it runs.
//!
//! ```text
//! rings of the job's processes ─► members (live looks) ─► server    Prometheus asks
//! ```
//!
//! All of it happens in `marey run`: the program neither helps nor waits, and nothing that a client does reaches it.

mod address;
mod members;
mod request;
mod server;

use std::io;
use std::sync::{Arc, Mutex};

pub(super) use address::Address;
use members::Members;
use server::Server;

use super::job::Job;

/// A job that is watched from elsewhere, until it is ended.
#[derive(Debug)]
pub(super) struct Fleet {
    server: Option<Server>,
}

impl Fleet {
    /// Serves the figures of a job.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub(super) fn start(prometheus: Option<&Address>, job: &Job) -> io::Result<Self> {
        let members = Arc::new(Mutex::new(Members::of(job)));
        let server = prometheus
            .map(|address| Server::start(address, Arc::clone(&members)))
            .transpose()?;
        Ok(Self { server })
    }

    /// Where the figures are served; `None` when they are not.
    pub(super) fn url(&self) -> Option<String> {
        self.server.as_ref().map(Server::url)
    }
}

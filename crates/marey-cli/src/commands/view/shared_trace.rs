//! One trace for one site, on this machine only.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::http_server::{Answer, Request, Server, Service};

/// How long a client may take to ask, and to read a piece.
const PATIENCE: Duration = Duration::from_secs(30);
const METHODS: &str = "GET, HEAD, OPTIONS";

/// What a view waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A client has read the whole trace.
    Read,
    /// This signal came.
    Signal(i32),
}

/// A trace, and to whom it is given.
#[derive(Debug)]
struct SharedTrace {
    trace: Arc<File>,
    length: u64,
    /// The only path.
    path: String,
    /// The only site.
    origin: String,
    port: u16,
    events: Sender<Event>,
}

/// Serves a trace to pages of `origin`, and the address that it has; port 0 takes any that is free.
///
/// # Errors
/// When the port is taken.
pub(super) fn serve(
    trace: File,
    origin: &str,
    port: u16,
    events: Sender<Event>,
) -> io::Result<(Server, String)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let port = listener.local_addr()?.port();
    let path = format!("/{}/trace.pftrace.gz", random_name()?);
    let address = format!("http://127.0.0.1:{port}{path}");
    let shared = SharedTrace {
        length: trace.metadata()?.len(),
        trace: Arc::new(trace),
        path,
        origin: origin.to_owned(),
        port,
        events,
    };
    Ok((Server::start(listener, PATIENCE, shared)?, address))
}

impl Service for SharedTrace {
    /// A name that leads here from elsewhere (DNS rebinding) shows in `Host`, another site in `Origin`. Browsers send `Origin` whenever a page
    /// reads from another site, and this port is always another site than the viewer's: whoever sends none is not the viewer's page.
    fn answer(&self, request: &Request<'_>) -> Answer {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let host = request.header("host").unwrap_or_default();
        let is_us = names.iter().any(|name| name == host);
        let answer = if !is_us || request.header("origin") != Some(&self.origin) {
            Answer::status("403 Forbidden")
        } else if request.path != self.path {
            Answer::status("404 Not Found")
        } else {
            self.answer_to_viewer(request)
        };
        answer.with("Vary", "Origin")
    }

    fn was_read(&self) {
        // Whoever waits may have stopped.
        self.events.send(Event::Read).ok();
    }
}

impl SharedTrace {
    fn answer_to_viewer(&self, request: &Request<'_>) -> Answer {
        let answer = match request.method {
            "GET" | "HEAD" => Answer::file(&self.trace, self.length),
            "OPTIONS" => {
                let leave = Answer::status("204 No Content");
                let leave = leave.with("Access-Control-Allow-Methods", METHODS);
                // It asks to reach from a public site into this machine.
                match request.header("access-control-request-private-network") {
                    Some("true") => leave.with("Access-Control-Allow-Private-Network", "true"),
                    _ => leave,
                }
            }
            _ => return Answer::status("405 Method Not Allowed").with("Allow", METHODS),
        };
        answer.with("Access-Control-Allow-Origin", &self.origin)
    }
}

/// 128 bits that nobody can guess, as text.
fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

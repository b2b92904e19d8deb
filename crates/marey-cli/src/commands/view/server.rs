//! Gives one trace to one site, on this machine only.
//!
//! ```text
//! accepting thread ─► a thread for each client, few at a time ─► Event::Read when one has read it all
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::connection::{Served, serve};
use super::request::Allowed;

/// Clients at the same time; more are turned away.
const MAX_CLIENTS: usize = 16;
/// How long those who are still reading may go on when one has read it all.
const LAST_WAIT: Duration = Duration::from_secs(15);

/// What a view waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A client has read the whole trace.
    Read,
    /// This signal came.
    Signal(i32),
}

/// A server, until it is ended.
#[derive(Debug)]
pub(super) struct Server {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    served: Served,
    has_ended: AtomicBool,
    n_clients: Mutex<usize>,
    client_left: Condvar,
}

impl Server {
    /// Serves a trace to pages of `origin`; port 0 takes any that is free.
    ///
    /// # Errors
    /// When the port is taken.
    pub(super) fn start(
        trace: File,
        origin: &str,
        port: u16,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let shared = Arc::new(Shared {
            served: Served {
                length: trace.metadata()?.len(),
                trace,
                allowed: Allowed {
                    path: format!("/{}/trace.pftrace.gz", random_name()?),
                    origin: origin.to_owned(),
                    port: listener.local_addr()?.port(),
                },
            },
            has_ended: AtomicBool::new(false),
            n_clients: Mutex::new(0),
            client_left: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        let accept = move || accepting.accept(&listener, &events);
        let thread = std::thread::Builder::new().name("marey-view".into());
        let accepting = marey::without_signals(|| thread.spawn(accept))?;
        Ok(Self {
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where the trace is.
    pub(super) fn address(&self) -> String {
        let Allowed { path, port, .. } = &self.shared.served.allowed;
        format!("http://127.0.0.1:{port}{path}")
    }

    /// Takes no more clients; those that are being served may finish, for a while.
    pub(super) fn end(mut self) {
        self.stop_accepting();
        let clients = self.shared.clients();
        let is_busy = |n: &mut usize| *n > 0;
        // Whoever is not done by then is cut off with the process.
        drop(
            self.shared
                .client_left
                .wait_timeout_while(clients, LAST_WAIT, is_busy),
        );
    }

    fn stop_accepting(&mut self) {
        self.shared.has_ended.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        drop(TcpStream::connect((
            Ipv4Addr::LOCALHOST,
            self.shared.served.allowed.port,
        )));
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.accepting.is_some() {
            self.stop_accepting();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener, events: &Sender<Event>) {
        for client in listener.incoming() {
            if self.has_ended.load(Ordering::Acquire) {
                return;
            }
            // A client that is gone already is none.
            let Ok(client) = client else { continue };
            let mut n_clients = self.clients();
            if *n_clients == MAX_CLIENTS {
                continue;
            }
            *n_clients += 1;
            drop(n_clients);
            let (shared, events) = (Arc::clone(self), events.clone());
            let thread = std::thread::Builder::new().name("marey-client".into());
            let work = move || {
                if serve(client, &shared.served).is_ok_and(|has_read| has_read) {
                    // Whoever waits may have stopped.
                    events.send(Event::Read).ok();
                }
                shared.leave();
            };
            let started = marey::without_signals(|| thread.spawn(work));
            if started.is_err() {
                self.leave();
            }
        }
    }

    fn leave(&self) {
        *self.clients() -= 1;
        self.client_left.notify_all();
    }

    fn clients(&self) -> MutexGuard<'_, usize> {
        self.n_clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// 128 bits that nobody can guess, as text.
fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

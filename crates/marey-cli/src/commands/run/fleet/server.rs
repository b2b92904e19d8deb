//! Serves the figures of a job to whoever scrapes them.
//!
//! ```text
//! accepting thread ─► a thread for each client, few at a time ─► one look at the job's processes ─► text
//!        ▲
//!        └── waker: its other end is closed when the job is over
//! ```

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use marey_report::fleet::exposition;
use rustix::event::{PollFd, PollFlags, poll};

use super::Address;
use super::members::Members;
use super::request::Answer;

/// Clients at the same time; more are turned away.
const MAX_CLIENTS: usize = 16;
/// Bytes of a request's head.
const MAX_HEAD: usize = 8 << 10;
/// How long a client may take to ask, and then to read what it gets.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server, until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Server {
    address: SocketAddr,
    /// Held open while it serves.
    waker: Option<UnixStream>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    members: Mutex<Members>,
    is_local: bool,
    n_clients: AtomicUsize,
}

impl Server {
    /// Listens. Port 0 takes any that is free.
    ///
    /// # Errors
    /// When the port is taken, the host is not one of this machine's, or no thread is to be had.
    pub(super) fn start(address: &Address, members: Members) -> io::Result<Self> {
        let listener = TcpListener::bind((address.host.as_str(), address.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            members: Mutex::new(members),
            is_local: address.ip().is_loopback(),
            n_clients: AtomicUsize::new(0),
        });
        let (waker, end) = UnixStream::pair()?;
        let thread = Builder::new().name("marey-metrics".into());
        let accept = move || shared.accept(&listener, &end);
        let accepting = marey::without_signals(|| thread.spawn(accept))?;
        Ok(Self {
            address,
            waker: Some(waker),
            accepting: Some(accepting),
        })
    }

    /// Where the figures are.
    pub(super) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }
}

impl Drop for Server {
    /// Takes no more clients. One that is being served is not waited for.
    fn drop(&mut self) {
        self.waker = None;
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener, end: &UnixStream) {
        loop {
            let mut waiting = [
                PollFd::new(listener, PollFlags::IN),
                PollFd::new(end, PollFlags::IN),
            ];
            match poll(&mut waiting, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) => {}
            }
            if !waiting[1].revents().is_empty() {
                return;
            }
            match listener.accept() {
                Ok((client, _)) => self.welcome(client),
                // A client that is gone already is none. When files are short, a moment helps.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn welcome(self: &Arc<Self>, client: TcpStream) {
        if self.n_clients.fetch_add(1, Ordering::AcqRel) >= MAX_CLIENTS {
            self.n_clients.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let shared = Arc::clone(self);
        let work = move || {
            // A client that goes away before its time harms nobody.
            shared.serve(client).ok();
            shared.n_clients.fetch_sub(1, Ordering::AcqRel);
        };
        let thread = Builder::new().name("marey-scrape".into());
        let started = marey::without_signals(|| thread.spawn(work));
        if started.is_err() {
            self.n_clients.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        // What is accepted does not block on some systems.
        client.set_nonblocking(false)?;
        let deadline_ns = deadline_ns();
        let answer = match read_head(&mut client, deadline_ns)? {
            Some(head) => Answer::to(&head, self.is_local),
            None => Answer::Refused(431, "Request Header Fields Too Large"),
        };
        let body = match answer {
            Answer::Metrics | Answer::Head => self.text(),
            Answer::Refused(..) => String::new(),
        };
        let deadline_ns = self::deadline_ns();
        write_until(&mut client, answer.head(body.len()).as_bytes(), deadline_ns)?;
        if answer == Answer::Metrics {
            write_until(&mut client, body.as_bytes(), deadline_ns)?;
        }
        client.shutdown(Shutdown::Write)?;
        // A socket that is closed with unread bytes in it resets the connection, and the answer with it.
        let mut rest = [0; 512];
        for _ in 0..MAX_HEAD / rest.len() {
            if read_until(&mut client, &mut rest, deadline_ns)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let fleet = members.look();
        drop(members);
        exposition(&fleet)
    }
}

/// What came before the first empty line; `None` when that is too long.
fn read_head(client: &mut TcpStream, deadline_ns: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(end);
            return Ok(Some(bytes));
        }
        if bytes.len() > MAX_HEAD {
            return Ok(None);
        }
        match read_until(client, &mut piece, deadline_ns)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => bytes.extend_from_slice(&piece[..n]),
        }
    }
}

fn read_until(client: &mut TcpStream, bytes: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
    client.set_read_timeout(Some(left(deadline_ns)?))?;
    client.read(bytes)
}

fn write_until(client: &mut TcpStream, mut bytes: &[u8], deadline_ns: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        client.set_write_timeout(Some(left(deadline_ns)?))?;
        match client.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => bytes = &bytes[n..],
        }
    }
    Ok(())
}

fn deadline_ns() -> u64 {
    let patience = u64::try_from(PATIENCE.as_nanos()).unwrap_or(u64::MAX);
    marey::monotonic_ns().saturating_add(patience)
}

fn left(deadline_ns: u64) -> io::Result<Duration> {
    match deadline_ns.saturating_sub(marey::monotonic_ns()) {
        0 => Err(io::ErrorKind::TimedOut.into()),
        left_ns => Ok(Duration::from_nanos(left_ns)),
    }
}

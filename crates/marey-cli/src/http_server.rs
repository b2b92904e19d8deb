//! A small server of HTTP: answers one request a client, and closes.
//!
//! ```text
//! accepting thread ─► a thread for each client, few at a time ─► head ─► Service::answer ─► body ─► Service::was_read
//!        ▲
//!        └── waker: its other end is closed when the server ends
//! ```
//!
//! Nothing that a client does keeps another from being served, or the server from ending.

use std::fs::File;
use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

/// Clients at the same time; more are turned away.
const MAX_CLIENTS: usize = 16;
/// Bytes of a request's head.
const MAX_HEAD: usize = 16 << 10;
/// Bytes of a body that are written at a time.
const PIECE: usize = 256 << 10;

/// What is served.
pub(crate) trait Service: Send + Sync + 'static {
    /// What to answer.
    fn answer(&self, request: &Request<'_>) -> Answer;

    /// A client has read a whole body.
    fn was_read(&self) {}
}

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// Without what comes after a `?`.
    pub(crate) path: &'a str,
    headers: Vec<(&'a str, &'a str)>,
}

/// What a client gets.
#[derive(Debug)]
pub(crate) struct Answer {
    status: &'static str,
    fields: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text(String),
    /// So many bytes of a file.
    File(Arc<File>, u64),
}

/// A server. When it is dropped it takes no more clients; one that is being served is not waited for.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    /// Held open while it serves.
    waker: Option<UnixStream>,
    accepting: Option<JoinHandle<()>>,
    /// Nothing comes from here: it is closed when nobody accepts any more, and the last client has left.
    all_left: Receiver<()>,
}

impl<'a> Request<'a> {
    /// Reads a head without its empty line. `None` when it is none.
    pub(crate) fn parse(head: &'a [u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name, value.trim()))
        });
        Some(Self {
            method,
            path: target.split('?').next().unwrap_or(target),
            headers: headers.collect::<Option<_>>()?,
        })
    }

    /// The value of a header; `None` when it is missing, empty when it comes twice, which nobody allows.
    pub(crate) fn header(&self, name: &str) -> Option<&'a str> {
        let is_it = |(known, _): &&(&str, &str)| known.eq_ignore_ascii_case(name);
        let mut values = self.headers.iter().filter(is_it);
        let value = values.next()?.1;
        Some(if values.next().is_some() { "" } else { value })
    }
}

impl Answer {
    /// A text, of a kind that a `Content-Type` names.
    pub(crate) fn text(kind: &str, text: String) -> Self {
        Self::new("200 OK", Body::Text(text)).with("Content-Type", kind)
    }

    /// All bytes of a file, of which there are so many.
    pub(crate) fn file(file: &Arc<File>, length: u64) -> Self {
        let body = Body::File(Arc::clone(file), length);
        Self::new("200 OK", body).with("Content-Type", "application/octet-stream")
    }

    /// A status (`404 Not Found`), and no body.
    pub(crate) fn status(status: &'static str) -> Self {
        Self::new(status, Body::Text(String::new()))
    }

    fn new(status: &'static str, body: Body) -> Self {
        let fields = String::new();
        Self { status, fields, body }
    }

    /// The same with one more field in its head.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push_str(&[name, ": ", value, "\r\n"].concat());
        self
    }

    fn length(&self) -> u64 {
        match &self.body {
            Body::Text(text) => text.len() as u64,
            Body::File(_, length) => *length,
        }
    }

    fn head(&self) -> String {
        format!(
            "HTTP/1.1 {}\r\n{}Content-Length: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            self.status,
            self.fields,
            self.length()
        )
    }

    fn write_body(&self, client: &mut Client) -> io::Result<()> {
        match &self.body {
            Body::Text(text) => client.write(text.as_bytes()),
            Body::File(file, length) => {
                let (mut piece, mut sent) = (vec![0; PIECE], 0);
                while sent < *length {
                    let n = file.read_at(&mut piece, sent)?;
                    if n == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    client.write(&piece[..n])?;
                    sent += n as u64;
                }
                Ok(())
            }
        }
    }
}

impl Server {
    /// Serves whoever connects. `patience` is how long a client may take to ask, and then to read a quarter of a MiB.
    ///
    /// # Errors
    /// When no thread is to be had.
    pub(crate) fn start(
        listener: TcpListener,
        patience: Duration,
        service: impl Service,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (waker, end) = UnixStream::pair()?;
        let (here, all_left) = channel();
        let here = Arc::new(here);
        let accepting = Accepting { service: Arc::new(service), patience, here };
        let thread = Builder::new().name("marey-http".into());
        let accept = move || accepting.run(&listener, &end);
        let accepting = marey::without_signals(|| thread.spawn(accept))?;
        Ok(Self { address, waker: Some(waker), accepting: Some(accepting), all_left })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more clients; those that are being served may finish, for so long.
    pub(crate) fn end(mut self, patience: Duration) {
        self.stop_accepting();
        // Whoever is not done by then is cut off with the process.
        self.all_left.recv_timeout(patience).ok();
    }

    fn stop_accepting(&mut self) {
        self.waker = None;
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_accepting();
    }
}

struct Accepting<S> {
    service: Arc<S>,
    patience: Duration,
    /// Each client that is being served holds it, too.
    here: Arc<Sender<()>>,
}

impl<S: Service> Accepting<S> {
    fn run(&self, listener: &TcpListener, end: &UnixStream) {
        loop {
            let mut waiting =
                [PollFd::new(listener, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
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
                Err(error) if error.kind() == WouldBlock => {}
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn welcome(&self, stream: TcpStream) {
        if Arc::strong_count(&self.here) > MAX_CLIENTS {
            return;
        }
        let (service, here) = (Arc::clone(&self.service), Arc::clone(&self.here));
        let client = Client { stream, patience: self.patience };
        let work = move || {
            // A client that goes away before its time harms nobody.
            if client.serve(&*service).is_ok_and(|has_read| has_read) {
                service.was_read();
            }
            drop(here);
        };
        let thread = Builder::new().name("marey-client".into());
        // Without a thread it is turned away.
        marey::without_signals(|| thread.spawn(work)).ok();
    }
}

/// Somebody who asks.
struct Client {
    stream: TcpStream,
    patience: Duration,
}

impl Client {
    /// Answers; whether it read a whole body.
    fn serve(mut self, service: &impl Service) -> io::Result<bool> {
        // What is accepted does not block on some systems.
        self.stream.set_nonblocking(false)?;
        let head = self.head()?;
        let request = head.as_deref().and_then(Request::parse);
        let answer = match &request {
            Some(asked) => service.answer(asked),
            None if head.is_none() => Answer::status("431 Request Header Fields Too Large"),
            None => Answer::status("400 Bad Request"),
        };
        let has_body = answer.length() > 0 && request.is_some_and(|asked| asked.method != "HEAD");
        self.write(answer.head().as_bytes())?;
        if has_body {
            answer.write_body(&mut self)?;
        }
        self.leave()?;
        Ok(has_body)
    }

    /// What comes before the first empty line; `None` when that is too long.
    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        let deadline_ns = self.deadline_ns();
        let (mut bytes, mut piece) = (Vec::new(), [0; 2048]);
        loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                bytes.truncate(end);
                return Ok(Some(bytes));
            }
            if bytes.len() > MAX_HEAD {
                return Ok(None);
            }
            match self.read(&mut piece, deadline_ns)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => bytes.extend_from_slice(&piece[..n]),
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let deadline_ns = self.deadline_ns();
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(left(deadline_ns)?))?;
            match self.stream.write(bytes)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => bytes = &bytes[n..],
            }
        }
        Ok(())
    }

    /// Waits until the client has closed its side: one that went away before it read all resets the connection, and a socket that is closed
    /// with unread bytes in it resets the answer.
    fn leave(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        let (deadline_ns, mut rest) = (self.deadline_ns(), [0; 2048]);
        loop {
            match self.read(&mut rest, deadline_ns) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // It has everything and keeps the line open.
                Err(error) if matches!(error.kind(), TimedOut | WouldBlock) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn read(&mut self, bytes: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(left(deadline_ns)?))?;
        self.stream.read(bytes)
    }

    fn deadline_ns(&self) -> u64 {
        let patience_ns = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
        marey::monotonic_ns().saturating_add(patience_ns)
    }
}

fn left(deadline_ns: u64) -> io::Result<Duration> {
    match deadline_ns.saturating_sub(marey::monotonic_ns()) {
        0 => Err(TimedOut.into()),
        left_ns => Ok(Duration::from_nanos(left_ns)),
    }
}

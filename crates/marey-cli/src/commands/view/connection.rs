//! One client: reads what it wants, and gives it what it may have.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::request::{Allowed, Answer, Request};

/// Bytes of a request's head.
const MAX_HEAD: usize = 16 << 10;
/// How long a client may take to say what it wants, and to go when it has it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take to read a piece.
const PIECE_PATIENCE: Duration = Duration::from_secs(30);
const PIECE: usize = 256 << 10;

/// What a connection gives away.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) trace: File,
    pub(super) length: u64,
    pub(super) allowed: Allowed,
}

/// Serves a client. Returns whether it read the whole trace.
///
/// # Errors
/// When it goes away before its time, or takes too long.
pub(super) fn serve(mut client: TcpStream, served: &Served) -> io::Result<bool> {
    let deadline_ns = marey::monotonic_ns().saturating_add(nanoseconds(PATIENCE));
    let head = match read_head(&mut client, deadline_ns)? {
        Head::Complete(head) => head,
        Head::TooLong => {
            let answer = Answer::Refused(431, "Request Header Fields Too Large");
            respond(&mut client, answer, None, served)?;
            return Ok(false);
        }
    };
    let request = Request::parse(&head);
    let answer = request
        .as_ref()
        .map_or(Answer::Refused(400, "Bad Request"), |request| {
            request.answer(&served.allowed)
        });
    let origin = &served.allowed.origin;
    let cross_origin = request
        .is_some_and(|request| request.is_from_allowed_origin(&served.allowed))
        .then_some(origin.as_str());
    respond(&mut client, answer, cross_origin, served)
}

fn respond(
    client: &mut TcpStream,
    answer: Answer,
    cross_origin: Option<&str>,
    served: &Served,
) -> io::Result<bool> {
    client.set_write_timeout(Some(PIECE_PATIENCE))?;
    client.write_all(answer.head(served.length, cross_origin).as_bytes())?;
    if answer == Answer::Trace {
        send_trace(client, served)?;
    }
    client.shutdown(Shutdown::Write)?;
    await_end(client)?;
    Ok(answer == Answer::Trace)
}

/// What came before the first empty line.
enum Head {
    Complete(String),
    TooLong,
}

fn read_head(client: &mut TcpStream, deadline_ns: u64) -> io::Result<Head> {
    let mut bytes = Vec::new();
    let mut piece = [0; 2048];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(end);
            // What is no text is no request.
            return Ok(Head::Complete(String::from_utf8(bytes).unwrap_or_default()));
        }
        if bytes.len() > MAX_HEAD {
            return Ok(Head::TooLong);
        }
        let n = read_until(client, &mut piece, deadline_ns)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..n]);
    }
}

fn send_trace(client: &mut TcpStream, served: &Served) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut sent = 0;
    while sent < served.length {
        let n = served.trace.read_at(&mut piece, sent)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        client.write_all(&piece[..n])?;
        sent += n as u64;
    }
    Ok(())
}

/// Waits until the client has closed its side: a client that went away before it read all resets the connection.
fn await_end(client: &mut TcpStream) -> io::Result<()> {
    let deadline_ns = marey::monotonic_ns().saturating_add(nanoseconds(PATIENCE));
    let mut rest = [0; 2048];
    loop {
        match read_until(client, &mut rest, deadline_ns) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // It has everything and keeps the line open.
            Err(error) if is_timeout(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn read_until(client: &mut TcpStream, bytes: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
    let left_ns = deadline_ns.saturating_sub(marey::monotonic_ns());
    if left_ns == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    client.set_read_timeout(Some(Duration::from_nanos(left_ns)))?;
    client.read(bytes)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

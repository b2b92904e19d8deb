use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::LAST_WAIT;
use super::shared_trace::{Event, serve};
use crate::http_server::Server;

const SITE: &str = "https://ui.perfetto.dev";
/// Longer than any of these takes; a failure, not a measurement.
const LONG: Duration = Duration::from_mins(1);

struct Place {
    server: Server,
    events: Receiver<Event>,
    host: String,
    path: String,
}

impl Place {
    /// A server of so many bytes.
    fn new(length: usize) -> Self {
        let mut trace = tempfile::tempfile().unwrap();
        trace.write_all(&bytes(length)).unwrap();
        Self::of(trace)
    }

    fn of(trace: File) -> Self {
        let (sender, events) = mpsc::channel();
        let (server, address) = serve(trace, SITE, 0, sender).unwrap();
        let rest = address.strip_prefix("http://").unwrap();
        let slash = rest.find('/').unwrap();
        let (host, path) = rest.split_at(slash);
        Self { host: host.to_owned(), path: path.to_owned(), server, events }
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut client = TcpStream::connect(&self.host).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        client.write_all(text.as_bytes()).unwrap();
        client
    }

    /// The whole answer to a request with these headers below the first line; `Host` is the server's.
    fn ask(&self, method: &str, path: &str, headers: &str) -> (String, Vec<u8>) {
        let host = &self.host;
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
        answer(self.send(&request))
    }

    fn get(&self) -> (String, Vec<u8>) {
        self.ask("GET", &self.path, &format!("Origin: {SITE}\r\n"))
    }
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect()
}

/// Head and body.
fn answer(mut client: TcpStream) -> (String, Vec<u8>) {
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = all.split_off(end + 4);
    (String::from_utf8(all).unwrap(), body)
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap()
}

#[test]
fn the_viewers_page_reads_the_trace_and_nobody_waits_any_longer() {
    let place = Place::new(1_000_000);
    let (head, body) = place.get();
    assert_eq!(status(&head), "200");
    assert!(head.contains(&format!("Access-Control-Allow-Origin: {SITE}\r\n")));
    assert!(head.contains("Content-Length: 1000000\r\n"));
    assert!(body == bytes(1_000_000));
    assert_eq!(place.events.recv_timeout(LONG), Ok(Event::Read));
    place.server.end(LAST_WAIT);
}

#[test]
fn each_server_has_a_path_of_its_own_and_no_other_path_exists() {
    let (place, other) = (Place::new(10), Place::new(10));
    assert_ne!(place.path, other.path);
    assert!(place.path.len() > 32);
    for path in ["/", "/trace.pftrace.gz", &other.path, &format!("{}x", place.path), "*"] {
        let (head, body) = place.ask("GET", path, &format!("Origin: {SITE}\r\n"));
        assert_eq!((status(&head), body.len()), ("404", 0), "{path}");
        assert!(!head.contains("Access-Control"));
    }
}

#[test]
fn another_site_gets_nothing_and_no_leave() {
    let place = Place::new(10);
    for origin in [
        "https://evil.example",
        "http://ui.perfetto.dev",
        "https://ui.perfetto.dev.evil.example",
        "null",
        "",
    ] {
        for method in ["GET", "OPTIONS", "HEAD"] {
            let (head, body) = place.ask(method, &place.path, &format!("Origin: {origin}\r\n"));
            assert_eq!((status(&head), body.len()), ("403", 0), "{origin}");
            assert!(!head.contains("Access-Control"));
        }
    }
    let twice = format!("Origin: {SITE}\r\nOrigin: https://evil.example\r\n");
    assert_eq!(status(&place.ask("GET", &place.path, &twice).0), "403");
}

#[test]
fn what_is_no_page_of_the_viewer_gets_nothing_and_ends_nothing() {
    // A browser that opens the address by itself, and programs like curl, send no `Origin`.
    let place = Place::new(10);
    for method in ["GET", "HEAD", "OPTIONS"] {
        let navigation = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\n";
        for headers in ["", navigation] {
            let (head, body) = place.ask(method, &place.path, headers);
            assert_eq!((status(&head), body.len()), ("403", 0), "{method}");
        }
    }
    assert!(place.events.try_recv().is_err());
    assert_eq!(place.get().1.len(), 10);
}

#[test]
fn a_name_that_was_made_to_lead_here_is_refused() {
    let place = Place::new(10);
    let port = place.host.split(':').nth(1).unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", ""] {
        let request =
            format!("GET {} HTTP/1.1\r\nHost: {host}\r\nOrigin: {SITE}\r\n\r\n", place.path);
        assert_eq!(status(&answer(place.send(&request)).0), "403", "{host}");
    }
    let request = format!("GET {} HTTP/1.1\r\nOrigin: {SITE}\r\n\r\n", place.path);
    assert_eq!(status(&answer(place.send(&request)).0), "403");
    let request =
        format!("GET {} HTTP/1.1\r\nhost: localhost:{port}\r\norigin: {SITE}\r\n\r\n", place.path);
    assert_eq!(status(&answer(place.send(&request)).0), "200");
}

#[test]
fn a_browser_gets_leave_to_reach_from_a_public_site_into_this_machine() {
    let place = Place::new(10);
    let asked = format!("Origin: {SITE}\r\nAccess-Control-Request-Private-Network: true\r\n");
    let (head, body) = place.ask("OPTIONS", &place.path, &asked);
    assert_eq!((status(&head), body.len()), ("204", 0));
    assert!(head.contains("Access-Control-Allow-Private-Network: true\r\n"));
    assert!(head.contains(&format!("Access-Control-Allow-Origin: {SITE}\r\n")));
}

#[test]
fn other_methods_and_what_is_no_request_are_refused() {
    let place = Place::new(10);
    for method in ["POST", "PUT", "DELETE", "get"] {
        let of_viewer = format!("Origin: {SITE}\r\n");
        assert_eq!(status(&place.ask(method, &place.path, &of_viewer).0), "405");
    }
    for text in ["\r\n\r\n", "GET\r\n\r\n", "GET / SPDY/9\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n"] {
        assert_eq!(status(&answer(place.send(text)).0), "400", "{text:?}");
    }
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(20_000));
    assert_eq!(status(&answer(place.send(&long)).0), "431");
}

#[test]
fn looking_at_the_head_is_not_reading_the_trace() {
    let place = Place::new(1_000);
    let (head, body) = place.ask("HEAD", &place.path, &format!("Origin: {SITE}\r\n"));
    assert!(head.contains("Content-Length: 1000\r\n"));
    assert!(body.is_empty());
    place.get();
    // The first thing that happened.
    assert_eq!(place.events.recv_timeout(LONG), Ok(Event::Read));
    assert!(place.events.try_recv().is_err());
}

#[test]
fn a_reader_that_goes_away_halfway_leaves_the_trace_to_the_next() {
    const LENGTH: usize = 64 << 20;
    let place = Place::new(LENGTH);
    let host = &place.host;
    let mut first = place
        .send(&format!("GET {} HTTP/1.1\r\nHost: {host}\r\nOrigin: {SITE}\r\n\r\n", place.path));
    first.read_exact(&mut [0; 1000]).unwrap();
    drop(first);
    let (_, body) = place.get();
    assert_eq!(body.len(), LENGTH);
    assert_eq!(place.events.recv_timeout(LONG), Ok(Event::Read));
    place.server.end(LAST_WAIT);
    assert!(place.events.try_recv().is_err(), "the first reader counted");
}

#[test]
fn two_readers_at_once_both_get_everything_though_one_is_first() {
    const LENGTH: usize = 16 << 20;
    let place = Place::new(LENGTH);
    let host = &place.host;
    let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\nOrigin: {SITE}\r\n\r\n", place.path);
    let mut slow = place.send(&request);
    slow.read_exact(&mut [0; 1]).unwrap();
    assert_eq!(place.get().1.len(), LENGTH);
    assert_eq!(place.events.recv_timeout(LONG), Ok(Event::Read));
    let ending = std::thread::Builder::new().spawn(move || place.server.end(LAST_WAIT)).unwrap();
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > LENGTH);
    drop(slow);
    ending.join().unwrap();
}

#[test]
fn clients_that_say_nothing_keep_nobody_else_from_reading() {
    let place = Place::new(1_000);
    let silent: Vec<TcpStream> = (0..8).map(|_| place.send("GET /")).collect();
    assert_eq!(place.get().1.len(), 1_000);
    drop(silent);
    place.server.end(LAST_WAIT);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let place = Place::new(1);
    let port = place.host.split(':').nth(1).unwrap().parse().unwrap();
    let (sender, _events) = mpsc::channel();
    let refused = serve(tempfile::tempfile().unwrap(), SITE, port, sender);
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}

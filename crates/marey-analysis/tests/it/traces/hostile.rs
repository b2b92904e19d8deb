//! Files that somebody made to do harm: they end in an error, or in a count, and take no more than they may.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use marey_analysis::import::chrome::{Limits, ReadError, Trace, read};
use marey_analysis::{TraceContext, idle_gaps, kernels, overlap, utilization};
use proptest::prelude::*;

use super::{kernel, try_read};

const SMALL: Limits =
    Limits { rows: 1_000, bytes: 1 << 20, name_bytes: 10_000, event_bytes: 100_000 };

#[test]
fn too_many_events_are_an_error() {
    let events = vec![kernel("a", 0, 1); 1_001].join(",");
    let result = read(format!("[{events}]").as_bytes(), SMALL);
    assert!(matches!(result, Err(ReadError::Events(1_000))));
    let halves = vec![r#"{"ph": "B", "pid": 1, "tid": 1, "ts": 1}"#; 1_001].join(",");
    let result = read(format!("[{halves}]").as_bytes(), SMALL);
    assert!(matches!(result, Err(ReadError::Events(1_000))));
}

#[test]
fn too_many_names_are_an_error_wherever_they_are() {
    let name = |n: u32| kernel(&format!("a name of twenty bytes {n}"), 0, 1);
    let pid = |n: u32| {
        format!(r#"{{"ph": "X", "pid": "process {n} of many", "tid": 1, "ts": 1, "dur": 1}}"#)
    };
    let category =
        |n: u32| format!(r#"{{"ph": "X", "cat": "{n}{}", "ts": 1, "dur": 1}}"#, "c".repeat(100));
    for make in [&name as &dyn Fn(u32) -> String, &pid, &category] {
        let events: Vec<String> = (0..900).map(make).collect();
        let result = read(format!("[{}]", events.join(",")).as_bytes(), SMALL);
        assert!(matches!(result, Err(ReadError::Names(10_000))), "{}", make(0));
    }
}

/// What a source gives that writes one piece after another and never ends.
struct Endless<F> {
    n: u32,
    piece: F,
    left: Vec<u8>,
}

impl<F: FnMut(u32) -> String> Read for Endless<F> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.left.len() < into.len() {
            self.left.extend((self.piece)(self.n).bytes());
            self.n += 1;
        }
        into.copy_from_slice(&self.left[..into.len()]);
        self.left.drain(..into.len());
        Ok(into.len())
    }
}

/// What makes the piece with a number.
type Piece = Box<dyn Fn(u32) -> String>;

/// An event, with the comma behind it.
fn event(phase: char, rest: &str) -> String {
    format!(r#"{{"ph": "{phase}", "ts": 1, {rest}}},"#)
}

#[test]
fn whatever_is_written_without_end_takes_no_more_memory_than_it_may() {
    // Without a bound each of these would be read until the memory is full.
    let limits = Limits { rows: usize::MAX, bytes: 1 << 20, ..Limits::default() };
    let pieces: [(&str, Piece); 8] = [
        ("rows", Box::new(|_| event('X', r#""dur": 1"#))),
        ("work", Box::new(|_| event('X', r#""cat": "kernel", "dur": 1"#))),
        (
            "operators",
            Box::new(|n| {
                event(
                    'X',
                    &format!(
                        r#""cat": "cpu_op", "dur": 1, "args": {{"External id": {n}, "Input Dims": []}}"#
                    ),
                )
            }),
        ),
        ("halves", Box::new(|_| event('B', r#""name": "a""#))),
        ("allocations", Box::new(|_| event('i', r#""name": "[memory]", "args": {"Bytes": 1}"#))),
        (
            "threads",
            Box::new(|n| {
                event(
                    'M',
                    &format!(
                        r#""name": "thread_name", "pid": 1, "tid": {n}, "args": {{"name": "a"}}"#
                    ),
                )
            }),
        ),
        (
            "processes",
            Box::new(|n| {
                event(
                    'M',
                    &format!(r#""name": "process_name", "pid": {n}, "args": {{"name": "a"}}"#),
                )
            }),
        ),
        (
            "names of threads",
            Box::new(|_| {
                event(
                    'M',
                    &format!(
                        r#""name": "thread_name", "pid": 1, "tid": 1, "args": {{"name": "{}"}}"#,
                        "a".repeat(1_000)
                    ),
                )
            }),
        ),
    ];
    for (what, piece) in pieces {
        let piece = |n| if n == 0 { "[".to_owned() } else { piece(n) };
        let source = Endless { n: 0, piece, left: Vec::new() };
        let result = read(source, limits);
        assert!(matches!(result, Err(ReadError::Memory(_))), "{what} {result:?}");
    }
    for document in ["[]", r#"{"traceEvents": [], "deviceProperties": [{}, {}, {}]}"#] {
        let source = Endless { n: 0, piece: |_| document.to_owned(), left: Vec::new() };
        let result = read(source, limits);
        assert!(matches!(result, Err(ReadError::Memory(_))), "{document} {result:?}");
    }
    let error = ReadError::Memory(2 << 30).to_string();
    assert!(error.starts_with("needs more than 2048 MiB of memory: record fewer steps"));
}

#[test]
fn categories_without_end_become_one() {
    let event = |n: u32| format!(r#"{{"ph": "X", "cat": "c{n}", "ts": 1, "dur": 1}}"#);
    let events: Vec<String> = (0..600).map(event).collect();
    let trace = try_read(format!("[{}]", events.join(","))).unwrap();
    assert_eq!(trace.rows.len(), 600);
    assert_eq!(trace.categories.name(trace.rows.category[254]), "c254");
    assert_eq!(trace.categories.name(trace.rows.category[599]), "");
}

#[test]
fn an_event_that_is_too_long_is_skipped() {
    let long = kernel(&"x".repeat(200_000), 5, 6);
    let text = format!("[{}, {long}, {}]", kernel("a", 0, 1), kernel("b", 8, 9));
    let trace = read(text.as_bytes(), SMALL).unwrap();
    assert_eq!((trace.rows.len(), trace.quality.n_broken), (2, 1));
    assert_eq!(trace.quality.broken[0].reason, "an event is too long");
}

#[test]
fn deep_nesting_and_huge_numbers_are_broken_events() {
    let nested = format!(
        r#"{{"ph": "X", "ts": 1, "dur": 1, "args": {{"a": {}}}}}"#,
        "{\"a\": ".repeat(100_000)
    );
    let huge = format!(r#"{{"ph": "X", "ts": {}, "dur": 1}}"#, "9".repeat(50_000));
    let text = format!("[{nested}, {huge}, {}]", kernel("b", 8, 9));
    let trace = try_read(text).unwrap();
    assert_eq!((trace.rows.len(), trace.quality.n_broken), (1, 2));
    let deep = format!(r#"{{"a": {}"#, "{\"a\": ".repeat(200_000));
    assert!(matches!(try_read(deep), Err(ReadError::NoEvents(_))));
}

#[test]
fn a_file_that_expands_without_end_is_an_error() {
    // 100 MiB of spaces are 100 KiB.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"[").unwrap();
    for _ in 0..100 {
        encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 200 << 10);
    let error = try_read(bomb).unwrap_err();
    assert!(matches!(error, ReadError::Expansion(_)), "{error}");
}

#[test]
fn names_that_are_all_different_take_no_more_than_they_may() {
    // A million events; no test waits for them longer than for reading them.
    struct Events {
        n: u32,
        left: Vec<u8>,
    }
    impl Read for Events {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.left.is_empty() {
                let ahead = if self.n == 0 { "[" } else { "," };
                self.left =
                    format!("{ahead}{}", kernel(&format!("{:x}", self.n), 0, 1)).into_bytes();
                self.n += 1;
            }
            let count = into.len().min(self.left.len());
            into[..count].copy_from_slice(&self.left[..count]);
            self.left.drain(..count);
            Ok(count)
        }
    }
    let source = Events { n: 0, left: Vec::new() };
    let limits = Limits { rows: 1_000_000, ..Limits::default() };
    let result = read(source, limits);
    assert!(matches!(result, Err(ReadError::Events(1_000_000))));
}

/// Whatever was read: its parts fit together, and no question panics.
fn assert_sound(trace: &Trace) {
    let rows = &trace.rows;
    let lengths = [rows.duration_ns.len(), rows.name.len(), rows.track.len(), rows.category.len()];
    assert_eq!(lengths, [rows.len(); 4]);
    assert!(rows.name.iter().all(|name| (*name as usize) < trace.names.len()));
    assert!(rows.track.iter().all(|track| (*track as usize) < trace.tracks.each.len()));
    assert!(trace.work.iter().all(|work| (work.row as usize) < rows.len()));
    let context = TraceContext::new(trace, None);
    for timeline in &context.timelines {
        let used = utilization(trace, timeline);
        assert_eq!(used.busy_ns + used.idle_ns + used.unknown_ns, used.span_ns);
        assert_eq!(idle_gaps(&context, timeline).total_ns, used.idle_ns + used.unknown_ns);
        let _ = (kernels(&context, timeline), overlap(timeline));
    }
}

/// A trace with everything in it that is read.
fn varied() -> String {
    let mut events: Vec<String> =
        (0..6).map(|n| kernel("k{lambda()#1}", n * 10, n * 10 + 5)).collect();
    events.push(
        r#"{"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "s"}}"#
            .to_owned(),
    );
    events.push(r#"{"ph": "B", "name": "\u0061", "pid": 1, "tid": "t", "ts": "5"}"#.to_owned());
    events.push(r#"{"ph": "E", "pid": 1, "tid": "t", "ts": 1e1}"#.to_owned());
    let events = events.join(",\n");
    format!(r#"{{"deviceProperties": [{{"id": 0}}], "traceEvents": [{events}], "traceName": "a"}}"#)
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = varied().into_bytes();
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(trace) = try_read(&bytes) {
            assert_sound(&trace);
        }
    }

    #[test]
    fn marks_of_json_anywhere_are_read_without_a_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..8), 1..8),
    ) {
        let mut bytes = varied().into_bytes();
        for (place, mark) in places {
            let at = place.index(bytes.len());
            bytes.insert(at, b"{}[]\",\\:"[mark]);
        }
        if let Ok(trace) = try_read(&bytes) {
            assert_sound(&trace);
        }
    }
}

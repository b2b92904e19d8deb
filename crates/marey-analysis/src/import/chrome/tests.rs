//! The reader of events beside a general reader of JSON.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::event::{Event, event};
use super::gzip::Source;
use super::scan::Text;
use super::times::Times;

/// Every event of this text is read as a general reader of JSON does; how many there are.
fn compared(text: &[u8]) -> usize {
    let list = memchr::memmem::find(text, b"\"traceEvents\"").unwrap_or(0);
    let mut at = list + memchr::memchr(b'[', &text[list..]).unwrap() + 1;
    let mut n_events = 0;
    loop {
        match text[at] {
            b']' => return n_events,
            b'{' => {}
            _ => {
                at += 1;
                continue;
            }
        }
        let scanned = event(text, at).unwrap();
        let written = &text[at..scanned.end];
        let times = Times::of(written).unwrap();
        let (start_ns, duration_ns) = (times.start_ns, times.duration_ns);
        let read = Event { start_ns, duration_ns, ..scanned.event };
        compare_with_json(written, &read);
        if !scanned.is_unusual {
            let about = String::from_utf8_lossy(written);
            assert_eq!(scanned.event, read, "{about}");
        }
        n_events += 1;
        at = scanned.end;
    }
}

/// An event is what a reader of JSON finds, where the text is JSON to the letter.
fn compare_with_json(written: &[u8], event: &Event<'_>) {
    let Ok(json) = serde_json::from_slice::<Value>(written) else {
        return;
    };
    let about = String::from_utf8_lossy(written);
    let is_said = |text: Text<'_>, key: &str| {
        text.is_escaped || json[key].as_str().unwrap_or_default().as_bytes() == text.bytes
    };
    assert!(is_said(event.category, "cat"), "{about}");
    assert!(json["name"].is_number() || is_said(event.name, "name"), "{about}");
    assert_eq!(json["ph"].as_str(), str::from_utf8(&[event.phase]).ok());
    if !event.args.is_empty() {
        let args: Value = serde_json::from_slice(event.args).unwrap();
        assert_eq!(args, json["args"], "{about}");
    }
    let microseconds = |ns: i64| ns.to_string().parse::<f64>().unwrap() / 1e3;
    if let (Some(ns), Some(said)) = (event.duration_ns, json["dur"].as_f64()) {
        assert!((microseconds(ns) - said).abs() < 1e-2, "{about}");
    }
    if let (Some(ns), Some(said)) = (event.start_ns, json["ts"].as_f64()) {
        assert!((microseconds(ns) - said).abs() < 1.0, "{about}");
    }
}

#[test]
fn every_event_of_real_traces_is_read_as_a_general_reader_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let mut n_events = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "gz") {
            let mut text = Vec::new();
            let mut source = Source::new(File::open(&path).unwrap()).unwrap();
            source.read_to_end(&mut text).unwrap();
            n_events += compared(&text);
        }
    }
    assert!(n_events > 70_000, "{n_events}");
}

//! The fast reader of an event and the general one, side by side.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::event::event;
use super::gzip::Source;
use super::typed::typed;

/// Both read every event of this text alike; how many there are.
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
        let fast = event(text, at).unwrap();
        let written = &text[at..fast.end];
        let general = typed(written).unwrap();
        let general = general.event().unwrap();
        if !fast.is_unusual {
            let about = String::from_utf8_lossy(written);
            assert_eq!(fast.event, general, "{about}");
        }
        n_events += 1;
        at = fast.end;
    }
}

#[test]
fn both_readers_understand_every_event_of_real_traces_alike() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let mut n_events = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|ending| ending == "json" || ending == "gz")
        {
            let mut text = Vec::new();
            let mut source = Source::new(File::open(&path).unwrap()).unwrap();
            source.read_to_end(&mut text).unwrap();
            n_events += compared(&text);
        }
    }
    assert!(n_events > 70_000, "{n_events}");
}

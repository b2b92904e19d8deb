//! Any bytes are read without a panic, and what is read is sound: indices point somewhere, times run forwards.

#![no_main]

use libfuzzer_sys::fuzz_target;
use marey::{Run, Status};

const FILE_HEADER: usize = 16;
const BLOCK_HEADER: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&with_checksums(bytes));
});

fn read(bytes: &[u8]) {
    if let Ok(run) = marey::decode(bytes, Status::EndedWithoutClosing) {
        assert_sound(&run);
    }
}

fn assert_sound(run: &Run) {
    assert_eq!(run.nodes.len(), run.totals.len());
    for section in &run.sections {
        assert!(section.start_ns <= section.end_ns);
        assert!((section.node as usize) < run.nodes.len());
        assert!((section.thread as usize) < run.threads.len());
    }
    for (id, node) in (0..).zip(&run.nodes) {
        assert!(node.parent.is_none_or(|parent| parent < id));
    }
    assert!(
        run.events
            .iter()
            .all(|event| (event.thread as usize) < run.threads.len())
    );
    assert!(
        run.open
            .iter()
            .all(|open| (open.node as usize) < run.nodes.len())
    );
    assert!(
        run.open
            .iter()
            .filter_map(|open| open.thread)
            .all(|t| (t as usize) < run.threads.len())
    );
    assert!(
        run.section_attributes
            .iter()
            .all(|given| given.section < run.sections.len())
    );
    assert!(run.counters.iter().all(|reading| reading.value.is_finite()));
}

/// The bytes behind a sound file header, with the magic and the checksum of every block made good. A length that is too long is cut.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut sound = bytes.to_vec();
    if sound.len() < FILE_HEADER {
        return sound;
    }
    sound[..FILE_HEADER].copy_from_slice(b"MAREYCAP\x01\0\0\0\0\0\0\0");
    let mut rest = &mut sound[FILE_HEADER..];
    while rest.len() >= BLOCK_HEADER {
        let (header, after) = rest.split_at_mut(BLOCK_HEADER);
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
        let length = length.min(after.len());
        let (payload, next) = after.split_at_mut(length);
        header[..4].copy_from_slice(b"MBLK");
        header[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header[4..12]);
        hasher.update(payload);
        header[12..].copy_from_slice(&hasher.finalize().to_le_bytes());
        rest = next;
    }
    sound
}

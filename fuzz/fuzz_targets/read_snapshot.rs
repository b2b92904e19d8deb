//! Any bytes are read as a memory snapshot without a panic and within bounds, and what is read can be asked.

#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_analysis::import::snapshot::read_snapshot;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // Behind a sound beginning, so that what follows is looked at.
    read(&[&[0x80, 4][..], bytes].concat());
});

fn read(bytes: &[u8]) {
    let Ok(snapshot) = read_snapshot(bytes) else {
        return;
    };
    for segment in &snapshot.segments {
        assert!(segment.first_block + segment.n_blocks <= snapshot.blocks.len());
    }
    let answers = marey_analysis::snapshot(&snapshot, None);
    for device in &answers.devices {
        assert!(device.curve.len() <= 601);
        assert!(device.end.largest_free_bytes <= device.end.free_bytes);
    }
}

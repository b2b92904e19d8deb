//! The drain takes records out of a ring that its producer fills.

use std::sync::Arc;

use crate::Model;
use crate::lane::{Call, Lane, call, totals_of};
use crate::recorder::layout::lane;
use crate::recorder::ring::{Record, Ring};

pub(crate) const MODELS: &[Model] = &[(
    "no record is lost, torn or taken twice, and what found no room is counted",
    every_call_is_recorded_or_dropped,
)];

const CALLS: [Call; 3] = [call(0, 10, 12), call(1, 20, 21).failed(), call(0, 30, 33)];

/// A ring of two, which is full when the drain does not come.
fn every_call_is_recorded_or_dropped() {
    let shared = Arc::new(Lane::new(2));
    let producer = {
        let shared = Arc::clone(&shared);
        loom::thread::spawn(move || {
            let ring = shared.ring();
            CALLS.map(|call| {
                let waiting = ring.get(lane::HEAD) - ring.get(lane::TAIL);
                let call = if waiting < ring.capacity() {
                    call
                } else {
                    call.dropped()
                };
                shared.complete(&ring, &call);
                call
            })
        })
    };
    let ring = shared.ring();
    let mut taken = take(&ring);
    taken.extend(take(&ring));
    let calls = producer.join().expect("the producer does not fail");
    taken.extend(take(&ring));
    let recorded = calls.iter().filter(|call| !call.is_dropped);
    let records: Vec<Record> = (0..)
        .zip(recorded)
        .map(|(at, call)| call.record(at))
        .collect();
    assert_eq!(taken, records);
    let totals = shared.snapshot();
    assert_eq!(totals, totals_of(&calls));
    assert_eq!(taken.len() as u64 + totals.dropped, CALLS.len() as u64);
}

/// One round of the drain: what was committed goes out, and its room back to the producer.
fn take(ring: &Ring<'_>) -> Vec<Record> {
    let (head, tail) = (ring.get(lane::HEAD), ring.get(lane::TAIL));
    let records = (tail..head).map(|position| ring.record(position).expect("committed"));
    let records = records.collect();
    ring.set(lane::TAIL, head);
    records
}

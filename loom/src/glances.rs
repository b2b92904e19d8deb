//! Looks that wait for nobody.

use std::sync::Arc;

use crate::Model;
use crate::lane::{Call, Lane, call, totals_of};
use crate::recorder::glance::{glance, newest};
use crate::recorder::layout::lane;

pub(crate) const MODELS: &[Model] = &[
    (
        "a glance has the sum of exactly the calls that it counts",
        count_and_sum_belong_together,
    ),
    (
        "the newest records are whole, each in its place",
        no_record_is_torn,
    ),
];

fn count_and_sum_belong_together() {
    const CALLS: [Call; 3] = [call(0, 10, 12), call(0, 20, 21).failed(), call(0, 30, 33)];
    let lane = Arc::new(Lane::new(4));
    lane.complete_all(&CALLS[..1]);
    let producer = lane.producer(&CALLS[1..]);
    let ring = lane.ring();
    let seen = &glance(&ring, 1)[0];
    let n = usize::try_from(seen.count).expect("few");
    let (counted, all) = (
        &totals_of(&CALLS[..n]).nodes[0],
        &totals_of(&CALLS).nodes[0],
    );
    assert_eq!(seen.sum, counted.sum);
    // The rest may be that of the call which comes next, and the extremes those before the call that was counted last.
    assert!(
        (counted.errors..=all.errors).contains(&seen.errors),
        "{seen:?}"
    );
    assert!(
        CALLS.iter().any(|call| call.end == seen.last_end),
        "{seen:?}"
    );
    assert!((all.min..=2).contains(&seen.min), "{seen:?}");
    assert!((1..=all.max).contains(&seen.max), "{seen:?}");
    producer.join().expect("the producer does not fail");
    let seen = &glance(&ring, 1)[0];
    assert_eq!((seen.count, seen.sum), (all.count, all.sum));
    assert_eq!((seen.min, seen.max), (all.min, all.max));
    assert_eq!((seen.last, seen.last_end), (all.last, all.last_end));
}

/// A ring of two is overwritten while it is read.
fn no_record_is_torn() {
    const CALLS: [Call; 4] = [
        call(0, 10, 12),
        call(1, 20, 21).failed(),
        call(0, 30, 33),
        call(1, 40, 44),
    ];
    let lane = Arc::new(Lane::new(2));
    lane.complete_all(&CALLS[..2]);
    let producer = lane.producer(&CALLS[2..]);
    let ring = lane.ring();
    let head = ring.get(lane::HEAD);
    let seen = newest(&ring, 0, head);
    for record in &seen {
        let position = usize::try_from(record[3] - 1).expect("few");
        assert_eq!(*record, CALLS[position].record(record[3] - 1));
    }
    assert!(
        seen.windows(2).all(|pair| pair[0][3] < pair[1][3]),
        "{seen:?}"
    );
    producer.join().expect("the producer does not fail");
}

//! Copies of the totals while their producer works.

use std::sync::Arc;

use crate::Model;
use crate::lane::{Call, Lane, call, totals_of};
use crate::recorder::totals::TotalsSnapshot;

pub(crate) const MODELS: &[Model] = &[
    ("a copy has exactly the calls that were committed", || {
        copy_is_of_one_moment([call(0, 10, 12), call(0, 20, 21).failed()], 1);
    }),
    ("a copy of the first calls has exactly those", || {
        copy_is_of_one_moment([call(0, 10, 12), call(0, 20, 21)], 0);
    }),
    ("a copy of two nodes is of one moment", || {
        copy_is_of_one_moment([call(0, 10, 12), call(1, 20, 21)], 0);
    }),
    ("a copy has the call that was dropped, and says so", || {
        copy_is_of_one_moment([call(0, 10, 12), call(0, 20, 21).failed().dropped()], 1);
    }),
    (
        "a copy between a drop and a record has exactly those",
        || {
            copy_is_of_one_moment([call(0, 20, 21).dropped(), call(0, 30, 33)], 0);
        },
    ),
];

/// After the first calls a producer does the others; a copy has as many of them as its head and dropped say, and nothing else.
fn copy_is_of_one_moment<const N: usize>(calls: [Call; N], n_done: usize) {
    let lane = Arc::new(Lane::new(2));
    lane.complete_all(&calls[..n_done]);
    let producer = lane.producer(&calls[n_done..]);
    let seen = lane.snapshot();
    let n = usize::try_from(seen.head + seen.dropped).expect("few");
    assert!((n_done..=N).contains(&n), "{seen:?}");
    assert_eq!(
        comparable(seen, &calls),
        comparable(totals_of(&calls[..n]), &calls)
    );
    producer.join().expect("the producer does not fail");
    assert_eq!(lane.snapshot(), totals_of(&calls));
}

/// Nothing says when a call without a record ended, so the end of the last call may then be one call off.
fn comparable(mut totals: TotalsSnapshot, calls: &[Call]) -> TotalsSnapshot {
    if calls.iter().any(|call| call.is_dropped) {
        totals.nodes.iter_mut().for_each(|node| node.last_end = 0);
    }
    totals
}

//! What ranks wait for each other, and who is slow.

use marey_analysis::ranks::{
    CollectiveWaiting, RankStraggler, RankWaitingRow, StragglerVerdict, Stragglers, Waiting,
};

use super::iterations::own_us;
use super::{Drawing, MS, US};

pub(super) fn waiting(drawing: &Drawing) -> Waiting {
    let steps = u64::from(drawing.n_steps);
    let n = u64::from(drawing.n_ranks);
    let row = |place: u32| {
        let is_slow = drawing.slow == Some(place);
        let waited = if is_slow || drawing.slow.is_none() { 0 } else { 20 * steps };
        let transfer = 2 * steps;
        RankWaitingRow {
            place,
            n_calls: steps,
            total_ns: (transfer + waited) * MS,
            n_matched: steps,
            transfer_ns: transfer * MS,
            waiting_ns: waited * MS,
            // Of 22 ms of each call 20, or none of 2.
            waiting_ratio: Some(if waited > 0 { 20.0 / 22.0 } else { 0.0 }),
            n_last: if is_slow { steps } else { 0 },
            caused_ns: if is_slow { 20 * steps * MS } else { 0 },
            within_ns: 100 * steps * MS,
        }
    };
    let ranks: Vec<RankWaitingRow> = (0..drawing.n_ranks).map(row).collect();
    Waiting {
        collectives: vec![CollectiveWaiting {
            n_failed: 0,
            failed_ns: 0,
            group: Some((drawing.naming)("world")),
            name: (drawing.naming)("all_reduce"),
            is_device: false,
            is_start_up: false,
            places: Vec::new(),
            is_ambiguous: false,
            n_ranks: n,
            n_missing: 0,
            n_calls: Some(steps),
            transfer_ns: Some(2 * steps * MS),
            waiting_ns: Some(ranks.iter().map(|rank| rank.waiting_ns).sum()),
            bytes: Some((steps * n) << 20),
        }],
        ranks,
    }
}

pub(super) fn stragglers(drawing: &Drawing) -> Stragglers {
    let mut ranks: Vec<RankStraggler> = (0..drawing.n_ranks)
        .map(|place| {
            let is_slow = drawing.slow == Some(place);
            let waits = drawing.slow.is_some() && !is_slow;
            RankStraggler {
                place,
                own_ns: u64::from(own_us(drawing, place)) * US,
                waiting_ns: (drawing.n_ranks > 1).then_some(if waits { 20 * MS } else { 0 }),
                score: f64::from(own_us(drawing, place)) / 78_000.0 - 1.0,
                verdict: if is_slow {
                    StragglerVerdict::Slow
                } else if waits {
                    StragglerVerdict::Waits
                } else {
                    StragglerVerdict::Even
                },
                since_ns: None,
                since_step: None,
            }
        })
        .collect();
    ranks.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    Stragglers {
        basis: if drawing.n_steps > 0 {
            "The median of each rank's steps that are no warm-up, without the time that the rank waits for others in collectives."
        } else {
            "The whole run of each rank."
        }
        .into(),
        is_waiting_known: drawing.n_ranks > 1 && drawing.n_steps > 0,
        ranks,
    }
}

//! What the device's memory was used for at one moment.

use std::collections::BTreeMap;

use marey_analysis::{Alive, StackFrames};

use super::{Told, amount};
use crate::first_screen::{AccountRows, Part, Row};
use crate::quantity::{Column, Unit, time_ns};
use crate::snapshot_report::line_of;

/// Places that a note names.
const MOST_PLACES: usize = 2;

/// Tensors by what they are for, what is cached, and what the device has left.
pub(super) fn account(told: &Told<'_>) -> Option<AccountRows> {
    let level = told.level;
    let free = told.failed.and_then(|failed| failed.device_free_bytes);
    let total = level.reserved_bytes.saturating_add(free.unwrap_or(0));
    if level.reserved_bytes == 0 {
        return None;
    }
    let mut rows = tensors(told);
    let waiting = level.awaiting_free_bytes;
    if waiting > 0 {
        rows.push(Row {
            part: Part::Waiting,
            note: Some("given back, but other streams still need it".into()),
            ..Row::new("waiting to be free", waiting)
        });
    }
    rows.push(Row {
        part: Part::Waiting,
        note: told.failed.map(|_| {
            let largest = level.largest_free_bytes;
            format!("largest piece {}", amount(largest))
        }),
        ..Row::new("cached, not in use", level.free_bytes)
    });
    rows.extend(free.map(|free| Row::new("free on the GPU", free)));
    rows.retain(|row| row.held > 0);
    let mut account = AccountRows::new("memory", Unit::Bytes, total, rows)?;
    let at = level.at_ns.map(|ns| format!(" ({})", time_ns(ns)));
    let total = amount(total);
    account.head = Some(match told.failed {
        Some(_) => format!("At the failure, of {total}"),
        None if told.device.peak.is_some() => {
            format!("At the peak{}, of {total} reserved", at.unwrap_or_default())
        }
        None => format!("At the snapshot, of {total} reserved"),
    });
    Some(account)
}

/// Weights apart where it is known what they are.
fn tensors(told: &Told<'_>) -> Vec<Row> {
    let alive = alive(told);
    let all = told.level.allocated_bytes;
    let weights = alive.weights_bytes.filter(|bytes| *bytes > 0);
    let weights = weights.map_or(0, |bytes| bytes.min(all));
    let others = if weights > 0 { "other tensors" } else { "tensors" };
    vec![
        Row { note: Some("kept to the end".into()), ..Row::new("weights", weights) },
        Row {
            note: (weights == 0).then(|| places(alive)).flatten(),
            ..Row::new(others, all - weights)
        },
    ]
}

/// What the program had when the account is made.
pub(super) fn alive<'a>(told: &Told<'a>) -> &'a Alive {
    let failed = told.device.alive_at_failure.as_ref();
    failed.unwrap_or(&told.device.alive)
}

/// Where most was allocated: `snap.py:4 1.17, snap.py:3 0.98 GiB`. By the libraries' lines where the user's code has but one.
pub(super) fn places(alive: &Alive) -> Option<String> {
    let own = by_place(alive, place)?;
    let places = match by_place(alive, caller) {
        Some(callers) if own.len() == 1 && callers.len() > 1 => callers,
        _ => own,
    };
    let mut places: Vec<(String, u64)> = places.into_iter().collect();
    places.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    places.truncate(MOST_PLACES);
    let column = Column::of(Unit::Bytes, places.first()?.1);
    let shown = column.text(places[0].1);
    let unit = shown.rsplit(' ').next().unwrap_or_default();
    let places = places.iter().map(|(place, bytes)| {
        let shown = column.text(*bytes);
        format!("{place} {}", shown.trim_end_matches(unit).trim_end())
    });
    Some(format!("{} {unit}", places.collect::<Vec<_>>().join(", ")))
}

/// Bytes by place; `None` where that is not known of a stack.
fn by_place(
    alive: &Alive,
    place: fn(&StackFrames) -> Option<String>,
) -> Option<BTreeMap<String, u64>> {
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    for row in &alive.by_stack {
        *places.entry(place(row.stack.as_ref()?)?).or_default() += row.bytes;
    }
    Some(places)
}

/// The innermost line of the user's own code, else of what is not torch: `snap.py:4`.
pub(super) fn place(stack: &StackFrames) -> Option<String> {
    line(stack, stack.user_frame.or(stack.caller_frame))
}

/// The innermost line of what is not torch.
fn caller(stack: &StackFrames) -> Option<String> {
    line(stack, stack.caller_frame)
}

fn line(stack: &StackFrames, index: Option<usize>) -> Option<String> {
    stack.frames.get(index.unwrap_or(0)).map(line_of)
}

//! Lists of what a run did one by one, which may be of any length.

/// Turns, steps, blocks, deliveries and memory events that are listed; of longer lists the capture has the rest.
pub(super) const MAX_LISTED: usize = 10_000;

/// The first items, and how many are left out.
pub(super) fn listed<'a, T, O>(all: &'a [T], object: impl Fn(&'a T) -> O) -> (Vec<O>, u64) {
    let first = all.iter().take(MAX_LISTED).map(object).collect();
    (first, all.len().saturating_sub(MAX_LISTED) as u64)
}

//! What a misspelt name was meant to be.

/// The candidate that differs from `name` by the fewest edits, letters of either case and `-` for `_` being no difference; `None` when
/// even that differs by more than a quarter of its letters. At least two edits are always allowed.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| {
            let edits = strsim::osa_distance(&name, &candidate.to_lowercase());
            (edits, candidate)
        })
        .filter(|(edits, candidate)| *edits <= (candidate.len() / 4).max(2))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

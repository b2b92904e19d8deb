//! A model as JSON that stays small whatever the run: long lists are cut, and how much of them is missing is said.

mod serializer;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Serialize;

use serializer::{Bounded, Path};

pub(super) use serializer::MAX_CALL_PATHS;

/// Entries of a list, tried one after the other until the whole is small enough.
const LIMITS: [usize; 7] = [4_000, 2_000, 1_000, 500, 200, 60, 16];

/// A list that is not whole.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ShortList {
    /// Where it stands: the names down to it, `*` for entries of lists.
    pub(super) list: String,
    /// Entries that are there.
    kept: u64,
    /// Entries that are not. Figures beside the list are of all of them.
    left_out: u64,
}

/// What was kept and what was left out, by list.
type Cuts = BTreeMap<String, (u64, u64)>;

/// JSON of a value with at most `max_bytes`, as far as cutting lists can do that; what it was made of by `shorten`, which may
/// choose what is to stay of some lists.
pub(super) fn json<T: Serialize>(
    max_bytes: usize,
    mut shorten: impl FnMut(usize, &mut Cuts) -> T,
) -> (Vec<u8>, Vec<ShortList>) {
    let mut json = Vec::new();
    let mut cuts = Cuts::new();
    for limit in LIMITS {
        cuts.clear();
        let value = shorten(limit, &mut cuts);
        let found = RefCell::new(std::mem::take(&mut cuts));
        json.clear();
        let mut serializer = serde_json::Serializer::new(&mut json);
        let bounded = Bounded::new(&mut serializer, &Path::ROOT, limit, &found);
        value
            .serialize(bounded)
            .expect("string keys and plain values always serialize");
        cuts = found.into_inner();
        if json.len() <= max_bytes {
            break;
        }
    }
    let left_out = cuts.into_iter().map(|(list, (kept, left_out))| ShortList {
        list,
        kept,
        left_out,
    });
    (json, left_out.collect())
}

/// Entries of a list that is about one session; there may be many of them.
pub(super) fn of_session(limit: usize) -> usize {
    (limit / 16).max(4)
}

/// Notes that of a list only so many entries are kept.
pub(super) fn note(cuts: &mut Cuts, list: &str, kept: usize, of: usize) {
    let (all_kept, left_out) = cuts.entry(list.to_owned()).or_default();
    *all_kept += kept as u64;
    *left_out += of.saturating_sub(kept) as u64;
}

/// Adds that entries of a list were left out before the value was made, of which `kept` were not.
pub(super) fn leave_out(cuts: &mut Vec<ShortList>, list: &str, kept: usize, left_out: usize) {
    if left_out == 0 {
        return;
    }
    let found = cuts.iter_mut().find(|cut| cut.list == list);
    match found {
        Some(cut) => cut.left_out += left_out as u64,
        None => cuts.push(ShortList {
            list: list.to_owned(),
            kept: kept as u64,
            left_out: left_out as u64,
        }),
    }
}

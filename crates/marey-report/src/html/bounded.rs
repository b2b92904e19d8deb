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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Whole {
        name: &'static str,
        loops: Vec<Loop>,
        sessions: Vec<Loop>,
        last: Option<f64>,
    }

    #[derive(Clone, Serialize)]
    struct Loop {
        count: usize,
        series: Vec<u64>,
    }

    fn whole(n: u64) -> Whole {
        let one = Loop {
            count: 7,
            series: (0..n).collect(),
        };
        Whole {
            name: "a \"name\"",
            loops: vec![one.clone(), one.clone()],
            sessions: vec![one; 3],
            last: Some(f64::NAN),
        }
    }

    #[test]
    fn what_is_short_is_written_as_it_is() {
        let (json, left_out) = json(1_000_000, |_, _| whole(3));
        assert_eq!(json, serde_json::to_vec(&whole(3)).unwrap());
        assert_eq!(left_out, []);
    }

    #[test]
    fn long_lists_are_cut_evenly_and_it_is_said_by_how_much() {
        let (json, left_out) = json(100_000, |_, _| whole(100_000));
        assert!(json.len() <= 100_000);
        let found: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let series = found["loops"][0]["series"].as_array().unwrap();
        assert_eq!(found["loops"][0]["count"], 7);
        // From the first to the last, evenly.
        assert_eq!(series[0], 0);
        assert!(series[series.len() - 1].as_u64().unwrap() > 99_000);
        let kept = series.len() as u64;
        assert_eq!(
            left_out[0],
            ShortList {
                list: "loops.*.series".into(),
                kept: 2 * kept,
                left_out: 2 * (100_000 - kept)
            }
        );
        assert_eq!(left_out[1].list, "sessions.*.series");
    }
}

//! Call paths, short enough for people. JSON and CSV have them whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::escape::visible;
use crate::width::{fits, without_middle};

/// Columns of each name.
const MAX_NAME: usize = 44;

/// The paths of a column, safe to print, in the same order: of each the last names, as many as fit, and at least one. Different
/// paths never look the same.
///
/// ```text
/// generate / vae_decode
/// … / transformer_blocks / attention / to_q
/// … / transformer_blocks / attention / to_q [2]      another one that ends so
/// ```
pub(crate) fn short_paths(paths: &[&[String]], width: usize) -> Vec<String> {
    let mut alike: BTreeMap<String, BTreeSet<&[String]>> = BTreeMap::new();
    for path in paths {
        alike.entry(last_names(path, width)).or_default().insert(path);
    }
    let shown = |path: &&[String]| {
        let shown = last_names(path, width);
        let place = alike.get(&shown).and_then(|all| {
            let place = all.iter().position(|one| one == path);
            place.filter(|_| all.len() > 1)
        });
        match place {
            Some(place) => format!("{shown} [{}]", place + 1),
            None => shown,
        }
    };
    paths.iter().map(shown).collect()
}

fn last_names(path: &[String], width: usize) -> String {
    let mut shown = String::new();
    for (depth, name) in path.iter().enumerate().rev() {
        let name = without_middle(&visible(name), MAX_NAME);
        let longer = if shown.is_empty() { name } else { format!("{name} / {shown}") };
        if !shown.is_empty() && !fits(&longer, width - 4 * usize::from(depth > 0)) {
            return format!("… / {shown}");
        }
        shown = longer;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_path_that_fits_is_whole_and_of_a_longer_one_the_last_names_are_left() {
        let short = path(&["generate", "decode"]);
        let long = path(&[
            "generation",
            "a transformer with a long name",
            "transformer_blocks",
            "attention",
            "to_q",
        ]);
        let shown = short_paths(&[&short, &long], 56);
        assert_eq!(shown, ["generate / decode", "… / transformer_blocks / attention / to_q"]);
        assert!(fits(&shown[1], 56));
    }

    #[test]
    fn paths_that_end_alike_are_told_apart() {
        let [a, b] = ["first", "second"].map(|name| path(&[name, &"x".repeat(40), "to_q"]));
        let shown = short_paths(&[&b, &a, &b], 52);
        assert_eq!(shown[0], shown[2]);
        assert_eq!(shown[0], format!("… / {} / to_q [2]", "x".repeat(40)));
        assert_eq!(shown[1], format!("… / {} / to_q [1]", "x".repeat(40)));
    }
}

//! What the figures of a table are called on a terminal, so short that the table fits.

use std::collections::{BTreeMap, BTreeSet};

use marey_analysis::compare::{Measure, Subject};

use super::words::{label, measured, shortened};
use crate::width;

/// Columns of a name that is no call path.
const MAX_NAME: usize = 44;
/// Columns of a call path.
const MAX_PATH: usize = 56;

/// A name for each measure: of a call path the last parts, as many as fit. Different things have different names.
pub(crate) fn names(measures: &[&Measure]) -> Vec<String> {
    let mut subjects: BTreeMap<String, BTreeSet<&Subject>> = BTreeMap::new();
    for measure in measures {
        subjects
            .entry(name(measure))
            .or_default()
            .insert(&measure.subject);
    }
    let name = |measure: &&Measure| {
        let name = name(measure);
        let alike = subjects.get(&name).filter(|alike| alike.len() > 1);
        let at = alike.and_then(|alike| alike.iter().position(|of| **of == measure.subject));
        match at {
            Some(at) => format!("{name} [{}]", at + 1),
            None => name,
        }
    };
    measures.iter().map(name).collect()
}

fn name(measure: &Measure) -> String {
    match &measure.subject {
        Subject::Path(path) => format!("{}, {}", last_parts(path), label(measure.kind)),
        subject => measured(subject, measure.kind, |name| shortened(name, MAX_NAME)),
    }
}

/// `… / vae_decode / conv`.
fn last_parts(path: &[String]) -> String {
    let mut shown = String::new();
    for (depth, part) in path.iter().enumerate().rev() {
        let part = shortened(part, MAX_NAME);
        let longer = if shown.is_empty() {
            part
        } else {
            format!("{part} / {shown}")
        };
        if !shown.is_empty() && !width::fits(&longer, MAX_PATH - 4 * usize::from(depth > 0)) {
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
    fn a_path_that_fits_is_whole_and_of_a_longer_one_the_last_parts_are_left() {
        assert_eq!(
            last_parts(&path(&["generate", "decode"])),
            "generate / decode"
        );
        let names = path(&[
            "generation",
            "a transformer with a long name",
            "transformer_blocks",
            "attention",
            "to_q",
        ]);
        let shown = last_parts(&names);
        assert_eq!(shown, "… / transformer_blocks / attention / to_q");
        assert!(width::fits(&shown, MAX_PATH));
    }
}

//! Is the same prompt encoded again?
//!
//! Known from hashes only (`prompt_hash`, `text_hash` among the attributes of a section, or in the data of an event within a
//! section that encodes text); the text itself is never looked at.
//!
//! ```text
//! encode_prompt   |-- a --|   |-- b --|   |-- a --|   |-- a --|      the third and the fourth need not be
//! ```

use std::collections::{BTreeMap, BTreeSet};

use marey::profiling_config::words_of_name;
use marey::{Attributes, Value};

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns, union};
use crate::quantity::rounded_percent;
use crate::questions::work::{Call, Work, calls, has_phrase};

pub(super) const RULE: Rule = Rule {
    id: "repeated-encoding",
    category: Category::Cache,
    checks: "the same prompt is encoded again",
    limits: &["repeated_encoding_ratio"],
    saves: "every encoding after the first of its hash",
    of: &[Check::Run(
        "sections that encode text with an attribute such as `prompt_hash`, or an event within them that has it",
        check,
    )],
};

/// Without the digits at their ends: `sha256`, `md5`.
const HASH: [&str; 5] = ["hash", "digest", "sha", "fingerprint", "md"];
const TEXT: [&str; 5] = ["prompt", "text", "token", "tokens", "caption"];
/// Attributes that tell encoders apart that read the same prompt.
const ENCODER: [&str; 4] = ["encoder", "model", "component", "module"];

/// What makes two encodings the same: the section's name, the encoder and the hash.
type Key = (String, String, String);

fn check(facts: &Facts<'_>) -> Outcome {
    let encodings = encodings(facts);
    if encodings.is_empty() {
        return Outcome::Unknown(
            "no section that encodes text says which prompt it was: give it an attribute prompt_hash".into(),
        );
    }
    let mut seen = BTreeSet::new();
    let repeats: Vec<Call> =
        encodings.iter().filter(|(_, key)| !seen.insert(key)).map(|(call, _)| *call).collect();
    let time = union(repeats.iter().map(|call| call.time).collect());
    let share = facts.share_of_wall(length_ns(&time));
    if share <= facts.thresholds.repeated_encoding_ratio {
        return Outcome::Passed(format!(
            "of {} encodings {} were of a prompt that had been encoded before, {} of the wall time",
            encodings.len(),
            repeats.len(),
            rounded_percent(share)
        ));
    }
    Outcome::Found(vec![finding(facts, &repeats, time, encodings.len(), share)])
}

/// Encodings whose prompt is known by a hash, in order of time.
fn encodings(facts: &Facts<'_>) -> Vec<(Call, Key)> {
    let run = facts.run;
    let mut hashes = Hashes::default();
    let mut found: BTreeMap<usize, (Call, Key)> = BTreeMap::new();
    let name = |node: u32| run.nodes.get(node as usize).map_or("", |n| n.name.as_str());
    for given in &run.section_attributes {
        let Some(section) = run.sections.get(given.section) else {
            continue;
        };
        let is_encoding = Work::TextEncoding.is_of(name(section.node));
        if let Some(hash) = hashes.of(&given.attributes, is_encoding) {
            let call = Call {
                section: given.section,
                node: section.node,
                thread: section.thread,
                time: Interval { start_ns: section.start_ns, end_ns: section.end_ns },
            };
            let key = (name(section.node).to_owned(), encoder(&given.attributes), hash);
            found.insert(given.section, (call, key));
        }
    }
    let encoding = calls(run, |name| Work::TextEncoding.is_of(name)).each;
    let by_start: BTreeMap<(u32, u64), Call> =
        encoding.into_iter().map(|call| ((call.thread, call.time.start_ns), call)).collect();
    for event in &run.events {
        let Some(hash) = hashes.of(&event.attributes, false) else {
            continue;
        };
        let before = by_start.range(..=(event.thread, event.at_ns)).next_back();
        let around = before
            .map(|(_, call)| call)
            .filter(|call| call.thread == event.thread && event.at_ns <= call.time.end_ns);
        if let Some(call) = around {
            let key = (name(call.node).to_owned(), encoder(&event.attributes), hash);
            found.entry(call.section).or_insert((*call, key));
        }
    }
    let mut found: Vec<(Call, Key)> = found.into_values().collect();
    found.sort_by_key(|(call, _)| (call.time, call.section));
    found
}

/// Which names of attributes are hashes of prompts; each name is looked at once.
#[derive(Default)]
struct Hashes<'a> {
    /// Whether it names a hash, and one of a text.
    known: BTreeMap<&'a str, (bool, bool)>,
}

impl<'a> Hashes<'a> {
    /// The hash of the prompt. In a section that encodes text any hash is one.
    fn of(&mut self, attributes: &'a Attributes, is_encoding: bool) -> Option<String> {
        let mut hash = None;
        for (name, value) in attributes {
            let (is_hash, is_of_text) = *self.known.entry(name).or_insert_with(|| {
                let words = words_of_name(name);
                (has_phrase(&words, &HASH), has_phrase(&words, &TEXT))
            });
            let is_exact = matches!(value, Value::Text(_) | Value::Int(_));
            if is_exact && is_hash && (is_encoding || is_of_text) {
                hash = hash.or(Some(value));
            }
        }
        hash.map(Value::to_string)
    }
}

fn encoder(attributes: &Attributes) -> String {
    let said = attributes.iter().find(|(name, _)| ENCODER.contains(&name.as_str()));
    said.map_or(String::new(), |(_, value)| value.to_string())
}

fn finding(
    facts: &Facts<'_>,
    repeats: &[Call],
    time: Vec<Interval>,
    n_encodings: usize,
    share: f64,
) -> Finding {
    let repeated_ns = length_ns(&time);
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "Of {n_encodings} text encodings {} were of a prompt that had been encoded before, {} of the wall time",
            repeats.len(),
            rounded_percent(share)
        ),
        remedy: "Keep embeddings by the hash of prompt and encoder, on the host: they are a few megabytes. The empty negative \
                 prompt can be encoded once and for all."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time", share)
                .against(facts.thresholds.repeated_encoding_ratio),
            Evidence::ns("time in encodings that were done before", repeated_ns),
            Evidence::count("encodings that were done before", repeats.len() as u64),
        ],
        intervals: Finding::longest(time),
        node: repeats.first().map(|call| call.node),
        saving: Some(Saving::of_time(
            Some(repeated_ns),
            repeated_ns,
            "every encoding after the first of the same hash, by the same section and encoder",
        )),
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::Run;
    use marey_testing::RunBuilder;

    /// Encodings of 4 ns, one each 10 ns, with these hashes.
    fn run(hashes: &[&str], wall_ns: u64) -> Run {
        let mut builder = RunBuilder::new();
        for (at, hash) in hashes.iter().enumerate() {
            let start_ns = at as u64 * 10;
            builder = builder.section("generate", start_ns, start_ns + 9, |s| {
                s.section("encode_prompt", start_ns, start_ns + 4, |_| {});
                s.attributes(vec![("prompt_hash".into(), (*hash).into())]);
            });
        }
        builder.finish(wall_ns)
    }

    #[test]
    fn encodings_of_a_hash_that_was_there_before_could_be_kept() {
        let found = only(check_run(&RULE, &run(&["a", "b", "a", "a"], 100)));
        let saving = found.saving.unwrap();
        assert_eq!((saving.estimate_ns, saving.at_most_ns), (Some(8), Some(8)));
        let starts: Vec<u64> = found.intervals.iter().map(|i| i.start_ns).collect();
        assert_eq!(starts, [20, 30]);
    }

    #[test]
    fn a_hash_in_an_event_belongs_to_the_encoding_around_it() {
        let mut builder = RunBuilder::new();
        for start_ns in [0, 10] {
            let data = vec![("text_hash".into(), 7i64.into())];
            builder = builder.section("text_encoder", start_ns, start_ns + 5, |_| {}).event(
                "prompt",
                start_ns + 2,
                data,
            );
        }
        let found = only(check_run(&RULE, &builder.finish(20)));
        assert_eq!(found.saving.unwrap().estimate_ns, Some(5));
    }

    #[test]
    fn a_hundredth_of_the_time_is_not_above_it_nor_are_two_encoders_of_one_prompt() {
        let passed = check_run(&RULE, &run(&["a", "b", "a"], 400));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        let mut two = run(&["a", "a"], 40);
        for (given, encoder) in two.section_attributes.iter_mut().zip(["clip", "t5"]) {
            given.attributes.push(("encoder".into(), encoder.into()));
        }
        let passed = check_run(&RULE, &two);
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    #[test]
    fn the_text_of_a_prompt_is_no_hash() {
        let mut run = run(&["a cat", "a cat"], 40);
        for given in &mut run.section_attributes {
            given.attributes[0].0 = "prompt".into();
        }
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}

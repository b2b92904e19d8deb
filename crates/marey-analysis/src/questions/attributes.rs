//! What was said about single calls, and which of them waited for the GPU?

use std::collections::{BTreeMap, BTreeSet};

use marey::{Attributes, Run, Section, SectionAttributes, Value};

/// Calls with attributes beyond this are too many to list; the capture has them.
const MAX_LISTED_CALLS: usize = 10_000;
/// Distinct values of one attribute that are kept.
const MAX_VALUES: usize = 4;
/// The attribute of a section that was synchronised with the GPU when it began and when it ended.
const SYNC: &str = "sync";

/// Attributes of the calls that were recorded one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeUse {
    /// Calls with attributes, ascending by start; the first 10 000.
    pub calls: Vec<AttributedCall>,
    /// Calls with attributes that are not listed.
    pub n_calls_left_out: u64,
    /// Attributes by call path (by node), then by name; synchronisation is told apart.
    pub by_section: Vec<AttributeRow>,
    /// Call paths that were synchronised with the GPU, by node.
    pub synchronised: Vec<SynchronisedRow>,
}

/// One call with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributedCall {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// When it was entered, since the start of the run.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// All that was given to it, in recorded order.
    pub attributes: Attributes,
}

/// One attribute of one call path.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeRow {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// The attribute's name as the user gave it; not safe to print.
    pub name: String,
    /// Calls that it was given to.
    pub n_calls: u64,
    /// Distinct values, the first few that were met.
    pub values: Vec<Value>,
    /// There were more distinct values.
    pub has_more_values: bool,
}

/// A call path whose calls waited for the GPU at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynchronisedRow {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// How many of its calls.
    pub n_calls: u64,
    /// Not every call of it was recorded one by one, or attributes were dropped: there may have been more.
    pub is_at_least: bool,
}

/// Attributes of the recorded calls of the run.
pub fn attributes(run: &Run) -> AttributeUse {
    let mut rows: BTreeMap<(u32, &str), AttributeRow> = BTreeMap::new();
    let mut synchronised: BTreeMap<u32, u64> = BTreeMap::new();
    let mut calls: Vec<(&Section, &[SectionAttributes])> = Vec::new();
    let same_call = |a: &SectionAttributes, b: &SectionAttributes| a.section == b.section;
    for given in run.section_attributes.chunk_by(same_call) {
        let Some(section) = run.sections.get(given[0].section) else {
            continue;
        };
        calls.push((section, given));
        if given.iter().flat_map(|g| &g.attributes).any(is_sync) {
            *synchronised.entry(section.node).or_default() += 1;
        }
        let mut names = BTreeSet::new();
        for attribute in given.iter().flat_map(|g| &g.attributes) {
            let (name, value) = attribute;
            if name == SYNC && matches!(value, Value::Bool(_)) {
                continue;
            }
            let row = rows
                .entry((section.node, name))
                .or_insert_with(|| AttributeRow::new(section.node, name));
            row.n_calls += u64::from(names.insert(name));
            row.note(value);
        }
    }
    calls.sort_by_key(|(section, _)| (section.start_ns, section.thread));
    AttributeUse {
        n_calls_left_out: calls.len().saturating_sub(MAX_LISTED_CALLS) as u64,
        calls: calls.into_iter().take(MAX_LISTED_CALLS).map(call).collect(),
        by_section: rows.into_values().collect(),
        synchronised: synchronised_rows(run, &synchronised),
    }
}

fn is_sync(attribute: &(String, Value)) -> bool {
    attribute.0 == SYNC && attribute.1 == Value::Bool(true)
}

fn call((section, given): (&Section, &[SectionAttributes])) -> AttributedCall {
    let attributes = given.iter().flat_map(|g| g.attributes.iter().cloned());
    AttributedCall {
        node: section.node,
        start_ns: section.start_ns,
        duration_ns: section.duration_ns(),
        attributes: attributes.collect(),
    }
}

fn synchronised_rows(run: &Run, n_calls: &BTreeMap<u32, u64>) -> Vec<SynchronisedRow> {
    if n_calls.is_empty() {
        return Vec::new();
    }
    let mut recorded: BTreeMap<u32, u64> = BTreeMap::new();
    for section in &run.sections {
        *recorded.entry(section.node).or_default() += 1;
    }
    let counted = |node: u32| run.totals.get(node as usize).map_or(0, |t| t.count);
    n_calls
        .iter()
        .map(|(&node, &n_calls)| SynchronisedRow {
            node,
            n_calls,
            is_at_least: run.losses.notes_dropped > 0 || counted(node) > recorded[&node],
        })
        .collect()
}

impl AttributeRow {
    fn new(node: u32, name: &str) -> Self {
        Self { node, name: name.to_owned(), n_calls: 0, values: Vec::new(), has_more_values: false }
    }

    fn note(&mut self, value: &Value) {
        if self.values.iter().any(|known| is_same(known, value)) {
            return;
        }
        if self.values.len() < MAX_VALUES {
            self.values.push(value.clone());
        } else {
            self.has_more_values = true;
        }
    }
}

/// Equal, or both NaN.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) if a.is_nan() => b.is_nan(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    /// `attributes` on the given sections of the run, which are ordered by their end.
    fn with_attributes(mut run: Run, given: &[(usize, &str, Value)]) -> Run {
        let on = |(section, name, value): &(usize, &str, Value)| SectionAttributes {
            section: *section,
            attributes: vec![((*name).to_owned(), value.clone())],
            session: None,
        };
        run.section_attributes = given.iter().map(on).collect();
        run
    }

    fn three_blocks() -> Run {
        // 0         10        20        30
        // |-block-| |-block-|   |block|
        //                |vae|
        RunBuilder::new()
            .section("block", 0, 8, |_| {})
            .section("block", 10, 18, |s| {
                s.section("vae", 15, 17, |_| {});
            })
            .section("block", 22, 27, |_| {})
            .finish(30)
    }

    #[test]
    fn each_call_is_listed_with_all_that_was_given_to_it() {
        // Sections by their end: block 0–8, vae 15–17, block 10–18, block 22–27.
        let given = [
            (0, "step", 1i64.into()),
            (1, "tile", 5i64.into()),
            (2, "step", 2i64.into()),
            (2, "kind", "fast".into()),
        ];
        let found = attributes(&with_attributes(three_blocks(), &given));
        let calls: Vec<_> = found
            .calls
            .iter()
            .map(|c| (c.node, c.start_ns, c.duration_ns, c.attributes.len()))
            .collect();
        assert_eq!(calls, [(1, 0, 8, 1), (1, 10, 8, 2), (2, 15, 2, 1)]);
        assert_eq!(found.n_calls_left_out, 0);
        let rows: Vec<_> = found
            .by_section
            .iter()
            .map(|row| (row.node, row.name.as_str(), row.n_calls, row.values.len()))
            .collect();
        assert_eq!(rows, [(1, "kind", 1, 1), (1, "step", 2, 2), (2, "tile", 1, 1)]);
        assert_eq!(found.synchronised, []);
    }

    #[test]
    fn sections_that_waited_for_the_gpu_are_counted_by_call_path() {
        let given = [
            (0, "sync", true.into()),
            (1, "sync", false.into()),
            (2, "sync", true.into()),
            (3, "sync", "yes".into()),
        ];
        let run = with_attributes(three_blocks(), &given);
        let row = SynchronisedRow { node: 1, n_calls: 2, is_at_least: false };
        let found = attributes(&run);
        assert_eq!(found.synchronised, [row]);
        assert_eq!(found.by_section.len(), 1, "the text is no such flag");
        let mut dropped = run;
        dropped.totals[1].count = 9;
        let found = attributes(&dropped).synchronised;
        assert!(found[0].is_at_least && found[0].n_calls == 2);
    }

    #[test]
    fn only_a_few_distinct_values_are_kept() {
        let mut builder = RunBuilder::new();
        for turn in 0..12u64 {
            builder = builder.section("block", turn * 10, turn * 10 + 5, |_| {});
        }
        let given: Vec<_> = (0..12)
            .map(|turn| (turn, "part", Value::from(turn % 6)))
            .chain([(11, "loss", f64::NAN.into()), (11, "loss", f64::NAN.into())])
            .collect();
        let found = attributes(&with_attributes(builder.finish(120), &given));
        let [loss, part] = &found.by_section[..] else {
            panic!("{:?}", found.by_section);
        };
        assert_eq!((loss.n_calls, loss.values.len()), (1, 1));
        assert!(!loss.has_more_values);
        let first: Vec<Value> = (0..4usize).map(Value::from).collect();
        assert_eq!((part.n_calls, &part.values), (12, &first));
        assert!(part.has_more_values);
    }

    #[test]
    fn calls_beyond_the_limit_are_counted() {
        let mut builder = RunBuilder::new();
        for turn in 0..10_003u64 {
            builder = builder.section("block", turn * 10, turn * 10 + 5, |_| {});
        }
        let given: Vec<_> = (0..10_003).map(|turn| (turn, "turn", Value::from(turn))).collect();
        let found = attributes(&with_attributes(builder.finish(100_030), &given));
        assert_eq!((found.calls.len(), found.n_calls_left_out), (10_000, 3));
        assert_eq!(found.by_section[0].n_calls, 10_003);
    }

    #[test]
    fn attributes_of_no_section_are_passed_over() {
        let given = [(7, "sync", true.into())];
        let run = with_attributes(three_blocks(), &given);
        assert_eq!(attributes(&run), AttributeUse::default());
    }
}

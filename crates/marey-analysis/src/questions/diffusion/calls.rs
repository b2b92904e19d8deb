//! Recorded calls of sections.

use std::collections::BTreeMap;

use marey::{Run, Section, Value};

/// Recorded calls of these nodes, with their indices into `Run::sections`.
pub(super) fn calls<'a>(
    run: &'a Run,
    nodes: &[u32],
) -> impl Iterator<Item = (usize, &'a Section)> + use<'a> {
    let mut is_wanted = vec![false; run.nodes.len()];
    for node in nodes {
        if let Some(wanted) = is_wanted.get_mut(*node as usize) {
            *wanted = true;
        }
    }
    // Most runs have no such section: then none is looked at.
    let sections = if nodes.is_empty() { &[][..] } else { &run.sections[..] };
    let sections = sections.iter().enumerate();
    sections.filter(move |(_, section)| is_wanted.get(section.node as usize) == Some(&true))
}

/// Things of a thread, or of what else tells them apart, each with a moment, in order of these.
pub(super) struct InOrder<K, T>(BTreeMap<K, Vec<(u64, T)>>);

impl<K: Ord, T: Ord + Copy> InOrder<K, T> {
    pub(super) fn of(each: impl Iterator<Item = (K, u64, T)>) -> Self {
        let mut found: BTreeMap<K, Vec<(u64, T)>> = BTreeMap::new();
        for (key, at_ns, one) in each {
            found.entry(key).or_default().push((at_ns, one));
        }
        for of_key in found.values_mut() {
            of_key.sort_unstable();
        }
        Self(found)
    }

    /// The last one at that moment or before it.
    pub(super) fn until(&self, key: &K, at_ns: u64) -> Option<(u64, T)> {
        let of_key = self.0.get(key)?;
        let next = of_key.partition_point(|(ns, _)| *ns <= at_ns);
        of_key[..next].last().copied()
    }

    /// The first one at that moment or after it.
    pub(super) fn from(&self, key: &K, at_ns: u64) -> Option<(u64, T)> {
        let of_key = self.0.get(key)?;
        of_key.get(of_key.partition_point(|(ns, _)| *ns < at_ns)).copied()
    }
}

/// A whole number that a section was given under one of these names.
pub(super) fn attribute(run: &Run, section: usize, names: &[&str]) -> Option<u64> {
    given(run, section, names, |value| match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    })
}

/// A finite number that a section was given under one of these names.
pub(super) fn real(run: &Run, section: usize, names: &[&str]) -> Option<f64> {
    given(run, section, names, |value| match value {
        Value::Int(number) => i32::try_from(*number).ok().map(f64::from),
        Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    })
}

fn given<T>(
    run: &Run,
    section: usize,
    names: &[&str],
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let given = &run.section_attributes;
    let first = given.partition_point(|attributes| attributes.section < section);
    let of_section = given[first..].iter().take_while(|a| a.section == section);
    let mut named =
        of_section.flat_map(|a| &a.attributes).filter(|(name, _)| names.contains(&name.as_str()));
    named.find_map(|(_, value)| read(value))
}

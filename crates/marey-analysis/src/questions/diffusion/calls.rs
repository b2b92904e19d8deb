//! Recorded calls of sections.

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

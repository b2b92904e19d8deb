//! What one run says of everything that is compared.

mod generation;
mod machine;
mod memory;
mod reads;
mod times;

use std::collections::{BTreeMap, BTreeSet};

use marey::Run;

use super::call_path::{Path, nodes_by_path};
use super::{MeasureKind, Subject};
use crate::{Diffusion, Kind, Sections, Thresholds};

/// What is measured, and of what.
pub(super) type Key = (MeasureKind, Subject);

/// What a run says of one measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Value {
    /// The figure, finite.
    pub(super) figure: f64,
    /// Single calls or iterations, in order of time, finite; empty where they are no samples of the figure.
    pub(super) calls: Vec<f64>,
    /// For times: the share of the wall time that it is part of, 0 to 1; 0 for everything else.
    pub(super) share: f64,
}

/// Everything that a run says; what it does not say is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Observations {
    values: BTreeMap<Key, Value>,
}

/// A run with the answers that its figures come from.
struct Asked<'a> {
    run: &'a Run,
    sections: Sections,
    diffusion: Option<Diffusion>,
    /// Nodes of each call path: more than one when a name stands for sections, iterations or detached work at one place.
    paths: BTreeMap<Path, Vec<usize>>,
}

impl Observations {
    /// All figures of a run. Of the sections by name only those of `names`: where a name has one call path, that path says
    /// all.
    pub(super) fn new(run: &Run, names: &BTreeSet<String>) -> Self {
        let sections = crate::sections(run);
        let asked = Asked {
            run,
            paths: nodes_by_path(&sections),
            diffusion: crate::diffusion(run, &Thresholds::of(run)),
            sections,
        };
        let mut found = Self::default();
        times::observe(&asked, names, &mut found);
        memory::observe(&asked, &mut found);
        reads::observe(&asked, &mut found);
        machine::observe(&asked, &mut found);
        generation::observe(&asked, &mut found);
        found
    }

    /// The same with everything else that is known.
    #[must_use]
    pub(super) fn with(mut self, others: Self) -> Self {
        for (key, value) in others.values {
            self.values.entry(key).or_insert(value);
        }
        self
    }

    /// The same without single calls.
    #[must_use]
    pub(super) fn without_calls(mut self) -> Self {
        self.values.values_mut().for_each(|value| value.calls.clear());
        self
    }

    /// What is of these subjects.
    pub(super) fn only(&self, is_meant: impl Fn(&Subject) -> bool) -> Self {
        let values = self.values.iter().filter(|((_, of), _)| is_meant(of));
        Self { values: values.map(|(key, value)| (key.clone(), value.clone())).collect() }
    }

    pub(super) fn values(&self) -> &BTreeMap<Key, Value> {
        &self.values
    }

    /// The same with call paths in other words.
    pub(super) fn renamed(self, in_other_words: &BTreeMap<Path, Path>) -> Self {
        let renamed = |path: Path| in_other_words.get(&path).cloned().unwrap_or(path);
        let subject = |subject| match subject {
            Subject::Path(path) => Subject::Path(renamed(path)),
            Subject::MemoryDuring { path, source } => {
                Subject::MemoryDuring { path: renamed(path), source }
            }
            other => other,
        };
        let values = self.values.into_iter();
        Self { values: values.map(|((kind, of), value)| ((kind, subject(of)), value)).collect() }
    }

    pub(super) fn add(&mut self, kind: MeasureKind, of: Subject, figure: Option<f64>) {
        if let Some(figure) = figure {
            let value = Value { figure, ..Value::default() };
            self.add_value(kind, of, value);
        }
    }

    /// Adds what is a number; keeps the first of two for the same thing.
    pub(super) fn add_value(&mut self, kind: MeasureKind, of: Subject, mut value: Value) {
        value.calls.retain(|call| call.is_finite());
        if value.figure.is_finite() {
            self.values.entry((kind, of)).or_insert(value);
        }
    }
}

impl Asked<'_> {
    /// Call paths of sections, without those of iterations.
    fn section_paths(&self) -> impl Iterator<Item = (&Path, &Vec<usize>)> {
        let loops: BTreeSet<usize> = self
            .sections
            .tree
            .iter()
            .filter(|row| row.kind == Kind::Iteration)
            .map(|row| row.node as usize)
            .collect();
        let is_section =
            move |(_, nodes): &(&Path, &Vec<usize>)| !nodes.iter().all(|n| loops.contains(n));
        self.paths.iter().filter(is_section)
    }
}

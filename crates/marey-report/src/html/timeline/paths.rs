//! Call paths, and other names that slices have.

use std::collections::BTreeMap;

use marey::profiling_config::SectionKind;
use marey::{Node, NodeKind, Run};
use serde::{Serialize, Serializer};

/// Names of sessions and events that are told apart; there may be as many as there are events.
const MAX_OTHER_NAMES: usize = 5_000;
/// Characters of a name that are shown.
const MAX_NAME: usize = 300;

/// Call paths by number: those of the run first, with the same numbers, then names of sessions and events.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Paths {
    /// As the user gave them, cut at 300 characters; not safe to print.
    names: Vec<String>,
    /// Number of the path around it; its own number where there is none.
    parents: Vec<u32>,
    /// One digit a path: see [`Category`].
    #[serde(serialize_with = "digits")]
    #[schemars(with = "String")]
    categories: Vec<Category>,
    /// Sessions and events that stand under "(other names)", because there are too many names.
    n_without_name: u64,
    #[serde(skip)]
    on_gpu: BTreeMap<u32, u32>,
    #[serde(skip)]
    others: BTreeMap<(Category, String), u32>,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Category {
    Section = 0,
    Iteration = 1,
    Step = 2,
    Block = 3,
    Session = 4,
    Event = 5,
    Gpu = 6,
}

impl Paths {
    pub(super) fn new(run: &Run) -> Self {
        let mut paths = Self {
            names: Vec::with_capacity(run.nodes.len()),
            parents: Vec::with_capacity(run.nodes.len()),
            categories: Vec::with_capacity(run.nodes.len()),
            n_without_name: 0,
            on_gpu: BTreeMap::new(),
            others: BTreeMap::new(),
        };
        for (id, node) in (0_u32..).zip(&run.nodes) {
            let parent = node.parent.filter(|parent| *parent < id).unwrap_or(id);
            paths.add(&node.name, parent, Category::of(node));
        }
        if paths.names.is_empty() {
            paths.add("", 0, Category::Section);
        }
        paths
    }

    /// The number of a session's or event's name.
    pub(super) fn other(&mut self, category: Category, name: &str) -> u32 {
        let name = cut(name);
        if let Some(known) = self.others.get(&(category, name.clone())) {
            return *known;
        }
        let name = if self.others.len() < MAX_OTHER_NAMES {
            name
        } else {
            self.n_without_name += 1;
            "(other names)".to_owned()
        };
        if let Some(known) = self.others.get(&(category, name.clone())) {
            return *known;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.add(&name, id, category);
        self.others.insert((category, name), id);
        id
    }

    /// The number of a node; that of the root for one that the run does not have.
    pub(super) fn node(&self, node: u32) -> u32 {
        if (node as usize) < self.names.len() { node } else { 0 }
    }

    /// The number of what a GPU does for a node's sections: beside the node, with a name that says so.
    pub(super) fn on_gpu(&mut self, node: u32) -> u32 {
        let node = self.node(node);
        if let Some(known) = self.on_gpu.get(&node) {
            return *known;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let (name, parent) = (&self.names[node as usize], self.parents[node as usize]);
        let name = format!("{name} (GPU)");
        self.add(&name, if parent == node { id } else { parent }, Category::Gpu);
        self.on_gpu.insert(node, id);
        id
    }

    fn add(&mut self, name: &str, parent: u32, category: Category) {
        self.names.push(cut(name));
        self.parents.push(parent);
        self.categories.push(category);
    }
}

impl Category {
    fn of(node: &Node) -> Self {
        match (SectionKind::of(&node.name), node.kind) {
            (Some(SectionKind::InferenceStep), _) => Self::Step,
            (Some(SectionKind::BlockComputation), _) => Self::Block,
            (_, NodeKind::Iteration) => Self::Iteration,
            (_, NodeKind::Section) => Self::Section,
        }
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn digits<S: Serializer>(categories: &[Category], serializer: S) -> Result<S::Ok, S::Error> {
    let digit = |category: &Category| char::from(b'0' + *category as u8);
    serializer.collect_str(&categories.iter().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    #[test]
    fn steps_blocks_and_loops_are_told_from_other_sections() {
        let run = RunBuilder::new()
            .iteration("block", 0, 9, |s| {
                s.iteration("denoising_step", 1, 5, |s| {
                    s.section("attention", 2, 3, |_| {});
                });
                s.iteration("tile", 6, 7, |_| {});
            })
            .finish(10);
        let paths = Paths::new(&run);
        assert_eq!(
            paths.categories,
            [
                Category::Section,
                Category::Block,
                Category::Step,
                Category::Section,
                Category::Iteration
            ]
        );
        assert_eq!(paths.parents, [0, 0, 1, 2, 1]);
    }

    #[test]
    fn names_beyond_the_most_that_are_told_apart_are_counted() {
        let mut paths = Paths::new(&RunBuilder::new().finish(1));
        let first = paths.other(Category::Event, "0");
        for n in 1..MAX_OTHER_NAMES {
            paths.other(Category::Event, &n.to_string());
        }
        let rest = paths.other(Category::Event, "one more");
        assert_eq!(paths.other(Category::Event, "another one"), rest);
        assert_eq!(paths.other(Category::Event, "0"), first);
        assert_eq!(paths.n_without_name, 2);
        assert_eq!(paths.names.len(), 1 + MAX_OTHER_NAMES + 1);
    }
}

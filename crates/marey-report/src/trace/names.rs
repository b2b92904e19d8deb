//! Names of a run by number, each once.

use std::collections::BTreeMap;

use marey::Run;
use marey::profiling_config::SectionKind;
use marey::{Node, NodeKind};

use super::slice::Category;

/// The names of one run. A name's number is its index.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    by_number: Vec<&'a str>,
    known: BTreeMap<&'a str, u32>,
    nodes: Vec<(u32, Category)>,
}

impl<'a> Names<'a> {
    /// Those of the nodes; others come when they are asked for.
    pub(super) fn new(run: &'a Run) -> Self {
        let mut names = Self::default();
        for node in &run.nodes {
            let number = names.number(&node.name);
            names.nodes.push((number, category(node)));
        }
        names
    }

    /// The number of a name.
    pub(super) fn number(&mut self, name: &'a str) -> u32 {
        if let Some(number) = self.known.get(name) {
            return *number;
        }
        let number = u32::try_from(self.by_number.len()).unwrap_or(u32::MAX);
        self.by_number.push(name);
        self.known.insert(name, number);
        number
    }

    /// The number of a node's name, and what the node is. A node that the run does not have has no name.
    pub(super) fn of_node(&mut self, node: u32) -> (u32, Category) {
        match self.nodes.get(node as usize) {
            Some(known) => *known,
            None => (self.number(""), Category::Section),
        }
    }

    /// The name of a number; empty for a number that was not given.
    pub(super) fn name(&self, number: u32) -> &'a str {
        self.by_number.get(number as usize).copied().unwrap_or_default()
    }
}

fn category(node: &Node) -> Category {
    match (SectionKind::of(&node.name), node.kind) {
        (Some(SectionKind::InferenceStep), _) => Category::Step,
        (Some(SectionKind::BlockComputation), _) => Category::Block,
        (_, NodeKind::Iteration) => Category::Iteration,
        (_, NodeKind::Section) => Category::Section,
    }
}

//! Names and nodes as blocks define them. What a damaged capture lost of them has a stand-in, so that what was recorded keeps its
//! times.

use crate::recorder::{high, low};
use crate::run::{Node, NodeKind};

/// Numbers of names and nodes have 16 bits.
const MAX: u32 = 1 << 16;

/// Tables with gaps.
#[derive(Debug, Default)]
pub(super) struct Tables {
    names: Vec<Option<String>>,
    nodes: Vec<Option<u64>>,
}

impl Tables {
    /// Defines a name; a second definition is a repetition. `None` when there can be no such name.
    pub(super) fn name(&mut self, name: u32, text: String) -> Option<()> {
        place(&mut self.names, name)?.get_or_insert(text);
        Some(())
    }

    /// Defines a node. `None` when there can be no such node: a parent has a smaller number.
    pub(super) fn node(&mut self, node: u32, word: u64) -> Option<()> {
        let parent = low(word) & 0xffff;
        if node > 0 && parent >= node {
            return None;
        }
        place(&mut self.nodes, node)?.get_or_insert(word);
        Some(())
    }

    /// Makes sure that a node that was used exists.
    pub(super) fn use_node(&mut self, node: u32) -> Option<()> {
        place(&mut self.nodes, node).map(drop)
    }

    /// Number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The call paths.
    pub(super) fn run_nodes(&self) -> Vec<Node> {
        (0..).zip(&self.nodes).map(|(id, word)| self.run_node(id, *word)).collect()
    }

    fn run_node(&self, id: u32, word: Option<u64>) -> Node {
        let lost = |what: &str| format!("(lost {what} {id})");
        let name = |word: u64| {
            let name = self.names.get((low(word) >> 16) as usize).cloned().flatten();
            name.unwrap_or_else(|| lost("name of node"))
        };
        let flags = word.map_or(0, high);
        Node {
            parent: (id > 0).then(|| word.map_or(0, |word| low(word) & 0xffff)),
            name: match word {
                _ if id == 0 => String::new(),
                Some(word) => name(word),
                None => lost("node"),
            },
            kind: if flags & 1 != 0 { NodeKind::Iteration } else { NodeKind::Section },
            is_detached: flags & 2 != 0,
        }
    }
}

/// The entry of a number, with all before it.
fn place<T: Clone>(table: &mut Vec<Option<T>>, number: u32) -> Option<&mut Option<T>> {
    if number >= MAX {
        return None;
    }
    let at = number as usize;
    if at >= table.len() {
        table.resize(at + 1, None);
    }
    table.get_mut(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_has_a_stand_in_and_a_later_definition_fills_it() {
        let mut tables = Tables::default();
        tables.name(0, String::new()).unwrap();
        tables.name(2, "step".into()).unwrap();
        tables.node(0, 0).unwrap();
        tables.node(3, 2 << 16).unwrap();
        tables.node(4, 3 | 1 << 16 | 1 << 32).unwrap();
        let names = |tables: &Tables| -> Vec<String> {
            tables.run_nodes().into_iter().map(|n| n.name).collect()
        };
        let expected = ["", "(lost node 1)", "(lost node 2)", "step", "(lost name of node 4)"];
        assert_eq!(names(&tables), expected);
        tables.name(1, "vae".into()).unwrap();
        tables.name(1, "other".into()).unwrap();
        assert_eq!(names(&tables)[4], "vae");
        assert_eq!(tables.run_nodes()[4].kind, NodeKind::Iteration);
    }

    #[test]
    fn a_parent_that_does_not_come_first_is_refused() {
        let mut tables = Tables::default();
        assert_eq!(tables.node(2, 2), None);
        assert_eq!(tables.node(2, 7), None);
        assert_eq!(tables.node(MAX, 0), None);
        assert_eq!(tables.name(u32::MAX, String::new()), None);
        assert_eq!(tables.n_nodes(), 0);
    }
}

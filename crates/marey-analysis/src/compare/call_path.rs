//! Where a section or a loop lies in a run.

use std::collections::BTreeMap;

use crate::Sections;

/// A call path, as names from the outermost to the innermost.
pub(super) type Path = Vec<String>;

/// Nodes of each call path.
pub(super) fn nodes_by_path(sections: &Sections) -> BTreeMap<Path, Vec<usize>> {
    let mut paths: BTreeMap<u32, Path> = BTreeMap::new();
    let mut nodes: BTreeMap<Path, Vec<usize>> = BTreeMap::new();
    for row in &sections.tree {
        let around = row.parent.and_then(|parent| paths.get(&parent));
        let mut path = around.cloned().unwrap_or_default();
        path.push(row.name.clone());
        nodes.entry(path.clone()).or_default().push(row.node as usize);
        paths.insert(row.node, path);
    }
    nodes
}

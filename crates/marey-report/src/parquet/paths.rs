//! Call paths as texts.

use marey::Run;

/// Longest text of a path in bytes. A recursion may be thousands of names deep.
const MAX_BYTES: usize = 4096;
const BETWEEN: &str = " / ";
const LEFT_OUT: &str = " / … / ";

/// The text of a call path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// `denoise / attention`. Of one that is too long the middle is left out: it ends with the node's own name.
    pub(super) text: String,
    /// Names above its own.
    pub(super) depth: u64,
    /// Where the middle was left out.
    cut: Option<usize>,
}

/// Texts of all nodes; same index as `Run::nodes`.
pub(super) fn paths(run: &Run) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::with_capacity(run.nodes.len());
    for node in &run.nodes {
        // A parent has a smaller id. The root, which has no name, is in no path.
        let parent = node.parent.filter(|parent| *parent > 0);
        let path = match parent.and_then(|parent| paths.get(parent as usize)) {
            Some(parent) => below(parent, &node.name),
            None => Path { text: node.name.clone(), ..Path::default() },
        };
        paths.push(path);
    }
    paths
}

fn below(parent: &Path, name: &str) -> Path {
    let depth = parent.depth.saturating_add(1);
    if parent.text.len() + BETWEEN.len() + name.len() <= MAX_BYTES {
        return Path { text: [&parent.text, BETWEEN, name].concat(), depth, cut: parent.cut };
    }
    let room = MAX_BYTES.saturating_sub(LEFT_OUT.len() + name.len());
    let kept = parent.cut.unwrap_or(parent.text.len()).min(room);
    let cut = parent.text.floor_char_boundary(kept);
    Path { text: [&parent.text[..cut], LEFT_OUT, name].concat(), depth, cut: Some(cut) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::{Node, NodeKind};

    fn run_of(names: &[(&str, Option<u32>)]) -> Run {
        let node = |(name, parent): &(&str, Option<u32>)| Node {
            parent: *parent,
            name: (*name).into(),
            kind: NodeKind::Section,
            is_detached: false,
        };
        Run { nodes: names.iter().map(node).collect(), ..Run::default() }
    }

    #[test]
    fn a_path_has_the_names_from_the_outermost_section_on() {
        let run = run_of(&[("", None), ("a", Some(0)), ("b", Some(1)), ("c", Some(0))]);
        let found = paths(&run);
        let found: Vec<_> = found.iter().map(|p| (p.text.as_str(), p.depth)).collect();
        assert_eq!(found, [("", 0), ("a", 0), ("a / b", 1), ("c", 0)]);
    }

    #[test]
    fn a_path_that_is_too_long_keeps_its_beginning_and_its_end() {
        let long = "é".repeat(500);
        let mut names = vec![("", None), ("top", Some(0))];
        for depth in 1..40 {
            names.push((long.as_str(), Some(depth)));
        }
        names.push(("end", Some(40)));
        let run = run_of(&names);
        let found = paths(&run);
        assert!(found.iter().all(|path| path.text.len() <= MAX_BYTES));
        let last = &found[41];
        assert!(last.text.starts_with("top / é"), "{}", last.text);
        assert!(last.text.ends_with("é / … / end") || last.text.ends_with("é / end"));
        assert_eq!(last.text.matches('…').count(), 1);
        assert_eq!(last.depth, 40);
    }
}

//! The accounts of several runs as one tree, so that what held each of them up can be laid side by side.
//!
//! ```text
//! run 0    load 3 │ denoise 10 │ 1          load      3  4
//! run 1    load 4 │ denoise 12 │ save 2     denoise  10 12      what no row has is what is left of the wall times: 1, 0
//!                                           save      0  2
//! ```

use std::collections::BTreeMap;

use marey::{Launch, NodeKind, Run};

use super::account_alone;

/// What held several runs up, by call path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedAccount {
    /// Wall time of each run.
    pub wall_ns: Vec<u64>,
    /// Call paths of any of them, by path: a parent stands before what is below it.
    pub rows: Vec<SharedRow>,
}

/// One call path in each of the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    /// As the user named it; not safe to print.
    pub name: String,
    /// Index into [`SharedAccount::rows`]; `None` at the top level.
    pub parent: Option<usize>,
    /// Its calls are iterations.
    pub is_iteration: bool,
    /// What it held each run up without what is below it, in the order of the runs.
    pub self_ns: Vec<u64>,
}

/// What one call path held one run up without what is below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathTime {
    /// Names from the outermost to the innermost.
    pub path: Vec<String>,
    /// Its calls are iterations.
    pub is_iteration: bool,
    /// Nanoseconds.
    pub self_ns: u64,
}

/// All of one run: its wall time and its call paths. Those of the same names are put together.
pub type PathTimes = (u64, Vec<PathTime>);

impl SharedAccount {
    /// Of runs in this order.
    pub fn new(runs: Vec<PathTimes>) -> Self {
        let n_runs = runs.len();
        let mut by_path: BTreeMap<Vec<String>, (bool, Vec<u64>)> = BTreeMap::new();
        let mut wall_ns = Vec::with_capacity(n_runs);
        for (run, (wall, times)) in runs.into_iter().enumerate() {
            wall_ns.push(wall);
            for time in times.into_iter().filter(|time| !time.path.is_empty()) {
                for above in 1..time.path.len() {
                    let around = time.path[..above].to_vec();
                    by_path.entry(around).or_insert_with(|| (false, vec![0; n_runs]));
                }
                let row = by_path.entry(time.path).or_insert_with(|| (false, vec![0; n_runs]));
                row.0 |= time.is_iteration;
                row.1[run] += time.self_ns;
            }
        }
        // A parent's path is the beginning of its children's, so that it is before them.
        let mut index: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut rows = Vec::with_capacity(by_path.len());
        for (path, (is_iteration, self_ns)) in by_path {
            let parent = index.get(&path[..path.len() - 1]).copied();
            rows.push(SharedRow {
                name: path.last().cloned().unwrap_or_default(),
                parent,
                is_iteration,
                self_ns,
            });
            index.insert(path, rows.len() - 1);
        }
        Self { wall_ns, rows }
    }

    /// What a row held each run up with all that is below it.
    pub fn held_ns(&self) -> Vec<Vec<u64>> {
        let mut held: Vec<Vec<u64>> = self.rows.iter().map(|row| row.self_ns.clone()).collect();
        for at in (0..self.rows.len()).rev() {
            if let Some(parent) = self.rows[at].parent {
                let below = held[at].clone();
                for (sum, ns) in held[parent].iter_mut().zip(below) {
                    *sum += ns;
                }
            }
        }
        held
    }
}

/// What held a run up, by call path; its wall time is the command's where a launcher saw it. `None` where
/// [`super::wall_account`] has no answer.
pub fn path_times(run: &Run) -> Option<PathTimes> {
    let account = account_alone(run)?;
    let mut paths: Vec<Vec<String>> = Vec::with_capacity(account.rows.len());
    let mut times = Vec::with_capacity(account.rows.len());
    for row in &account.rows {
        let node = run.nodes.get(row.node as usize)?;
        let around = row.parent.and_then(|parent| paths.get(parent));
        let mut path = around.cloned().unwrap_or_default();
        path.push(node.name.clone());
        times.push(PathTime {
            path: path.clone(),
            is_iteration: node.kind == NodeKind::Iteration,
            self_ns: row.self_ns,
        });
        paths.push(path);
    }
    Some((command_ns(run), times))
}

/// Wall time of the command where its launcher saw it, else of the run.
fn command_ns(run: &Run) -> u64 {
    let launch = Launch::of(&run.info);
    let own = launch.filter(|launch| launch.pid == run.info.pid);
    let seen = own.and_then(|launch| launch.wall_ns).unwrap_or(0);
    seen.max(run.wall_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(path: &[&str], self_ns: u64) -> PathTime {
        PathTime {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            is_iteration: path.last() == Some(&"step"),
            self_ns,
        }
    }

    #[test]
    fn call_paths_of_several_runs_are_one_tree() {
        // run 0    |-load 3-|-generate 2-(step 10)-|        of 16
        // run 1    |-load 4-|-------------(step 12)-|save 2| of 18: the own time of generate is not said
        let found = SharedAccount::new(vec![
            (16, vec![time(&["load"], 3), time(&["generate"], 2), time(&["generate", "step"], 10)]),
            (18, vec![time(&["save"], 2), time(&["generate", "step"], 12), time(&["load"], 4)]),
        ]);
        let rows: Vec<_> = found
            .rows
            .iter()
            .map(|row| (row.name.as_str(), row.parent, row.self_ns.clone()))
            .collect();
        assert_eq!(
            rows,
            [
                ("generate", None, vec![2, 0]),
                ("step", Some(0), vec![10, 12]),
                ("load", None, vec![3, 4]),
                ("save", None, vec![0, 2]),
            ]
        );
        assert!(found.rows[1].is_iteration && !found.rows[0].is_iteration);
        assert_eq!(found.held_ns()[0], [12, 12]);
        assert_eq!(found.wall_ns, [16, 18]);
    }

    #[test]
    fn names_that_stand_twice_at_one_place_are_put_together() {
        let found = SharedAccount::new(vec![(9, vec![time(&["a"], 3), time(&["a"], 4)])]);
        assert_eq!(found.rows.len(), 1);
        assert_eq!(found.rows[0].self_ns, [7]);
        assert_eq!(SharedAccount::new(vec![]), SharedAccount::default());
    }
}

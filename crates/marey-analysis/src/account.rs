//! Where did the wall time go? Each moment is given out once, so the rows add up.
//!
//! ```text
//! main thread   |---load---|     |-----generate-----|
//!                                    |decode|
//! a task of it                    |fetch|                 opened below generate: it waits for that
//! worker           |----write----|           |--write--|
//! held by       |---load---|write|f..|deco..|generate|w|
//! ```
//!
//! What the main thread is in holds the run up, or what runs for that in tasks, innermost first. While it and its tasks are in nothing, what
//! other threads are in does: each of k has 1/k of the moment. What they do otherwise adds nothing. While a device has still to do what a
//! thread launched in a section that it has left, the thread counts as in that section (`lag.rs`).

mod lag;

mod shared;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use marey::Run;

use self::lag::{Entered, lags, with_lags};
use crate::coverage::Coverage;
use crate::intervals::Interval;
use crate::questions::sections::Sections;
use crate::records::Records;
use crate::section_lookup::main_thread;

pub use shared::{PathTime, PathTimes, SharedAccount, SharedRow, path_times};

/// Where several threads or tasks recorded more than this, sections that lie deep are part of those around them.
const MOST_SECTIONS: usize = 2_000_000;

/// The wall time of a run by what held it up. The rows of the top level and `unattributed_ns` add up to `wall_ns`; of each row its own time
/// and the rows below it to the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// All of it.
    pub wall_ns: u64,
    /// Call paths that held it up, longest first among those of one parent; a parent stands before what is below it.
    pub rows: Vec<AccountRow>,
    /// Nothing was open.
    pub unattributed_ns: u64,
}

/// What one call path held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountRow {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// Index into [`Account::rows`]; `None` at the top level.
    pub parent: Option<usize>,
    /// With all that is below it.
    pub held_ns: u64,
    /// Without.
    pub self_ns: u64,
}

impl Account {
    /// The tree of what held the run up, from the own time of each node.
    pub(crate) fn of_own(run: &Run, wall_ns: u64, own: &[u64]) -> Self {
        let mut held = own.to_vec();
        for (id, node) in run.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                held[parent as usize] += held[id];
            }
        }
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); run.nodes.len()];
        for (id, node) in (0_u32..).zip(&run.nodes) {
            if let Some(parent) = node.parent.filter(|_| held[id as usize] > 0) {
                below[parent as usize].push(id);
            }
        }
        let mut rows = Vec::new();
        let mut waiting: Vec<(u32, Option<usize>)> = vec![(0, None)];
        while let Some((node, parent)) = waiting.pop() {
            let index = rows.len();
            let is_root = node == 0;
            if !is_root {
                rows.push(AccountRow {
                    node,
                    parent,
                    held_ns: held[node as usize],
                    self_ns: own[node as usize],
                });
            }
            let mut next = std::mem::take(&mut below[node as usize]);
            // The last that is pushed is the first that is taken.
            next.sort_by_key(|node| (held[*node as usize], Reverse(*node)));
            let above = (!is_root).then_some(index);
            waiting.extend(next.into_iter().map(|node| (node, above)));
        }
        Self { wall_ns, rows, unattributed_ns: own.first().copied().unwrap_or(wall_ns) }
    }
}

/// The account of a run. `None` where sections are missing from the records of a run with several threads or tasks: nobody knows what lay
/// beside what. Time: one look at each record where one thread recorded and no device worked, otherwise a sort of them.
pub fn wall_account(run: &Run, sections: &Sections) -> Option<Account> {
    let own = || {
        let mut own = vec![Some(0); run.nodes.len()];
        for row in &sections.tree {
            *own.get_mut(row.node as usize)? = row.self_ns;
        }
        Some(own)
    };
    of_own_times(run, own)
}

/// The same where nothing else is asked of its sections.
pub(crate) fn account_alone(run: &Run) -> Option<Account> {
    let records = Records::new(run, |node| node > 0);
    of_own_times(run, || Some(Coverage::new(run, &records).self_ns()))
}

/// `own` is the time of all calls of each node without what is under it.
fn of_own_times(run: &Run, own: impl Fn() -> Option<Vec<Option<u64>>>) -> Option<Account> {
    if run.nodes.is_empty() {
        return Some(Account {
            wall_ns: run.wall_ns,
            rows: Vec::new(),
            unattributed_ns: run.wall_ns,
        });
    }
    let is_whole = run.losses.sections_missing() == 0;
    let lags_behind = is_whole && run.gpu_spans.iter().any(|span| span.delay_ns.is_some());
    let of_one = || of_one_flow(run, own);
    let own = match lags_behind.then(|| of_flows(run)).flatten().or_else(of_one) {
        Some(own) => own,
        None if is_whole => of_flows(run)?,
        None => return None,
    };
    Some(Account::of_own(run, run.wall_ns, &own))
}

/// Own time by node where everything happened one after the other: totals say it, also of sections that were not kept.
fn of_one_flow(run: &Run, own: impl Fn() -> Option<Vec<Option<u64>>>) -> Option<Vec<u64>> {
    let first = run.sections.first().map(|section| section.thread);
    let is_beside = run.nodes.iter().any(|node| node.is_detached);
    let mut all = run.sections.iter();
    let is_apart = all.any(|s| s.flow != 0 || Some(s.thread) != first);
    let mut open = run.open.iter();
    let is_open_elsewhere = open.any(|open| first.is_some() && open.thread != first);
    if is_beside || is_apart || is_open_elsewhere {
        return None;
    }
    // Of what is missing nobody knows in which thread it was.
    let is_unknown = first.is_none() || run.losses.sections_missing() > 0;
    if run.totals.iter().any(|totals| totals.n_threads > 1) || (is_unknown && run.threads.len() > 1)
    {
        return None;
    }
    let own = own()?.into_iter();
    let mut own = own.collect::<Option<Vec<u64>>>()?;
    own[0] = 0;
    let covered = own.iter().try_fold(0_u64, |sum, own| sum.checked_add(*own))?;
    own[0] = run.wall_ns.checked_sub(covered)?;
    Some(own)
}

/// Own time by node, moment by moment. `None` without a level that has few enough sections.
fn of_flows(run: &Run) -> Option<Vec<u64>> {
    let depths = depths(run);
    let depth_limit = depth_limit(run, &depths)?;
    let is_looked_at = |node: u32| depths.get(node as usize).is_some_and(|d| *d <= depth_limit);
    let mut flows: BTreeMap<(u32, u16), Vec<(Interval, u32)>> = BTreeMap::new();
    for section in run.sections.iter().filter(|s| is_looked_at(s.node)) {
        let time = Interval { start_ns: section.start_ns, end_ns: section.end_ns.min(run.wall_ns) };
        let flow = flows.entry((section.thread, section.flow)).or_default();
        flow.push((time, section.node));
    }
    for open in run.open.iter().filter(|open| is_looked_at(open.node)) {
        let time = Interval {
            start_ns: open.start_ns.min(run.wall_ns),
            end_ns: open.until_ns.min(run.wall_ns),
        };
        let thread = open.thread.unwrap_or(u32::MAX);
        flows.entry((thread, 0)).or_default().push((time, open.node));
    }
    let main = main_thread(run);
    let mut lags = lags(run, is_looked_at);
    let mut changes: Vec<Change> = Vec::new();
    for (number, ((thread, flow), sections)) in flows.into_iter().enumerate() {
        let behind = lags.remove(&(thread, flow)).unwrap_or_default();
        let whose = match (thread == main, flow) {
            (true, 0) => Whose::Main,
            (true, _) => Whose::TaskOfMain,
            (false, _) => Whose::Other,
        };
        let entered = with_lags(&entered(sections), &behind);
        changes.extend(entered.into_iter().map(|Entered { at_ns, node }| Change {
            at_ns,
            flow: number,
            whose,
            node,
        }));
    }
    changes.sort_by_key(|change| change.at_ns);
    Some(shared(run, &changes))
}

/// A flow is in another innermost section from here on; 0 is none.
struct Change {
    at_ns: u64,
    flow: usize,
    whose: Whose,
    node: u32,
}

/// What a thread or task is to the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Main,
    TaskOfMain,
    Other,
}

/// Which section was the innermost, over time.
fn entered(mut sections: Vec<(Interval, u32)>) -> Vec<Entered> {
    sections.sort_by_key(|(time, node)| (time.start_ns, Reverse(time.end_ns), *node));
    let mut all = Vec::with_capacity(2 * sections.len());
    let mut change = |at_ns, node| all.push(Entered { at_ns, node });
    let mut around: Vec<(u64, u32)> = Vec::new();
    for (time, node) in sections {
        leave(&mut around, time.start_ns, &mut change);
        change(time.start_ns, node);
        around.push((time.end_ns, node));
    }
    leave(&mut around, u64::MAX, &mut change);
    all
}

/// Leaves the sections that end before a moment.
fn leave(around: &mut Vec<(u64, u32)>, at_ns: u64, change: &mut impl FnMut(u64, u32)) {
    while let Some((end_ns, _)) = around.pop_if(|(end_ns, _)| *end_ns <= at_ns) {
        // What was opened around it and ended before it has been left, too.
        around.retain(|(other, _)| *other > end_ns);
        change(end_ns, around.last().map_or(0, |(_, node)| *node));
    }
}

/// Gives each moment to what held the run up then.
fn shared(run: &Run, changes: &[Change]) -> Vec<u64> {
    let mut own = vec![0_u64; run.nodes.len()];
    let mut now = Holding::default();
    let mut since_ns = 0;
    for change in changes {
        let at_ns = change.at_ns.min(run.wall_ns);
        now.give(run, at_ns.saturating_sub(since_ns), &mut own);
        since_ns = since_ns.max(at_ns);
        now.change(change);
    }
    now.give(run, run.wall_ns.saturating_sub(since_ns), &mut own);
    own
}

/// What is open at a moment.
#[derive(Default)]
struct Holding {
    /// The innermost section of the main thread; 0 is none.
    main: u32,
    /// That of each other thread and task which is in one.
    others: HashMap<usize, u32>,
    /// How many tasks of the main thread are in each.
    tasks_in: BTreeMap<u32, u64>,
    /// How many other threads, and tasks of theirs.
    others_in: BTreeMap<u32, u64>,
}

impl Holding {
    fn change(&mut self, change: &Change) {
        let n_in = match change.whose {
            Whose::Main => {
                self.main = change.node;
                return;
            }
            Whose::TaskOfMain => &mut self.tasks_in,
            Whose::Other => &mut self.others_in,
        };
        let before = match change.node {
            0 => self.others.remove(&change.flow),
            node => self.others.insert(change.flow, node),
        };
        if let Some(before) = before
            && let Some(n) = n_in.get_mut(&before)
        {
            *n -= 1;
            if *n == 0 {
                n_in.remove(&before);
            }
        }
        if change.node != 0 {
            *n_in.entry(change.node).or_default() += 1;
        }
    }

    /// Gives some time to what holds the run up, in whole nanoseconds.
    fn give(&self, run: &Run, length_ns: u64, own: &mut [u64]) {
        if length_ns == 0 {
            return;
        }
        let holders = self.holders(run);
        let all: u64 = holders.values().sum();
        let (mut left_ns, mut left) = (length_ns, all);
        for (node, n) in holders {
            // What is left after the last is nothing.
            let part_ns = u64::try_from(u128::from(left_ns) * u128::from(n) / u128::from(left));
            let part_ns = part_ns.unwrap_or(left_ns);
            (left_ns, left) = (left_ns - part_ns, left - n);
            own[node as usize] += part_ns;
        }
        own[self.main as usize] += left_ns;
    }

    /// What holds the run up besides the section of the main thread, in its place: sections, and how many are in each.
    fn holders(&self, run: &Run) -> BTreeMap<u32, u64> {
        if self.others.is_empty() {
            return BTreeMap::new();
        }
        let is_of_main = |node: u32| self.main == 0 || runs_below(run, node, self.main);
        let tasks = self.tasks_in.iter().filter(|(node, _)| is_of_main(**node));
        let mut holders: BTreeMap<u32, u64> = tasks.map(|(node, n)| (*node, *n)).collect();
        let is_bare = self.main == 0 && holders.is_empty();
        for (node, n) in &self.others_in {
            let is_for = |other: &u32| runs_below(run, *node, *other);
            let is_waited_for = self.main != 0 && is_for(&self.main);
            if is_bare || is_waited_for || self.tasks_in.keys().any(is_for) {
                *holders.entry(*node).or_default() += n;
            }
        }
        // Whoever waits for another of them holds nothing up.
        let waits = |node: u32| holders.keys().any(|other| runs_below(run, *other, node));
        let waiting: Vec<u32> = holders.keys().copied().filter(|node| waits(*node)).collect();
        holders.retain(|node, _| !waiting.contains(node));
        holders
    }
}

/// Whether a call path was opened below another in a task or thread of its own: what is in the other waits for it. Other threads and
/// processes may have the same call paths without.
fn runs_below(run: &Run, node: u32, other: u32) -> bool {
    let parent = |node: &u32| run.nodes.get(*node as usize)?.parent;
    let mut is_detached = false;
    for at in std::iter::successors(Some(node), parent) {
        if at == other {
            return is_detached;
        }
        is_detached |= run.nodes.get(at as usize).is_some_and(|node| node.is_detached);
    }
    false
}

/// Names in each call path.
fn depths(run: &Run) -> Vec<usize> {
    let mut depths = vec![0; run.nodes.len()];
    for (id, node) in run.nodes.iter().enumerate() {
        depths[id] = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
    }
    depths
}

/// How many names the call paths may have that are looked at.
fn depth_limit(run: &Run, depths: &[usize]) -> Option<usize> {
    let mut at_depth: BTreeMap<usize, usize> = BTreeMap::new();
    for section in &run.sections {
        *at_depth.entry(depths[section.node as usize]).or_default() += 1;
    }
    let mut sum = 0;
    let mut limit = Some(usize::MAX);
    for (depth, count) in at_depth {
        sum += count;
        if sum > MOST_SECTIONS {
            limit = depth.checked_sub(1).filter(|depth| *depth > 0);
            break;
        }
    }
    limit
}

#[cfg(test)]
mod tests;

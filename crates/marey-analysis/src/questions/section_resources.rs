//! What did each call path and each session use: processor time, disk traffic, resident memory? Only what was read at both ends.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use marey::{Resources, Run, Section, Session, Spent};

/// What the calls of one call path used that were read at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsedResources {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// Calls that were read; all figures below are sums over these.
    pub n_measured: u64,
    /// Calls that were made.
    pub n_calls: u64,
    /// By the whole process while the calls were open. `None` where some were open at the same time: what the process did then cannot be
    /// told apart.
    pub process: Option<Used>,
    /// By the threads of the calls; `None` when one of them ran in a task.
    pub thread: Option<Used>,
    /// Resident memory after less before, over all calls; negative where they gave memory back. `None` where it was not read, and as
    /// `process`.
    pub growth_bytes: Option<i64>,
    /// The largest of these differences of one call; absent as `process`.
    pub largest_growth_bytes: Option<i64>,
}

/// Sums of what was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Processor time.
    pub cpu_ns: u64,
    /// Fetched from storage; `None` where the kernel does not count it.
    pub read_bytes: Option<u64>,
    /// Made to be written to storage; `None` as above.
    pub written_bytes: Option<u64>,
}

/// What the whole process used while a session was open, whoever of it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedInSession {
    /// By all threads.
    pub process: Used,
    /// Resident memory at its end less at its begin; `None` where it was not read.
    pub growth_bytes: Option<i64>,
}

impl UsedInSession {
    /// `None` of a session that has not ended, and of captures in which sessions were not read.
    pub fn of(session: &Session) -> Option<Self> {
        session.used.map(|used| Self {
            process: sum(&std::iter::once(used.process)),
            growth_bytes: growth(&used),
        })
    }
}

/// What was used by call path, in order of the nodes; empty when no call was read.
pub fn used_resources(run: &Run) -> Vec<UsedResources> {
    let mut by_node: BTreeMap<u32, Vec<&Resources>> = BTreeMap::new();
    for call in &run.section_resources {
        by_node.entry(call.node).or_default().push(&call.used);
    }
    let at_once = at_once(run);
    let row = |(node, calls): (u32, Vec<&Resources>)| {
        let is_apart = !at_once.contains(&node);
        let n_measured = calls.len() as u64;
        let totals = run.totals.get(node as usize);
        let growths: Option<Vec<i64>> = calls.iter().map(|call| growth(call)).collect();
        let growths = growths.filter(|_| is_apart);
        let threads: Option<Vec<Spent>> = calls.iter().map(|call| call.thread).collect();
        UsedResources {
            node,
            n_measured,
            n_calls: totals.map_or(0, |t| t.count).max(n_measured),
            process: is_apart.then(|| sum(&calls.iter().map(|call| call.process))),
            thread: threads.map(|all| sum(&all.into_iter())),
            growth_bytes: growths
                .as_ref()
                .map(|all| all.iter().fold(0_i64, |sum, one| sum.saturating_add(*one))),
            largest_growth_bytes: growths.and_then(|all| all.into_iter().max()),
        }
    };
    by_node.into_iter().map(row).collect()
}

/// Nodes of which a call that was read was open while another one was, in another thread or task: of the same node, or of one that is
/// neither around it nor within it. What the process used then may be the other's.
fn at_once(run: &Run) -> BTreeSet<u32> {
    let key = |thread: u32, node: u32, start_ns: u64| (thread, node, start_ns);
    let read = run.section_resources.iter();
    let read: HashSet<_> = read.map(|call| key(call.thread, call.node, call.start_ns)).collect();
    // Few of many sections are of a node of which any call was read.
    let mut is_node = vec![false; run.nodes.len()];
    for call in &run.section_resources {
        if let Some(is_node) = is_node.get_mut(call.node as usize) {
            *is_node = true;
        }
    }
    let is_read = |s: &&Section| {
        is_node.get(s.node as usize) == Some(&true)
            && read.contains(&key(s.thread, s.node, s.start_ns))
    };
    let mut calls: Vec<&Section> = run.sections.iter().filter(is_read).collect();
    calls.sort_by_key(|call| call.start_ns);
    let parent = |node: &u32| run.nodes.get(*node as usize)?.parent.filter(|p| p < node);
    let is_around = |outer: u32, inner: u32| {
        std::iter::successors(Some(inner), parent).skip(1).any(|node| node == outer)
    };
    let mut open: Vec<&Section> = Vec::new();
    let mut found = BTreeSet::new();
    for call in calls {
        open.retain(|other| other.end_ns > call.start_ns);
        for other in &open {
            let is_same_flow = (other.thread, other.flow) == (call.thread, call.flow);
            if !is_same_flow
                && !is_around(other.node, call.node)
                && !is_around(call.node, other.node)
            {
                found.extend([call.node, other.node]);
            }
        }
        open.push(call);
    }
    found
}

impl UsedResources {
    /// All calls were read, so the sums are those of the call path.
    pub fn is_whole(&self) -> bool {
        self.n_measured == self.n_calls
    }
}

fn sum(all: &(impl Iterator<Item = Spent> + Clone)) -> Used {
    let bytes = |of: fn(Spent) -> Option<u64>| {
        let mut of_all = all.clone().map(of);
        of_all.try_fold(0_u64, |sum, one| Some(sum.saturating_add(one?)))
    };
    Used {
        cpu_ns: all.clone().fold(0, |sum, one| sum.saturating_add(one.cpu_ns)),
        read_bytes: bytes(|spent| spent.read_bytes),
        written_bytes: bytes(|spent| spent.written_bytes),
    }
}

fn growth(call: &Resources) -> Option<i64> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    Some(signed(call.resident_after?).saturating_sub(signed(call.resident_before?)))
}

#[cfg(test)]
mod tests {
    use marey::SectionResources;
    use marey_testing::RunBuilder;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn call(node: u32, read_mib: u64, resident_mib: (u64, u64)) -> SectionResources {
        let process = Spent { cpu_ns: 5, read_bytes: Some(read_mib * MIB), written_bytes: None };
        SectionResources {
            thread: 0,
            node,
            start_ns: 0,
            used: Resources {
                process,
                thread: Some(process),
                resident_before: Some(resident_mib.0 * MIB),
                resident_after: Some(resident_mib.1 * MIB),
                peak_bytes: None,
            },
        }
    }

    #[test]
    fn what_was_read_is_that_of_the_section_it_was_read_in() {
        // load |-- 1 536 MiB --|  pure_compute |-- 0 --|  step |-| |-| |-|, of which the third was not read
        let run = RunBuilder::new()
            .section("load", 0, 10, |_| {})
            .section("pure_compute", 10, 20, |_| {})
            .section("step", 20, 21, |_| {})
            .section("step", 21, 22, |_| {})
            .section("step", 22, 23, |_| {})
            .with(|run| {
                run.section_resources = vec![
                    call(1, 1536, (100, 1636)),
                    call(2, 0, (1636, 1636)),
                    call(3, 2, (1636, 1600)),
                    call(3, 4, (1600, 1604)),
                ];
            })
            .finish(30);
        let found = used_resources(&run);
        let process = |at: usize| found[at].process.unwrap();
        let read = |at: usize| process(at).read_bytes;
        assert_eq!((read(0), read(1), read(2)), (Some(1536 * MIB), Some(0), Some(6 * MIB)));
        let mib = |bytes: i64| Some(bytes * (1 << 20));
        assert_eq!(found[0].growth_bytes, mib(1536));
        assert_eq!((found[2].growth_bytes, found[2].largest_growth_bytes), (mib(-32), mib(4)));
        assert!(found[0].is_whole() && !found[2].is_whole());
        assert_eq!((found[2].n_measured, found[2].n_calls), (2, 3));
        assert_eq!((process(2).cpu_ns, process(2).written_bytes), (10, None));
    }

    /// ```text
    /// thread 1   |work 0-10|   |once 20-22|
    /// thread 2      |work 5-15|                the process read 4 MiB: both calls saw them
    /// ```
    #[test]
    fn what_the_process_used_during_calls_at_once_is_not_attributed() {
        let at = |thread, node, start_ns| SectionResources {
            thread,
            start_ns,
            ..call(node, 4, (10, 14))
        };
        let run = RunBuilder::new()
            .section("work", 0, 10, |_| {})
            .section("once", 20, 22, |_| {})
            .thread("other")
            .section("work", 5, 15, |_| {})
            .with(|run| run.section_resources = vec![at(0, 1, 0), at(1, 1, 5), at(0, 2, 20)])
            .finish(30);
        let found = used_resources(&run);
        assert_eq!((found[0].process, found[0].growth_bytes), (None, None));
        assert_eq!(found[0].largest_growth_bytes, None);
        assert_eq!(found[0].thread.unwrap().read_bytes, Some(8 * MIB));
        assert_eq!(found[1].process.unwrap().read_bytes, Some(4 * MIB));
    }

    /// ```text
    /// thread 1   |pure_compute 0-10|
    /// thread 2      |load 2-8|                 150 MiB: whose they are, the process does not say; each thread does
    /// ```
    #[test]
    fn what_another_thread_read_meanwhile_is_not_of_the_section_beside_it() {
        let at = |thread, node, start_ns, own_mib: u64| {
            let mut read = SectionResources { thread, start_ns, ..call(node, 150, (10, 14)) };
            let own = read.used.thread.as_mut().unwrap();
            own.read_bytes = Some(own_mib * MIB);
            read
        };
        let run = RunBuilder::new()
            .section("pure_compute", 0, 10, |_| {})
            .thread("other")
            .section("load", 2, 8, |_| {})
            .with(|run| run.section_resources = vec![at(0, 1, 0, 0), at(1, 2, 2, 150)])
            .finish(30);
        let found = used_resources(&run);
        assert_eq!((found[0].process, found[1].process), (None, None));
        let own = |at: usize| found[at].thread.unwrap().read_bytes;
        assert_eq!((own(0), own(1)), (Some(0), Some(150 * MIB)));
    }

    #[test]
    fn what_was_not_read_is_not_zero() {
        let mut in_task = call(1, 1, (1, 1));
        in_task.used.thread = None;
        in_task.used.resident_before = None;
        let run = RunBuilder::new()
            .section("request", 0, 10, |_| {})
            .with(|run| run.section_resources = vec![in_task, call(1, 1, (1, 1))])
            .finish(30);
        let found = used_resources(&run);
        assert_eq!((found[0].thread, found[0].growth_bytes), (None, None));
        assert_eq!(found[0].process.unwrap().read_bytes, Some(2 * MIB));
        assert_eq!(used_resources(&Run::default()), []);
    }
}

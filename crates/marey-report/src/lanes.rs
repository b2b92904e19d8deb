//! Lays slices out in lanes in which they nest, as every viewer and the page want them, and leaves none out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use marey::{OpenSection, Run};

/// Something that took time, or happened at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice<T> {
    /// When it began, since the start of the run.
    pub(crate) start_ns: u64,
    /// When it ended; never before `start_ns`.
    pub(crate) end_ns: u64,
    /// Slices of one flow nest: 0 is the thread's own, others are tasks beside it.
    pub(crate) flow: u32,
    /// Sum of the values below.
    pub(crate) flags: u8,
    pub(crate) what: T,
}

impl<T> Slice<T> {
    /// It was left by an error.
    pub(crate) const FAILED: u8 = 1;
    /// It was suspended in between: it is drawn as long as it ran.
    pub(crate) const PAUSED: u8 = 2;
    /// It was open when the capture ended: it is drawn up to there.
    pub(crate) const OPEN: u8 = 4;

    /// One of the thread's own flow.
    pub(crate) fn new(what: T, start_ns: u64, end_ns: u64) -> Self {
        Self { start_ns, end_ns: end_ns.max(start_ns), flow: 0, flags: 0, what }
    }

    fn is_paused(&self) -> bool {
        self.flags & Self::PAUSED != 0
    }
}

/// Slices of which any two nest or do not touch, in the order in which they begin, outer ones first.
pub(crate) type Lane<T> = Vec<Slice<T>>;

/// The lanes of what happened in one place. The first is that of the flow 0 and may be empty; what does not nest there lies
/// beside it: whatever nests in a slice stays with it, and each such tree is put in a lane that is free, if there is one in that of its flow.
///
/// ```text
/// flow 0     |---a-----------------------|    lane 0
///              |-b-|
/// flow 1     |---c-------|     |-f--|         lane 1
///               |-d-|
/// flow 2         |---e----------|             lane 2
/// ```
pub(crate) fn lanes<T>(mut slices: Vec<Slice<T>>) -> Vec<Lane<T>> {
    // Stable: slices of the same extent stay as they were given, inner ones last.
    slices.sort_by_key(|s| (s.start_ns, Reverse(s.end_ns)));
    let mut own = Nesting::default();
    let is_beside: Vec<bool> = slices
        .iter()
        .map(|slice| !(slice.flow == 0 && !slice.is_paused() && own.takes(slice)))
        .collect();
    let mut is_beside = is_beside.into_iter();
    if is_beside.clone().all(|is_beside| !is_beside) {
        return vec![slices];
    }
    let (beside, own) = slices.into_iter().partition(|_| is_beside.next().unwrap_or(false));
    let mut lanes = vec![own];
    Beside::default().lay_out(beside, &mut lanes);
    lanes
}

/// A number for the task in which a section is open: its flow is not recorded, but the path where the task began is. 0 for
/// the thread's own flow.
pub(crate) fn flow_of_open(run: &Run, section: &OpenSection) -> u32 {
    let mut at = Some(section.node);
    while let Some((id, node)) = at.and_then(|id| Some((id, run.nodes.get(id as usize)?))) {
        if node.is_detached {
            return u32::from(u16::MAX).saturating_add(1).saturating_add(id);
        }
        at = node.parent.filter(|parent| *parent < id);
    }
    0
}

/// Ends of the slices that are open, outermost first.
#[derive(Debug, Default)]
struct Nesting(Vec<u64>);

impl Nesting {
    /// Whether a slice nests in those that are open; then it is open, too. Slices come by start, longer ones first.
    fn takes<T>(&mut self, slice: &Slice<T>) -> bool {
        while self.0.last().is_some_and(|end| *end <= slice.start_ns) {
            self.0.pop();
        }
        let nests = self.0.last().is_none_or(|end| slice.end_ns <= *end);
        if nests {
            self.0.push(slice.end_ns);
        }
        nests
    }
}

/// The lanes beside the first.
#[derive(Debug, Default)]
struct Beside {
    /// What is open in the newest tree of each flow, and that tree's lane.
    flows: BTreeMap<u32, (Nesting, usize)>,
    free: BTreeSet<usize>,
    /// By when they will be free.
    taken: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Beside {
    fn lay_out<T>(mut self, slices: Vec<Slice<T>>, lanes: &mut Vec<Lane<T>>) {
        // A tree's extent is that of its outermost slice, which comes first.
        for slice in slices {
            // What was suspended holds nothing: its place says only when it began and how long it ran.
            let is_alone = slice.is_paused();
            let lane = match self.flows.get_mut(&slice.flow) {
                Some((nesting, lane)) if !is_alone && nesting.is_open_at(slice.start_ns) => {
                    nesting.takes(&slice).then_some(*lane)
                }
                _ => None,
            };
            let lane = lane.unwrap_or_else(|| self.root(&slice, is_alone, lanes));
            lanes[lane].push(slice);
        }
    }

    /// The lane of a slice that lies in no other one.
    fn root<T>(&mut self, slice: &Slice<T>, is_alone: bool, lanes: &mut Vec<Lane<T>>) -> usize {
        while let Some(Reverse((until, lane))) = self.taken.peek().copied() {
            if until > slice.start_ns {
                break;
            }
            self.taken.pop();
            self.free.insert(lane);
        }
        let usual = self.flows.get(&slice.flow).map(|(_, lane)| *lane);
        let lane = usual
            .filter(|lane| self.free.remove(lane))
            .or_else(|| self.free.pop_first())
            .unwrap_or_else(|| {
                lanes.push(Vec::new());
                lanes.len() - 1
            });
        self.taken.push(Reverse((slice.end_ns, lane)));
        let is_known = self.flows.contains_key(&slice.flow);
        if !is_alone || !is_known {
            let nesting = if is_alone { Nesting::default() } else { Nesting(vec![slice.end_ns]) };
            self.flows.insert(slice.flow, (nesting, lane));
        }
        lane
    }
}

impl Nesting {
    /// Whether something is open at a time.
    fn is_open_at(&self, at_ns: u64) -> bool {
        self.0.first().is_some_and(|end| *end > at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(name: u32, start_ns: u64, end_ns: u64, flow: u32) -> Slice<u32> {
        Slice { flow, ..Slice::new(name, start_ns, end_ns) }
    }

    fn paused(name: u32, start_ns: u64, end_ns: u64, flow: u32) -> Slice<u32> {
        Slice { flags: Slice::<u32>::PAUSED, ..slice(name, start_ns, end_ns, flow) }
    }

    fn laid_out(slices: Vec<Slice<u32>>) -> Vec<Vec<u32>> {
        let names = |lane: &Lane<u32>| lane.iter().map(|s| s.what).collect();
        lanes(slices).iter().map(names).collect()
    }

    #[test]
    fn tasks_lie_beside_the_threads_own_sections_and_keep_what_nests_in_them() {
        // own    |---1---------------|      lane 0
        //          |2|
        // task 1 |---3-----|     |-6|       lane 1
        //           |-4-|
        // task 2     |---5-------|          lane 2
        let found = laid_out(vec![
            slice(1, 0, 20, 0),
            slice(2, 2, 4, 0),
            slice(3, 0, 10, 1),
            slice(4, 3, 7, 1),
            slice(5, 4, 16, 2),
            slice(6, 16, 19, 1),
        ]);
        assert_eq!(found, [vec![1, 2], vec![3, 4, 6], vec![5]]);
    }

    #[test]
    fn what_ends_after_what_it_began_in_lies_beside_it() {
        // |---1---|
        //     |---2---|
        let found = laid_out(vec![slice(1, 0, 8, 0), slice(2, 4, 12, 0)]);
        assert_eq!(found, [[1], [2]]);
    }

    #[test]
    fn a_suspended_generator_lies_beside_because_it_did_not_run_all_that_time() {
        let found = laid_out(vec![slice(1, 0, 8, 0), paused(2, 2, 6, 0), slice(3, 3, 5, 0)]);
        assert_eq!(found, [vec![1, 3], vec![2]]);
    }

    #[test]
    fn every_lane_nests_and_no_slice_is_lost_whatever_the_slices() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let slices: Vec<Slice<u32>> = (0..random(60))
                .map(|name| {
                    let start = random(100);
                    let flow = u32::try_from(random(4)).unwrap();
                    let drawn = if random(5) == 0 { paused } else { slice };
                    let name = u32::try_from(name).unwrap();
                    drawn(name, start, start + random(30), flow)
                })
                .collect();
            let n = slices.len();
            let lanes = lanes(slices);
            let mut found: Vec<u32> = Vec::new();
            for lane in &lanes {
                for (index, slice) in lane.iter().enumerate() {
                    found.push(slice.what);
                    for later in &lane[index + 1..] {
                        assert!(slice.start_ns <= later.start_ns);
                        let is_after = slice.end_ns <= later.start_ns;
                        assert!(is_after || later.end_ns <= slice.end_ns, "{lane:?}");
                    }
                }
            }
            found.sort_unstable();
            assert_eq!(found, (0..u32::try_from(n).unwrap()).collect::<Vec<_>>());
        }
    }
}

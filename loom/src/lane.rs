//! A lane in a model: its memory, and what its producer does with a call.

use std::sync::Arc;

use loom::thread::JoinHandle;

use crate::atomics::{AtomicU32, AtomicU64};
use crate::histogram::{N_BUCKETS, bucket_of};
use crate::recorder::layout::{FLAG_FAILED, HEADER_WORDS, LaneLayout, lane};
use crate::recorder::ring::{Record, Ring};
use crate::recorder::totals::{NodeSnapshot, NodeWords, TotalsSnapshot, snapshot};

const NOTE_WORDS: usize = 2;
/// Nodes of a lane, each with a histogram.
const NODES: usize = 2;

/// A call that a producer records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) node: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) is_failed: bool,
    /// It gets no record.
    pub(crate) is_dropped: bool,
}

/// A call without an error and with a record.
pub(crate) const fn call(node: u32, start: u64, end: u64) -> Call {
    Call {
        node,
        start,
        end,
        is_failed: false,
        is_dropped: false,
    }
}

impl Call {
    pub(crate) const fn failed(self) -> Self {
        Self {
            is_failed: true,
            ..self
        }
    }

    pub(crate) const fn dropped(self) -> Self {
        Self {
            is_dropped: true,
            ..self
        }
    }

    /// Its record at a position.
    pub(crate) fn record(&self, position: u64) -> Record {
        let failed = if self.is_failed { FLAG_FAILED << 48 } else { 0 };
        let word = u64::from(self.node) | failed;
        [self.start, self.end, word, position + 1]
    }

    fn duration(&self) -> u64 {
        self.end - self.start
    }
}

/// The words that a lane shares.
pub(crate) struct Lane {
    words: Vec<AtomicU64>,
    histograms: Vec<AtomicU32>,
    n_nodes: AtomicU64,
}

impl Lane {
    /// A lane whose ring holds so many records. Only inside a model.
    pub(crate) fn new(records: usize) -> Self {
        let word = |at: usize| match at {
            0..6 | lane::HEAD | lane::TAIL | lane::DROPPED | lane::BASE | lane::IS_DROPPING => {
                AtomicU64::new(0)
            }
            0..HEADER_WORDS => AtomicU64::unused(),
            _ => AtomicU64::new(0),
        };
        let end = LaneLayout::new(records, NOTE_WORDS, NODES).end;
        let lane = Self {
            words: (0..end).map(word).collect(),
            histograms: (0..NODES * N_BUCKETS).map(|_| AtomicU32::new(0)).collect(),
            n_nodes: AtomicU64::new(NODES as u64),
        };
        Ring::new(&lane.words, 0, records, NOTE_WORDS, NODES);
        lane
    }

    pub(crate) fn ring(&self) -> Ring<'_> {
        Ring::of(&self.words).expect("laid out")
    }

    /// Calls one after the other.
    pub(crate) fn complete_all(&self, calls: &[Call]) {
        let ring = self.ring();
        calls.iter().for_each(|call| self.complete(&ring, call));
    }

    /// A thread that does calls.
    pub(crate) fn producer(self: &Arc<Self>, calls: &[Call]) -> JoinHandle<()> {
        let (lane, calls) = (Arc::clone(self), calls.to_vec());
        loom::thread::spawn(move || lane.complete_all(&calls))
    }

    /// What the producer does with the next call, as `Lane::complete` of the recorder.
    pub(crate) fn complete(&self, ring: &Ring<'_>, call: &Call) {
        let words = NodeWords::of(ring, call.node as usize).expect("a node of the lane");
        let count = || {
            let times = (call.start, call.end);
            words.add(&self.histograms, times, call.is_failed, || call.node + 1);
        };
        if call.is_dropped {
            ring.begin_drop();
            count();
            ring.end_drop();
        } else {
            let head = ring.get(lane::HEAD);
            let [start, end, word, _] = call.record(head);
            ring.commit(head, start, end, word);
            count();
        }
    }

    /// What a reader sees of the totals now; it has to be of one moment.
    pub(crate) fn snapshot(&self) -> TotalsSnapshot {
        let (snapshot, is_exact) = snapshot(&self.ring(), &self.histograms, &self.n_nodes);
        assert!(is_exact, "too few attempts");
        snapshot
    }
}

/// Totals after some calls, added up one by one.
pub(crate) fn totals_of(calls: &[Call]) -> TotalsSnapshot {
    let dropped = calls.iter().filter(|call| call.is_dropped).count() as u64;
    TotalsSnapshot {
        head: calls.len() as u64 - dropped,
        dropped,
        nodes: (0..NODES as u32)
            .filter_map(|node| node_of(node, calls))
            .collect(),
    }
}

fn node_of(node: u32, calls: &[Call]) -> Option<NodeSnapshot> {
    let calls: Vec<&Call> = calls.iter().filter(|call| call.node == node).collect();
    let durations = || calls.iter().map(|call| call.duration());
    let (first, last) = (calls.first()?, calls.last()?);
    let n_in = |bucket: usize| durations().filter(|d| bucket_of(*d) == bucket).count();
    let buckets = (0..N_BUCKETS).filter(|bucket| n_in(*bucket) > 0);
    Some(NodeSnapshot {
        node,
        errors: calls.iter().map(|call| u32::from(call.is_failed)).sum(),
        count: calls.len() as u64,
        sum: durations().sum(),
        min: durations().min()?,
        max: durations().max()?,
        last: last.duration(),
        last_end: last.end,
        first: first.duration(),
        first_start: first.start,
        buckets: Some(
            buckets
                .map(|bucket| (bucket as u32, n_in(bucket) as u32))
                .collect(),
        ),
    })
}

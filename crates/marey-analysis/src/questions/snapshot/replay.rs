//! The past of an allocator, from its state at the end and what it did before.
//!
//! ```text
//! state        0     1     2     3     4            state n is after n events; the last one is that of the snapshot
//! event           A     B    a     C
//! A             ─────────────┘                      freed: its length is what was asked for, rounded up
//! B                   ───────────────────►          still there: its length is that of its block
//! (before)     ──────────────────────────►          a block that no event allocated was there before the recording
//! ```
//!
//! The history is a ring: its beginning may be gone. What is there at the end is known, so everything is counted from the end
//! backwards, and states within the recording are exact all the same.

use crate::import::snapshot::{Action, Block, BlockState, MemoryEvent, Snapshot};

/// Memory that the program had, from which state until which. One more than the last state is never.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allocation {
    pub(super) address: u64,
    /// Length of the block.
    pub(super) bytes: u64,
    /// Where it was allocated; `None` when not known.
    pub(super) stack: Option<u32>,
    /// The first state with it; 0 when it was there before the recording.
    pub(super) born: usize,
    /// The first state in which the program had given it back.
    pub(super) let_go: usize,
    /// The first state in which it could be used again.
    pub(super) freed: usize,
}

impl Allocation {
    /// The program had it in this state.
    pub(super) fn is_allocated(&self, state: usize) -> bool {
        self.born <= state && state < self.let_go
    }

    /// The program had given it back, but it could not be used again.
    pub(super) fn is_waiting(&self, state: usize) -> bool {
        self.born <= state && self.let_go <= state && state < self.freed
    }
}

/// One device's allocator over time.
#[derive(Clone, Debug)]
pub(super) struct Replay<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) device: u32,
    pub(super) events: &'a [MemoryEvent],
    pub(super) allocations: Vec<Allocation>,
    /// By state: what the program had.
    pub(super) allocated_bytes: Vec<u64>,
    /// By state: what the allocator had from the driver.
    pub(super) reserved_bytes: Vec<u64>,
    /// Events that contradict others or the state at the end.
    pub(super) n_contradictions: u64,
}

impl<'a> Replay<'a> {
    /// Time: n log n for n events.
    pub(super) fn new(snapshot: &'a Snapshot, device: u32) -> Self {
        let trace = snapshot.traces.get(device as usize);
        let events = trace.map_or(&[][..], |trace| &trace.events);
        let mut pairing = Pairing::new(snapshot, device, events);
        pairing.run();
        let allocated_bytes = allocated(&pairing.allocations, events.len());
        Self {
            snapshot,
            device,
            events,
            reserved_bytes: reserved(snapshot, device, events),
            allocated_bytes,
            allocations: pairing.allocations,
            n_contradictions: pairing.n_contradictions,
        }
    }

    /// When a state began, microseconds since 1970. The first state is shown at the time of the first event.
    pub(super) fn time_us(&self, state: usize) -> Option<u64> {
        self.events.get(state.saturating_sub(1))?.time_us
    }

    /// The earliest state with the highest figure.
    pub(super) fn highest(figures: &[u64]) -> usize {
        let key = |(state, bytes): &(usize, &u64)| (std::cmp::Reverse(**bytes), *state);
        let highest = figures.iter().enumerate().min_by_key(key);
        highest.map_or(0, |(state, _)| state)
    }

    /// What waited to be free in a state.
    pub(super) fn waiting_bytes(&self, state: usize) -> u64 {
        let waiting = self.allocations.iter().filter(|a| a.is_waiting(state));
        waiting.fold(0, |sum, a| sum.saturating_add(a.bytes))
    }
}

/// The allocator gives out multiples of this.
const GRANULE_BYTES: u64 = 512;

/// What is asked for, as the allocator rounds it.
pub(super) fn rounded(bytes: u64) -> u64 {
    let granules = bytes.div_ceil(GRANULE_BYTES).max(1);
    granules.saturating_mul(GRANULE_BYTES)
}

/// Finds which events belong to the same allocation: those of one address, in order of time.
struct Pairing<'a> {
    events: &'a [MemoryEvent],
    /// Blocks in use at the end, by address.
    blocks: Vec<&'a Block>,
    allocations: Vec<Allocation>,
    n_contradictions: u64,
}

impl<'a> Pairing<'a> {
    fn new(snapshot: &'a Snapshot, device: u32, events: &'a [MemoryEvent]) -> Self {
        let segments = snapshot.segments.iter().filter(|s| s.device == device);
        let blocks =
            segments.flat_map(|s| snapshot.blocks[s.first_block..].iter().take(s.n_blocks));
        let mut blocks: Vec<&Block> =
            blocks.filter(|block| block.state != BlockState::Inactive).collect();
        blocks.sort_by_key(|block| block.address);
        blocks.dedup_by_key(|block| block.address);
        Self { events, blocks, allocations: Vec::new(), n_contradictions: 0 }
    }

    fn run(&mut self) {
        let of_program = |event: &MemoryEvent| {
            matches!(event.action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted)
        };
        let events = self.events.iter().enumerate();
        let mut order: Vec<(u64, usize)> = events
            .filter(|(_, event)| of_program(event))
            .map(|(at, event)| (event.address, at))
            .collect();
        order.sort_unstable();
        let mut is_used = vec![false; self.blocks.len()];
        for same_address in order.chunk_by(|a, b| a.0 == b.0) {
            let block = same_address.first().and_then(|(address, _)| {
                let found = self.blocks.binary_search_by_key(address, |b| b.address);
                found.ok()
            });
            self.one_address(same_address, block.map(|at| self.blocks[at]));
            if let Some(at) = block {
                is_used[at] = true;
            }
        }
        // Blocks that no event is about were there before the recording.
        for at in (0..self.blocks.len()).filter(|at| !is_used[*at]) {
            self.allocations.push(self.of_block(self.blocks[at], 0));
        }
    }

    /// Allocations at one address, with what is there at the end.
    fn one_address(&mut self, order: &[(u64, usize)], block: Option<&Block>) {
        let never = self.events.len() + 1;
        let mut open: Option<Allocation> = None;
        for (state, event) in order.iter().map(|(_, at)| (*at + 1, &self.events[*at])) {
            match event.action {
                Action::Alloc => {
                    if let Some(mut earlier) = open.take() {
                        // Given back without a word of it, or with half of one.
                        self.n_contradictions += u64::from(earlier.let_go == never);
                        earlier.let_go = earlier.let_go.min(state);
                        earlier.freed = state;
                        self.allocations.push(earlier);
                    }
                    open = Some(self.of_event(event, state, event.stack));
                }
                Action::FreeRequested => {
                    let found = open.get_or_insert_with(|| self.of_event(event, 0, None));
                    found.let_go = found.let_go.min(state);
                }
                _ => {
                    // Asked for before the recording began, and waiting since.
                    let waiting = || Allocation { let_go: 0, ..self.of_event(event, 0, None) };
                    let mut freed = open.take().unwrap_or_else(waiting);
                    freed.let_go = freed.let_go.min(state);
                    freed.freed = state;
                    self.allocations.push(freed);
                }
            }
        }
        match (open, block) {
            (Some(mut last), Some(block)) => {
                last.stack = last.stack.or(block.stack);
                last.bytes = block.bytes;
                self.allocations.push(last);
            }
            (Some(last), None) => {
                self.n_contradictions += 1;
                self.allocations.push(last);
            }
            (None, Some(block)) => {
                // It was freed, and is there again.
                self.n_contradictions += 1;
                let born = order.last().map_or(0, |(_, at)| at + 1);
                self.allocations.push(self.of_block(block, born));
            }
            (None, None) => {}
        }
    }

    fn of_event(&self, event: &MemoryEvent, born: usize, stack: Option<u32>) -> Allocation {
        let never = self.events.len() + 1;
        Allocation {
            address: event.address,
            bytes: rounded(event.bytes),
            stack,
            born,
            let_go: never,
            freed: never,
        }
    }

    /// A block in use at the end. One that waits had been given back when it was first seen.
    fn of_block(&self, block: &Block, born: usize) -> Allocation {
        let never = self.events.len() + 1;
        let is_waiting = block.state == BlockState::AwaitingFree;
        Allocation {
            address: block.address,
            bytes: block.bytes,
            stack: block.stack,
            born,
            let_go: if is_waiting { born } else { never },
            freed: never,
        }
    }
}

/// By state: the sum of what is allocated.
fn allocated(allocations: &[Allocation], n_events: usize) -> Vec<u64> {
    let mut changes = vec![0i128; n_events + 1];
    for allocation in allocations {
        let bytes = i128::from(allocation.bytes);
        if let Some(change) = changes.get_mut(allocation.born) {
            *change += bytes;
        }
        if let Some(change) = changes.get_mut(allocation.let_go) {
            *change -= bytes;
        }
    }
    levels(&changes)
}

/// By state: what the allocator had from the driver, counted backwards from the end.
fn reserved(snapshot: &Snapshot, device: u32, events: &[MemoryEvent]) -> Vec<u64> {
    let segments = snapshot.segments.iter().filter(|s| s.device == device);
    let end: i128 = segments.map(|s| i128::from(s.total_bytes)).sum();
    let events = events.iter().map(reserved_change);
    let mut changes: Vec<i128> = std::iter::once(0).chain(events).collect();
    changes[0] = end - changes.iter().sum::<i128>();
    levels(&changes)
}

fn reserved_change(event: &MemoryEvent) -> i128 {
    let bytes = i128::from(event.bytes);
    match event.action {
        Action::SegmentAlloc | Action::SegmentMap => bytes,
        Action::SegmentFree | Action::SegmentUnmap => -bytes,
        _ => 0,
    }
}

/// By state: the sum of all changes until then.
fn levels(changes: &[i128]) -> Vec<u64> {
    let sums = changes.iter().scan(0i128, |level, change| {
        *level += change;
        Some(within(*level))
    });
    sums.collect()
}

fn within(level: i128) -> u64 {
    u64::try_from(level.max(0)).unwrap_or(u64::MAX)
}

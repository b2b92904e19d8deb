use super::*;
use crate::import::snapshot::{
    Action, Block, BlockState, DeviceTrace, Frame, MemoryEvent, RangeEnd, Segment, SegmentKind,
    Stack,
};
use marey::{DiffusionStep, Generation};
use marey_testing::RunBuilder;

const MIB: u64 = 1 << 20;

/// Draws what an allocator did, an event a microsecond, and its state at the end.
#[derive(Default)]
struct Drawn(Snapshot);

impl Drawn {
    fn new() -> Self {
        let mut drawn = Self::default();
        drawn.0.traces.push(DeviceTrace::default());
        drawn
    }

    fn event(mut self, action: Action, address: u64, bytes: u64) -> Self {
        let events = &mut self.0.traces[0].events;
        let time_us = Some(1_000 + events.len() as u64);
        events.push(MemoryEvent {
            action,
            address,
            bytes,
            time_us,
            stack: None,
            device_free_bytes: None,
        });
        self
    }

    fn free_at_oom(mut self, device_free: u64) -> Self {
        let event = self.0.traces[0].events.last_mut().unwrap();
        event.device_free_bytes = Some(device_free);
        self
    }

    /// A segment with what is in use in it: address, length, state.
    fn segment(mut self, address: u64, total_bytes: u64, used: &[(u64, u64, BlockState)]) -> Self {
        let first_block = self.0.blocks.len();
        for (address, bytes, state) in used {
            self.0.blocks.push(Block {
                address: *address,
                bytes: *bytes,
                requested_bytes: Some(*bytes),
                state: *state,
                stack: None,
            });
        }
        self.0.segments.push(Segment {
            device: 0,
            address,
            total_bytes,
            kind: SegmentKind::Large,
            stream: Some(0),
            pool: Some((0, 0)),
            is_expandable: false,
            first_block,
            n_blocks: used.len(),
        });
        self
    }

    /// Ends of ranges, in microseconds after the first event: `[name` begins one, `]name` ends one.
    fn ranges(mut self, ends: &[(u64, &str)]) -> Self {
        let end = |(after_us, end): &(u64, &str)| RangeEnd {
            device: 0,
            name: end[1..].to_owned(),
            is_start: end.starts_with('['),
            time_us: 1_000 + after_us,
        };
        self.0.range_ends = ends.iter().map(end).collect();
        self
    }

    fn answer(&self) -> DeviceMemory {
        snapshot(&self.0, None).devices.swap_remove(0)
    }
}

#[test]
fn a_history_without_its_beginning_is_counted_from_the_end() {
    // MiB              0    1    2    3    4    5    6     state
    // before the ring  8 8  8 8  8 8  4 4  4 4  4 4  4 4   two blocks: 4 stays, 4 is freed by the third event
    // alloc 16              16   16   16   16   16   16    its block at the end has 18: a rest that was not split off
    // alloc 2                    2    2    2    -          freed by the fifth
    // allocated        8    26   28   24   24   22   22
    let drawn = Drawn::new()
        .event(Action::Alloc, 100 * MIB, 16 * MIB)
        .event(Action::Alloc, 130 * MIB, 2 * MIB)
        .event(Action::FreeRequested, 4 * MIB, 4 * MIB)
        .event(Action::FreeCompleted, 4 * MIB, 4 * MIB)
        .event(Action::FreeRequested, 130 * MIB, 2 * MIB)
        .event(Action::FreeCompleted, 130 * MIB, 2 * MIB)
        .segment(0, 20 * MIB, &[(0, 4 * MIB, BlockState::Allocated)])
        .segment(100 * MIB, 40 * MIB, &[(100 * MIB, 18 * MIB, BlockState::Allocated)]);
    let found = drawn.answer();
    assert_eq!(found.start.allocated_bytes, 8 * MIB);
    let peak = found.peak.unwrap();
    assert_eq!((peak.allocated_bytes, peak.event), (28 * MIB, 2));
    assert_eq!(peak.at_ns, Some(1_000));
    assert_eq!(found.end.allocated_bytes, 22 * MIB);
    assert_eq!(found.end.reserved_bytes, 60 * MIB);
    assert_eq!(found.alive.before_recording_bytes, 8 * MIB);
    assert_eq!(found.alive.bytes, 28 * MIB);
    assert_eq!(found.alive.count, 4);
    assert_eq!(found.n_contradictions, 0);
}

#[test]
fn what_waits_for_another_stream_is_neither_allocated_nor_free() {
    // MiB         0    1    2    3      state
    // A 4         4    -    -    -      asked to be freed by the first event, free with the third
    // B 2         w    w    w    w      waited already when the recording began
    // allocated   4    0    0    0
    // waiting     2    6    6    2
    let drawn = Drawn::new()
        .event(Action::FreeRequested, 0, 4 * MIB)
        .event(Action::Snapshot, 0, 0)
        .event(Action::FreeCompleted, 0, 4 * MIB)
        .segment(0, 20 * MIB, &[(8 * MIB, 2 * MIB, BlockState::AwaitingFree)]);
    let found = drawn.answer();
    assert_eq!((found.start.allocated_bytes, found.start.awaiting_free_bytes), (4 * MIB, 2 * MIB));
    assert_eq!((found.end.allocated_bytes, found.end.awaiting_free_bytes), (0, 2 * MIB));
    assert_eq!(found.end.free_bytes, 18 * MIB);
    // |....8....|B|......10......|
    assert_eq!(found.end.largest_free_bytes, 10 * MIB);
    let replay = Replay::new(&drawn.0, 0);
    assert_eq!(replay.waiting_bytes(2), 6 * MIB);
    let growth = found.growth.unwrap();
    assert_eq!((growth.of, growth.points.len(), growth.n_compared), (GrowthOf::Snapshots, 1, 0));
    assert_eq!(growth.total_bytes, None);
}

#[test]
fn segments_are_there_from_when_they_were_taken_until_they_were_given_back() {
    // MiB         0    1    2    3    4     state
    // S 20        20   20   20   20   20    there before
    // T 40             40   40   -          taken by the first event, given back by the third
    // expandable                      +2    mapped by the fourth
    // reserved    20   60   60   20   22
    let drawn = Drawn::new()
        .event(Action::SegmentAlloc, 100 * MIB, 40 * MIB)
        .event(Action::Alloc, 0, 12 * MIB)
        .event(Action::SegmentFree, 100 * MIB, 40 * MIB)
        .event(Action::SegmentMap, 200 * MIB, 2 * MIB)
        .segment(0, 20 * MIB, &[(0, 12 * MIB, BlockState::Allocated)])
        .segment(200 * MIB, 2 * MIB, &[]);
    let found = drawn.answer();
    let reserved: Vec<u64> = found.curve.iter().map(|p| p.reserved_max_bytes / MIB).collect();
    // What was there before the first event shares its stretch of time with it.
    assert_eq!(reserved, [60, 60, 20, 22]);
    assert_eq!(found.start.reserved_bytes, 20 * MIB);
    let highest = found.reserved_peak.unwrap();
    assert_eq!((highest.event, highest.reserved_bytes, highest.n_ranges), (1, 60 * MIB, 2));
    assert_eq!(highest.largest_free_bytes, 40 * MIB);
    assert_eq!(found.end.largest_free_bytes, 8 * MIB);
}

#[test]
fn a_request_fails_for_a_reason() {
    // 20 MiB held: |AA|......|BB|......|   2 × 8 MiB free, 4 used; another 4 waits where said.
    let used = [(0, 2 * MIB, BlockState::Allocated), (10 * MIB, 2 * MIB, BlockState::Allocated)];
    let waiting =
        [(0, 2 * MIB, BlockState::Allocated), (10 * MIB, 10 * MIB, BlockState::AwaitingFree)];
    let cases = [
        (&used, 12 * MIB, Some(MIB), OutOfMemoryCause::Fragmentation),
        (&used, 12 * MIB, Some(12 * MIB), OutOfMemoryCause::Limit),
        (&used, 30 * MIB, Some(MIB), OutOfMemoryCause::TooLarge),
        (&used, 30 * MIB, None, OutOfMemoryCause::Unknown),
        (&waiting, 14 * MIB, Some(MIB), OutOfMemoryCause::AwaitingFree),
    ];
    for (used, asked, device_free, cause) in cases {
        let mut drawn = Drawn::new().event(Action::OutOfMemory, 0, asked);
        if let Some(bytes) = device_free {
            drawn = drawn.free_at_oom(bytes);
        }
        let found = drawn.segment(0, 20 * MIB, used).answer();
        let failed = &found.out_of_memory[0];
        assert_eq!((failed.asked_bytes, failed.cause), (asked, cause));
        assert_eq!(failed.level.largest_free_bytes, 8 * MIB);
    }
}

#[test]
fn what_a_pool_of_graphs_keeps_is_of_no_use_to_other_requests() {
    // 20 MiB of the ordinary pool: |AA|......|BB|......|   16 free; 30 MiB of a graph's pool, all free.
    let used = [(0, 2 * MIB, BlockState::Allocated), (10 * MIB, 2 * MIB, BlockState::Allocated)];
    for (asked, cause) in [
        (12 * MIB, OutOfMemoryCause::Fragmentation),
        (20 * MIB, OutOfMemoryCause::OtherPool),
        (50 * MIB, OutOfMemoryCause::TooLarge),
    ] {
        let mut drawn = Drawn::new()
            .event(Action::OutOfMemory, 0, asked)
            .free_at_oom(MIB)
            .segment(0, 20 * MIB, &used)
            .segment(100 * MIB, 30 * MIB, &[]);
        drawn.0.segments[1].pool = Some((1, 0));
        let failed = &drawn.answer().out_of_memory[0];
        assert_eq!((failed.cause, asked), (cause, asked));
        assert_eq!(failed.level.free_bytes, 46 * MIB);
        assert_eq!(failed.level.other_pools_free_bytes, 30 * MIB);
    }
}

#[test]
fn growth_between_steps_is_within_one_loop() {
    // µs           0    1    2    3    4    5    6
    // alloc 1 MiB  A    B    C         D
    // steps        |-0-||-1-||-2-|     |-0-|         ends at 1.5, 2.5, 3 µs; 5 µs is after the last event
    // allocated         2    3    3
    let mut drawn = Drawn::new();
    for (address, gap) in [(0, 0), (MIB, 0), (2 * MIB, 0), (3 * MIB, 1)] {
        drawn = drawn.event(Action::Alloc, address, MIB);
        let event = drawn.0.traces[0].events.last_mut().unwrap();
        event.time_us = event.time_us.map(|time| time + gap);
    }
    let blocks: Vec<_> = (0..4).map(|n| (n * MIB, MIB, BlockState::Allocated)).collect();
    drawn = drawn.segment(0, 20 * MIB, &blocks);
    let mut builder = RunBuilder::new();
    for (step, end_ns) in [(0, 1_500), (1, 2_500), (2, 3_000), (0, 5_000)] {
        let step = DiffusionStep { step: Some(step), ..DiffusionStep::default() };
        builder = builder.generation(end_ns, None, Generation::Step(step));
    }
    let run = builder
        .section("denoise", 0, 2_200, |_| {})
        .with(|run| run.info.start_unix_ns = 1_000_000)
        .finish(10_000);
    let answers = snapshot(&drawn.0, Some(&run));
    assert_eq!(answers.time_origin, TimeOrigin::Run);
    let growth = answers.devices[0].growth.clone().unwrap();
    assert_eq!(growth.of, GrowthOf::Steps);
    let levels: Vec<_> =
        growth.points.iter().map(|p| (p.number, p.allocated_bytes / MIB, p.growth_bytes)).collect();
    let mib = 1_048_576;
    assert_eq!(levels, [(0, 2, None), (1, 3, Some(mib)), (2, 3, Some(0))]);
    assert_eq!((growth.n_grew, growth.n_compared, growth.total_bytes), (1, 2, Some(mib)));
    // A, B and C were allocated in "denoise", D under no section.
    let sections = answers.devices[0].alive.by_section.clone().unwrap();
    let rows: Vec<_> =
        sections.iter().map(|row| (row.path.clone(), row.bytes / MIB, row.count)).collect();
    assert_eq!(rows, [(vec!["denoise".to_string()], 3, 3), (vec![], 1, 1)]);
}

#[test]
fn a_snapshot_of_another_time_is_not_told_by_sections() {
    // µs since 1970    999   1000         1001   1002
    // history                 A            B               times 1000 and 1001
    // runs             |--|                                ends before the first event
    //                                             |--|     begins after the last one
    //                        |-|                           overlaps
    let blocks = [(0, MIB, BlockState::Allocated), (MIB, MIB, BlockState::Allocated)];
    let drawn = Drawn::new().event(Action::Alloc, 0, MIB).event(Action::Alloc, MIB, MIB).segment(
        0,
        20 * MIB,
        &blocks,
    );
    let answers = |start_unix_ns, wall_ns| {
        let run = RunBuilder::new()
            .section("denoise", 0, wall_ns, |_| {})
            .with(|run| run.info.start_unix_ns = start_unix_ns)
            .finish(wall_ns);
        snapshot(&drawn.0, Some(&run))
    };
    for (start_unix_ns, wall_ns) in [(998_000, 1_500), (1_002_500, 500)] {
        let found = answers(start_unix_ns, wall_ns);
        assert_eq!(found.is_outside_of_run, Some(true));
        assert_eq!(found.time_origin, TimeOrigin::FirstEvent);
        let device = &found.devices[0];
        assert_eq!(device.alive.by_section, None);
        assert_eq!(device.peak.as_ref().unwrap().at_ns, Some(1_000));
    }
    let found = answers(999_500, 1_000);
    assert_eq!(found.is_outside_of_run, Some(false));
    assert!(found.devices[0].alive.by_section.is_some());
    assert_eq!(snapshot(&drawn.0, None).is_outside_of_run, None);
}

#[test]
fn a_snapshot_without_times_is_not_told_by_sections() {
    let drawn = Drawn::default().segment(0, 20 * MIB, &[(0, MIB, BlockState::Allocated)]);
    let run = RunBuilder::new()
        .section("denoise", 0, 10, |_| {})
        .with(|run| run.info.start_unix_ns = 1_000_000)
        .finish(10);
    let found = snapshot(&drawn.0, Some(&run));
    assert_eq!(found.is_outside_of_run, None);
    assert_eq!(found.devices[0].alive.by_section, None);
}

#[test]
fn contradictions_are_counted_and_nothing_is_made_up() {
    // An address given out twice, one freed that is there all the same, one that is nowhere at the end.
    let drawn = Drawn::new()
        .event(Action::Alloc, 0, MIB)
        .event(Action::Alloc, 0, MIB)
        .event(Action::FreeCompleted, 4 * MIB, MIB)
        .segment(0, 20 * MIB, &[(4 * MIB, MIB, BlockState::Allocated)]);
    let found = drawn.answer();
    assert_eq!(found.n_contradictions, 3);
    assert!(found.peak.unwrap().allocated_bytes <= 3 * MIB);
}

#[test]
fn without_a_history_the_state_at_the_end_is_known() {
    let mut drawn = Drawn::default();
    drawn = drawn.segment(0, 20 * MIB, &[(0, 4 * MIB, BlockState::Allocated)]);
    let found = drawn.answer();
    assert_eq!(found.n_events, 0);
    assert_eq!(found.peak, None);
    assert_eq!(found.recorded_ns, None);
    assert_eq!(found.end.allocated_bytes, 4 * MIB);
    assert_eq!(found.alive.bytes, 4 * MIB);
    assert_eq!(found.curve, []);
    assert_eq!(found.pools[0].free_bytes, 0);
    assert_eq!(snapshot(&Snapshot::default(), None).devices, []);
}

#[test]
fn extremes_do_not_panic() {
    let max = u64::MAX;
    let mut drawn = Drawn::new();
    for action in [
        Action::Alloc,
        Action::FreeRequested,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentUnmap,
        Action::SegmentMap,
        Action::OutOfMemory,
    ] {
        drawn = drawn.event(action, max, max).event(action, 0, max);
    }
    drawn = drawn.segment(
        0,
        max,
        &[(0, max, BlockState::Allocated), (max, max, BlockState::AwaitingFree)],
    );
    for (at, event) in drawn.0.traces[0].events.iter_mut().enumerate() {
        event.time_us = [Some(max), Some(1), None][at % 3];
    }
    drawn.answer();
    let run = RunBuilder::new()
        .section("a", 0, max, |_| {})
        .with(|run| run.info.start_unix_ns = max)
        .finish(max);
    snapshot(&drawn.0, Some(&run));
}

#[test]
fn ranges_that_the_program_named_are_its_sections() {
    // us        0     1     2     3     4
    // alloc    A 2   B 4   C 8   D 1   E 1 MiB, nothing is freed
    // denoise        |-----------|              ends before D
    // step                 |--|                 within denoise
    // vae                              |----…   is open when the snapshot is taken
    let mut drawn = Drawn::new();
    for (place, mib) in [(0, 2), (10, 4), (20, 8), (30, 1), (40, 1)] {
        drawn = drawn.event(Action::Alloc, place * MIB, mib * MIB);
    }
    let ends = [
        (1, "[denoise"),
        (2, "[step"),
        (2, "]unknown"),
        (3, "]step"),
        (3, "]denoise"),
        (4, "[vae"),
    ];
    let found = drawn.ranges(&ends).answer();
    let by_section = found.alive.by_section.unwrap();
    let rows: Vec<_> = by_section.iter().map(|row| (row.path.join("/"), row.bytes / MIB)).collect();
    let expected = [("denoise/step", 8), ("denoise", 4), ("", 3), ("vae", 1)];
    assert_eq!(rows, expected.map(|(path, mib)| (path.to_owned(), mib)));
    // Moments are those of the history all the same.
    assert_eq!(found.peak.unwrap().at_ns, Some(4_000));
}

#[test]
fn allocations_without_a_stack_are_told_apart_from_those_with_one() {
    // MiB     alloc 6 and 4 without a stack, then 2 and 3 in forward; nothing is freed
    let mut drawn = Drawn::new();
    for (place, mib) in [(0, 6), (10, 4), (20, 2), (30, 3)] {
        drawn = drawn.event(Action::Alloc, place * MIB, mib * MIB);
    }
    drawn.0.frames.push(Frame { name: "forward".into(), file: "dit.py".into(), line: Some(40) });
    drawn.0.stacks.push(Stack([0].into()));
    for event in &mut drawn.0.traces[0].events[2..] {
        event.stack = Some(0);
    }
    let rows = drawn.answer().alive.by_stack;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.stack.is_some(), row.bytes / MIB, row.count, row.largest_bytes / MIB))
        .collect();
    assert_eq!(rows, [(false, 10, 2, 6), (true, 5, 2, 3)]);
}

#[test]
fn sections_that_are_not_listed_have_the_rest_of_the_bytes() {
    // 150 ranges of a microsecond, in each an allocation of as many MiB as its number: 1 to 150, of which the largest 100 are listed.
    let mut drawn = Drawn::new().event(Action::Snapshot, 0, 0);
    let mut ends = Vec::new();
    let names: Vec<[String; 2]> = (1..=150).map(|n| [format!("[s{n}"), format!("]s{n}")]).collect();
    for (n, [start, end]) in (1..=150_u64).zip(&names) {
        drawn = drawn.event(Action::Alloc, n * 1_000 * MIB, n * MIB);
        ends.extend([(n, start.as_str()), (n + 1, end.as_str())]);
    }
    let alive = drawn.ranges(&ends).answer().alive;
    assert_eq!(alive.by_section.unwrap().len(), 100);
    assert_eq!(alive.other_sections_bytes, 50 * 51 / 2 * MIB);
}

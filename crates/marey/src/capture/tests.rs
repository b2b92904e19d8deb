//! Captures that no recorder would write: numbers that make no sense must not become a panic, a loop or an allocation.

use proptest::prelude::*;

use super::*;
use crate::clock::Anchor;
use crate::device_work::{DeviceMemory, GpuSpan, SectionKey};
use crate::note::Note;
use crate::recorder::{NodeSnapshot, OpenSlot, TotalsSnapshot};
use crate::run::{CacheEvent, CacheOutcome, Run, Status};
use crate::warning::Warning;
use crate::window::WindowChange;

/// A capture of these blocks.
fn read(blocks: &Encode) -> Run {
    let bytes = [&FILE_HEADER, blocks.bytes.as_slice()].concat();
    decode(&bytes, Status::EndedWithoutClosing).expect("it begins as captures do")
}

fn anchor(ticks: u64, monotonic_ns: u64, unix_ns: u64) -> Anchor {
    Anchor { ticks, monotonic_ns, unix_ns }
}

/// Ticks of one nanosecond, and the nodes root, (other), `step`.
fn ordinary() -> Encode {
    let mut blocks = Encode::default();
    blocks.anchor(anchor(0, 1_000, 5_000));
    blocks.names(0, &[vec![], b"(other)".to_vec(), b"step".to_vec()]);
    blocks.nodes(0, &[0, 1 << 16, 2 << 16]);
    blocks.anchor(anchor(1_000_000, 1_001_000, 1_005_000));
    blocks
}

#[test]
fn a_section_comes_back_as_it_was_recorded() {
    let mut blocks = ordinary();
    let flags = 1 << 48 | 2 << 48 | 7 << 32;
    blocks.records(0, 0, [[100, 250, 2 | flags, 1]]);
    let run = read(&blocks);
    assert_eq!(run.warnings, []);
    let section = run.sections[0];
    assert_eq!((section.start_ns, section.end_ns), (100, 250));
    assert_eq!((section.node, section.flow), (2, 7));
    assert!(section.is_failed && section.has_pauses);
    assert_eq!((run.totals[2].count, run.totals[2].errors), (1, 1));
}

#[test]
fn records_that_make_no_sense_are_passed_over_and_reported() {
    let mut blocks = ordinary();
    let end_before_start = [300, 200, 2, 1];
    let no_such_node = [300, 400, 70_000, 2];
    let sound = [300, 400, 2, 3];
    let again = [300, 400, 2, 3];
    let huge = [u64::MAX - 1, u64::MAX, 2, u64::MAX];
    blocks.records(0, 0, [end_before_start, no_such_node, sound, again, huge]);
    let run = read(&blocks);
    assert_eq!(run.sections.len(), 2);
    assert_eq!((run.sections[0].start_ns, run.sections[0].end_ns), (300, 400));
    assert!(run.sections[1].end_ns >= run.sections[1].start_ns);
    assert!(matches!(run.warnings[..], [Warning::MalformedBlock { .. }]));
}

/// ```text
/// window 7   opened 100   recording 200   failed 250   stopped 300   exported 900
/// ```
#[test]
fn a_window_is_put_together_from_what_happened_to_it() {
    let changes = [
        (
            100,
            WindowChange::Opened {
                name: "flux".into(),
                instrument: "torch.profiler".into(),
                options: vec![("active".into(), 3.into())],
            },
        ),
        (200, WindowChange::Recording),
        (250, WindowChange::Failed { during: "step".into(), error: "RuntimeError: no".into() }),
        (300, WindowChange::Stopped { reason: "steps".into() }),
        (
            900,
            WindowChange::Exported {
                path: "flux.trace.json.gz".into(),
                bytes: 4_000,
                export_ns: 550,
            },
        ),
    ];
    let mut words = Vec::new();
    for (ticks, change) in changes {
        let note = Note::Window { window: 7, change };
        words.extend(note.encode(ticks, None).expect("short"));
    }
    let mut blocks = ordinary();
    blocks.notes(0, 0, 0, &words);
    let run = read(&blocks);
    let [window] = &run.windows[..] else { panic!("one window: {:?}", run.windows) };
    assert_eq!((window.number, window.name.as_str()), (7, "flux"));
    assert_eq!(
        (window.opened_ns, window.recording_ns, window.stopped_ns),
        (100, Some(200), Some(300))
    );
    assert_eq!(window.stop_reason.as_deref(), Some("steps"));
    assert_eq!(window.failures[0].during, "step");
    assert_eq!((window.files[0].bytes, window.files[0].at_ns), (4_000, 900));
}

#[test]
fn what_a_gpu_did_belongs_to_the_section_that_was_named_even_if_another_thread_wrote_it() {
    let section = SectionKey { thread: 1, node: 2, start_ticks: 100 };
    let span = |section| {
        let (delay_ns, error_ns) = (Some(40), Some(3));
        Note::GpuSpan(section, GpuSpan { delay_ns, gpu_ns: 500, error_ns, ..GpuSpan::default() })
    };
    let figures = DeviceMemory { allocated_peak: 77, ..DeviceMemory::default() };
    let memory = Note::SectionMemory(section, figures);
    let no_such_node = SectionKey { node: 99, ..section };
    let mut words = Vec::new();
    for note in [span(section), span(no_such_node), memory] {
        words.extend(note.encode(900, None).expect("short"));
    }
    let mut blocks = ordinary();
    blocks.records(0, 0, [[50, 60, 2, 1]]);
    blocks.records(1, 1, [[100, 250, 2, 1]]);
    blocks.notes(0, 0, 0, &words);
    let run = read(&blocks);
    let [span] = run.gpu_spans[..] else { panic!("one span: {:?}", run.gpu_spans) };
    let its_section = run.sections.iter().find(|s| s.thread == span.thread);
    assert_eq!(its_section.map(|s| s.start_ns), Some(100));
    assert_eq!((span.start_ns, span.gpu_ns, span.delay_ns), (100, 500, Some(40)));
    let memory = run.section_memory[0];
    assert_eq!((memory.thread, memory.figures.allocated_peak), (span.thread, 77));
}

#[test]
fn call_paths_that_run_in_a_circle_are_refused() {
    let mut blocks = ordinary();
    blocks.nodes(3, &[4 | 2 << 16, 3 | 2 << 16]);
    blocks.records(0, 0, [[100, 200, 3, 1], [100, 300, 4, 2]]);
    let run = read(&blocks);
    assert_eq!(run.sections.len(), 2);
    for (id, node) in (0..).zip(&run.nodes) {
        assert!(node.parent.is_none_or(|parent| parent < id), "{id}: {node:?}");
    }
    assert!(run.warnings.iter().any(|w| matches!(w, Warning::MalformedBlock { .. })));
}

#[test]
fn tables_that_begin_at_the_last_number_are_refused() {
    let mut blocks = ordinary();
    blocks.names(u32::MAX, &[vec![], vec![]]);
    blocks.nodes(u32::MAX, &[0, 0]);
    let run = read(&blocks);
    assert_eq!((run.nodes.len(), run.warnings.len()), (3, 2));
}

#[test]
fn sums_beyond_all_numbers_stay_at_the_largest() {
    let mut blocks = ordinary();
    let node = NodeSnapshot {
        node: 1,
        errors: u32::MAX,
        count: u64::MAX,
        sum: u64::MAX,
        min: u64::MAX,
        max: u64::MAX,
        last: u64::MAX,
        last_end: u64::MAX,
        first: u64::MAX,
        first_start: u64::MAX,
        buckets: Some(vec![(0, u32::MAX), (975, u32::MAX), (u32::MAX, 1)]),
    };
    for lane in 0..3 {
        let totals =
            TotalsSnapshot { head: u64::MAX, dropped: u64::MAX, nodes: vec![node.clone()] };
        blocks.totals(lane, u64::MAX, &totals);
    }
    blocks.losses([u64::MAX; 5]);
    let run = read(&blocks);
    assert_eq!(run.totals[1].count, u64::MAX);
    assert_eq!(run.losses.calls_without_name, u64::MAX);
    assert_eq!(run.losses.sections_missing(), u64::MAX);
}

#[test]
fn anchors_that_contradict_each_other_leave_time_running_forwards() {
    let mut blocks = Encode::default();
    for (ticks, monotonic_ns, unix_ns) in
        [(u64::MAX, 1, u64::MAX), (5, u64::MAX, 0), (5, 7, u64::MAX), (0, 0, 0), (9, 3, 1 << 63)]
    {
        blocks.anchor(anchor(ticks, monotonic_ns, unix_ns));
    }
    blocks.nodes(0, &[0, 1 << 16, 2 << 16]);
    let ends = [3, 10, 1 << 40, u64::MAX];
    let records: Vec<_> = (1..).zip(ends).map(|(i, end)| [2, end, 2, i]).collect();
    blocks.records(0, 0, &records);
    let run = read(&blocks);
    assert_eq!(run.sections.len(), 4);
    assert!(run.sections.iter().all(|s| s.end_ns >= s.start_ns));
    assert!(run.sections.is_sorted_by_key(|s| s.end_ns));
}

#[test]
fn numbers_that_are_none_are_absent() {
    let mut blocks = ordinary();
    let counter = |value| Note::counter("loss", value);
    let decision = Note::Cache(CacheEvent {
        cache: "kv".into(),
        outcome: CacheOutcome::Miss,
        score: Some(f64::NAN),
        threshold: Some(f64::INFINITY),
        ..CacheEvent::default()
    });
    let readings = [f64::NAN, 1.5, f64::INFINITY].map(counter);
    let words: Vec<u64> = readings
        .iter()
        .chain([&decision])
        .flat_map(|note| note.encode(10, None).unwrap())
        .collect();
    blocks.notes(0, 0, 0, &words);
    let run = read(&blocks);
    assert_eq!(run.counters.len(), 1);
    assert!((run.counters[0].value - 1.5).abs() < f64::EPSILON);
    let decision = &run.cache_events[0];
    assert_eq!((decision.score, decision.threshold), (None, None));
}

#[test]
fn an_event_of_a_thread_that_nobody_introduced_has_a_thread() {
    for thread in [7, u32::MAX] {
        let mut blocks = ordinary();
        let event = Note::event("compiled", vec![]);
        blocks.notes(0, thread, u64::MAX - 3, &event.encode(10, None).unwrap());
        let run = read(&blocks);
        assert!((run.events[0].thread as usize) < run.threads.len());
    }
}

#[test]
fn attributes_belong_to_one_section_even_where_time_stands_still() {
    // Without two anchors all sections begin at 0; large attributes must not be copied to each of them.
    let mut blocks = Encode::default();
    blocks.nodes(0, &[0, 1 << 16, 2 << 16]);
    let records: Vec<_> = (1..=1000).map(|i| [i, i + 1, 2, i]).collect();
    blocks.records(0, 0, &records);
    let note = Note::SectionAttributes {
        node: 2,
        start_ticks: 500,
        attributes: vec![("prompt".into(), "x".repeat(5000).into())],
    };
    blocks.notes(0, 0, 0, &note.encode(10, None).unwrap());
    let run = read(&blocks);
    let sections: Vec<usize> = run.section_attributes.iter().map(|a| a.section).collect();
    assert_eq!(sections, [499]);
}

#[test]
fn threads_that_share_a_lane_one_after_the_other_are_all_counted() {
    let mut blocks = ordinary();
    for thread in 0..5 {
        let position = u64::from(thread) + 1;
        blocks.records(0, thread, [[position, position + 1, 2, position]]);
    }
    assert_eq!(read(&blocks).totals[2].n_threads, 5);
}

#[test]
fn a_reader_of_one_moment_leaves_out_what_came_later() {
    let mut blocks = ordinary();
    let records: Vec<_> = (1..=10).map(|i| [i, i + 1, 2, i]).collect();
    blocks.records(0, 0, &records);
    let mut reading = decode::Decode::default();
    reading.leave_out_after(&[(0, 4)].into());
    let mut found = block::Blocks::new(blocks.bytes.as_slice(), 0);
    while let Some(block) = found.next().unwrap() {
        reading.block(&block);
    }
    assert_eq!(reading.finish(Status::Running).sections.len(), 4);
}

proptest! {
    #[test]
    fn records_of_any_numbers_lead_to_a_sound_run(
        records in prop::collection::vec(prop::array::uniform4(any::<u64>()), 0..50),
        anchors in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..5),
        nodes in prop::collection::vec(any::<u64>(), 0..20),
        open in prop::collection::vec((any::<u64>(), any::<u32>(), any::<u32>()), 0..5),
        words in prop::collection::vec(any::<u64>(), 0..50),
    ) {
        let mut blocks = Encode::default();
        blocks.names(0, &[vec![0xff, 0xfe], vec![]]);
        blocks.nodes(0, &nodes);
        blocks.records(0, 0, &records);
        blocks.notes(u32::MAX, 3, u64::MAX, &words);
        let open: Vec<_> = open
            .into_iter()
            .map(|(start, node, lane)| OpenSlot { start, node, lane, flow: 0 })
            .collect();
        blocks.open(&open);
        for (ticks, monotonic_ns, unix_ns) in anchors {
            blocks.anchor(anchor(ticks, monotonic_ns, unix_ns));
        }
        let run = read(&blocks);
        prop_assert_eq!(run.nodes.len(), run.totals.len());
        for section in &run.sections {
            prop_assert!(section.start_ns <= section.end_ns);
            prop_assert!((section.node as usize) < run.nodes.len());
            prop_assert!((section.thread as usize) < run.threads.len());
        }
        prop_assert!(run.sections.is_sorted_by_key(|s| (s.thread, s.end_ns)));
        prop_assert!(run.events.iter().all(|e| (e.thread as usize) < run.threads.len()));
        prop_assert!(run.open.iter().all(|o| (o.node as usize) < run.nodes.len()));
    }

    #[test]
    fn records_come_back_as_they_were_written(
        lengths in prop::collection::vec(0_u64..1_000, 1..200),
    ) {
        let mut blocks = ordinary();
        let mut now = 0;
        let records: Vec<_> = (1..)
            .zip(&lengths)
            .map(|(i, length)| {
                now += length;
                [now - length, now, 2, i]
            })
            .collect();
        blocks.records(3, 9, &records);
        let run = read(&blocks);
        let back: Vec<_> = run.sections.iter().map(|s| [s.start_ns, s.end_ns]).collect();
        let written: Vec<_> = records.iter().map(|[start, end, ..]| [*start, *end]).collect();
        prop_assert_eq!(back, written);
        prop_assert_eq!(run.totals[2].sum_ns, lengths.iter().sum::<u64>());
    }
}

//! Captures of earlier versions are read as they always were.

use std::path::Path;

use marey::{CacheOutcome, MemorySource, NodeKind, Run, Status, Value};

use crate::program::assert_adds_up;

/// A golden capture.
pub(crate) fn golden(name: &str) -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    std::fs::read(data.join(name)).unwrap()
}

fn read(name: &str) -> Run {
    marey::decode(&golden(name), Status::EndedWithoutClosing).unwrap()
}

/// One line a node: its path, kind, calls, errors and threads.
fn nodes(run: &Run) -> Vec<String> {
    let line = |node: usize| {
        let (mut path, mut at) = (Vec::new(), node);
        while let Some(parent) = run.nodes[at].parent {
            path.insert(0, run.nodes[at].name.escape_debug().to_string());
            at = parent as usize;
        }
        let totals = &run.totals[node];
        let kind = match run.nodes[node].kind {
            NodeKind::Section => "section",
            NodeKind::Iteration => "iteration",
        };
        let path = path.join(" > ");
        format!(
            "{path} · {kind} · {} · {} · {}",
            totals.count, totals.errors, totals.n_threads
        )
    };
    (1..run.nodes.len()).map(line).collect()
}

#[test]
fn version_2_is_read_as_it_was_recorded() {
    let run = read("v2.marey");
    assert_eq!(run.warnings, []);
    assert!(run.losses.is_none() && run.gaps.is_empty());
    assert_adds_up(&run);
    assert_eq!(run.status, Status::Finished);
    assert_eq!(
        (run.info.host.as_str(), run.info.job_id.as_str()),
        ("studio", "golden")
    );
    assert_eq!(
        (run.info.pid, run.info.rank, run.info.world_size),
        (7069, Some(0), None)
    );
    assert_eq!(run.info.command, ["./pipeline", "/tmp/c/gold"]);
    assert!(
        run.info
            .facts
            .contains(&("model".into(), "tiny-video <b>v1</b>".into()))
    );
    assert_eq!(
        nodes(&run),
        [
            "(other) · section · 0 · 0 · 0",
            "load_model · section · 1 · 0 · 1",
            "block · section · 6 · 0 · 1",
            "block > denoising_step · iteration · 24 · 1 · 1",
            "block > vae_decode · section · 6 · 0 · 1",
            "upload_chunk · section · 3 · 0 · 1",
            "</script><b> · section · 1 · 0 · 1",
            "../../etc · section · 1 · 0 · 1",
            "\\u{1b}[31mred · section · 1 · 0 · 1",
            "caf\\\\xe9 · section · 1 · 0 · 1",
            "waiting_for_upload · section · 0 · 0 · 0",
        ]
    );
    let threads: Vec<&str> = run
        .threads
        .iter()
        .map(|thread| thread.name.as_str())
        .collect();
    assert_eq!(threads, ["pipeline", "upload"]);
    let open: Vec<u32> = run.open.iter().map(|open| open.node).collect();
    assert_eq!(open, [11]);
}

#[test]
fn version_2_keeps_its_times() {
    let run = read("v2.marey");
    assert_eq!(run.info.start_unix_ns, 1_795_375_103_343_880_619);
    let block = &run.totals[3];
    let totals = [
        block.sum_ns,
        block.min_ns,
        block.max_ns,
        block.first_ns,
        block.last_ns,
    ];
    let section = &run.sections[1];
    let median = block
        .histogram
        .as_ref()
        .and_then(|histogram| histogram.quantile(0.5));
    let found = (
        run.wall_ns,
        totals,
        (section.start_ns, section.end_ns),
        median,
    );
    assert_eq!(
        found,
        (
            27_848_067,
            [8879, 693, 4184, 4184, 1423],
            (683_758, 684_961),
            Some(910)
        )
    );
}

#[test]
fn version_2_keeps_everything_that_is_not_a_section() {
    let run = read("v2.marey");
    let sessions: Vec<_> = run
        .sessions
        .iter()
        .map(|s| (s.name.as_str(), &s.tags[..]))
        .collect();
    let seed = |seed: i64| vec![("seed".to_owned(), Value::Int(seed))];
    assert_eq!(
        sessions,
        [("clip-0", &seed(7)[..]), ("clip-1", &seed(8)[..])]
    );
    assert!(
        run.sessions
            .iter()
            .all(|session| session.end_ns > Some(session.start_ns))
    );

    let hits = run
        .cache_events
        .iter()
        .filter(|event| event.outcome == CacheOutcome::Hit);
    assert_eq!((run.cache_events.len(), hits.count()), (24, 12));
    let last = run.cache_events.last().unwrap();
    assert_eq!(
        (last.cache.as_str(), last.step, last.block),
        ("teacache", Some(3), None)
    );
    assert_eq!(
        (last.score, last.threshold, last.held_bytes),
        (Some(0.25), Some(0.3), None)
    );

    let labelled = run.memory.iter().filter(|reading| reading.label.is_some());
    let readings: Vec<_> = labelled
        .map(|r| (r.source, r.allocated_bytes, r.peak_bytes))
        .collect();
    assert_eq!(
        readings,
        [(MemorySource::TorchCuda(0), 6 << 30, Some(7 << 30)); 2]
    );

    let frames: Vec<f64> = run.counters.iter().map(|reading| reading.value).collect();
    assert_eq!(frames, [0.0, 12.0]);
    assert_eq!(run.events.len(), 2);
    let ok = ("ok".to_owned(), Value::Bool(true));
    assert_eq!(
        run.events[1].attributes,
        [("clip".into(), Value::Int(1)), ok]
    );

    let indices: Vec<&Value> = run
        .section_attributes
        .iter()
        .map(|a| &a.attributes[0].1)
        .collect();
    let expected = [0, 1, 2, 0, 1, 2].map(Value::Int);
    assert_eq!(indices, expected.iter().collect::<Vec<_>>());
    let blocks = run
        .section_attributes
        .iter()
        .map(|a| run.sections[a.section].node);
    assert!(blocks.eq([3; 6]));
}

#[test]
fn a_version_2_without_room_for_all_has_the_first_sections_and_the_last() {
    let run = read("v2_full.marey");
    assert_eq!(run.warnings, []);
    assert_adds_up(&run);
    let sessions: Vec<&str> = run.sessions.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        sessions,
        ["clip-0", "clip-1", "clip-2", "clip-3", "clip-4", "clip-5"]
    );
    assert!(
        run.sessions
            .iter()
            .all(|session| session.end_ns > Some(session.start_ns))
    );
    assert_eq!(
        (run.sections.len(), run.losses.sections_not_written),
        (3584, 333_312)
    );
    let [gap] = run.gaps[..] else {
        panic!("one gap: {:?}", run.gaps)
    };
    assert_eq!(
        (gap.start_ns, gap.end_ns, gap.sections),
        (661_149, 291_982_148, 333_312)
    );
}

#[test]
fn a_version_that_nobody_released_is_refused_and_named() {
    for version in [0, 1, 3] {
        let mut capture = golden("v2.marey");
        capture[8] = version;
        let error = marey::decode(&capture, Status::EndedWithoutClosing).unwrap_err();
        let said = format!(
            "the capture has the unknown capture version {version}; this marey reads version 2; use a newer one"
        );
        assert_eq!(error.to_string(), said);
    }
}

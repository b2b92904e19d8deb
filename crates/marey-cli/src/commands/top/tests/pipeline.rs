//! A pipeline that is looked at once a second, its names hostile; every figure by hand.

use marey::live::{Iterations, LiveState, OpenNow, Process, Reading, Totals};
use marey::{
    Generated, Identity, Node, NodeKind, ReportSpan, ReportTimes, SeriesInfo, Status, Unit,
};

use marey_report::live::{LiveSnapshot, Watch};

use super::super::lanes::Lanes;
use super::super::layout::Shown;
use super::{HOSTILE, S};

pub(super) fn process(pid: u32, rank: Option<u32>) -> Process {
    Process {
        folder: format!("/rings/{pid}-1").into(),
        identity: Identity { pid, ..Identity::default() },
        is_alive: Some(true),
        capture: Some("/out/job/rank0-7.marey".into()),
        start_unix_ns: Some(1_700_000_000 * S),
        job_id: Some("flux-42".into()),
        rank,
        forked_from: None,
        outside_of: None,
        waited_for_by: None,
        command: vec!["python".into(), HOSTILE.into()],
    }
}

pub(super) fn node(parent: Option<u32>, name: &str, kind: NodeKind) -> Node {
    Node { parent, name: name.into(), kind, is_detached: false }
}

pub(super) fn totals(node: u32, durations_ms: &[u64]) -> Totals {
    let ns = |ms: &u64| ms * 1_000_000;
    Totals {
        node,
        count: durations_ms.len() as u64,
        sum_ns: durations_ms.iter().map(ns).sum(),
        min_ns: durations_ms.iter().map(ns).min().unwrap(),
        max_ns: durations_ms.iter().map(ns).max().unwrap(),
        last_ns: durations_ms.last().map(ns).unwrap(),
        last_end_ns: u64::from(node),
        ..Totals::default()
    }
}

pub(super) fn reading(info: SeriesInfo, value: f64, at_ns: u64) -> Reading {
    Reading { info, value, at_ns, age_ns: 0 }
}

/// A pipeline at a second of its life: an iteration of 100 ms, or 300 ms every fourth, in each, which ends 0.4 s before it; a block of 3 frames
/// every two of them; half a core; 1 MB read a second.
pub(super) fn look(second: u32) -> LiveState {
    let at_ns = u64::from(second) * S;
    let nodes = [
        node(None, "", NodeKind::Section),
        node(Some(0), "(other)", NodeKind::Section),
        node(Some(0), "pipeline", NodeKind::Section),
        node(Some(2), HOSTILE, NodeKind::Section),
        node(Some(3), "denoising_step", NodeKind::Iteration),
        node(Some(2), "text_encoder", NodeKind::Section),
    ];
    let durations: Vec<u64> =
        (0..second.max(1)).map(|turn| if turn % 4 == 3 { 300 } else { 100 }).collect();
    let mut steps = totals(4, &durations);
    steps.iterations = Some(Iterations {
        newest_ns: durations.iter().map(|ms| ms * 1_000_000).collect(),
        first_end_ns: (second > 1).then_some(S - 400_000_000),
    });
    steps.last_end_ns = at_ns - 400_000_000;
    let open = |node, start_s: u64| OpenNow { node, lane: 0, flow: 0, start_ns: start_s * S };
    let (gauge, cumulative) = (SeriesInfo::gauge, SeriesInfo::cumulative);
    let seconds = f64::from(second);
    let gib = f64::from(1 << 30);
    let series = vec![
        reading(cumulative("host.cpu.busy", "", Unit::Seconds), seconds, at_ns),
        reading(cumulative("core.cpu.busy", "0", Unit::Seconds), seconds, at_ns),
        reading(cumulative("core.cpu.busy", "1", Unit::Seconds), 0.0, at_ns),
        reading(cumulative("process.cpu.user", "", Unit::Seconds), seconds / 4.0, at_ns),
        reading(cumulative("process.cpu.system", "", Unit::Seconds), seconds / 4.0, at_ns),
        reading(gauge("process.memory.resident", "", Unit::Bytes), 2.0 * gib, at_ns),
        reading(gauge("host.memory.used", "", Unit::Bytes), 12.0 * gib, at_ns),
        reading(gauge("host.memory.available", "", Unit::Bytes), 20.0 * gib, at_ns),
        reading(cumulative("process.disk.read", "", Unit::Bytes), seconds * 1e6, at_ns),
        reading(gauge("gpu.utilization", HOSTILE, Unit::Ratio), 0.85, at_ns),
        reading(gauge("gpu.memory.used", HOSTILE, Unit::Bytes), 8.0 * gib, at_ns),
        reading(gauge("gpu.memory.total", HOSTILE, Unit::Bytes), 24.0 * gib, at_ns),
        reading(gauge("gpu.power", HOSTILE, Unit::Watts), 310.0, at_ns),
        reading(gauge("gpu.temperature", HOSTILE, Unit::Celsius), 72.0, at_ns),
        reading(cumulative("sampler.missed", "host", Unit::Count), 3.0, at_ns),
    ];
    let n_blocks = u64::from(second) / 2;
    let newest_block = ReportSpan { at_ns: n_blocks * 2 * S, first_ns: 2 * S, first_frames: 3 };
    LiveState {
        at_ns,
        status: Status::Running,
        is_alive: Some(true),
        schedule: Some((u64::from(second), 20)),
        nodes: nodes.into(),
        totals: vec![steps, totals(5, &[480])],
        open: vec![open(2, 1), open(3, 2)],
        series,
        generated: Generated {
            blocks: n_blocks,
            block_frames: 3 * n_blocks,
            ..Generated::default()
        },
        report_times: ReportTimes {
            blocks: (n_blocks > 0).then_some(newest_block),
            ..ReportTimes::default()
        },
        ..LiveState::default()
    }
}

/// A process that was looked at.
pub(super) struct Seen {
    pub(super) process: Process,
    watch: Watch,
    lanes: Lanes,
    pub(super) now: LiveSnapshot,
}

impl Seen {
    pub(super) fn new(process: Process, looks: impl IntoIterator<Item = LiveState>) -> Self {
        let mut seen = Self {
            process,
            watch: Watch::default(),
            lanes: Lanes::default(),
            now: LiveSnapshot::default(),
        };
        looks.into_iter().for_each(|look| seen.take(look));
        seen
    }

    pub(super) fn take(&mut self, look: LiveState) {
        self.now = self.watch.take(Some(self.process.clone()), look);
        self.lanes.take(&self.now);
    }

    pub(super) fn shown(&self) -> Shown<'_> {
        Shown { process: &self.process, now: &self.now, lanes: &self.lanes, hang: None }
    }
}

/// The pipeline after 12 s.
pub(super) fn pipeline() -> Seen {
    Seen::new(process(4242, Some(3)), (1..=12).map(look))
}

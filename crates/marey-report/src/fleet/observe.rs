//! Live looks as figures by metric and labels.

use std::collections::BTreeMap;

use marey::live::{Look, Reading, Totals};
use marey::{NodeKind, Unit};

use super::metric::{Instrument, Metric};
use crate::quantity::float;

/// Call paths of a process that have series of their own.
const MAX_SECTIONS: usize = 200;
/// Characters of a label's value.
const MAX_LABEL: usize = 250;
/// Readings that are older say nothing about now.
const STALE_NS: u64 = 30_000_000_000;
/// Which quantiles of a loop's turns are told.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// A name of OpenTelemetry, and a value.
pub type Label = (&'static str, String);

/// Values by metric and labels.
pub type Figures = BTreeMap<(Metric, Vec<Label>), Value>;

/// What all processes of a job on this machine have done so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// Name of the machine.
    pub host: String,
    /// The job.
    pub job_id: String,
    /// Its processes, by rank and number.
    pub processes: Vec<Group>,
    /// GPUs, which several processes may read, and what was left out.
    pub machine: Figures,
}

/// What one process has done so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Which process.
    pub labels: MemberLabels,
    /// Wall clock at the start of its recording, nanoseconds since 1970; `None` before that.
    pub start_unix_ns: Option<u64>,
    /// Its figures.
    pub figures: Figures,
}

/// Which process of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberLabels {
    /// Its place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Its process id.
    pub pid: u32,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number.
    Number(f64),
    /// Durations.
    Durations {
        /// How many.
        count: u64,
        /// Their sum in nanoseconds.
        sum_ns: u64,
        /// Quantiles (0 to 1) in nanoseconds, of the newest.
        quantiles_ns: Vec<(f64, u64)>,
    },
}

/// A process that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Which it is.
    pub labels: MemberLabels,
    /// Wall clock at the start of its recording.
    pub start_unix_ns: Option<u64>,
    /// What it showed.
    pub look: &'a Look,
}

/// What recordings that nobody looks at any more have counted: so what was counted stays counted.
#[derive(Clone, Debug, Default)]
pub struct Past {
    processes: BTreeMap<MemberLabels, Group>,
    gpus: Newest,
}

impl Past {
    /// Keeps the counts of a recording that is over, and nothing of what it read of its time.
    pub fn keep(&mut self, member: &Member<'_>) {
        let group = self
            .processes
            .entry(member.labels)
            .or_insert_with(|| Group::of(member));
        group.add(member.look, &mut self.gpus);
        let only_grows = |metric: Metric| {
            matches!(
                metric.instrument(),
                Instrument::Counter | Instrument::Summary
            )
        };
        group.figures.retain(|(metric, _), _| only_grows(*metric));
        self.gpus.retain(|(metric, _), _| only_grows(*metric));
    }

    /// Of these processes nothing is kept any more.
    pub fn forget(&mut self, mut is_gone: impl FnMut(&MemberLabels) -> bool) {
        self.processes.retain(|labels, _| !is_gone(labels));
    }
}

impl Group {
    /// A process of which nothing is known.
    fn of(member: &Member<'_>) -> Self {
        Self {
            labels: member.labels,
            start_unix_ns: member.start_unix_ns,
            figures: Figures::new(),
        }
    }

    fn add(&mut self, look: &Look, gpus: &mut Newest) {
        program(look, &mut self.figures);
        sections(look, &mut self.figures);
        readings(look, &mut self.figures, gpus);
    }
}

/// What looks at the processes of a job say. `members` come by the start of their recording: one process may have made several, whose
/// counts are added, to those of `past`. `left_out` is the number of processes that were not looked at.
///
/// A GPU that several processes read is told once: the newest reading, of what grows the largest.
pub fn observe(
    host: &str,
    job_id: &str,
    past: &Past,
    members: &[Member<'_>],
    left_out: u64,
) -> Fleet {
    let mut groups: BTreeMap<MemberLabels, Group> = BTreeMap::new();
    let mut gpus = past.gpus.clone();
    for member in members {
        let group = groups.entry(member.labels).or_insert_with(|| {
            let past = past.processes.get(&member.labels);
            past.cloned().unwrap_or_else(|| Group::of(member))
        });
        group.add(member.look, &mut gpus);
    }
    let mut machine: Figures = gpus
        .into_iter()
        .map(|(key, (_, value))| (key, Value::Number(value)))
        .collect();
    if left_out > 0 {
        add(
            &mut machine,
            Metric::ProcessesLeftOut,
            vec![],
            float(left_out),
        );
    }
    Fleet {
        host: short(host),
        job_id: short(job_id),
        processes: groups.into_values().collect(),
        machine,
    }
}

/// What the program reported of its work. A count that is 0 was never reported: it is absent.
fn program(look: &Look, figures: &mut Figures) {
    let is_running = f64::from(u8::from(look.is_running()));
    put(figures, Metric::Running, vec![], is_running);
    put(
        figures,
        Metric::RecordingTime,
        vec![],
        float(look.at_ns) / 1e9,
    );
    let generated = &look.generated;
    let counts = [
        (Metric::Steps, generated.steps),
        (Metric::Blocks, generated.blocks),
        (Metric::BlockFrames, generated.block_frames),
        (Metric::FramesDelivered, generated.streamed_frames),
        (Metric::FramesDropped, generated.dropped_frames),
    ];
    for (metric, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        add(figures, metric, vec![], float(count));
    }
    let losses = &look.losses;
    let lost = [
        losses.sections_ring_full,
        losses.sections_not_written,
        losses.sections_unrecorded,
        losses.notes_dropped,
    ];
    let lost = lost.into_iter().fold(0, u64::saturating_add);
    add(figures, Metric::RecordsLost, vec![], float(lost));
}

/// Sections and loops by call path, those that came first: so a series that is there stays.
fn sections(look: &Look, figures: &mut Figures) {
    for totals in look.totals.iter().take(MAX_SECTIONS) {
        let path = short(&look.path(totals.node).join("/"));
        match look.kind(totals.node) {
            NodeKind::Iteration => turns(totals, path, figures),
            NodeKind::Section => {
                let labels = || vec![("section", path.clone())];
                let seconds = float(totals.sum_ns) / 1e9;
                add(figures, Metric::SectionTime, labels(), seconds);
                add(figures, Metric::SectionCalls, labels(), float(totals.count));
                add(
                    figures,
                    Metric::SectionErrors,
                    labels(),
                    float(totals.errors),
                );
            }
        }
    }
    let left_out = look.totals.len().saturating_sub(MAX_SECTIONS);
    if left_out > 0 {
        let left_out = float(u64::try_from(left_out).unwrap_or(u64::MAX));
        put(figures, Metric::SectionsLeftOut, vec![], left_out);
    }
}

fn turns(totals: &Totals, path: String, figures: &mut Figures) {
    let quantile = |q: &f64| Some((*q, totals.turns.as_ref()?.quantile_ns(*q)?));
    let new = Value::Durations {
        count: totals.count,
        sum_ns: totals.sum_ns,
        quantiles_ns: QUANTILES.iter().filter_map(quantile).collect(),
    };
    let key = (Metric::IterationTime, vec![("iteration", path)]);
    let together = match (figures.remove(&key), new) {
        (
            Some(Value::Durations { count, sum_ns, .. }),
            Value::Durations {
                count: more,
                sum_ns: more_ns,
                quantiles_ns,
            },
        ) => Value::Durations {
            count: count.saturating_add(more),
            sum_ns: sum_ns.saturating_add(more_ns),
            quantiles_ns,
        },
        (_, new) => new,
    };
    figures.insert(key, together);
}

/// Age and value of the reading that is told.
type Newest = BTreeMap<(Metric, Vec<Label>), (u64, f64)>;

fn readings(look: &Look, figures: &mut Figures, gpus: &mut Newest) {
    for reading in &look.series {
        let Some((metric, detail)) = metric_of(reading) else {
            continue;
        };
        let only_grows = metric.instrument() == Instrument::Counter;
        let is_of_now = look.is_running() && reading.age_ns <= STALE_NS;
        if !only_grows && !is_of_now || !reading.value.is_finite() {
            continue;
        }
        let is_of_gpu = reading.info.name.starts_with("gpu.");
        let mut labels: Vec<Label> = Vec::new();
        if is_of_gpu {
            labels.push(("hw.id", short(&reading.info.subject)));
            labels.push(("hw.type", "gpu".into()));
        }
        labels.extend(detail.map(|(name, value)| (name, value.to_owned())));
        match metric {
            Metric::ProcessGpuMemory => put(figures, metric, labels, reading.value),
            _ if !is_of_gpu && only_grows => grow(figures, metric, labels, reading.value),
            _ if !is_of_gpu => put(figures, metric, labels, reading.value),
            _ => {
                let known = gpus
                    .entry((metric, labels))
                    .or_insert((u64::MAX, reading.value));
                if only_grows {
                    known.1 = known.1.max(reading.value);
                } else if reading.age_ns <= known.0 {
                    *known = (reading.age_ns, reading.value);
                }
            }
        }
    }
}

/// The metric of a series, and what tells its parts apart; `None` for one that is not told.
fn metric_of(reading: &Reading) -> Option<(Metric, Option<(&'static str, &'static str)>)> {
    let info = &reading.info;
    let (metric, unit, detail) = match info.name.as_str() {
        "process.cpu.user" => (Metric::CpuTime, Unit::Seconds, Some(("cpu.mode", "user"))),
        "process.cpu.system" => (Metric::CpuTime, Unit::Seconds, Some(("cpu.mode", "system"))),
        "process.memory.resident" => (Metric::Memory, Unit::Bytes, None),
        "gpu.memory.process" => (Metric::ProcessGpuMemory, Unit::Bytes, None),
        "gpu.utilization" => (
            Metric::GpuUtilization,
            Unit::Ratio,
            Some(("hw.gpu.task", "general")),
        ),
        "gpu.memory.used" => (Metric::GpuMemoryUsage, Unit::Bytes, None),
        "gpu.memory.total" => (Metric::GpuMemoryLimit, Unit::Bytes, None),
        "gpu.power" => (Metric::Power, Unit::Watts, None),
        "gpu.energy" => (Metric::Energy, Unit::Joules, None),
        "gpu.temperature" => (Metric::Temperature, Unit::Celsius, None),
        "gpu.ecc.corrected" => (
            Metric::Errors,
            Unit::Count,
            Some(("error.type", "corrected")),
        ),
        "gpu.ecc.uncorrected" => (
            Metric::Errors,
            Unit::Count,
            Some(("error.type", "uncorrected")),
        ),
        _ => return None,
    };
    // A process of another version may count something else by that name.
    (info.unit == unit).then_some((metric, detail))
}

fn put(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    figures.insert((metric, labels), Value::Number(value));
}

fn add(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    let sum = figures
        .entry((metric, labels))
        .or_insert(Value::Number(0.0));
    if let Value::Number(sum) = sum {
        *sum += value;
    }
}

/// The system counts for the process: what several recordings of it read is not added.
fn grow(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    let known = figures
        .entry((metric, labels))
        .or_insert(Value::Number(value));
    if let Value::Number(known) = known {
        *known = known.max(value);
    }
}

/// Text of a user as a label: no control codes, and not long.
fn short(text: &str) -> String {
    crate::escape::cut(text, MAX_LABEL)
}

#[cfg(test)]
pub(super) mod tests {
    use marey::{Generated, Node, SeriesInfo, Status};

    use super::*;

    fn node(parent: Option<u32>, name: &str, kind: NodeKind) -> Node {
        Node {
            parent,
            name: name.into(),
            kind,
            is_detached: false,
        }
    }

    /// Two blocks of 2 s and 4 s with four steps of 1 s in all; one call of "de\"code\n" that failed.
    pub(in crate::fleet) fn look() -> Look {
        let nodes = [
            node(None, "", NodeKind::Section),
            node(Some(0), "(other)", NodeKind::Section),
            node(Some(0), "block", NodeKind::Iteration),
            node(Some(2), "attention", NodeKind::Section),
            node(Some(0), "de\"code\n", NodeKind::Section),
        ];
        let totals = |node, count, sum_ns, errors| Totals {
            node,
            count,
            sum_ns,
            errors,
            ..Totals::default()
        };
        let mut block = totals(2, 2, 6_000_000_000, 0);
        block.turns = Some(marey::live::Turns {
            newest_ns: vec![4_000_000_000, 2_000_000_000],
        });
        Look {
            at_ns: 10_000_000_000,
            status: Status::Running,
            nodes: nodes.into(),
            totals: vec![
                block,
                totals(3, 4, 4_000_000_000, 0),
                totals(4, 1, 500_000_000, 1),
            ],
            generated: Generated {
                steps: 4,
                blocks: 2,
                ..Generated::default()
            },
            ..Look::default()
        }
    }

    fn reading(name: &str, subject: &str, unit: Unit, value: f64, age_ns: u64) -> Reading {
        Reading {
            info: SeriesInfo::gauge(name, subject, unit),
            value,
            at_ns: 0,
            age_ns,
        }
    }

    fn member(rank: u32, look: &Look) -> Member<'_> {
        Member {
            labels: MemberLabels {
                rank: Some(rank),
                pid: 100 + rank,
            },
            start_unix_ns: Some(1),
            look,
        }
    }

    fn number(figures: &Figures, metric: Metric, labels: &[Label]) -> Option<f64> {
        match figures.get(&(metric, labels.to_vec()))? {
            Value::Number(number) => Some(*number),
            Value::Durations { .. } => None,
        }
    }

    #[test]
    fn counts_of_a_process_are_those_of_its_look_and_what_it_did_not_report_is_absent() {
        let look = look();
        let fleet = observe("h", "j", &Past::default(), &[member(0, &look)], 0);
        let figures = &fleet.processes[0].figures;
        assert_eq!(number(figures, Metric::Steps, &[]), Some(4.0));
        assert_eq!(number(figures, Metric::Blocks, &[]), Some(2.0));
        assert_eq!(number(figures, Metric::FramesDelivered, &[]), None);
        assert_eq!(number(figures, Metric::RecordsLost, &[]), Some(0.0));
        let attention = [("section", "block/attention".to_owned())];
        assert_eq!(number(figures, Metric::SectionTime, &attention), Some(4.0));
        assert_eq!(number(figures, Metric::SectionCalls, &attention), Some(4.0));
        let blocks = figures.get(&(
            Metric::IterationTime,
            vec![("iteration", "block".to_owned())],
        ));
        let expected = Value::Durations {
            count: 2,
            sum_ns: 6_000_000_000,
            quantiles_ns: vec![
                (0.5, 2_000_000_000),
                (0.95, 4_000_000_000),
                (0.99, 4_000_000_000),
            ],
        };
        assert_eq!(blocks, Some(&expected));
        assert!(fleet.machine.is_empty());
    }

    #[test]
    fn two_recordings_of_one_process_are_added_up_and_what_the_system_counts_is_not() {
        let mut look = look();
        look.series = vec![reading("process.cpu.user", "", Unit::Seconds, 7.0, 0)];
        let fleet = observe(
            "h",
            "j",
            &Past::default(),
            &[member(0, &look), member(0, &look)],
            0,
        );
        assert_eq!(fleet.processes.len(), 1);
        let figures = &fleet.processes[0].figures;
        assert_eq!(number(figures, Metric::Steps, &[]), Some(8.0));
        let user = [("cpu.mode", "user".to_owned())];
        assert_eq!(number(figures, Metric::CpuTime, &user), Some(7.0));
    }

    /// Three recordings of one process; the first two are kept as counts alone.
    #[test]
    fn what_is_past_counts_as_if_it_were_looked_at() {
        let mut look = look();
        look.status = Status::Finished;
        look.series = vec![
            reading("process.cpu.user", "", Unit::Seconds, 7.0, 0),
            reading("gpu.energy", "GPU-a", Unit::Joules, 70.0, 0),
            reading("gpu.power", "GPU-a", Unit::Watts, 300.0, 0),
        ];
        let last = Look {
            series: vec![],
            ..look.clone()
        };
        let all = [member(0, &look), member(0, &look), member(0, &last)];
        let mut past = Past::default();
        past.keep(&all[0]);
        past.keep(&all[1]);
        let kept = observe("h", "j", &past, &all[2..], 0);
        assert_eq!(kept, observe("h", "j", &Past::default(), &all, 0));
        let steps = number(&kept.processes[0].figures, Metric::Steps, &[]);
        assert_eq!(steps, Some(12.0));
        past.forget(|labels| labels.pid == 100);
        let alone = observe("h", "j", &past, &all[2..], 0);
        let steps = number(&alone.processes[0].figures, Metric::Steps, &[]);
        assert_eq!(steps, Some(4.0));
    }

    #[test]
    fn a_gpu_that_two_ranks_read_is_told_once_by_the_newest_reading() {
        let with = |power, age_ns, energy| Look {
            series: vec![
                reading("gpu.power", "GPU-a", Unit::Watts, power, age_ns),
                reading("gpu.energy", "GPU-a", Unit::Joules, energy, age_ns),
            ],
            ..look()
        };
        let (old, new) = (
            with(100.0, 5_000_000_000, 50.0),
            with(300.0, 1_000_000, 70.0),
        );
        for members in [
            [member(0, &old), member(1, &new)],
            [member(0, &new), member(1, &old)],
        ] {
            let fleet = observe("h", "j", &Past::default(), &members, 0);
            let gpu = [("hw.id", "GPU-a".to_owned()), ("hw.type", "gpu".to_owned())];
            assert_eq!(number(&fleet.machine, Metric::Power, &gpu), Some(300.0));
            assert_eq!(number(&fleet.machine, Metric::Energy, &gpu), Some(70.0));
            assert_eq!(fleet.machine.len(), 2);
        }
        let stale = with(100.0, STALE_NS + 1, 50.0);
        let fleet = observe("h", "j", &Past::default(), &[member(0, &stale)], 0);
        let metrics: Vec<Metric> = fleet.machine.keys().map(|(metric, _)| *metric).collect();
        assert_eq!(
            metrics,
            [Metric::Energy],
            "what was read long ago is not now"
        );
    }

    #[test]
    fn sections_beyond_the_limit_are_counted() {
        let mut look = look();
        let names = (0..300).map(|n| node(Some(0), &format!("s{n}"), NodeKind::Section));
        look.nodes = [node(None, "", NodeKind::Section)]
            .into_iter()
            .chain(names)
            .collect();
        look.totals = (1..=300)
            .map(|node| Totals {
                node,
                count: 1,
                ..Totals::default()
            })
            .collect();
        let fleet = observe("h", "j", &Past::default(), &[member(0, &look)], 3);
        let figures = &fleet.processes[0].figures;
        assert_eq!(number(figures, Metric::SectionsLeftOut, &[]), Some(100.0));
        let calls = figures
            .keys()
            .filter(|(metric, _)| *metric == Metric::SectionCalls);
        assert_eq!(calls.count(), 200);
        assert_eq!(
            number(&fleet.machine, Metric::ProcessesLeftOut, &[]),
            Some(3.0)
        );
    }
}

//! What looks at processes of a job say, by hand.

use marey::live::{Look, Reading, Totals};
use marey::{Generated, Node, NodeKind, SeriesInfo, Status, Unit};

use super::figures::{Figures, Label, Value};
use super::readings::STALE_NS;
use super::{Member, MemberLabels, Metric, Past, observe};

fn node(parent: Option<u32>, name: &str, kind: NodeKind) -> Node {
    Node {
        parent,
        name: name.into(),
        kind,
        is_detached: false,
    }
}

/// Two blocks of 2 s and 4 s with four steps of 1 s in all; one call of "de\"code\n" that failed.
pub(super) fn look() -> Look {
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
        first_end_ns: None,
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
fn lookups_without_a_hit_say_so_and_the_step_is_that_of_a_process_that_runs() {
    let mut look = look();
    let of = |look: &Look| {
        let fleet = observe("h", "j", &Past::default(), &[member(0, look)], 0);
        let figures = &fleet.processes[0].figures;
        let lookups = |outcome: &str| {
            let label = [("outcome", outcome.to_owned())];
            number(figures, Metric::CacheLookups, &label)
        };
        let step = number(figures, Metric::StepNumber, &[]);
        (lookups("hit"), lookups("miss"), step)
    };
    assert_eq!(of(&look), (None, None, None), "never reported");
    (look.cache_misses, look.step) = (3, Some(0));
    assert_eq!(of(&look), (Some(0.0), Some(3.0), Some(0.0)));
    (look.cache_hits, look.status) = (2, Status::Finished);
    assert_eq!(of(&look), (Some(2.0), Some(3.0), None));
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
    let user = [("cpu_mode", "user".to_owned())];
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
        let gpu = [("hw_id", "GPU-a".to_owned()), ("hw_type", "gpu".to_owned())];
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

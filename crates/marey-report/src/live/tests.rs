//! What looks at processes say, by hand.

use marey::live::{Iterations, LiveState, Process, Reading, Totals};
use marey::{
    Generated, Identity, Node, NodeKind, ReportSpan, ReportTimes, SeriesInfo, Status, Unit,
};

use super::{Fleet, GpuNow, LiveSnapshot, Watch};

const S: u64 = 1_000_000_000;
const MIB: f64 = 1_048_576.0;

fn node(parent: Option<u32>, name: &str, kind: NodeKind) -> Node {
    Node { parent, name: name.into(), kind, is_detached: false }
}

/// Two blocks of 2 s and 4 s with four steps of 1 s in all; one call of "de\"code\n" that failed.
fn look() -> LiveState {
    let nodes = [
        node(None, "", NodeKind::Section),
        node(Some(0), "(other)", NodeKind::Section),
        node(Some(0), "block", NodeKind::Iteration),
        node(Some(2), "attention", NodeKind::Section),
        node(Some(0), "de\"code\n", NodeKind::Section),
    ];
    let totals =
        |node, count, sum_ns, errors| Totals { node, count, sum_ns, errors, ..Totals::default() };
    let mut block = totals(2, 2, 6 * S, 0);
    block.iterations = Some(Iterations { first_end_ns: None, newest_ns: vec![4 * S, 2 * S] });
    LiveState {
        at_ns: 10 * S,
        status: Status::Running,
        nodes: nodes.into(),
        totals: vec![block, totals(3, 4, 4 * S, 0), totals(4, 1, S / 2, 1)],
        generated: Generated { steps: 4, blocks: 2, ..Generated::default() },
        ..LiveState::default()
    }
}

fn reading(name: &str, subject: &str, unit: Unit, value: f64, age_ns: u64) -> Reading {
    Reading { info: SeriesInfo::gauge(name, subject, unit), value, at_ns: 0, age_ns }
}

fn process(rank: u32) -> Process {
    Process {
        folder: "/rings".into(),
        identity: Identity { pid: 100 + rank, ..Identity::default() },
        is_alive: Some(true),
        capture: None,
        start_unix_ns: None,
        job_id: None,
        rank: Some(rank),
        forked_from: None,
        outside_of: None,
        waited_for_by: None,
        command: vec![],
    }
}

fn of_rank(rank: u32, look: &LiveState) -> LiveSnapshot {
    Watch::default().take(Some(process(rank)), look.clone())
}

fn now(look: LiveState) -> LiveSnapshot {
    Watch::default().take(None, look)
}

fn told(fleet: &Fleet) -> String {
    fleet.exposition("box", "j", 0)
}

/// The values of a figure.
fn values(text: &str, name: &str) -> Vec<f64> {
    let lines = text.lines().filter(|line| line.starts_with(name));
    let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse().ok());
    values.collect()
}

#[test]
fn cpu_time_of_four_cores_is_a_share_of_them_and_needs_two_readings() {
    let mut watch = Watch::default();
    let mut at = |at_ns, busy, user, system| {
        let cumulative = |name: &str, subject: &str, value| Reading {
            info: SeriesInfo::cumulative(name, subject, Unit::Seconds),
            value,
            at_ns,
            age_ns: 0,
        };
        let mut series = vec![
            cumulative("host.cpu.busy", "", busy),
            cumulative("process.cpu.user", "", user),
            cumulative("process.cpu.system", "", system),
        ];
        series.extend(["0", "1", "2", "3"].map(|core| cumulative("core.cpu.busy", core, 1.0)));
        let look = LiveState { at_ns, series, status: Status::Running, ..LiveState::default() };
        watch.take(None, look).host
    };
    assert_eq!(at(0, 100.0, 5.0, 1.0).cpu_ratio, None);
    // In 2 s, 6 of 8 core seconds were busy; this process took 3 of them.
    let host = at(2 * S, 106.0, 7.5, 1.5);
    assert_eq!((host.cpu_ratio, host.process_cpu_cores), (Some(0.75), Some(1.5)));
}

#[test]
fn what_a_gpu_does_not_say_is_absent_and_old_readings_are_too() {
    let now = now(LiveState {
        status: Status::Running,
        series: vec![
            reading("gpu.memory.used", "GPU-b", Unit::Bytes, 3.0, 0),
            reading("gpu.memory.total", "GPU-b", Unit::Bytes, 12.0, 0),
            reading("gpu.power", "GPU-a", Unit::Watts, 0.0, 0),
            reading("gpu.temperature", "GPU-a", Unit::Celsius, 50.0, 31 * S),
        ],
        ..LiveState::default()
    });
    // In the sampler's order, whatever their names.
    let expected = [
        GpuNow {
            id: "GPU-b".into(),
            memory_used_bytes: Some(3.0),
            memory_total_bytes: Some(12.0),
            ..GpuNow::default()
        },
        GpuNow { id: "GPU-a".into(), power_watts: Some(0.0), ..GpuNow::default() },
    ];
    assert_eq!(now.gpus, expected);
    assert_eq!(now.gpus[0].memory_ratio(), Some(0.25));
    assert_eq!(now.host.memory_ratio(), None);
}

#[test]
fn delivered_frames_go_before_latent_ones() {
    let span = |first_ns, first_frames| Some(ReportSpan { at_ns: 4 * S, first_ns, first_frames });
    let look = LiveState {
        at_ns: 4 * S,
        status: Status::Running,
        generated: Generated {
            block_frames: 6,
            streamed_frames: 24,
            dropped_frames: 1,
            blocks: 2,
            steps: 2,
        },
        report_times: ReportTimes {
            steps: span(3 * S, 0),
            blocks: span(2 * S, 3),
            deliveries: span(2 * S, 12),
        },
        ..LiveState::default()
    };
    let made = now(look.clone()).made;
    assert_eq!(made.frames_per_second, Some(6.0));
    assert_eq!(made.steps_per_second, Some(1.0));
    assert_eq!(made.blocks_per_second, Some(0.5));
    assert_eq!(
        now(look.clone()).block("a"),
        "=== Profiling Metrics (a) ===\n\
         Generation: 6.0 FPS, 0.50 blocks/s, 1.00 steps/s, 1 frame dropped\n"
    );
    let over = LiveState { status: Status::Finished, ..look };
    let made = now(over).made;
    assert_eq!((made.steps, made.steps_per_second), (2, None));
    assert_eq!(now(LiveState::default()).block("a"), "");
}

#[test]
fn another_recording_of_the_process_has_rates_of_its_own() {
    let mut watch = Watch::default();
    let mut rate = |at_ns, steps, first_ns| {
        let span = ReportSpan { at_ns, first_ns, first_frames: 0 };
        let look = LiveState {
            at_ns,
            status: Status::Running,
            generated: Generated { steps, ..Generated::default() },
            report_times: ReportTimes { steps: Some(span), ..ReportTimes::default() },
            ..LiveState::default()
        };
        watch.take(None, look).made.steps_per_second
    };
    assert_eq!(rate(20 * S, 20, S), Some(1.0));
    // As many, so that nothing fell.
    assert_eq!(rate(10 * S, 20, S / 2), Some(2.0));
}

#[test]
fn a_series_grows_between_its_own_readings_and_a_gauge_does_not_grow() {
    let mut watch = Watch::default();
    let mut read = |info: fn(&str, &str, Unit) -> SeriesInfo, value, at_ns| {
        let reading =
            Reading { info: info("disk.read", "sda", Unit::Bytes), value, at_ns, age_ns: 0 };
        let now = watch.take(
            None,
            LiveState {
                at_ns,
                status: Status::Running,
                series: vec![reading],
                ..LiveState::default()
            },
        );
        (now.growth_per_second[0], now.host.disk_read_bytes_per_second)
    };
    let cumulative = SeriesInfo::cumulative;
    assert_eq!(read(cumulative, 1e6, 5 * S), (None, None));
    assert_eq!(read(cumulative, 4e6, 7 * S), (Some(1.5e6), Some(1.5e6)));
    assert_eq!(read(cumulative, 1e6, 8 * S), (None, None), "began anew");
    assert_eq!(read(SeriesInfo::gauge, 1.0, 9 * S), (None, None));
    assert_eq!(read(SeriesInfo::gauge, 2.0, 10 * S), (None, None));
}

#[test]
fn memory_is_of_the_container_where_it_may_use_less_than_the_machine_has() {
    let mut look = look();
    let gauge = |name, mib: f64| reading(name, "", Unit::Bytes, mib * MIB, 0);
    look.series = vec![
        gauge("host.memory.used", 4000.0),
        gauge("host.memory.available", 20_000.0),
        gauge("cgroup.memory.working_set", 300.0),
    ];
    let shown = |limit: f64| {
        let mut look = look.clone();
        look.series.push(gauge("cgroup.memory.limit", limit));
        let host = now(look).host;
        [host.memory_used_bytes, host.memory_total_bytes]
            .map(|bytes| format!("{:.0}", bytes.unwrap() / MIB))
    };
    assert_eq!(shown(400.0), ["300", "400"]);
    assert_eq!(shown(64_000.0), ["4000", "24000"]);
}

/// The readings behind the documented example, and a second GPU.
#[test]
fn consoles_show_what_is_known_and_no_name_acts_on_them() {
    let mut look = look();
    let gib = 1024.0 * MIB;
    look.series = vec![
        reading("gpu.memory.used", "GPU-1", Unit::Bytes, 8420.0 * MIB, 0),
        reading("gpu.memory.total", "GPU-1", Unit::Bytes, 24564.0 * MIB, 0),
        reading("gpu.utilization", "GPU-1", Unit::Ratio, 0.852, 0),
        reading("gpu.temperature", "GPU-1", Unit::Celsius, 72.1, 0),
        reading("host.memory.used", "", Unit::Bytes, 12840.0 * MIB, 0),
        reading("host.memory.available", "", Unit::Bytes, 19928.0 * MIB, 0),
    ];
    let one = now(look.clone());
    assert_eq!(
        one.block("\u{1b}[2J\nGPU: fake"),
        "=== Profiling Metrics (\\x1b[2J\\x0aGPU: fake) ===\n\
         GPU: Memory 8420MB / 24564MB (34.3%), Util 85.2%, Temp 72.1°C\n\
         CPU: Memory 12840MB / 32768MB (39.2%)\n"
    );
    assert_eq!(one.postfix(), "GPU 85%, 8.2/24.0GB, 72°C");
    look.series.push(reading("gpu.power", "GPU-2", Unit::Watts, 80.0, 0));
    look.series.push(reading("gpu.utilization", "GPU-2", Unit::Ratio, 0.0, 0));
    let two = now(look.clone());
    assert_eq!(two.postfix(), "GPU0 85%, 8.2/24.0GB, 72°C, GPU1 0%");
    assert!(two.line().contains(" | GPU 1: Util 0.0%, Power 80.0W | CPU"));
    look.series = vec![reading("process.memory.resident", "", Unit::Bytes, 1.5 * gib, 0)];
    assert_eq!(now(look).postfix(), "RSS 1.5GB");
}

#[test]
fn each_figure_has_its_lines_once_and_texts_of_users_stay_within_their_quotes() {
    let look = look();
    let mut fleet = Fleet::default();
    fleet.take(&of_rank(0, &look));
    fleet.take(&of_rank(1, &look));
    let text = told(&fleet);
    let lines = |start: &str| -> Vec<&str> {
        let found = text.lines().filter(|line| line.contains(start));
        found.collect()
    };
    assert_eq!(
        lines("diffusion_steps_total")[1..],
        [
            "# TYPE diffusion_steps_total counter",
            r#"diffusion_steps_total{host="box",job_id="j",rank="0",pid="100"} 4"#,
            r#"diffusion_steps_total{host="box",job_id="j",rank="1",pid="101"} 4"#,
        ]
    );
    // A line feed is spelled out as \x0a, whose backslash is escaped.
    assert_eq!(
        lines("diffusion_section_errors_total{")[1],
        r#"diffusion_section_errors_total{host="box",job_id="j",rank="0",pid="100",section="de\"code\\x0a"} 1"#
    );
    assert_eq!(
        lines("diffusion_iteration_time_seconds")[2..7],
        [
            r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="100",iteration="block",quantile="0.5"} 3"#,
            r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="100",iteration="block",quantile="0.95"} 4"#,
            r#"diffusion_iteration_time_seconds{host="box",job_id="j",rank="0",pid="100",iteration="block",quantile="0.99"} 4"#,
            r#"diffusion_iteration_time_seconds_count{host="box",job_id="j",rank="0",pid="100",iteration="block"} 2"#,
            r#"diffusion_iteration_time_seconds_sum{host="box",job_id="j",rank="0",pid="100",iteration="block"} 6"#,
        ]
    );
    assert_eq!(told(&Fleet::default()), "");
}

#[test]
fn lookups_without_a_hit_say_so_and_who_looked_up_nothing_says_nothing() {
    let mut look = look();
    let lookups = |look: &LiveState| {
        let mut fleet = Fleet::default();
        fleet.take(&of_rank(0, look));
        values(&told(&fleet), "diffusion_cache_lookups_total")
    };
    assert!(lookups(&look).is_empty());
    look.cache_misses = 3;
    assert_eq!(lookups(&look), [0.0, 3.0]);
}

#[test]
fn recordings_of_one_process_are_added_up_and_what_the_system_counts_is_not() {
    let mut look = look();
    look.series = vec![reading("process.cpu.user", "", Unit::Seconds, 7.0, 0)];
    let mut fleet = Fleet::default();
    for n in 1..=300 {
        fleet.take(&of_rank(0, &look));
        let text = told(&fleet);
        assert_eq!(values(&text, "diffusion_steps_total"), [4.0 * f64::from(n)]);
        assert_eq!(values(&text, "process_cpu_time_seconds_total"), [7.0]);
    }
    fleet.take(&of_rank(1, &look));
    fleet.forget(1, |pid| pid == 100);
    assert_eq!(values(&told(&fleet), "diffusion_steps_total"), [1200.0], "who runs stays");
    fleet.forget(0, |_| false);
    assert!(values(&told(&fleet), "diffusion_steps_total").is_empty());
}

#[test]
fn what_samplers_of_a_recording_counted_stays_when_it_is_over() {
    let mut watch = Watch::default();
    let mut look = look();
    look.series = vec![
        reading("process.cpu.user", "", Unit::Seconds, 7.0, 0),
        reading("gpu.power", "GPU-a", Unit::Watts, 300.0, 0),
    ];
    watch.take(None, look.clone());
    look.series.clear();
    (look.status, look.step) = (Status::Finished, Some(3));
    let mut fleet = Fleet::default();
    fleet.take(&watch.take(None, look));
    let text = told(&fleet);
    assert_eq!(values(&text, "process_cpu_time_seconds_total"), [7.0]);
    assert_eq!(values(&text, "diffusion_process_running"), [0.0]);
    for of_now in ["hw_power_watts", "diffusion_step_number"] {
        assert!(values(&text, of_now).is_empty(), "{of_now}");
    }
}

#[test]
fn a_gpu_that_two_ranks_read_is_told_once_by_the_newest_reading() {
    let with = |power, age_ns, energy| LiveState {
        series: vec![
            reading("gpu.power", "GPU-a", Unit::Watts, power, age_ns),
            reading("gpu.energy", "GPU-a", Unit::Joules, energy, age_ns),
        ],
        ..look()
    };
    let (old, new) = (with(100.0, 5 * S, 50.0), with(300.0, S / 1000, 70.0));
    for [first, second] in [[&old, &new], [&new, &old]] {
        let mut fleet = Fleet::default();
        fleet.take(&of_rank(0, first));
        fleet.take(&of_rank(1, second));
        let text = told(&fleet);
        assert_eq!(values(&text, "hw_power_watts"), [300.0]);
        assert_eq!(values(&text, "hw_energy_joules_total"), [70.0]);
    }
    let mut fleet = Fleet::default();
    fleet.take(&of_rank(0, &with(100.0, 31 * S, 50.0)));
    let power = values(&told(&fleet), "hw_power_watts");
    assert!(power.is_empty(), "read long ago");
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let mut look = look();
    let names = (0..300).map(|n| node(Some(0), &format!("s{n}"), NodeKind::Section));
    let root = node(None, "", NodeKind::Section);
    look.nodes = [root].into_iter().chain(names).collect();
    let totals = |node| Totals { node, count: 1, ..Totals::default() };
    look.totals = (1..=300).map(totals).collect();
    let mut fleet = Fleet::default();
    fleet.take(&of_rank(0, &look));
    let text = fleet.exposition("box", "j", 3);
    assert_eq!(values(&text, "diffusion_sections_left_out"), [100.0]);
    assert_eq!(values(&text, "diffusion_section_calls_total").len(), 200);
    assert_eq!(values(&text, "diffusion_processes_left_out"), [3.0]);
}

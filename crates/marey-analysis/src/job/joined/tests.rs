use marey::{Generation, MemoryReading, Status};
use marey_testing::RunBuilder;

use super::*;
use crate::{UnderNoSection, sections};

fn process(pid: u32, start_unix_ns: u64, script: &str, drawn: RunBuilder, wall_ns: u64) -> Run {
    drawn
        .with(|run| {
            run.info.pid = pid;
            run.info.start_unix_ns = start_unix_ns;
            run.info.command = vec!["python".into(), format!("/home/me/{script}")];
            run.threads[0].os_id = pid;
        })
        .finish(wall_ns)
}

fn command(start_unix_ns: u64, wall_ns: u64) -> Run {
    let mut run = Run { wall_ns, status: Status::Finished, ..Run::default() };
    run.info.start_unix_ns = start_unix_ns;
    run.info.command = vec!["bash".into(), "both.sh".into()];
    run
}

/// ```text
///            100      300   400   500                2500  2600
/// both.sh     |=========================================|
/// encode.py      |--200--|                                        from 110: text_encoding 120..320
/// generate.py                     |-------2000--------|           from 450: denoise 500..2500
/// ```
#[test]
fn two_programs_of_a_script_are_one_job_of_the_scripts_length() {
    let encode = RunBuilder::new().section("text_encoding", 10, 210, |_| {});
    let generate = RunBuilder::new().section("denoise", 50, 2050, |s| {
        s.section("transformer", 60, 1060, |_| {});
    });
    let parts = vec![
        process(7, 110, "encode.py", encode, 220),
        process(8, 450, "generate.py", generate, 2100),
    ];
    let job = joined(parts, 0, Some(&command(100, 2500)));
    assert_eq!((job.wall_ns, job.info.start_unix_ns), (2500, 100));
    assert_eq!(job.info.command, ["bash", "both.sh"]);
    let names: Vec<&str> = job.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["encode.py 7: main", "generate.py 8: main"]);

    let answer = sections(&job);
    let row = |name: &str| answer.tree.iter().find(|row| row.name == name).unwrap();
    assert_eq!(row("text_encoding").inclusive_ns, 200);
    assert_eq!(row("denoise").inclusive_ns, 2000);
    assert_eq!(row("denoise").self_ns, Some(1000));
    // 2500 - 200 - 2000
    assert_eq!(answer.under_no_section, UnderNoSection::Known(300));
    let starts: Vec<u64> = job.sections.iter().map(|s| s.start_ns).collect();
    assert_eq!(starts, [20, 410, 400]);
}

/// ```text
/// main       |-------- pool --------|
/// worker 1      |decode|                      the same call path in both
/// worker 2      |----decode----|
/// ```
#[test]
fn calls_of_a_pools_workers_stand_together_and_the_helper_of_the_pool_adds_no_time() {
    let pool = RunBuilder::new().section("pool", 0, 100, |_| {});
    let worker = |end| RunBuilder::new().section("decode", 10, end, |_| {});
    let parts = vec![
        process(1, 1000, "main.py", pool, 110),
        process(2, 1000, "main.py", worker(20), 25),
        process(3, 1005, "main.py", worker(60), 70),
    ];
    let job = joined(parts, 0, None);
    assert_eq!(job.wall_ns, 110);
    let answer = sections(&job);
    let decode = answer.tree.iter().find(|row| row.name == "decode").unwrap();
    assert_eq!((decode.calls.count, decode.inclusive_ns), (2, 60));
    assert_eq!((decode.calls.min_ns, decode.calls.max_ns), (Some(10), Some(50)));
    assert_eq!(answer.under_no_section, UnderNoSection::Known(10));
}

#[test]
fn what_belongs_to_a_session_belongs_to_it_after_sessions_of_others_came_before() {
    let frames = |count| Generation::DroppedFrames { count };
    let early =
        RunBuilder::new().session("b", 50, Some(80), Vec::new()).generation(60, Some(0), frames(1));
    let late = RunBuilder::new()
        .session("a", 10, Some(20), Vec::new())
        .session("c", 90, None, Vec::new())
        .generation(15, Some(0), frames(2))
        .generation(95, Some(1), frames(3));
    let parts = vec![process(1, 0, "x.py", early, 100), process(2, 1, "y.py", late, 100)];
    let job = joined(parts, 0, None);
    let names: Vec<&str> = job.sessions.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let said: Vec<(Option<u32>, Generation)> =
        job.generation.iter().map(|g| (g.session, g.what.clone())).collect();
    let expected = [(Some(0), frames(2)), (Some(1), frames(1)), (Some(2), frames(3))];
    assert_eq!(said, expected);
    let mut numbers: Vec<u64> = job.sessions.iter().map(|s| s.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 3);
}

#[test]
fn memory_of_two_processes_is_no_one_curve() {
    let reading = |at_ns, bytes, label: Option<&str>| MemoryReading {
        at_ns,
        label: label.map(Into::into),
        source: MemorySource::Process,
        allocated_bytes: bytes,
        reserved_bytes: None,
        peak_bytes: None,
        session: None,
    };
    let read = |readings: &[MemoryReading]| {
        readings.iter().fold(RunBuilder::new(), |drawn, one| drawn.memory(one.clone()))
    };
    let main = read(&[reading(0, 10, None), reading(9, 20, None)]);
    let other = read(&[reading(1, 5, Some("mine")), reading(2, 90, None), reading(3, 70, None)]);
    let parts = vec![process(1, 0, "x.py", main, 10), process(2, 0, "y.py", other, 10)];
    let job = joined(parts, 0, None);
    let bytes: Vec<u64> = job.memory.iter().map(|r| r.allocated_bytes).collect();
    assert_eq!(bytes, [10, 5, 90, 20]);
}

#[test]
fn one_process_without_a_launcher_stays_as_it_is() {
    let drawn = RunBuilder::new()
        .section("a", 0, 10, |s| {
            s.iteration("step", 1, 5, |_| {});
            s.iteration("step", 5, 9, |_| {});
        })
        .session("s", 0, Some(9), Vec::new());
    let run = process(4, 77, "x.py", drawn, 12);
    assert_eq!(joined(vec![run.clone()], 0, None), run);
}

/// ```text
/// process 1   0     10     20           reads the machine at 5 and 15
/// process 2         10     20     30    at 12 (known already), 22
/// ```
#[test]
fn the_machine_is_read_by_one_process_after_the_other_and_a_process_is_main_alone() {
    let read = |name: &str, subject, readings: &[(u64, f64)]| {
        (marey::SeriesInfo::gauge(name, subject, marey::Unit::Ratio), readings.to_vec())
    };
    let drawn = |series: Vec<(marey::SeriesInfo, Vec<(u64, f64)>)>| {
        series
            .into_iter()
            .fold(RunBuilder::new(), |drawn, (info, readings)| drawn.series(info, &readings))
    };
    let first = drawn(vec![
        read("host.cpu.busy", "", &[(5, 0.1), (15, 0.2)]),
        read("process.cpu.user", "", &[(5, 1.0)]),
    ]);
    let second = drawn(vec![
        read("gpu.power", "a", &[(2, 9.0)]),
        read("host.cpu.busy", "", &[(2, 0.9), (12, 0.3)]),
        read("process.cpu.user", "", &[(12, 2.0)]),
    ]);
    let parts = vec![process(1, 0, "x.py", first, 20), process(2, 10, "y.py", second, 20)];
    let job = joined(parts, 0, None);
    let said: Vec<(&str, Vec<(u64, f64)>)> = job
        .series
        .iter()
        .map(|one| {
            (one.info.name.as_str(), one.points.iter().map(|p| (p.first_ns, p.last)).collect())
        })
        .collect();
    assert_eq!(
        said,
        [
            ("gpu.power", vec![(12, 9.0)]),
            ("host.cpu.busy", vec![(5, 0.1), (15, 0.2), (22, 0.3)]),
            ("process.cpu.user", vec![(5, 1.0)]),
        ]
    );
}

#[test]
fn the_end_of_a_helper_is_not_that_of_a_command_which_ended_well() {
    let part = |pid: u32, ended: Status| {
        let drawn = RunBuilder::new().section("decode", 10, 60, |_| {});
        process(pid, 110, "worker.py", drawn.with(|run| run.status = ended), 70)
    };
    let killed = |pid: u32| part(pid, Status::EndedWithoutClosing);
    let status = |part: Run, exit_code: i32, oom_kills: u64| {
        let launch = Launch {
            pid: 7,
            exit_code: Some(exit_code),
            oom_kills: Some(oom_kills),
            ..Launch::default()
        };
        let mut around = command(100, 500);
        around.status = launch.status().unwrap();
        around.info.facts = launch.facts();
        let mut job = joined(vec![part], 0, Some(&around));
        job.info.facts.extend(launch.facts());
        job.ending()
    };
    assert_eq!(status(killed(8), 0, 0), Status::Finished);
    // Of a command that failed the helper knows more than an exit code.
    let failed = Status::Failed("ValueError".into());
    assert_eq!(status(part(8, failed.clone()), 0, 0), Status::Finished);
    assert_eq!(status(part(8, failed.clone()), 1, 0), failed);
    // Whatever the exit code, it is said that the kernel killed a process for lack of memory.
    let no_memory = |code: i32| {
        let reason = format!("the kernel killed 1 process, exit code {code}");
        Status::OutOfMemory(reason)
    };
    for whole in [killed(8), part(7, Status::Finished), part(8, Status::Finished)] {
        assert_eq!(status(whole, 0, 1), no_memory(0));
    }
    assert_eq!(status(part(7, Status::Finished), 1, 1), no_memory(1));
}

//! Programs that record nothing themselves: `marey run` samples them from outside.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use marey::{Run, Status};
use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Place, err, example, unsampled, words};

/// `marey run -- sh -c SCRIPT …`, not started. The script waits for a line, or the end of its input, before it goes on.
fn shell(place: &Place, script: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(&["run", "--full", "--", "/bin/sh", "-c"]);
    command
        .arg(format!("read line; {script}"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Captures from outside.
fn outside(place: &Place) -> Vec<PathBuf> {
    let mut captures = place.captures();
    captures.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("outside-"));
    captures
}

/// Readings of the program's own processor time so far.
fn readings(place: &Place) -> u32 {
    let runs = outside(place).into_iter().filter_map(|path| marey::load(&path).ok());
    let series = runs.flat_map(|run| run.series);
    let cpu = series.filter(|series| series.info.name == "process.cpu.user");
    cpu.flat_map(|series| series.points).map(|p| p.count).sum()
}

/// Waits until the program was read so many times.
fn wait_for_readings(n: u32, place: &Place, marey: &mut Child) {
    while readings(place) < n {
        assert!(marey.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

/// Starts it, and waits until it is sampled.
fn sampled(place: &Place, command: &mut Command) -> Child {
    let mut marey = command.spawn().unwrap();
    wait_for_readings(1, place, &mut marey);
    marey
}

fn only_run(place: &Place) -> Run {
    let captures = place.captures();
    assert_eq!(captures.len(), 1, "{captures:?}");
    marey::load(&captures[0]).unwrap()
}

/// The last reading of a series.
fn last(run: &Run, name: &str) -> f64 {
    let series = run.series.iter().find(|series| series.info.name == name);
    let series = series.unwrap_or_else(|| panic!("no {name} among {:?}", run.unavailable));
    series.points.last().unwrap().max
}

/// Seconds in a line of the shell's `times`: `0m1.250000s 0m0.010000s`.
fn seconds(line: &str) -> f64 {
    let times = line.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    times.sum()
}

#[test]
fn what_it_used_is_what_it_says_itself() {
    let place = Place::new();
    // A shell works until it has used 20 hundredths of a second.
    let script = "work() { u=0; s=0; while [ $((u + s)) -lt 20 ]; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; \
                  read -r _ _ _ _ _ _ _ _ _ _ _ _ _ u s _ < /proc/self/stat; done; }; \
                  head -c 3000000 /dev/zero > written; (work); work; \
                  times; while read key value; do [ $key != wchar: ] || echo $value; done < /proc/$$/io; read line";
    let mut command = shell(&place, script, &[]);
    let mut marey = sampled(&place, command.env("MAREY_CPU_MONITOR_INTERVAL", "0.1"));
    marey.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let said = BufReader::new(marey.stdout.take().unwrap()).lines();
    let lines: Vec<String> = said.take(3).map(Result::unwrap).collect();
    // The first of these may have begun before it said so.
    let n = readings(&place) + 2;
    wait_for_readings(n, &place, &mut marey);
    let output = marey.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "read finds the end of its input");
    let (own, childrens) = (seconds(&lines[0]), seconds(&lines[1]));
    let written: f64 = lines[2].parse().unwrap();
    let run = only_run(&place);
    assert_eq!(run.status, Status::Failed("exit code 1".into()));
    let cpu = last(&run, "process.cpu.user") + last(&run, "process.cpu.system");
    // Counted in hundredths; a little is used after the program said it.
    assert!((cpu - own).abs() < 0.06, "{cpu} and {own}");
    assert!(own > 0.15 && childrens > 0.15, "{own} and {childrens}");
    let found = last(&run, "children.cpu.time");
    assert!((found - childrens).abs() < 0.06, "{found} and {childrens}");
    assert!(last(&run, "process.memory.resident") > 0.0);
    let found = last(&run, "process.io.written");
    assert!(written >= 3e6 && (0.0..1000.0).contains(&(found - written)), "{found} and {written}");
}

#[test]
fn the_summary_says_that_it_was_sampled_from_outside_and_why() {
    let place = Place::new();
    let marey = sampled(&place, &mut shell(&place, "exit 3", &["-", "--prompt", "secret"]));
    let output = marey.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = err(&output);
    let shown = words(&said);
    let expected = " Recording Sampled from outside, the program recorded nothing itself: the program is neither a Python that Marey can enter";
    for part in [expected, " MACHINE ", "Memory of the process", " Status failed: exit code 3 "] {
        assert!(shown.contains(part), "{part}: {said}");
    }
    assert!(said.ends_with("\nmarey: reports are in out/job\n"), "{said}");
    assert!(shown.contains(" - --prompt <redacted>"), "{said}");
    assert!(words(&place.read("out/timing_summary.txt")).contains(expected));
    assert!(place.read("out/job/run.json").contains("\"sampled_from_outside\": true"));
    let run = only_run(&place);
    assert_eq!(run.status, Status::Failed("exit code 3".into()));
    assert!(run.memory.is_empty(), "Marey's own memory is nobody's business");
    let report = place.command(&["report", "--full", "out/job"]).output().unwrap();
    assert!(words(&String::from_utf8(report.stdout).unwrap()).contains(expected));
    assert!(!place.path("rings").exists());
}

#[test]
fn a_python_that_cannot_be_entered_is_sampled_from_its_start_to_its_end() {
    let place = Place::new();
    let code = "import os, sys, time\nprint(os.getpid(), time.time_ns(), flush=True)\nsys.stdin.read()\nprint(time.time_ns())";
    let mut command = place.command(&["run", "--quiet", "--", "python3", "-I", "-c", code]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let marey = sampled(&place, &mut command);
    let output = marey.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let numbers: Vec<u64> = printed.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let run = only_run(&place);
    assert_eq!(u64::from(run.info.pid), numbers[0]);
    assert!(run.info.start_unix_ns <= numbers[1], "{:?}", run.info);
    assert!(run.info.start_unix_ns + run.wall_ns >= numbers[2], "{:?}", run.info);
    assert_eq!(run.info.command[..2], ["python3", "-I"]);
    let why = run.info.facts.iter().find(|(key, _)| key == "outside_because");
    assert!(why.unwrap().1.starts_with("its option -I "), "{why:?}");
    assert!(!err(&output).contains("reports are in"), "{}", err(&output));
}

#[test]
fn a_program_that_records_itself_late_is_described_by_itself() {
    let place = Place::new();
    let marey = sampled(
        &place,
        &mut shell(&place, r#"exec "$0" section=late"#, &[example().to_str().unwrap()]),
    );
    let output = marey.wait_with_output().unwrap();
    let said = err(&output);
    assert!(said.contains("late") && !said.contains("from outside"), "{said}");
    assert!(outside(&place).is_empty());
    assert_eq!(only_run(&place).sections.len(), 1);
    assert!(!place.path("rings").exists());
}

#[test]
fn sampling_from_outside_ends_when_the_program_records_itself() {
    let place = Place::new();
    let script = r#""$0" section=late; read line"#;
    let mut marey = sampled(&place, &mut shell(&place, script, &[example().to_str().unwrap()]));
    marey.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    while !outside(&place).is_empty() {
        assert!(marey.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let output = marey.wait_with_output().unwrap();
    assert!(err(&output).contains("late"), "{}", err(&output));
    assert_eq!(only_run(&place).sections.len(), 1);
}

#[test]
fn a_kill_is_told_as_one() {
    let place = Place::new();
    let mut marey = sampled(&place, &mut shell(&place, "", &[]));
    let run = only_run(&place);
    assert_eq!(run.status, Status::Running);
    kill_process(Pid::from_raw(run.info.pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
    assert_eq!(marey.wait().unwrap().signal(), Some(9));
    assert_eq!(only_run(&place).status, Status::Killed(9));
    assert!(words(&place.read("out/timing_summary.txt")).contains("Status killed by SIGKILL (9)"));
}

#[test]
fn signals_are_passed_on_while_it_is_sampled() {
    let place = Place::new();
    let mut command =
        place.command(&["run", "--", "/bin/sh", "-c", "trap 'exit 7' USR1; while :; do :; done"]);
    let mut marey = sampled(&place, command.stderr(Stdio::null()));
    kill_process(Pid::from_child(&marey), Signal::USR1).unwrap();
    assert_eq!(marey.wait().unwrap().code(), Some(7));
    assert_eq!(only_run(&place).status, Status::Failed("exit code 7".into()));
}

#[test]
fn marey_top_shows_it_under_the_programs_name_and_number() {
    let place = Place::new();
    let marey = sampled(&place, &mut shell(&place, "", &["--a-program"]));
    let pid = only_run(&place).info.pid;
    let top = place
        .command(&["top", "--interval", "0.1", "--once", "--json", &pid.to_string()])
        .output()
        .unwrap();
    marey.wait_with_output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&top.stdout).unwrap();
    let process = &document["processes"][0];
    assert_eq!(process["pid"], pid, "{document}");
    assert_eq!(process["command"][3], "--a-program", "{document}");
}

#[test]
fn what_was_seen_from_outside_is_never_the_main_process_beside_another() {
    let place = Place::new();
    let mut command = shell(&place, "", &[]);
    // Killed, it leaves what it made for Python: here.
    command.env("TMPDIR", place.path("")).env_remove("XDG_RUNTIME_DIR");
    let mut marey = sampled(&place, &mut command);
    marey.kill().unwrap();
    marey.wait().unwrap();
    // Of the same job, later, and without a section.
    let mut program = Command::new(example());
    program
        .env("MAREY_ENABLED", "1")
        .env("MAREY_RING_DIR", place.path("rings"))
        .env("MAREY_OUTPUT_DIR", place.out())
        .env("MAREY_JOB_ID", "job");
    assert!(program.status().unwrap().success());
    let report = place.command(&["report", "--full", "out/job"]).output().unwrap();
    let said = String::from_utf8(report.stdout).unwrap();
    assert!(words(&said).contains("Status finished"), "{said}");
    let others = said.split_once("Other processes of this job:\n").unwrap().1;
    assert!(others.starts_with("outside-"), "{said}");
    assert!(
        others.contains("ended without closing its capture") && others.contains("from outside"),
        "{said}"
    );
}

#[test]
fn where_nothing_is_to_be_sampled_nothing_is_recorded() {
    let place = Place::new();
    let command = place.command(&["run", "--full", "--", "python3", "-I", "-c", "print(1)"]);
    let output = unsampled(command).output().unwrap();
    assert_eq!(output.stdout, b"1\n");
    assert!(
        err(&output).contains("marey: nothing was recorded: its option -I "),
        "{}",
        err(&output)
    );
    assert!(place.captures().is_empty(), "{:?}", place.files());
}

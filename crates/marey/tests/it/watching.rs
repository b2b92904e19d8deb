//! Looking at a process from outside while it lives, and after its death.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use marey::live::{Live, LiveState, Process, processes};
use marey::{Generated, Generation, Losses, NodeKind, ReportTimes, Status};

use crate::flood::Flood;
use crate::program::{captures, recorded, rings};

/// The example `watched`, which does one thing a line.
struct Watched {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Watched {
    fn start(folder: &Path) -> Self {
        let mut program = recorded("watched", folder);
        program.env("RANK", "3");
        // The only sampler is the scripted one.
        program.env("MAREY_MONITOR_CPU_USAGE", "0");
        program.env("MAREY_MONITOR_SYSTEM_MEMORY", "0");
        let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().expect("examples are built");
        Self {
            to: process.stdin.take().unwrap(),
            from: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// Returns when it is done.
    fn does(&mut self, what: &str) {
        writeln!(self.to, "{what}").unwrap();
        let mut said = String::new();
        self.from.read_line(&mut said).unwrap();
        assert_eq!(said, "ok\n", "{what}");
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn only_process(folder: &Path) -> Process {
    let found = processes(&rings(folder));
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap()
}

fn attach(folder: &Path) -> Live {
    Live::attach(&only_process(folder).folder).unwrap()
}

/// Paths of the nodes with calls, and their counts.
fn counts(look: &LiveState) -> Vec<(String, u64)> {
    let totals = look.totals.iter();
    totals.map(|totals| (look.path(totals.node).join(">"), totals.count)).collect()
}

fn open(look: &LiveState) -> Vec<String> {
    let open = look.open.iter();
    open.map(|open| look.path(open.node).join(">")).collect()
}

#[test]
fn a_recording_process_is_found_with_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let process = only_process(folder.path());
    assert_eq!(process.identity.pid, watched.process.id());
    assert_eq!(process.is_alive, Some(true));
    assert_eq!(process.capture, captures(folder.path()).pop());
    assert_eq!((process.job_id.as_deref(), process.rank), (Some("job"), Some(3)));
    assert!(process.command[0].ends_with("examples/watched"), "{:?}", process.command);
    assert_eq!(process.forked_from, None);
    let run = marey::load(&process.capture.unwrap()).unwrap();
    assert_eq!(process.start_unix_ns, Some(run.info.start_unix_ns));
}

#[test]
fn a_rank_that_is_said_late_counts_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let live = attach(folder.path());
    assert_eq!((live.said_rank(), live.process().rank), (None, Some(3)));
    for rank in [5, 0] {
        watched.does(&format!("rank {rank} 8"));
        assert_eq!(live.said_rank(), Some(rank));
        assert_eq!(live.process().rank, Some(rank));
        assert_eq!(only_process(folder.path()).rank, Some(rank));
    }
    watched.does("finish");
    let run = marey::load(&captures(folder.path())[0]).unwrap();
    assert_eq!(run.info.rank, Some(0), "as the capture says");
    // What is said between two recordings is of the second.
    watched.does("rank 2 8");
    watched.does("again");
    assert_eq!(only_process(folder.path()).rank, Some(2));
}

#[test]
fn a_look_has_the_step_that_was_reported_last_and_what_came_of_lookups() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let mut live = attach(folder.path());
    let mut seen = || {
        let look = live.look();
        (look.step, look.cache_hits, look.cache_misses)
    };
    assert_eq!(seen(), (None, 0, 0));
    for what in ["cache hit 3", "cache miss 2", "cache lookup 7", "cache eviction 5", "at 0"] {
        watched.does(what);
    }
    assert_eq!(seen(), (Some(0), 3, 2), "only what came of a lookup counts");
    watched.does("at 41");
    assert_eq!(seen().0, Some(41));
    watched.does(&format!("at {}", u64::MAX));
    assert_eq!(seen().0, None, "no room for it, so it is not known");
    watched.does("at 41");
    watched.does("at -");
    assert_eq!(seen().0, None, "the last one had no number");
    watched.does("at 7");
    assert_eq!(live.look().schedule, None);
    watched.does("schedule 7 20");
    assert_eq!(live.look().schedule, Some((7, 20)));
    watched.does("finish");
    watched.does("again");
    let look = attach(folder.path()).look();
    let of_this_recording = (look.step, look.cache_hits, look.schedule);
    assert_eq!(of_this_recording, (None, 0, None));
}

#[test]
fn a_look_has_what_the_process_did_and_what_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section load 2");
    watched.does("open pipeline");
    watched.does("open denoise");
    watched.does("turn denoising_step 300");
    let mut live = attach(folder.path());
    let look = live.look();
    assert_eq!((look.status.clone(), look.is_alive), (Status::Running, Some(true)));
    assert_eq!(
        counts(&look),
        [("load".into(), 2), ("pipeline>denoise>denoising_step".into(), 300)]
    );
    assert_eq!(open(&look), ["pipeline", "pipeline>denoise"]);
    assert_eq!(look.path(look.phase().unwrap().node), ["pipeline", "denoise"]);
    assert_eq!(look.losses, Losses::default());
    let [outer, inner] = look.open[..] else { panic!("{:?}", look.open) };
    assert!(0 < outer.start_ns && outer.start_ns <= inner.start_ns);
    assert!(inner.start_ns <= look.at_ns);

    let steps = look.newest_loop().unwrap();
    assert_eq!(look.kind(steps.node), NodeKind::Iteration);
    assert!(steps.min_ns <= steps.last_ns && steps.last_ns <= steps.max_ns);
    assert!(steps.sum_ns >= 300 * steps.min_ns && steps.sum_ns <= 300 * steps.max_ns);
    assert!(inner.start_ns <= steps.last_end_ns && steps.last_end_ns <= look.at_ns);
    // The newest 256 of 300 iterations; the last of them is the last iteration.
    let iterations = steps.iterations.as_ref().unwrap();
    assert_eq!(iterations.newest_ns.len(), 256);
    assert_eq!(iterations.newest_ns.last(), Some(&steps.last_ns));
    assert!(iterations.newest_ns.iter().all(|ns| (steps.min_ns..=steps.max_ns).contains(ns)));
    assert_eq!(look.totals_of(look.totals[0].node).unwrap().iterations, None, "a section");

    // The second look sees what came since, and nothing twice.
    watched.does("close");
    watched.does("turn other_loop 5");
    let later = live.look();
    assert_eq!(open(&later), ["pipeline"]);
    let newest = later.newest_loop().unwrap();
    assert_eq!(later.path(newest.node), ["pipeline", "other_loop"]);
    assert_eq!(newest.iterations.as_ref().unwrap().newest_ns.len(), 5);
    // Of the newest iterations, whatever lies between the looks.
    let steps = later.totals_of(steps.node).unwrap();
    let (first_ns, n_since) = steps.turns_since().unwrap();
    assert_eq!(n_since, 255);
    assert!(inner.start_ns <= first_ns && first_ns < steps.last_end_ns);
    watched.does("turn other_loop 5");
    let again = live.look();
    let again = again.totals_of(newest.node).unwrap();
    assert_eq!(again.turns_since().unwrap().1, 9);
}

#[test]
fn reports_are_seen_with_the_times_that_the_capture_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let mut live = attach(folder.path());
    assert_eq!(live.look().report_times, ReportTimes::default());
    watched.does("step 1");
    let first = live.look().report_times;
    assert_eq!(first.steps.map(|step| step.first_ns), first.steps.map(|step| step.at_ns));
    watched.does("step 2");
    watched.does("block 3");
    watched.does("streamed 12");
    watched.does("block 4");
    let seen = live.look().report_times;
    watched.does("finish");
    let run = marey::load(&captures(folder.path())[0]).unwrap();
    let ends = |is_it: fn(&Generation) -> bool| {
        let records = run.generation.iter().filter(|r| is_it(&r.what));
        let times: Vec<u64> = records.map(|record| record.at_ns).collect();
        [*times.last().unwrap(), times[0]]
    };
    let steps = ends(|what| matches!(what, Generation::Step(_)));
    let blocks = ends(|what| matches!(what, Generation::Block(_)));
    let deliveries = ends(|what| matches!(what, Generation::Streaming(_)));
    for (seen, written, frames) in
        [(seen.steps, steps, 0), (seen.blocks, blocks, 3), (seen.deliveries, deliveries, 12)]
    {
        let seen = seen.unwrap();
        assert_eq!(seen.first_frames, frames);
        let times = [seen.at_ns, seen.first_ns];
        // The slope of the clock is known better in the end.
        for (live, exact) in times.iter().zip(written) {
            assert!(live.abs_diff(exact) <= exact / 1000 + 1000, "{live} and {exact}");
        }
    }
}

#[test]
fn what_live_totals_say_is_what_the_capture_says_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1000");
    watched.does("turn b 77");
    let look = attach(folder.path()).look();
    watched.does("finish");
    let run = marey::load(&captures(folder.path())[0]).unwrap();
    for seen in &look.totals {
        let written = &run.totals[seen.node as usize];
        assert_eq!(seen.count, written.count);
        assert_eq!(look.nodes[seen.node as usize], run.nodes[seen.node as usize]);
        // The slope of the clock is known better in the end: an anchor is the tightest of five attempts, so the first slope is exact to 0.02 %, and
        // the system may let its own clock run 0.05 % faster or slower meanwhile.
        for (live, exact) in [
            (seen.sum_ns, written.sum_ns),
            (seen.min_ns, written.min_ns),
            (seen.max_ns, written.max_ns),
        ] {
            assert!(live.abs_diff(exact) <= exact / 1000 + 2, "{live} and {exact}");
        }
    }
}

#[test]
fn readings_and_reports_of_the_program_are_shown_with_their_age() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let mut live = attach(folder.path());
    assert_eq!(live.look().generated, Generated::default());
    watched.does("sample 1048576 0.75 1000");
    watched.does("step 4");
    watched.does("block 3");
    watched.does("streamed 12");
    watched.does("dropped 2");
    let first = live.look();
    let generated =
        Generated { steps: 4, blocks: 1, block_frames: 3, streamed_frames: 12, dropped_frames: 2 };
    assert_eq!(first.generated, generated);
    watched.does("sample 2097152 0.5 5000");
    watched.does("streamed 8");
    let second = live.look();
    let value = |look: &LiveState, name: &str| {
        let found = look.series.iter().find(|reading| reading.info.name == name);
        found.map(|reading| reading.value)
    };
    assert_eq!(value(&first, "process.memory.resident"), Some(1_048_576.0));
    assert_eq!(value(&second, "process.memory.resident"), Some(2_097_152.0));
    assert_eq!(value(&second, "gpu.utilization"), Some(0.5));
    assert_eq!(value(&second, "sampler.missed").map(|n| n >= 0.0), Some(true));
    let read = second.series.iter().find(|r| r.info.name == "process.disk.read").unwrap();
    // A sampler may read while somebody looks.
    let seen_ns = second.at_ns.max(read.at_ns);
    assert_eq!(read.at_ns + read.age_ns, seen_ns);
    let before = first.series.iter().find(|r| r.info == read.info).unwrap();
    assert!(before.at_ns < read.at_ns);
    assert_eq!((before.value, read.value), (1000.0, 5000.0));
}

#[test]
fn a_value_that_was_not_to_be_had_is_absent() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let look = attach(folder.path()).look();
    assert!(look.series.iter().all(|reading| !reading.info.name.starts_with("gpu")));
    assert!(look.newest_loop().is_none());
}

#[test]
fn a_killed_process_is_looked_at_as_it_died() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("open vae_decode");
    watched.does("turn step 3");
    let mut live = attach(folder.path());
    assert!(live.look().is_running());
    watched.does("turn step 4");
    watched.kill();
    let dead = live.look();
    assert_eq!((dead.status.clone(), dead.is_alive), (Status::EndedWithoutClosing, Some(false)));
    assert_eq!(open(&dead), ["vae_decode"]);
    assert_eq!(counts(&dead), [("vae_decode>step".into(), 7)]);
    let again = live.look();
    assert_eq!(again, dead, "the dead do not age");
    assert_eq!(only_process(folder.path()).is_alive, Some(false), "a leftover");
    // Whoever saw it die says how: the rings go, and what was mapped is still there.
    marey::close_leftovers(&rings(folder.path()), |_| Status::Killed(9));
    assert_eq!(processes(&rings(folder.path())), []);
    let told = live.look();
    assert_eq!(told.status, Status::Killed(9));
    assert_eq!(counts(&told), counts(&dead));
}

#[test]
fn a_recording_that_was_closed_is_over_though_its_process_lives() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let mut live = attach(folder.path());
    watched.does("finish");
    let look = live.look();
    assert_eq!((look.status.clone(), look.is_alive), (Status::Finished, Some(true)));
    watched.kill();
    assert_eq!(live.look().status, Status::Finished);
}

#[test]
fn a_process_that_ends_before_one_attaches_is_simply_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("section a 1");
    let process = only_process(folder.path());
    watched.does("finish");
    assert!(Live::attach(&process.folder).is_none());
    assert!(Live::attach(folder.path()).is_none());
    assert_eq!(processes(folder.path()), []);
    assert_eq!(processes(&folder.path().join("nowhere")), []);
}

#[test]
fn lanes_that_come_later_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut flood = Flood::start(folder.path(), 2, "open", &[]);
    let mut live = loop {
        if let Some(process) = processes(&rings(folder.path())).first()
            && let Some(live) = Live::attach(&process.folder)
        {
            break live;
        }
        flood.assert_runs();
    };
    let mut last = 0;
    for _ in 0..200 {
        let look = live.look();
        let n: u64 = look.totals.iter().map(|totals| totals.count).sum();
        assert!(n >= last);
        last = n;
        for totals in &look.totals {
            assert!(totals.max_ns <= totals.sum_ns && totals.min_ns <= totals.max_ns);
        }
    }
    while live.look().totals.is_empty() {
        flood.assert_runs();
    }
}

/// Every word of the shared files in turn is something else, as is every length.
#[test]
fn damaged_files_are_looked_at_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    watched.does("open a");
    watched.does("turn b 9");
    watched.does("sample 1 0.5 2");
    watched.kill();
    let whole = only_process(folder.path()).folder;
    let copy = folder.path().join("copy/1-1");
    fs::create_dir_all(&copy).unwrap();
    let files: Vec<_> = fs::read_dir(&whole).unwrap().map(|f| f.unwrap().path()).collect();
    for file in &files {
        fs::copy(file, copy.join(file.file_name().unwrap())).unwrap();
    }
    let values = [0, 1, 0xffff, u64::from(u32::MAX), 1 << 40, 1 << 63, u64::MAX];
    let mut n_looks = 0;
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let target = copy.join(file.file_name().unwrap());
        // All words of the header, then whatever is not zero.
        let words = (0..bytes.len() / 8)
            .filter(|at| *at < 128 || (bytes[at * 8..at * 8 + 8] != [0; 8] && at % 7 == 0));
        for at in words {
            let mut damaged = bytes.clone();
            damaged[at * 8..at * 8 + 8].copy_from_slice(&values[at % values.len()].to_le_bytes());
            fs::write(&target, &damaged).unwrap();
            processes(copy.parent().unwrap());
            if let Some(mut live) = Live::attach(&copy) {
                let look = live.look();
                look.open.iter().for_each(|open| drop(look.path(open.node)));
                assert_eq!(live.look().status, look.status);
                n_looks += 1;
            }
        }
        for length in [0, 8, 100, 4096, bytes.len() / 2] {
            fs::write(&target, &bytes[..length.min(bytes.len())]).unwrap();
            if let Some(mut live) = Live::attach(&copy) {
                live.look();
            }
        }
        fs::write(&target, &bytes).unwrap();
    }
    assert!(n_looks > 100, "{n_looks}");
}

#[test]
fn passes_of_a_step_are_counted_as_one_live() {
    let folder = tempfile::tempdir().unwrap();
    let mut watched = Watched::start(folder.path());
    // Guided: two passes each; a number that never changes is counted by fours at least.
    for line in ["at 0", "at 0", "at 1", "at 1", "at 2"] {
        watched.does(line);
    }
    let mut live = attach(folder.path());
    assert_eq!(live.look().generated.steps, 3);
    for _ in 0..6 {
        watched.does("at 2");
    }
    assert_eq!(live.look().generated.steps, 4);
    watched.does("finish");
}

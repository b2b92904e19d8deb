//! What it costs a recording process to be looked at, as `marey top` does.
//!
//! One process records in rounds of batches; this one looks at it in every second round, ten times a second (`marey top` looks once).
//! The ratio is that of two neighbouring rounds, what is printed the median over all pairs with its quartiles.

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::unwrap_used, reason = "a program that may fail")]
#![allow(clippy::disallowed_methods, reason = "benches time")]
#![allow(clippy::cast_precision_loss, reason = "times of seconds in an f64")]

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use marey::live::{Live, processes};

/// Pairs of rounds.
const PAIRS: usize = 30;
/// Batches of a round: about half a second with the pauses.
const BATCHES: usize = 20;
/// Sections of a batch: fewer than a ring of 8192 records holds.
const BATCH: u32 = 4000;
/// Between batches: longer than the drain's interval.
const PAUSE: Duration = Duration::from_millis(25);
/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);
const TARGET: f64 = 1.02;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--record-into") {
        return record(Path::new(&arguments[at + 1]));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("--record-into")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut recorder = Recorder {
        to: child.stdin.take().unwrap(),
        from: BufReader::new(child.stdout.take().unwrap()),
    };
    recorder.round(|| ());
    let process = processes(&folder.path().join("rings")).pop().unwrap();
    let mut live = Live::attach(&process.folder).unwrap();
    let (mut ratios, mut looks_ns) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let mut watched = |recorder: &mut Recorder| {
            recorder.round(|| {
                let start = Instant::now();
                black_box(live.look());
                looks_ns.push(start.elapsed().as_secs_f64() * 1e9);
                std::thread::sleep(INTERVAL);
            })
        };
        // Each comes first as often as the other.
        let (alone, seen) = if pair % 2 == 0 {
            let alone = recorder.round(|| std::thread::sleep(INTERVAL));
            (alone, watched(&mut recorder))
        } else {
            let seen = watched(&mut recorder);
            (recorder.round(|| std::thread::sleep(INTERVAL)), seen)
        };
        ratios.push(seen / alone);
    }
    drop(recorder);
    child.wait().unwrap();
    ratios.sort_by(f64::total_cmp);
    looks_ns.sort_by(f64::total_cmp);
    let median = ratios[PAIRS / 2];
    let verdict = if median <= TARGET { "HOLDS" } else { "MISSED" };
    let quartiles = format!("{:.3}-{:.3}", ratios[PAIRS / 4], ratios[PAIRS * 3 / 4]);
    println!("{:<4} {:<58} {:>7} {:>15} {:>7}", "row", "what", "ratio", "quartiles", "target");
    println!(
        "B4   {:<58} {median:>7.3} {quartiles:>15} {TARGET:>7} {verdict}",
        "section, looked at 10 times a second / not looked at"
    );
    println!("one look takes {:.0} µs (median)", looks_ns[looks_ns.len() / 2] / 1e3);
}

/// The process that records, from outside.
struct Recorder {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Recorder {
    /// Nanoseconds of a section in one round. Meanwhile `repeated` is called again and again.
    fn round(&mut self, mut repeated: impl FnMut()) -> f64 {
        self.to.write_all(b"\n").unwrap();
        let until = Instant::now() + PAUSE * u32::try_from(BATCHES).unwrap();
        while Instant::now() < until {
            repeated();
        }
        let mut said = String::new();
        self.from.read_line(&mut said).unwrap();
        said.trim().parse().unwrap()
    }
}

/// Records a round for each line that comes in, and says how long a section took.
fn record(folder: &Path) {
    let config = marey::Config {
        output_dir: Some(folder.join("out")),
        ring_dir: Some(folder.join("rings")),
        ..marey::Config::default()
    };
    let recording = marey::start(config).unwrap();
    // Nodes and open sections as a pipeline has them.
    for name in 0..100 {
        drop(marey::section_named(&format!("section-{name}")));
    }
    let open = marey::section!("pipeline");
    for line in std::io::stdin().lines() {
        line.unwrap();
        let mut sum = 0.0;
        for _ in 0..BATCHES {
            std::thread::sleep(PAUSE);
            let start = Instant::now();
            for _ in 0..BATCH {
                let _section = marey::section!("x");
                black_box(());
            }
            sum += start.elapsed().as_secs_f64();
        }
        let sections = f64::from(BATCH) * BATCHES as f64;
        println!("{}", sum * 1e9 / sections);
    }
    drop(open);
    recording.finish();
}

//! A program that records itself when `marey run` starts it, and does what its arguments say, one after the other: the other side of
//! the tests of `marey run`.
//!
//! `section=NAME` · `turn=NAME` (of a loop) · `open=NAME` (never closed) · `window=NAME` (never stopped) · `sample=VALUE` (a sampler reads that from then on) · `child=ARGUMENT` (starts itself with that argument and waits) · `ready=FILE` (makes it) ·
//! `echo` (standard input to standard output) · `exit=CODE` · `signal=NUMBER` (to itself) · `await=NUMBER` (ends well when that
//! signal has come) · `wait` (for ever)

#![allow(clippy::unwrap_used, clippy::exit, reason = "a test program")]

use rustix::process::{Signal, getpid, kill_process};

fn main() {
    let recording = marey::start_from_env();
    let mut open = Vec::new();
    for argument in std::env::args().skip(1) {
        let (what, value) = argument.split_once('=').unwrap_or((&argument, ""));
        match what {
            "section" => drop(marey::section_named(value)),
            "turn" => turn(value),
            "sample" => sample(value.parse().unwrap()),
            "open" => open.push(marey::section_named(value)),
            "window" => window(value),
            "child" => {
                let this = std::env::current_exe().unwrap();
                std::process::Command::new(this).arg(value).status().unwrap();
            }
            "ready" => std::fs::write(value, []).unwrap(),
            "echo" => drop(std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap()),
            "exit" => {
                drop(recording);
                std::process::exit(value.parse().unwrap());
            }
            "signal" => {
                let signal = Signal::from_named_raw(value.parse().unwrap()).unwrap();
                // Rust's own handler of SIGSEGV takes the first for a stack overflow and steps aside for the next.
                loop {
                    kill_process(getpid(), signal).unwrap();
                }
            }
            "await" => {
                let mut signals =
                    signal_hook::iterator::Signals::new([value.parse::<i32>().unwrap()]).unwrap();
                std::fs::write(std::env::var("READY").unwrap(), []).unwrap();
                signals.forever().next();
            }
            "wait" => wait(),
            other => panic!("unknown argument {other}"),
        }
    }
}

fn turn(name: &str) {
    let lane = marey::lane().unwrap();
    let slot = lane.recorder().take_slots(1).unwrap()[0];
    let name = lane.recorder().name(name.as_bytes());
    lane.enter(slot, lane.node(name, marey::NodeKind::Iteration, false), 0);
    lane.exit(slot, marey::Ending::default());
}

fn window(name: &str) {
    let change = marey::WindowChange::Opened {
        name: name.to_owned(),
        instrument: "torch.profiler".into(),
        options: marey::Attributes::default(),
    };
    let note = marey::Note::Window { window: 1, change };
    marey::recorder().unwrap().note(&note);
}

/// Reads always the same.
struct Constant(f64);

impl marey::Source for Constant {
    fn series(&self) -> Vec<marey::SeriesInfo> {
        let bytes = marey::Unit::Bytes;
        vec![marey::SeriesInfo::gauge("process.memory.resident", "", bytes)]
    }

    fn read(&mut self, values: &mut [f64]) {
        values.fill(self.0);
    }
}

/// Returns when the first reading is there.
fn sample(value: f64) {
    let recorder = marey::recorder().unwrap();
    let options = marey::SamplerOptions {
        name: "constant",
        interval: std::time::Duration::from_millis(10),
        max_points: 100,
        switches: 0,
        has_own_descriptors: true,
    };
    recorder.start_sampler(options, move || Box::new(Constant(value)));
    while recorder.latest_readings().is_empty() {
        std::thread::yield_now();
    }
}

fn wait() -> ! {
    loop {
        std::thread::park();
    }
}

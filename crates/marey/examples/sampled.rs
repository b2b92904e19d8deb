//! A program with a sampler whose source does as a test demands: the other side of the tests of samplers.
//!
//! `sampled HOW`. The source's only reading is the number of the round, from 0.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test program"
)]

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use marey::{Recorder, SamplerOptions, SeriesInfo, Source, Unavailable, Unit};

/// Says that a round begins, and waits for leave to read.
struct Led {
    began: Sender<u32>,
    leave: Receiver<()>,
    round: u32,
}

/// The other end of a [`Led`] source.
struct Leader {
    began: Receiver<u32>,
    leave: Sender<()>,
}

impl Source for Led {
    fn series(&self) -> Vec<SeriesInfo> {
        vec![SeriesInfo::gauge("test.round", "here", Unit::Count)]
    }

    fn read(&mut self, values: &mut [f64]) {
        self.began.send(self.round).ok();
        if self.leave.recv().is_err() {
            // Nobody leads any more: a source that hangs.
            loop {
                std::thread::park();
            }
        }
        values[0] = self.round.into();
        self.round += 1;
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let (what, why) = ("test.nothing".into(), "a test has none".into());
        vec![Unavailable { what, why }]
    }

    fn facts(&self) -> Vec<(String, String)> {
        vec![("test.fact".into(), "known".into())]
    }
}

fn sample(recorder: &'static Recorder, max_points: u64) -> Leader {
    let (began, began_here) = channel();
    let (leave, leave_there) = channel();
    let options = SamplerOptions {
        name: "led",
        interval: Duration::from_millis(1),
        max_points,
        switches: 0,
        has_own_descriptors: true,
    };
    let source = Led { began, leave: leave_there, round: 0 };
    assert!(recorder.start_sampler(options, || Box::new(source)));
    Leader { began: began_here, leave }
}

impl Leader {
    /// Lets so many rounds happen, and returns when the next one has begun.
    fn rounds(&self, n: u32) {
        for _ in 0..n {
            self.began.recv().unwrap();
            self.leave.send(()).unwrap();
        }
        self.began.recv().unwrap();
    }

    /// From here on the source reads without being asked.
    fn let_go(self) {
        for _ in 0..10_000 {
            self.leave.send(()).ok();
        }
        std::mem::forget(self);
    }
}

fn main() {
    let how = std::env::args().nth(1).expect("how to sample");
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let recorder = marey::recorder().unwrap();
    match how.as_str() {
        // Until it is killed.
        "wait" => {
            let leader = sample(recorder, 4);
            leader.rounds(11);
            say_and_wait("11 rounds");
        }
        // The source hangs in its twelfth round.
        "hang" => {
            let leader = sample(recorder, 4);
            leader.rounds(11);
            recording.finish();
            say_and_wait("stopped");
        }
        // The source is never made.
        "unmade" => {
            let (keep, never) = channel::<()>();
            std::mem::forget(keep);
            let make = move || -> Box<dyn Source> {
                never.recv().ok();
                unreachable!("nobody sends");
            };
            let options = SamplerOptions {
                name: "unmade",
                interval: Duration::from_secs(1),
                max_points: 10,
                switches: 0,
                has_own_descriptors: true,
            };
            assert!(recorder.start_sampler(options, make));
            assert!(!recorder.start_sampler(options, || unreachable!("one of a name")));
            recording.finish();
            say_and_wait("stopped");
        }
        "finish" => {
            let leader = sample(recorder, 4);
            leader.rounds(11);
            leader.let_go();
            recording.finish();
        }
        // A round that began in one recording ends in the next.
        "again" => {
            let leader = sample(recorder, 4);
            leader.rounds(3);
            recording.finish();
            let again = marey::start_from_env().unwrap();
            let other = sample(recorder, 4);
            other.rounds(2);
            leader.let_go();
            other.let_go();
            again.finish();
        }
        // Another sampler of the same name takes over.
        "restart" => {
            for _ in 0..40 {
                let leader = sample(recorder, 1000);
                leader.rounds(3);
                let is_round = |info: &SeriesInfo| info.name == "test.round";
                let latest = recorder.latest_readings();
                let shown = latest.iter().filter(|(info, ..)| is_round(info)).count();
                assert_eq!(shown, 1, "the one before is still shown");
                leader.let_go();
                recorder.finish_sampler("led");
            }
            recording.finish();
        }
        "pause" => {
            let leader = sample(recorder, 1000);
            leader.rounds(5);
            for _ in 0..1000 {
                leader.leave.send(()).unwrap();
            }
            recorder.pause_threads();
            println!("{} threads", std::fs::read_dir("/proc/self/task").unwrap().count());
            // What it says from here on it says after the pause.
            while leader.began.try_recv().is_ok() {}
            recorder.resume_threads();
            leader.rounds(5);
            leader.let_go();
            recording.finish();
        }
        "hang in a pause" => {
            let leader = sample(recorder, 1000);
            leader.rounds(5);
            // It waits for leave, so it cannot be paused, and reads on afterwards.
            recorder.pause_threads();
            recorder.resume_threads();
            leader.leave.send(()).unwrap();
            leader.rounds(5);
            leader.leave.send(()).unwrap();
            leader.let_go();
            recording.finish();
        }
        _ => unreachable!("no such way"),
    }
}

fn say_and_wait(what: &str) {
    println!("{what}");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

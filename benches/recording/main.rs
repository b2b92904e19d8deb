//! What a recorded section costs in Rust, beside two reads of the clock and beside fastrace.
//!
//! Each subject has global state, so each runs in a process of its own (this program again), and all of them take turns for some
//! rounds. A process times batches of its subject and of two `rdtsc` alternately; the ratio is taken inside the process, and
//! what is printed is the median over the rounds with its range. Batches are small enough for a ring to hold, and the drain gets
//! time between them; a process that lost records says so, and its row is invalid.

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::unwrap_used, reason = "a program that may fail")]

mod batches;
mod subjects;

use std::process::Command;

use subjects::Subject;

/// Processes of each subject.
const ROUNDS: usize = 5;

/// A line of the table: a figure of one subject against one of another, and what it should be.
struct Row {
    number: &'static str,
    what: &'static str,
    ratio: fn(&Round) -> f64,
    target: f64,
}

const ROWS: [Row; 5] = [
    Row {
        number: "A6",
        what: "section / two reads of the clock",
        ratio: |r| r.shared.per_section_ns / r.shared.anchor_ns,
        target: 1.25,
    },
    Row {
        number: "A7",
        what: "section / fastrace local span",
        ratio: |r| r.shared.in_anchors() / r.fastrace.in_anchors(),
        target: 0.35,
    },
    Row {
        number: "A8",
        what: "section while off / empty loop and 1 ns",
        ratio: |r| r.off.per_section_ns / (r.empty.per_section_ns + 1.0),
        target: 1.0,
    },
    Row {
        number: "A9",
        what: "CPU of the process a section, capture on disk / fastrace",
        ratio: |r| r.shared.process_ns / r.fastrace.process_ns,
        target: 0.35,
    },
    Row {
        number: "A10",
        what: "shared ring / private ring",
        ratio: |r| r.shared.in_anchors() / r.private.in_anchors(),
        target: 1.05,
    },
];

/// What one process of each subject measured.
struct Round {
    shared: Figures,
    private: Figures,
    fastrace: Figures,
    off: Figures,
    empty: Figures,
}

/// What one process measured; nanoseconds.
#[derive(Clone, Copy)]
struct Figures {
    per_section_ns: f64,
    anchor_ns: f64,
    process_ns: f64,
    n_lost: f64,
}

impl Figures {
    /// The section in units of the process's own anchor, which takes most of the machine's noise out.
    fn in_anchors(self) -> f64 {
        self.per_section_ns / self.anchor_ns
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--subject") {
        let figures = Subject::named(&arguments[at + 1]).measure();
        let Figures { per_section_ns, anchor_ns, process_ns, n_lost } = figures;
        println!("{per_section_ns} {anchor_ns} {process_ns} {n_lost}");
        return;
    }
    let rounds: Vec<Round> = (0..ROUNDS).map(|_| round()).collect();
    let n_lost: f64 = rounds.iter().map(|r| r.shared.n_lost + r.private.n_lost).sum();
    println!("{:<4} {:<58} {:>7} {:>15} {:>7}", "row", "what", "ratio", "range", "target");
    for row in &ROWS {
        let mut ratios: Vec<f64> = rounds.iter().map(row.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        let range = format!("{:.3}-{:.3}", ratios[0], ratios[ratios.len() - 1]);
        let verdict = match median <= row.target {
            _ if n_lost > 0.0 => "INVALID: records were lost",
            true => "HOLDS",
            false => "MISSED",
        };
        println!(
            "{:<4} {:<58} {median:>7.3} {range:>15} {:>7} {verdict}",
            row.number, row.what, row.target
        );
    }
    let last = rounds.last().unwrap();
    println!(
        "last round, ns: section {:.1}, two clock reads {:.1}, fastrace {:.1}; process CPU a section: {:.1}, fastrace {:.1}",
        last.shared.per_section_ns,
        last.shared.anchor_ns,
        last.fastrace.per_section_ns,
        last.shared.process_ns,
        last.fastrace.process_ns
    );
}

fn round() -> Round {
    Round {
        shared: run("shared"),
        private: run("private"),
        fastrace: run("fastrace"),
        off: run("off"),
        empty: run("empty"),
    }
}

fn run(subject: &str) -> Figures {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--subject", subject])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<f64> =
        text.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect();
    let [per_section_ns, anchor_ns, process_ns, n_lost] = figures[..] else {
        panic!("{subject}: {text:?}")
    };
    Figures { per_section_ns, anchor_ns, process_ns, n_lost }
}

//! How often comparisons of simulated runs are wrong: alarms where nothing changed, and how many changes of 5 % they find.
//!
//! The table is for `docs/comparing.md`; the rows with a target are those that a test holds to it, too.

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

#[path = "../tests/it/simulated_pairs.rs"]
mod simulated_pairs;

use marey_analysis::compare::Verdict;
use simulated_pairs::{N_PAIRS, Noise, Pair, REPEATED, SINGLE, USUAL, alarms, count};

/// Repeats of each side.
const REPEATS: [u64; 5] = [1, 2, 3, 5, 10];
/// How much a run as a whole strays; two differ by 1.4 times as much.
const RUNS: [f64; 3] = [0.007, 0.01, 0.014];
/// Shares of pairs.
const MOST_ALARMS: f64 = 0.05;
const LEAST_FOUND: f64 = 0.9;

fn main() {
    println!("{N_PAIRS} pairs each; found: steps that take 5 % longer\n");
    println!("C4                                 alarms   found");
    row("single runs that differ by 1 %", SINGLE, true);
    row("5 repeats that differ by 1.4 %", REPEATED, true);
    println!("\nruns differ by  repeats            alarms   found");
    for run in RUNS {
        for n_repeats in REPEATS {
            let pair = Pair { n_repeats, noise: Noise { run, ..USUAL }, ..SINGLE };
            let differ = run * std::f64::consts::SQRT_2 * 100.0;
            row(&format!("{differ:>12.1} %  {n_repeats:>7}"), pair, false);
        }
    }
}

/// Both counts as shares, and whether they are as they should be.
fn row(name: &str, pair: Pair, has_target: bool) {
    let float = |count: u64| u32::try_from(count).map_or(f64::NAN, f64::from);
    let share = |count: u64| float(count) / float(N_PAIRS);
    let alarms = share(alarms(pair));
    let seed = pair.seed + 1_000_000;
    let found = share(count(&[Verdict::Worse], Pair { seed, ..pair }, 1.05));
    let holds = alarms <= MOST_ALARMS && found >= LEAST_FOUND;
    let target = match (has_target, holds) {
        (false, _) => "",
        (true, true) => "  holds (at most 5 %, at least 90 %)",
        (true, false) => "  missed (at most 5 %, at least 90 %)",
    };
    println!("{name:<33} {:>6.1} % {:>6.1} %{target}", alarms * 100.0, found * 100.0);
}

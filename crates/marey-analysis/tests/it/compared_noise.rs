//! How often does a comparison find a change where there is none, and how often does it find one of 5 %?

use marey_analysis::compare::Verdict;

use crate::simulated_pairs::{N_PAIRS, Pair, REPEATED, SINGLE, alarms, count};

#[test]
fn single_runs_that_do_not_differ_raise_an_alarm_in_at_most_one_of_twenty_pairs() {
    let found = alarms(SINGLE);
    assert!(found <= N_PAIRS / 20, "{found} of {N_PAIRS}");
}

#[test]
fn repeats_that_do_not_differ_raise_an_alarm_in_at_most_one_of_twenty_pairs() {
    let found = alarms(REPEATED);
    assert!(found <= N_PAIRS / 20, "{found} of {N_PAIRS}");
}

#[test]
fn steps_that_take_a_twentieth_longer_are_found_in_nine_of_ten_single_runs() {
    let pair = Pair { seed: 500_001, ..SINGLE };
    let found = count(&[Verdict::Worse], pair, 1.05);
    assert!(found >= N_PAIRS / 10 * 9, "{found} of {N_PAIRS}");
}

#[test]
fn steps_that_take_a_twentieth_longer_are_found_in_nine_of_ten_repeats() {
    let pair = Pair { seed: 600_001, ..REPEATED };
    let found = count(&[Verdict::Worse], pair, 1.05);
    assert!(found >= N_PAIRS / 10 * 9, "{found} of {N_PAIRS}");
}

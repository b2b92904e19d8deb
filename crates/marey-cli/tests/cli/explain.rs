//! `marey explain`: the entry of a rule, as `docs/findings.md` has it.

use crate::program::{marey, words};

#[test]
fn a_rule_is_explained_with_what_it_goes_by_and_its_limits() {
    let said = marey(&["explain", "idle-gpus"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(
        words(&said.out),
        words(
            "rule idle-gpus
             checks whether GPUs stand idle while others work
             in a run by utilisation of several GPUs
             in a job by utilisation of GPUs
             limit gpu_utilization_ratio = 0.5: Mean share of the time in which a GPU works, below which it is not used well
             limit unused_gpu_ratio = 0.1: Mean share of the time in which a GPU works, below which it is idle beside others
             could save the time less an even split among all GPUs, as a bound"
        )
    );
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
}

#[test]
fn without_a_rule_all_are_listed_and_a_name_like_one_is_suggested() {
    let all = marey(&["explain"]);
    assert!(
        all.out.lines().any(|line| words(line) == "swap-spill memory spilled to swap"),
        "{}",
        all.out
    );
    let said = marey(&["explain", "swap-spil"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("'swap-spill'"), "{}", said.err);
}

#[test]
fn a_rule_that_became_part_of_another_one_is_explained_as_that_one() {
    let said = marey(&["explain", "rank-skew"]);
    assert_eq!(said.code, 0);
    assert!(said.err.contains("rank-skew is a part of rank-waiting now"), "{}", said.err);
    assert!(said.out.lines().any(|line| words(line) == "rule rank-waiting"), "{}", said.out);
}

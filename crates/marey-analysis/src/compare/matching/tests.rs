use marey_testing::RunBuilder;

use super::*;

fn shown(rows: &[SectionMatch]) -> Vec<(String, Option<String>, Verdict)> {
    let joined = |path: &Path| path.join("/");
    rows.iter()
        .map(|row| (joined(&row.path), row.candidate_path.as_ref().map(joined), row.presence))
        .collect()
}

fn row(path: &str, there: Option<&str>, presence: Verdict) -> (String, Option<String>, Verdict) {
    (path.to_owned(), there.map(str::to_owned), presence)
}

#[test]
fn paths_of_both_sides_are_matched_and_a_renamed_one_is_guessed() {
    // 0         10        20        30        40
    // |---------------- generate ---------------|
    // |encode|  |-- vae_decode --|     |save|
    //             |conv||conv|
    let before = RunBuilder::new()
        .section("generate", 0, 42, |s| {
            s.section("encode", 0, 6, |_| {});
            s.section("vae_decode", 10, 28, |s| {
                s.section("conv", 12, 17, |_| {});
                s.section("conv", 18, 23, |_| {});
            });
            s.section("save", 34, 40, |_| {});
        })
        .finish(50);
    // The decoder has another name, nothing is saved, and a log of a hundred lines is new.
    let after = RunBuilder::new()
        .section("generate", 0, 41, |s| {
            s.section("encode", 0, 6, |_| {});
            s.section("decode", 10, 27, |s| {
                s.section("conv", 12, 17, |_| {});
                s.section("conv", 18, 22, |_| {});
            });
            for line in 0..100 {
                s.section("log", 30 + line / 50, 30 + line / 50, |_| {});
            }
        })
        .finish(50);
    let found = matches(&tree(&[before]), &tree(&[after]));
    let expected = [
        row("generate", None, Verdict::Same),
        row("generate/encode", None, Verdict::Same),
        row("generate/vae_decode", Some("generate/decode"), Verdict::Renamed),
        row("generate/vae_decode/conv", Some("generate/decode/conv"), Verdict::Same),
        row("generate/save", None, Verdict::Gone),
        row("generate/log", None, Verdict::New),
    ];
    assert_eq!(shown(&found), expected);
}

#[test]
fn what_both_sides_have_is_never_taken_as_renamed() {
    let drawn = |first: &str, second: &str| {
        RunBuilder::new().section(first, 0, 10, |_| {}).section(second, 10, 20, |_| {}).finish(20)
    };
    let found = matches(&tree(&[drawn("a", "b")]), &tree(&[drawn("b", "a")]));
    let expected = [row("a", None, Verdict::Same), row("b", None, Verdict::Same)];
    assert_eq!(shown(&found), expected);
}

#[test]
fn a_loop_is_not_a_section_of_another_name() {
    let looped = RunBuilder::new().iteration("step", 0, 10, |_| {}).finish(10);
    let named = RunBuilder::new().section("denoise", 0, 10, |_| {}).finish(10);
    let found = matches(&tree(&[looped]), &tree(&[named]));
    let expected = [row("step", None, Verdict::Gone), row("denoise", None, Verdict::New)];
    assert_eq!(shown(&found), expected);
}

#[test]
fn one_of_two_that_are_as_much_alike_is_taken_the_same_one_each_time() {
    let before = RunBuilder::new().section("a", 0, 10, |_| {}).finish(20);
    let after =
        RunBuilder::new().section("x", 0, 10, |_| {}).section("y", 10, 20, |_| {}).finish(20);
    let found = matches(&tree(&[before]), &tree(&[after]));
    // The place among the siblings decides.
    let expected = [row("a", Some("x"), Verdict::Renamed), row("y", None, Verdict::New)];
    assert_eq!(shown(&found), expected);
}

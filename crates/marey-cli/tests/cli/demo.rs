//! `marey demo`: a real recording of a script that says what it is. The only test that records in this process.

use crate::program::{Place, marey, words};

#[test]
fn the_demo_records_itself_and_says_what_it_is() {
    let place = Place::new();
    let said = marey(&["demo", "--output", place.out().to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("marey: scripted demo (no model runs) finished in "));
    // What it finds depends on how long steps took, and what stands in between on the locale.
    for text in ["3 blocks", "4 steps", "3 frames", ", 6 served by step_cache"] {
        assert!(said.out.contains(text), "{}", said.out);
    }
    let whole = words(&place.read("out/latest/timing_summary.txt"));
    for text in [
        "text_encoder",
        "denoising_step",
        "vae_decode",
        "step_cache",
        "after_denoising",
        "Data complete, nothing was lost",
    ] {
        assert!(whole.contains(text), "{text}");
    }
    assert!(
        place.plain(&said.err).starts_with("marey: reports are in [place]/out/demo-"),
        "{}",
        said.err
    );
    assert!(place.read("out/latest/run.json").contains("\"kind\": \"finished\""));
}

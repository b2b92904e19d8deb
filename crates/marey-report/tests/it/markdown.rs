//! The report in Markdown.

use marey_report::Report;
use marey_testing::RunBuilder;

use crate::example::sampled_latent_video;
use crate::shown::markdown;

#[test]
fn a_run_in_markdown() {
    insta::assert_snapshot!(markdown(&Report::new(&sampled_latent_video())));
}

#[test]
fn a_run_without_anything_has_its_wall_time_and_no_empty_part() {
    let text = markdown(&Report::new(&RunBuilder::new().finish(5_000_000)));
    assert!(text.contains("- Wall time: 5.00 ms"), "{text}");
    for heading in ["### Time", "### Memory", "### Steps", "### Loops"] {
        assert!(!text.contains(heading), "{text}");
    }
}

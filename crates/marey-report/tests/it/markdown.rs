//! The report in Markdown.

use marey_report::{Report, markdown_report};
use marey_testing::RunBuilder;

use crate::example::{killed_latent_video, sampled_latent_video};

#[test]
fn a_run_in_markdown() {
    insta::assert_snapshot!(markdown_report(&Report::new(&sampled_latent_video())));
}

#[test]
fn a_killed_run_says_so_in_its_figures_and_under_them() {
    let text = markdown_report(&Report::new(&killed_latent_video()));
    assert!(text.contains("killed"), "{text}");
    assert!(!text.contains("nothing was lost"), "{text}");
}

#[test]
fn a_run_without_anything_has_its_wall_time_and_no_empty_part() {
    let text = markdown_report(&Report::new(&RunBuilder::new().finish(5_000_000)));
    assert!(text.contains("| Wall time |  5.00 ms |"), "{text}");
    for heading in ["### Where", "### Memory", "### Steps", "### Loops"] {
        assert!(!text.contains(heading), "{text}");
    }
}

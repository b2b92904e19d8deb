//! What a configuration switches off is not recorded, whoever opens it; what it samples is in the capture.

use std::path::Path;
use std::process::Command;

use marey::Run;

use crate::program::{calls, only_run, printed, recorded};

fn kinds(folder: &Path, variables: &[(&str, &str)]) -> Run {
    kinds_with(folder, variables, &[])
}

/// After the first reading of the host.
fn sampled(folder: &Path, variables: &[(&str, &str)]) -> Run {
    kinds_with(folder, variables, &["sampled"])
}

fn kinds_with(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command: Command = recorded("kinds", folder);
    command.envs(variables.iter().copied()).args(arguments);
    printed(&mut command);
    only_run(folder)
}

#[test]
fn sections_of_a_kind_that_is_switched_off_do_not_exist_and_what_is_in_them_does() {
    let all = tempfile::tempdir().unwrap();
    let run = kinds(all.path(), &[]);
    for (name, count) in
        [("vae_decode", 4), ("text_encoding", 4), ("tile", 8), ("denoising_step", 8)]
    {
        assert_eq!(calls(&run, name), count, "{name}");
    }
    let some = tempfile::tempdir().unwrap();
    let off = [("MAREY_PROFILE_VAE_DECODE", "0"), ("MAREY_PROFILE_INFERENCE_STEPS", "false")];
    let run = kinds(some.path(), &off);
    for (name, count) in
        [("vae_decode", 0), ("text_encoding", 4), ("tile", 8), ("denoising_step", 0)]
    {
        assert_eq!(calls(&run, name), count, "{name}");
    }
    // What was in a decode is now directly in the pipeline.
    let tile = run.nodes.iter().find(|node| node.name == "tile").unwrap();
    let parent = tile.parent.map(|parent| run.nodes[parent as usize].name.as_str());
    assert_eq!(parent, Some("pipeline"));
    assert!(run.open.is_empty());
    assert!(run.losses.is_none());
    let facts: Vec<_> =
        run.info.facts.iter().filter(|(key, _)| key.starts_with("profiling.profile_")).collect();
    assert_eq!(facts.len(), 2, "{facts:?}");
}

#[test]
fn of_files_that_are_watched_the_share_in_the_page_cache_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let (weights, missing) = (folder.path().join("weights"), folder.path().join("missing"));
    std::fs::write(&weights, vec![1; 1 << 20]).unwrap();
    let both = std::env::join_paths([&weights, &missing]).unwrap();
    let run = sampled(folder.path(), &[("MAREY_WATCHED_FILES", both.to_str().unwrap())]);
    let cached: Vec<_> = run.series.iter().filter(|s| s.info.name == "file.cached").collect();
    assert_eq!(cached.len(), 1);
    assert_eq!(cached[0].info.subject, weights.to_str().unwrap());
    // It was written a moment ago.
    assert_eq!(cached[0].points[0].last.to_bits(), 1f64.to_bits());
    assert!(run.unavailable.iter().any(|u| u.what.contains("missing")), "{:?}", run.unavailable);
}

#[test]
fn a_recording_in_memory_samples_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = recorded("kinds", folder.path());
    let said = printed(command.arg("in-memory"));
    assert_eq!(said.trim(), "0 series");
}

#[test]
fn a_variable_that_does_not_fit_is_warned_of_and_the_rest_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = recorded("kinds", folder.path());
    command.env("MAREY_CPU_MONITOR_INTERVAL", "often");
    command.env("MAREY_PROFILE_TEXT_ENCODING", "0");
    let output = command.output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{complaint}");
    assert!(complaint.contains("MAREY_CPU_MONITOR_INTERVAL"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    let run = only_run(folder.path());
    assert_eq!((calls(&run, "text_encoding"), calls(&run, "vae_decode")), (0, 4));
}

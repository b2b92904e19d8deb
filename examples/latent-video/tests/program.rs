//! The program as a user runs it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder, small, with recording off unless `environment` switches it on.
fn run(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latent-video"));
    let recording =
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MAREY_"));
    for (name, _) in recording {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "1")
        .envs(environment.iter().copied())
        .arg("--tiny")
        .args(arguments)
        .output()
        .unwrap()
}

/// Contents of the files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn recording_into(folder: &str) -> [(&str, &str); 2] {
    [("MAREY_ENABLED", "1"), ("MAREY_OUTPUT_DIR", folder)]
}

/// The one capture of the newest job in an output folder.
fn only_capture(output: &Path) -> marey::Run {
    let job = fs::read_dir(output.join("latest")).unwrap();
    let captures: Vec<_> = job
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "marey"))
        .collect();
    assert_eq!(captures.len(), 1, "{captures:?}");
    marey::load(&captures[0]).unwrap()
}

fn n_sections(run: &marey::Run, name: &str) -> usize {
    let nodes = run.sections.iter().map(|s| &run.nodes[s.node as usize]);
    nodes.filter(|node| node.name == *name).count()
}

#[test]
fn it_writes_the_frames_that_were_asked_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--blocks", "3", "--frames", "1", "--steps", "1", "--out", "clip"];
    let output = run(folder.path(), &[], &arguments);
    assert!(output.status.success(), "{output:?}");

    assert_eq!(files(&folder.path().join("clip")).len(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("3 frames of 32 × 32 pixels in clip, "), "{last}");
    assert_eq!(text.lines().filter(|line| line.starts_with("block ")).count(), 3);
}

#[test]
fn recording_changes_no_frame_and_finds_every_stage() {
    let folder = tempfile::tempdir().unwrap();
    let frames = |environment: &[(&str, &str)], out: &str| {
        let output = run(folder.path(), environment, &["--out", out]);
        assert!(output.status.success(), "{output:?}");
        files(&folder.path().join(out))
    };
    let unrecorded = frames(&[], "unrecorded");
    let recorded = frames(&recording_into("profile"), "recorded");
    assert_eq!(unrecorded.len(), 4);
    assert!(unrecorded == recorded);

    // 2 blocks of 2 steps and a commit, 2 layers, 3 doublings of the resolution
    let run = only_capture(&folder.path().join("profile"));
    for (name, n) in [
        ("model_load", 1),
        ("text_encoder", 1),
        ("block", 2),
        ("denoising_step", 4),
        ("transformer_forward", 4),
        ("kv_commit", 2),
        ("transformer_block", 2 * 3 * 2),
        ("upsampling_level", 2 * 3),
        ("write_frames", 2),
    ] {
        assert_eq!(n_sections(&run, name), n, "{name}");
    }
    assert_eq!(run.sessions.len(), 1);
}

#[test]
fn spans_of_libraries_are_recorded_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (out, arguments) in [("without", &[][..]), ("with", &["--tracing-spans"])] {
        let output = run(folder.path(), &recording_into(out), arguments);
        assert!(output.status.success(), "{output:?}");
    }
    let attentions = |out| n_sections(&only_capture(&folder.path().join(out)), "text_attention");
    // One for each layer of the text encoder.
    assert_eq!((attentions("without"), attentions("with")), (0, 2));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let output = run(folder.path(), &[], &["--out", "file"]);
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cannot create file"), "{message}");
}

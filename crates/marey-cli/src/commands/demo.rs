//! `marey demo`: records a script that stands for a pipeline, to show what a report looks like.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use marey::{CacheEvent, CacheOutcome, Config, Note};
use marey_folder::run_folder::{JobFolder, Reading};
use std::io::stdout;

use super::say_written;
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::{self, Color};

const LABEL: &str = "scripted demo (no model runs)";
const N_BLOCKS: u64 = 3;
/// Relative difference of a step's input from the last computed step's; below the threshold the cache answers.
const DIFFERENCES: [f64; 4] = [1.0, 0.12, 0.31, 0.08];
const THRESHOLD: f64 = 0.15;

/// Record a scripted demo, to see what a report looks like
///
/// No model runs: the script waits where a pipeline would compute. It is recorded and reported as a pipeline would be.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder for recordings and reports
    #[arg(long, short, value_name = "DIR", default_value = "profiling_results")]
    output: PathBuf,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let recording = marey::start(Config {
        output_dir: Some(std::path::absolute(&arguments.output)?),
        job_id: Some(format!("demo-{}", marey::job_id(&Config::default()))),
        facts: vec![("demo".into(), LABEL.into())],
        ..Config::default()
    })?;
    pipeline();
    let capture = recording.finish().context("the demo was not recorded into a file")?;
    let folder = capture.parent().context("a capture lies in a folder")?;
    let job = JobFolder::read(folder, &Reading::default())?;
    let written = job.write()?;
    if let Some(report) = &job.report {
        let screen = first_screen::of_part(report, folder, "");
        console.show(&first_screen::text(&screen, arguments.color, Some(&stdout())))?;
    }
    say_written(&written, folder, console);
    Ok(Exit::SUCCESS)
}

/// ```text
/// text_encoder |generate: block 0: step step step step · block 1 … · block 2 … | vae_decode
/// ```
fn pipeline() {
    let _session = marey::session(LABEL, &[("seed", 7.into())]);
    {
        let _encode = marey::section!("text_encoder");
        wait_ms(8);
    }
    marey::memory_reading("after_text_encoder");
    let mut latents: Vec<Vec<u8>> = Vec::new();
    {
        let _generate = marey::section!("generate");
        for block in 0..N_BLOCKS {
            let _block = marey::section!("block", index = block);
            latents.push(vec![1; 8 << 20]);
            for (step, difference) in (0..).zip(DIFFERENCES) {
                denoise(block, step, difference);
            }
        }
    }
    marey::memory_reading("after_denoising");
    let _decode = marey::section!("vae_decode", frames = latents.len());
    wait_ms(12);
    marey::event("clip_written", &[("frames", latents.len().into())]);
}

fn denoise(block: u64, step: u64, difference: f64) {
    let _step = marey::iteration!("denoising_step");
    let is_hit = difference < THRESHOLD;
    note_lookup(block, step, difference, is_hit);
    if is_hit {
        wait_ms(1);
        return;
    }
    let _transformer = marey::section!("transformer");
    // The first step of a program loads and compiles.
    wait_ms(if (block, step) == (0, 0) { 20 } else { 5 });
}

fn note_lookup(block: u64, step: u64, difference: f64, is_hit: bool) {
    if let Some(recorder) = marey::recorder() {
        recorder.note(&Note::Cache(CacheEvent {
            cache: "step_cache".into(),
            outcome: if is_hit { CacheOutcome::Hit } else { CacheOutcome::Miss },
            step: Some(step),
            block: Some(block),
            score: Some(difference),
            threshold: Some(THRESHOLD),
            held_bytes: Some(8 << 20),
            ..CacheEvent::default()
        }));
    }
}

fn wait_ms(duration_ms: u64) {
    std::thread::sleep(Duration::from_millis(duration_ms));
}

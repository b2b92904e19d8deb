//! Generates a short clip with a block-wise latent video pipeline of random weights, on the CPU.

mod attention;
mod frames;
mod kv_cache;
mod modulation;
mod noise;
mod patches;
mod pipeline;
mod rotary;
mod scheduler;
mod size;
mod text_encoder;
mod transformer;
mod transformer_block;
mod vae;
mod weights;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use tracing_subscriber::prelude::*;

use frames::FrameFolder;
use pipeline::{Pipeline, Request};
use size::Size;
use vae::UPSAMPLING;

/// Generate a clip from a prompt. The weights are random, the work is real.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What the clip shows
    #[arg(long, default_value = "a horse in motion, photographed on one plate")]
    prompt: String,
    /// Blocks of frames, one after the other [default: 3, tiny: 2]
    #[arg(long)]
    blocks: Option<NonZeroUsize>,
    /// Denoising steps per block [default: 4, tiny: 2]
    #[arg(long)]
    steps: Option<NonZeroU32>,
    /// Latent frames per block [default: 4, tiny: 2]
    #[arg(long)]
    frames: Option<NonZeroUsize>,
    /// Classifier-free guidance; anything but 1 doubles the work of the transformer
    #[arg(long, default_value_t = 1.0)]
    guidance: f64,
    /// Seed of the noise; the weights are always the same
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Edges of the frames, as a multiple of 128 pixels (tiny: of 32)
    #[arg(long, default_value = "1")]
    scale: NonZeroUsize,
    /// Folder for the frames
    #[arg(long, default_value = "frames")]
    out: PathBuf,
    /// Models and frames so small that a clip takes a fraction of a second
    #[arg(long)]
    tiny: bool,
    /// Record the spans that the text encoder emits with the crate `tracing`, too
    #[arg(long)]
    tracing_spans: bool,
}

impl Arguments {
    fn size(&self) -> Size {
        let size = if self.tiny { Size::tiny() } else { Size::small() };
        size.scaled(self.scale.get())
    }

    fn request(&self) -> Request {
        let (n_blocks, n_steps, n_frames) = if self.tiny { (2, 2, 2) } else { (3, 4, 4) };
        Request {
            prompt: self.prompt.clone(),
            n_blocks: self.blocks.map_or(n_blocks, NonZeroUsize::get),
            n_steps: self.steps.map_or(n_steps, NonZeroU32::get),
            n_frames: self.frames.map_or(n_frames, NonZeroUsize::get),
            guidance: self.guidance,
            seed: self.seed,
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let _recording = marey::start_from_env();
    if arguments.tracing_spans {
        let layer = marey::TracingLayer::new();
        tracing_subscriber::registry().with(layer).init();
    }
    generate(&arguments)
}

fn generate(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let (size, request) = (arguments.size(), arguments.request());
    let edge = size.latent_edge * UPSAMPLING;
    let mut folder = FrameFolder::create(&arguments.out)?;
    let mut pipeline = Pipeline::load(size)?;
    println!("loaded    {:6.2} s", started.elapsed().as_secs_f64());

    let durations = pipeline.generate(&request, &mut folder)?;
    for (index, duration) in durations.iter().enumerate() {
        println!("block {index:<3} {:6.2} s", duration.as_secs_f64());
    }
    println!(
        "{} frames of {edge} × {edge} pixels in {}, {:.2} s in all",
        folder.n_frames(),
        arguments.out.display(),
        started.elapsed().as_secs_f64(),
    );
    Ok(())
}

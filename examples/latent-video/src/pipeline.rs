//! From a prompt to a clip, one block of frames after the other.

use std::time::{Duration, Instant};

use anyhow::Result;
use candle_core::{IndexOp, Tensor};

use crate::frames::{FrameFolder, Frames};
use crate::kv_cache::KvCache;
use crate::noise;
use crate::scheduler::FlowScheduler;
use crate::size::Size;
use crate::text_encoder::TextEncoder;
use crate::transformer::Transformer;
use crate::vae::Decoder;
use crate::weights::Weights;

/// The weights are the same in every run, as those of a trained model would be.
const WEIGHTS_SEED: u64 = 0;

/// Few steps spend most of their length at high noise; the value of Self Forcing.
const SHIFT: f64 = 5.0;

/// What to generate.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the clip shows.
    pub prompt: String,
    /// Blocks of frames, each after the one before.
    pub n_blocks: usize,
    /// Denoising steps per block, at least one.
    pub n_steps: u32,
    /// Latent frames per block.
    pub n_frames: usize,
    /// How far to go beyond the unguided velocity; at 1 the model runs without its unconditional half.
    pub guidance: f64,
    /// Seed of the noise.
    pub seed: u64,
}

/// All models, loaded.
pub struct Pipeline {
    size: Size,
    text_encoder: TextEncoder,
    transformer: Transformer,
    decoder: Decoder,
}

/// A clip that is being generated.
pub struct Clip {
    /// `[1, tokens, width]`, or 2 in front with guidance: the prompt, then the empty prompt.
    text: Tensor,
    guidance: f64,
    scheduler: FlowScheduler,
    cache: KvCache,
}

impl Pipeline {
    /// A pipeline with random weights.
    pub fn load(size: Size) -> Result<Self> {
        let weights = Weights::new(WEIGHTS_SEED);
        let pipeline = {
            let _section = marey::section!("model_load");
            let builder = weights.builder();
            Self {
                text_encoder: TextEncoder::load(&size.text_encoder, &builder.pp("text_encoder"))?,
                transformer: Transformer::load(&size.transformer, &builder.pp("transformer"))?,
                decoder: Decoder::load(&size.decoder, &builder.pp("decoder"))?,
                size,
            }
        };
        let n_parameters = weights.n_parameters();
        marey::event("weights_ready", &[("parameters", n_parameters.into())]);
        marey::memory_reading("after_model_load");
        Ok(pipeline)
    }

    /// Writes a clip to a folder, and returns how long each of its blocks took.
    pub fn generate(
        &mut self,
        request: &Request,
        folder: &mut FrameFolder,
    ) -> Result<Vec<Duration>> {
        let tags = [
            ("seed", request.seed.into()),
            ("blocks", request.n_blocks.into()),
            ("steps", request.n_steps.into()),
            ("frames", request.n_frames.into()),
            ("guidance", request.guidance.into()),
        ];
        let _session = marey::session("clip-0", &tags);

        let mut clip = self.start(request)?;
        let shape = self.size.latent_shape(request.n_frames);
        let mut durations = Vec::with_capacity(request.n_blocks);
        for index in 0..request.n_blocks {
            let _block = marey::section!("block", index = index);
            let started = Instant::now();
            let noise = noise::for_block(request.seed, index, shape)?;
            let frames = self.next_block(&mut clip, noise)?;
            write(&frames, folder)?;
            durations.push(started.elapsed());
        }
        Ok(durations)
    }

    /// A clip without frames: the prompt is read, the cache is empty.
    pub fn start(&mut self, request: &Request) -> Result<Clip> {
        let is_guided = (request.guidance - 1.0).abs() > f64::EPSILON;
        let text = {
            let _section = marey::section!("text_encoder");
            let prompt = self.text_encoder.encode(&request.prompt)?;
            if is_guided {
                Tensor::cat(&[prompt, self.text_encoder.encode("")?], 0)?
            } else {
                prompt
            }
        };
        marey::memory_reading("after_text_encoding");
        Ok(Clip {
            text,
            guidance: request.guidance,
            scheduler: FlowScheduler::new(request.n_steps, SHIFT),
            cache: self.transformer.empty_cache(),
        })
    }

    /// The frames that become of a block of noise after the blocks that the clip has already.
    pub fn next_block(&self, clip: &mut Clip, noise: Tensor) -> Result<Frames> {
        let latents = self.denoise(clip, noise)?;
        marey::memory_reading("after_denoising");
        self.commit(clip, &latents)?;
        marey::memory_reading("after_kv_commit");
        let frames = self.decode(&latents)?;
        marey::memory_reading("after_vae_decode");
        Ok(frames)
    }

    fn denoise(&self, clip: &Clip, noise: Tensor) -> Result<Tensor> {
        let _section = marey::section!("denoise");
        let mut latents = noise;
        for (step, timestep) in clip.scheduler.timesteps().enumerate() {
            let _iteration = marey::iteration!("denoising_step");
            let velocity = {
                let _section =
                    marey::section!("transformer_forward", step = step, timestep = timestep);
                self.velocity(clip, &latents, timestep)?
            };
            latents = clip.scheduler.step(step, &latents, &velocity)?;
        }
        Ok(latents)
    }

    /// Velocity with classifier-free guidance; Ho, Salimans: *Classifier-Free Diffusion Guidance* (2022).
    fn velocity(&self, clip: &Clip, latents: &Tensor, timestep: f64) -> Result<Tensor> {
        let batch = clip.batch(latents)?;
        let velocity = self.transformer.velocity(&batch, timestep, &clip.text, &clip.cache)?;
        let prompted = velocity.i(0)?;
        if velocity.dim(0)? == 1 {
            return Ok(prompted);
        }
        let unprompted = velocity.i(1)?;
        Ok((&unprompted + ((prompted - &unprompted)? * clip.guidance)?)?)
    }

    fn commit(&self, clip: &mut Clip, latents: &Tensor) -> Result<()> {
        {
            let _section = marey::section!("kv_commit");
            let batch = clip.batch(latents)?;
            self.transformer.commit(&batch, &clip.text, &mut clip.cache)?;
        }
        marey::counter("kv_cache_tokens", clip.cache.n_tokens() as f64);
        marey::counter("kv_cache_bytes", clip.cache.size_bytes() as f64);
        Ok(())
    }

    fn decode(&self, latents: &Tensor) -> Result<Frames> {
        let _section = marey::section!("vae_decode", frames = latents.dim(0)?, tile = "full");
        Frames::from_tensor(&self.decoder.decode(latents)?)
    }
}

impl Clip {
    /// Latents once for each text.
    fn batch(&self, latents: &Tensor) -> Result<Tensor> {
        let copies = vec![latents; self.text.dim(0)?];
        Ok(Tensor::stack(&copies, 0)?)
    }
}

fn write(frames: &Frames, folder: &mut FrameFolder) -> Result<()> {
    {
        let _section = marey::section!("write_frames", frames = frames.iter().len());
        folder.add(frames)?;
    }
    marey::counter("frames_written", folder.n_frames() as f64);
    marey::memory_reading("after_write_frames");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            prompt: "a horse in motion".to_string(),
            n_blocks: 2,
            n_steps: 2,
            n_frames: 2,
            guidance: 1.0,
            seed: 7,
        }
    }

    /// The pixels of two blocks that start from the noise of these seeds.
    fn two_blocks(request: &Request, seeds: [u64; 2]) -> [Vec<u8>; 2] {
        let mut pipeline = Pipeline::load(Size::tiny()).unwrap();
        let shape = pipeline.size.latent_shape(request.n_frames);
        let mut clip = pipeline.start(request).unwrap();
        seeds.map(|seed| {
            let noise = noise::for_block(seed, 0, shape).unwrap();
            pipeline.next_block(&mut clip, noise).unwrap().pixels
        })
    }

    #[test]
    fn the_same_seed_writes_the_same_files_and_another_seed_others() {
        let files = |seed| -> Vec<Vec<u8>> {
            let folder = tempfile::tempdir().unwrap();
            let mut frames = FrameFolder::create(folder.path()).unwrap();
            let request = Request { seed, ..request() };
            let mut pipeline = Pipeline::load(Size::tiny()).unwrap();
            let durations = pipeline.generate(&request, &mut frames).unwrap();
            assert_eq!((durations.len(), frames.n_frames()), (2, 4));
            let name = |i| folder.path().join(format!("frame_{i:04}.png"));
            (0..4).map(|i| std::fs::read(name(i)).unwrap()).collect()
        };
        assert_eq!(files(7), files(7));
        assert_ne!(files(7), files(8));
    }

    #[test]
    fn a_block_depends_on_the_blocks_before_it_and_not_on_later_ones() {
        let [first, second] = two_blocks(&request(), [1, 2]);
        let [same_first, other_second] = two_blocks(&request(), [1, 3]);
        assert_eq!(first, same_first);
        assert_ne!(second, other_second);

        // The same noise after another past gives another block.
        let [_, second_after_another_past] = two_blocks(&request(), [4, 2]);
        assert_ne!(second, second_after_another_past);
    }

    #[test]
    fn guidance_changes_the_clip_and_almost_none_changes_almost_nothing() {
        let pixels = |guidance| {
            let request = Request { guidance, ..request() };
            two_blocks(&request, [1, 2]).concat()
        };
        let largest_difference = |one: &[u8], other: &[u8]| {
            let pairs = one.iter().zip(other);
            pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap()
        };
        let unguided = pixels(1.0);
        assert!(largest_difference(&unguided, &pixels(1.000_01)) <= 1);
        assert!(largest_difference(&unguided, &pixels(4.0)) > 1);
    }

    #[test]
    fn the_prompt_matters() {
        let other = Request { prompt: "a gull".to_string(), ..request() };
        let is_same = two_blocks(&request(), [1, 2]) == two_blocks(&other, [1, 2]);
        assert!(!is_same);
    }
}

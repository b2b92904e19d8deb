//! Flow matching: from noise to data along straight lines, in Euler steps.

use candle_core::{Result, Tensor};

/// Timesteps are noise levels times this, as diffusion transformers are trained on them.
const TIMESTEPS: f64 = 1000.0;

/// The noise levels of one generation.
///
/// ```text
/// noise 1.0 ──step 0──► σ₁ ──step 1──► σ₂ … ──last step──► 0.0 data
///                 x += (σ₁ - σ₀) · velocity
/// ```
///
/// Liu, Gong, Liu: *Flow Straight and Fast* (2022); the shift is that of Esser et al., *Scaling Rectified Flow
/// Transformers* (2024), section 5.3.2.
pub struct FlowScheduler {
    sigmas: Vec<f64>,
}

impl FlowScheduler {
    /// Levels `1 … 0`, evenly spaced and then shifted towards the noise by `shift` (1 shifts nothing).
    pub fn new(n_steps: u32, shift: f64) -> Self {
        let sigmas = (0..=n_steps)
            .map(|step| 1.0 - f64::from(step) / f64::from(n_steps))
            .map(|sigma| shift * sigma / (1.0 + (shift - 1.0) * sigma))
            .collect();
        Self { sigmas }
    }

    /// The timestep of each step, 1000 first, falling.
    pub fn timesteps(&self) -> impl Iterator<Item = f64> {
        let starts = &self.sigmas[..self.sigmas.len() - 1];
        starts.iter().map(|sigma| sigma * TIMESTEPS)
    }

    /// The latents after a step, given the velocity that the model saw before it.
    pub fn step(&self, step: usize, latents: &Tensor, velocity: &Tensor) -> Result<Tensor> {
        let _section = marey::section!("scheduler_step");
        let length = self.sigmas[step + 1] - self.sigmas[step];
        latents + (velocity * length)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn without_shift_the_levels_are_evenly_spaced() {
        let scheduler = FlowScheduler::new(4, 1.0);
        assert_eq!(scheduler.sigmas, [1.0, 0.75, 0.5, 0.25, 0.0]);
        let timesteps: Vec<f64> = scheduler.timesteps().collect();
        assert_eq!(timesteps, [1000.0, 750.0, 500.0, 250.0]);
    }

    #[test]
    fn a_shift_of_three_moves_the_middle_to_three_quarters() {
        // 3 · 0.5 / (1 + 2 · 0.5) = 0.75
        assert_eq!(FlowScheduler::new(2, 3.0).sigmas, [1.0, 0.75, 0.0]);
    }

    #[test]
    fn steps_along_the_true_velocity_end_at_the_data() {
        let tensor = |values: [f32; 2]| Tensor::new(&values, &Device::Cpu).unwrap();
        let (noise, data) = (tensor([1.0, -2.0]), tensor([0.25, 4.0]));
        let velocity = (&noise - &data).unwrap();

        let scheduler = FlowScheduler::new(2, 3.0);
        let half = scheduler.step(0, &noise, &velocity).unwrap();
        // A quarter of the way: 1 - 0.25 · 0.75, -2 + 0.25 · 6.
        assert_eq!(half.to_vec1::<f32>().unwrap(), [0.8125, -0.5]);
        let end = scheduler.step(1, &half, &velocity).unwrap();
        assert_eq!(end.to_vec1::<f32>().unwrap(), [0.25, 4.0]);
    }
}

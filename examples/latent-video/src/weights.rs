//! Random weights, made when a layer asks for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::VarBuilder;
use candle_nn::init::{Init, NormalOrUniform};
use candle_nn::var_builder::SimpleBackend;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Uniform};

use crate::noise;

/// Weights that the seed and the name of each tensor determine, so that the order of loading does not matter.
#[derive(Clone)]
pub struct Weights {
    seed: u64,
    n_parameters: Arc<AtomicUsize>,
}

impl Weights {
    /// Weights of a seed; nothing is drawn yet.
    pub fn new(seed: u64) -> Self {
        Self { seed, n_parameters: Arc::default() }
    }

    /// What layers are built from, on the CPU in `f32`.
    pub fn builder(&self) -> VarBuilder<'static> {
        VarBuilder::from_backend(Box::new(self.clone()), DType::F32, Device::Cpu)
    }

    /// Numbers drawn so far.
    pub fn n_parameters(&self) -> usize {
        self.n_parameters.load(Ordering::Relaxed)
    }
}

impl SimpleBackend for Weights {
    fn get(
        &self,
        shape: Shape,
        name: &str,
        initialization: Init,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        self.n_parameters.fetch_add(shape.elem_count(), Ordering::Relaxed);
        let mut generator = noise::generator(self.seed, name);
        draw(&mut generator, &shape, initialization)?.to_dtype(dtype)?.to_device(device)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        candle_core::bail!("the shape of {name} is not known")
    }

    fn contains_tensor(&self, _name: &str) -> bool {
        true
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are f32; initializations are given in f64"
)]
fn draw(generator: &mut StdRng, shape: &Shape, initialization: Init) -> Result<Tensor> {
    match initialization {
        Init::Const(value) => Tensor::full(value as f32, shape, &Device::Cpu),
        Init::Randn { mean, stdev } => noise::gaussian(generator, shape, mean as f32, stdev as f32),
        Init::Uniform { lo, up } => uniform(generator, shape, lo as f32, up as f32),
        Init::Kaiming { dist, fan, non_linearity } => {
            let fan = u32::try_from(fan.for_shape(shape)).map_err(candle_core::Error::wrap)?;
            let deviation = (non_linearity.gain() / f64::from(fan).sqrt()) as f32;
            match dist {
                NormalOrUniform::Normal => noise::gaussian(generator, shape, 0.0, deviation),
                NormalOrUniform::Uniform => {
                    let bound = 3_f32.sqrt() * deviation;
                    uniform(generator, shape, -bound, bound)
                }
            }
        }
    }
}

fn uniform(generator: &mut StdRng, shape: &Shape, low: f32, high: f32) -> Result<Tensor> {
    let uniform = Uniform::new_inclusive(low, high).map_err(candle_core::Error::wrap)?;
    let draws: Vec<f32> = uniform.sample_iter(generator).take(shape.elem_count()).collect();
    Tensor::from_vec(draws, shape, &Device::Cpu)
}

/// Small normal numbers, for tables that are added to something.
pub const SMALL: Init = Init::Randn { mean: 0.0, stdev: 0.02 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_is_the_same_whatever_was_loaded_before_it() {
        let alone = Weights::new(1);
        let after_another = Weights::new(1);
        after_another.builder().get_with_hints(10, "a", SMALL).unwrap();

        let read = |weights: &Weights| -> Vec<f32> {
            let tensor = weights.builder().get_with_hints(10, "b", SMALL).unwrap();
            tensor.to_vec1().unwrap()
        };
        assert_eq!(read(&alone), read(&after_another));
        assert_eq!((alone.n_parameters(), after_another.n_parameters()), (10, 20));
    }
}

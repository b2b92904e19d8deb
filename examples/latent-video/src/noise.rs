//! Gaussian noise that a seed and a name determine.

use candle_core::{Device, Result, Shape, Tensor};
use rand::{SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, Normal};

/// A generator for one purpose: the same seed and name give the same numbers, whatever else was drawn before.
pub fn generator(seed: u64, name: &str) -> StdRng {
    // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    StdRng::seed_from_u64(hash ^ seed.rotate_left(32))
}

/// Independent draws from a normal distribution.
pub fn gaussian(
    generator: &mut StdRng,
    shape: &Shape,
    mean: f32,
    deviation: f32,
) -> Result<Tensor> {
    let normal = Normal::new(mean, deviation).map_err(candle_core::Error::wrap)?;
    let draws: Vec<f32> = normal.sample_iter(generator).take(shape.elem_count()).collect();
    Tensor::from_vec(draws, shape, &Device::Cpu)
}

/// The noise that a block of latent frames starts from: `[frames, channels, rows, columns]`, standard normal.
pub fn for_block(seed: u64, block: usize, shape: [usize; 4]) -> Result<Tensor> {
    gaussian(&mut generator(seed, &format!("block {block}")), &Shape::from(&shape[..]), 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, block: usize) -> Vec<f32> {
        for_block(seed, block, [2, 3, 4, 5]).unwrap().flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn noise_depends_on_the_seed_and_the_block_and_on_nothing_else() {
        assert_eq!(noise(7, 0), noise(7, 0));
        assert_ne!(noise(7, 0), noise(7, 1));
        assert_ne!(noise(7, 0), noise(8, 0));
    }
}

//! What the transformer remembers of the blocks that are done.

use candle_core::{DType, Result, Tensor};

/// Dimension of the tokens in `[batch, heads, tokens, head size]`.
const TOKENS: usize = 2;

/// Attention keys and values of some tokens in one layer: `[batch, heads, tokens, head size]` each.
#[derive(Clone)]
pub struct KeysValues {
    /// Keys, with their positions already rotated in.
    pub keys: Tensor,
    /// Values.
    pub values: Tensor,
}

impl KeysValues {
    /// These tokens followed by others.
    fn followed_by(&self, other: &Self) -> Result<Self> {
        Ok(Self {
            keys: Tensor::cat(&[&self.keys, &other.keys], TOKENS)?,
            values: Tensor::cat(&[&self.values, &other.values], TOKENS)?,
        })
    }

    fn n_elements(&self) -> usize {
        self.keys.elem_count() + self.values.elem_count()
    }
}

/// Keys and values of all committed blocks, layer by layer.
///
/// ```text
/// denoise block 2:   [ block 0 | block 1 ] + block 2 as it is at this step     nothing is kept
/// commit block 2:    [ block 0 | block 1 | block 2 clean ]                     kept for block 3
/// ```
///
/// A block sees the blocks before it and all of itself, never a later one.
pub struct KvCache {
    layers: Vec<Option<KeysValues>>,
}

impl KvCache {
    /// A cache that remembers nothing yet.
    pub fn new(n_layers: usize) -> Self {
        Self { layers: vec![None; n_layers] }
    }

    /// Tokens of the committed blocks.
    pub fn n_tokens(&self) -> usize {
        let first = self.layers.first().and_then(Option::as_ref);
        first.map_or(0, |layer| layer.keys.dims()[TOKENS])
    }

    /// Memory that the committed blocks hold.
    pub fn size_bytes(&self) -> usize {
        let layers = self.layers.iter().flatten();
        layers.map(KeysValues::n_elements).sum::<usize>() * DType::F32.size_in_bytes()
    }

    /// The committed tokens of a layer followed by the present ones; the cache does not change.
    pub fn followed_by(&self, layer: usize, present: &KeysValues) -> Result<KeysValues> {
        match &self.layers[layer] {
            Some(past) => past.followed_by(present),
            None => Ok(present.clone()),
        }
    }

    /// Keeps a finished block, given in the order of the layers.
    pub fn commit(&mut self, block: &[KeysValues]) -> Result<()> {
        for (index, present) in block.iter().enumerate() {
            self.layers[index] = Some(self.followed_by(index, present)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, IndexOp};

    fn block(value: f32, n_tokens: usize) -> KeysValues {
        let keys = Tensor::full(value, (1, 2, n_tokens, 4), &Device::Cpu).unwrap();
        let values = (&keys * 10.0).unwrap();
        KeysValues { keys, values }
    }

    #[test]
    fn only_a_commit_makes_the_cache_grow() {
        let mut cache = KvCache::new(2);
        assert_eq!((cache.n_tokens(), cache.size_bytes()), (0, 0));

        let seen = cache.followed_by(0, &block(1.0, 3)).unwrap();
        assert_eq!(seen.keys.dims(), [1, 2, 3, 4]);
        assert_eq!(cache.n_tokens(), 0);

        cache.commit(&[block(1.0, 3), block(1.0, 3)]).unwrap();
        assert_eq!(cache.n_tokens(), 3);
        cache.commit(&[block(2.0, 5), block(2.0, 5)]).unwrap();
        assert_eq!(cache.n_tokens(), 8);
        // 2 layers × keys and values × 2 heads × 8 tokens × 4 numbers × 4 bytes
        assert_eq!(cache.size_bytes(), 2 * 2 * 2 * 8 * 4 * 4);
    }

    #[test]
    fn past_tokens_come_before_present_ones() {
        let mut cache = KvCache::new(1);
        cache.commit(&[block(1.0, 1)]).unwrap();
        let seen = cache.followed_by(0, &block(2.0, 1)).unwrap();
        let first_numbers =
            |tensor: &Tensor| -> Vec<f32> { tensor.i((0, 0, .., 0)).unwrap().to_vec1().unwrap() };
        assert_eq!(first_numbers(&seen.keys), [1.0, 2.0]);
        assert_eq!(first_numbers(&seen.values), [10.0, 20.0]);
    }
}

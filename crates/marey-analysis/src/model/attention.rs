//! Attention: two products of matrices for each pair of a query and a key that the mask lets through.
//!
//! ```text
//! FLOPs = 2 · batch · heads · pairs · (d of queries + d of values)
//! ```
//!
//! Without a mask `pairs` is queries × keys, and this is `sdpa_flop_count` of torch's `flop_counter.py`, which counts causal attention as
//! if it had no mask. What a mask that is a tensor hides is not known: all its pairs count.

use super::arguments::{product, total};
use super::{Arguments, Tensor, Work};

/// Which pairs of a query and a key there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mask {
    /// How many keys before its own a query sees; `None` for all.
    before: Option<u64>,
    /// Likewise behind its own.
    behind: Option<u64>,
    /// The last query belongs to the last key, and not the first to the first.
    is_at_end: bool,
}

/// Nothing is longer, and pairs of so many fit into a number.
const LONGEST: u64 = 1 << 31;

const ALL: Mask = Mask { before: None, behind: None, is_at_end: false };
/// `is_causal` of torch: `ones(queries, keys).tril(diagonal=0)`.
const CAUSAL: Mask = Mask { behind: Some(0), ..ALL };
/// `causal` of flash attention from 2.1 on.
const CAUSAL_AT_END: Mask = Mask { is_at_end: true, ..CAUSAL };

/// `(q, k, v, dropout_p, is_causal, …)`, each `[batch, heads, length, d]`.
pub(super) fn torch_flash(of: &Arguments) -> Option<Work> {
    torch(of, 4)
}

/// `(q, k, v, attn_bias, compute_log_sumexp, dropout_p, is_causal, …)`.
pub(super) fn torch_masked(of: &Arguments) -> Option<Work> {
    torch(of, 6)
}

/// `(q, k, v, attn_bias, dropout_p, is_causal, …)`.
pub(super) fn torch_overrideable(of: &Arguments) -> Option<Work> {
    torch(of, 5)
}

fn torch(of: &Arguments, is_causal: usize) -> Option<Work> {
    let mask = if of.flag(is_causal)? { CAUSAL } else { ALL };
    dense(of, mask, [2, 1])
}

/// `(q, k, v, dropout_p, softmax_scale, causal, window_size_left, window_size_right, …)`, each `[batch, length, heads, d]`.
pub(super) fn flash(of: &Arguments) -> Option<Work> {
    dense(of, flash_mask(of, 5)?, [1, 2])
}

/// `(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, softmax_scale, causal, window_size_left,
/// window_size_right, …)`, each `[all lengths, heads, d]`. The lengths are known only where all of them are the longest.
pub(super) fn flash_of_lengths(of: &Arguments) -> Option<Work> {
    let [q, k, v] = [of.tensor(0)?, of.tensor(1)?, of.tensor(2)?];
    let n_sequences = of.tensor(3)?.dims.first()?.saturating_sub(1);
    let longest = |at| u64::try_from(of.integer(at)?).ok();
    let (queries, keys) = (longest(5)?, longest(6)?);
    let &[all_queries, heads, size] = q.dims.as_slice() else { return None };
    let are_equal = n_sequences.checked_mul(queries) == Some(all_queries)
        && n_sequences.checked_mul(keys) == k.dims.first().copied();
    let pairs = flash_mask(of, 9)?.pairs(queries, keys)?;
    let flops = flops(n_sequences.checked_mul(heads)?, pairs, size, *v.dims.last()?);
    Some(Work { flops: flops.filter(|_| are_equal), ..moved(&q, &k, &v) })
}

/// `(query, key, value, attn_bias, seqstart_q, seqstart_k, max_seqlen_q, dropout_p, compute_logsumexp, custom_mask_type, scale,
/// seqlen_k, window_size)`, each `[batch, length, heads, d]`; newer ones have `max_seqlen_k` before `dropout_p`, no `compute_logsumexp`
/// behind it, but `compute_log_sumexp` before `scale`. Of sequences of several lengths and of windows nothing is known.
pub(super) fn xformers(of: &Arguments) -> Option<Work> {
    let mask = match of.integer(9)? {
        0 => ALL,
        1 => CAUSAL,
        2 => CAUSAL_AT_END,
        _ => return None,
    };
    let has_lengths = [4, 11, 12].into_iter().any(|at| of.tensor(at).is_some());
    if has_lengths || [12, 13].into_iter().any(|at| of.value(at).is_some()) {
        return None;
    }
    dense(of, mask, [1, 2])
}

/// The mask of flash attention's arguments: whether it is causal, and how many keys to each side it lets through.
fn flash_mask(of: &Arguments, at: usize) -> Option<Mask> {
    let is_causal = of.flag(at)?;
    // -1: as many as there are.
    let [before, behind] =
        [of.integer(at + 1)?, of.integer(at + 2)?].map(|n| u64::try_from(n).ok());
    Some(Mask { before, behind: if is_causal { Some(0) } else { behind }, is_at_end: true })
}

/// Of tensors with four sizes; `places` are those of length and heads among them.
fn dense(of: &Arguments, mask: Mask, places: [usize; 2]) -> Option<Work> {
    let [q, k, v] = [of.tensor(0)?, of.tensor(1)?, of.tensor(2)?];
    if [&q, &k, &v].iter().any(|one| one.dims.len() != 4) {
        return None;
    }
    let [length, heads] = places;
    let pairs = mask.pairs(*q.dims.get(length)?, *k.dims.get(length)?)?;
    let n = q.dims.first()?.checked_mul(*q.dims.get(heads)?)?;
    let flops = flops(n, pairs, *q.dims.last()?, *v.dims.last()?);
    Some(Work { flops, ..moved(&q, &k, &v) })
}

fn flops(n_heads: u64, pairs: u64, d: u64, d_values: u64) -> Option<u64> {
    product(&[2, n_heads, pairs, d.checked_add(d_values)?])
}

/// Reads queries, keys and values, and writes a value for each query and head. A bias is left out: torch hands it on in full size, however
/// small what it was stretched from.
fn moved(q: &Tensor, k: &Tensor, v: &Tensor) -> Work {
    let rows = q.dims.split_last().and_then(|(_, rows)| product(rows));
    let written = rows.zip(v.dims.last().copied());
    let written = written.and_then(|(rows, d)| product(&[rows, d, q.element_bytes]));
    Work { flops: None, bytes: total([q.bytes(), k.bytes(), v.bytes(), written]), format: q.format }
}

impl Mask {
    /// How many pairs of so many queries and keys; `None` when that is too large.
    ///
    /// ```text
    /// 3 queries, 5 keys     causal      causal at the end   at the end, 1 before
    ///                       x           x x x               . x x
    ///                       x x         x x x x             . . x x
    ///                       x x x       x x x x x           . . . x x
    /// ```
    fn pairs(self, queries: u64, keys: u64) -> Option<u64> {
        if queries.max(keys) > LONGEST {
            return None;
        }
        let (n, most) = (i128::from(queries), i128::from(keys));
        let own = if self.is_at_end { most - n } else { 0 };
        let behind =
            self.behind.map_or(n * most, |behind| clamped(n, own + i128::from(behind) + 1, most));
        let before = self.before.map_or(0, |before| clamped(n, own - i128::from(before), most));
        u64::try_from(behind - before).ok()
    }
}

/// The sum of `clamp(first + i, 0, most)` for `i` from 0 to `n - 1`.
fn clamped(n: i128, first: i128, most: i128) -> i128 {
    let n_zero = (-first).clamp(0, n);
    let n_full = (n + first - most).clamp(0, n - n_zero);
    let n_between = n - n_zero - n_full;
    let lowest = first + n_zero;
    n_between * lowest + n_between * (n_between - 1) / 2 + n_full * most
}

//! Operators that are as slow as the memory is: each value is read once and written once, and little is computed with it.

use super::arguments::{product, total};
use super::{Arguments, NumberFormat, Tensor, Work};
use crate::stats::{float, whole};

/// Bytes of tensors that are read, and of what is written.
fn moved<'a>(read: impl IntoIterator<Item = &'a Tensor>, written: Option<u64>) -> Option<Work> {
    let bytes = total(read.into_iter().map(Tensor::bytes).chain([written]))?;
    Some(Work { bytes: Some(bytes), ..Work::default() })
}

/// All inputs are read, a value of each size that they have together is written.
pub(super) fn elementwise(of: &Arguments) -> Option<Work> {
    let read = of.tensors()?;
    let element_bytes = element_bytes(&read);
    moved(&read, product(&[together(&read)?, element_bytes]))
}

/// Likewise, with a byte for yes or no.
pub(super) fn comparison(of: &Arguments) -> Option<Work> {
    let read = of.tensors()?;
    moved(&read, together(&read))
}

/// The first input is written, nothing is read.
pub(super) fn fill(of: &Arguments) -> Option<Work> {
    moved([], of.tensor(0)?.bytes())
}

/// `copy_(to, from)`.
pub(super) fn copy(of: &Arguments) -> Option<Work> {
    moved([&of.tensor(1)?], of.tensor(0)?.bytes())
}

/// All inputs are read, and as much as the first one is written.
pub(super) fn normalization(of: &Arguments) -> Option<Work> {
    moved(&of.tensors()?, of.tensor(0)?.bytes())
}

/// `_softmax(input, dim, half_to_float)`.
pub(super) fn softmax(of: &Arguments) -> Option<Work> {
    let input = of.tensor(0)?;
    let element_bytes = if of.flag(2)? { 4 } else { input.element_bytes };
    moved([&input], input.count()?.checked_mul(element_bytes))
}

/// `mean(input, dims, …)`, `mean(input, dtype)`; without dims all of them.
pub(super) fn reduction(of: &Arguments) -> Option<Work> {
    // A number that stands alone is a type, that of the result.
    if !matches!(of.given(1)?.chars().next(), None | Some('[')) {
        return None;
    }
    reduced(of, 1, of.tensor(0)?.element_bytes)
}

/// `sum(input, dims, …)`, likewise. Sums of whole numbers have types of their own.
pub(super) fn summed(of: &Arguments) -> Option<Work> {
    of.tensor(0)?.format.filter(|format| format.is_float())?;
    reduction(of)
}

/// `linalg_vector_norm(input, order, dims, …)`.
pub(super) fn norm(of: &Arguments) -> Option<Work> {
    reduced(of, 2, of.tensor(0)?.element_bytes)
}

/// `argmax(input, dim, …)`: places are whole numbers of 64 bits.
pub(super) fn place_of_most(of: &Arguments) -> Option<Work> {
    reduced(of, 1, 8)
}

fn reduced(of: &Arguments, dims_at: usize, element_bytes: u64) -> Option<Work> {
    let input = of.tensor(0)?;
    let n_dims = input.dims.len();
    let dims: Vec<usize> = match of.given(dims_at)? {
        "" | "[]" => (0..n_dims).collect(),
        _ => {
            of.numbers(dims_at)?.iter().map(|dim| dimension(*dim, n_dims)).collect::<Option<_>>()?
        }
    };
    let kept = input.dims.iter().enumerate().filter(|(at, _)| !dims.contains(at));
    let kept: Vec<u64> = kept.map(|(_, size)| *size).collect();
    moved([&input], product(&kept)?.checked_mul(element_bytes))
}

/// The place of a dimension that may be counted from the end.
fn dimension(number: i64, n_dims: usize) -> Option<usize> {
    (0..n_dims).find(|at| {
        let at = i64::try_from(*at).ok();
        at == Some(number) || at == n_dims.try_into().ok().map(|n: i64| n.saturating_add(number))
    })
}

/// `index_select(input, dim, index)`: rows that are asked for.
pub(super) fn index_select(of: &Arguments) -> Option<Work> {
    let (input, index) = (of.tensor(0)?, of.tensor(2)?);
    let dim = dimension(*of.numbers::<i64>(1)?.first()?, input.dims.len())?;
    let others = input.count()?.checked_div(*input.dims.get(dim)?)?;
    let taken = product(&[others, index.count()?, input.element_bytes])?;
    moved([&index], taken.checked_mul(2))
}

/// `gather(input, dim, index)`: a value for each place.
pub(super) fn gather(of: &Arguments) -> Option<Work> {
    let (input, index) = (of.tensor(0)?, of.tensor(2)?);
    moved([&index], product(&[2, index.count()?, input.element_bytes]))
}

/// `upsample_nearest2d(input, output_size, scale_factors)`, and the same in one and three dimensions.
pub(super) fn upsample(of: &Arguments) -> Option<Work> {
    let input = of.tensor(0)?;
    let (rows, sizes) = input.dims.split_at_checked(2)?;
    let sizes = match (of.numbers::<u64>(1), of.numbers::<f64>(2)) {
        (Some(given), _) => given,
        (None, Some(factors)) if factors.len() == sizes.len() => {
            let scaled = sizes.iter().zip(factors);
            scaled.map(|(size, factor)| whole(float(*size) * factor)).collect()
        }
        _ => return None,
    };
    moved([&input], product(&[product(rows)?, product(&sizes)?, input.element_bytes]))
}

/// A kernel of Inductor, with the tensors that it reads and writes, and last how many values it goes through (`xnumel`, `r0_numel`). It takes
/// no more than so many of each: of a table or of several tensors in one the part that it needs. Other numbers before these only raise that.
pub(super) fn fused(of: &Arguments) -> Option<Work> {
    let sizes: Vec<u64> =
        of.integers().filter_map(|size| size.try_into().ok()).filter(|size| *size > 0).collect();
    let most = if sizes.is_empty() { u64::MAX } else { product(&sizes).unwrap_or(u64::MAX) };
    let tensors = of.tensors()?;
    let moved = |one: &Tensor| one.count()?.min(most).checked_mul(one.element_bytes);
    Some(Work { bytes: Some(total(tensors.iter().map(moved))?), ..Work::default() })
}

/// How many values tensors have that are stretched to one another: from the last dimension on the larger size.
fn together(tensors: &[Tensor]) -> Option<u64> {
    let n_dims = tensors.iter().map(|tensor| tensor.dims.len()).max()?;
    let size = |from_end: usize| {
        let sizes = tensors.iter().filter_map(|tensor| tensor.dims.iter().nth_back(from_end));
        let sizes: Vec<u64> = sizes.copied().collect();
        if sizes.contains(&0) { Some(0) } else { sizes.into_iter().max() }
    };
    product(&(0..n_dims).map(size).collect::<Option<Vec<u64>>>()?)
}

/// Bytes of a value that is made of all these: numbers with a point before whole ones, then the longest.
fn element_bytes(tensors: &[Tensor]) -> u64 {
    let rank =
        |tensor: &Tensor| (tensor.format.is_some_and(NumberFormat::is_float), tensor.element_bytes);
    tensors.iter().map(rank).max().map_or(0, |(_, bytes)| bytes)
}

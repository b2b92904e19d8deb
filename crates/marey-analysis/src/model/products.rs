//! Products of matrices: `2 · M · N · K` operations, as `mm_flop`, `addmm_flop`, `bmm_flop`, `baddbmm_flop` and `_scaled_mm_flop` of
//! torch's `flop_counter.py` have it. What is added to a product is not counted there, nor here.

use super::arguments::{product, total};
use super::{Arguments, NumberFormat, Tensor, Work};

/// `mm(a, b)`, `bmm(a, b)`, `mv(a, b)`, `dot(a, b)`; where the result is given, it stands behind them.
pub(super) fn plain(of: &Arguments) -> Option<Work> {
    let (a, b) = (of.tensor(0)?, of.tensor(1)?);
    let element_bytes = a.element_bytes;
    work(&a, &b, Some(element_bytes), [])
}

/// `addmm(added, a, b)`, `baddbmm(added, a, b)`, `addmv(added, a, b)`.
pub(super) fn added(of: &Arguments) -> Option<Work> {
    let (added, a, b) = (of.tensor(0)?, of.tensor(1)?, of.tensor(2)?);
    work(&a, &b, Some(a.element_bytes), [added.bytes()])
}

/// `_int_mm(a, b)`: 8 bits in, 32 bits out.
pub(super) fn of_integers(of: &Arguments) -> Option<Work> {
    work(&of.tensor(0)?, &of.tensor(1)?, Some(4), [])
}

/// `_scaled_mm(a, b, scale_a, scale_b, bias, scale_result, out_dtype)`. Without the last one the result has the type of the inputs.
pub(super) fn scaled(of: &Arguments) -> Option<Work> {
    let (a, b) = (of.tensor(0)?, of.tensor(1)?);
    let element_bytes = of.given(6).and_then(|given| match given {
        "" => Some(a.element_bytes),
        _ => of.integer(6).and_then(bytes_of_type),
    });
    let others = [2, 3, 4, 5].map(|at| of.tensor(at));
    let others = total(others.iter().flatten().map(Tensor::bytes));
    work(&a, &b, element_bytes, [others])
}

/// Bytes of an element of a type by its number in torch (`c10/core/ScalarType.h`).
fn bytes_of_type(number: i64) -> Option<u64> {
    match number {
        5 | 15 => Some(2),
        6 => Some(4),
        23..=26 => Some(1),
        _ => None,
    }
}

/// Of two matrices, of as many matrices each, or of a matrix and a vector; `others` are bytes of what is read beside them.
fn work(
    a: &Tensor,
    b: &Tensor,
    result_bytes: Option<u64>,
    others: impl IntoIterator<Item = Option<u64>>,
) -> Option<Work> {
    let (result, inner) = match (a.dims.as_slice(), b.dims.as_slice()) {
        (&[inner], &[rows]) if inner == rows => (vec![], inner),
        (&[m, inner], &[rows]) if inner == rows => (vec![m], inner),
        (&[m, inner], &[rows, n]) if inner == rows => (vec![m, n], inner),
        (&[some, m, inner], &[as_many, rows, n]) if inner == rows && some == as_many => {
            (vec![some, m, n], inner)
        }
        _ => return None,
    };
    let n_results = product(&result)?;
    let n_packed = if a.format == Some(NumberFormat::Fp4) { 2 } else { 1 };
    let written = result_bytes.and_then(|bytes| n_results.checked_mul(bytes));
    let bytes = total([a.bytes(), b.bytes(), written].into_iter().chain(others));
    Some(Work { flops: product(&[2, n_results, inner, n_packed]), bytes, format: a.format })
}

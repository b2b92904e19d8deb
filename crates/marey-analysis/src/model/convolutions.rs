//! Convolutions in one to three dimensions, as `conv_flop_count` of torch's `flop_counter.py` counts them.

use super::arguments::{product, total};
use super::{Arguments, Work};

/// `convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)`.
///
/// ```text
/// input  [N, C, size…]   weight  [C', C / groups, kernel…]   output  [N, C', size'…]
///        size' = (size + 2 · padding - dilation · (kernel - 1) - 1) / stride + 1
///        FLOPs = 2 · N · all of size' · all of weight
///
/// transposed             weight  [C, C' / groups, kernel…]
///        size' = (size - 1) · stride - 2 · padding + dilation · (kernel - 1) + output padding + 1
///        FLOPs = 2 · N · all of size · all of weight
/// ```
///
/// The bias is left out: for most backends torch adds it in a call of its own (`aten::add_`), which is counted there.
pub(super) fn convolution(of: &Arguments) -> Option<Work> {
    let (input, weight) = (of.tensor(0)?, of.tensor(1)?);
    let (&[n, _, ref sizes @ ..], &[first, second, ref kernel @ ..]) =
        (input.dims.as_slice(), weight.dims.as_slice())
    else {
        return None;
    };
    if sizes.len() != kernel.len() {
        return None;
    }
    let is_transposed = of.flag(6)?;
    let groups = u64::try_from(of.integer(8)?).ok()?;
    let setting = |at| of.numbers(at).and_then(|given| spread(&given, sizes.len()));
    let [stride, padding, dilation] = [setting(3)?, setting(4)?, setting(5)?];
    let more = if is_transposed { setting(7)? } else { vec![0; sizes.len()] };
    let mut result = Vec::with_capacity(sizes.len());
    for at in 0..sizes.len() {
        let [size, kernel, stride] = [sizes[at], kernel[at], stride[at]];
        let window = kernel.checked_sub(1)?.checked_mul(dilation[at])?.checked_add(1)?;
        let edges = padding[at].checked_mul(2)?;
        result.push(if is_transposed {
            let reached = size.checked_sub(1)?.checked_mul(stride)?.checked_add(window)?;
            reached.checked_add(more[at])?.checked_sub(edges)?
        } else {
            let free = size.checked_add(edges)?.checked_sub(window)?;
            free.checked_div(stride)?.checked_add(1)?
        });
    }
    let (channels, places) =
        if is_transposed { (second.checked_mul(groups)?, sizes) } else { (first, &result[..]) };
    let written = product(&[n, channels, product(&result)?, input.element_bytes]);
    Some(Work {
        flops: product(&[2, n, product(places)?, weight.count()?]),
        bytes: total([input.bytes(), weight.bytes(), written]),
        format: input.format,
    })
}

/// A number for each dimension; one alone is that of all.
fn spread(given: &[u64], n: usize) -> Option<Vec<u64>> {
    match given {
        [one] => Some(vec![*one; n]),
        all if all.len() == n => Some(all.to_vec()),
        _ => None,
    }
}

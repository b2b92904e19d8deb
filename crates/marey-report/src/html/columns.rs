//! Numbers as columns of bytes, which compress well.

/// Columns of whole numbers, one after the other.
///
/// A column has as many bytes a number as its largest needs, 0 to 8, and is stored by planes: the lowest bytes of all numbers
/// first.
///
/// ```text
/// 1, 258, 3   1 2 3   0 1 0
///             lowest  next
/// ```
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// All of them.
    pub(super) bytes: Vec<u8>,
    /// Bytes a number, of each column.
    pub(super) widths: Vec<usize>,
}

impl Columns {
    /// Adds a column.
    pub(super) fn add(&mut self, numbers: &[u64]) {
        let bits = numbers.iter().fold(0, |bits, number| bits | number);
        let width = (64 - bits.leading_zeros() as usize).div_ceil(8);
        self.bytes.reserve(numbers.len() * width);
        for plane in 0..width {
            let bytes = numbers.iter().map(|number| number.to_le_bytes()[plane]);
            self.bytes.extend(bytes);
        }
        self.widths.push(width);
    }

    pub(super) fn add_all(&mut self, numbers: impl Iterator<Item = u64>) {
        self.add(&numbers.collect::<Vec<u64>>());
    }
}

/// The distance of each number from the one before, from 0 for the first. They must ascend.
pub(super) fn steps(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut before = 0;
    let step = |number: u64| {
        let step = number.saturating_sub(before);
        before = number;
        step
    };
    numbers.into_iter().map(step).collect()
}

//! What a pickle's opcodes work on.

use super::values::{Value, Values};

/// Lists and dictionaries that may be open at once; a memory snapshot has 12.
pub(super) const MAX_MARKS: usize = 64;

/// Where the machine is in the input, and what it has built so far.
pub(super) struct MachineState<'a> {
    pub(super) input: &'a [u8],
    /// The next byte.
    pub(super) at: usize,
    pub(super) stack: Vec<Value>,
    /// Places in the stack.
    pub(super) marks: Vec<usize>,
    pub(super) memo: Vec<Value>,
    pub(super) values: Values<'a>,
}

impl<'a> MachineState<'a> {
    /// Nothing is built, and `at` is the next byte.
    pub(super) fn new(input: &'a [u8], at: usize) -> Self {
        Self {
            input,
            at,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            values: Values::new(input),
        }
    }
}

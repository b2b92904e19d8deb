//! Why a file is not read as a memory snapshot.

/// Why a file is not read as a memory snapshot. Offsets are bytes from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It does not begin as a pickle of protocol 2 to 5 does.
    #[error("this is no pickle of protocol 2 to 5")]
    NotAPickle,
    /// It holds an opcode that no memory snapshot needs.
    #[error("the pickle holds the opcode {opcode} at byte {offset}, which no memory snapshot needs{}; nothing of it was run", danger(*.runs_code))]
    Refused {
        /// Name of the opcode, as Python's `pickletools` has it.
        opcode: &'static str,
        /// Python's own reader would import or call something there.
        runs_code: bool,
        /// Where it is.
        offset: usize,
    },
    /// It holds a byte that is no opcode at all.
    #[error("the pickle holds the unknown opcode {code:#04x} at byte {offset}")]
    Unknown {
        /// The byte.
        code: u8,
        /// Where it is.
        offset: usize,
    },
    /// It ends before it is complete.
    #[error("the pickle is cut off: it ends in the middle of what begins at byte {offset}")]
    CutOff {
        /// Where the incomplete part begins.
        offset: usize,
    },
    /// Its opcodes contradict each other.
    #[error("the pickle is damaged at byte {offset}: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Where.
        offset: usize,
    },
    /// It asks for more than a memory snapshot of its length can need.
    #[error("the pickle asks for too many {what}: more than {limit} at byte {offset}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
        /// Where it asks for one more; 0 when that is no single place.
        offset: usize,
    },
    /// It is a sound pickle of something else.
    #[error("the pickle holds no memory snapshot: {what}")]
    NotASnapshot {
        /// What is missing.
        what: &'static str,
    },
}

fn danger(runs_code: bool) -> &'static str {
    if runs_code { " and with which a pickle runs code" } else { "" }
}

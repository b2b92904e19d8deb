//! What was wrong with a capture, as data.

/// Something that a reader had to work around. Shown in every report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes that are no valid block were passed over.
    #[error("{}", damaged(*length, *offset))]
    DamagedBytes {
        /// Where they begin in the file.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// The file ends within a block.
    #[error("the capture ends within a block (offset {offset})")]
    Truncated {
        /// Where the unfinished block begins.
        offset: u64,
    },
    /// A block of a kind that this version does not know was passed over.
    #[error("a block of unknown kind {kind} was passed over; a newer marey may read it")]
    UnknownBlock {
        /// Its kind.
        kind: u16,
    },
    /// A block held content that makes no sense; the rest of it was passed over.
    #[error("the block at offset {offset} is malformed; what follows in it was passed over")]
    MalformedBlock {
        /// Where the block begins.
        offset: u64,
    },
    /// The clock jumped between two anchors (suspend, migration of a virtual machine).
    #[error("the wall clock jumped by {by_ns} ns at {at_ns} ns (suspend, time set, or migration)")]
    ClockJump {
        /// When, since the start of the run.
        at_ns: u64,
        /// By how much the wall clock and the monotonic clock disagree.
        by_ns: i64,
    },
    /// The totals of the capture were taken before its end: later calls are counted from single records only.
    #[error(
        "the capture was not closed: totals come from its last snapshot and the records after it"
    )]
    TotalsAreOld,
    /// Recording is switched off: what the run did is not in the capture.
    #[error("recording is switched off (MAREY_ENABLED=0): nothing was measured")]
    RecordingOff,
    /// Another capture of the job is damaged, or is none: what its process did is missing.
    #[error("{what}")]
    OtherCapture {
        /// Its name, and what is wrong with it.
        what: String,
    },
    /// Variables of a launcher gave the process a place that cannot be; it has none, or another launcher's.
    #[error("the environment says {said}, which is no place in a job; it was not believed")]
    RankNotBelieved {
        /// The variables, quoted.
        said: String,
    },
}

impl Warning {
    /// Something that was recorded cannot be read.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::DamagedBytes { .. }
                | Self::Truncated { .. }
                | Self::UnknownBlock { .. }
                | Self::MalformedBlock { .. }
                | Self::OtherCapture { .. }
        )
    }
}

fn damaged(length: u64, offset: u64) -> String {
    match length {
        1 => format!("1 damaged byte at offset {offset} was passed over"),
        _ => format!("{length} damaged bytes at offset {offset} were passed over"),
    }
}

//! Why a device had nothing to do, as values.

use serde::Serialize;

/// Why a device had nothing to do. A gap is split where what came next was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// Until the launch: the host was late.
    LaunchLate,
    /// After it: the work waited for other work, or for the device.
    LaunchedBefore,
    /// The trace does not say which call it was, lacks work that was launched, or its clocks of host and device differ by more than
    /// the gap is long.
    NotKnown,
}

/// Why a device had nothing to do. Each is part of one [`GapCause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The host was late, and was in operators or in calls: it cannot launch faster.
    LaunchBound,
    /// The host was late, and waited for a device in a call.
    Synchronising,
    /// The host was late, and loaded, read or moved data.
    Data,
    /// The host was late, and the trace has no operator and no call: Python, or nothing that is recorded.
    Python,
    /// Launched, shortly before it began: as long as launches take.
    LaunchLatency,
    /// Launched; it waited for another stream.
    OtherStream,
    /// Launched; a short pause between work that was waiting already.
    ShortPause,
    /// Launched, long before; it waited for something that the trace does not show.
    Dependency,
    /// The trace does not say when it was launched.
    NotKnown,
    /// The trace lacks work that was launched for this time: the device may have worked.
    WorkMissing,
}

impl GapReason {
    /// The cause that it is part of.
    pub fn cause(self) -> GapCause {
        match self {
            Self::LaunchBound | Self::Synchronising | Self::Data | Self::Python => {
                GapCause::LaunchLate
            }
            Self::NotKnown | Self::WorkMissing => GapCause::NotKnown,
            _ => GapCause::LaunchedBefore,
        }
    }
}

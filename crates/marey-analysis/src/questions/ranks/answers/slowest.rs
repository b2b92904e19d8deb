//! The slowest rank and the last one, as values.

use crate::SharedAccount;

/// The slowest rank of a job beside a usual one: a rank that there is, so that what held each of them up adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowestRank {
    /// Its place.
    pub place: u32,
    /// Place of the rank with the median; of an even number the lower of the middle two.
    pub usual: u32,
    /// What they are compared by: own times as in [`super::RankStraggler::own_ns`] where waiting is known, else wall times.
    pub is_own_time: bool,
    /// That of the slowest and that of the usual one.
    pub ns: [u64; 2],
    /// It is so much longer than chance or evenness allow that the rank is slower than the others.
    pub is_slow: bool,
    /// What held the slowest and the usual one up, in this order; `None` unless both are captures of which that is known.
    pub account: Option<SharedAccount>,
}

/// The rank that still ran when all others had ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRank {
    /// Its place.
    pub place: u32,
    /// How long it still ran.
    pub alone_ns: u64,
    /// The largest section that no other rank has, and what it held the rank up; `None` where there is none, or that is not known.
    pub section: Option<(String, u64)>,
}

//! How much two values may differ for nothing: the documented floors.
//!
//! A figure that a run has once has no spread of its own, so that no test can be made of two of them. What is certain
//! enough then is a rule of thumb: how much such a figure differs between runs of one program on one machine.

use crate::findings::FigureUnit;

/// How a measure is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// The duration of a call: by its calls or by repeats; a change in few calls only when it is as large as that of something done once.
    Each,
    /// The sum of such durations: by repeats; else by what became of a call, and by the number of calls.
    Total,
    /// A time or a rate that a run has once: by repeats; else only when it is this much larger or smaller (2 is twice), and times of the
    /// host by at least [`ONCE_NS`].
    Once(f64),
    /// A number that is the same each time, or there is a reason.
    Count,
    /// Memory and what the machine did: by value, this much larger or smaller, and by at least [`least_amount`].
    Amount(f64),
}

/// What is done once takes longer or shorter by so much before that means anything, in nanoseconds.
pub(super) const ONCE_NS: f64 = 1e9;

/// What is done once takes so many times as long, or as short, before that means anything.
pub(super) const ONCE_RATIO: f64 = 2.0;

/// The same of the wall time: a run as a whole averages over much that a section does not.
pub(super) const WALL_RATIO: f64 = 1.5;

/// Two single runs of one program may differ by as much for reasons that neither of them shows: a test has to find more.
pub(super) const BETWEEN_RUNS: f64 = 1.015;

/// Totals of different numbers of calls differ by this factor before that means anything.
pub(super) const OTHER_COUNT_RATIO: f64 = 1.1;

/// What devices computed in two single traces differs by this factor before that means anything: kernels take the same time each time,
/// within the clocks of the device.
pub(super) const DEVICE_RATIO: f64 = 1.1;

/// The same of what waits for the host, or for other devices.
pub(super) const HOST_RATIO: f64 = 1.5;

/// The same of frames and blocks a second.
pub(super) const RATE_RATIO: f64 = 1.25;

/// Memory differs by this factor: the same program allocates nearly the same each time.
pub(super) const MEMORY_RATIO: f64 = 1.05;

/// The same of what is read and written: what the page cache holds is chance.
pub(super) const DISK_RATIO: f64 = 2.0;

/// The same of shares of the time that others have a part in.
pub(super) const SHARE_RATIO: f64 = 1.5;

/// The same of what a GPU does.
pub(super) const GPU_RATIO: f64 = 1.1;

/// Any factor, where the difference alone decides.
pub(super) const ANY_RATIO: f64 = 1.0;

/// Sections below this share of the wall time on both sides are not asked what they read from disks.
pub(super) const READ_SHARE: f64 = 0.05;

/// What an amount has to differ by, in its unit.
pub(super) fn least_amount(unit: FigureUnit) -> f64 {
    const MIB: f64 = 1_048_576.0;
    match unit {
        FigureUnit::Bytes => 64.0 * MIB,
        FigureUnit::BytesPerSecond => 10.0 * MIB,
        FigureUnit::Ratio => 0.05,
        FigureUnit::Hertz => 1e8,
        FigureUnit::Watts | FigureUnit::Joules | FigureUnit::Celsius => 10.0,
        _ => 0.0,
    }
}

/// How far apart two figures are, as the logarithm of their ratio, the same in both directions; endless where only one of
/// them is 0 or they have different signs.
pub(super) fn distance(a: f64, b: f64) -> f64 {
    if a - b == 0.0 {
        return 0.0;
    }
    if a <= 0.0 || b <= 0.0 {
        return f64::INFINITY;
    }
    (a / b).ln().abs()
}

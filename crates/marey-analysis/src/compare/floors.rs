//! How much two values may differ for nothing: the documented floors.
//!
//! A figure that a run has once has no spread of its own, so that no test can be made of two of them. What is certain
//! enough then is a rule of thumb for each kind of figure: how much it differs between runs of one program on one machine.

use super::measure::MeasureKind;

/// How a measure is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// By its calls or by repeats; a change in few calls only when it is as large as that of something done once.
    Calls,
    /// By repeats; else by what became of a call, and by the number of calls.
    Total,
    /// By repeats; else only when it is this much larger or smaller (2 is twice), and by at least [`ONCE_NS`].
    Once(f64),
    /// By repeats; else only when it is this much larger or smaller.
    Rate(f64),
    /// By repeats; else only when it is this much larger or smaller. A small part of the whole is not considered.
    Part(f64),
    /// By value: this much larger or smaller, and by at least so much.
    Value {
        /// 1.05 is a twentieth more.
        ratio: f64,
        /// In the unit of the measure.
        absolute: f64,
    },
    /// It is a number that is the same each time, or there is a reason.
    Exact,
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

/// What devices did in two single traces differs by this factor before that means anything.
pub(super) const DEVICE_RATIO: f64 = 1.1;

/// The same of what waits for the host, or for other devices.
const HOST_RATIO: f64 = 1.5;

/// Sections below this share of the wall time on both sides are not asked what they read from disks.
pub(super) const READ_SHARE: f64 = 0.05;

const MIB: f64 = 1_048_576.0;

impl Rule {
    /// The rule of a kind.
    pub(super) fn of(kind: MeasureKind) -> Self {
        use MeasureKind as K;
        let value = |ratio, absolute| Self::Value { ratio, absolute };
        match kind {
            K::SectionPerCall
            | K::NamePerCall
            | K::Turn
            | K::Step
            | K::DeviceStep
            | K::StepBusy
            | K::StepHost
            | K::KernelPerCall => Self::Calls,
            K::SectionTotal | K::NameTotal | K::KernelTotal => Self::Total,
            // Kernels take the same time each time, within the clocks of the device.
            K::DeviceBusy | K::DeviceCompute | K::ClassTotal | K::PhaseBusy | K::AttentionTime => {
                Self::Part(DEVICE_RATIO)
            }
            K::DeviceIdle
            | K::ExposedCommunication
            | K::ExposedCopies
            | K::TransferTime
            | K::PhaseHost
            | K::IdleOfCause
            | K::WaitsForDevices => Self::Part(HOST_RATIO),
            K::TransferBytes => value(1.01, 4096.0),
            K::WallTime => Self::Once(WALL_RATIO),
            K::FirstTurn | K::FirstStep | K::TimeToFirstBlock | K::TimeToFirstFrames => {
                Self::Once(ONCE_RATIO)
            }
            K::FramesPerSecond | K::BlocksPerSecond => Self::Rate(1.25),
            K::KernelCalls
            | K::TracedSteps
            | K::SectionCalls
            | K::NameCalls
            | K::Turns
            | K::Steps
            | K::CachedSteps => Self::Exact,
            // The same program allocates nearly the same each time.
            K::MemoryPeak
            | K::MemoryReserved
            | K::SectionMemoryPeak
            | K::GpuMemoryPeak
            | K::ProcessMemoryPeak => value(1.05, 64.0 * MIB),
            K::CacheHeld => value(1.05, 16.0 * MIB),
            // What the page cache holds is chance.
            K::BytesRead | K::BytesWritten | K::SectionBytesRead => value(2.0, 64.0 * MIB),
            K::ReadRate | K::SectionReadRate => value(2.0, 10.0 * MIB),
            K::Fragmentation | K::IoWait | K::IoPressure | K::CpuWait => value(1.5, 0.1),
            K::MemoryPressure | K::GpuThrottled => value(1.5, 0.05),
            K::CpuBusy => value(1.25, 0.1),
            K::GpuUtilization => value(1.1, 0.1),
            K::GpuPower => value(1.1, 10.0),
            K::GpuEnergy => value(1.2, 10.0),
            K::GpuTemperature => value(1.0, 10.0),
            K::GpuClock => value(1.1, 1e8),
            K::Stalled => value(1.5, ONCE_NS),
            K::CacheHitRatio => value(1.0, 0.05),
        }
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

//! One figure of both sides.

use serde::Serialize;

use super::verdict::{Basis, Verdict};
use crate::findings::{Confidence, FigureUnit};

/// One figure of both sides, and what its change means.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// What the figures count.
    pub unit: FigureUnit,
    /// Which direction is good.
    pub better: Better,
    /// `None` when the baseline does not have it.
    pub baseline: Option<Observed>,
    /// `None` when the candidate does not have it.
    pub candidate: Option<Observed>,
    /// `None` unless both sides have it.
    pub change: Option<Change>,
    /// What chance was judged by.
    pub basis: Basis,
    /// What became of it.
    pub verdict: Verdict,
    /// How sure the verdict is.
    pub confidence: Confidence,
    /// Why the verdict is what it is, one sentence fragment with the figures that decided.
    pub reason: String,
    /// For times: what the change adds to the time of a run (negative: takes from it), nanoseconds, all calls together.
    /// `None` for what is no time, or on one side only.
    pub impact_ns: Option<f64>,
}

/// A figure of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Median of the runs; of a call, the median of the runs' medians. Always finite.
    pub value: f64,
    /// Lowest of the samples.
    pub min: f64,
    /// Highest of the samples.
    pub max: f64,
    /// Runs, or calls, that it is of.
    pub n_samples: u64,
}

/// The candidate against the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Candidate less baseline.
    pub difference: f64,
    /// Candidate over baseline; 1.05 is 5 % more. `None` when the baseline is 0 or one of them is below 0.
    pub ratio: Option<f64>,
    /// Where `ratio` lies with 95 % confidence; `None` for single values.
    pub interval: Option<(f64, f64)>,
    /// Chance of such a difference when nothing changed; `None` where there is no test.
    pub p_value: Option<f64>,
    /// The same after correction for all tests of the comparison (Holm).
    pub adjusted_p_value: Option<f64>,
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Neither is.
    Neither,
}

impl Better {
    /// What a difference, candidate less baseline, is good for.
    pub(super) fn verdict(self, difference: f64) -> Verdict {
        match (self, difference > 0.0) {
            (Self::Neither, _) => Verdict::Different,
            (Self::Less, true) | (Self::More, false) => Verdict::Worse,
            (Self::Less, false) | (Self::More, true) => Verdict::Better,
        }
    }
}

/// What a measure is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The whole run.
    Run,
    /// A call path, names from the outermost to the innermost; in the baseline's words when both sides have it.
    Path(Vec<String>),
    /// All sections of a name.
    Name(String),
    /// All turns of the loops of a name.
    Loop(String),
    /// A source of memory readings: `process`, `cuda:0`.
    Memory(String),
    /// A source of memory readings, while a call path was open.
    MemoryDuring {
        /// The call path.
        path: Vec<String>,
        /// The source.
        source: String,
    },
    /// A GPU: its number if that is known, else its UUID.
    Gpu(String),
    /// A rate of frames, in words.
    Rate(String),
    /// A cache.
    Cache(String),
    /// All kernels of a name, on all devices.
    Kernel(String),
    /// All kernels of a class: `attention`, `gemm`.
    KernelClass(String),
    /// Copies of a direction: `HtoD`.
    Transfer(String),
    /// All parts of a trace that do one thing in a generation: `text encoder`.
    Phase(String),
    /// Attention by one path: `flash`.
    Attention(String),
    /// Idle time of devices by its cause: `host late`.
    IdleCause(String),
}

/// What kind of thing a measure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Wall time and times of sections, loops and steps.
    Time,
    /// Memory.
    Memory,
    /// Disks.
    Io,
    /// GPUs, processors, power.
    Machine,
    /// Frames, blocks.
    Generation,
    /// Caches.
    Cache,
    /// What devices did, as a trace says it.
    Device,
}

macro_rules! kinds {
    ($($(#[doc = $meaning:literal])+ $kind:ident: $area:ident, $unit:ident, $better:ident;)+) => {
        /// What is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum MeasureKind {
            $($(#[doc = $meaning])+ $kind,)+
        }

        impl MeasureKind {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// What it is about.
            pub fn area(self) -> Area {
                match self { $(Self::$kind => Area::$area,)+ }
            }

            /// What its figures count.
            pub fn unit(self) -> FigureUnit {
                match self { $(Self::$kind => FigureUnit::$unit,)+ }
            }

            /// Which direction is good.
            pub fn better(self) -> Better {
                match self { $(Self::$kind => Better::$better,)+ }
            }

            /// It is of everything that a run does: the wall time, or what devices did, in all or for a step.
            pub fn is_total_time(self) -> bool {
                matches!(
                    self,
                    Self::WallTime | Self::DeviceBusy | Self::StepBusy | Self::DeviceStep
                )
            }

            /// It is the wall time of the run.
            pub(super) fn is_wall(self) -> bool {
                self == Self::WallTime
            }

            /// What it is, for a reader: "time of all calls".
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$kind => concat!($($meaning),+).trim_ascii(),)+ }
            }
        }
    };
}

kinds! {
    /// wall time
    WallTime: Time, Ns, Less;
    /// time of all calls
    SectionTotal: Time, Ns, Less;
    /// time of a call, the first one apart where there are three
    SectionPerCall: Time, Ns, Less;
    /// calls
    SectionCalls: Time, Count, Neither;
    /// time of all calls of the name
    NameTotal: Time, Ns, Less;
    /// time of a call of the name, the first one apart where there are three
    NamePerCall: Time, Ns, Less;
    /// calls of the name
    NameCalls: Time, Count, Neither;
    /// time of a turn, the first one apart where there are three
    Turn: Time, Ns, Less;
    /// time of the first turn
    FirstTurn: Time, Ns, Less;
    /// turns
    Turns: Time, Count, Neither;
    /// time of a denoising step as the program reported it, warm-up apart
    Step: Time, Ns, Less;
    /// time of the first denoising step as the program reported it
    FirstStep: Time, Ns, Less;
    /// denoising steps
    Steps: Time, Count, Neither;
    /// highest memory in use
    MemoryPeak: Memory, Bytes, Less;
    /// highest memory that the allocator held
    MemoryReserved: Memory, Bytes, Less;
    /// share of what the allocator held without use, at its peak
    Fragmentation: Memory, Ratio, Less;
    /// highest memory in use while it was open
    SectionMemoryPeak: Memory, Bytes, Less;
    /// highest memory in use on the GPU, by anybody
    GpuMemoryPeak: Memory, Bytes, Less;
    /// highest resident memory of the process
    ProcessMemoryPeak: Memory, Bytes, Less;
    /// bytes that the process read from disks
    BytesRead: Io, Bytes, Neither;
    /// bytes a second that the process read from disks
    ReadRate: Io, BytesPerSecond, Neither;
    /// bytes a second that the process read from disks while it was open
    SectionReadRate: Io, BytesPerSecond, Neither;
    /// bytes that the process read from disks while it was open
    SectionBytesRead: Io, Bytes, Neither;
    /// bytes that the process wrote to disks
    BytesWritten: Io, Bytes, Neither;
    /// share of processor time that waited for a disk
    IoWait: Io, Ratio, Neither;
    /// share of the time in which tasks of the machine waited for a disk
    IoPressure: Io, Ratio, Neither;
    /// share of the time in which tasks of the machine waited for memory
    MemoryPressure: Memory, Ratio, Neither;
    /// share of the time in which threads of the process wanted a processor that they had none
    CpuWait: Machine, Ratio, Neither;
    /// share of the machine's processor time that was spent working
    CpuBusy: Machine, Ratio, Neither;
    /// share of the time in which the GPU worked
    GpuUtilization: Machine, Ratio, More;
    /// power that the GPU took, mean
    GpuPower: Machine, Watts, Neither;
    /// energy that the GPU took
    GpuEnergy: Machine, Joules, Less;
    /// highest temperature of the GPU
    GpuTemperature: Machine, Celsius, Neither;
    /// clock of the GPU's processors, mean
    GpuClock: Machine, Hertz, Neither;
    /// share of the time in which the GPU held its clocks down
    GpuThrottled: Machine, Ratio, Less;
    /// frames a second
    FramesPerSecond: Generation, PerSecond, More;
    /// blocks a second
    BlocksPerSecond: Generation, PerSecond, More;
    /// time to the first block
    TimeToFirstBlock: Generation, Ns, Less;
    /// time to the first delivered frames
    TimeToFirstFrames: Generation, Ns, Less;
    /// time that a viewer stood still for lack of frames
    Stalled: Generation, Ns, Less;
    /// steps that a cache answered
    CachedSteps: Cache, Count, Neither;
    /// share of lookups that hit
    CacheHitRatio: Cache, Ratio, More;
    /// most bytes that the cache held
    CacheHeld: Cache, Bytes, Less;
    /// time in which the device worked
    DeviceBusy: Device, Ns, Less;
    /// time between the first and the last work of the device in which it had none
    DeviceIdle: Device, Ns, Less;
    /// time of the device with kernels that compute
    DeviceCompute: Device, Ns, Less;
    /// time of the device with communication and no other kernel
    ExposedCommunication: Device, Ns, Less;
    /// time of the device with copies and no kernel
    ExposedCopies: Device, Ns, Less;
    /// time in which the device worked for a step of the profiler, the first one apart where there are three
    DeviceStep: Device, Ns, Less;
    /// time in which the device worked for a step or a call of the denoiser, warm-up apart
    StepBusy: Device, Ns, Less;
    /// time of the host in a step or a call of the denoiser, warm-up apart
    StepHost: Device, Ns, Less;
    /// steps, or calls of the denoiser, in a trace
    TracedSteps: Device, Count, Neither;
    /// time in which devices worked for what such parts launched
    PhaseBusy: Device, Ns, Less;
    /// time of the host in such parts
    PhaseHost: Device, Ns, Less;
    /// time of the kernels of the attention path
    AttentionTime: Device, Ns, Less;
    /// idle time of devices with the cause
    IdleOfCause: Device, Ns, Less;
    /// time of all kernels of the class
    ClassTotal: Device, Ns, Less;
    /// time of all kernels of the name
    KernelTotal: Device, Ns, Less;
    /// time of a kernel of the name
    KernelPerCall: Device, Ns, Less;
    /// kernels of the name
    KernelCalls: Device, Count, Neither;
    /// time of all copies of the direction
    TransferTime: Device, Ns, Less;
    /// bytes of all copies of the direction
    TransferBytes: Device, Bytes, Neither;
    /// time of the host in calls that wait for a device
    WaitsForDevices: Device, Ns, Less;
}

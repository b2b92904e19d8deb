//! Everything that is compared, a row a figure.

use serde::Serialize;

use super::floors::{
    ANY_RATIO, DEVICE_RATIO, DISK_RATIO, GPU_RATIO, HOST_RATIO, MEMORY_RATIO, ONCE_RATIO,
    RATE_RATIO, Rule, SHARE_RATIO, WALL_RATIO,
};
use super::measure::Better;
use crate::findings::FigureUnit;

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
    ($($(#[doc = $meaning:literal])+ $kind:ident: $area:ident, $unit:ident, $better:ident, $rule:expr $(, $label:literal)?;)+) => {
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

            /// How it is decided.
            pub(super) fn rule(self) -> Rule {
                use Rule::{Amount, Count, Each, Once, Total};
                match self { $(Self::$kind => $rule,)+ }
            }

            /// What it is, for a reader: "time of all calls".
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$kind => concat!($($meaning),+).trim_ascii(),)+ }
            }

            /// The same beside the name of what it is of, where that can be shorter: "total time".
            pub fn label(self) -> &'static str {
                let shorter: &[&str] = match self { $(Self::$kind => &[$($label)?],)+ };
                shorter.first().copied().unwrap_or(self.meaning())
            }
        }
    };
}

impl MeasureKind {
    /// It is of everything that a run does: the wall time, or what devices did, in all or for a step.
    pub fn is_total_time(self) -> bool {
        matches!(self, Self::WallTime | Self::DeviceBusy | Self::StepBusy | Self::DeviceStep)
    }
}

// Meaning, name: what it is about, its unit, which direction is good, how it is decided, and how it is called beside a name.
kinds! {
    /// wall time
    WallTime: Time, Ns, Less, Once(WALL_RATIO);
    /// time of all calls
    SectionTotal: Time, Ns, Less, Total, "total time";
    /// time of a call, the first one apart where there are three
    SectionPerCall: Time, Ns, Less, Each, "time per call";
    /// calls
    SectionCalls: Time, Count, Neither, Count;
    /// time of all calls of the name
    NameTotal: Time, Ns, Less, Total, "total time";
    /// time of a call of the name, the first one apart where there are three
    NamePerCall: Time, Ns, Less, Each, "time per call";
    /// calls of the name
    NameCalls: Time, Count, Neither, Count;
    /// time of an iteration, the first one apart where there are three
    Iteration: Time, Ns, Less, Each, "time per iteration";
    /// time of the first iteration
    FirstIteration: Time, Ns, Less, Once(ONCE_RATIO), "first iteration";
    /// iterations
    Iterations: Time, Count, Neither, Count;
    /// time of a denoising step as the program reported it, warm-up apart
    Step: Time, Ns, Less, Each, "time per step";
    /// time of the first denoising step as the program reported it
    FirstStep: Time, Ns, Less, Once(ONCE_RATIO), "first step";
    /// denoising steps
    Steps: Time, Count, Neither, Count;
    /// highest memory in use
    MemoryPeak: Memory, Bytes, Less, Amount(MEMORY_RATIO), "memory peak";
    /// highest memory that the allocator held
    MemoryReserved: Memory, Bytes, Less, Amount(MEMORY_RATIO), "allocator's memory peak";
    /// share of what the allocator held without use, at its peak
    Fragmentation: Memory, Ratio, Less, Amount(SHARE_RATIO), "fragmentation";
    /// highest memory in use while it was open
    SectionMemoryPeak: Memory, Bytes, Less, Amount(MEMORY_RATIO), "memory peak";
    /// highest memory in use on the GPU, by anybody
    GpuMemoryPeak: Memory, Bytes, Less, Amount(MEMORY_RATIO), "GPU memory peak";
    /// highest resident memory of the process
    ProcessMemoryPeak: Memory, Bytes, Less, Amount(MEMORY_RATIO), "resident memory peak";
    /// bytes that the process read from disks
    BytesRead: Io, Bytes, Neither, Amount(DISK_RATIO), "read from disks";
    /// bytes a second that the process read from disks
    ReadRate: Io, BytesPerSecond, Neither, Amount(DISK_RATIO), "disk read rate";
    /// bytes a second that the process read from disks while it was open
    SectionReadRate: Io, BytesPerSecond, Neither, Amount(DISK_RATIO), "disk read rate";
    /// bytes that the process read from disks while it was open
    SectionBytesRead: Io, Bytes, Neither, Amount(DISK_RATIO), "read from disks";
    /// bytes that the process wrote to disks
    BytesWritten: Io, Bytes, Neither, Amount(DISK_RATIO), "written to disks";
    /// share of processor time that waited for a disk
    IoWait: Io, Ratio, Neither, Amount(SHARE_RATIO), "processors waiting for disks";
    /// share of the time in which tasks of the machine waited for a disk
    IoPressure: Io, Ratio, Neither, Amount(SHARE_RATIO), "tasks of the machine waiting for disks";
    /// share of the time in which tasks of the machine waited for memory
    MemoryPressure: Memory, Ratio, Neither, Amount(SHARE_RATIO), "tasks of the machine waiting for memory";
    /// share of the time in which threads of the process wanted a processor that they had none
    CpuWait: Machine, Ratio, Neither, Amount(SHARE_RATIO), "own threads waiting for processors";
    /// share of the machine's processor time that was spent working
    CpuBusy: Machine, Ratio, Neither, Amount(SHARE_RATIO), "processors busy";
    /// share of the time in which the GPU worked
    GpuUtilization: Machine, Ratio, More, Amount(GPU_RATIO), "GPU busy";
    /// power that the GPU took, mean
    GpuPower: Machine, Watts, Neither, Amount(GPU_RATIO), "GPU power";
    /// energy that the GPU took
    GpuEnergy: Machine, Joules, Less, Amount(GPU_RATIO), "GPU energy";
    /// highest temperature of the GPU
    GpuTemperature: Machine, Celsius, Neither, Amount(ANY_RATIO), "GPU temperature";
    /// clock of the GPU's processors, mean
    GpuClock: Machine, Hertz, Neither, Amount(GPU_RATIO), "GPU clock";
    /// share of the time in which the GPU held its clocks down
    GpuThrottled: Machine, Ratio, Less, Amount(SHARE_RATIO), "GPU throttled";
    /// frames a second
    FramesPerSecond: Generation, PerSecond, More, Once(RATE_RATIO), "frames per second";
    /// blocks a second
    BlocksPerSecond: Generation, PerSecond, More, Once(RATE_RATIO), "blocks per second";
    /// time to the first block
    TimeToFirstBlock: Generation, Ns, Less, Once(ONCE_RATIO);
    /// time to the first delivered frames
    TimeToFirstFrames: Generation, Ns, Less, Once(ONCE_RATIO);
    /// time that a viewer stood still for lack of frames
    Stalled: Generation, Ns, Less, Once(ONCE_RATIO);
    /// steps that a cache answered
    CachedSteps: Cache, Count, Neither, Count;
    /// share of lookups that hit
    CacheHitRatio: Cache, Ratio, More, Amount(ANY_RATIO), "hit ratio";
    /// most bytes that the cache held
    CacheHeld: Cache, Bytes, Less, Amount(MEMORY_RATIO), "memory held";
    /// time in which the device worked
    DeviceBusy: Device, Ns, Less, Once(DEVICE_RATIO), "device busy";
    /// time between the first and the last work of the device in which it had none
    DeviceIdle: Device, Ns, Less, Once(HOST_RATIO), "device idle";
    /// time of the device with kernels that compute
    DeviceCompute: Device, Ns, Less, Once(DEVICE_RATIO), "device computing";
    /// time of the device with communication and no other kernel
    ExposedCommunication: Device, Ns, Less, Once(HOST_RATIO), "exposed communication";
    /// time of the device with copies and no kernel
    ExposedCopies: Device, Ns, Less, Once(HOST_RATIO), "exposed copies";
    /// time in which the device worked for a step of the profiler, the first one apart where there are three
    DeviceStep: Device, Ns, Less, Each, "device busy per profiler step";
    /// time in which the device worked for a step or a call of the denoiser, warm-up apart
    StepBusy: Device, Ns, Less, Each, "device busy per step";
    /// time of the host in a step or a call of the denoiser, warm-up apart
    StepHost: Device, Ns, Less, Each, "host time per step";
    /// steps, or calls of the denoiser, in a trace
    TracedSteps: Device, Count, Neither, Count, "steps";
    /// time in which devices worked for what such parts launched
    PhaseBusy: Device, Ns, Less, Once(DEVICE_RATIO), "device busy";
    /// time of the host in such parts
    PhaseHost: Device, Ns, Less, Once(HOST_RATIO), "host time";
    /// time of the kernels of the attention path
    AttentionTime: Device, Ns, Less, Once(DEVICE_RATIO), "device time";
    /// idle time of devices with the cause
    IdleOfCause: Device, Ns, Less, Once(HOST_RATIO), "device idle";
    /// time of all kernels of the class
    ClassTotal: Device, Ns, Less, Once(DEVICE_RATIO), "device time";
    /// time of all kernels of the name
    KernelTotal: Device, Ns, Less, Total, "kernel time";
    /// time of a kernel of the name
    KernelPerCall: Device, Ns, Less, Each, "time per kernel";
    /// kernels of the name
    KernelCalls: Device, Count, Neither, Count, "kernel calls";
    /// time of all copies of the direction
    TransferTime: Device, Ns, Less, Once(HOST_RATIO), "device time";
    /// bytes of all copies of the direction
    TransferBytes: Device, Bytes, Neither, Count;
    /// time of the host in calls that wait for a device
    WaitsForDevices: Device, Ns, Less, Once(HOST_RATIO), "waiting for devices";
}

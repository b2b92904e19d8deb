//! What calls of operators come to: how much work it was, how long it took, and how long it takes at least.

use std::num::Saturating;

use serde::Serialize;

use crate::model::{DevicePeaks, Work};
use crate::stats::{float, rate, ratio, whole};

/// What keeps calls from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The FLOPs would take longer than the bytes.
    Compute,
    /// The bytes would take longer than the FLOPs.
    Memory,
    /// Its kernels take less than 5 µs in the mean and reach less than half of the roofline: starting and ending them takes most of the time.
    Latency,
}

/// A kernel below this takes about as long with nothing to do: it has to be started, to fill the device and to be waited for.
const SHORT_NS: u64 = 5_000;

/// The share of the roofline that headroom is counted from: none gets all of it.
const REACHABLE: f64 = 0.7;

/// The share of a time of which the work has to be known, so that something can be said of all of it.
pub const KNOWN_WORK: f64 = 0.9;

/// What calls did and how long it took. Rates are of the calls of which the amount is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledFigures {
    /// Calls that launched something.
    pub count: u64,
    /// Kernels, copies and fills that they launched.
    pub n_launched: u64,
    /// Their durations together.
    pub device_ns: u64,
    /// Share of all durations of the device, or of the part or module that they are of, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// FLOPs together; `None` when they are known of no call.
    pub flops: Option<u64>,
    /// Bytes together, likewise.
    pub bytes: Option<u64>,
    /// FLOPs in a second of device time.
    pub flops_per_second: Option<f64>,
    /// Bytes in a second of device time.
    pub bytes_per_second: Option<f64>,
    /// FLOPs for each byte.
    pub flops_per_byte: Option<f64>,
    /// Share of the FLOPs that the device could have done in that time; `None` without a peak.
    pub peak_ratio: Option<f64>,
    /// Share of the device time that FLOPs and bytes need at least, the longer of both at the peak. More than 1 where what is read was still
    /// in a cache.
    pub roofline_ratio: Option<f64>,
    /// How much of the device time would go if each call that is slower reached 70 % of its roofline, but took no less than 5 µs for each
    /// kernel. `None` where the roofline of less than nine tenths of the time is known; of a part or a module, of all that it launched.
    pub headroom_ns: Option<u64>,
}

/// What the calls of a part or a module did. A part has the calls that launched their first work in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModelledPart {
    /// Share of the durations of its work whose FLOPs or bytes are known, 0 to 1; `None` when all are zero.
    pub modelled_ratio: Option<f64>,
    /// Share of the device's span for it that its FLOPs would take at the peaks of their formats (MFU); `None` of a module.
    pub utilization_ratio: Option<f64>,
    /// All its calls together.
    #[serde(flatten)]
    pub all: ModelledFigures,
}

/// What calls come to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    count: u64,
    n_launched: u64,
    pub(super) device_ns: u64,
    /// Of calls whose FLOPs or bytes are known.
    pub(super) modelled_ns: u64,
    flops: Known<Saturating<u64>>,
    bytes: Known<Saturating<u64>>,
    /// FLOPs and bytes of calls of which both are known.
    both: (u64, u64),
    /// Nanoseconds that FLOPs take at the peak.
    compute: Known<f64>,
    /// That bytes take.
    memory: Known<f64>,
    /// The longer of both.
    roofline: Known<f64>,
    /// Of calls whose roofline is known.
    headroom_ns: u64,
}

/// What is known of some calls, added up, and the durations of what they launched.
#[derive(Clone, Copy, Debug, Default)]
struct Known<T> {
    sum: Option<T>,
    device_ns: u64,
}

impl<T: Copy + std::ops::Add<Output = T>> Known<T> {
    fn new(sum: Option<T>, device_ns: u64) -> Self {
        Self { sum, device_ns: sum.map_or(0, |_| device_ns) }
    }

    fn add(&mut self, other: Self) {
        self.sum = match (self.sum, other.sum) {
            (Some(one), Some(more)) => Some(one + more),
            (one, other) => one.or(other),
        };
        self.device_ns = self.device_ns.saturating_add(other.device_ns);
    }
}

impl Known<f64> {
    /// Of the time.
    fn ratio(self) -> Option<f64> {
        self.sum.filter(|_| self.device_ns > 0).map(|ns| ns / float(self.device_ns))
    }
}

impl Sums {
    /// Of one call with the durations of what it launched together.
    ///
    /// ```text
    /// |--------------- 40 µs ----------------|
    /// |-- 20 at roofline --|
    /// |------ 28.571 at 70 % ------|=========|     headroom 11.429 µs
    /// ```
    pub(super) fn new(
        work: Work,
        n_launched: u64,
        device_ns: u64,
        peaks: Option<&DevicePeaks>,
    ) -> Self {
        let least = |amount: Option<u64>, per_second: Option<f64>| {
            amount.zip(per_second).map(|(amount, peak)| float(amount) / peak * 1e9)
        };
        let of_format = work.format.and_then(|format| peaks?.flops_per_second(format));
        let compute_ns = least(work.flops, of_format);
        let memory_ns = least(work.bytes, peaks.map(|peaks| peaks.bytes_per_second));
        // With products whose speed is not known nothing is known of the whole.
        let is_whole = work.flops.is_none() || compute_ns.is_some();
        let longer = |ns: f64| ns.max(compute_ns.unwrap_or(0.0));
        let roofline_ns = memory_ns.filter(|_| is_whole).map(longer);
        let reachable_ns = roofline_ns.map_or(u64::MAX, |ns| whole((ns / REACHABLE).round()));
        let is_modelled = work.flops.is_some() || work.bytes.is_some();
        Self {
            count: 1,
            n_launched,
            device_ns,
            modelled_ns: if is_modelled { device_ns } else { 0 },
            flops: Known::new(work.flops.map(Saturating), device_ns),
            bytes: Known::new(work.bytes.map(Saturating), device_ns),
            both: work.flops.zip(work.bytes).unwrap_or_default(),
            compute: Known::new(compute_ns, device_ns),
            memory: Known::new(memory_ns, device_ns),
            roofline: Known::new(roofline_ns, device_ns),
            headroom_ns: device_ns.saturating_sub(reachable_ns.max(SHORT_NS * n_launched)),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for (mine, others) in [
            (&mut self.count, other.count),
            (&mut self.n_launched, other.n_launched),
            (&mut self.device_ns, other.device_ns),
            (&mut self.modelled_ns, other.modelled_ns),
            (&mut self.headroom_ns, other.headroom_ns),
            (&mut self.both.0, other.both.0),
            (&mut self.both.1, other.both.1),
        ] {
            *mine = mine.saturating_add(others);
        }
        self.flops.add(other.flops);
        self.bytes.add(other.bytes);
        self.compute.add(other.compute);
        self.memory.add(other.memory);
        self.roofline.add(other.roofline);
    }

    /// What keeps calls with equal work from being faster.
    pub(super) fn bound(self) -> Option<Bound> {
        let ratio = self.roofline.ratio()?;
        let is_short = self.device_ns < SHORT_NS.saturating_mul(self.n_launched);
        Some(match () {
            () if is_short && ratio < 0.5 => Bound::Latency,
            () if self.compute.sum > self.memory.sum => Bound::Compute,
            () => Bound::Memory,
        })
    }

    /// The share of this time that its FLOPs take at the peak; `None` where that is not known.
    pub(super) fn utilization_ratio(self, span_ns: u64) -> Option<f64> {
        let is_known = self.compute.device_ns > 0 && span_ns > 0;
        self.compute.sum.filter(|_| is_known).map(|ns| ns / float(span_ns))
    }

    /// For a part, or a module, whose work took so long, and kept the device from its first to its last for so long.
    pub(super) fn of_part(self, work_ns: u64, span_ns: u64) -> ModelledPart {
        ModelledPart {
            modelled_ratio: share(self.modelled_ns, work_ns),
            utilization_ratio: self.utilization_ratio(span_ns),
            all: self.figures(work_ns, work_ns),
        }
    }

    /// Of a device that worked for so long; headroom is of a time of which the roofline has to be known.
    pub(super) fn figures(self, all_ns: u64, headroom_of_ns: u64) -> ModelledFigures {
        let known_ns = self.roofline.device_ns;
        let is_known = known_ns > 0 && float(known_ns) >= KNOWN_WORK * float(headroom_of_ns);
        let (flops, bytes) = self.both;
        let amount = |of: Known<Saturating<u64>>| of.sum.map(|sum| sum.0);
        let per_second = |of: Known<_>| rate(amount(of)?, of.device_ns);
        ModelledFigures {
            count: self.count,
            n_launched: self.n_launched,
            device_ns: self.device_ns,
            ratio: share(self.device_ns, all_ns),
            flops: amount(self.flops),
            bytes: amount(self.bytes),
            flops_per_second: per_second(self.flops),
            bytes_per_second: per_second(self.bytes),
            peak_ratio: self.compute.ratio(),
            roofline_ratio: self.roofline.ratio(),
            headroom_ns: is_known.then_some(self.headroom_ns),
            flops_per_byte: (bytes > 0 && flops > 0).then(|| ratio(flops.into(), bytes.into())),
        }
    }
}

/// A share of all durations. Of a call around the end of a part all is in it, so that it may have more than the part.
pub(super) fn share(part_ns: u64, all_ns: u64) -> Option<f64> {
    (all_ns > 0).then(|| ratio(part_ns.into(), all_ns.into()).min(1.0))
}

//! What calls of operators come to: how much work it was, how long it took, and how long it takes at least.

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
pub(crate) const KNOWN_WORK: f64 = 0.9;

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
    /// Share of the device's span for it that its FLOPs would take at the peaks of their formats (MFU); `None` of a module, and as of a
    /// whole device.
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
    device_ns: u64,
    /// Of calls whose FLOPs or bytes are known.
    pub(super) modelled_ns: u64,
    flops: Amount,
    bytes: Amount,
    /// FLOPs and bytes of calls of which both are known.
    both: (u64, u64),
    /// FLOPs at the peak.
    compute: Least,
    /// Bytes at the peak.
    memory: Least,
    /// The longer of both.
    roofline: Least,
    /// Of calls whose roofline is known.
    headroom_ns: u64,
}

/// How long an amount takes at least, and the time of what did it.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    least_ns: f64,
    device_ns: u64,
}

impl Least {
    fn ratio(self) -> Option<f64> {
        (self.device_ns > 0).then(|| self.least_ns / float(self.device_ns))
    }

    fn add(&mut self, other: Self) {
        self.least_ns += other.least_ns;
        self.device_ns = self.device_ns.saturating_add(other.device_ns);
    }
}

/// An amount, as far as it is known, and the time of what did it.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    known: Option<u64>,
    device_ns: u64,
}

impl Amount {
    fn per_second(self) -> Option<f64> {
        rate(self.known?, self.device_ns)
    }

    fn add(&mut self, other: Self) {
        self.known = match (self.known, other.known) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, other) => one.or(other),
        };
        self.device_ns = self.device_ns.saturating_add(other.device_ns);
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
        let amount =
            |known: Option<u64>| Amount { known, device_ns: known.map_or(0, |_| device_ns) };
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
        let known =
            |ns: Option<f64>| ns.map_or(Least::default(), |least_ns| Least { least_ns, device_ns });
        let is_modelled = work.flops.is_some() || work.bytes.is_some();
        Self {
            count: 1,
            n_launched,
            device_ns,
            modelled_ns: if is_modelled { device_ns } else { 0 },
            flops: amount(work.flops),
            bytes: amount(work.bytes),
            both: work.flops.zip(work.bytes).unwrap_or_default(),
            compute: known(compute_ns),
            memory: known(memory_ns),
            roofline: known(roofline_ns),
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
            () if self.compute.least_ns > self.memory.least_ns => Bound::Compute,
            () => Bound::Memory,
        })
    }

    /// The share of this time that its FLOPs take at the peak; `None` where that is not known.
    pub(super) fn utilization_ratio(self, span_ns: u64) -> Option<f64> {
        let is_known = self.compute.device_ns > 0 && span_ns > 0;
        is_known.then(|| self.compute.least_ns / float(span_ns))
    }

    /// For a part, or a module, whose work took so long, and kept the device from its first to its last for so long.
    pub(super) fn of_part(self, work_ns: u64, span_ns: u64) -> ModelledPart {
        ModelledPart {
            modelled_ratio: share(self.modelled_ns, work_ns),
            utilization_ratio: self.utilization_ratio(span_ns),
            all: ModelledFigures {
                headroom_ns: self.headroom_of(work_ns),
                ..self.figures(work_ns)
            },
        }
    }

    /// What of a time could go, if the roofline of most of it is known.
    fn headroom_of(self, device_ns: u64) -> Option<u64> {
        let is_known = float(self.roofline.device_ns) >= KNOWN_WORK * float(device_ns);
        (is_known && device_ns > 0).then_some(self.headroom_ns)
    }

    pub(super) fn figures(self, all_ns: u64) -> ModelledFigures {
        let (flops, bytes) = self.both;
        ModelledFigures {
            count: self.count,
            n_launched: self.n_launched,
            device_ns: self.device_ns,
            ratio: share(self.device_ns, all_ns),
            flops: self.flops.known,
            bytes: self.bytes.known,
            flops_per_second: self.flops.per_second(),
            bytes_per_second: self.bytes.per_second(),
            peak_ratio: self.compute.ratio(),
            roofline_ratio: self.roofline.ratio(),
            headroom_ns: self.headroom_of(self.device_ns),
            flops_per_byte: (bytes > 0 && flops > 0).then(|| ratio(flops.into(), bytes.into())),
        }
    }
}

/// A share of all durations. Of a call around the end of a part all is in it, so that it may have more than the part.
pub(super) fn share(part_ns: u64, all_ns: u64) -> Option<f64> {
    (all_ns > 0).then(|| ratio(part_ns.into(), all_ns.into()).min(1.0))
}

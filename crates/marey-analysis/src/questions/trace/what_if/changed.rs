//! How long work of devices would take, and what would wait for what.

use std::collections::BTreeSet;

use super::super::TraceContext;
use super::super::device_timeline::{DeviceTimeline, DeviceWork};
use super::super::kernel_class::KernelClass;
use super::super::kernels::KernelClasses;
use super::super::transfers::is_transfer;
use super::change::{Change, Effect, UnknownChange};
use crate::import::chrome::Meanings;
use crate::model::{NumberFormat, peaks};
use crate::stats::{float, whole};

/// What changes come to.
pub(super) struct Changed {
    /// Of each device, how long each work takes.
    pub(super) durations_ns: Vec<Vec<u64>>,
    /// Calls that wait do not wait for work.
    pub(super) is_without_waits: bool,
    /// No work of a device waits for copies between it and the host.
    pub(super) has_free_copies: bool,
    /// Changes that change nothing here.
    pub(super) without_effect: Vec<String>,
    /// What is taken for granted, a sentence each.
    pub(super) assumptions: Vec<&'static str>,
}

/// Parts of the names of kernels that compute in 8 bits already, in lower case.
const EIGHT_BITS: [&str; 8] = ["fp8", "f8", "e4m3", "e5m2", "int8", "i8", "sage", "qk_int"];

impl Changed {
    pub(super) fn new(
        context: &TraceContext<'_>,
        changes: &[Change],
    ) -> Result<Self, UnknownChange> {
        let timelines = &context.timelines;
        let recorded =
            |timeline: &DeviceTimeline| timeline.work.iter().map(DeviceWork::length_ns).collect();
        let mut changed = Self {
            durations_ns: timelines.iter().map(recorded).collect(),
            is_without_waits: false,
            has_free_copies: false,
            without_effect: Vec::new(),
            assumptions: vec!["the host is as fast as recorded, with the overhead of the profiler"],
        };
        let mut classes = BTreeSet::new();
        let mut nothing = Vec::new();
        for change in changes {
            if change.class().is_some_and(|class| !classes.insert(class)) {
                return Err(UnknownChange::Twice(change.text.clone()));
            }
            let is_any = match change.effect {
                Effect::NoSync => {
                    changed.is_without_waits = true;
                    !context.waits.rows.is_empty()
                }
                Effect::OverlapCopies => {
                    changed.has_free_copies = true;
                    let mut work = timelines.iter().flat_map(|timeline| &timeline.work);
                    work.any(|work| is_transfer(context.trace, work))
                }
                Effect::Faster(class, times) => {
                    changed.speed_up(context, class, false, |_| Ok(times))?
                }
                Effect::GemmFp8 => {
                    let class = KernelClass::Gemm;
                    changed.speed_up(context, class, true, |device| {
                        times_in_eight_bits(context, device, change)
                    })?
                }
                Effect::AttentionSage => {
                    let class = KernelClass::Attention;
                    changed.speed_up(context, class, true, |device| {
                        times_in_eight_bits(context, device, change)
                    })?
                }
            };
            if !is_any {
                nothing.push(change.text.clone());
                continue;
            }
            let said = assumption(change.effect);
            if !changed.assumptions.contains(&said) {
                changed.assumptions.push(said);
            }
        }
        if nothing.len() == changes.len() {
            return Err(UnknownChange::Nothing(nothing.join(", ")));
        }
        changed.without_effect = nothing;
        Ok(changed)
    }

    /// Kernels of a class are so many times as fast, as is said of their device; `to_eight_bits`: those that do not compute in 8 bits yet.
    /// Whether there are any.
    fn speed_up(
        &mut self,
        context: &TraceContext<'_>,
        class: KernelClass,
        to_eight_bits: bool,
        times: impl Fn(&DeviceTimeline) -> Result<f64, UnknownChange>,
    ) -> Result<bool, UnknownChange> {
        let mut classes = KernelClasses::new(context);
        let mut formats = Meanings::new(&context.trace.names);
        let mut is_meant = |work: &DeviceWork| {
            classes.of(work).is_some_and(|found| found.0 == class)
                && !(to_eight_bits && formats.of(work.name, is_in_eight_bits) == Some(true))
        };
        let mut is_any = false;
        for (device, durations_ns) in context.timelines.iter().zip(&mut self.durations_ns) {
            let work = device.work.iter().zip(durations_ns);
            let meant: Vec<_> = work.filter(|(work, _)| is_meant(work)).collect();
            if !meant.is_empty() {
                is_any = true;
                let times = times(device)?;
                for (_, duration_ns) in meant {
                    *duration_ns = whole(float(*duration_ns) / times);
                }
            }
        }
        Ok(is_any)
    }
}

fn is_in_eight_bits(kernel: &str) -> bool {
    let kernel = kernel.to_ascii_lowercase();
    EIGHT_BITS.iter().any(|part| kernel.contains(part))
}

/// How many times as fast a device is in 8 bits as in 16, at its peak. Of attention half of the FLOPs are in INT8, queries with keys; the
/// others in FP8 where the device has it.
fn times_in_eight_bits(
    context: &TraceContext<'_>,
    device: &DeviceTimeline,
    change: &Change,
) -> Result<f64, UnknownChange> {
    let model = context.model_of(device);
    let peaks = model.as_deref().and_then(peaks);
    let peak = |format| peaks.and_then(|peaks| peaks.flops_per_second(format));
    let times = |format| Some(peak(format)? / peak(NumberFormat::Fp16)?);
    let (times, class) = match change.effect {
        Effect::AttentionSage => {
            let values = times(NumberFormat::Fp8).unwrap_or(1.0);
            (times(NumberFormat::Int8).map(|keys| 2.0 / (1.0 / keys + 1.0 / values)), "attention")
        }
        _ => (times(NumberFormat::Fp8), "gemm"),
    };
    times.ok_or_else(|| UnknownChange::NoPeak {
        change: change.text.clone(),
        device: model.unwrap_or_else(|| context.trace.process_label(device.process)),
        class,
    })
}

fn assumption(effect: Effect) -> &'static str {
    match effect {
        Effect::Faster(..) => "every kernel of the class is so many times as fast",
        Effect::GemmFp8 | Effect::AttentionSage => {
            "kernels in 8 bits reach the same share of the device's peak; converting numbers takes no time"
        }
        Effect::NoSync => {
            "what calls that wait bring to the host is not needed before the last kernel is launched"
        }
        Effect::OverlapCopies => {
            "what copies bring is not needed by the work after them, and those of one direction follow each other"
        }
    }
}

//! What the device or the processors did, how fast it was, and most memory.

use std::collections::BTreeMap;

use marey_analysis::{
    DeviceAnswers, HostKind, KNOWN_WORK, TraceMemory, TransferMemory, is_compiling,
};

use super::{Told, account, are_steps};
use crate::document::name_of;
use crate::first_screen::Labelled;
use crate::first_screen::brief::{in_seconds, rounded, seconds, short};
use crate::first_screen::line::name;
use crate::json::object::{Fields, Json, object};
use crate::quantity::{float, flops, given_out, per_second, share, size_of, time, time_ns};

/// Classes or operators that are named; the others are one.
const MOST: usize = 4;
/// Classes of products whose speed is said, and the share of the device's time from which on one is.
const MOST_SPEEDS: usize = 2;
const LEAST_SPEED: f64 = 0.05;
/// Columns of a name.
const NAME: usize = 24;
/// All that is not named.
const OTHER: &str = "other";
/// Share of the wall from which on operators are named.
const LEAST: f64 = 0.01;
/// What torch calls the kind of a device that is the host.
const HOST: i64 = 0;

/// With the same for programs.
pub(super) fn lines(told: &Told<'_>) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let device = told.device();
    let (gpu, kernels) = device.and_then(gpu).unzip();
    let (work, device_work) = device.and_then(work).unzip();
    let cpu = device.is_none().then(|| cpu(told)).flatten();
    let (cpu, operators) = cpu.unzip();
    let (speed, rates) = speed(told).unzip();
    let (memory, peak) = memory(told);
    let lines = gpu.into_iter().chain(work).chain(cpu).chain(speed).chain([memory]);
    let facts = object! {
        /// What the device ran, by class; the durations add up to all its work.
        kernels?: kernels,
        /// How fast the device multiplied, as far as FLOPs of operators are known.
        device_work?: device_work,
        /// Of a trace of the host alone: own time by operator.
        operators?: operators,
        /// Things in a second, and lengths of time.
        speed?: rates,
        /// The most there was.
        memory?: peak,
    };
    (lines.collect(), facts)
}

/// A line, and the same for programs.
type Said<F> = (Labelled, F);

/// `169 ms: gemm 75 % · fused 11 % · other 14 %`
fn gpu(device: &DeviceAnswers) -> Option<Said<Vec<impl Json + use<>>>> {
    let kernels = &device.kernels;
    let fused = match device.attention.as_slice() {
        [only] => format!(" ({})", name_of(&only.path)),
        _ => String::new(),
    };
    let classes = kernels.classes.iter().map(|row| {
        let class = name_of(&row.class);
        let more = if class == "attention" { &fused } else { "" };
        (class, more.to_owned(), row.total_ns)
    });
    let copies = device.transfers_by_memory.iter().map(|row| {
        let is_pageable = row.host_memory == Some(TransferMemory::Pageable);
        let more = if is_pageable { " (pageable)" } else { "" };
        (copies_name(&row.direction), more.to_owned(), row.total_ns)
    });
    // What no class is known of is among the others.
    let work = classes.chain(copies).filter(|(name, ..)| name != OTHER);
    let busy_ns = device.utilization.busy_ns;
    let is_overlapping = kernels.total_ns > busy_ns + busy_ns / 100;
    let of = if is_overlapping { " of work, some of it at once" } else { "" };
    let (said, facts) = shares(work.collect(), kernels.total_ns, of)?;
    Some((Labelled::new("GPU", said), facts))
}

/// `gemm 613 TFLOP/s, 62 % of the peak · attention 91.0 TFLOP/s, 9.2 % · MFU 24 % · known for 93 % of GPU time`; `None` where no class
/// with products took much.
fn work(device: &DeviceAnswers) -> Option<Said<impl Json + use<>>> {
    let work = device.work.as_ref()?;
    let large = work.classes.iter().filter(|row| row.all.ratio.is_some_and(|r| r >= LEAST_SPEED));
    let fast = large.filter_map(|row| Some((row, row.all.flops_per_second?)));
    let fast: Vec<_> = fast.take(MOST_SPEEDS).collect();
    let covered = work.modelled_ratio.filter(|_| !fast.is_empty())?;
    let mfu = work.utilization_ratio.filter(|_| covered >= KNOWN_WORK);
    let mut said: Vec<String> = Vec::new();
    for (row, speed) in &fast {
        let of = if said.is_empty() { " of the peak" } else { "" };
        let peak = row.all.peak_ratio.map(|ratio| format!(", {}{of}", share(ratio)));
        let class = name_of(&row.class);
        said.push(format!("{class} {}{}", flops(*speed), peak.unwrap_or_default()));
    }
    said.extend(mfu.map(|ratio| format!("MFU {}", share(ratio))));
    said.push(format!("known for {} of GPU time", share(covered)));
    let classes = fast.iter().map(|(row, speed)| {
        object! {
            name: name_of(&row.class),
            flops_per_second: rounded(*speed),
            /// Of what the device can do at most with numbers of these formats; null where that is not known.
            peak_ratio: row.all.peak_ratio.map(rounded),
        }
    });
    let facts = object! {
        /// Those that took most, of classes with products.
        classes: classes.collect::<Vec<_>>(),
        /// FLOPs over what the device could do in its span; not said where much of its work is not known.
        mfu_ratio?: mfu.map(rounded),
        /// Share of the device's time that is spent in operators whose FLOPs or bytes are known.
        known_ratio: rounded(covered),
    };
    Some((Labelled { may_go: true, ..Labelled::new("Work", said) }, facts))
}

/// `copies to the GPU` of `HtoD`
fn copies_name(direction: &str) -> String {
    match direction {
        "HtoD" => "copies to the GPU",
        "DtoH" => "copies from the GPU",
        "DtoD" => "copies on the GPU",
        "PtoP" => "copies between GPUs",
        "Memset" => "fills",
        other => other,
    }
    .into()
}

/// `21.1 s in operators: slow_conv3d 65 % · addmm 10 % · other 25 %`; `None` where there are hardly any in the trace.
fn cpu(told: &Told<'_>) -> Option<Said<Vec<impl Json + use<>>>> {
    let operators = told.answers.operators.rows.iter();
    let operators = operators.filter(|row| row.kind == HostKind::Operator);
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for row in operators {
        let plain = match row.name.rsplit("::").next() {
            _ if is_compiling(&row.name) => "compile",
            plain => plain.unwrap_or_default(),
        };
        *by_name.entry(plain).or_default() += row.self_ns;
    }
    let total_ns = by_name.values().sum();
    if float(total_ns) < LEAST * float(told.wall_ns()) {
        return None;
    }
    let all = by_name.into_iter();
    let all = all.map(|(name, ns)| (name.to_owned(), String::new(), ns));
    let (said, facts) = shares(all.collect(), total_ns, " in operators")?;
    Some((Labelled::new("CPU", said), facts))
}

/// The largest of names with something to add and their time, as shares of all that add up, and for programs.
fn shares(
    mut all: Vec<(String, String, u64)>,
    total_ns: u64,
    of: &str,
) -> Option<(Vec<String>, Vec<impl Json + use<>>)> {
    if total_ns == 0 {
        return None;
    }
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    all.truncate(MOST);
    all.retain(|(.., ns)| ns * 100 >= total_ns);
    let named_ns: u64 = all.iter().map(|(.., ns)| ns).sum();
    let other_ns = total_ns.saturating_sub(named_ns);
    if other_ns > 0 {
        all.push((OTHER.into(), String::new(), other_ns));
    }
    let parts: Vec<u64> = all.iter().map(|(.., ns)| *ns).collect();
    let shares = given_out(100, &parts).into_iter();
    let said = all.iter().zip(shares).enumerate();
    let said = said.map(|(at, ((full, more, _), share))| match (at, name(full, NAME)) {
        (0, name) => format!("{}{of}: {name} {share} %{more}", time_ns(total_ns)),
        (_, name) => format!("{name} {share} %{more}"),
    });
    let facts = all.iter().map(|(name, _, ns)| {
        object! { name: short(name), work_s: seconds(*ns) }
    });
    Some((said.collect(), facts.collect()))
}

/// `28.3 steps/s while denoising · median step 3.6 ms`
fn speed(told: &Told<'_>) -> Option<Said<impl Json + use<>>> {
    let steps = told.steps()?;
    let rows = told.account.rows.iter();
    let mut denoising = rows.filter(|row| row.name == account::DENOISE && row.held_ns > 0);
    let held_ns = denoising.next().map(|row| row.held_ns);
    let are_steps = are_steps(steps);
    let unit = if are_steps { "steps" } else { "denoiser calls" };
    let n = steps.parts.len() as u64;
    // A first step that is a warm-up says nothing of the pace.
    let held_ns = held_ns.filter(|_| account::warm_up(steps).is_none());
    let steps_hz = held_ns.map(|ns| 1e9 * float(n) / float(ns));
    let rate = steps_hz.map(|hz| format!("{} {unit}/s while denoising", per_second(hz)));
    // Steps of the profiler wait for the device at their ends.
    let is_whole = told.answers.devices.is_empty() || steps.rule.is_none();
    let median = steps.figures.filter(|_| is_whole && are_steps);
    let median_ns = median.map(|figures| figures.host.median_ns);
    let median = median_ns.map(|ns| format!("median step {}", time(ns)));
    let facts = object! {
        denoise_steps_hz?: steps_hz.filter(|_| are_steps).map(rounded),
        denoiser_calls_hz?: steps_hz.filter(|_| !are_steps).map(rounded),
        step_median_s?: median_ns.map(in_seconds),
    };
    let said = rate.into_iter().chain(median).collect();
    Some((Labelled::new("Speed", said), facts))
}

/// `peak 235 MiB of tensors at 20.8 s in vae_decode`
fn memory(told: &Told<'_>) -> Said<Option<impl Json + use<>>> {
    let answers = told.answers;
    let is_of_host = |memory: &&TraceMemory| memory.device_type == Some(HOST);
    let has_device = answers.memory.iter().any(|memory| !is_of_host(&memory));
    let shown = answers.memory.iter();
    let shown = shown.filter(|memory| !has_device || !is_of_host(memory));
    let most = shown.max_by_key(|memory| memory.peak_bytes);
    let Some((most, peak_bytes)) = most.and_then(|most| Some((most, most.peak_bytes?))) else {
        let said = "not recorded; set profile_memory=True".to_owned();
        return (Labelled::new("Memory", vec![said]), None);
    };
    let whose = match most.device {
        Some(number) if number >= 0 => format!(" on GPU {number}"),
        _ => String::new(),
    };
    let since = |ns: u64| ns.saturating_sub(told.account.wall.start_ns);
    let at = most.peak_at_ns.map(|ns| format!(" at {}", time_ns(since(ns))));
    let place = most.peak_at_ns.and_then(|ns| told.account.at(ns));
    let place = place.filter(|row| !row.is_between);
    let shown_place = place.map(|row| format!(" in {}", name(&row.name, NAME)));
    let facts = object! {
        peak_bytes: peak_bytes,
        peak_at_s?: most.peak_at_ns.map(|ns| seconds(since(ns))),
        peak_in?: place.map(|row| short(&row.name)),
    };
    let said = format!(
        "peak {} of tensors{whose}{}{}",
        size_of(peak_bytes),
        at.unwrap_or_default(),
        shown_place.unwrap_or_default()
    );
    let reserved = most.peak_reserved_bytes.filter(|bytes| *bytes > 0);
    let reserved = reserved.map(|bytes| format!("{} reserved at most", size_of(bytes)));
    let said = [said].into_iter().chain(reserved).collect();
    (Labelled::new("Memory", said), Some(facts))
}

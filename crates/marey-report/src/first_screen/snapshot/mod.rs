//! The first screen of a memory snapshot.

mod account;
mod findings;

use std::marker::PhantomData;

use marey_analysis::{DeviceMemory, Level, OutOfMemory};

use super::brief::{keys_of, seconds, short};
use super::checks::Checks;
use super::line::name;
use super::{Facts, FirstScreen, Headline, Labelled, Mood, Next};
use crate::escape::visible;
use crate::json::object::{Fields, Json, object};
use crate::model::SnapshotFile;
use crate::quantity::{Column, Unit, counted, float, share, time_ns};

/// Columns of the file's name.
const FILE: usize = 48;
/// Rules that look at a snapshot.
const RULES: [&str; 4] = ["out-of-memory", "weights", "fragmentation", "memory-growth"];

/// What the parts of the screen are made from.
struct Told<'a> {
    device: &'a DeviceMemory,
    /// The last request that was not met.
    failed: Option<&'a OutOfMemory>,
    /// What the allocator had then, or at its peak, or at the end where no history was recorded.
    level: &'a Level,
}

impl FirstScreen {
    /// Of the device that ran out of memory, else of the one with most; `None` where the file could not be read or has no device.
    pub fn of_snapshot(file: &SnapshotFile) -> Option<Self> {
        let answers = file.answers.as_ref()?;
        let devices = answers.devices.iter();
        let device = devices.max_by_key(|device| {
            let peak = device.peak.as_ref().unwrap_or(&device.end);
            (!device.out_of_memory.is_empty(), peak.allocated_bytes)
        })?;
        let failed = device.out_of_memory.last();
        let peak = device.peak.as_ref().unwrap_or(&device.end);
        let told = Told { device, failed, level: failed.map_or(peak, |failed| &failed.level) };
        let findings = findings::all(&told);
        let checks = findings.is_empty().then(|| checks(device));
        let others = answers.devices.len() as u64 - 1;
        Some(Self {
            kind: "snapshot",
            facts: Facts::of(&facts(file, &told)),
            unit: Unit::Bytes,
            headline: headline(file, &told, others),
            account: account::account(&told),
            differences: None,
            lines: vec![memory(&told)],
            closing: checks.iter().flat_map(Checks::sentences).collect(),
            checks,
            findings,
            data: inexact(&told),
            not_known: not_known(&told),
            next: next(&file.file),
        })
    }
}

/// Without a history only what lies in pieces at the end is known.
fn checks(device: &DeviceMemory) -> Checks {
    let has_history = device.n_events > 0;
    let is_known = |rule: &&str| has_history || *rule == "fragmentation";
    let passed: Vec<&str> = RULES.into_iter().filter(is_known).collect();
    let n_skipped = (RULES.len() - passed.len()) as u64;
    Checks {
        passed,
        n_skipped,
        n_open: n_skipped,
        missing: (!has_history).then_some("allocations").into_iter().collect(),
        ..Checks::default()
    }
}

/// `snap.pickle · cuda:0 peak 22.63 GiB in tensors, 23.20 GiB reserved`
fn headline(file: &SnapshotFile, told: &Told<'_>, n_others: u64) -> Headline {
    let file = file.file.rsplit('/').next().unwrap_or_default();
    let failed = told.failed;
    let (outcome, mood, after) = if let Some(failed) = failed {
        let free = failed.device_free_bytes;
        let free = free.map(|free| format!(", {} free", amount(free)));
        let asked = amount(failed.asked_bytes);
        let after = format!(": {asked} requested{}", free.unwrap_or_default());
        ("ran out of memory", Mood::Bad, after)
    } else {
        let has_peak = told.device.peak.is_some();
        let when = if has_peak { "peak " } else { "" };
        let tensors = amount(told.level.allocated_bytes);
        // Most was not reserved when most was in tensors.
        let most = told.device.reserved_peak.as_ref().filter(|_| has_peak);
        let reserved = amount(most.unwrap_or(told.level).reserved_bytes);
        let after = format!(" {when}{tensors} in tensors, {reserved} reserved");
        ("", Mood::Plain, after)
    };
    let others = (n_others > 0).then(|| counted(n_others, "other device", "other devices"));
    Headline {
        subject: format!("{} · cuda:{}", name(file, FILE), told.device.device),
        outcome: outcome.into(),
        mood,
        after,
        parts: others.into_iter().collect(),
    }
}

/// For programs.
fn facts(file: &SnapshotFile, told: &Told<'_>) -> impl Fields + Json + use<> {
    let failed = told.failed;
    let level = |level: &Level| {
        object! {
            tensors_bytes: level.allocated_bytes,
            reserved_bytes: level.reserved_bytes,
            at_s?: level.at_ns.map(seconds),
        }
    };
    object! {
        /// Without its folders.
        file: short(file.file.rsplit('/').next().unwrap_or_default()),
        /// Its number.
        device: told.device.device,
        /// Whether a request was not met.
        outcome: if failed.is_some() { "out_of_memory" } else { "complete" },
        /// By the last request that was not met.
        requested_bytes?: failed.map(|failed| failed.asked_bytes),
        /// Then.
        device_free_bytes?: failed.and_then(|failed| failed.device_free_bytes),
        /// Why it was not met.
        cause?: failed.map(|failed| failed.cause),
        /// Absent peak: no history was recorded.
        memory: object! {
            peak?: told.device.peak.as_ref().map(level),
            end: level(&told.device.end),
        },
    }
}

/// The keys of all snapshots.
pub(super) fn keys() -> PhantomData<impl Fields> {
    keys_of(|(file, told): (&SnapshotFile, &Told<'_>)| facts(file, told))
}

/// `peak 2.16 GiB in tensors (2.20 GiB reserved) at 1.8 ms`
fn memory(told: &Told<'_>) -> Labelled {
    let device = told.device;
    let Some(peak) = device.peak.as_ref().filter(|_| told.failed.is_some()) else {
        return Labelled::new("Memory", at_the_end(device));
    };
    let at = peak.at_ns.map(|ns| format!(" at {}", time_ns(ns)));
    let said = format!(
        "{} in tensors ({} reserved){}",
        amount(peak.allocated_bytes),
        amount(peak.reserved_bytes),
        at.unwrap_or_default()
    );
    Labelled::new("Peak", vec![said])
}

/// `at the end 22.17 GiB in tensors, 1.03 GiB cached (4.5 %) · no out-of-memory event`
fn at_the_end(device: &DeviceMemory) -> Vec<String> {
    if device.n_events == 0 {
        return Vec::new();
    }
    let end = &device.end;
    let cached = end.reserved_bytes.saturating_sub(end.allocated_bytes);
    let ratio = float(cached) / float(end.reserved_bytes.max(1));
    let said = format!(
        "at the end {} in tensors, {} cached ({})",
        amount(end.allocated_bytes),
        amount(cached),
        share(ratio)
    );
    vec![said, "no out-of-memory event".into()]
}

/// Bytes as a column of them has them.
fn amount(bytes: u64) -> String {
    Column::of(Unit::Bytes, bytes).text(bytes)
}

/// What makes levels before the end inexact.
fn inexact(told: &Told<'_>) -> Option<String> {
    let device = told.device;
    let contradictions = device.n_contradictions;
    let said = [
        (contradictions > 0).then(|| {
            let events = counted(contradictions, "event contradicts", "events contradict");
            format!("{events} the rest: levels before the snapshot are not exact")
        }),
        (device.n_events == 0)
            .then(|| "no history was recorded: only the moment of the snapshot is known".into()),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    super::joined(&said)
}

fn not_known(told: &Told<'_>) -> Vec<(&'static str, String)> {
    let has_stacks = told.device.alive.by_stack.iter().any(|row| row.stack.is_some());
    super::not_known([
        (told.device.n_events == 0, "history", "torch.cuda.memory._record_memory_history()"),
        (!has_stacks, "stacks", "_record_memory_history(stacks=\"python\")"),
        (told.device.alive.by_section.is_none(), "sections", "marey analyze --run RUN"),
    ])
}

fn next(file: &str) -> Next {
    let full = format!("marey analyze --full {}", visible(file));
    Next { parts: vec![full.clone(), "--table memory_by_stack".into()], full, page: None }
}

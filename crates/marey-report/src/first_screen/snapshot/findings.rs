//! Findings of a memory snapshot.

use marey_analysis::findings::{Evidence, FigureUnit};
use marey_analysis::{OutOfMemory, OutOfMemoryCause};

use super::account::{alive, place, places};
use super::{Told, amount};
use crate::first_screen::ScreenFinding;
use crate::quantity::{float, share};

/// Share of the tensors from which on weights are what to look at.
const WEIGHTS: f64 = 0.5;
/// Cached memory is a finding from this share of what is reserved on, and from so much on.
const FRAGMENTED: f64 = 0.1;
const FRAGMENTED_BYTES: u64 = 1 << 30;
/// Growth is one from so many moments on.
const FEW: u64 = 3;

/// The cause of a failure, else what costs most.
pub(super) fn all(told: &Told<'_>) -> Vec<ScreenFinding> {
    if let Some(failed) = told.failed {
        return vec![out_of_memory(told, failed)];
    }
    let all = [weights(told), fragmentation(told), growth(told)];
    ScreenFinding::costliest(all.into_iter().flatten().collect())
}

/// Three causes have three titles: larger than the device, no room beside what is alive, in pieces.
fn out_of_memory(told: &Told<'_>, failed: &OutOfMemory) -> ScreenFinding {
    let level = &failed.level;
    let free = failed.device_free_bytes;
    let whole = level.reserved_bytes.saturating_add(free.unwrap_or(0));
    let asked = failed.asked_bytes;
    let by = failed.stack.as_ref().and_then(place);
    let by = by.map(|place| format!(" in {place}")).unwrap_or_default();
    let holders = places(alive(told)).map(|places| format!(" Largest: {places}."));
    let holders = holders.unwrap_or_default();
    let smaller = "a smaller allocation: fewer pixels or frames, a smaller batch, VAE tiling, fused attention.";
    let (figure, evidence, tries) = match failed.cause {
        OutOfMemoryCause::TooLarge if asked > whole => (
            format!("more than the whole GPU ({})", amount(whole)),
            format!(
                "Freeing every tensor would still leave it {} short. Fragmentation plays no part ({}).",
                amount(asked - whole),
                amount(level.free_bytes)
            ),
            smaller,
        ),
        OutOfMemoryCause::TooLarge => (
            format!("does not fit beside {} that are alive", amount(level.allocated_bytes)),
            format!(
                "{} are free on the GPU, {} in the allocator's cache.{holders}",
                amount(free.unwrap_or(0)),
                amount(level.free_bytes)
            ),
            "8-bit weights or offloading of what is not in use; then fewer pixels or frames, VAE tiling.",
        ),
        OutOfMemoryCause::Fragmentation => (
            format!("{} are free, in pieces that are too small", amount(level.free_bytes)),
            format!(
                "The largest piece has {}; {} are in tensors.",
                amount(level.largest_free_bytes),
                amount(level.allocated_bytes)
            ),
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; then the same shapes in each call.",
        ),
        OutOfMemoryCause::OtherPool => (
            format!("{} are free, but in other memory pools", amount(level.other_pools_free_bytes)),
            format!(
                "Pools of CUDA graphs or of the program keep them; of its own pool {} are free.",
                amount(level.free_bytes - level.other_pools_free_bytes)
            ),
            "one pool for all captured graphs (torch.cuda.graph_pool_handle()), or free graphs that are done.",
        ),
        OutOfMemoryCause::AwaitingFree => (
            format!("{} given back are still in use elsewhere", amount(level.awaiting_free_bytes)),
            format!("Other streams still need them.{holders}"),
            "waiting for the other stream before the request (Tensor.record_stream keeps memory of a tensor).",
        ),
        OutOfMemoryCause::Limit => (
            format!("{} are free on the GPU", amount(free.unwrap_or(0))),
            format!("A limit of the process or the driver stood in the way.{holders}"),
            "a higher torch.cuda.set_per_process_memory_fraction; other processes on the GPU.",
        ),
        OutOfMemoryCause::Unknown => (
            "why is not known".into(),
            format!("The snapshot does not say what was left.{holders}"),
            smaller,
        ),
    };
    let mut figures = vec![
        Evidence::new("requested", float(asked), FigureUnit::Bytes),
        Evidence::new("in tensors", float(level.allocated_bytes), FigureUnit::Bytes),
    ];
    figures
        .extend(free.map(|free| Evidence::new("free on the GPU", float(free), FigureUnit::Bytes)));
    ScreenFinding {
        evidence,
        figures,
        tries: tries.into(),
        ..ScreenFinding::new("out-of-memory", format!("Request of {}{by}", amount(asked)), figure)
    }
}

fn weights(told: &Told<'_>) -> Option<ScreenFinding> {
    let weights = alive(told).weights_bytes?;
    let tensors = told.level.allocated_bytes;
    let ratio = float(weights) / float(tensors.max(1));
    if ratio < WEIGHTS {
        return None;
    }
    let found = ScreenFinding {
        evidence: format!(
            "All other tensors have {} then. A lower resolution saves at most that.",
            amount(tensors.saturating_sub(weights))
        ),
        figures: vec![Evidence::new("share of the tensors", ratio, FigureUnit::Ratio)],
        tries: format!("8-bit weights (about {} less) or group offload.", amount(weights / 2)),
        ..ScreenFinding::new(
            "weights",
            "Weights",
            format!("{}, {} of the tensors at the peak", amount(weights), share(ratio)),
        )
    };
    Some(found.costing(weights, told.level.reserved_bytes))
}

fn fragmentation(told: &Told<'_>) -> Option<ScreenFinding> {
    let level = told.level;
    let ratio = float(level.free_bytes) / float(level.reserved_bytes.max(1));
    if ratio < FRAGMENTED || level.free_bytes < FRAGMENTED_BYTES {
        return None;
    }
    let found = ScreenFinding {
        evidence: format!("The largest piece has {}.", amount(level.largest_free_bytes)),
        figures: vec![
            Evidence::new("share of the reserved", ratio, FigureUnit::Ratio).against(FRAGMENTED),
        ],
        tries:
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; then the same shapes in each call."
                .into(),
        ..ScreenFinding::new(
            "fragmentation",
            "Cached, not in use",
            format!(
                "{}, {} of what is reserved (target ≤ 10 %)",
                amount(level.free_bytes),
                share(ratio)
            ),
        )
    };
    Some(found.costing(level.free_bytes, level.reserved_bytes))
}

/// There is more after each step than before.
fn growth(told: &Told<'_>) -> Option<ScreenFinding> {
    let growth = told.device.growth.as_ref()?;
    let total = u64::try_from(growth.total_bytes?).ok()?;
    if growth.n_compared < FEW || growth.n_grew < growth.n_compared {
        return None;
    }
    let found = ScreenFinding {
        is_growing: true,
        evidence: format!("There was more each of {} times.", growth.n_compared),
        figures: vec![Evidence::new("growth", float(total), FigureUnit::Bytes)],
        tries: "detach() and no lists of tensors that are kept from step to step; --table memory_by_stack says where.".into(),
        ..ScreenFinding::new("memory-growth", "Memory grows", format!("{} more at the end", amount(total)))
    };
    Some(found.costing(total, told.level.reserved_bytes))
}

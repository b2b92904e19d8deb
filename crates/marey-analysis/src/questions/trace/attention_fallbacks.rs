//! Which attention ran without a fused kernel although others did not?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::attention::AttentionPath;
use super::attention_calls::AttentionCalls;
use super::attention_owners::{AttentionOwner, OwnersOfRows};
use super::{PhaseRole, TraceContext};
use crate::import::chrome::Trace;

/// Calls of attention without a fused kernel: those of `scaled_dot_product_attention` that took the path of torch's own
/// formulas, and those that a program computes step by step while other attention of the trace is fused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionFallback {
    /// The module, range or operator around them, as [`AttentionOwner::owner`].
    pub owner: Option<String>,
    /// What that does in a generation; `None` when names do not say.
    pub role: Option<PhaseRole>,
    /// The operator that was called; of eager attention its softmax.
    pub operator: String,
    /// `Math` or `Eager`.
    pub path: AttentionPath,
    /// Likely a loss: `Math`, since a fused kernel was asked for and not taken; `Eager` only in the denoiser, and only when
    /// other attention there is fused. A text encoder that is written so is listed, and no more.
    pub is_warning: bool,
    /// The type of the queries' elements; this and what follows `None` without recorded inputs (`record_shapes=True`).
    pub element_type: Option<String>,
    /// The size of a head.
    pub head_size: Option<u64>,
    /// A mask was given; `None` also for eager attention, which takes none.
    pub has_mask: Option<bool>,
    /// What of that some fused kernels do not take; empty when nothing is known against them.
    pub reasons: Vec<FallbackReason>,
    /// How many calls.
    pub count: u64,
    /// Their durations on the host together.
    pub host_ns: u64,
    /// Durations of what was launched in them.
    pub device_ns: u64,
    /// How much that was.
    pub n_launched: u64,
}

/// What fused kernels do not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// Elements are not of 16 bits: flash kernels of GPUs take no others.
    ElementType,
    /// The size of a head is not a multiple of 8, or above 256.
    HeadSize,
    /// A mask: flash kernels take none.
    Mask,
}

type Key<'a> = (
    Option<&'a str>,
    Option<PhaseRole>,
    &'a str,
    AttentionPath,
    Option<&'a str>,
    Option<u64>,
    Option<bool>,
);

/// Calls without a fused kernel, those to warn of first, then what took most on the host. `owned` is the attention of all devices
/// by owner: fused kernels in replayed graphs have no operators. Empty when there are none. O(calls).
pub fn attention_fallbacks<'a>(
    context: &TraceContext<'_>,
    calls: &AttentionCalls,
    owned: impl IntoIterator<Item = &'a AttentionOwner>,
) -> Vec<AttentionFallback> {
    let trace = context.trace;
    let mut owners = OwnersOfRows::new(context);
    let mut fused: BTreeSet<Option<PhaseRole>> = BTreeSet::new();
    let kernels = owned.into_iter().filter(|row| row.path.is_fused());
    fused.extend(kernels.map(|row| row.role));
    let mut others = Vec::new();
    for (row, call) in &calls.by_row {
        let Some((path, _)) = call.told else {
            continue;
        };
        let owner = owners.of(*row);
        if path.is_fused() {
            fused.insert(owner.role);
        } else {
            others.push((*row, call, owner, path));
        }
    }
    let mut by_key: BTreeMap<Key<'_>, AttentionFallback> = BTreeMap::new();
    for (row, call, owner, path) in others {
        let is_math = path == AttentionPath::Math;
        if !is_math && fused.is_empty() {
            continue;
        }
        let query = Query::of(trace, call.query_row, is_math);
        let key = (
            owner.name,
            owner.role,
            trace.name_of(row),
            path,
            query.element_type,
            query.head_size,
            query.has_mask,
        );
        let is_denoiser = owner.role == Some(PhaseRole::Denoising);
        let found = by_key.entry(key).or_insert_with(|| AttentionFallback {
            owner: owner.name.map(str::to_owned),
            role: owner.role,
            operator: trace.name_of(row).to_owned(),
            path,
            is_warning: is_math || (is_denoiser && fused.contains(&owner.role)),
            element_type: query.element_type.map(str::to_owned),
            head_size: query.head_size,
            has_mask: query.has_mask,
            reasons: query.reasons(),
            count: 0,
            host_ns: 0,
            device_ns: 0,
            n_launched: 0,
        });
        found.count += 1;
        found.host_ns = found.host_ns.saturating_add(call.host_ns);
        found.device_ns = found.device_ns.saturating_add(call.device_ns);
        found.n_launched += call.n_launched;
    }
    let mut found: Vec<AttentionFallback> = by_key.into_values().collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.is_warning, row.host_ns, row.count)));
    found
}

/// What the inputs of a call say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Query<'a> {
    element_type: Option<&'a str>,
    head_size: Option<u64>,
    has_mask: Option<bool>,
}

impl<'a> Query<'a> {
    /// Queries come first; the fourth input is the mask, if the operator takes one.
    fn of(trace: &'a Trace, row: u32, takes_mask: bool) -> Self {
        let inputs = &trace.inputs;
        let found = inputs.binary_search_by_key(&row, |inputs| inputs.row);
        let Some(inputs) = found.ok().and_then(|at| inputs.get(at)) else {
            return Self::default();
        };
        let shapes = trace.texts.get(inputs.shapes);
        let types = inputs.types.map(|types| trace.texts.get(types));
        let element_type = types.and_then(|types| types.split('"').nth(1));
        let last = input(shapes, 0).and_then(|shape| shape.rsplit(',').next());
        Self {
            element_type: element_type.filter(|name| !name.is_empty()),
            head_size: last.and_then(|size| size.trim().parse().ok()),
            has_mask: input(shapes, 3).filter(|_| takes_mask).map(|mask| !mask.trim().is_empty()),
        }
    }

    fn reasons(&self) -> Vec<FallbackReason> {
        let is_long = |name: &str| {
            let lower = name.to_ascii_lowercase();
            lower == "float" || lower == "double"
        };
        let is_odd = |size: u64| !size.is_multiple_of(8) || size > 256;
        let mut reasons = Vec::new();
        if self.element_type.is_some_and(is_long) {
            reasons.push(FallbackReason::ElementType);
        }
        if self.head_size.is_some_and(is_odd) {
            reasons.push(FallbackReason::HeadSize);
        }
        if self.has_mask == Some(true) {
            reasons.push(FallbackReason::Mask);
        }
        reasons
    }
}

/// What stands in the brackets of an input: the second of `[[2, 8], [4], []]` is `4`. `None` when there are not as many.
fn input(shapes: &str, wanted: usize) -> Option<&str> {
    let mut depth = 0_u32;
    let mut n_inputs = 0;
    let mut start = 0;
    for (at, letter) in shapes.char_indices() {
        match letter {
            '[' => {
                depth += 1;
                if depth == 2 {
                    start = at + 1;
                }
            }
            ']' => {
                if depth == 2 {
                    if n_inputs == wanted {
                        return shapes.get(start..at);
                    }
                    n_inputs += 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_found_by_their_place() {
        let shapes = "[[1, 4, 24, 60], [[2], [3]], [], [24, 24]]";
        assert_eq!(input(shapes, 0), Some("1, 4, 24, 60"));
        assert_eq!(input(shapes, 2), Some(""));
        assert_eq!(input(shapes, 3), Some("24, 24"));
        assert_eq!(input(shapes, 4), None);
        assert_eq!(input("]][", 0), None);
    }

    #[test]
    fn reasons_are_what_inputs_say_and_nothing_without_them() {
        let query =
            Query { element_type: Some("float"), head_size: Some(60), has_mask: Some(true) };
        let all = [FallbackReason::ElementType, FallbackReason::HeadSize, FallbackReason::Mask];
        assert_eq!(query.reasons(), all);
        let fits = Query {
            element_type: Some("c10::BFloat16"),
            head_size: Some(256),
            has_mask: Some(false),
        };
        assert_eq!(fits.reasons(), []);
        assert_eq!(Query::default().reasons(), []);
    }
}

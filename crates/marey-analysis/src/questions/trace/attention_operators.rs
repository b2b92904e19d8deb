//! Which attention did the program call, and whose was it?

use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::attention::AttentionPath;
use crate::import::chrome::{Class, Trace};

/// Calls of attention operators of one owner and path. A call is the outermost operator of attention: those within it say the
/// path. Times in nanoseconds.
///
/// ```text
/// host     |---------- aten::scaled_dot_product_attention ----------|     one call
///             |-- aten::_scaled_dot_product_flash_attention --|           its path: flash
///                  ↓ launch
/// device               |--flash_fwd_kernel--|                             its device time, whenever it ran
/// ```
///
/// Graphs that are replayed call no operators: their attention is told by kernels alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttentionOperator {
    /// The innermost module around it, without its number: `T5Attention`. `None` when the trace has no modules.
    pub owner: Option<String>,
    /// The operator that was called.
    pub operator: String,
    /// Which path it took; `None` when neither its name nor the operators within it tell.
    pub path: Option<AttentionPath>,
    /// The operator that the path was told by, likewise.
    pub told_by: Option<String>,
    /// How many calls.
    pub count: u64,
    /// Their durations on the host together.
    pub host_ns: u64,
    /// Durations of the kernels, copies and fills that were launched in them.
    pub device_ns: u64,
    /// How many of these there were.
    pub n_launched: u64,
}

/// Parts of the names of attention's operators, and the path that they say. The first that fits counts.
const OPERATORS: [(&str, Option<AttentionPath>); 20] = [
    (
        "_scaled_dot_product_flash_attention",
        Some(AttentionPath::Flash),
    ),
    (
        "_scaled_dot_product_efficient_attention",
        Some(AttentionPath::MemoryEfficient),
    ),
    (
        "_scaled_dot_product_cudnn_attention",
        Some(AttentionPath::Cudnn),
    ),
    (
        "_scaled_dot_product_attention_math",
        Some(AttentionPath::Eager),
    ),
    ("_scaled_dot_product_fused_attention_overrideable", None),
    ("_flash_attention_forward", Some(AttentionPath::Flash)),
    ("_flash_attention_backward", Some(AttentionPath::Flash)),
    (
        "_efficient_attention_forward",
        Some(AttentionPath::MemoryEfficient),
    ),
    (
        "_efficient_attention_backward",
        Some(AttentionPath::MemoryEfficient),
    ),
    ("_cudnn_attention_forward", Some(AttentionPath::Cudnn)),
    ("scaled_dot_product_attention", None),
    ("flash_attn::", Some(AttentionPath::Flash)),
    ("flash_attn_3::", Some(AttentionPath::Flash)),
    ("aiter::fmha", Some(AttentionPath::Flash)),
    ("aiter::mha", Some(AttentionPath::Flash)),
    (
        "xformers::efficient_attention",
        Some(AttentionPath::MemoryEfficient),
    ),
    ("sageattn", Some(AttentionPath::Sage)),
    ("sageattention::", Some(AttentionPath::Sage)),
    ("vllm::unified_attention", Some(AttentionPath::Paged)),
    ("flex_attention", None),
];

/// What the name of an operator of attention says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    /// The path; `None` when it does not say.
    path: Option<AttentionPath>,
}

/// `None` for everything that is not attention.
fn said(name: &str) -> Option<Said> {
    let is_fused = name.starts_with("triton_") || name.starts_with("Torch-Compiled");
    let found = OPERATORS.iter().find(|(part, _)| name.contains(part));
    found
        .filter(|_| !is_fused)
        .map(|(_, path)| Said { path: *path })
}

/// No row.
const NONE: u32 = u32::MAX;

/// One call.
#[derive(Clone, Copy, Default)]
struct Call {
    /// The path, and the row it was told by.
    told: Option<(AttentionPath, u32)>,
    device_ns: u64,
    n_launched: u64,
}

/// The attention that operators called, what took most on the host first. Empty when there is none. O(rows).
pub fn attention_operators(context: &TraceContext<'_>) -> Vec<AttentionOperator> {
    let calls = calls(context);
    let mut by_key: BTreeMap<(Option<&str>, u32, Option<AttentionPath>), AttentionOperator> =
        BTreeMap::new();
    let trace = context.trace;
    for (row, call) in calls {
        let owner = owner(context, row);
        let name = trace.rows.name.get(row as usize).copied();
        let path = call.told.map(|(path, _)| path);
        let found = by_key
            .entry((owner, name.unwrap_or_default(), path))
            .or_insert_with(|| AttentionOperator {
                owner: owner.map(str::to_owned),
                operator: trace.name_of(row).to_owned(),
                path,
                told_by: call.told.map(|(_, row)| trace.name_of(row).to_owned()),
                count: 0,
                host_ns: 0,
                device_ns: 0,
                n_launched: 0,
            });
        found.count += 1;
        let host_ns = trace.rows.duration_of(row);
        found.host_ns = found.host_ns.saturating_add(host_ns);
        found.device_ns = found.device_ns.saturating_add(call.device_ns);
        found.n_launched += call.n_launched;
    }
    let mut found: Vec<AttentionOperator> = by_key.into_values().collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.host_ns, row.count)));
    found
}

/// Every outermost operator of attention in the part that is asked about.
fn calls(context: &TraceContext<'_>) -> BTreeMap<u32, Call> {
    let trace = context.trace;
    let names = (0_u32..).take(trace.names.len());
    let said: Vec<_> = names.map(|name| said(trace.names.get(name))).collect();
    if said.iter().all(Option::is_none) {
        return BTreeMap::new();
    }
    let said_of = |row: u32| {
        let name = trace.rows.name.get(row as usize)?;
        let said = said.get(*name as usize).copied().flatten()?;
        (trace.class_of(row) == Class::Operator).then_some(said)
    };
    let outermost = outermost(context, |row| said_of(row).is_some());
    let mut calls: BTreeMap<u32, Call> = BTreeMap::new();
    for (row, call) in (0_u32..).zip(&outermost).filter(|(_, call)| **call != NONE) {
        let Some(Said { path }) = said_of(row) else {
            continue;
        };
        if !context.has_row(*call) {
            continue;
        }
        let found = calls.entry(*call).or_default();
        found.told = found.told.or(path.map(|path| (path, row)));
    }
    for work in context.timelines.iter().flat_map(|timeline| &timeline.work) {
        let call = work.launch.and_then(|row| outermost.get(row as usize));
        if let Some(found) = call.and_then(|call| calls.get_mut(call)) {
            let duration_ns = work.interval().length_ns();
            found.device_ns = found.device_ns.saturating_add(duration_ns);
            found.n_launched += 1;
        }
    }
    calls
}

/// Of each row the outermost one around it, or itself, of which this holds.
fn outermost(context: &TraceContext<'_>, is_meant: impl Fn(u32) -> bool) -> Vec<u32> {
    let trace = context.trace;
    let mut outermost = vec![NONE; trace.rows.len()];
    let tracks = (0_u32..).take(trace.tracks.each.len());
    // The rows of a track come with those around them first.
    for row in tracks.flat_map(|track| context.host.of_track(track)) {
        let parent = context.host.parent(*row);
        let around = parent.and_then(|parent| outermost.get(parent as usize).copied());
        let around = around.filter(|around| *around != NONE);
        let own = || is_meant(*row).then_some(*row);
        if let Some(place) = outermost.get_mut(*row as usize) {
            *place = around.or_else(own).unwrap_or(NONE);
        }
    }
    outermost
}

/// The innermost module around a row, without its number: `nn.Module: T5Attention_3` is a `T5Attention`.
fn owner<'a>(context: &TraceContext<'a>, row: u32) -> Option<&'a str> {
    let trace: &'a Trace = context.trace;
    let mut rows = context.host.around(row);
    let module = rows.find_map(|row| trace.name_of(row).strip_prefix("nn.Module: "))?;
    let number = module.rfind('_').filter(|at| {
        let digits = module.get(at + 1..).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    module.get(..number.unwrap_or(module.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_say_that_they_are_attention_and_often_which() {
        let flash = Some(Said {
            path: Some(AttentionPath::Flash),
        });
        assert_eq!(
            said("aten::_scaled_dot_product_flash_attention_for_cpu"),
            flash
        );
        assert_eq!(said("aiter::fmha_v3_fwd"), flash);
        let math = said("aten::_scaled_dot_product_attention_math");
        assert_eq!(
            math,
            Some(Said {
                path: Some(AttentionPath::Eager)
            })
        );
        assert_eq!(
            said("aten::scaled_dot_product_attention"),
            Some(Said { path: None })
        );
        assert_eq!(said("triton_red_fused_addmm_fmha_v3_fwd_mean_4"), None);
        assert_eq!(
            said("triton_poi_fused__scaled_dot_product_flash_attention_1"),
            None
        );
        assert_eq!(said("aten::mm"), None);
    }
}

//! Whose attention did a device compute?

use std::collections::BTreeMap;

use serde::Serialize;

use super::attention::{AttentionPath, attention_kernels};
use super::attention_calls::{AttentionCalls, module_type};
use super::device_timeline::DeviceTimeline;
use super::part_names::{Part, PartNames};
use super::{HostKind, PhaseRole, TraceContext};

/// The attention kernels of one path that one owner launched.
///
/// ```text
/// module   |---------- T5EncoderModel_0 ----------|      role: text encoder
///            |--------- T5Attention_3 ----------|        owner: T5Attention
/// operator      |matmul| |softmax| |matmul|
///                          ↓ launch
/// device                      |softmax_warp_forward|
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AttentionOwner {
    /// The innermost module of attention around the launch, by its type; without one the innermost module or named range, the
    /// operator, or the call itself, as when a graph is replayed. `None` when the trace does not have the launch.
    pub owner: Option<String>,
    /// What the owner is, likewise.
    pub kind: Option<HostKind>,
    /// What it does in a generation, by the names around the launch; `None` when they do not say.
    pub role: Option<PhaseRole>,
    /// Which path. By the kernel; by the operator where that took the path of torch without fused kernels.
    pub path: AttentionPath,
    /// Kernels that compute it; of attention without a fused kernel the softmaxes.
    pub count: u64,
    /// Their durations together.
    pub total_ns: u64,
    /// Kernels that only prepare its inputs.
    pub n_preparing: u64,
    /// Their durations together.
    pub preparing_ns: u64,
}

/// Whose a row of the host is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) kind: Option<HostKind>,
    pub(super) role: Option<PhaseRole>,
}

/// Finds owners; every name is looked at once.
pub(super) struct OwnersOfRows<'a, 'b> {
    context: &'b TraceContext<'a>,
    parts: PartNames<'a>,
}

impl<'a, 'b> OwnersOfRows<'a, 'b> {
    pub(super) fn new(context: &'b TraceContext<'a>) -> Self {
        Self { context, parts: PartNames::new(context.trace) }
    }

    /// Of a row of the host. O(depth).
    pub(super) fn of(&mut self, row: u32) -> Owner<'a> {
        let role = self.role(row);
        let around = self.context.owners.around(row);
        let rows: Vec<u32> = std::iter::once(row).chain(around).collect();
        let attention = rows.iter().find_map(|row| {
            let module = module_type(self.context, *row)?;
            is_attention(module).then_some((module, HostKind::Module))
        });
        let named = attention.or_else(|| rows.iter().find_map(|row| self.named(*row)));
        let operator = |row: &u32| self.plain(*row, HostKind::Operator);
        let call = |row: &u32| self.plain(*row, HostKind::Call);
        let found =
            named.or_else(|| rows.iter().find_map(operator)).or_else(|| rows.iter().find_map(call));
        Owner { name: found.map(|(name, _)| name), kind: found.map(|(_, kind)| kind), role }
    }

    /// A module, or a range that is not one of many steps.
    fn named(&mut self, row: u32) -> Option<(&'a str, HostKind)> {
        if let Some(module) = module_type(self.context, row) {
            return Some((module, HostKind::Module));
        }
        let range = self.plain(row, HostKind::Range)?;
        let (_, part) = self.parts.of(row)?;
        let is_step = matches!(part, Part::OwnStep | Part::Step | Part::ProfilerStep);
        (!is_step).then_some(range)
    }

    fn plain(&self, row: u32, kind: HostKind) -> Option<(&'a str, HostKind)> {
        let trace = self.context.trace;
        (self.context.owners.kind(trace, row) == Some(kind)).then(|| (trace.name_of(row), kind))
    }

    fn role(&mut self, row: u32) -> Option<PhaseRole> {
        let around = self.context.host.around(row);
        std::iter::once(row).chain(around).find_map(|row| {
            Some(match self.parts.of(row)?.1 {
                Part::TextEncoder => PhaseRole::TextEncoder,
                Part::Vae => PhaseRole::Vae,
                Part::OwnStep | Part::Step | Part::Loop | Part::Denoiser => PhaseRole::Denoising,
                _ => return None,
            })
        })
    }
}

fn is_attention(module: &str) -> bool {
    let lower = module.to_ascii_lowercase();
    lower.contains("attention") || lower.contains("attn")
}

/// The attention kernels of a device by owner and path, what took most first. O(n log n) in the device's work.
pub fn attention_owners(
    context: &TraceContext<'_>,
    calls: &AttentionCalls,
    timeline: &DeviceTimeline,
) -> Vec<AttentionOwner> {
    let mut owners = OwnersOfRows::new(context);
    let mut by_key: BTreeMap<(Owner<'_>, AttentionPath), AttentionOwner> = BTreeMap::new();
    for (work, by_kernel, is_preparing) in attention_kernels(context.trace, timeline) {
        let owner = work.launch.map(|row| owners.of(row)).unwrap_or_default();
        let by_operator = work.launch.and_then(|row| calls.path_of(row));
        let is_math = by_operator == Some(AttentionPath::Math) && !by_kernel.is_fused();
        let path = if is_math { AttentionPath::Math } else { by_kernel };
        let found = by_key.entry((owner, path)).or_insert_with(|| AttentionOwner {
            owner: owner.name.map(str::to_owned),
            kind: owner.kind,
            role: owner.role,
            path,
            count: 0,
            total_ns: 0,
            n_preparing: 0,
            preparing_ns: 0,
        });
        let duration_ns = work.interval().length_ns();
        let (count, total_ns) = if is_preparing {
            (&mut found.n_preparing, &mut found.preparing_ns)
        } else {
            (&mut found.count, &mut found.total_ns)
        };
        *count += 1;
        *total_ns = total_ns.saturating_add(duration_ns);
    }
    let mut found: Vec<AttentionOwner> = by_key.into_values().collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.preparing_ns)));
    found
}

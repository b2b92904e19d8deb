//! Which attention did devices compute, and whose was it?

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::attention::{AttentionOwner, AttentionPath, AttentionUse};
use super::attention_calls::AttentionCalls;
use super::attention_names::{Role, eager, role};
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::modules::type_of;
use super::owners::MODULE;
use super::part_names::{Part, part_of};
use super::{HostKind, PhaseRole, TraceContext};
use crate::import::chrome::{HostMeanings, Meanings, Trace};
use crate::stats::{ratio, sum, sums_by};

/// A kernel, what it belongs to, and whether it only prepares that.
pub(super) type AttentionKernel<'a> = (&'a DeviceWork, AttentionPath, bool);

/// Number and duration of a kernel as one that computes attention, and as one that only prepares it.
fn figures((work, _, is_preparing): &AttentionKernel<'_>) -> [u64; 4] {
    let ns = work.length_ns();
    if *is_preparing { [0, 0, 1, ns] } else { [1, ns, 0, 0] }
}

/// The kernels of a device that are attention.
///
/// Found by the names of kernels, since graphs that are replayed leave nothing else. Kernels of compilers that are named after
/// the attention next to them are none. A softmax counts where it is part of attention step by step on its stream.
pub(super) fn attention_kernels<'a>(
    trace: &Trace,
    timeline: &'a DeviceTimeline,
) -> Vec<AttentionKernel<'a>> {
    let mut roles = Meanings::new(&trace.names);
    let mut role_of = |work: &DeviceWork| match work.kind {
        WorkKind::Memcpy | WorkKind::Memset => Role::Between,
        WorkKind::Communication => Role::Other,
        WorkKind::Compute => roles.of(work.name, role).unwrap_or(Role::Other),
    };
    let mut work: Vec<(&DeviceWork, Role)> =
        timeline.work.iter().map(|work| (work, role_of(work))).collect();
    // A stable sort: the kernels of each stream stay in order of time.
    work.sort_by_key(|(work, _)| work.stream);
    let mut found: Vec<AttentionKernel<'a>> = Vec::new();
    for stream in work.chunk_by(|a, b| a.0.stream == b.0.stream) {
        found.extend(stream.iter().filter_map(|(work, role)| match role {
            Role::Computes(path) => Some((*work, *path, false)),
            Role::Prepares(path) => Some((*work, *path, true)),
            _ => None,
        }));
        let eager = eager(stream, |_| (), usize::MAX, true).into_iter();
        let softmaxes = eager.filter_map(|[_, softmax, _]| stream.get(softmax));
        found.extend(softmaxes.map(|(work, _)| (*work, AttentionPath::Eager, false)));
    }
    found
}

/// The attention of a device by path, the one that took most first. Empty when there is none.
pub fn attention(trace: &Trace, timeline: &DeviceTimeline) -> Vec<AttentionUse> {
    attention_uses(trace, timeline, &attention_kernels(trace, timeline))
}

/// The same of the kernels that are found already.
pub(super) fn attention_uses(
    trace: &Trace,
    timeline: &DeviceTimeline,
    found: &[AttentionKernel<'_>],
) -> Vec<AttentionUse> {
    let by_path = sums_by(found.iter().map(|kernel| (kernel.1, figures(kernel))));
    let kernels = timeline.work.iter().filter(|work| work.kind.is_kernel());
    let all_ns = sum(kernels.map(DeviceWork::length_ns));
    let row = |(path, figures): (AttentionPath, [u64; 4])| {
        let [count, total_ns, n_preparing, preparing_ns] = figures;
        let both_ns = u128::from(total_ns) + u128::from(preparing_ns);
        let kernels = found.iter().filter(|kernel| kernel.1 == path);
        let names: BTreeSet<&str> = kernels.map(|kernel| trace.names.get(kernel.0.name)).collect();
        AttentionUse {
            path,
            count,
            total_ns,
            n_preparing,
            preparing_ns,
            ratio: (all_ns > 0).then(|| ratio(both_ns, u128::from(all_ns))),
            kernels: names.into_iter().map(str::to_owned).collect(),
        }
    };
    let mut uses: Vec<AttentionUse> = by_path.into_iter().map(row).collect();
    uses.sort_by_key(|row| Reverse(row.total_ns));
    uses
}

/// Attention kernels by owner and path, what took most first.
pub(super) fn attention_owners(
    owners: &mut OwnersOfRows<'_, '_>,
    calls: &AttentionCalls,
    found: &[AttentionKernel<'_>],
) -> Vec<AttentionOwner> {
    let by_key = sums_by(found.iter().map(|kernel| {
        let (work, by_kernel, _) = *kernel;
        let owner = work.launch.map(|row| owners.of(row)).unwrap_or_default();
        let by_operator = work.launch.and_then(|row| calls.path_of(row));
        let is_math = by_operator == Some(AttentionPath::Math) && !by_kernel.is_fused();
        let path = if is_math { AttentionPath::Math } else { by_kernel };
        ((owner, path), figures(kernel))
    }));
    let row = |((owner, path), figures): ((Owner<'_>, AttentionPath), [u64; 4])| {
        let [count, total_ns, n_preparing, preparing_ns] = figures;
        AttentionOwner {
            owner: owner.name.map(str::to_owned),
            kind: owner.kind,
            role: owner.role,
            path,
            count,
            total_ns,
            n_preparing,
            preparing_ns,
        }
    };
    let mut rows: Vec<AttentionOwner> = by_key.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse((row.total_ns, row.preparing_ns)));
    rows
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
    pub(super) context: &'b TraceContext<'a>,
    parts: HostMeanings<'a, Part>,
}

impl<'a, 'b> OwnersOfRows<'a, 'b> {
    pub(super) fn new(context: &'b TraceContext<'a>) -> Self {
        Self { context, parts: HostMeanings::new(context.trace) }
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
        let (_, part) = self.parts.of(row, part_of)?;
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
            Some(match self.parts.of(row, part_of)?.1 {
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

/// The type of a module from its name: `nn.Module: T5Attention_3` is a `T5Attention`. `None` for other rows.
pub(super) fn module_type<'a>(context: &TraceContext<'a>, row: u32) -> Option<&'a str> {
    let trace: &'a Trace = context.trace;
    let is_module = context.owners.kind(trace, row) == Some(HostKind::Module);
    let module = trace.name_of(row).strip_prefix(MODULE).filter(|_| is_module)?;
    Some(type_of(module))
}

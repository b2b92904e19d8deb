//! Which attention did devices compute, and whose was it?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::attention::{AttentionOwner, AttentionPath, AttentionUse};
use super::attention_calls::AttentionCalls;
use super::attention_names::{Role, eager, role};
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::modules::type_of;
use super::owners::MODULE;
use super::part_names::{Part, PartNames};
use super::{HostKind, PhaseRole, TraceContext};
use crate::import::chrome::Trace;
use crate::stats::ratio;

/// A kernel, what it belongs to, and whether it only prepares that.
pub(super) type AttentionKernel<'a> = (&'a DeviceWork, AttentionPath, bool);

/// Number and durations of kernels that compute attention, and of those that only prepare it.
type Sums = [(u64, u64); 2];

fn add(sums: &mut Sums, (work, _, is_preparing): &AttentionKernel<'_>) {
    let (count, total_ns) = &mut sums[usize::from(*is_preparing)];
    *count += 1;
    *total_ns = total_ns.saturating_add(work.interval().length_ns());
}

/// The kernels of a device that are attention.
///
/// Told by the names of kernels, since graphs that are replayed leave nothing else. Kernels of compilers that are named after
/// the attention next to them are none. A softmax counts where it is part of attention step by step on its stream.
pub(super) fn attention_kernels<'a>(
    trace: &Trace,
    timeline: &'a DeviceTimeline,
) -> Vec<AttentionKernel<'a>> {
    let mut roles: Vec<Option<Role>> = vec![None; trace.names.len()];
    let mut role_of = |work: &DeviceWork| match work.kind {
        WorkKind::Memcpy | WorkKind::Memset => Role::Between,
        WorkKind::Communication => Role::Other,
        WorkKind::Compute => {
            let known = roles.get_mut(work.name as usize);
            let look = || role(trace.names.get(work.name));
            known.map_or(Role::Other, |known| *known.get_or_insert_with(look))
        }
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
    let mut by_path: BTreeMap<AttentionPath, (Sums, BTreeSet<u32>)> = BTreeMap::new();
    for kernel in found {
        let (sums, names) = by_path.entry(kernel.1).or_default();
        add(sums, kernel);
        names.insert(kernel.0.name);
    }
    let is_kernel = |kind| matches!(kind, WorkKind::Compute | WorkKind::Communication);
    let kernels = timeline.work.iter().filter(|work| is_kernel(work.kind));
    let all_ns = kernels.fold(0_u64, |sum, work| sum.saturating_add(work.interval().length_ns()));
    let row = |(path, (sums, names)): (AttentionPath, (Sums, BTreeSet<u32>))| {
        let [(count, total_ns), (n_preparing, preparing_ns)] = sums;
        let both_ns = u128::from(total_ns) + u128::from(preparing_ns);
        let names = names.into_iter().map(|name| trace.names.get(name).to_owned());
        let mut kernels: Vec<String> = names.collect();
        kernels.sort_unstable();
        AttentionUse {
            path,
            count,
            total_ns,
            n_preparing,
            preparing_ns,
            ratio: (all_ns > 0).then(|| ratio(both_ns, u128::from(all_ns))),
            kernels,
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
    let mut by_key: BTreeMap<(Owner<'_>, AttentionPath), Sums> = BTreeMap::new();
    for kernel in found {
        let (work, by_kernel, _) = *kernel;
        let owner = work.launch.map(|row| owners.of(row)).unwrap_or_default();
        let by_operator = work.launch.and_then(|row| calls.path_of(row));
        let is_math = by_operator == Some(AttentionPath::Math) && !by_kernel.is_fused();
        let path = if is_math { AttentionPath::Math } else { by_kernel };
        add(by_key.entry((owner, path)).or_default(), kernel);
    }
    let row = |((owner, path), sums): ((Owner<'_>, AttentionPath), Sums)| {
        let [(count, total_ns), (n_preparing, preparing_ns)] = sums;
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

/// The type of a module from its name: `nn.Module: T5Attention_3` is a `T5Attention`. `None` for other rows.
pub(super) fn module_type<'a>(context: &TraceContext<'a>, row: u32) -> Option<&'a str> {
    let trace: &'a Trace = context.trace;
    let is_module = context.owners.kind(trace, row) == Some(HostKind::Module);
    let module = trace.name_of(row).strip_prefix(MODULE).filter(|_| is_module)?;
    Some(type_of(module))
}

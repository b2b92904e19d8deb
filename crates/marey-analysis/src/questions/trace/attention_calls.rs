//! Which attention did the program call, and which calls took no fused kernel although others did?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::attention::{
    AttentionFallback, AttentionOperator, AttentionOwner, AttentionPath, FallbackReason,
};
use super::attention_kernels::{OwnersOfRows, module_type};
use super::attention_names::{Role, eager, said, step};
use super::{HostKind, PhaseRole, TraceContext};
use crate::import::chrome::{Class, Trace};
use crate::stats::{add, sum, sums_by};

/// Calls of attention by the row of the host that stands for them.
///
/// ```text
/// host     |---------- aten::scaled_dot_product_attention ----------|     one call
///             |-- aten::_scaled_dot_product_flash_attention --|           its path: flash
///                  ↓ launch
/// device               |--flash_fwd_kernel--|                             its device time, whenever it ran
///
/// host     |matmul| |add| |softmax| |matmul|                              one call, eager; its row is the softmax
/// ```
///
/// Graphs that are replayed call no operators: their attention is found by kernels alone.
#[derive(Clone, Debug, Default)]
pub(super) struct AttentionCalls {
    /// By row.
    by_row: BTreeMap<u32, AttentionCall>,
    /// Of each row the call it is in; [`NONE`] when it is in none.
    of_row: Vec<u32>,
}

/// One call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AttentionCall {
    /// The path, and the row that shows it.
    told: Option<(AttentionPath, u32)>,
    /// The row whose inputs begin with the queries.
    query_row: u32,
    /// On the host.
    host_ns: u64,
    /// Of what was launched in it.
    device_ns: u64,
    /// How much that was.
    n_launched: u64,
}

/// No row.
const NONE: u32 = u32::MAX;

/// More operators than these between two products belong to something else.
const MOST_OPERATORS: usize = 80;

impl AttentionCalls {
    /// Of the part that is asked about: one pass over the rows of the host, 4 bytes a row; nothing when no name is one of attention.
    pub(super) fn new(context: &TraceContext<'_>) -> Self {
        let trace = context.trace;
        let said: Vec<_> = trace.names.iter().map(said).collect();
        let eager = eager_calls(context);
        if said.iter().all(Option::is_none) && eager.is_empty() {
            return Self::default();
        }
        let mut of_row = vec![NONE; trace.rows.len()];
        let mut by_row = BTreeMap::new();
        for (softmax, operators) in eager {
            let call = AttentionCall {
                told: Some((AttentionPath::Eager, softmax)),
                query_row: operators.first().copied().unwrap_or(NONE),
                host_ns: sum(operators.iter().map(|row| trace.rows.duration_of(*row))),
                ..AttentionCall::default()
            };
            by_row.insert(softmax, call);
            for row in operators {
                if let Some(place) = of_row.get_mut(row as usize) {
                    *place = softmax;
                }
            }
        }
        // Rows come with those around them first: a row is in the call of the outermost that is in one.
        for row in context.host.in_order().iter().copied() {
            let said = trace.rows.name_of(row).and_then(|name| *said.get(name as usize)?);
            let said = said.filter(|_| trace.class_of(row) == Class::Operator);
            let around = context.host.parent(row).and_then(|parent| of_row.get(parent as usize));
            let around = around.copied().filter(|call| *call != NONE);
            let Some(own) = of_row.get_mut(row as usize) else { continue };
            match around {
                Some(around) => *own = around,
                None if *own == NONE && said.is_some() => *own = row,
                None => {}
            }
            let Some(path) = said else { continue };
            let call = *own;
            let found = by_row.entry(call).or_insert_with(|| AttentionCall {
                query_row: call,
                host_ns: trace.rows.duration_of(call),
                ..AttentionCall::default()
            });
            // Of several that tell a path the one that began first.
            let told = path.map(|path| (path, row));
            let began = |(_, row): &(AttentionPath, u32)| (trace.rows.start_of(*row), *row);
            found.told = found.told.into_iter().chain(told).min_by_key(began);
        }
        by_row.retain(|row, _| context.has_row(*row));
        let mut calls = Self { by_row, of_row };
        calls.launched(context);
        calls
    }

    /// Adds what the calls launched.
    fn launched(&mut self, context: &TraceContext<'_>) {
        for work in context.timelines.iter().flat_map(|timeline| &timeline.work) {
            let call = work.launch.and_then(|row| self.of_row.get(row as usize));
            if let Some(found) = call.and_then(|call| self.by_row.get_mut(call)) {
                let duration_ns = work.length_ns();
                found.device_ns = found.device_ns.saturating_add(duration_ns);
                found.n_launched += 1;
            }
        }
    }

    /// The path of the call that a row of the host is in; `None` when it is in none, or nothing tells it.
    pub(super) fn path_of(&self, row: u32) -> Option<AttentionPath> {
        let call = self.by_row.get(self.of_row.get(row as usize)?)?;
        call.told.map(|(path, _)| path)
    }

    /// The attention that operators called, what took most on the host first. Empty when there is none. O(calls).
    pub(super) fn operators(&self, context: &TraceContext<'_>) -> Vec<AttentionOperator> {
        let trace = context.trace;
        let mut calls: Vec<_> = self.by_row.iter().collect();
        calls.sort_by_key(|(row, _)| trace.rows.start_of(**row));
        let mut by_key: BTreeMap<OperatorKey<'_>, (Option<u32>, Sums)> = BTreeMap::new();
        for (row, call) in calls {
            let owner = context.owners.around(*row).find_map(|row| module_type(context, row));
            let key = (owner, trace.name_of(*row), call.told.map(|(path, _)| path));
            let told_by = call.told.map(|(_, row)| row);
            add(&mut by_key.entry(key).or_insert((told_by, [0; 4])).1, call.figures());
        }
        let row =
            |((owner, operator, path), (told_by, sums)): (OperatorKey<'_>, (Option<u32>, Sums))| {
                let [count, host_ns, device_ns, n_launched] = sums;
                AttentionOperator {
                    owner: owner.map(str::to_owned),
                    operator: operator.to_owned(),
                    path,
                    told_by: told_by.map(|row| trace.name_of(row).to_owned()),
                    count,
                    host_ns,
                    device_ns,
                    n_launched,
                }
            };
        let mut rows: Vec<AttentionOperator> = by_key.into_iter().map(row).collect();
        rows.sort_by_key(|row| Reverse((row.host_ns, row.count)));
        rows
    }

    /// Calls without a fused kernel, those to warn of first, then what took most on the host. `owned` is the attention of all devices
    /// by owner: fused kernels in replayed graphs have no operators. Empty when there are none. O(calls).
    pub(super) fn fallbacks<'a>(
        &self,
        owners: &mut OwnersOfRows<'_, '_>,
        owned: impl Iterator<Item = &'a AttentionOwner>,
    ) -> Vec<AttentionFallback> {
        let trace = owners.context.trace;
        let fused = owned.filter(|row| row.path.is_fused()).map(|row| row.role);
        let mut fused: BTreeSet<Option<PhaseRole>> = fused.collect();
        let by_key = sums_by(self.by_row.iter().filter_map(|(row, call)| {
            let (path, _) = call.told?;
            let owner = owners.of(*row);
            if path.is_fused() {
                fused.insert(owner.role);
                return None;
            }
            let query = Query::of(trace, call.query_row, path == AttentionPath::Math);
            let key = (owner.name, owner.role, trace.name_of(*row), path, query);
            Some((key, call.figures()))
        }));
        let is_fallback = |path| path == AttentionPath::Math || !fused.is_empty();
        let found = by_key.into_iter().filter(|(key, _)| is_fallback(key.3));
        let row = |((owner, role, operator, path, query), sums): (FallbackKey<'_>, Sums)| {
            let [count, host_ns, device_ns, n_launched] = sums;
            let is_denoiser = role == Some(PhaseRole::Denoising);
            AttentionFallback {
                owner: owner.map(str::to_owned),
                role,
                operator: operator.to_owned(),
                path,
                is_warning: path == AttentionPath::Math || (is_denoiser && fused.contains(&role)),
                element_type: query.element_type.map(str::to_owned),
                head_size: query.head_size,
                has_mask: query.has_mask,
                reasons: query.reasons(),
                count,
                host_ns,
                device_ns,
                n_launched,
            }
        };
        let mut rows: Vec<AttentionFallback> = found.map(row).collect();
        rows.sort_by_key(|row| Reverse((row.is_warning, row.host_ns, row.count)));
        rows
    }
}

/// Owner, operator and path.
type OperatorKey<'a> = (Option<&'a str>, &'a str, Option<AttentionPath>);

/// Owner, what that does, operator, path and inputs.
type FallbackKey<'a> = (Option<&'a str>, Option<PhaseRole>, &'a str, AttentionPath, Query<'a>);

/// How many calls, their time on the host, what was launched in them, and how much that was.
type Sums = [u64; 4];

impl AttentionCall {
    fn figures(&self) -> Sums {
        [1, self.host_ns, self.device_ns, self.n_launched]
    }
}

/// Attention that a program computes step by step: the row of its softmax, and the rows of its operators. Only operators of a thread
/// that are in no other, all in one module, or all in none.
fn eager_calls(context: &TraceContext<'_>) -> Vec<(u32, Vec<u32>)> {
    let trace = context.trace;
    let steps: Vec<Option<Role>> = trace.names.iter().map(step).collect();
    if !steps.contains(&Some(Role::Softmax)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for track in (0_u32..).take(trace.tracks.each.len()) {
        let mut operators: Vec<(u32, Role)> = Vec::new();
        let mut open_until_ns = 0;
        for row in context.host.of_track(track).iter().copied() {
            let is_inside = trace.rows.start_of(row) < open_until_ns;
            if is_inside || trace.class_of(row) != Class::Operator {
                continue;
            }
            let role = trace.rows.name_of(row).and_then(|name| *steps.get(name as usize)?);
            if let Some(role) = role {
                open_until_ns = trace.rows.end_ns(row);
                operators.push((row, role));
            }
        }
        let module = |row: &u32| context.owners.innermost(trace, *row, HostKind::Module);
        for [first, softmax, last] in eager(&operators, module, MOST_OPERATORS, false) {
            let rows = operators.get(first..=last).unwrap_or_default().iter();
            let softmax = operators.get(softmax).map_or(NONE, |(row, _)| *row);
            found.push((softmax, rows.map(|(row, _)| *row).collect()));
        }
    }
    found
}

/// What the inputs of a call say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Query<'a> {
    element_type: Option<&'a str>,
    head_size: Option<u64>,
    has_mask: Option<bool>,
}

impl<'a> Query<'a> {
    /// Queries come first; the fourth input is the mask, if the operator takes one.
    fn of(trace: &'a Trace, row: u32, takes_mask: bool) -> Self {
        let Some(inputs) = trace.inputs_of(row) else {
            return Self::default();
        };
        let last = trace.sizes_of(inputs, 0).and_then(|sizes| sizes.rsplit(',').next());
        let mask = trace.sizes_of(inputs, 3).filter(|_| takes_mask);
        Self {
            element_type: trace.first_type(inputs).filter(|name| !name.is_empty()),
            head_size: last.and_then(|size| size.trim().parse().ok()),
            has_mask: mask.map(|mask| !mask.trim().is_empty()),
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

#[cfg(test)]
mod tests {
    use super::*;

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

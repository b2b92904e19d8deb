//! Every call of attention that the operators of a trace say.

use std::collections::BTreeMap;

use super::attention::AttentionPath;
use super::eager_calls::eager_calls;
use super::{HostKind, TraceContext};
use crate::import::chrome::{Class, Trace};

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
/// Graphs that are replayed call no operators: their attention is told by kernels alone.
#[derive(Clone, Debug, Default)]
pub struct AttentionCalls {
    /// By row.
    pub(super) by_row: BTreeMap<u32, AttentionCall>,
    /// Of each row the call it is in; [`NONE`] when it is in none.
    of_row: Vec<u32>,
}

/// One call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AttentionCall {
    /// The path, and the row it was told by.
    pub(super) told: Option<(AttentionPath, u32)>,
    /// The row whose inputs begin with the queries.
    pub(super) query_row: u32,
    /// On the host.
    pub(super) host_ns: u64,
    /// Of what was launched in it.
    pub(super) device_ns: u64,
    /// How much that was.
    pub(super) n_launched: u64,
}

/// Parts of the names of attention's operators, and the path that they say. The first that fits counts.
const OPERATORS: [(&str, Option<AttentionPath>); 22] = [
    ("_scaled_dot_product_flash_attention", Some(AttentionPath::Flash)),
    ("_scaled_dot_product_efficient_attention", Some(AttentionPath::MemoryEfficient)),
    ("_scaled_dot_product_cudnn_attention", Some(AttentionPath::Cudnn)),
    ("_scaled_dot_product_attention_math", Some(AttentionPath::Math)),
    ("_scaled_dot_product_fused_attention_overrideable", None),
    ("_flash_attention_forward", Some(AttentionPath::Flash)),
    ("_flash_attention_backward", Some(AttentionPath::Flash)),
    ("_efficient_attention_forward", Some(AttentionPath::MemoryEfficient)),
    ("_efficient_attention_backward", Some(AttentionPath::MemoryEfficient)),
    ("_cudnn_attention_forward", Some(AttentionPath::Cudnn)),
    ("scaled_dot_product_attention", None),
    ("flash_attn::", Some(AttentionPath::Flash)),
    ("flash_attn_2::", Some(AttentionPath::Flash)),
    ("flash_attn_3::", Some(AttentionPath::Flash)),
    ("aiter::fmha", Some(AttentionPath::Flash)),
    ("aiter::mha", Some(AttentionPath::Flash)),
    ("xformers::efficient_attention", Some(AttentionPath::MemoryEfficient)),
    ("xformers_flash", Some(AttentionPath::Flash)),
    ("sageattn", Some(AttentionPath::Sage)),
    ("sageattention", Some(AttentionPath::Sage)),
    ("vllm::unified_attention", Some(AttentionPath::Paged)),
    ("flex_attention", Some(AttentionPath::Flex)),
];

/// `None` for everything that is not attention; the path is `None` when the name does not say it.
#[expect(clippy::option_option, reason = "attention of a path that is not said")]
fn said(name: &str) -> Option<Option<AttentionPath>> {
    let is_fused = name.starts_with("triton_") || name.starts_with("Torch-Compiled");
    let found = OPERATORS.iter().find(|(part, _)| name.contains(part));
    found.filter(|_| !is_fused).map(|(_, path)| *path)
}

/// No row.
const NONE: u32 = u32::MAX;

impl AttentionCalls {
    /// Of the part that is asked about: O(rows), 4 bytes a row; nothing when no name is one of attention.
    pub fn new(context: &TraceContext<'_>) -> Self {
        let trace = context.trace;
        let said: Vec<_> = trace.names.iter().map(said).collect();
        let eager = eager_calls(context);
        if said.iter().all(Option::is_none) && eager.is_empty() {
            return Self::default();
        }
        let said_of = |row: u32| {
            let name = trace.rows.name.get(row as usize)?;
            let said = said.get(*name as usize).copied().flatten()?;
            (trace.class_of(row) == Class::Operator).then_some(said)
        };
        let mut of_row = vec![NONE; trace.rows.len()];
        let n_rows = (0_u32..).take(trace.rows.len());
        for (row, place) in n_rows.zip(&mut of_row) {
            if said_of(row).is_some() {
                *place = row;
            }
        }
        let mut by_row = BTreeMap::new();
        for found in eager {
            for row in &found.operators {
                if let Some(place) = of_row.get_mut(*row as usize) {
                    *place = found.softmax;
                }
            }
            let durations = found.operators.iter().map(|r| trace.rows.duration_of(*r));
            let call = AttentionCall {
                told: Some((AttentionPath::Eager, found.softmax)),
                query_row: found.operators.first().copied().unwrap_or(NONE),
                host_ns: durations.fold(0, u64::saturating_add),
                ..AttentionCall::default()
            };
            by_row.insert(found.softmax, call);
        }
        outermost(context, &mut of_row);
        for (row, call) in (0_u32..).zip(&of_row) {
            let Some(path) = said_of(row) else {
                continue;
            };
            let found = by_row.entry(*call).or_insert_with(|| AttentionCall {
                query_row: *call,
                host_ns: trace.rows.duration_of(*call),
                ..AttentionCall::default()
            });
            // Of several that tell a path the one that began first.
            let told = path.map(|path| (path, row)).into_iter();
            let began_ns = |(_, row): &(AttentionPath, u32)| trace.rows.start_of(*row);
            found.told = found.told.into_iter().chain(told).min_by_key(began_ns);
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
                let duration_ns = work.interval().length_ns();
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
}

/// Gives each row the call of the outermost row around it that has one.
fn outermost(context: &TraceContext<'_>, of_row: &mut [u32]) {
    let trace: &Trace = context.trace;
    let tracks = (0_u32..).take(trace.tracks.each.len());
    // The rows of a track come with those around them first.
    for row in tracks.flat_map(|track| context.host.of_track(track)) {
        let parent = context.host.parent(*row);
        let around = parent.and_then(|parent| of_row.get(parent as usize).copied());
        if let Some(around) = around.filter(|around| *around != NONE)
            && let Some(place) = of_row.get_mut(*row as usize)
        {
            *place = around;
        }
    }
}

/// The type of a module from its name: `nn.Module: T5Attention_3` is a `T5Attention`. `None` for other rows.
pub(super) fn module_type<'a>(context: &TraceContext<'a>, row: u32) -> Option<&'a str> {
    let trace: &'a Trace = context.trace;
    if context.owners.kind(trace, row) != Some(HostKind::Module) {
        return None;
    }
    let module = trace.name_of(row).strip_prefix(super::owners::MODULE)?;
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
        let known = |path| Some(Some(path));
        for (name, expected) in [
            ("aten::_scaled_dot_product_flash_attention_for_cpu", known(AttentionPath::Flash)),
            ("aiter::fmha_v3_fwd", known(AttentionPath::Flash)),
            ("flash_attn::_flash_attn_forward", known(AttentionPath::Flash)),
            ("sageattention::qk_int8_sv_f16", known(AttentionPath::Sage)),
            (
                "xformers::efficient_attention_forward_cutlass",
                known(AttentionPath::MemoryEfficient),
            ),
            ("aten::_scaled_dot_product_attention_math", known(AttentionPath::Math)),
            ("flex_attention", known(AttentionPath::Flex)),
            ("aten::scaled_dot_product_attention", Some(None)),
            ("triton_red_fused_addmm_fmha_v3_fwd_mean_4", None),
            ("triton_poi_fused__scaled_dot_product_flash_attention_1", None),
            ("aten::mm", None),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }
}

//! Which attention ran, and what did it take?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::kernel_class::{KernelClass, is_fused, kernel_class};
use crate::import::chrome::Trace;
use crate::stats::ratio;

/// A way to compute attention.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AttentionPath {
    /// Flash attention, of whatever library.
    Flash,
    /// The memory-efficient kernels of torch and xFormers.
    MemoryEfficient,
    /// That of cuDNN.
    Cudnn,
    /// With quantised queries and keys.
    Sage,
    /// Over a cache of pages, as servers of language models have it.
    Paged,
    /// Compiled for what the program does to its scores (`flex_attention`).
    Flex,
    /// Without a fused kernel, inside `scaled_dot_product_attention`: what torch takes when no other can be.
    Math,
    /// Step by step: a product of matrices, a softmax, another product. The slowest.
    Eager,
}

impl AttentionPath {
    /// One kernel does it all, without a matrix of the size of the sequence squared in memory.
    pub fn is_fused(self) -> bool {
        !matches!(self, Self::Math | Self::Eager)
    }
}

/// The kernels of one path.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AttentionUse {
    /// Which.
    pub path: AttentionPath,
    /// Kernels that compute it; of `Eager` the softmaxes, one a call.
    pub count: u64,
    /// Their durations together; of `Eager` without the products of matrices.
    pub total_ns: u64,
    /// Kernels that only prepare its inputs.
    pub n_preparing: u64,
    /// Their durations together.
    pub preparing_ns: u64,
    /// Share of the durations of all kernels of the device, with preparation, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// Names of the kernels, in alphabetical order.
    pub kernels: Vec<String>,
}

/// What a name says of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Computes(AttentionPath),
    Prepares(AttentionPath),
    /// A softmax, which is attention where it stands between products of matrices.
    Softmax,
    Gemm,
    /// May stand between a product and a softmax: scales, masks, casts.
    Between,
    /// May stand between a product and a softmax, but not behind it: biases by position are looked up in a table.
    Lookup,
    Other,
}

/// Parts of names in lower case, and whose they are. The first that fits counts.
const PARTS: [(&str, AttentionPath); 18] = [
    ("sage_fwd", AttentionPath::Sage),
    ("sageattn", AttentionPath::Sage),
    ("qk_int_sv", AttentionPath::Sage),
    ("pagedkv", AttentionPath::Paged),
    ("unified_attention", AttentionPath::Paged),
    ("paged_attention", AttentionPath::Paged),
    ("sdpa", AttentionPath::Cudnn),
    ("fmha_cutlass", AttentionPath::MemoryEfficient),
    ("attentionkernel", AttentionPath::MemoryEfficient),
    ("attention_kernel_batched", AttentionPath::MemoryEfficient),
    ("memeff", AttentionPath::MemoryEfficient),
    ("flash_fwd", AttentionPath::Flash),
    ("flash_bwd", AttentionPath::Flash),
    ("flashattn", AttentionPath::Flash),
    ("fmha", AttentionPath::Flash),
    ("attn_fwd", AttentionPath::Flash),
    ("attn_bwd", AttentionPath::Flash),
    ("mha_fwd", AttentionPath::Flash),
];

/// A kernel that computes attention over a cache of pages: a language model generates, nothing is denoised.
pub(super) fn is_paged(name: &str) -> bool {
    role(name) == Role::Computes(AttentionPath::Paged)
}

fn role(name: &str) -> Role {
    // The template of a compiler, where other kernels of compilers are named after their neighbours.
    if name.starts_with("triton_tem_") && name.contains("flex_attention") {
        return Role::Computes(AttentionPath::Flex);
    }
    if is_fused(name) {
        return Role::Between;
    }
    let lower = name.to_ascii_lowercase();
    if lower.contains("sage_quant") {
        return Role::Prepares(AttentionPath::Sage);
    }
    match kernel_class(name) {
        KernelClass::Attention => {
            let found = PARTS.iter().find(|(part, _)| lower.contains(part));
            found.map_or(Role::Other, |(_, path)| Role::Computes(*path))
        }
        KernelClass::Softmax if lower.contains("backward") => Role::Other,
        KernelClass::Softmax => Role::Softmax,
        KernelClass::Gemm => Role::Gemm,
        KernelClass::Elementwise | KernelClass::Layout => Role::Between,
        KernelClass::Indexing if !lower.contains("sort") && !lower.contains("topk") => Role::Lookup,
        _ => Role::Other,
    }
}

#[derive(Default)]
struct Sums {
    count: u64,
    total_ns: u64,
    n_preparing: u64,
    preparing_ns: u64,
    names: BTreeSet<u32>,
}

/// The attention of a device by path, the one that took most first. Empty when there is none.
///
/// Told by the names of kernels, since graphs that are replayed leave nothing else. Kernels of compilers that are named after
/// the attention next to them are none. A softmax counts where it stands between two products of matrices on its stream,
/// with nothing but scales, masks and casts in between, and lookups of biases before it:
///
/// ```text
/// gemm  scale  softmax  cast  gemm        eager attention
/// gemm  gather  add  softmax  gemm        eager attention with a bias by position
/// gemm  softmax  argmax                   a classifier
/// ```
pub fn attention(trace: &Trace, timeline: &DeviceTimeline) -> Vec<AttentionUse> {
    let mut by_path: BTreeMap<AttentionPath, Sums> = BTreeMap::new();
    for (work, path, is_preparing) in attention_kernels(trace, timeline) {
        let sums = by_path.entry(path).or_default();
        let duration_ns = work.interval().length_ns();
        let (count, total_ns) = if is_preparing {
            (&mut sums.n_preparing, &mut sums.preparing_ns)
        } else {
            (&mut sums.count, &mut sums.total_ns)
        };
        *count += 1;
        *total_ns = total_ns.saturating_add(duration_ns);
        sums.names.insert(work.name);
    }
    let is_kernel = |kind| matches!(kind, WorkKind::Compute | WorkKind::Communication);
    let kernels = timeline.work.iter().filter(|work| is_kernel(work.kind));
    let all_ns = kernels.fold(0_u64, |sum, work| sum.saturating_add(work.interval().length_ns()));
    let mut uses: Vec<AttentionUse> =
        by_path.into_iter().map(|(path, sums)| row(trace, path, &sums, all_ns)).collect();
    uses.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    uses
}

/// The kernels of a device that are attention, by stream and there in order of time; and whether they only prepare it.
pub(super) fn attention_kernels<'a>(
    trace: &Trace,
    timeline: &'a DeviceTimeline,
) -> Vec<(&'a DeviceWork, AttentionPath, bool)> {
    let mut roles: Vec<Option<Role>> = vec![None; trace.names.len()];
    let mut kernels: Vec<(&DeviceWork, Role)> = Vec::new();
    for work in &timeline.work {
        let role = match work.kind {
            WorkKind::Memcpy | WorkKind::Memset => Role::Between,
            WorkKind::Communication => Role::Other,
            WorkKind::Compute => {
                let known = roles.get_mut(work.name as usize);
                let look = || role(trace.names.get(work.name));
                known.map_or(Role::Other, |known| *known.get_or_insert_with(look))
            }
        };
        kernels.push((work, role));
    }
    // A stable sort: the kernels of each stream stay in order of time.
    kernels.sort_by_key(|(work, _)| work.stream);
    let streams = kernels.chunk_by(|a, b| a.0.stream == b.0.stream);
    streams.flat_map(of_stream).collect()
}

/// What of a stream's kernels, in order of time, is attention; and whether it only prepares it.
fn of_stream<'a>(kernels: &[(&'a DeviceWork, Role)]) -> Vec<(&'a DeviceWork, AttentionPath, bool)> {
    let mut found = Vec::new();
    // A softmax after a product of matrices, which waits for the next one.
    let mut waiting: Option<&DeviceWork> = None;
    let mut is_after_gemm = false;
    for (work, role) in kernels {
        match role {
            Role::Gemm => {
                found.extend(waiting.take().map(|w| (w, AttentionPath::Eager, false)));
                is_after_gemm = true;
            }
            Role::Softmax => {
                waiting = is_after_gemm.then_some(*work);
                is_after_gemm = false;
            }
            Role::Between => {}
            Role::Lookup => waiting = None,
            Role::Computes(_) | Role::Prepares(_) | Role::Other => {
                (waiting, is_after_gemm) = (None, false);
            }
        }
        match role {
            Role::Computes(path) => found.push((*work, *path, false)),
            Role::Prepares(path) => found.push((*work, *path, true)),
            _ => {}
        }
    }
    found
}

fn row(trace: &Trace, path: AttentionPath, sums: &Sums, all_ns: u64) -> AttentionUse {
    let names = sums.names.iter().map(|name| trace.names.get(*name).to_owned());
    let mut kernels: Vec<String> = names.collect();
    kernels.sort_unstable();
    let both_ns = u128::from(sums.total_ns) + u128::from(sums.preparing_ns);
    AttentionUse {
        path,
        count: sums.count,
        total_ns: sums.total_ns,
        n_preparing: sums.n_preparing,
        preparing_ns: sums.preparing_ns,
        ratio: (all_ns > 0).then(|| ratio(both_ns, u128::from(all_ns))),
        kernels,
    }
}

//! What kinds of collectives there are, how they are named, and every call of one that a trace has.

use serde::Serialize;

use super::TraceContext;
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::function_name::{function_of, own_name};
use crate::import::chrome::{Class, Inputs, Trace, is_host_collective};
use crate::intervals::Interval;

/// A kind of communication of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CollectiveKind {
    /// Everyone gets the sum of all.
    AllReduce,
    /// Everyone gets what all have.
    AllGather,
    /// Everyone gets a part of the sum of all.
    ReduceScatter,
    /// Everyone gets a part of what each has.
    AllToAll,
    /// Everyone gets what one has.
    Broadcast,
    /// One gets the sum of all.
    Reduce,
    /// From one to another.
    SendReceive,
    /// None of these by its name.
    Other,
}

/// What the name of a collective is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToldBy {
    /// The kernel says it (`Collective name`).
    Metadata,
    /// The range around the call that launched it, or the row of the host: `nccl:all_to_all`.
    Annotation,
    /// The name of the kernel.
    KernelName,
}

/// Parts of names without underscores, and what they mean. The first that fits counts.
const NAMES: [(&str, CollectiveKind); 10] = [
    ("allreduce", CollectiveKind::AllReduce),
    ("crossdevicereduce", CollectiveKind::AllReduce),
    ("allgather", CollectiveKind::AllGather),
    ("reducescatter", CollectiveKind::ReduceScatter),
    ("alltoall", CollectiveKind::AllToAll),
    ("broadcast", CollectiveKind::Broadcast),
    ("sendrecv", CollectiveKind::SendReceive),
    ("reduce", CollectiveKind::Reduce),
    ("send", CollectiveKind::SendReceive),
    ("recv", CollectiveKind::SendReceive),
];

impl CollectiveKind {
    /// As a name says: of a kernel (`ncclDevKernel_AllReduce_Sum_bf16_RING_LL`), or of a collective (`_allgather_base`).
    pub fn of(name: &str) -> Self {
        let name = own_name(name);
        let letters = name.chars().filter(|c| *c != '_');
        let lower: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        let found = NAMES.iter().find(|(part, _)| lower.contains(part));
        found.map_or(Self::Other, |(_, kind)| *kind)
    }

    /// What a kernel is called whose collective only its name tells; `None` when that says none.
    fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::AllReduce => "allreduce",
            Self::AllGather => "allgather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::SendReceive => "send_recv",
            Self::Other => return None,
        })
    }

    /// The size in bytes of the larger side of a rank, which nccl-tests divides by the time. A side that the trace does not
    /// say follows from the other and the number of ranks. `None` when neither is said.
    pub(super) fn size(
        self,
        bytes_in: Option<u64>,
        bytes_out: Option<u64>,
        n_ranks: Option<u64>,
    ) -> Option<u64> {
        let all = |part: Option<u64>| Some(part?.saturating_mul(n_ranks?));
        match self {
            Self::AllGather => bytes_out.or_else(|| all(bytes_in)),
            Self::ReduceScatter => bytes_in.or_else(|| all(bytes_out)),
            _ => bytes_in.max(bytes_out),
        }
    }

    /// What nccl-tests multiplies the algorithm's bandwidth with for that of the links, and 1 for send and receive; `None` when the number of ranks or the
    /// kind is not known.
    pub(super) fn bus_factor(self, n_ranks: Option<u64>) -> Option<f64> {
        let others = |times: f64| {
            let n = crate::stats::float(n_ranks.filter(|n| *n > 0)?);
            Some(times * (n - 1.0) / n)
        };
        match self {
            Self::AllReduce => others(2.0),
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => others(1.0),
            Self::Broadcast | Self::Reduce | Self::SendReceive => Some(1.0),
            Self::Other => None,
        }
    }
}

/// Bytes of an element, by the names of torch's types (`Float`, `BFloat16`) and of C (`float`, `long int`); `None` when it is another.
pub(super) fn element_bytes(element_type: &str) -> Option<u64> {
    let lower = element_type.to_ascii_lowercase();
    let lower = lower.strip_prefix("c10::").unwrap_or(&lower);
    Some(match lower {
        "byte" | "char" | "bool" | "signed char" | "unsigned char" | "float8_e4m3fn"
        | "float8_e5m2" | "float8_e4m3fnuz" | "float8_e5m2fnuz" => 1,
        "half" | "bfloat16" | "short" | "short int" | "uint16" => 2,
        "float" | "int" | "uint32" => 4,
        "double" | "long" | "long int" | "uint64" | "complexfloat" => 8,
        "complexdouble" => 16,
        _ => return None,
    })
}

/// One call as this rank saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectiveCall<'a> {
    pub(super) name: &'a str,
    pub(super) told_by: ToldBy,
    pub(super) group: Option<&'a str>,
    pub(super) group_size: Option<u64>,
    pub(super) element_type: Option<&'a str>,
    /// Elements that went in; as everything that follows `None` when the trace does not say.
    pub(super) n_in: Option<u64>,
    pub(super) n_out: Option<u64>,
    pub(super) time: Interval,
    /// The call's own row.
    pub(super) row: u32,
    /// The row of the module or range that it was launched in.
    pub(super) launched_in: Option<u32>,
}

/// The communication kernels of a device in order of time.
///
/// What a kernel says of its collective comes first, then the range around its launch (`nccl:all_to_all`), then its name.
pub(super) fn device_calls<'a>(
    context: &TraceContext<'a>,
    timeline: &DeviceTimeline,
) -> Vec<CollectiveCall<'a>> {
    let work = timeline.work.iter();
    let kernels = work.filter(|work| work.kind == WorkKind::Communication);
    kernels.map(|work| device_call(context, work)).collect()
}

fn device_call<'a>(context: &TraceContext<'a>, work: &DeviceWork) -> CollectiveCall<'a> {
    let trace = context.trace;
    let row = trace.work.get(work.origin as usize).map(|work| work.row);
    let said = row.and_then(|row| trace.collective_of(row));
    let text = |number: Option<u32>| number.map(|number| trace.texts.get(number));
    let range = work.launch.and_then(|call| range_around(context, call));
    let around = range.and_then(|range| context.host.parent(range));
    let inputs = [range, around].into_iter().flatten().find_map(|row| trace.inputs_of(row));
    let named = text(said.and_then(|said| said.name)).map(|name| (name, ToldBy::Metadata));
    let ranged = || {
        let name = trace.name_of(range?).split_once(':')?.1;
        Some((name, ToldBy::Annotation))
    };
    let kernel = trace.names.get(work.name);
    let by_kernel = || {
        let word = CollectiveKind::of(kernel).word();
        let function = function_of(kernel);
        let short = function.split('<').next().unwrap_or(function);
        (word.unwrap_or(short), ToldBy::KernelName)
    };
    let (name, told_by) = named.or_else(ranged).unwrap_or_else(by_kernel);
    // The inputs of the range are those of one kernel only where it launches one, and the kernel says nothing.
    let input = inputs.filter(|_| said.is_none());
    let said_type = text(said.and_then(|said| said.element_type));
    CollectiveCall {
        name,
        told_by,
        group: text(said.and_then(|said| said.group)),
        group_size: said.and_then(|said| said.group_size),
        element_type: said_type.or_else(|| input.and_then(|input| first_type(trace, input))),
        n_in: said
            .and_then(|said| said.n_elements_in)
            .or_else(|| input.and_then(|input| first_elements(trace, input))),
        n_out: said.and_then(|said| said.n_elements_out),
        time: work.interval(),
        row: row.unwrap_or(u32::MAX),
        launched_in: work.launch.and_then(|call| place_around(context, call)),
    }
}

/// The calls that the host does itself, by beginning.
pub(super) fn host_calls<'a>(context: &TraceContext<'a>) -> Vec<CollectiveCall<'a>> {
    let trace = context.trace;
    let ranges = trace
        .rows_named(is_host_collective)
        .filter(|row| trace.class_of(*row) == Class::Annotation && context.has_row(*row));
    let mut found: Vec<CollectiveCall<'a>> = ranges.map(|row| host_call(context, row)).collect();
    found.sort_by_key(|call| (call.time.start_ns, call.time.end_ns));
    found
}

fn host_call<'a>(context: &TraceContext<'a>, row: u32) -> CollectiveCall<'a> {
    let trace = context.trace;
    let inputs = trace.inputs_of(row);
    let name = trace.name_of(row);
    CollectiveCall {
        name: name.split_once(':').map_or(name, |(_, name)| name),
        told_by: ToldBy::Annotation,
        group: None,
        group_size: None,
        element_type: inputs.and_then(|inputs| first_type(trace, inputs)),
        n_in: inputs.and_then(|inputs| first_elements(trace, inputs)),
        n_out: None,
        time: trace.rows.time_of(row),
        row,
        launched_in: place_around(context, row),
    }
}

/// The range of NCCL or RCCL around a call: `nccl:all_reduce`.
fn range_around(context: &TraceContext<'_>, call: u32) -> Option<u32> {
    let trace = context.trace;
    context.host.around(call).find(|row| {
        let is_range = trace.class_of(*row) == Class::Annotation;
        is_range && trace.name_of(*row).starts_with("nccl:")
    })
}

/// The innermost module, or range that the program named, around a row; not the ranges of backends.
fn place_around(context: &TraceContext<'_>, row: u32) -> Option<u32> {
    let trace = context.trace;
    context.host.around(row).find(|row| match trace.class_of(*row) {
        Class::Annotation => {
            let name = trace.name_of(*row);
            !is_host_collective(name) && !name.starts_with("nccl:")
        }
        Class::PythonFunction => trace.name_of(*row).starts_with("nn.Module: "),
        _ => false,
    })
}

/// The type of the first input; `None` when it is no tensor.
fn first_type(trace: &Trace, inputs: Inputs) -> Option<&str> {
    trace.first_type(inputs).filter(|first| element_bytes(first).is_some())
}

/// Elements of the first input, the product of its sizes; `None` when it is no tensor.
fn first_elements(trace: &Trace, inputs: Inputs) -> Option<u64> {
    let mut sizes = trace.sizes_of(inputs, 0)?.split(',').map(|size| size.trim().parse().ok());
    sizes.try_fold(1_u64, |all, size: Option<u64>| all.checked_mul(size?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_any_spelling() {
        for (name, kind) in [
            ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", CollectiveKind::AllReduce),
            ("multimem_all_reduce_kernel", CollectiveKind::AllReduce),
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
                CollectiveKind::AllReduce,
            ),
            ("void moe::shuffle<Epilogue::AllGather>(int)", CollectiveKind::Other),
            ("void vllm::cross_device_reduce_2stage", CollectiveKind::AllReduce),
            ("_allgather_base", CollectiveKind::AllGather),
            ("reduce_scatter_tensor_coalesced", CollectiveKind::ReduceScatter),
            ("all_to_allv", CollectiveKind::AllToAll),
            (
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)",
                CollectiveKind::SendReceive,
            ),
            ("ncclDevKernel_Generic(ncclDevKernelArgsStorage)", CollectiveKind::Other),
            ("barrier", CollectiveKind::Other),
        ] {
            assert_eq!(CollectiveKind::of(name), kind, "{name}");
        }
    }

    #[test]
    fn speeds_are_those_of_nccl_tests() {
        let factor = |kind: CollectiveKind| kind.bus_factor(Some(4));
        assert_eq!(factor(CollectiveKind::AllReduce), Some(1.5));
        assert_eq!(factor(CollectiveKind::AllGather), Some(0.75));
        assert_eq!(factor(CollectiveKind::ReduceScatter), Some(0.75));
        assert_eq!(factor(CollectiveKind::AllToAll), Some(0.75));
        assert_eq!(factor(CollectiveKind::Broadcast), Some(1.0));
        assert_eq!(CollectiveKind::AllReduce.bus_factor(None), None);
        let size = |kind: CollectiveKind| kind.size(Some(100), None, Some(4));
        assert_eq!(size(CollectiveKind::AllGather), Some(400));
        assert_eq!(size(CollectiveKind::AllReduce), Some(100));
        assert_eq!(CollectiveKind::AllGather.size(Some(100), None, None), None);
    }
}

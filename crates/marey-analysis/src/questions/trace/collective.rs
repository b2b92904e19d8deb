//! What kinds of collectives there are, and how they are named.

use serde::Serialize;

use super::function_name::own_name;

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

/// What the name of a collective was told by.
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
    pub(super) fn word(self) -> Option<&'static str> {
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

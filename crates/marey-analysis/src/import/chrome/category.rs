//! What kind of thing an event is, told by its category alone.

/// What an event stands for. Never told by `args.stream`: operators of Inductor and Triton have one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A kernel on a device.
    Kernel,
    /// A copy by a device.
    Memcpy,
    /// A device fills memory.
    Memset,
    /// A call of the runtime or the driver: launches, synchronisations, allocations.
    Call,
    /// An operator of torch.
    Operator,
    /// A range that the program named: `record_function`, a `ProfilerStep`; and ranges of tools other than the profiler, whose
    /// categories can be anything.
    Annotation,
    /// The same range as the profiler drew it for a device. No work.
    DeviceAnnotation,
    /// A Python function.
    PythonFunction,
    /// Anything else that the profiler writes. Synchronisations on the device's rows and overheads of the profiler are here: they are no work.
    Other,
}

impl Class {
    pub(super) fn of(category: &str) -> Self {
        match category {
            "kernel" | "Kernel" | NPU_KERNEL => Self::Kernel,
            "gpu_memcpy" | "Memcpy" => Self::Memcpy,
            "gpu_memset" | "Memset" => Self::Memset,
            "cuda_runtime"
            | "cuda_driver"
            | "Runtime"
            | "hip_runtime"
            | "xpu_runtime"
            | "mtia_runtime"
            | "xpu_driver"
            | "privateuse1_runtime"
            | "privateuse1_driver" => Self::Call,
            "cpu_op" | "Operator" => Self::Operator,
            "gpu_user_annotation" => Self::DeviceAnnotation,
            "python_function" => Self::PythonFunction,
            "cuda_sync"
            | "overhead"
            | "Trace"
            | "cuda_profiler_range"
            | "external_correlation"
            | "mtia_ccp_events"
            | "mtia_insight"
            | "glow_runtime"
            | "hpu_op"
            | NPU_TASK
            | "collective_comm" => Self::Other,
            _ => Self::Annotation,
        }
    }

    /// A device wrote rows of this category, and what they say of its work is not known here.
    pub(super) fn is_not_analysed(category: &str) -> bool {
        ["mtia_ccp_events", "mtia_insight", "hpu_op", NPU_TASK].contains(&category)
    }
}

/// The process of an Ascend NPU's own rows.
pub(super) const NPU: &str = "Ascend Hardware";

/// The categories of tasks of an Ascend NPU, whose rows have none: of those that compute, and of those that are not analysed.
pub(super) const NPU_KERNEL: &str = "npu_kernel";
pub(super) const NPU_TASK: &str = "npu_task";

/// The category of a task of an Ascend NPU by what it says that it is (`Task Type`): what computes is a kernel; waiting, copying and events of
/// streams are not analysed.
pub(super) fn of_task(task_type: &[u8]) -> &'static str {
    match task_type {
        b"AI_CORE" | b"AI_VECTOR_CORE" | b"AI_CPU" | b"MIX_AIC" | b"MIX_AIV" => NPU_KERNEL,
        _ => NPU_TASK,
    }
}

/// Processes of a trace of an Ascend NPU whose rows tell once more what its tasks did, or what the profiler worked out of them.
pub(super) const NPU_SUMMARIES: [&str; 3] = ["HCCL", "Communication", "Overlap Analysis"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_another_tool_is_one_that_the_program_named() {
        assert_eq!(
            Class::of("candle_transformers::models::t5"),
            Class::Annotation
        );
        assert_eq!(Class::of(""), Class::Annotation);
        assert_eq!(Class::of("cuda_sync"), Class::Other);
    }
}

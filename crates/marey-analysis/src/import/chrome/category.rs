//! What kind of thing an event is, by its category alone.

use super::npu;

/// What an event stands for. Never known by `args.stream`: operators of Inductor and Triton have one, too.
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
    /// That of a category.
    pub fn of(category: &str) -> Self {
        match category {
            "kernel" | "Kernel" | npu::KERNEL => Self::Kernel,
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
            | npu::TASK
            | "collective_comm" => Self::Other,
            _ => Self::Annotation,
        }
    }

    /// A thread of the host did it.
    pub fn is_host(self) -> bool {
        matches!(self, Self::Call | Self::Operator | Self::Annotation | Self::PythonFunction)
    }

    /// A device did it.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset)
    }

    /// A device wrote rows of this category, and what they say of its work is not known here.
    pub(super) fn is_not_analysed(category: &str) -> bool {
        ["mtia_ccp_events", "mtia_insight", "hpu_op", npu::TASK].contains(&category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_another_tool_is_one_that_the_program_named() {
        assert_eq!(Class::of("candle_transformers::models::t5"), Class::Annotation);
        assert_eq!(Class::of(""), Class::Annotation);
        assert_eq!(Class::of("cuda_sync"), Class::Other);
    }
}

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
    /// A range that the program named: `record_function`, a `ProfilerStep`.
    Annotation,
    /// The same range as the profiler drew it for a device. No work.
    DeviceAnnotation,
    /// A Python function.
    PythonFunction,
    /// Anything else. Synchronisations on the device's rows and overheads of the profiler are here: they are no work.
    Other,
}

impl Class {
    pub(super) fn of(category: &str) -> Self {
        match category {
            "kernel" | "Kernel" => Self::Kernel,
            "gpu_memcpy" | "Memcpy" => Self::Memcpy,
            "gpu_memset" | "Memset" => Self::Memset,
            "cuda_runtime" | "cuda_driver" | "Runtime" | "hip_runtime" | "xpu_runtime"
            | "mtia_runtime" => Self::Call,
            "cpu_op" | "Operator" => Self::Operator,
            "user_annotation" => Self::Annotation,
            "gpu_user_annotation" => Self::DeviceAnnotation,
            "python_function" => Self::PythonFunction,
            _ => Self::Other,
        }
    }

    /// A device is at work.
    pub fn is_device_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Memcpy | Self::Memset)
    }
}

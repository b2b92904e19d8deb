//! Why something is not to be had, in words for a user.

use nvml_wrapper::error::NvmlError;

/// Whether an error will be the same with the next call, so that there is no point in making it.
pub(super) fn is_for_good(error: &NvmlError) -> bool {
    matches!(
        error,
        NvmlError::NotSupported
            | NvmlError::NoPermission
            | NvmlError::FunctionNotFound
            | NvmlError::FailedToLoadSymbol(_)
            | NvmlError::InvalidArg
            | NvmlError::NotFound
            | NvmlError::LibraryNotFound
            | NvmlError::VgpuEccNotSupported
            | NvmlError::UnexpectedVariant(_)
            | NvmlError::GpuLost
            | NvmlError::ResetRequired
    )
}

/// Whether the GPU has gone, and all its readings with it.
pub(super) fn is_lost(error: &NvmlError) -> bool {
    matches!(error, NvmlError::GpuLost | NvmlError::ResetRequired)
}

/// Why a reading is not to be had.
pub(super) fn of_reading(error: &NvmlError, is_instance: bool) -> String {
    match error {
        NvmlError::NotSupported | NvmlError::InvalidArg if is_instance => {
            "the driver gives it for a whole GPU only, not for an instance (MIG)".into()
        }
        NvmlError::NotSupported => "this GPU or its driver does not give it (not supported)".into(),
        NvmlError::NoPermission => {
            "the driver wants more rights for it (no permission); as root, or in a container with the capability SYS_ADMIN, it may be read"
                .into()
        }
        NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) => {
            "the driver is too old for it (no such function in its library); a newer driver gives it".into()
        }
        NvmlError::GpuLost => {
            "the GPU has fallen off the bus; the kernel's log says more (Xid), a reset or a restart may bring it back".into()
        }
        NvmlError::ResetRequired => "the GPU has to be reset before it can be used (nvidia-smi --gpu-reset)".into(),
        error => format!("the driver says: {error}"),
    }
}

/// Why the library, which is there, cannot be used.
pub(super) fn of_opening(error: &NvmlError) -> String {
    match error {
        NvmlError::DriverNotLoaded => {
            "the library of the NVIDIA driver is there, but the driver is not loaded; in a container the devices may be missing (--gpus all)"
                .into()
        }
        NvmlError::LibRmVersionMismatch => {
            "the NVIDIA driver and its library have different versions, as after an update; a restart of the machine, or of the container, brings them together"
                .into()
        }
        NvmlError::NoPermission => {
            "this user may not talk to the NVIDIA driver (no permission for /dev/nvidiactl)".into()
        }
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            "the library has no nvmlInit_v2, so it is not that of an NVIDIA driver".into()
        }
        error => format!("the NVIDIA driver cannot be asked: {error}"),
    }
}

/// Why there is no library at all.
pub(super) fn of_absence(has_driver: bool) -> String {
    if has_driver {
        "the NVIDIA driver is loaded, but its library (libnvidia-ml.so.1) is not here; a container needs the driver capability `utility` (NVIDIA_DRIVER_CAPABILITIES=compute,utility)"
            .into()
    } else {
        "no NVIDIA driver (libnvidia-ml.so.1)".into()
    }
}

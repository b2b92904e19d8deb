//! Finding and opening the driver's library.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::reason;
use crate::GpuOptions;

/// By name first, as the linker finds it; then where NixOS, WSL and containers keep it without telling the linker.
const PLACES: [&str; 5] = [
    "libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib/libnvidia-ml.so.1",
];

/// Libraries that are open. They stay so until the process ends: closing one while the driver hangs would hang, too.
static OPEN: Mutex<Vec<(OsString, &'static Nvml)>> = Mutex::new(Vec::new());

/// Opens the library, or says why it cannot be.
pub(super) fn open(options: &GpuOptions) -> Result<&'static Nvml, String> {
    let given = match &options.library {
        Some(path) => Some(path.clone().into_os_string()),
        None => std::env::var_os("MAREY_NVML_LIBRARY").filter(|path| !path.is_empty()),
    };
    if let Some(path) = given {
        let opened = open_at(&path);
        return opened.map_err(|error| match error {
            NvmlError::LibloadingError(error) => format!("{}: {error}", path.display()),
            error => reason::of_opening(&error),
        });
    }
    let mut problem = None;
    for place in PLACES.map(OsStr::new) {
        match open_at(place) {
            Ok(nvml) => return Ok(nvml),
            // The next place may have it; of several problems the last that is not absence says most.
            Err(NvmlError::LibloadingError(error)) => {
                let text = error.to_string();
                if !text.contains("No such file") {
                    problem = Some(text);
                }
            }
            Err(error) => return Err(reason::of_opening(&error)),
        }
    }
    Err(problem.unwrap_or_else(|| reason::of_absence(has_driver(&options.sys_root))))
}

fn open_at(path: &OsStr) -> Result<&'static Nvml, NvmlError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, nvml)) = open.iter().find(|(known, _)| known == path) {
        return Ok(nvml);
    }
    let nvml: &'static Nvml = Box::leak(Box::new(Nvml::builder().lib_path(path).init()?));
    open.push((path.to_owned(), nvml));
    Ok(nvml)
}

/// Whether the kernel has the driver, so that only the library is missing.
fn has_driver(root: &Path) -> bool {
    root.join("proc/driver/nvidia/version").exists()
}

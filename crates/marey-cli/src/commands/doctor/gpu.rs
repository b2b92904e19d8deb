//! The NVIDIA driver. Looked for in files only; nothing is loaded.

use std::path::PathBuf;

use super::check::Check;

const LIBRARY: &str = "libnvidia-ml.so.1";
/// Where distributions, containers and WSL keep it.
const FOLDERS: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
];

/// Whether there is a GPU to measure.
pub(super) fn check() -> Check {
    let name = "gpu";
    let Some(library) = library() else {
        return Check::not_available(
            name,
            format!(
                "no NVIDIA driver library ({LIBRARY}); GPU utilisation, memory, power and kernels are not measured"
            ),
        );
    };
    let Some(version) = driver_version() else {
        return Check::not_available(
            name,
            format!(
                "{} is there, but no driver is loaded (/proc/driver/nvidia)",
                library.display()
            ),
        );
    };
    Check::limited(
        name,
        format!(
            "NVIDIA driver {version}; this version of marey takes no readings from it, GPU memory comes from torch"
        ),
    )
}

fn library() -> Option<PathBuf> {
    let configured = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&configured).collect();
    folders.extend(FOLDERS.map(PathBuf::from));
    folders
        .into_iter()
        .map(|folder| folder.join(LIBRARY))
        .find(|path| path.exists())
}

fn driver_version() -> Option<String> {
    version_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The first word of the first line that is a number with dots.
fn version_in(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let line = text.lines().next()?;
    line.split_whitespace().find(is_version).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kernel_modules_name_their_version() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23 2025\nGCC version: 12.2.0";
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.51.03  Release Build\n";
        assert_eq!(version_in(closed).as_deref(), Some("570.86.15"));
        assert_eq!(version_in(open).as_deref(), Some("575.51.03"));
        assert_eq!(version_in(""), None);
    }
}

//! Opening a link with what the platform has for it.

use std::process::{Command, Stdio};

/// Whether a browser was asked to open the link. It is not waited for.
pub(super) fn open(link: &str) -> bool {
    let is_mac = cfg!(target_os = "macos");
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !is_mac && !has_display {
        return false;
    }
    let program = if is_mac { "open" } else { "xdg-open" };
    Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

//! Waiting for a child with what it used: `wait4`.

#![allow(unsafe_code, reason = "wait4")]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::launch::Usage;
use crate::resources::nanoseconds;

/// Waits for the end of a child, takes it off the list of processes, and says what it and the descendants that were waited for used.
///
/// # Errors
/// When it is no child of this process, or was waited for already.
pub fn wait_with_usage(pid: u32) -> io::Result<(ExitStatus, Usage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: a `rusage` is numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both are valid places for the duration of the call.
        let found = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if found == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let usage = Usage {
        cpu_user_ns: nanoseconds(usage.ru_utime),
        cpu_system_ns: nanoseconds(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        is_peak_at_most: false,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_waited_for_once_with_what_it_used() {
        let loops = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3";
        let mut shell = Command::new("/bin/sh");
        let child = shell.args(["-c", loops]).stdin(Stdio::null()).spawn();
        let pid = child.unwrap().id();
        let (status, usage) = wait_with_usage(pid).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(usage.cpu_user_ns > 1_000_000, "{usage:?}");
        assert!(usage.peak_bytes > 100 << 10, "{usage:?}");
        assert!(wait_with_usage(pid).is_err());
    }
}

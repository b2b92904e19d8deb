//! Memory of this process as the kernel counts it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Resident bytes now: the second field of `/proc/self/statm`, in pages. `None` without `/proc`. Costs about 2 µs.
pub fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

/// Bytes of address space that the limit of the process (`ulimit -v`) leaves. `None` where there is no limit.
pub(crate) fn address_space_left_bytes() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * page_bytes()))
}

/// Most bytes that were resident since the process began, [`reset_peak_resident`] or not: `VmHWM` of `/proc/self/status`. `None` without `/proc`.
/// Costs about 20 µs.
pub fn peak_resident_bytes() -> Option<u64> {
    let peak = counted_peak_bytes()?;
    Some(peak.max(BEFORE_RESETS.load(Relaxed)))
}

/// Lets the kernel count anew from what is resident now (`/proc/self/clear_refs`, Linux 4.0). `ru_maxrss` of this process is of the time
/// since then, too, for whoever asks for it. False where that is not allowed. Costs about 5 µs.
pub fn reset_peak_resident() -> bool {
    if let Some(peak) = counted_peak_bytes() {
        BEFORE_RESETS.fetch_max(peak, Relaxed);
    }
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Most bytes that were resident since the last reset. As [`peak_resident_bytes`] otherwise.
pub fn counted_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Most bytes that were resident before the kernel's count was last reset.
pub(crate) static BEFORE_RESETS: AtomicU64 = AtomicU64::new(0);

/// Bytes of a page, from the auxiliary vector (`AT_PAGESZ`, entry 6).
pub(crate) fn page_bytes() -> u64 {
    use std::sync::OnceLock;
    static PAGE: OnceLock<u64> = OnceLock::new();
    *PAGE.get_or_init(|| {
        let vector = std::fs::read("/proc/self/auxv").unwrap_or_default();
        let entry = |pair: &[u8]| {
            let (key, value) = (pair[..8].try_into().ok()?, pair[8..].try_into().ok()?);
            (u64::from_ne_bytes(key) == 6).then(|| u64::from_ne_bytes(value))
        };
        vector.chunks_exact(16).find_map(entry).unwrap_or(4096)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_begins_a_new_count_and_the_peak_of_the_process_stays() {
        const TOUCHED: usize = 64 << 20;
        drop(std::hint::black_box(vec![1u8; TOUCHED]));
        let before = peak_resident_bytes().unwrap();
        let resident = resident_bytes().unwrap();
        assert!(reset_peak_resident());
        // Other tests of this process come and go.
        assert!(counted_peak_bytes().unwrap() < resident + (48 << 20));
        assert!(peak_resident_bytes().unwrap() >= before);
    }

    #[test]
    fn the_peak_is_at_least_what_is_resident() {
        let touched = vec![1u8; 32 << 20];
        let resident = resident_bytes().unwrap();
        let peak = peak_resident_bytes().unwrap();
        assert!(resident > 32 << 20 && touched.iter().all(|b| *b == 1));
        // The kernel updates the peak lazily, by up to 64 pages a thread.
        assert!(peak + (8 << 20) >= resident, "{peak} {resident}");
    }
}

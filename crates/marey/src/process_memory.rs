//! Memory of this process as the kernel counts it.

/// Resident bytes now: the second field of `/proc/self/statm`, in pages. `None` without `/proc`. Costs about 2 µs.
pub fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

/// Highest resident bytes so far: `VmHWM` of `/proc/self/status`. `None` without `/proc`. Costs about 20 µs.
pub fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

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
    fn the_peak_is_at_least_what_is_resident() {
        let touched = vec![1u8; 32 << 20];
        let resident = resident_bytes().unwrap();
        let peak = peak_resident_bytes().unwrap();
        assert!(resident > 32 << 20 && touched.iter().all(|b| *b == 1));
        // The kernel updates the peak lazily, by up to 64 pages a thread.
        assert!(peak + (8 << 20) >= resident, "{peak} {resident}");
    }
}

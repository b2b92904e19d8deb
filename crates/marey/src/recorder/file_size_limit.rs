//! The largest file that this process may write (`ulimit -f`). Who writes past it gets SIGXFSZ, which ends the process unless it is
//! ignored, so the recorder stays below.

/// Bytes; `None` for no limit, or when it cannot be read. Costs some 10 µs.
pub fn file_size_limit() -> Option<u64> {
    soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read_and_unlimited_is_none() {
        let table = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max cpu time              unlimited            unlimited            seconds\n\
                 Max file size             {soft:<20} unlimited            bytes\n"
            )
        };
        assert_eq!(soft_limit(&table("1048576")), Some(1_048_576));
        assert_eq!(soft_limit(&table("unlimited")), None);
        assert_eq!(soft_limit(""), None);
    }
}

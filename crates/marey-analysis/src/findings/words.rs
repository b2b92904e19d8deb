//! Figures as they stand in a finding's sentences.

/// A share of 0 to 1 in percent, with one decimal where there is one: `43 %`, `49.6 %`.
pub(super) fn percent(ratio: f64) -> String {
    format!("{} %", short(ratio * 100.0))
}

/// A number with one decimal where there is one, two below 1: `8`, `8.5`, `0.25`.
pub(super) fn short(number: f64) -> String {
    let decimals = if number.abs() < 1.0 { 2 } else { 1 };
    let shown = format!("{number:.decimals$}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    // What rounds to nothing has no sign.
    if shown == "-0" { "0" } else { shown }.to_owned()
}

/// A size with one decimal, in the units of reports: `512 B`, `28.6 MiB`, `2.0 GiB`.
pub(super) fn bytes(mut size: f64) -> String {
    if size < 1024.0 {
        return format!("{size:.0} B");
    }
    for unit in ["KiB", "MiB", "GiB"] {
        size /= 1024.0;
        // From here on it would round to 1024.0.
        if size < 1023.95 {
            return format!("{size:.1} {unit}");
        }
    }
    format!("{:.1} TiB", size / 1024.0)
}

/// A length of time as figures have it: `12.836 s`, `357 ms`, `8.76 µs`.
pub(super) fn time(ns: u64) -> String {
    let ns = crate::stats::float(ns);
    // From here on it would round to 1000.
    let (size, unit) = match ns {
        ns if ns < 999.5 => (1.0, "ns"),
        ns if ns < 999.5e3 => (1e3, "µs"),
        ns if ns < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns / size;
    let decimals = match value {
        _ if unit == "ns" => 0,
        _ if unit == "s" => 3,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// How often, in words: `once`, `2 times`.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_no_zeros_at_their_ends() {
        assert_eq!(percent(0.43), "43 %");
        assert_eq!(percent(0.496), "49.6 %");
        assert_eq!(short(30.0), "30");
        assert_eq!(short(8.54), "8.5");
        assert_eq!(short(0.254), "0.25");
        assert_eq!(short(-0.001), "0");
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(536_870_912.0), "512.0 MiB");
        assert_eq!(bytes(1_073_741_823.0), "1.0 GiB");
        assert_eq!(bytes(3_298_534_883_328.0), "3.0 TiB");
    }

    #[test]
    fn times_are_written_as_figures() {
        let times = [5, 12_840, 999_600, 357_000_000, 12_836_000_000];
        let shown = times.map(time).join(", ");
        assert_eq!(shown, "5 ns, 12.8 µs, 1.00 ms, 357 ms, 12.836 s");
    }

    #[test]
    fn one_time_is_once() {
        assert_eq!((times(1), times(2)), ("once".into(), "2 times".into()));
    }
}

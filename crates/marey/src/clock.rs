//! Reading time: the only place that does.
//!
//! Sections are stamped with raw *ticks*: the processor's time stamp counter where it can be trusted (the CPU says it is
//! invariant and the kernel uses it as its own clock source), `CLOCK_MONOTONIC` nanoseconds otherwise. Anchors tie ticks
//! to both system clocks about every second; only readers convert.

#![allow(unsafe_code, reason = "rdtsc and clock_gettime")]

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// Cycles of the invariant time stamp counter; about the nominal frequency of the processor.
    Tsc,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic,
}

impl ClockKind {
    /// The name that captures carry.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Monotonic => "monotonic",
        }
    }

    pub(crate) fn code(self) -> u64 {
        match self {
            Self::Tsc => u64::from(TSC),
            Self::Monotonic => u64::from(MONOTONIC),
        }
    }
}

/// The same moment on three clocks. `ticks` is exact to the time that reading them takes, some 50 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// Raw ticks.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME`, nanoseconds since 1970.
    pub unix_ns: u64,
}

const UNKNOWN: u8 = 0;
const TSC: u8 = 1;
const MONOTONIC: u8 = 2;

static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Which clock this machine gets; decided once per process.
pub fn kind() -> ClockKind {
    match KIND.load(Relaxed) {
        TSC => ClockKind::Tsc,
        MONOTONIC => ClockKind::Monotonic,
        _ => {
            let kind = if tsc_is_trusted() { ClockKind::Tsc } else { ClockKind::Monotonic };
            KIND.store(if kind == ClockKind::Tsc { TSC } else { MONOTONIC }, Relaxed);
            kind
        }
    }
}

/// The current time in ticks; never 0. Costs one `rdtsc`, or one `clock_gettime`. Call [`kind`] once before.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if KIND.load(Relaxed) == TSC {
        // SAFETY: every x86-64 processor has the instruction; it only reads a counter.
        return unsafe { core::arch::x86_64::_rdtsc() } | 1;
    }
    monotonic_ns() | 1
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    system_clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    system_clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    system_clock_ns(libc::CLOCK_REALTIME)
}

/// Year, month, day, hour, minute and second in UTC of nanoseconds since 1970. Days to dates after Howard Hinnant's "chrono-compatible low-level
/// date algorithms": years begin in March, so that the leap day is the last one, and months of 31 and 30 days repeat every 153 days.
pub fn utc(unix_ns: u64) -> [u64; 6] {
    let unix_s = unix_ns / 1_000_000_000;
    let (days, seconds) = (unix_s / 86_400 + 719_468, unix_s % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    [year, month, day, seconds / 3600, seconds / 60 % 60, seconds % 60]
}

/// All three clocks, read as close together as possible: the tightest of five attempts.
pub(crate) fn anchor() -> Anchor {
    kind();
    let attempt = || {
        let before = ticks();
        let monotonic_ns = monotonic_ns();
        let after = ticks();
        (
            after - before,
            Anchor { ticks: before + (after - before) / 2, monotonic_ns, unix_ns: unix_ns() },
        )
    };
    let mut best = attempt();
    for _ in 0..4 {
        let next = attempt();
        if next.0 < best.0 {
            best = next;
        }
    }
    best.1
}

fn system_clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the duration of the call; both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Invariant by CPUID leaf `8000_0007h`, EDX bit 8 (AMD64 manual volume 3; Intel SDM volume 3, 19.17.1), and in use by the kernel,
/// which withdraws it when it saw it misbehave.
#[cfg(target_arch = "x86_64")]
fn tsc_is_trusted() -> bool {
    use core::arch::x86_64::__cpuid;
    let invariant =
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    let source =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    invariant && source.is_ok_and(|name| name.trim() == "tsc")
}

#[cfg(not(target_arch = "x86_64"))]
fn tsc_is_trusted() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // date -u -d @…
        let at = |unix_s: u64| utc(unix_s * 1_000_000_000);
        assert_eq!(at(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(at(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(at(1_795_176_000), [2026, 11, 20, 12, 0, 0]);
        assert_eq!(at(4_107_542_400), [2100, 3, 1, 0, 0, 0]);
        assert_eq!(utc(u64::MAX), [2554, 7, 21, 23, 34, 33]);
    }

    #[test]
    fn ticks_do_not_run_backwards() {
        kind();
        let mut last = ticks();
        for _ in 0..10_000 {
            let next = ticks();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn anchors_agree_with_the_system_clocks() {
        let before = monotonic_ns();
        let anchor = anchor();
        assert!((before..=monotonic_ns()).contains(&anchor.monotonic_ns));
        assert!(anchor.unix_ns <= unix_ns());
    }
}

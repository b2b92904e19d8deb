//! What the kernel counts of a process and tells only that: processor time to the microsecond, switches of all threads, the most memory
//! that was resident. `getrusage`.
//!
//! `/proc/<pid>/status` counts switches of one thread, and those of threads that ended nowhere.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use super::HostOptions;
use super::catalogue::{Catalogue, Slot};
use super::fields::bytes_of;
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use super::table::Switch;
use crate::process_memory::BEFORE_RESETS;
use crate::resources::rusage;
use crate::series::{SeriesInfo, Unit};

const SWITCHES: [&str; 2] =
    ["process.context_switches.voluntary", "process.context_switches.involuntary"];
const PEAK: &str = "process.memory.peak";
const HIGH_WATER: &[u8] = b"VmHWM:";

/// It is the process that calls which is looked at.
pub(super) fn is_own(options: &HostOptions) -> bool {
    options.pid.is_none() && options.root == Path::new("/")
}

/// Opens what the options ask for, for the process that calls; another one has none.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let (cpu, memory) = (catalogue.options.cpu, catalogue.options.memory);
    if !is_own(catalogue.options) {
        let of_cpu = SWITCHES.into_iter().filter(|_| cpu);
        let names: Vec<&str> = of_cpu.chain(memory.then_some(PEAK)).collect();
        catalogue.lacks(&names.join(", "), "only a process itself can ask for it");
        return;
    }
    let times = ["process.cpu.user", "process.cpu.system"]
        .map(|name| catalogue.series(Switch::Cpu, SeriesInfo::cumulative(name, "", Unit::Seconds)));
    let switches = SWITCHES
        .map(|name| catalogue.series(Switch::Cpu, SeriesInfo::cumulative(name, "", Unit::Count)));
    let mut peak = memory.then(|| Peak::open(catalogue)).flatten();
    #[expect(clippy::cast_precision_loss, reason = "readings are doubles")]
    catalogue.part(Pace::of_file(), move |round| {
        let usage = rusage(libc::RUSAGE_SELF)?;
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let spent = [usage.ru_utime, usage.ru_stime].map(seconds);
        let counts = [usage.ru_nvcsw as f64, usage.ru_nivcsw as f64];
        for (slot, value) in times.iter().chain(&switches).zip(spent.into_iter().chain(counts)) {
            slot.put(round.values, value);
        }
        if let Some(peak) = &mut peak {
            let bytes = peak.read(usage.ru_maxrss as f64 * 1024.0, round.buffer);
            peak.slot.put(round.values, bytes);
        }
        Some(())
    });
}

/// The most memory that was resident.
///
/// The kernel keeps `ru_maxrss` over `exec`: of a program that was started by a larger one it is the larger one's, until it grows beyond
/// that. Until then `VmHWM` is read.
struct Peak {
    slot: Slot,
    status: KeptFile,
    /// `ru_maxrss` at the first reading.
    first_bytes: Option<f64>,
    known_bytes: f64,
}

impl Peak {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let path = catalogue.path("proc/<pid>/status");
        let (status, text) = catalogue.open(&path, PEAK, "")?;
        let known_bytes = bytes_of(&text, HIGH_WATER)?;
        Some(Self {
            slot: catalogue.series(Switch::Memory, SeriesInfo::gauge(PEAK, "", Unit::Bytes)),
            status,
            first_bytes: None,
            known_bytes,
        })
    }

    /// Bytes, from `ru_maxrss` in bytes.
    fn read(&mut self, used_bytes: f64, buffer: &mut Buffer) -> f64 {
        let first_bytes = *self.first_bytes.get_or_insert(used_bytes);
        let is_own = used_bytes > first_bytes || used_bytes <= self.known_bytes;
        let counted = if is_own {
            Some(used_bytes)
        } else {
            let text = self.status.read(buffer);
            text.and_then(|text| bytes_of(text, HIGH_WATER))
        };
        #[expect(clippy::cast_precision_loss, reason = "readings are doubles")]
        let before_resets = BEFORE_RESETS.load(Relaxed) as f64;
        self.known_bytes = self.known_bytes.max(counted.unwrap_or(0.0)).max(before_resets);
        self.known_bytes
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    fn peak() -> Peak {
        Peak::open(&mut Catalogue::new(&HostOptions::default())).unwrap()
    }

    #[test]
    fn what_a_larger_program_left_is_no_peak_of_this_one() {
        let (mut peak, mut buffer) = (peak(), Buffer::default());
        let large = peak.known_bytes + 65_536.0 * MIB;
        assert!(peak.read(large, &mut buffer) < large, "inherited");
        assert_eq!(peak.read(large + MIB, &mut buffer), large + MIB, "grown beyond it");
        assert_eq!(peak.read(large, &mut buffer), large + MIB, "it does not fall");
    }

    #[test]
    fn without_a_larger_program_before_it_is_what_getrusage_says() {
        let (mut peak, mut buffer) = (peak(), Buffer::default());
        // More than anything else in this process has.
        peak.known_bytes = 65_536.0 * MIB;
        let own = peak.known_bytes;
        assert_eq!(peak.read(own, &mut buffer), own);
        assert_eq!(peak.read(own + MIB, &mut buffer), own + MIB);
    }
}

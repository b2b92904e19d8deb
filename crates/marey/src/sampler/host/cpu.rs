//! What the processors did: `/proc/stat`, all of them and each one.

use super::catalogue::{Catalogue, Slot};
use super::fields::{fields, lines, number, number_of, whole};
use super::pace::Pace;
use super::table::Switch;
use crate::series::{SeriesInfo, Unit};

/// Clock ticks of a second as programs see them, on every architecture that Rust compiles for; what the kernel uses inside is another thing.
pub(super) const TICKS: f64 = 100.0;

/// Series of all processors, in the order of their [`Times`].
const ALL: [&str; 3] = ["host.cpu.busy", "host.cpu.iowait", "host.cpu.steal"];

/// Opens it. The number of processors is a fact in any case.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let what =
        "host.cpu.busy, host.cpu.iowait, host.cpu.steal, core.cpu.busy, host.context_switches";
    let path = catalogue.path("proc/stat");
    let Some((file, text)) = catalogue.open(&path, what, "") else {
        return;
    };
    let numbers: Vec<usize> = cores(&text).map(|(core, _)| core).collect();
    catalogue.fact("host.cpus", &numbers.len());
    if !catalogue.options.cpu {
        return;
    }
    let counter = |catalogue: &mut Catalogue<'_>, name, subject: &str| {
        catalogue.series(Switch::Cpu, SeriesInfo::cumulative(name, subject, Unit::Seconds))
    };
    let mut all = [Slot::NONE; 3];
    let times = lines(&text).find_map(times_of_all).unwrap_or([f64::NAN; 3]);
    for ((slot, name), seconds) in all.iter_mut().zip(ALL).zip(times) {
        if seconds.is_nan() {
            catalogue.lacks(name, "this kernel does not count it");
        } else {
            *slot = counter(catalogue, name, "");
        }
    }
    // By number.
    let mut each = vec![Slot::NONE; numbers.iter().max().map_or(0, |highest| highest + 1)];
    for core in numbers {
        each[core] = counter(catalogue, "core.cpu.busy", &core.to_string());
    }
    let switches = catalogue
        .series(Switch::Cpu, SeriesInfo::cumulative("host.context_switches", "", Unit::Count));
    catalogue.part(Pace::of_file(), move |round| {
        let text = file.read(round.buffer)?;
        let times = lines(text).next().and_then(times_of_all).unwrap_or([f64::NAN; 3]);
        for (slot, seconds) in all.iter().zip(times) {
            slot.put(round.values, seconds);
        }
        for (core, [busy, ..]) in cores(text) {
            if let Some(slot) = each.get(core) {
                slot.put(round.values, busy);
            }
        }
        // Near the end, after the long line of interrupts.
        round.n_started = lines(text).rev().find_map(|line| number_of(line, b"processes "));
        switches.put(round.values, lines(text).rev().find_map(|line| number_of(line, b"ctxt "))?);
        Some(())
    });
}

/// Seconds of processor time so far: busy, idle while waiting for disks, stolen. NaN is what the kernel does not count.
type Times = [f64; 3];

/// From the numbers of a line: user, nice, system, idle, iowait, irq, softirq, steal, guest. Busy is all but idle and waiting for disks;
/// guests are in the time of their users already.
fn times(rest: &[u8]) -> Times {
    let mut ticks = [f64::NAN; 8];
    for (place, field) in ticks.iter_mut().zip(fields(rest)) {
        *place = number(field).unwrap_or(f64::NAN);
    }
    let [user, nice, system, _idle, iowait, irq, softirq, steal] = ticks;
    // Old kernels do not count the last three.
    let busy = user + nice + system + irq.max(0.0) + softirq.max(0.0) + steal.max(0.0);
    [busy, iowait, steal].map(|ticks| ticks / TICKS)
}

fn times_of_all(line: &[u8]) -> Option<Times> {
    line.strip_prefix(b"cpu ").map(times)
}

/// The processors that are online, by number. Numbers past any real machine's are passed over.
fn cores(text: &[u8]) -> impl Iterator<Item = (usize, Times)> {
    let of_line = |line| -> Option<(usize, Times)> {
        let rest = <[u8]>::strip_prefix(line, b"cpu")?;
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let core = usize::try_from(whole(&rest[..end])?).ok()?;
        (core < 1 << 16).then(|| (core, times(&rest[end..])))
    };
    lines(text).take_while(|line| line.starts_with(b"cpu")).filter_map(of_line)
}

//! What the processors did: `/proc/stat`, `/proc/loadavg`.

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{decimal, fields, lines, number, number_of, whole};
use super::kept_file::KeptFile;
use super::pace::Pace;
use crate::series::Unit;

/// Clock ticks of a second as programs see them, on every architecture that Rust compiles for; what the kernel uses inside is another thing.
pub(super) const TICKS: f64 = 100.0;

/// Opens what the options ask for. The number of processors is a fact in any case.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let what =
        "host.cpu.busy, host.cpu.iowait, host.cpu.steal, core.cpu.busy, host.context_switches";
    let path = catalogue.path("proc/stat");
    if let Some((file, text)) = catalogue.open(&path, what, "") {
        let cores: Vec<usize> = cores(&text).map(|(core, _)| core).collect();
        catalogue.fact("host.cpus", &cores.len());
        if catalogue.options.cpu {
            parts.push(Box::new(Processors::new(catalogue, file, &text, &cores)));
        }
    }
    if catalogue.options.cpu {
        let path = catalogue.path("proc/loadavg");
        if let Some((file, _)) = catalogue.open(&path, "host.load", "") {
            let slots =
                ["1", "5", "15"].map(|minutes| catalogue.gauge("host.load", minutes, Unit::Count));
            parts.push(Box::new(Load { file, slots }));
        }
    }
}

struct Processors {
    file: KeptFile,
    busy: Slot,
    iowait: Slot,
    steal: Slot,
    /// By number.
    cores: Vec<Slot>,
    switches: Slot,
}

impl Processors {
    fn new(catalogue: &mut Catalogue<'_>, file: KeptFile, text: &[u8], cores: &[usize]) -> Self {
        let times = lines(text).find_map(times_of_all).unwrap_or_default();
        let mut total = |name: &str, exists: bool| {
            if exists {
                return catalogue.cumulative(name, "", Unit::Seconds);
            }
            catalogue.lacks(name, "this kernel does not count it");
            Slot::NONE
        };
        let mut processors = Self {
            file,
            busy: total("host.cpu.busy", times.busy.is_some()),
            iowait: total("host.cpu.iowait", times.iowait.is_some()),
            steal: total("host.cpu.steal", times.steal.is_some()),
            cores: vec![Slot::NONE; cores.iter().max().map_or(0, |highest| highest + 1)],
            switches: Slot::NONE,
        };
        for core in cores {
            processors.cores[*core] =
                catalogue.cumulative("core.cpu.busy", &core.to_string(), Unit::Seconds);
        }
        processors.switches = catalogue.cumulative("host.context_switches", "", Unit::Count);
        processors
    }
}

impl Part for Processors {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        if let Some(times) = lines(text).next().and_then(times_of_all) {
            for (slot, seconds) in
                [(self.busy, times.busy), (self.iowait, times.iowait), (self.steal, times.steal)]
            {
                slot.put(round.values, seconds.unwrap_or(f64::NAN));
            }
        }
        for (core, times) in cores(text) {
            if let (Some(slot), Some(busy)) = (self.cores.get(core), times.busy) {
                slot.put(round.values, busy);
            }
        }
        // Near the end, after the long line of interrupts.
        round.n_started = lines(text).rev().find_map(|line| number_of(line, b"processes "));
        let switches = lines(text).rev().find_map(|line| number_of(line, b"ctxt "))?;
        self.switches.put(round.values, switches);
        Some(())
    }
}

/// Processor time so far, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// All but idle and waiting for disks. Guests are in the time of their users already.
    busy: Option<f64>,
    iowait: Option<f64>,
    steal: Option<f64>,
}

impl Times {
    /// From the numbers of a line: user, nice, system, idle, iowait, irq, softirq, steal, guest.
    fn of(rest: &[u8]) -> Self {
        let mut ticks = [None; 8];
        for (place, field) in ticks.iter_mut().zip(fields(rest)) {
            *place = number(field);
        }
        let seconds = |at: usize| ticks[at].map(|ticks: f64| ticks / TICKS);
        let busy = [0, 1, 2, 5, 6, 7].map(seconds);
        let is_known = busy[..3].iter().all(Option::is_some);
        Self {
            busy: is_known.then(|| busy.iter().flatten().sum()),
            iowait: seconds(4),
            steal: seconds(7),
        }
    }
}

fn times_of_all(line: &[u8]) -> Option<Times> {
    line.strip_prefix(b"cpu ").map(Times::of)
}

/// The processors that are online, by number. Numbers past any real machine's are passed over.
fn cores(text: &[u8]) -> impl Iterator<Item = (usize, Times)> {
    let of_line = |line| -> Option<(usize, Times)> {
        let rest = <[u8]>::strip_prefix(line, b"cpu")?;
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let core = usize::try_from(whole(&rest[..end])?).ok()?;
        (core < 1 << 16).then(|| (core, Times::of(&rest[end..])))
    };
    lines(text).take_while(|line| line.starts_with(b"cpu")).filter_map(of_line)
}

struct Load {
    file: KeptFile,
    slots: [Slot; 3],
}

impl Part for Load {
    /// The kernel computes it anew every five seconds.
    fn pace(&self) -> Pace {
        Pace::of_seconds()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        for (slot, field) in self.slots.iter().zip(fields(text)) {
            slot.put(round.values, decimal(field)?);
        }
        Some(())
    }
}

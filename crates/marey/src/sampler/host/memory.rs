//! Memory and swap of the machine: `/proc/meminfo`, `/proc/vmstat`.

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{bytes_of, number_of};
use super::kept_file::KeptFile;
use super::pace::Pace;
use crate::series::Unit;

/// Opens what the options ask for. How much there is of both is a fact in any case.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let what = "host.memory.used, host.memory.available, host.swap.used";
    let path = catalogue.path("proc/meminfo");
    let meminfo = catalogue.open(&path, what, "");
    if let Some((_, text)) = &meminfo {
        for (fact, key) in
            [("host.memory_bytes", b"MemTotal:".as_slice()), ("host.swap_bytes", b"SwapTotal:")]
        {
            if let Some(bytes) = bytes_of(text, key) {
                catalogue.fact(fact, &bytes);
            }
        }
    }
    if !catalogue.options.memory {
        return;
    }
    if let Some((file, text)) = meminfo {
        parts.push(Box::new(Memory::new(catalogue, file, &text)));
    }
    if let Some(swap) = Swap::open(catalogue) {
        parts.push(Box::new(swap));
    }
}

struct Memory {
    file: KeptFile,
    used: Slot,
    available: Slot,
    swap_used: Slot,
}

impl Memory {
    fn new(catalogue: &mut Catalogue<'_>, file: KeptFile, text: &[u8]) -> Self {
        let mut memory = Self {
            file,
            used: Slot::NONE,
            available: Slot::NONE,
            swap_used: catalogue.gauge("host.swap.used", "", Unit::Bytes),
        };
        if bytes_of(text, b"MemAvailable:").is_some() {
            memory.used = catalogue.gauge("host.memory.used", "", Unit::Bytes);
            memory.available = catalogue.gauge("host.memory.available", "", Unit::Bytes);
        } else {
            let what = "host.memory.used, host.memory.available";
            catalogue.lacks(what, "this kernel does not estimate what is available");
        }
        memory
    }
}

impl Part for Memory {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        if let Some(available) = bytes_of(text, b"MemAvailable:") {
            let total = bytes_of(text, b"MemTotal:")?;
            self.used.put(round.values, (total - available).max(0.0));
            self.available.put(round.values, available);
        }
        let total = bytes_of(text, b"SwapTotal:")?;
        let free = bytes_of(text, b"SwapFree:")?;
        self.swap_used.put(round.values, (total - free).max(0.0));
        Some(())
    }
}

/// Pages moved to and from swap. The file is long; while nothing was ever moved it is read once a second.
struct Swap {
    file: KeptFile,
    read_in: Slot,
    written_out: Slot,
    is_in_use: bool,
    pace: Pace,
}

impl Swap {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let what = "host.swap.in, host.swap.out";
        let (file, text) = catalogue.open(&catalogue.path("proc/vmstat"), what, "")?;
        if number_of(&text, b"pswpin ").is_none() {
            catalogue.lacks(what, "this kernel has no swap");
            return None;
        }
        Some(Self {
            file,
            read_in: catalogue.cumulative("host.swap.in", "", Unit::Bytes),
            written_out: catalogue.cumulative("host.swap.out", "", Unit::Bytes),
            is_in_use: false,
            pace: Pace::of_seconds(),
        })
    }
}

impl Part for Swap {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let buffer = &mut *round.buffer;
        let text = if self.is_in_use {
            self.file.read(buffer)?
        } else {
            self.pace.keep(round.now_ns, || self.file.read(buffer))??
        };
        let (read_in, written_out) = (number_of(text, b"pswpin ")?, number_of(text, b"pswpout ")?);
        self.is_in_use = read_in + written_out > 0.0;
        self.read_in.put(round.values, read_in * page());
        self.written_out.put(round.values, written_out * page());
        Some(())
    }
}

/// Bytes of a page.
#[expect(clippy::cast_precision_loss, reason = "a page is shorter than 2⁵³ bytes")]
pub(super) fn page() -> f64 {
    crate::process_memory::page_bytes() as f64
}

//! The process itself: `/proc/<pid>/{stat, status, io, smaps_rollup}`.

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::cpu::TICKS;
use super::fields::{bytes_of, fields, number, number_of, whole};
use super::kept_file::KeptFile;
use super::memory::page;
use super::own_usage;
use super::pace::Pace;
use crate::series::Unit;

/// Opens what the options ask for.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    if let Some(process) = Process::open(catalogue) {
        parts.push(Box::new(process));
    }
    if !catalogue.options.memory {
        return;
    }
    if let Some(swapped) = Swapped::open(catalogue) {
        parts.push(Box::new(swapped));
    }
    if let Some(transfers) = Transfers::open(catalogue) {
        parts.push(Box::new(transfers));
    }
    if let Some(proportional) = Proportional::open(catalogue) {
        parts.push(Box::new(proportional));
    }
}

/// What `/proc/<pid>/stat` says of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessStat {
    pub parent: u32,
    /// Seconds in the program.
    pub user: f64,
    /// Seconds in the kernel.
    pub system: f64,
    /// Seconds of its children that have ended and were waited for, and of theirs.
    pub reaped: f64,
    pub threads: f64,
    /// Clock ticks between boot and its start: with its number it is one process and no other.
    pub start_time: u64,
    pub resident_bytes: f64,
}

impl ProcessStat {
    /// From the text. The name in field 2 may hold blanks and parentheses, so fields are counted from the last `)`.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let name_end = text.iter().rposition(|byte| *byte == b')')?;
        let mut rest = fields(text[name_end + 1..].trim_ascii_end()).skip(1);
        let parent = u32::try_from(whole(rest.next()?)?).ok()?;
        // Numbered from field 5.
        let mut rest = rest.skip(9);
        let mut next = || number(rest.next()?);
        let (user, system) = (next()?, next()?);
        let reaped = next()? + next()?;
        let mut rest = rest.skip(2);
        let threads = number(rest.next()?)?;
        let start_time = whole(rest.nth(1)?)?;
        let resident = number(rest.nth(1)?)?;
        Some(Self {
            parent,
            user: user / TICKS,
            system: system / TICKS,
            reaped: reaped / TICKS,
            threads,
            start_time,
            resident_bytes: resident * page(),
        })
    }
}

struct Process {
    file: KeptFile,
    user: Slot,
    system: Slot,
    threads: Slot,
    resident: Slot,
}

impl Process {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let path = catalogue.process_file("stat");
        let what = "process.cpu.user, process.cpu.system, process.threads, process.memory.resident";
        let (file, text) = catalogue.open(&path, what, "")?;
        if ProcessStat::of(&text).is_none() {
            catalogue.lacks(what, &format!("{} is not understood", path.display()));
            return None;
        }
        let mut process = Self {
            file,
            user: Slot::NONE,
            system: Slot::NONE,
            threads: Slot::NONE,
            resident: Slot::NONE,
        };
        if catalogue.options.cpu {
            // Of this process itself `getrusage` knows them to the microsecond.
            if !own_usage::is_own(catalogue.options) {
                process.user = catalogue.cumulative("process.cpu.user", "", Unit::Seconds);
                process.system = catalogue.cumulative("process.cpu.system", "", Unit::Seconds);
            }
            process.threads = catalogue.gauge("process.threads", "", Unit::Count);
        }
        if catalogue.options.memory {
            process.resident = catalogue.gauge("process.memory.resident", "", Unit::Bytes);
        }
        Some(process)
    }
}

impl Part for Process {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let stat = ProcessStat::of(self.file.read(round.buffer)?)?;
        self.user.put(round.values, stat.user);
        self.system.put(round.values, stat.system);
        self.threads.put(round.values, stat.threads);
        // A process that has ended, and was not waited for yet, has none left.
        if stat.resident_bytes > 0.0 {
            self.resident.put(round.values, stat.resident_bytes);
        }
        Some(())
    }
}

struct Swapped {
    file: KeptFile,
    slot: Slot,
}

impl Swapped {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let path = catalogue.process_file("status");
        let what = "process.memory.swapped";
        let (file, text) = catalogue.open(&path, what, "")?;
        if bytes_of(&text, b"VmSwap:").is_none() {
            catalogue.lacks(what, "this kernel does not count it");
            return None;
        }
        let slot = catalogue.gauge(what, "", Unit::Bytes);
        Some(Self { file, slot })
    }
}

impl Part for Swapped {
    fn pace(&self) -> Pace {
        Pace::of_seconds()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let bytes = bytes_of(self.file.read(round.buffer)?, b"VmSwap:")?;
        self.slot.put(round.values, bytes);
        Some(())
    }
}

/// What went to and from disks, and what was read and written by calls.
struct Transfers {
    file: KeptFile,
    slots: [(&'static [u8], Slot); 4],
}

impl Transfers {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let path = catalogue.process_file("io");
        let what = "process.disk.read, process.disk.written, process.io.read, process.io.written";
        let (file, text) = catalogue.open(&path, what, "")?;
        let keys: [(&'static [u8], &str); 4] = [
            (b"read_bytes:", "process.disk.read"),
            (b"write_bytes:", "process.disk.written"),
            (b"rchar:", "process.io.read"),
            (b"wchar:", "process.io.written"),
        ];
        let slots = keys.map(|(key, name)| {
            if number_of(&text, key).is_some() {
                return (key, catalogue.cumulative(name, "", Unit::Bytes));
            }
            catalogue.lacks(name, "this kernel does not count it");
            (key, Slot::NONE)
        });
        Some(Self { file, slots })
    }
}

impl Part for Transfers {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        for (key, slot) in self.slots {
            slot.put(round.values, number_of(text, key).unwrap_or(f64::NAN));
        }
        Some(())
    }
}

/// Resident memory where what is shared counts in parts. The kernel walks all page tables for it, hence the pace.
struct Proportional {
    file: KeptFile,
    slot: Slot,
}

impl Proportional {
    fn open(catalogue: &mut Catalogue<'_>) -> Option<Self> {
        let path = catalogue.process_file("smaps_rollup");
        let what = "process.memory.proportional";
        let (file, _) = catalogue.open(&path, what, "")?;
        let slot = catalogue.gauge(what, "", Unit::Bytes);
        Some(Self { file, slot })
    }
}

impl Part for Proportional {
    fn pace(&self) -> Pace {
        Pace::of_pages()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let bytes = bytes_of(self.file.read(round.buffer)?, b"Pss:")?;
        self.slot.put(round.values, bytes);
        Some(())
    }
}

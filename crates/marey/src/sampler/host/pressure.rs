//! Time that tasks waited for processors, memory and disks (pressure stall information), on the machine and in the cgroup.

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, lines, whole};
use super::hierarchy::Group;
use super::kept_file::KeptFile;
use super::pace::Pace;
use crate::series::Unit;

const REMEDY: &str = "; it takes a kernel with CONFIG_PSI, started with psi=1";

/// Opens what the options ask for.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let group = Group::of(catalogue, "").filter(|group| !group.is_root());
    for resource in ["cpu", "memory", "io"] {
        let is_wanted = match resource {
            "cpu" => catalogue.options.cpu,
            _ => catalogue.options.memory,
        };
        if !is_wanted {
            continue;
        }
        // That all wait for a processor cannot happen on a machine.
        let names: &[&str] = match resource {
            "cpu" => &["pressure.cpu.some"],
            "memory" => &["pressure.memory.some", "pressure.memory.full"],
            _ => &["pressure.io.some", "pressure.io.full"],
        };
        let path = catalogue.path("proc/pressure").join(resource);
        let host = catalogue.open(&path, &names.join(", "), REMEDY);
        let path = group.as_ref().map(|group| group.folder.join(format!("{resource}.pressure")));
        // The machine's lack is the cgroup's, and has been said.
        let group = path.and_then(|path| KeptFile::open(&path).ok());
        for (subject, file) in [("", host), ("cgroup", group)] {
            if let Some((file, text)) = file {
                parts.push(Box::new(Pressure::new(catalogue, subject, names, file, &text)));
            }
        }
    }
}

struct Pressure {
    file: KeptFile,
    some: Slot,
    full: Slot,
}

impl Pressure {
    fn new(
        catalogue: &mut Catalogue<'_>,
        subject: &str,
        names: &[&str],
        file: KeptFile,
        text: &[u8],
    ) -> Self {
        let mut slot = |at: usize, line: &[u8]| match names.get(at) {
            Some(name) if seconds_of(text, line).is_some() => {
                catalogue.cumulative(name, subject, Unit::Seconds)
            }
            _ => Slot::NONE,
        };
        Self { file, some: slot(0, b"some "), full: slot(1, b"full ") }
    }
}

impl Part for Pressure {
    fn pace(&self) -> Pace {
        Pace::of_counters()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        self.some.put(round.values, seconds_of(text, b"some ")?);
        self.full.put(round.values, seconds_of(text, b"full ")?);
        Some(())
    }
}

/// `total=`, microseconds, of a line.
fn seconds_of(text: &[u8], line: &[u8]) -> Option<f64> {
    let rest = lines(text).find_map(|each| each.strip_prefix(line))?;
    let total = fields(rest).find_map(|field| field.strip_prefix(b"total="))?;
    let micros = std::time::Duration::from_micros(whole(total)?);
    Some(micros.as_secs_f64())
}

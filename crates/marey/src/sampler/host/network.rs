//! What went over the network: `/proc/<pid>/net/dev`, in the network namespace of the process.

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, lines, number};
use super::kept_file::KeptFile;
use super::pace::Pace;
use crate::series::Unit;

/// Further ones are left out.
const MAX_INTERFACES: usize = 32;

/// Opens the interfaces that are there now, except `lo`.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let what = "host.network.received, host.network.sent";
    let path = catalogue.process_file("net/dev");
    let Some((file, text)) = catalogue.open(&path, what, "") else {
        return;
    };
    let mut interfaces = Vec::new();
    for (name, _) in lines(&text).filter_map(interface) {
        let subject = crate::readable_text::readable(name);
        // The machine's ends of links into containers: the same bytes go over another interface, too.
        if name == b"lo" || name.starts_with(b"veth") {
            continue;
        }
        if interfaces.len() == MAX_INTERFACES {
            let why = format!("there are {MAX_INTERFACES} interfaces before it");
            catalogue.lacks(&format!("{what} of {subject}"), &why);
            break;
        }
        interfaces.push(Interface {
            name: name.into(),
            received: catalogue.cumulative("host.network.received", &subject, Unit::Bytes),
            sent: catalogue.cumulative("host.network.sent", &subject, Unit::Bytes),
        });
    }
    if interfaces.is_empty() {
        catalogue.lacks(what, "this process sees no network but its own machine's (lo)");
    } else {
        parts.push(Box::new(Network { file, interfaces }));
    }
}

struct Network {
    file: KeptFile,
    interfaces: Vec<Interface>,
}

struct Interface {
    name: Box<[u8]>,
    received: Slot,
    sent: Slot,
}

impl Part for Network {
    fn pace(&self) -> Pace {
        Pace::of_counters()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        let text = self.file.read(round.buffer)?;
        for (name, rest) in lines(text).filter_map(interface) {
            let mut known = self.interfaces.iter();
            if let Some(interface) = known.find(|interface| *interface.name == *name) {
                let mut counts = fields(rest).map(number);
                let (received, sent) = (counts.next()??, counts.nth(7)??);
                interface.received.put(round.values, received);
                interface.sent.put(round.values, sent);
            }
        }
        Some(())
    }
}

/// Name and counts of a line; the two lines of headings have none.
fn interface(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), &line[colon + 1..]))
}

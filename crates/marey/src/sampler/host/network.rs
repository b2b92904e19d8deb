//! What went over the network: `/proc/<pid>/net/dev`, in the network namespace of the process.

use super::catalogue::{Catalogue, Slot};
use super::fields::{lines, nth};
use super::pace::Pace;
use super::table::Switch;
use crate::series::{SeriesInfo, Unit};

/// Further ones are left out.
const MAX_INTERFACES: usize = 32;

struct Interface {
    name: Box<[u8]>,
    received: Slot,
    sent: Slot,
}

/// Opens the interfaces that are there now, except `lo`.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let what = "host.network.received, host.network.sent";
    let path = catalogue.path("proc/<pid>/net/dev");
    let Some((file, text)) = catalogue.open(&path, what, "") else {
        return;
    };
    let mut interfaces = Vec::new();
    for (name, _) in lines(&text).filter_map(interface) {
        let subject = crate::value::readable(name);
        // The machine's ends of links into containers: the same bytes go over another interface, too.
        if name == b"lo" || name.starts_with(b"veth") {
            continue;
        }
        if interfaces.len() == MAX_INTERFACES {
            let why = format!("there are {MAX_INTERFACES} interfaces before it");
            catalogue.lacks(&format!("{what} of {subject}"), &why);
            break;
        }
        let mut bytes = |name| {
            catalogue.series(Switch::Memory, SeriesInfo::cumulative(name, &subject, Unit::Bytes))
        };
        interfaces.push(Interface {
            name: name.into(),
            received: bytes("host.network.received"),
            sent: bytes("host.network.sent"),
        });
    }
    if interfaces.is_empty() {
        catalogue.lacks(what, "this process sees no network but its own machine's (lo)");
        return;
    }
    catalogue.part(Pace::of_counters(), move |round| {
        let text = file.read(round.buffer)?;
        for (name, counts) in lines(text).filter_map(interface) {
            if let Some(known) = interfaces.iter().find(|known| *known.name == *name) {
                known.received.put(round.values, nth(counts, 0)?);
                known.sent.put(round.values, nth(counts, 8)?);
            }
        }
        Some(())
    });
}

/// Name and counts of a line; the two lines of headings have none.
fn interface(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), &line[colon + 1..]))
}

//! Perfetto's own format: a sequence of protobuf packets. Field numbers are those of `perfetto_trace.proto`; tests decode what
//! is written with Perfetto's own messages.
//!
//! ```text
//! root  ─ process ┬ sessions · windows · caches · readings      tracks of the process
//!   uuid 0        ├ thread ─ tasks beside it
//!                 └ GPU 0 ─ streams
//! ```
//!
//! Times are nanoseconds since 1970, so that processes of one job stand where they ran. A process is a packet sequence with
//! names of its own; a name is written with the first packet that needs it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::names::Names;
use super::protobuf::Message;
use super::slice::{Args, Category, Fact, Moment, Slice, What};
use super::tracks::{Content, Listener, Process, Track, TrackKind};
use crate::html::ReadingTrack;

/// Writes the format to `out`, which it does not buffer.
#[derive(Debug)]
pub(super) struct PerfettoWriter<W> {
    out: W,
    sequence: u32,
    process: Process,
    /// The last number of a track; 0 is the root.
    last_uuid: u64,
    process_uuid: u64,
    /// Of the tracks of the process that others lie below, by place.
    parents: BTreeMap<u32, u64>,
    gpus: BTreeMap<u32, u64>,
    /// Which names of the process were written.
    has_name: Vec<bool>,
    annotations: BTreeMap<String, u64>,
    /// Names that the next packet brings along.
    interned: Message,
    scratch: Scratch,
}

/// Messages that are filled again and again.
#[derive(Debug, Default)]
struct Scratch {
    framed: Message,
    packet: Message,
    event: Message,
    inner: Message,
}

mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const STATE_CLEARED: u64 = 1;
    pub(super) const NEEDS_STATE: u64 = 2;
}

mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const CHILD_ORDERING: u32 = 11;
    pub(super) const RANK: u32 = 12;
    pub(super) const MERGING: u32 = 15;
    pub(super) const PROCESS_ORDERING: u32 = 19;
    pub(super) const THREAD_ORDERING: u32 = 20;
    /// Of `CHILD_ORDERING`.
    pub(super) const BY_RANK: u64 = 3;
    /// Of `MERGING`: tracks of one name stay apart.
    pub(super) const APART: u64 = 2;
}

mod event {
    pub(super) const CATEGORY: u32 = 3;
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    /// A text instead of the number of one.
    pub(super) const OWN_NAME: u32 = 23;
    pub(super) const VALUE: u32 = 44;
    pub(super) const FLOW: u32 = 47;
    pub(super) const FLOW_END: u32 = 48;
    pub(super) const BEGIN: u64 = 1;
    pub(super) const END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

impl<W: Write> PerfettoWriter<W> {
    pub(super) fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            sequence: 0,
            process: Process::default(),
            last_uuid: 0,
            process_uuid: 0,
            parents: BTreeMap::new(),
            gpus: BTreeMap::new(),
            has_name: Vec::new(),
            annotations: BTreeMap::new(),
            interned: Message::default(),
            scratch: Scratch::default(),
        };
        writer.begin();
        let root = &mut writer.scratch.inner;
        root.unsigned(track::UUID, 0);
        root.unsigned(track::PROCESS_ORDERING, 1);
        root.unsigned(track::THREAD_ORDERING, 1);
        writer.descriptor()?;
        Ok(writer)
    }

    /// A moment with this name, on a track of its own beside the processes.
    pub(super) fn remark(&mut self, text: &str, at_unix_ns: u64) -> io::Result<()> {
        self.sequence += 1;
        self.process = Process { start_unix_ns: at_unix_ns, ..Process::default() };
        self.interned.clear();
        let uuid = self.next_uuid();
        self.begin();
        let Scratch { packet, inner, .. } = &mut self.scratch;
        inner.unsigned(track::UUID, uuid);
        inner.text(track::NAME, "about this trace");
        packet.message(packet::TRACK_DESCRIPTOR, inner);
        self.in_sequence(packet::STATE_CLEARED | packet::NEEDS_STATE)?;
        self.begin();
        let event = &mut self.scratch.event;
        event.unsigned(event::TYPE, event::INSTANT);
        event.unsigned(event::TRACK, uuid);
        event.text(event::OWN_NAME, text);
        self.event(0)
    }

    pub(super) fn finish(self) -> W {
        self.out
    }

    fn begin(&mut self) {
        self.scratch.packet.clear();
        self.scratch.event.clear();
        self.scratch.inner.clear();
    }

    /// Writes the packet and what it needs.
    fn packet(&mut self) -> io::Result<()> {
        match self.sequence {
            0 => self.send(),
            _ => self.in_sequence(packet::NEEDS_STATE),
        }
    }

    /// Writes the packet as one of the sequence, with names that none of it had before.
    fn in_sequence(&mut self, flags: u64) -> io::Result<()> {
        let packet = &mut self.scratch.packet;
        packet.unsigned(packet::SEQUENCE, self.sequence.into());
        packet.unsigned(packet::SEQUENCE_FLAGS, flags);
        if !self.interned.is_empty() {
            packet.message(packet::INTERNED_DATA, &self.interned);
            self.interned.clear();
        }
        self.send()
    }

    fn send(&mut self) -> io::Result<()> {
        let framed = &mut self.scratch.framed;
        framed.clear();
        framed.message(1, &self.scratch.packet);
        self.out.write_all(framed.bytes())
    }

    /// Writes the descriptor that stands in `scratch.inner`.
    fn descriptor(&mut self) -> io::Result<()> {
        let Scratch { packet, inner, .. } = &mut self.scratch;
        packet.message(packet::TRACK_DESCRIPTOR, inner);
        self.packet()
    }

    /// Writes the event that stands in `scratch.event`.
    fn event(&mut self, at_ns: u64) -> io::Result<()> {
        let Scratch { packet, event, .. } = &mut self.scratch;
        packet.unsigned(packet::TIMESTAMP, time(&self.process, at_ns));
        packet.message(packet::TRACK_EVENT, event);
        self.packet()
    }

    fn next_uuid(&mut self) -> u64 {
        self.last_uuid += 1;
        self.last_uuid
    }

    /// Begins the descriptor of a track in `scratch.inner`; returns its number.
    fn begin_track(&mut self, parent: Option<u64>, order: u32) -> u64 {
        let uuid = self.next_uuid();
        self.begin();
        let inner = &mut self.scratch.inner;
        inner.unsigned(track::UUID, uuid);
        if let Some(parent) = parent {
            inner.unsigned(track::PARENT, parent);
        }
        inner.unsigned(track::RANK, order.into());
        inner.unsigned(track::CHILD_ORDERING, track::BY_RANK);
        uuid
    }

    /// Writes the descriptor of a track; returns its number.
    fn describe(&mut self, track: &Track, readings: Option<&ReadingTrack>) -> io::Result<u64> {
        let parent = match track.kind {
            TrackKind::Tasks { of } => self.parents.get(&of).copied(),
            TrackKind::Stream { device, .. } => Some(self.gpu(device, track.order)?),
            _ => None,
        };
        let parent = parent.unwrap_or(self.process_uuid);
        let uuid = self.begin_track(Some(parent), track.order);
        let Scratch { inner, event, .. } = &mut self.scratch;
        // Borrowed for a part of the descriptor.
        let part = event;
        if track.kind == TrackKind::Thread {
            part.unsigned(1, self.process.pid.into());
            part.unsigned(2, track.tid.into());
            part.text(5, &track.title);
            inner.message(track::THREAD, part);
        } else {
            inner.text(track::NAME, &track.title);
            inner.unsigned(track::MERGING, track::APART);
        }
        if let Some(readings) = readings {
            match readings.unit {
                "count" => part.unsigned(3, 2),
                "bytes" => part.unsigned(3, 3),
                other => part.text(6, unit_name(other)),
            }
            inner.message(track::COUNTER, part);
        }
        if track.kind == TrackKind::Thread {
            self.parents.insert(track.order, uuid);
        }
        self.descriptor()?;
        Ok(uuid)
    }

    /// The track that the streams of a GPU lie below.
    fn gpu(&mut self, device: u32, order: u32) -> io::Result<u64> {
        if let Some(uuid) = self.gpus.get(&device) {
            return Ok(*uuid);
        }
        let uuid = self.begin_track(Some(self.process_uuid), order);
        self.gpus.insert(device, uuid);
        self.scratch.inner.text(track::NAME, &format!("GPU {device}"));
        self.descriptor()?;
        Ok(uuid)
    }

    fn edge(&mut self, uuid: u64, edge: Edge<'_, '_>, names: &Names<'_>) -> io::Result<()> {
        self.begin();
        match edge {
            Edge::End(slice) => {
                let event = &mut self.scratch.event;
                event.unsigned(event::TYPE, event::END);
                event.unsigned(event::TRACK, uuid);
                self.event(slice.end_ns)
            }
            Edge::Begin(slice) => {
                let what = slice.what;
                self.head(event::BEGIN, uuid, what.category, what.name, names);
                self.flows(&what);
                for (name, value) in slice.facts() {
                    self.annotation(name, value);
                }
                self.attributes(what.args);
                self.event(slice.start_ns)
            }
        }
    }

    /// Arrows begin in a section and end in work on a GPU.
    fn flows(&mut self, what: &What<'_>) {
        let field = if what.category == Category::Gpu { event::FLOW_END } else { event::FLOW };
        for number in what.launches.numbers() {
            // 0 is no flow, and flows of different processes are not the same.
            let id = (u64::from(self.process.order) << 32) + number + 1;
            self.scratch.event.fixed64(field, id);
        }
    }

    fn moment(&mut self, uuid: u64, moment: &Moment<'_>, names: &Names<'_>) -> io::Result<()> {
        self.begin();
        self.head(event::INSTANT, uuid, moment.category, moment.name, names);
        for (name, value) in moment.args.facts() {
            self.annotation(name, value);
        }
        self.attributes(moment.args);
        self.event(moment.at_ns)
    }

    fn head(&mut self, kind: u64, uuid: u64, category: Category, name: u32, names: &Names<'_>) {
        let name_iid = self.name(name, names);
        let event = &mut self.scratch.event;
        event.unsigned(event::TYPE, kind);
        event.unsigned(event::TRACK, uuid);
        event.unsigned(event::CATEGORY, category_iid(category));
        event.unsigned(event::NAME, name_iid);
    }

    fn attributes(&mut self, args: Args<'_>) {
        for (name, value) in args.attributes() {
            if let Some(value) = Fact::of(value) {
                self.annotation(name, value);
            }
        }
    }

    fn annotation(&mut self, name: &str, value: Fact<'_>) {
        let iid = self.annotation_iid(name);
        let Scratch { event, inner, .. } = &mut self.scratch;
        inner.clear();
        inner.unsigned(1, iid);
        match value {
            Fact::Bool(value) => inner.unsigned(2, value.into()),
            Fact::Unsigned(value) => inner.unsigned(3, value),
            Fact::Int(value) => inner.signed(4, value),
            Fact::Float(value) => inner.double(5, value),
            Fact::Text(text) => inner.text(6, text),
            Fact::List(values) => inner.text(6, &values.to_string()),
        }
        event.message(event::ANNOTATION, inner);
    }

    /// The number of an event's name, which the next packet brings along if none did.
    fn name(&mut self, number: u32, names: &Names<'_>) -> u64 {
        let index = number as usize;
        if self.has_name.len() <= index {
            self.has_name.resize(index + 1, false);
        }
        let iid = u64::from(number) + 1;
        if !self.has_name[index] {
            self.has_name[index] = true;
            intern(&mut self.interned, 2, iid, names.name(number));
        }
        iid
    }

    fn annotation_iid(&mut self, name: &str) -> u64 {
        if let Some(iid) = self.annotations.get(name) {
            return *iid;
        }
        let iid = self.annotations.len() as u64 + 1;
        self.annotations.insert(name.to_owned(), iid);
        intern(&mut self.interned, 3, iid, name);
        iid
    }

    /// A reading holds until the next one; viewers draw it so, too.
    fn readings(&mut self, uuid: u64, readings: &ReadingTrack) -> io::Result<()> {
        for point in &readings.points {
            self.begin();
            let event = &mut self.scratch.event;
            event.unsigned(event::TYPE, event::COUNTER);
            event.unsigned(event::TRACK, uuid);
            event.double(event::VALUE, point.mean);
            self.event(point.start_ns)?;
        }
        Ok(())
    }
}

impl<W: Write> Listener for PerfettoWriter<W> {
    fn process(&mut self, process: &Process) -> io::Result<()> {
        self.sequence += 1;
        self.process = process.clone();
        self.parents.clear();
        self.gpus.clear();
        self.has_name.clear();
        self.annotations.clear();
        self.interned.clear();
        self.process_uuid = self.begin_track(None, process.order);
        for (category, text) in Category::ALL {
            intern(&mut self.interned, 1, category_iid(category), text);
        }
        let Scratch { packet, inner, event: part, .. } = &mut self.scratch;
        part.unsigned(1, process.pid.into());
        part.text(6, &process.title);
        inner.message(track::PROCESS, part);
        packet.message(packet::TRACK_DESCRIPTOR, inner);
        self.in_sequence(packet::STATE_CLEARED | packet::NEEDS_STATE)
    }

    fn track(&mut self, track: &Track, content: &Content<'_>, names: &Names<'_>) -> io::Result<()> {
        match content {
            Content::Readings(readings) => {
                let uuid = self.describe(track, Some(readings))?;
                self.readings(uuid, readings)
            }
            Content::Work { lane, moments } => {
                let uuid = self.describe(track, None)?;
                edges(lane, |edge| self.edge(uuid, edge, names))?;
                moments.iter().try_for_each(|moment| self.moment(uuid, moment, names))
            }
        }
    }
}

fn intern(interned: &mut Message, field: u32, iid: u64, name: &str) {
    let mut entry = Message::default();
    entry.unsigned(1, iid);
    entry.text(2, name);
    interned.message(field, &entry);
}

fn category_iid(category: Category) -> u64 {
    category as u64 + 1
}

/// Since 1970; viewers count with 63 bits.
fn time(process: &Process, at_ns: u64) -> u64 {
    process.start_unix_ns.saturating_add(at_ns).min(i64::MAX.unsigned_abs())
}

fn unit_name(unit: &'static str) -> &'static str {
    match unit {
        "bytes_per_second" => "B/s",
        "watts" => "W",
        "joules" => "J",
        "celsius" => "°C",
        "hertz" => "Hz",
        "seconds" => "s",
        "seconds_per_second" => "s/s",
        "per_second" => "1/s",
        other => other,
    }
}

/// One end of a slice.
#[derive(Clone, Copy, Debug)]
enum Edge<'a, 'b> {
    Begin(&'b Slice<'a>),
    /// With the slice that ends.
    End(&'b Slice<'a>),
}

/// The ends of a lane's slices, by time: at the same time what ends comes before what begins, and inner slices end before
/// outer ones and begin after them.
///
/// # Errors
/// Those of `each`.
fn edges<'a, 'b, E>(
    lane: &'b [Slice<'a>],
    mut each: impl FnMut(Edge<'a, 'b>) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<&Slice<'a>> = Vec::new();
    for slice in lane {
        while let Some(ended) = open.pop_if(|open| open.end_ns <= slice.start_ns) {
            each(Edge::End(ended))?;
        }
        each(Edge::Begin(slice))?;
        open.push(slice);
    }
    open.into_iter().rev().try_for_each(|ended| each(Edge::End(ended)))
}

#[cfg(test)]
mod tests {
    use super::super::slice::{Args, Category, What};
    use super::*;
    use crate::lanes::lanes;

    fn slice(name: u32, start_ns: u64, end_ns: u64) -> Slice<'static> {
        let what = What::new(Category::Section, name, Args::None);
        Slice::new(what, start_ns, end_ns)
    }

    #[test]
    fn a_slice_without_length_ends_where_it_begins() {
        // |--1--|
        //     2 |--3--|       2 begins and ends at 8
        let lane = [slice(1, 0, 8), slice(3, 8, 12), slice(2, 8, 8)];
        let lane = lanes(lane.to_vec()).remove(0);
        let mut found = Vec::new();
        edges::<()>(&lane, |edge| {
            found.push(match edge {
                Edge::Begin(slice) => ('b', slice.what.name, slice.start_ns),
                Edge::End(slice) => ('e', slice.what.name, slice.end_ns),
            });
            Ok(())
        })
        .unwrap();
        assert_eq!(
            found,
            [('b', 1, 0), ('e', 1, 8), ('b', 3, 8), ('b', 2, 8), ('e', 2, 8), ('e', 3, 12)]
        );
    }
}

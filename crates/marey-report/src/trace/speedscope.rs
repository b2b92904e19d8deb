//! speedscope's own format: one JSON object with a profile a track, whose events open and close frames strictly nested.
//!
//! Only what took time is in it: the format has neither moments nor readings nor arrows. Times are nanoseconds from the start of
//! the trace.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::json_text::{integer, string};
use super::lanes::{Edge, edges};
use super::names::Names;
use super::slice::Slice;
use super::tracks::{Content, Listener, Process, Track, TrackKind};

/// Writes the format to `out`, which it does not buffer.
#[derive(Debug)]
pub(super) struct SpeedscopeWriter<W> {
    out: W,
    process: Process,
    n_processes: u32,
    n_profiles: u64,
    /// The first thread's.
    active: Option<u64>,
    /// All names so far, as JSON, with their numbers.
    frames: BTreeMap<String, u64>,
    /// Frame of each name of the process.
    of_name: Vec<Option<u64>>,
}

impl<W: Write> SpeedscopeWriter<W> {
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(
            br#"{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"marey","profiles":["#,
        )?;
        Ok(Self {
            out,
            process: Process::default(),
            n_processes: 0,
            n_profiles: 0,
            active: None,
            frames: BTreeMap::new(),
            of_name: Vec::new(),
        })
    }

    /// Ends the object with the names of all frames.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let active = self.active.unwrap_or(0);
        write!(
            self.out,
            "\n],\"activeProfileIndex\":{active},\"shared\":{{\"frames\":["
        )?;
        let mut by_number: Vec<&str> = vec![""; self.frames.len()];
        for (name, number) in &self.frames {
            if let Some(place) = usize::try_from(*number)
                .ok()
                .and_then(|number| by_number.get_mut(number))
            {
                *place = name;
            }
        }
        for (index, name) in by_number.into_iter().enumerate() {
            let separator = if index == 0 { "\n" } else { ",\n" };
            write!(self.out, r#"{separator}{{"name":{name}}}"#)?;
        }
        self.out.write_all(b"\n]}}\n")?;
        Ok(self.out)
    }

    fn frame(&mut self, number: u32, names: &Names<'_>) -> u64 {
        let index = number as usize;
        if self.of_name.len() <= index {
            self.of_name.resize(index + 1, None);
        }
        if let Some(frame) = self.of_name[index] {
            return frame;
        }
        let next = self.frames.len() as u64;
        let name = string(names.name(number));
        let frame = *self.frames.entry(name).or_insert(next);
        self.of_name[index] = Some(frame);
        frame
    }

    fn at(&self, at_ns: u64) -> u64 {
        at_ns.saturating_add(self.process.offset_ns)
    }

    fn profile(&mut self, track: &Track, lane: &[Slice<'_>], names: &Names<'_>) -> io::Result<()> {
        let separator = if self.n_profiles == 0 { "\n" } else { ",\n" };
        let title = if self.n_processes > 1 {
            format!("{}: {}", self.process.title, track.title)
        } else {
            track.title.clone()
        };
        let start = self.at(lane.first().map_or(0, |slice| slice.start_ns));
        let end = self.at(lane.iter().map(|slice| slice.end_ns).max().unwrap_or(0));
        write!(
            self.out,
            r#"{separator}{{"type":"evented","unit":"nanoseconds","name":{},"startValue":{start},"endValue":{end},"events":["#,
            string(&title)
        )?;
        let mut is_first = true;
        edges(lane, |edge| {
            let (kind, slice, at_ns): (&[u8], _, _) = match edge {
                Edge::Begin(slice) => (br#"{"type":"O","frame":"#, slice, slice.start_ns),
                Edge::End(slice) => (br#"{"type":"C","frame":"#, slice, slice.end_ns),
            };
            let frame = self.frame(slice.name, names);
            let at = self.at(at_ns);
            self.out.write_all(if is_first { b"\n" } else { b",\n" })?;
            is_first = false;
            self.out.write_all(kind)?;
            integer(&mut self.out, frame)?;
            self.out.write_all(br#","at":"#)?;
            integer(&mut self.out, at)?;
            self.out.write_all(b"}")
        })?;
        self.out.write_all(b"]}")?;
        if track.kind == TrackKind::Thread {
            self.active.get_or_insert(self.n_profiles);
        }
        self.n_profiles += 1;
        Ok(())
    }
}

impl<W: Write> Listener for SpeedscopeWriter<W> {
    fn process(&mut self, process: &Process) -> io::Result<()> {
        self.process = process.clone();
        self.n_processes += 1;
        self.of_name.clear();
        Ok(())
    }

    fn track(&mut self, track: &Track, content: &Content<'_>, names: &Names<'_>) -> io::Result<()> {
        match content {
            Content::Work { lane, .. } if !lane.is_empty() => self.profile(track, lane, names),
            _ => Ok(()),
        }
    }
}

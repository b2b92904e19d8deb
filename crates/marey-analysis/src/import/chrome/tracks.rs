//! Where events happened: processes, and threads or streams in them.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::event::Label;
use super::names::{Full, Names};

/// What a trace calls a process or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// Nothing.
    None,
    /// A number, also when it is written in quotes.
    Number(i64),
    /// A text, by its number in [`Tracks::labels`].
    Text(u32),
}

impl Identifier {
    /// The number, if it is one.
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(number),
            Self::None | Self::Text(_) => None,
        }
    }
}

/// A process as the trace calls it: one of the host, or a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Which of the documents that follow each other in the file: 0 for the first.
    pub document: u32,
    /// What it is called.
    pub pid: Identifier,
    /// `process_name`; `None` when the trace has none.
    pub name: Option<String>,
}

/// A row of the trace: a thread, or a stream of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// An index into [`Tracks::processes`].
    pub process: u32,
    /// What it is called.
    pub tid: Identifier,
    /// `thread_name`; `None` when the trace has none.
    pub name: Option<String>,
}

/// All of them, in order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    /// Processes.
    pub processes: Vec<Process>,
    /// Their threads and streams.
    pub each: Vec<Track>,
    /// Texts that stand where numbers usually do.
    pub labels: Names,
    by_process: BTreeMap<(u32, Identifier), u32>,
    /// By document, process and thread.
    by_place: HashMap<(u32, Identifier, Identifier), u32>,
}

impl Tracks {
    /// What an identifier says.
    pub fn label(&self, identifier: Identifier) -> String {
        match identifier {
            Identifier::None => String::new(),
            Identifier::Number(number) => number.to_string(),
            Identifier::Text(text) => self.labels.get(text).to_owned(),
        }
    }

    /// The track of an event, a new one if it was not there.
    #[inline]
    pub(super) fn track(
        &mut self,
        document: u32,
        (pid, tid): (Label<'_>, Label<'_>),
        most_bytes: usize,
    ) -> Result<u32, Full> {
        let called = self.identifier(pid, most_bytes)?;
        let tid = self.identifier(tid, most_bytes)?;
        let place = (document, called, tid);
        if let Some(track) = self.by_place.get(&place) {
            return Ok(*track);
        }
        let track = u32::try_from(self.each.len()).map_err(|_| Full(most_bytes))?;
        let process = self.process(document, pid, most_bytes)?;
        self.each.push(Track { process, tid, name: None });
        self.by_place.insert(place, track);
        Ok(track)
    }

    /// The process of an event, likewise.
    pub(super) fn process(
        &mut self,
        document: u32,
        pid: Label<'_>,
        most_bytes: usize,
    ) -> Result<u32, Full> {
        let pid = self.identifier(pid, most_bytes)?;
        let next = u32::try_from(self.processes.len()).map_err(|_| Full(most_bytes))?;
        let process = *self.by_process.entry((document, pid)).or_insert(next);
        if process == next {
            self.processes.push(Process { document, pid, name: None });
        }
        Ok(process)
    }

    /// What a label says, kept.
    pub(super) fn identifier(
        &mut self,
        label: Label<'_>,
        most_bytes: usize,
    ) -> Result<Identifier, Full> {
        Ok(match label {
            Label::None => Identifier::None,
            Label::Number(number) => Identifier::Number(number),
            Label::Text(text) => Identifier::Text(self.labels.number_of(text, most_bytes)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::chrome::scan::Text;

    #[test]
    fn a_thread_is_one_track_however_it_is_written() {
        let mut tracks = Tracks::default();
        let text = Label::Text(Text { bytes: b"stream 7", is_escaped: false });
        let mut number = |document, pid, tid| tracks.track(document, (pid, tid), 100).unwrap();
        assert_eq!(number(0, Label::Number(5), Label::Number(7)), 0);
        assert_eq!(number(0, Label::Number(5), text), 1);
        assert_eq!(number(0, Label::Number(5), Label::Number(7)), 0);
        assert_eq!(number(0, Label::Number(5), text), 1);
        // The same numbers in another document are of another rank.
        assert_eq!(number(1, Label::Number(5), Label::Number(7)), 2);
        assert_eq!(number(0, Label::Number(5), Label::Number(71)), 3);
        assert_eq!(number(0, Label::Number(5), Label::Number(7)), 0);
        assert_eq!(tracks.processes.len(), 2);
        assert_eq!(tracks.label(tracks.each[1].tid), "stream 7");
    }
}

//! The way through a file: documents, their keys, the list of events.

use std::io::Read;

use super::builder::Builder;
use super::error::{Limits, ReadError};
use super::event::{Event, event};
use super::metadata::Metadata;
use super::scan::{Stop, space, text, value_end};
use super::trace::Trace;
use super::window::{More, Window};

/// A file that is being read.
pub(super) struct Reader<'a> {
    window: Window<'a>,
    builder: Builder<'a>,
    /// A list of events was found.
    has_events: bool,
    /// Keys of documents, the first of them.
    keys: Vec<String>,
}

/// Why taking events ended.
enum Outcome {
    /// The list ends.
    Closed,
    /// The bytes end.
    More,
    /// What follows is no event that can be read.
    Broken(String),
}

/// The key of the list of events.
const EVENTS: &str = "traceEvents";

/// A value that is longer than this is not metadata that is read.
const LONGEST_VALUE: usize = 1 << 20;

/// Keys that are kept to say what a file is that is no trace.
const MOST_KEYS: usize = 8;

impl<'a> Reader<'a> {
    pub(super) fn new(source: impl Read + 'a, limits: Limits) -> Self {
        Self {
            window: Window::new(source, limits.event_bytes.max(1 << 10)),
            builder: Builder::new(limits),
            has_events: false,
            keys: Vec::new(),
        }
    }

    /// Events go there, and nowhere else.
    pub(super) fn handing_on(
        mut self,
        each: impl FnMut(u32, &str) -> std::io::Result<()> + 'a,
    ) -> Self {
        self.builder.listener = Some(Box::new(each));
        self
    }

    /// Reads all documents.
    pub(super) fn read(mut self) -> Result<Trace, ReadError> {
        while let Some(first) = self.first_byte()? {
            let n_documents = self.builder.trace.quality.n_documents;
            match first {
                b'{' | b'[' => {}
                _ if n_documents == 0 => return Err(self.not_json()),
                // What follows the last document is nothing that could be read.
                _ => {
                    let at = self.window.position();
                    let rest = self.window.rest();
                    let quality = &mut self.builder.trace.quality;
                    let why =
                        "the file goes on behind the end of its trace (two programs wrote it?)";
                    quality.add_broken(at, why, rest);
                    while self.next_piece()? {}
                    self.add_lost(at);
                    break;
                }
            }
            self.builder.document = u32::try_from(n_documents).unwrap_or(u32::MAX);
            self.builder.trace.quality.n_documents += 1;
            self.builder.take_bytes(size_of::<Metadata>())?;
            self.builder.trace.metadata.push(Metadata::default());
            self.window.advance(1);
            if first == b'[' {
                self.has_events = true;
                self.events()?;
            } else {
                self.object()?;
            }
        }
        self.finish()
    }

    fn finish(self) -> Result<Trace, ReadError> {
        if !self.has_events {
            let damage = self.window.damage();
            return Err(match (self.keys.first(), damage) {
                (Some(key), _) if key.starts_with("rocprofiler") => ReadError::Rocprofiler,
                (_, Some(damage)) => ReadError::Damaged(damage.to_owned()),
                (None, _) if self.builder.trace.quality.n_documents == 0 => {
                    ReadError::NotJson("nothing".to_owned())
                }
                _ if self.keys.iter().any(|key| key == EVENTS) => ReadError::EventsAreNoList,
                _ => ReadError::NoEvents(self.keys),
            });
        }
        let mut trace = self.builder.finish()?;
        if trace.quality.n_events == 0
            && let Some(first) = trace.quality.broken.first()
        {
            return Err(ReadError::Broken { reason: first.reason.clone(), at_byte: first.at_byte });
        }
        trace.quality.n_bytes = self.window.position();
        trace.quality.damage = self.window.damage().map(str::to_owned);
        Ok(trace)
    }

    fn not_json(&self) -> ReadError {
        let rest = self.window.rest();
        let beginning = rest.get(..40).unwrap_or(rest);
        ReadError::NotJson(format!("{:?}", String::from_utf8_lossy(beginning)))
    }

    /// The next byte that is no white space, without passing it; `None` at the end. A mark of the byte order is passed.
    fn first_byte(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            if self.window.position() == 0 && self.window.rest().starts_with(b"\xEF\xBB\xBF") {
                self.window.advance(3);
            }
            let rest = self.window.rest();
            if let Ok(at) = space(rest, 0) {
                let first = rest.get(at).copied();
                self.window.advance(at);
                return Ok(first);
            }
            if !self.next_piece()? {
                return Ok(None);
            }
        }
    }

    /// Reads the keys of a document, from behind its opening brace.
    fn object(&mut self) -> Result<(), ReadError> {
        loop {
            match self.first_byte()? {
                Some(b',') => self.window.advance(1),
                Some(b'}') => {
                    self.window.advance(1);
                    return Ok(());
                }
                Some(first) => {
                    let is_pair = first == b'"' && self.pair()?;
                    if !is_pair && !self.search_events()? {
                        return Ok(());
                    }
                }
                None => {
                    self.builder.trace.quality.is_truncated = true;
                    return Ok(());
                }
            }
        }
    }

    /// Reads a key and its value. `false` when that is not what is there.
    fn pair(&mut self) -> Result<bool, ReadError> {
        let Some(key) = self.key()? else {
            return Ok(false);
        };
        if self.first_byte()? != Some(b':') {
            return Ok(false);
        }
        self.window.advance(1);
        let first = self.first_byte()?;
        if key == EVENTS && first == Some(b'[') {
            self.window.advance(1);
            self.has_events = true;
            self.events()?;
            return Ok(true);
        }
        if self.keys.len() < MOST_KEYS && first.is_some() {
            self.keys.push(key.clone());
        }
        self.value(&key)
    }

    fn key(&mut self) -> Result<Option<String>, ReadError> {
        loop {
            let rest = self.window.rest();
            match text(rest, 1) {
                Ok((key, end)) => {
                    let key = String::from_utf8_lossy(key.bytes).into_owned();
                    self.window.advance(end);
                    return Ok(Some(key));
                }
                Err(_) => {
                    if rest.len() > LONGEST_VALUE || self.window.more()? != More::Read {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Reads a value of the document, or skips it when it is long. `false` when it is broken.
    fn value(&mut self, key: &str) -> Result<bool, ReadError> {
        loop {
            let rest = self.window.rest();
            match value_end(rest, 0) {
                Ok(end) => {
                    let value = rest.get(..end).unwrap_or_default();
                    // A list of devices takes no more than this many times what is written.
                    self.builder.take_bytes((key.len() + value.len()).saturating_mul(128))?;
                    if let Some(metadata) = self.builder.trace.metadata.last_mut() {
                        metadata.take(key, value);
                    }
                    self.window.advance(end);
                    return Ok(true);
                }
                Err(Stop::More) if rest.len() > LONGEST_VALUE => return self.skip_value(),
                Err(Stop::More) => match self.window.more()? {
                    More::Read => {}
                    More::Full => return self.skip_value(),
                    More::End => {
                        self.builder.trace.quality.is_truncated = true;
                        return Ok(true);
                    }
                },
                Err(Stop::Broken(_)) => return Ok(false),
            }
        }
    }

    /// Passes a value of any length by its brackets alone.
    fn skip_value(&mut self) -> Result<bool, ReadError> {
        let (mut depth, mut is_text, mut is_escape) = (0_u64, false, false);
        loop {
            let rest = self.window.rest();
            let length = rest.len();
            let mut end = None;
            for (at, byte) in rest.iter().enumerate() {
                match byte {
                    _ if is_escape => is_escape = false,
                    b'\\' if is_text => is_escape = true,
                    b'"' => is_text = !is_text,
                    _ if is_text => {}
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => continue,
                }
                if depth == 0 && !is_text {
                    end = Some(at + 1);
                    break;
                }
            }
            self.window.advance(end.unwrap_or(length));
            if end.is_some() {
                return Ok(true);
            }
            if self.window.more()? == More::End {
                self.builder.trace.quality.is_truncated = true;
                return Ok(true);
            }
        }
    }

    /// Goes on behind the next `"traceEvents": [` of a document whose keys are broken, and reads the events. `false` when
    /// there is none.
    fn search_events(&mut self) -> Result<bool, ReadError> {
        const WANTED: &[u8] = b"\"traceEvents\"";
        let at_byte = self.window.position();
        let rest = self.window.rest();
        let quality = &mut self.builder.trace.quality;
        quality.add_broken(at_byte, "the document is broken here", rest);
        loop {
            let rest = self.window.rest();
            if let Some(at) = memchr::memmem::find(rest, WANTED) {
                self.window.advance(at + WANTED.len());
                if self.first_byte()? == Some(b':') {
                    self.window.advance(1);
                    if self.first_byte()? == Some(b'[') {
                        self.add_lost(at_byte);
                        self.window.advance(1);
                        self.has_events = true;
                        self.events()?;
                        return Ok(true);
                    }
                }
                continue;
            }
            let passed = rest.len().saturating_sub(WANTED.len() - 1);
            self.window.advance(passed);
            if self.window.more()? == More::End {
                let length = self.window.rest().len();
                self.window.advance(length);
                self.add_lost(at_byte);
                self.builder.trace.quality.is_truncated = true;
                return Ok(false);
            }
        }
    }

    /// Reads events, from behind the opening bracket of their list.
    fn events(&mut self) -> Result<(), ReadError> {
        loop {
            let (passed, outcome) = taken(&mut self.builder, self.window.rest())?;
            self.window.advance(passed);
            let why = match outcome {
                Outcome::Closed => return Ok(()),
                Outcome::Broken(why) => why,
                Outcome::More => match self.window.more()? {
                    More::Read => continue,
                    More::Full => "an event is too long".to_owned(),
                    More::End if self.window.rest().is_empty() => {
                        self.builder.trace.quality.is_truncated = true;
                        return Ok(());
                    }
                    More::End => {
                        // The last event is cut, or it is broken and hides others.
                        self.builder.trace.quality.is_truncated = true;
                        "an event does not end".to_owned()
                    }
                },
            };
            if !self.recover(&why)? {
                return Ok(());
            }
        }
    }

    /// Goes on at the next event behind one that cannot be read, or at the end of the list. `false` when the text ends.
    ///
    /// ```text
    /// { "ph": "X", "name": "say "hi"", "args": {…} }, { "ph": "X", …
    /// ╰─ broken here         not an event ─────╯      ╰─ an event: reading goes on
    /// ```
    fn recover(&mut self, why: &str) -> Result<bool, ReadError> {
        let at_byte = self.window.position();
        let rest = self.window.rest();
        self.builder.trace.quality.add_broken(at_byte, why, rest);
        let mut from = 1;
        loop {
            let rest = self.window.rest();
            let found = rest.get(from..).and_then(|r| memchr::memchr2(b'{', b']', r));
            let Some(at) = found.map(|at| from + at) else {
                from = 0;
                if !self.next_piece()? {
                    self.add_lost(at_byte);
                    self.builder.trace.quality.is_truncated = true;
                    return Ok(false);
                }
                continue;
            };
            match goes_on(rest, at) {
                Ok(true) => {
                    self.window.advance(at);
                    self.add_lost(at_byte);
                    self.builder.trace.quality.is_truncated = false;
                    return Ok(true);
                }
                Ok(false) | Err(Stop::Broken(_)) => from = at + 1,
                Err(Stop::More) => {
                    let is_bracket = rest.get(at) == Some(&b']');
                    self.window.advance(at);
                    from = match self.window.more()? {
                        More::Read => 0,
                        // Nothing follows that could say otherwise: the list ends here.
                        More::End if is_bracket => {
                            self.add_lost(at_byte);
                            self.builder.trace.quality.is_truncated = false;
                            return Ok(true);
                        }
                        More::End | More::Full => 1,
                    };
                }
            }
        }
    }

    /// Passes what is in memory; `false` when there is no more.
    fn next_piece(&mut self) -> Result<bool, ReadError> {
        let length = self.window.rest().len();
        self.window.advance(length);
        Ok(self.window.more()? != More::End)
    }

    /// What was passed since `at_byte` is lost.
    fn add_lost(&mut self, at_byte: u64) {
        let lost = self.window.position().saturating_sub(at_byte);
        self.builder.trace.quality.n_bytes_broken += lost;
    }
}

/// Takes in the events at the beginning of `bytes`; how many bytes they are, and why that was all.
fn taken(builder: &mut Builder<'_>, bytes: &[u8]) -> Result<(usize, Outcome), ReadError> {
    let mut at = 0;
    loop {
        match bytes.get(at) {
            None => return Ok((at, Outcome::More)),
            Some(b',' | b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(b']') => return Ok((at + 1, Outcome::Closed)),
            Some(b'{') => {
                let scanned = match event(bytes, at) {
                    Ok(scanned) => scanned,
                    Err(Stop::More) => return Ok((at, Outcome::More)),
                    Err(Stop::Broken(why)) => return Ok((at, Outcome::Broken(why.to_owned()))),
                };
                let written = bytes.get(at..scanned.end).unwrap_or_default();
                if let Err(why) = builder.take(&scanned, written)? {
                    return Ok((at, Outcome::Broken(why)));
                }
                at = scanned.end;
            }
            Some(_) => return Ok((at, Outcome::Broken("is no event".to_owned()))),
        }
    }
}

/// Reading can go on at the brace or bracket at `at`: an event is there, or the list ends.
fn goes_on(bytes: &[u8], at: usize) -> Result<bool, Stop> {
    if bytes.get(at) == Some(&b'{') {
        let scanned = event(bytes, at)?;
        let Event { phase, start_ns, .. } = scanned.event;
        let is_timed = start_ns.is_some() || scanned.is_unusual || phase == b'M';
        return Ok(phase.is_ascii_alphabetic() && is_timed);
    }
    ends_list(bytes, at)
}

/// Keys that follow the list of events.
const KEYS_BEHIND: [&[u8]; 6] = [
    b"traceName",
    b"displayTimeUnit",
    b"baseTimeNanoseconds",
    b"schemaVersion",
    b"deviceProperties",
    b"distributedInfo",
];

/// The bracket at `at` is the one that closes the list of events: the document ends behind it, or goes on with one of the
/// keys of documents. Not so `"grid": [1, 1, 1], "block": …` in an event.
fn ends_list(bytes: &[u8], at: usize) -> Result<bool, Stop> {
    let behind = space(bytes, at + 1)?;
    match bytes.get(behind) {
        Some(b',') => {
            let key = space(bytes, behind + 1)?;
            if bytes.get(key) != Some(&b'"') {
                return Ok(false);
            }
            let (key, _) = text(bytes, key + 1)?;
            Ok(KEYS_BEHIND.contains(&key.bytes))
        }
        // `}` also ends an event's arguments; then something follows.
        Some(b'}') => match space(bytes, behind + 1) {
            Ok(_) => Ok(false),
            Err(stop) => Err(stop),
        },
        _ => Ok(false),
    }
}

//! Notes: everything recorded that is not a section, as variable-length records of 64-bit words.
//!
//! | word | content |
//! |---|---|
//! | 0 | number of words, this one included · kind « 32 |
//! | 1 | time in ticks |
//! | 2.. | payload bytes, padded with zeros |
//!
//! In the payload a *text* is its length in bytes (u32) and the bytes; a *value* is a tag (0 bool, 1 i64, 2 f64, 3 text) and its
//! content; *attributes* are their number (u16), then text and value of each; *optional* numbers are a flag byte and the number.
//!
//! | kind | payload |
//! |---|---|
//! | 1 thread | thread u32 · OS thread id u32 · name |
//! | 2 section attributes | node u32 · start in ticks u64 · attributes |
//! | 3 event | name · attributes |
//! | 4 memory | source u32 (0 process, 1 torch CUDA) · device u32 · has label u8 · label · allocated u64 · reserved? u64 · peak? u64 |
//! | 5 counter | name · f64 |
//! | 6 cache | cache · outcome u8 (0 hit, 1 miss, 2 eviction, 3 lookup) · step? u64 · block? u64 · score? f64 · threshold? f64 · held? u64 · attributes |
//! | 7 session start | session u64 · name · tags |
//! | 8 session end | session u64 |

use crate::run::{CacheOutcome, MemorySource};
use crate::value::{Attributes, Value};

/// Longest note, in bytes of payload; a longer one is not recorded and counted as dropped.
pub(crate) const MAX_NOTE_BYTES: usize = 32 << 10;
/// Texts in notes are cut here.
const MAX_TEXT_BYTES: usize = 8 << 10;

/// A note without its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A thread began to record.
    Thread {
        /// Number in the process.
        thread: u32,
        /// The kernel's number.
        os_id: u32,
        /// Empty when unknown.
        name: String,
    },
    /// Attributes of the section of a node that began at `start_ticks` in this lane.
    SectionAttributes {
        /// The section's node.
        node: u32,
        /// When it began.
        start_ticks: u64,
        /// The attributes.
        attributes: Attributes,
    },
    /// A point in time with a name.
    Event {
        /// The name.
        name: String,
        /// The user's data.
        attributes: Attributes,
    },
    /// A memory reading; fields as in [`crate::MemoryReading`].
    Memory {
        /// The user's label.
        label: Option<String>,
        /// What was read.
        source: MemorySource,
        /// Bytes in use.
        allocated_bytes: u64,
        /// Bytes the allocator holds.
        reserved_bytes: Option<u64>,
        /// Highest so far.
        peak_bytes: Option<u64>,
    },
    /// A reading of a counter.
    Counter {
        /// The counter.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A decision of a cache; fields as in [`crate::CacheEvent`].
    Cache {
        /// Which cache.
        cache: String,
        /// What it did.
        outcome: CacheOutcome,
        /// Denoising step.
        step: Option<u64>,
        /// Autoregressive block.
        block: Option<u64>,
        /// What was compared.
        score: Option<f64>,
        /// With what.
        threshold: Option<f64>,
        /// Bytes held afterwards.
        held_bytes: Option<u64>,
        /// Anything else.
        attributes: Attributes,
    },
    /// A session began.
    SessionStart {
        /// Number in the process.
        session: u64,
        /// The user's name.
        name: String,
        /// The user's tags.
        tags: Attributes,
    },
    /// A session ended.
    SessionEnd {
        /// Number in the process.
        session: u64,
    },
}

impl Note {
    /// The words of the note at a time; `None` when it is longer than a note may be.
    pub(crate) fn encode(&self, ticks: u64) -> Option<Vec<u64>> {
        let mut out = Encoder(Vec::with_capacity(64));
        let kind = self.put(&mut out);
        if out.0.len() > MAX_NOTE_BYTES {
            return None;
        }
        let n_words = 2 + out.0.len().div_ceil(8);
        let mut words = Vec::with_capacity(n_words);
        words.push(n_words as u64 | kind << 32);
        words.push(ticks);
        words.extend(out.0.chunks(8).map(|chunk| {
            let mut padded = [0; 8];
            padded[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(padded)
        }));
        Some(words)
    }

    fn put(&self, out: &mut Encoder) -> u64 {
        match self {
            Self::Thread {
                thread,
                os_id,
                name,
            } => {
                out.u32(*thread).u32(*os_id).text(name);
                1
            }
            Self::SectionAttributes {
                node,
                start_ticks,
                attributes,
            } => {
                out.u32(*node).u64(*start_ticks).attributes(attributes);
                2
            }
            Self::Event { name, attributes } => {
                out.text(name).attributes(attributes);
                3
            }
            Self::Memory {
                label,
                source,
                allocated_bytes,
                reserved_bytes,
                peak_bytes,
            } => {
                let (code, device) = match source {
                    MemorySource::Process => (0, 0),
                    MemorySource::TorchCuda(device) => (1, *device),
                };
                out.u32(code)
                    .u32(device)
                    .u8(label.is_some().into())
                    .text(label.as_deref().unwrap_or_default());
                out.u64(*allocated_bytes)
                    .optional(*reserved_bytes)
                    .optional(*peak_bytes);
                4
            }
            Self::Counter { name, value } => {
                out.text(name).u64(value.to_bits());
                5
            }
            Self::Cache {
                cache,
                outcome,
                step,
                block,
                score,
                threshold,
                held_bytes,
                attributes,
            } => {
                out.text(cache)
                    .u8(*outcome as u8)
                    .optional(*step)
                    .optional(*block);
                out.optional(score.map(f64::to_bits))
                    .optional(threshold.map(f64::to_bits))
                    .optional(*held_bytes);
                out.attributes(attributes);
                6
            }
            Self::SessionStart {
                session,
                name,
                tags,
            } => {
                out.u64(*session).text(name).attributes(tags);
                7
            }
            Self::SessionEnd { session } => {
                out.u64(*session);
                8
            }
        }
    }

    /// The note at the front of `words`: its time, itself (`None` if its kind is unknown or its payload makes no sense), and the
    /// number of words it takes. `None` when no whole note is there.
    pub(crate) fn decode(words: &[u64]) -> Option<(u64, Option<Self>, usize)> {
        let (&head, rest) = words.split_first()?;
        let n_words = usize::try_from(head & 0xffff_ffff).ok()?;
        if n_words < 2 || n_words > words.len() {
            return None;
        }
        let bytes: Vec<u8> = rest[1..n_words - 1]
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        Some((
            rest[0],
            Self::take(head >> 32, &mut Decoder(&bytes)),
            n_words,
        ))
    }

    fn take(kind: u64, from: &mut Decoder<'_>) -> Option<Self> {
        Some(match kind {
            1 => Self::Thread {
                thread: from.u32()?,
                os_id: from.u32()?,
                name: from.text()?,
            },
            2 => Self::SectionAttributes {
                node: from.u32()?,
                start_ticks: from.u64()?,
                attributes: from.attributes()?,
            },
            3 => Self::Event {
                name: from.text()?,
                attributes: from.attributes()?,
            },
            4 => {
                let source = match (from.u32()?, from.u32()?) {
                    (0, _) => MemorySource::Process,
                    (1, device) => MemorySource::TorchCuda(device),
                    _ => return None,
                };
                let (has_label, label) = (from.u8()? != 0, from.text()?);
                Self::Memory {
                    label: has_label.then_some(label),
                    source,
                    allocated_bytes: from.u64()?,
                    reserved_bytes: from.optional()?,
                    peak_bytes: from.optional()?,
                }
            }
            5 => Self::Counter {
                name: from.text()?,
                value: f64::from_bits(from.u64()?),
            },
            6 => Self::Cache {
                cache: from.text()?,
                outcome: match from.u8()? {
                    0 => CacheOutcome::Hit,
                    1 => CacheOutcome::Miss,
                    2 => CacheOutcome::Eviction,
                    3 => CacheOutcome::Lookup,
                    _ => return None,
                },
                step: from.optional()?,
                block: from.optional()?,
                score: from.optional()?.map(f64::from_bits),
                threshold: from.optional()?.map(f64::from_bits),
                held_bytes: from.optional()?,
                attributes: from.attributes()?,
            },
            7 => Self::SessionStart {
                session: from.u64()?,
                name: from.text()?,
                tags: from.attributes()?,
            },
            8 => Self::SessionEnd {
                session: from.u64()?,
            },
            _ => return None,
        })
    }
}

struct Encoder(Vec<u8>);

impl Encoder {
    fn u8(&mut self, v: u8) -> &mut Self {
        self.0.push(v);
        self
    }

    fn u32(&mut self, v: u32) -> &mut Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    fn u64(&mut self, v: u64) -> &mut Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    fn optional(&mut self, v: Option<u64>) -> &mut Self {
        self.u8(v.is_some().into()).u64(v.unwrap_or_default())
    }

    fn text(&mut self, v: &str) -> &mut Self {
        let bytes = &v.as_bytes()[..v.floor_char_boundary(MAX_TEXT_BYTES)];
        self.u32(u32::try_from(bytes.len()).expect("cut above"));
        self.0.extend_from_slice(bytes);
        self
    }

    fn attributes(&mut self, attributes: &Attributes) -> &mut Self {
        let n = u16::try_from(attributes.len()).unwrap_or(u16::MAX);
        self.0.extend_from_slice(&n.to_le_bytes());
        for (name, value) in attributes.iter().take(n.into()) {
            self.text(name);
            match value {
                Value::Bool(v) => self.u8(0).u8((*v).into()),
                Value::Int(v) => self.u8(1).u64(v.cast_unsigned()),
                Value::Float(v) => self.u8(2).u64(v.to_bits()),
                Value::Text(v) => self.u8(3).text(v),
            };
        }
        self
    }
}

struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|b| b[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// Outer `None`: not there. Inner `None`: there, and absent.
    #[expect(clippy::option_option, reason = "damaged and absent are two things")]
    fn optional(&mut self) -> Option<Option<u64>> {
        let (flag, value) = (self.u8()?, self.u64()?);
        Some((flag != 0).then_some(value))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        if length > self.0.len() {
            return None;
        }
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(crate::capture::readable(bytes))
    }

    fn attributes(&mut self) -> Option<Attributes> {
        let n = self.take().map(u16::from_le_bytes)?;
        let mut attributes = Attributes::new();
        for _ in 0..n {
            let name = self.text()?;
            let value = match self.u8()? {
                0 => Value::Bool(self.u8()? != 0),
                1 => Value::Int(self.u64()?.cast_signed()),
                2 => Value::Float(f64::from_bits(self.u64()?)),
                3 => Value::Text(self.text()?),
                _ => return None,
            };
            attributes.push((name, value));
        }
        Some(attributes)
    }
}

#[test]
fn a_lookup_comes_back_as_it_was_written_and_a_newer_outcome_is_passed_over() {
    let note = Note::Cache {
        cache: "kv".into(),
        outcome: CacheOutcome::Lookup,
        step: None,
        block: Some(2),
        score: None,
        threshold: None,
        held_bytes: None,
        attributes: vec![],
    };
    let mut words = note.encode(7).expect("short enough");
    let n_words = words.len();
    assert_eq!(Note::decode(&words), Some((7, Some(note), n_words)));
    // The outcome follows the name: four bytes of length, then two of text.
    assert_eq!(words[2] >> 48 & 0xff, 3);
    words[2] += 1 << 48;
    assert_eq!(Note::decode(&words), Some((7, None, n_words)));
}

#[cfg(test)]
mod tests;

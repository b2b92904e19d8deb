//! What a pickle built, without a box for each thing.
//!
//! ```text
//! items    │ 7 │ 3 │ "a" │ … │ 0x7f… │ 512 │ 0 │ …          values of lists and dictionaries, each list's in chunks
//! lists    (start, length, more)                            one entry a list
//! dicts    (shape, start, more)                             one entry a dictionary: its values, in the shape's order
//! shapes   │ "addr" │ "size" │ "stream" │                   keys, once for all dictionaries that follow each other with the same
//! ```
//!
//! A thing that is used in several places is one entry with several references, so what would be enormous when written out stays as
//! small as its file.

use std::borrow::Cow;
use std::cell::Cell;

use super::memory_event::Action;

/// A value, or the number of the list or dictionary that it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::import) enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// A whole number beyond 64 bits, of no use here.
    Huge,
    Float(f64),
    /// Text: where it lies in the input.
    Text {
        start: u32,
        len: u32,
    },
    List(u32),
    Dict(u32),
    /// A dictionary that is an event, and was read as such.
    Event(u32),
    Tuple {
        start: u32,
        len: u32,
    },
}

/// No further chunk.
const LAST: u32 = u32::MAX;

/// Everything that a pickle built.
#[derive(Debug)]
pub(in crate::import) struct Values<'a> {
    input: &'a [u8],
    items: Vec<Value>,
    lists: Vec<Chunk>,
    dicts: Vec<Chunk>,
    /// Second and later chunks of lists and dictionaries.
    more: Vec<Chunk>,
    shapes: Vec<Shape>,
    /// Keys of shapes.
    keys: Vec<Value>,
    events: Vec<ShortEvent>,
    /// Somebody asked for an event as if it were another dictionary.
    is_misread: Cell<bool>,
}

/// What an event says that is neither running out of memory nor a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortEvent {
    pub(super) action: Action,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// 0 when not known.
    pub(super) time_us: u64,
    /// Its frames; [`u32::MAX`] for none.
    pub(super) list: u32,
}

/// A part of a list or dictionary.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u32,
    /// Items of a list, shape of a dictionary.
    len_or_shape: u32,
    /// Index into `more`.
    next: u32,
    /// Index into `more` of the last chunk; in first chunks only.
    last: u32,
    /// Number of further chunks; in first chunks only.
    n_more: u32,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    start: u32,
    len: u32,
}

const EMPTY: Chunk = Chunk { start: 0, len_or_shape: 0, next: LAST, last: LAST, n_more: 0 };

/// How often a dictionary may be added to, because each reading of it looks at all its parts. Python adds a thousand keys at once.
pub(super) const MAX_PARTS: usize = 64;
/// Shapes that a new dictionary is compared with.
const RECENT_SHAPES: usize = 8;

impl<'a> Values<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            items: Vec::new(),
            lists: Vec::new(),
            dicts: Vec::new(),
            more: Vec::new(),
            // Shape 0 has no keys: that of an empty dictionary.
            shapes: vec![Shape { start: 0, len: 0 }],
            keys: Vec::new(),
            events: Vec::new(),
            is_misread: Cell::new(false),
        }
    }

    /// What counts against the limit.
    pub(in crate::import) fn n_values(&self) -> usize {
        self.items.len() + self.keys.len() + self.lists.len() + self.dicts.len() + self.more.len()
    }

    /// With events.
    pub(super) fn n_dicts(&self) -> usize {
        self.dicts.len() + self.events.len()
    }

    pub(super) fn n_events(&self) -> usize {
        self.events.len()
    }

    pub(super) fn n_lists(&self) -> usize {
        self.lists.len()
    }

    pub(super) fn n_shapes(&self) -> usize {
        self.shapes.len()
    }

    pub(super) fn new_list(&mut self) -> Value {
        self.lists.push(EMPTY);
        Value::List(index(self.lists.len() - 1))
    }

    pub(super) fn new_dict(&mut self) -> Value {
        self.dicts.push(EMPTY);
        Value::Dict(index(self.dicts.len() - 1))
    }

    /// What the event that is added next will be.
    pub(super) fn next_event(&self) -> Value {
        Value::Event(index(self.events.len()))
    }

    pub(super) fn add_event(&mut self, event: ShortEvent) {
        self.events.push(event);
    }

    /// A dictionary that was read as an event.
    pub(super) fn event(&self, value: Value) -> Option<ShortEvent> {
        match value {
            Value::Event(event) => self.events.get(event as usize).copied(),
            _ => None,
        }
    }

    /// The number of a dictionary. Not of an event: that somebody asked is remembered.
    pub(super) fn dict(&self, value: Value) -> Option<u32> {
        match value {
            Value::Dict(dict) => Some(dict),
            Value::Event(_) => {
                self.is_misread.set(true);
                None
            }
            _ => None,
        }
    }

    /// An event was asked for as another dictionary, and would have answered.
    pub(super) fn is_misread(&self) -> bool {
        self.is_misread.get()
    }

    pub(super) fn new_tuple(&mut self, values: &[Value]) -> Value {
        let start = index(self.items.len());
        self.items.extend_from_slice(values);
        Value::Tuple { start, len: index(values.len()) }
    }

    /// Puts values behind those of a list.
    pub(super) fn append(&mut self, list: u32, values: &[Value]) {
        if values.is_empty() {
            return;
        }
        let start = index(self.items.len());
        self.items.extend_from_slice(values);
        let chunk = Chunk { start, len_or_shape: index(values.len()), ..EMPTY };
        let head = self.lists[list as usize];
        self.lists[list as usize] = add_chunk(&mut self.more, head, chunk);
    }

    /// Puts keys and values, in turns, into a dictionary. Their number is even. `false`, and nothing done, when the dictionary has
    /// been added to [`MAX_PARTS`] times.
    pub(super) fn set_items(&mut self, dict: u32, pairs: &[Value]) -> bool {
        if pairs.is_empty() {
            return true;
        }
        let head = self.dicts[dict as usize];
        if head.n_more as usize >= MAX_PARTS {
            return false;
        }
        let start = index(self.items.len());
        self.items.extend(pairs.chunks_exact(2).map(|pair| pair[1]));
        let chunk = Chunk { start, len_or_shape: self.shape(pairs), ..EMPTY };
        self.dicts[dict as usize] = add_chunk(&mut self.more, head, chunk);
        true
    }

    fn shape(&mut self, pairs: &[Value]) -> u32 {
        let n_keys = pairs.len() / 2;
        let recent = self.shapes.len().saturating_sub(RECENT_SHAPES)..self.shapes.len();
        for known in recent.rev() {
            let shape = self.shapes[known];
            let keys = &self.keys[shape.start as usize..][..shape.len as usize];
            let is_same = keys.len() == n_keys
                && pairs.chunks_exact(2).zip(keys).all(|(pair, key)| pair[0] == *key);
            if is_same {
                return index(known);
            }
        }
        let start = index(self.keys.len());
        self.keys.extend(pairs.chunks_exact(2).map(|pair| pair[0]));
        self.shapes.push(Shape { start, len: index(n_keys) });
        index(self.shapes.len() - 1)
    }

    /// Text as it is in the file; what is no UTF-8 in it is replaced.
    pub(in crate::import) fn text(&self, value: Value) -> Option<Cow<'a, str>> {
        self.text_bytes(value).map(String::from_utf8_lossy)
    }

    pub(in crate::import) fn text_bytes(&self, value: Value) -> Option<&'a [u8]> {
        let Value::Text { start, len } = value else {
            return None;
        };
        self.input.get(start as usize..)?.get(..len as usize)
    }

    /// Items of a list or tuple in order; `None` when it is neither.
    pub(in crate::import) fn items(
        &self,
        value: Value,
    ) -> Option<impl Iterator<Item = Value> + '_> {
        let head = match value {
            Value::List(list) => self.lists[list as usize],
            Value::Tuple { start, len } => Chunk { start, len_or_shape: len, ..EMPTY },
            _ => return None,
        };
        let items = self.chunks(head).flat_map(|chunk| {
            let items = &self.items[chunk.start as usize..];
            items[..chunk.len_or_shape as usize].iter().copied()
        });
        Some(items)
    }

    /// Each part of a dictionary as its shape and its values.
    pub(in crate::import) fn parts(&self, dict: u32) -> impl Iterator<Item = (u32, &[Value])> + '_ {
        self.chunks(self.dicts[dict as usize]).map(|chunk| {
            let len = self.shapes[chunk.len_or_shape as usize].len;
            let values = &self.items[chunk.start as usize..][..len as usize];
            (chunk.len_or_shape, values)
        })
    }

    /// Keys of a shape.
    pub(in crate::import) fn keys(&self, shape: u32) -> &[Value] {
        let shape = self.shapes[shape as usize];
        &self.keys[shape.start as usize..][..shape.len as usize]
    }

    fn chunks(&self, head: Chunk) -> impl Iterator<Item = Chunk> + '_ {
        std::iter::successors(Some(head), |chunk| self.more.get(chunk.next as usize).copied())
    }
}

/// The head with one more chunk.
fn add_chunk(more: &mut Vec<Chunk>, head: Chunk, chunk: Chunk) -> Chunk {
    let is_empty = head.len_or_shape == 0 && head.next == LAST;
    if is_empty {
        return chunk;
    }
    let at = index(more.len());
    more.push(chunk);
    match more.get_mut(head.last as usize) {
        // The new chunk itself lies behind the last one, so this is an earlier one.
        Some(last) if head.last != LAST => {
            last.next = at;
            Chunk { last: at, n_more: head.n_more + 1, ..head }
        }
        _ => Chunk { next: at, last: at, n_more: 1, ..head },
    }
}

/// A place in an arena. The length of the input, and with it every arena, is below 2^32.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(LAST)
}

//! Events of a history, read from their opcodes without building values.
//!
//! Nearly all of a file are dictionaries like these, with the same keys in the same order:
//!
//! ```text
//! } MEMOIZE MARK │ key value │ key value │ … │ SETITEMS       keys by memo; values are numbers, texts, a pair, a list of frames
//! ] MEMOIZE MARK │ frame │ frame │ … │ APPENDS                frames by memo; each sequence of them is one list, however often it comes
//! ```
//!
//! The first of a kind is built like everything else, and teaches the keys. Where a later one is any different, it is built, too.
//! What is read this way cannot be looked at as anything else, nor be added to: a file that does so is an error here, and is read
//! once more with everything built.

use std::collections::BTreeSet;

use super::machine::{MAX_MARKS, Machine};
use super::memory_event::Action;
use super::opcode;
use super::record::natural;
use super::values::{ShortEvent, Value};

/// Keys of an event; torch writes 15.
const MAX_KEYS: usize = 32;
/// Places of the table that are looked at for one list, so that a file in which all collide is no slower.
const MAX_PROBES: usize = 8;

/// What is known about the events of a file.
///
/// Time: linear in the length of the input. Memory: at most 65 536 entries for lists.
#[derive(Debug, Default)]
pub(super) struct Shortcut {
    /// Keys of the last event that was built, in order, and what they say.
    keys: Vec<(Value, Role)>,
    lists: KnownLists,
    /// The last pair, and its opcodes.
    pair: Option<(Value, Place)>,
    /// What the events would hold if they had been built.
    pub(super) n_saved: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Action,
    Address,
    Bytes,
    Time,
    Frames,
    Other,
}

/// A piece of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Place {
    start: usize,
    len: usize,
}

impl Shortcut {
    /// For an input of this length.
    pub(super) fn new(input_bytes: usize) -> Self {
        Self {
            lists: KnownLists::new(input_bytes),
            // Keys and values that would lie on the stack.
            n_saved: 2 * MAX_KEYS + 8,
            ..Self::default()
        }
    }

    /// It stands for several lists.
    pub(super) fn is_shared(&self, list: u32) -> bool {
        self.lists.shared.contains(&list)
    }
}

impl<'a> Machine<'a> {
    /// Learns the keys of a dictionary that was built, if it is an event.
    pub(super) fn learn(&mut self, from: usize) {
        let Some(shortcut) = &mut self.shortcut else {
            return;
        };
        let pairs = &self.stack[from..];
        let first = pairs.first().and_then(|key| self.values.text_bytes(*key));
        if first != Some(b"action") || pairs.len() > 2 * MAX_KEYS {
            return;
        }
        let keys = pairs.chunks_exact(2).map(|pair| {
            let role = match self.values.text_bytes(pair[0]) {
                Some(b"action") => Role::Action,
                Some(b"addr") => Role::Address,
                Some(b"size") => Role::Bytes,
                Some(b"time_us") => Role::Time,
                Some(b"frames") => Role::Frames,
                _ => Role::Other,
            };
            (pair[0], role)
        });
        shortcut.keys.clear();
        shortcut.keys.extend(keys);
    }

    /// Reads a whole event whose `EMPTY_DICT` was just read. `None` when it is not as expected: then nothing has changed that can be seen.
    pub(super) fn event(&mut self) -> Option<Value> {
        let mut shortcut = self.shortcut.take()?;
        let n_memo = self.memo.len();
        let mut at = self.at;
        let event = self.read_event(&mut shortcut, &mut at);
        self.shortcut = Some(shortcut);
        if event.is_some() {
            self.at = at;
        } else {
            self.memo.truncate(n_memo);
        }
        event
    }

    fn read_event(&mut self, shortcut: &mut Shortcut, at: &mut usize) -> Option<Value> {
        if shortcut.keys.is_empty() || self.marks.len() + 2 > MAX_MARKS {
            return None;
        }
        if self.input.get(*at..*at + 2)? != [opcode::MEMOIZE, opcode::MARK] {
            return None;
        }
        *at += 2;
        let event = self.values.next_event();
        let n_memo = self.memo.len();
        self.memo.push(event);
        let mut act = None;
        let (mut address, mut bytes, mut time, mut frames) = (None, None, None, None);
        let n_keys = shortcut.keys.len();
        for key in 0..n_keys {
            let (key, role) = shortcut.keys[key];
            if !is_same_text(self.recalled(at)?, key) {
                return None;
            }
            let value = match self.input.get(*at)? {
                &opcode::EMPTY_LIST => self.list(shortcut, at, n_memo)?,
                _ => self.value(shortcut, at)?,
            };
            match role {
                Role::Action => act = Some(value),
                Role::Address => address = Some(value),
                Role::Bytes => bytes = Some(value),
                Role::Time => time = Some(value),
                Role::Frames => frames = Some(value),
                Role::Other => {}
            }
        }
        if *self.input.get(*at)? != opcode::SETITEMS {
            return None;
        }
        *at += 1;
        let act = Action::of(self.values.text_bytes(act?)?)?;
        if matches!(act, Action::OutOfMemory | Action::Snapshot) {
            return None;
        }
        shortcut.n_saved += 1 + n_keys;
        self.values.add_event(ShortEvent {
            action: act,
            address: natural(address)?,
            bytes: natural(bytes)?,
            time_us: natural(time).unwrap_or(0),
            list: match frames {
                Some(Value::List(list)) => list,
                _ => u32::MAX,
            },
        });
        Some(event)
    }

    /// What a reference to the memo stands for.
    #[inline]
    fn recalled(&self, at: &mut usize) -> Option<Value> {
        let index = reference(self.input, at)?;
        self.memo.get(index as usize).copied()
    }

    /// A number, a text, or two numbers as a pair.
    #[inline]
    fn value(&mut self, shortcut: &mut Shortcut, at: &mut usize) -> Option<Value> {
        let start = *at;
        let code = *self.input.get(start)?;
        match code {
            opcode::LONG_BINGET | opcode::BINGET => return self.recalled(at),
            opcode::SHORT_BINUNICODE => {
                let len = *self.input.get(start + 1)?;
                let text = Value::Text {
                    start: u32::try_from(start + 2).ok()?,
                    len: len.into(),
                };
                *at += 2 + usize::from(len);
                self.memoized(text, at)?;
                return Some(text);
            }
            opcode::NONE => {
                *at += 1;
                return Some(Value::None);
            }
            _ => {}
        }
        let first = number(self.input, at)?;
        let Some(second) = number(self.input, at) else {
            return Some(first);
        };
        if *self.input.get(*at)? != opcode::TUPLE2 {
            return None;
        }
        *at += 1;
        let here = Place {
            start,
            len: *at - start,
        };
        let pair = match shortcut.pair {
            Some((pair, place)) if self.opcodes(place) == self.opcodes(here) => {
                shortcut.n_saved += 2;
                pair
            }
            _ => {
                let pair = self.values.new_tuple(&[first, second]);
                shortcut.pair = Some((pair, here));
                pair
            }
        };
        self.memoized(pair, at)?;
        Some(pair)
    }

    /// Puts a value into the memo if that is what comes next.
    fn memoized(&mut self, value: Value, at: &mut usize) -> Option<()> {
        let is_memoized = *self.input.get(*at)? == opcode::MEMOIZE;
        if is_memoized {
            *at += 1;
            self.memo.push(value);
        }
        Some(())
    }

    /// A new list of what the memo held before the event, or the earlier list with the same items.
    #[inline]
    fn list(&mut self, shortcut: &mut Shortcut, at: &mut usize, n_memo: usize) -> Option<Value> {
        if *self.input.get(*at + 1)? != opcode::MEMOIZE {
            return None;
        }
        *at += 2;
        let is_filled = *self.input.get(*at)? == opcode::MARK;
        *at += usize::from(is_filled);
        let start = *at;
        let mut hash = 0u64;
        let mut n_items = 0;
        while is_filled && *self.input.get(*at)? != opcode::APPENDS {
            let index = reference(self.input, at)?;
            if index as usize >= n_memo {
                return None;
            }
            hash = (hash.rotate_left(5) ^ u64::from(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            n_items += 1;
        }
        let here = Place {
            start,
            len: *at - start,
        };
        *at += usize::from(is_filled);
        shortcut.n_saved += 1 + n_items;
        let known = shortcut.lists.find(self.input, here, hash);
        let list = if let Some(list) = known {
            list
        } else {
            let list = self.new_list(here)?;
            shortcut.lists.add(here, hash, list);
            list
        };
        self.memo.push(Value::List(list));
        Some(Value::List(list))
    }

    fn new_list(&mut self, place: Place) -> Option<u32> {
        let Value::List(list) = self.values.new_list() else {
            return None;
        };
        let mut at = place.start;
        let mut items = Vec::new();
        while at < place.start + place.len {
            items.push(self.recalled(&mut at)?);
        }
        self.values.append(list, &items);
        Some(list)
    }

    fn opcodes(&self, place: Place) -> &'a [u8] {
        self.input
            .get(place.start..place.start + place.len)
            .unwrap_or_default()
    }
}

#[inline]
fn reference(input: &[u8], at: &mut usize) -> Option<u32> {
    let rest = input.get(*at..)?;
    match rest {
        [opcode::LONG_BINGET, a, b, c, d, ..] => {
            *at += 5;
            Some(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        [opcode::BINGET, index, ..] => {
            *at += 2;
            Some(u32::from(*index))
        }
        _ => None,
    }
}

/// A whole number; torch writes addresses and times with eight bytes or fewer.
#[inline]
fn number(input: &[u8], at: &mut usize) -> Option<Value> {
    let rest = input.get(*at..)?;
    let (number, len) = match rest {
        [opcode::BININT1, a, ..] => (i64::from(*a), 2),
        [opcode::BININT2, a, b, ..] => (i64::from(u16::from_le_bytes([*a, *b])), 3),
        [opcode::BININT, a, b, c, d, ..] => (i64::from(i32::from_le_bytes([*a, *b, *c, *d])), 5),
        [opcode::LONG1, len @ 1..=8, bytes @ ..] => {
            let len = usize::from(*len);
            let bytes = bytes.get(..len)?;
            let filler = if bytes[len - 1] >= 0x80 { 0xff } else { 0 };
            let mut all = [filler; 8];
            all[..len].copy_from_slice(bytes);
            (i64::from_le_bytes(all), 2 + len)
        }
        _ => return None,
    };
    *at += len;
    Some(Value::Int(number))
}

#[inline]
fn is_same_text(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Text { start, len }, Value::Text { start: s, len: l }) => start == s && len == l,
        _ => false,
    }
}

/// Lists by the opcodes that fill them.
#[derive(Debug, Default)]
struct KnownLists {
    /// A power of two of places; each is empty or has where the opcodes are, their hash, and the list.
    slots: Vec<Option<(Place, u64, u32)>>,
    /// Those in the table: each may stand for several.
    shared: BTreeSet<u32>,
}

impl KnownLists {
    fn new(input_bytes: usize) -> Self {
        let n = (input_bytes / 512).next_power_of_two().clamp(16, 1 << 16);
        Self {
            slots: vec![None; n],
            shared: BTreeSet::new(),
        }
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().saturating_sub(1);
        let first = usize::try_from(hash >> 32).unwrap_or(0);
        (0..MAX_PROBES).map(move |step| (first + step) & mask)
    }

    fn find(&self, input: &[u8], here: Place, hash: u64) -> Option<u32> {
        let opcodes = |place: Place| input.get(place.start..place.start + place.len);
        for at in self.places(hash) {
            let (place, known, list) = (*self.slots.get(at)?)?;
            if known == hash && opcodes(place) == opcodes(here) {
                return Some(list);
            }
        }
        None
    }

    /// Keeps a list if there is room for it.
    fn add(&mut self, here: Place, hash: u64, list: u32) {
        let free = self
            .places(hash)
            .find(|at| matches!(self.slots.get(*at), Some(None)));
        if let Some(at) = free {
            self.slots[at] = Some((here, hash, list));
            self.shared.insert(list);
        }
    }
}

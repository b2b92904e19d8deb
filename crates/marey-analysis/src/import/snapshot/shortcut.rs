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

use super::known_lists::{KnownLists, Place};
use super::machine_state::{MAX_MARKS, MachineState};
use super::memory_event::Action;
use super::opcode;
use super::record::natural;
use super::values::{ShortEvent, Value, Values};

/// Keys of an event; torch writes 15.
const MAX_KEYS: usize = 32;

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
        self.lists.is_shared(list)
    }

    /// Learns the keys of a dictionary that was built, if it is an event.
    pub(super) fn learn(&mut self, values: &Values<'_>, pairs: &[Value]) {
        let first = pairs.first().and_then(|key| values.text_bytes(*key));
        if first != Some(b"action") || pairs.len() > 2 * MAX_KEYS {
            return;
        }
        let keys = pairs.chunks_exact(2).map(|pair| {
            let role = match values.text_bytes(pair[0]) {
                Some(b"action") => Role::Action,
                Some(b"addr") => Role::Address,
                Some(b"size") => Role::Bytes,
                Some(b"time_us") => Role::Time,
                Some(b"frames") => Role::Frames,
                _ => Role::Other,
            };
            (pair[0], role)
        });
        self.keys.clear();
        self.keys.extend(keys);
    }

    /// Reads a whole event whose `EMPTY_DICT` was just read. `None` when it is not as expected: then nothing has changed that can be seen.
    pub(super) fn event(&mut self, state: &mut MachineState<'_>) -> Option<Value> {
        let n_memo = state.memo.len();
        let mut at = state.at;
        let event = self.read_event(state, &mut at);
        if event.is_some() {
            state.at = at;
        } else {
            state.memo.truncate(n_memo);
        }
        event
    }

    fn read_event(&mut self, state: &mut MachineState<'_>, at: &mut usize) -> Option<Value> {
        if self.keys.is_empty() || state.marks.len() + 2 > MAX_MARKS {
            return None;
        }
        if state.input.get(*at..*at + 2)? != [opcode::MEMOIZE, opcode::MARK] {
            return None;
        }
        *at += 2;
        let event = state.values.next_event();
        let n_memo = state.memo.len();
        state.memo.push(event);
        let mut act = None;
        let (mut address, mut bytes, mut time, mut frames) = (None, None, None, None);
        let n_keys = self.keys.len();
        for key in 0..n_keys {
            let (key, role) = self.keys[key];
            if !is_same_text(Self::recalled(state, at)?, key) {
                return None;
            }
            let value = match state.input.get(*at)? {
                &opcode::EMPTY_LIST => self.list(state, at, n_memo)?,
                _ => self.value(state, at)?,
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
        if *state.input.get(*at)? != opcode::SETITEMS {
            return None;
        }
        *at += 1;
        let act = Action::of(state.values.text_bytes(act?)?)?;
        if matches!(act, Action::OutOfMemory | Action::Snapshot) {
            return None;
        }
        self.n_saved += 1 + n_keys;
        state.values.add_event(ShortEvent {
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
    fn recalled(state: &MachineState<'_>, at: &mut usize) -> Option<Value> {
        let index = reference(state.input, at)?;
        state.memo.get(index as usize).copied()
    }

    /// A number, a text, or two numbers as a pair.
    #[inline]
    fn value(&mut self, state: &mut MachineState<'_>, at: &mut usize) -> Option<Value> {
        let start = *at;
        let code = *state.input.get(start)?;
        match code {
            opcode::LONG_BINGET | opcode::BINGET => return Self::recalled(state, at),
            opcode::SHORT_BINUNICODE => {
                let len = *state.input.get(start + 1)?;
                let text = Value::Text { start: u32::try_from(start + 2).ok()?, len: len.into() };
                *at += 2 + usize::from(len);
                Self::memoized(state, text, at)?;
                return Some(text);
            }
            opcode::NONE => {
                *at += 1;
                return Some(Value::None);
            }
            _ => {}
        }
        let first = number(state.input, at)?;
        let Some(second) = number(state.input, at) else {
            return Some(first);
        };
        if *state.input.get(*at)? != opcode::TUPLE2 {
            return None;
        }
        *at += 1;
        let here = Place { start, len: *at - start };
        let pair = match self.pair {
            Some((pair, place)) if place.of(state.input) == here.of(state.input) => {
                self.n_saved += 2;
                pair
            }
            _ => {
                let pair = state.values.new_tuple(&[first, second]);
                self.pair = Some((pair, here));
                pair
            }
        };
        Self::memoized(state, pair, at)?;
        Some(pair)
    }

    /// Puts a value into the memo if that is what comes next.
    fn memoized(state: &mut MachineState<'_>, value: Value, at: &mut usize) -> Option<()> {
        let is_memoized = *state.input.get(*at)? == opcode::MEMOIZE;
        if is_memoized {
            *at += 1;
            state.memo.push(value);
        }
        Some(())
    }

    /// A new list of what the memo held before the event, or the earlier list with the same items.
    #[inline]
    fn list(
        &mut self,
        state: &mut MachineState<'_>,
        at: &mut usize,
        n_memo: usize,
    ) -> Option<Value> {
        if *state.input.get(*at + 1)? != opcode::MEMOIZE {
            return None;
        }
        *at += 2;
        let is_filled = *state.input.get(*at)? == opcode::MARK;
        *at += usize::from(is_filled);
        let start = *at;
        let mut hash = 0u64;
        let mut n_items = 0;
        while is_filled && *state.input.get(*at)? != opcode::APPENDS {
            let index = reference(state.input, at)?;
            if index as usize >= n_memo {
                return None;
            }
            hash = (hash.rotate_left(5) ^ u64::from(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            n_items += 1;
        }
        let here = Place { start, len: *at - start };
        *at += usize::from(is_filled);
        self.n_saved += 1 + n_items;
        let known = self.lists.find(state.input, here, hash);
        let list = if let Some(list) = known {
            list
        } else {
            let list = Self::new_list(state, here)?;
            self.lists.add(here, hash, list);
            list
        };
        state.memo.push(Value::List(list));
        Some(Value::List(list))
    }

    fn new_list(state: &mut MachineState<'_>, place: Place) -> Option<u32> {
        let Value::List(list) = state.values.new_list() else {
            return None;
        };
        let mut at = place.start;
        let mut items = Vec::new();
        while at < place.start + place.len {
            items.push(Self::recalled(state, &mut at)?);
        }
        state.values.append(list, &items);
        Some(list)
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

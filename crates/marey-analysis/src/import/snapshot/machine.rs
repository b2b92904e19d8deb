//! The machine that a pickle is a program for, without the opcodes that reach outside of it.

use super::error::SnapshotError;
use super::machine_state::{MAX_MARKS, MachineState};
use super::opcode;
use super::shortcut::Shortcut;
use super::values::{MAX_PARTS, Value, Values};

/// Values for any file; a longer file may have more.
const MIN_VALUES: usize = 1 << 20;
/// Bytes of whole numbers; addresses and times have 8.
const MAX_INTEGER_BYTES: u32 = 255;

/// Runs a pickle; returns what it built and the value that it ends with. With `is_short` events are not built but read as they come;
/// that fails for files in which somebody could tell.
///
/// Time is linear in the length of the input.
pub(super) fn run(input: &[u8], is_short: bool) -> Result<(Values<'_>, Value), SnapshotError> {
    if input.first() != Some(&opcode::PROTO) || !matches!(input.get(1), Some(2..=5)) {
        return Err(SnapshotError::NotAPickle);
    }
    let mut machine = Machine {
        state: MachineState::new(input, 2),
        offset: 2,
        max_values: MIN_VALUES + input.len() / 2,
        shortcut: is_short.then(|| Shortcut::new(input.len())),
    };
    let root = machine.run()?;
    Ok((machine.state.values, root))
}

struct Machine<'a> {
    state: MachineState<'a>,
    /// Where the current opcode is.
    offset: usize,
    max_values: usize,
    shortcut: Option<Shortcut>,
}

impl<'a> Machine<'a> {
    fn run(&mut self) -> Result<Value, SnapshotError> {
        loop {
            self.offset = self.state.at;
            let code = self.byte()?;
            match code {
                opcode::LONG_BINGET => {
                    let index = self.four()?;
                    self.recall(index)?;
                }
                opcode::BINGET => {
                    let index = self.byte()?.into();
                    self.recall(index)?;
                }
                opcode::MEMOIZE => self.memoize(None)?,
                opcode::BINPUT => {
                    let index = self.byte()?.into();
                    self.memoize(Some(index))?;
                }
                opcode::LONG_BINPUT => {
                    let index = self.four()?;
                    self.memoize(Some(index))?;
                }
                opcode::MARK => self.mark()?,
                opcode::SETITEMS | opcode::SETITEM => self.set_items(code == opcode::SETITEM)?,
                opcode::APPENDS | opcode::APPEND => self.append(code == opcode::APPEND)?,
                opcode::EMPTY_DICT => {
                    let event = self.shortcut.as_mut().and_then(|s| s.event(&mut self.state));
                    let dict = event.unwrap_or_else(|| self.state.values.new_dict());
                    self.push(dict)?;
                }
                opcode::EMPTY_LIST => {
                    let list = self.state.values.new_list();
                    self.push(list)?;
                }
                opcode::TUPLE => {
                    let from = self.pop_mark()?;
                    self.tuple(from)?;
                }
                opcode::EMPTY_TUPLE => self.tuple(self.state.stack.len())?,
                opcode::TUPLE1 | opcode::TUPLE2 | opcode::TUPLE3 => {
                    let from = self.below(usize::from(code - opcode::TUPLE1) + 1)?;
                    self.tuple(from)?;
                }
                opcode::STOP => return self.end(),
                opcode::FRAME => {
                    self.bytes(8)?;
                }
                opcode::PROTO => {
                    self.byte()?;
                }
                _ => {
                    let value = self.scalar(code)?;
                    self.push(value)?;
                }
            }
        }
    }

    /// A value that stands in the opcode itself.
    fn scalar(&mut self, code: u8) -> Result<Value, SnapshotError> {
        Ok(match code {
            opcode::BININT1 => Value::Int(self.byte()?.into()),
            opcode::BININT2 => Value::Int(u16::from_le_bytes(self.array()?).into()),
            opcode::BININT => Value::Int(i32::from_le_bytes(self.array()?).into()),
            opcode::LONG1 => {
                let len = self.byte()?.into();
                self.integer(len)?
            }
            opcode::LONG4 => {
                let len = self.four()?;
                self.integer(len)?
            }
            opcode::BINFLOAT => Value::Float(f64::from_be_bytes(self.array()?)),
            opcode::SHORT_BINUNICODE => {
                let len = self.byte()?.into();
                self.text(len)?
            }
            opcode::BINUNICODE => {
                let len = self.four()?.into();
                self.text(len)?
            }
            opcode::BINUNICODE8 => {
                let len = u64::from_le_bytes(self.array()?);
                self.text(len)?
            }
            opcode::NEWFALSE => Value::Bool(false),
            opcode::NEWTRUE => Value::Bool(true),
            opcode::NONE => Value::None,
            _ => return Err(self.refusal(code)),
        })
    }

    fn refusal(&self, code: u8) -> SnapshotError {
        let offset = self.offset;
        match opcode::refused(code) {
            Some((opcode, runs_code)) => SnapshotError::Refused { opcode, runs_code, offset },
            None => SnapshotError::Unknown { code, offset },
        }
    }

    /// Whole numbers are signed, lowest byte first.
    fn integer(&mut self, len: u32) -> Result<Value, SnapshotError> {
        if len > MAX_INTEGER_BYTES {
            return Err(self.limit("bytes in one number", MAX_INTEGER_BYTES as usize));
        }
        let bytes = self.bytes(u64::from(len))?;
        let Some(highest) = bytes.last() else {
            return Ok(Value::Int(0));
        };
        if bytes.len() > 8 {
            return Ok(Value::Huge);
        }
        let filler = if *highest >= 0x80 { 0xff } else { 0 };
        let mut all = [filler; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        Ok(Value::Int(i64::from_le_bytes(all)))
    }

    fn text(&mut self, len: u64) -> Result<Value, SnapshotError> {
        let text = self.bytes(len)?;
        let start = self.state.at - text.len();
        // The input is shorter than 2^32.
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Value::Text { start: place(start), len: place(text.len()) })
    }

    fn set_items(&mut self, is_single: bool) -> Result<(), SnapshotError> {
        let from = if is_single { self.below(2)? } else { self.pop_mark()? };
        let pairs = &self.state.stack[from..];
        if !pairs.len().is_multiple_of(2) {
            return Err(self.damaged("a key has no value"));
        }
        let Some(Value::Dict(dict)) = from.checked_sub(1).map(|at| self.state.stack[at]) else {
            return Err(self.damaged("keys are set in what is no dictionary"));
        };
        if !self.state.values.set_items(dict, pairs) {
            return Err(self.limit("parts of one dictionary", MAX_PARTS));
        }
        if let Some(shortcut) = &mut self.shortcut {
            shortcut.learn(&self.state.values, pairs);
        }
        self.state.stack.truncate(from);
        self.check_values()
    }

    fn append(&mut self, is_single: bool) -> Result<(), SnapshotError> {
        let from = if is_single { self.below(1)? } else { self.pop_mark()? };
        let Some(Value::List(list)) = from.checked_sub(1).map(|at| self.state.stack[at]) else {
            return Err(self.damaged("items are appended to what is no list"));
        };
        if self.shortcut.as_ref().is_some_and(|s| s.is_shared(list)) {
            return Err(self.damaged("items are appended to a list that stands for several"));
        }
        self.state.values.append(list, &self.state.stack[from..]);
        self.state.stack.truncate(from);
        self.check_values()
    }

    fn tuple(&mut self, from: usize) -> Result<(), SnapshotError> {
        let tuple = self.state.values.new_tuple(&self.state.stack[from..]);
        self.state.stack.truncate(from);
        self.push(tuple)
    }

    fn mark(&mut self) -> Result<(), SnapshotError> {
        if self.state.marks.len() >= MAX_MARKS {
            return Err(self.limit("nested values", MAX_MARKS));
        }
        self.state.marks.push(self.state.stack.len());
        Ok(())
    }

    /// Where in the stack the newest mark is; takes it away.
    fn pop_mark(&mut self) -> Result<usize, SnapshotError> {
        match self.state.marks.pop() {
            Some(mark) => Ok(mark),
            None => Err(self.damaged("a mark is missing")),
        }
    }

    /// Where in the stack the newest `count` values begin; they are above the newest mark.
    fn below(&self, count: usize) -> Result<usize, SnapshotError> {
        let floor = self.state.marks.last().copied().unwrap_or(0);
        let from = self.state.stack.len().checked_sub(count);
        from.filter(|from| *from >= floor).ok_or_else(|| self.damaged("a value is missing"))
    }

    fn push(&mut self, value: Value) -> Result<(), SnapshotError> {
        self.state.stack.push(value);
        self.check_values()
    }

    fn memoize(&mut self, index: Option<u32>) -> Result<(), SnapshotError> {
        let value = self.state.stack[self.below(1)?];
        let index = index.map_or(self.state.memo.len(), |index| index as usize);
        if index > self.state.memo.len() {
            return Err(self.damaged("the memo is not filled in order"));
        }
        if let Some(earlier) = self.state.memo.get_mut(index) {
            if self.shortcut.is_some() {
                // Lists that look alike would no longer be.
                return Err(self.damaged("the memo is changed"));
            }
            *earlier = value;
        } else {
            self.state.memo.push(value);
        }
        self.check_values()
    }

    fn recall(&mut self, index: u32) -> Result<(), SnapshotError> {
        match self.state.memo.get(index as usize) {
            Some(value) => self.push(*value),
            None => Err(self.damaged("the memo holds no such value")),
        }
    }

    fn end(&mut self) -> Result<Value, SnapshotError> {
        let root = self.state.stack[self.below(1)?];
        if self.state.marks.is_empty() { Ok(root) } else { Err(self.damaged("a mark is left")) }
    }

    fn check_values(&self) -> Result<(), SnapshotError> {
        let saved = self.shortcut.as_ref().map_or(0, |s| s.n_saved);
        let held =
            self.state.values.n_values() + self.state.stack.len() + self.state.memo.len() + saved;
        if held > self.max_values {
            return Err(self.limit("values for its length", self.max_values));
        }
        Ok(())
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, SnapshotError> {
        let Some(byte) = self.state.input.get(self.state.at) else {
            return Err(self.cut_off());
        };
        self.state.at += 1;
        Ok(*byte)
    }

    fn four(&mut self) -> Result<u32, SnapshotError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let found = self.state.input.get(self.state.at..).and_then(<[u8]>::first_chunk);
        let Some(bytes) = found else {
            return Err(self.cut_off());
        };
        self.state.at += N;
        Ok(*bytes)
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], SnapshotError> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let Some(bytes) = self.state.input[self.state.at..].get(..len) else {
            return Err(self.cut_off());
        };
        self.state.at += len;
        Ok(bytes)
    }

    fn cut_off(&self) -> SnapshotError {
        SnapshotError::CutOff { offset: self.offset }
    }

    fn damaged(&self, what: &'static str) -> SnapshotError {
        SnapshotError::Damaged { what, offset: self.offset }
    }

    fn limit(&self, what: &'static str, limit: usize) -> SnapshotError {
        SnapshotError::Limit { what, limit: limit as u64, offset: self.offset }
    }
}

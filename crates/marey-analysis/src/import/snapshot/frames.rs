//! Stacks of a snapshot: each frame and each stack once.

use std::collections::BTreeMap;

use super::record::{Record, natural};
use super::values::{Value, Values};

/// A place in a program. Texts are as they were in the process; not safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The function; empty when not known.
    pub name: String,
    /// The file; empty when not known.
    pub file: String,
    /// The line, from 1; `None` when not known.
    pub line: Option<u64>,
}

/// The frames of a stack, innermost first, as indices into [`super::Snapshot::frames`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack(pub Box<[u32]>);

/// Frames and stacks while a snapshot is read.
pub(super) struct Frames {
    record: Record<3>,
    places: BTreeMap<Frame, u32>,
    stacks: BTreeMap<Stack, u32>,
    /// By dictionary: its frame and 1, 0 while nobody has looked.
    frame_of_dict: Vec<u32>,
    /// By list: its stack and 2, 1 for an empty one, 0 while nobody has looked.
    stack_of_list: Vec<u32>,
}

impl Frames {
    pub(super) fn new(values: &Values<'_>) -> Self {
        Self {
            record: Record::new(["name", "filename", "line"], values),
            places: BTreeMap::new(),
            stacks: BTreeMap::new(),
            frame_of_dict: vec![0; values.n_dicts()],
            stack_of_list: vec![0; values.n_lists()],
        }
    }

    /// The stack that a list of frames is; `None` when it is empty or no list. A list is looked at once, however often it is used.
    pub(super) fn stack(&mut self, values: &Values<'_>, value: Option<Value>) -> Option<u32> {
        let value = value?;
        let Value::List(list) = value else {
            return None;
        };
        let known = self.stack_of_list[list as usize];
        if known > 0 {
            return known.checked_sub(2);
        }
        let frames = values.items(value)?;
        let frames: Vec<u32> = frames.filter_map(|f| self.frame(values, f)).collect();
        let stack = (!frames.is_empty()).then(|| {
            let next = number(self.stacks.len());
            *self.stacks.entry(Stack(frames.into())).or_insert(next)
        });
        self.stack_of_list[list as usize] = stack.map_or(1, |stack| stack + 2);
        stack
    }

    fn frame(&mut self, values: &Values<'_>, value: Value) -> Option<u32> {
        let Value::Dict(dict) = value else {
            return None;
        };
        let known = self.frame_of_dict[dict as usize];
        if known > 0 {
            return Some(known - 1);
        }
        let [name, file, line] = self.record.read(values, value);
        let text = |value: Option<Value>| {
            let text = value.and_then(|value| values.text(value));
            text.map(std::borrow::Cow::into_owned).unwrap_or_default()
        };
        let frame = Frame {
            name: text(name),
            file: text(file),
            line: natural(line).filter(|line| *line > 0),
        };
        let next = number(self.places.len());
        let frame = *self.places.entry(frame).or_insert(next);
        self.frame_of_dict[dict as usize] = frame + 1;
        Some(frame)
    }

    /// All frames and stacks, by their numbers.
    pub(super) fn finish(self) -> (Vec<Frame>, Vec<Stack>) {
        (in_order(self.places), in_order(self.stacks))
    }
}

fn in_order<T: Default + Clone>(numbered: BTreeMap<T, u32>) -> Vec<T> {
    let mut all = vec![T::default(); numbered.len()];
    for (thing, number) in numbered {
        all[number as usize] = thing;
    }
    all
}

/// A pickle has fewer than 2^31 values.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

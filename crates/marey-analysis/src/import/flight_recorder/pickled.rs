//! What a pickle built, as JSON.

use serde_json::{Map, Value as Json};

use crate::import::snapshot::values::{Value, Values};

/// How often each value may be used: a frame that calls share is one value, and is there in each of them.
const USES: usize = 16;
/// Values that any file may use.
const LEAST_USES: usize = 1 << 16;
/// So many bytes of a text count as a value more.
const TEXT_BYTES: usize = 8;
/// Lists and dictionaries within each other; a dump has six.
const MAX_DEPTH: usize = 8;
/// The innermost frames of a stack; others are left out.
const FRAMES: (&str, usize) = ("frames", 16);

/// A value and all that is in it; `None` where it holds the same values again and again, as no honest file does.
pub(super) fn json(values: &Values<'_>, root: Value) -> Option<Json> {
    let n_left = LEAST_USES.saturating_add(values.n_values().saturating_mul(USES));
    Pickled { values, n_left }.json(root, usize::MAX, MAX_DEPTH)
}

struct Pickled<'a> {
    values: &'a Values<'a>,
    n_left: usize,
}

impl Pickled<'_> {
    /// At most so many items of a list.
    fn json(&mut self, value: Value, most: usize, depth: usize) -> Option<Json> {
        let (values, deeper) = (self.values, depth.checked_sub(1)?);
        let text = values.text_bytes(value).map_or(0, |text| text.len() / TEXT_BYTES);
        self.n_left = self.n_left.checked_sub(1 + text)?;
        Some(match value {
            Value::Bool(value) => value.into(),
            Value::Int(value) => value.into(),
            Value::Float(value) => value.into(),
            Value::Text { .. } => values.text(value)?.into_owned().into(),
            Value::List(_) | Value::Tuple { .. } => {
                let mut items = values.items(value)?.take(most);
                items
                    .try_fold(Vec::new(), |mut list, item| {
                        list.push(self.json(item, usize::MAX, deeper)?);
                        Some(list)
                    })?
                    .into()
            }
            Value::Dict(dict) => {
                let parts = values.parts(dict);
                let pairs = parts.flat_map(|(shape, held)| values.keys(shape).iter().zip(held));
                let mut object = Map::new();
                for (key, value) in pairs {
                    let key = values.text(*key).unwrap_or_default().into_owned();
                    let most = if key == FRAMES.0 { FRAMES.1 } else { usize::MAX };
                    object.insert(key, self.json(*value, most, deeper)?);
                }
                object.into()
            }
            Value::None | Value::Huge | Value::Event(_) => Json::Null,
        })
    }
}

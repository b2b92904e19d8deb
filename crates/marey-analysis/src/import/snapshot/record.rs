//! Dictionaries read as records: the values of known keys, found once for each shape.

use super::values::{Value, Values};

/// Reads dictionaries with these keys; `N` is their number.
pub(in crate::import) struct Record<const N: usize> {
    keys: [&'static str; N],
    /// By shape: where each key is, 0 when it is missing, else its place and 1. `None` while nobody has looked.
    places: Vec<Option<[u32; N]>>,
}

impl<const N: usize> Record<N> {
    pub(in crate::import) fn new(keys: [&'static str; N], values: &Values<'_>) -> Self {
        Self { keys, places: vec![None; values.n_shapes()] }
    }

    /// The values of the keys; `None` for a key that is missing, and for all when it is no dictionary. Of a key that was set
    /// twice the later value counts.
    pub(in crate::import) fn read(
        &mut self,
        values: &Values<'_>,
        value: Value,
    ) -> [Option<Value>; N] {
        let mut found = [None; N];
        let Some(dict) = values.dict(value) else {
            return found;
        };
        for (shape, held) in values.parts(dict) {
            let places = self.places(values, shape);
            for (found, place) in found.iter_mut().zip(places) {
                let value = (place as usize).checked_sub(1).and_then(|place| held.get(place));
                if let Some(value) = value {
                    *found = Some(*value);
                }
            }
        }
        found
    }

    fn places(&mut self, values: &Values<'_>, shape: u32) -> [u32; N] {
        if let Some(Some(known)) = self.places.get(shape as usize) {
            return *known;
        }
        let mut places = [0; N];
        for (place, key) in (1..).zip(values.keys(shape)) {
            let text = values.text_bytes(*key);
            let wanted = self.keys.iter().position(|k| Some(k.as_bytes()) == text);
            if let Some(wanted) = wanted {
                places[wanted] = place;
            }
        }
        if let Some(slot) = self.places.get_mut(shape as usize) {
            *slot = Some(places);
        }
        places
    }
}

/// A whole number that is not negative.
pub(super) fn natural(value: Option<Value>) -> Option<u64> {
    match value? {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

/// A whole number.
pub(super) fn whole(value: Option<Value>) -> Option<i64> {
    match value? {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

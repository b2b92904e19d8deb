//! What a pickle built, for serde.

use std::borrow::Cow;
use std::cell::Cell;

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::import::snapshot::values::{Value, Values};

/// How often each value may be visited: a frame that calls share is one value, and is looked at with each of them.
const VISITS: usize = 16;
/// Visits that any file may have.
const LEAST_VISITS: usize = 1 << 16;
/// So many bytes of a text are a visit more.
const TEXT_BYTES: usize = 8;

/// A value of a pickle.
#[derive(Clone, Copy)]
pub(super) struct Pickled<'de> {
    values: &'de Values<'de>,
    value: Value,
    /// Visits that are left. A file that refers to the same values again and again would never end.
    budget: &'de Cell<usize>,
}

impl<'de> Pickled<'de> {
    /// Visits for all values together.
    pub(super) fn budget(values: &Values<'_>) -> Cell<usize> {
        Cell::new(LEAST_VISITS.saturating_add(values.n_values().saturating_mul(VISITS)))
    }

    pub(super) fn new(values: &'de Values<'de>, value: Value, budget: &'de Cell<usize>) -> Self {
        Self { values, value, budget }
    }

    fn spend(&self) -> Result<(), Error> {
        let text = self.values.text_bytes(self.value).map_or(0, |text| text.len() / TEXT_BYTES);
        let left = self.budget.get().checked_sub(1 + text);
        let left = left.ok_or_else(|| Error::custom("it has the same values too often"))?;
        self.budget.set(left);
        Ok(())
    }
}

impl<'de> Deserializer<'de> for Pickled<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.spend()?;
        let of = |value: Value| Self { value, ..self };
        match self.value {
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => visitor.visit_i64(value),
            Value::Float(value) => visitor.visit_f64(value),
            Value::Text { .. } => match self.values.text(self.value).unwrap_or_default() {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Value::List(_) | Value::Tuple { .. } => {
                let items = self.values.items(self.value).into_iter().flatten();
                visitor.visit_seq(SeqDeserializer::new(items.map(of)))
            }
            Value::Dict(dict) => {
                let parts = self.values.parts(dict);
                let pairs =
                    parts.flat_map(|(shape, held)| self.values.keys(shape).iter().zip(held));
                let pairs = pairs.map(|(key, value)| (of(*key), of(*value)));
                visitor.visit_map(MapDeserializer::new(pairs))
            }
            Value::None | Value::Huge | Value::Event(_) => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::None | Value::Huge => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.spend()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct enum identifier
    }
}

impl<'de> IntoDeserializer<'de, Error> for Pickled<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

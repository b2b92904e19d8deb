//! A column: its name, what it means, and where its values come from.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field};

/// What a column is, for documents and for those who look for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Its name.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnType,
    /// `ns`, `B`, `1`; empty for what has none.
    pub unit: &'static str,
    /// What a value means.
    pub about: &'static str,
    /// When a value is null; empty for never.
    pub null_when: &'static str,
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number of 64 bits with a sign.
    Integer,
    /// A number of 64 bits; never NaN or infinite.
    Real,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

impl ColumnType {
    /// As SQL calls it.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Integer => "bigint",
            Self::Real => "double",
            Self::Flag => "boolean",
            Self::Text => "string",
        }
    }

    fn arrow(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Real => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Text => DataType::Utf8,
        }
    }
}

impl ColumnFacts {
    /// Any value may be null: also a number that has no place.
    pub(super) fn field(&self) -> Field {
        Field::new(self.name, self.kind.arrow(), true)
    }
}

/// A column of rows of type `R`.
pub(super) struct Column<R> {
    pub(super) facts: ColumnFacts,
    get: Get<R>,
}

/// Where values come from.
enum Get<R> {
    Number(fn(&R) -> Option<u64>),
    Real(fn(&R) -> Option<f64>),
    Flag(fn(&R) -> Option<bool>),
    Text(for<'r> fn(&'r R) -> Option<&'r str>),
    Made(fn(&R) -> Option<String>),
}

impl<R> Column<R> {
    fn new(name: &'static str, kind: ColumnType, about: &'static str, get: Get<R>) -> Self {
        let facts = ColumnFacts {
            name,
            kind,
            unit: "",
            about,
            null_when: "",
        };
        Self { facts, get }
    }

    /// Numbers; those beyond 63 bits are null.
    pub(super) fn number(
        name: &'static str,
        about: &'static str,
        get: fn(&R) -> Option<u64>,
    ) -> Self {
        Self::new(name, ColumnType::Integer, about, Get::Number(get))
    }

    /// Numbers with a fraction; those that are not finite are null.
    pub(super) fn real(
        name: &'static str,
        about: &'static str,
        get: fn(&R) -> Option<f64>,
    ) -> Self {
        Self::new(name, ColumnType::Real, about, Get::Real(get))
    }

    pub(super) fn flag(
        name: &'static str,
        about: &'static str,
        get: fn(&R) -> Option<bool>,
    ) -> Self {
        Self::new(name, ColumnType::Flag, about, Get::Flag(get))
    }

    pub(super) fn text(
        name: &'static str,
        about: &'static str,
        get: for<'r> fn(&'r R) -> Option<&'r str>,
    ) -> Self {
        Self::new(name, ColumnType::Text, about, Get::Text(get))
    }

    /// Texts that are made for the table.
    pub(super) fn made(
        name: &'static str,
        about: &'static str,
        get: fn(&R) -> Option<String>,
    ) -> Self {
        Self::new(name, ColumnType::Text, about, Get::Made(get))
    }

    /// The unit of its values.
    pub(super) fn in_unit(mut self, unit: &'static str) -> Self {
        self.facts.unit = unit;
        self
    }

    /// When a value is null.
    pub(super) fn null(mut self, when: &'static str) -> Self {
        self.facts.null_when = when;
        self
    }

    /// The values of these rows. `n_too_large` grows by the numbers that have no place.
    pub(super) fn values(&self, rows: &[R], n_too_large: &mut u64) -> Result<ArrayRef, ArrowError> {
        Ok(match &self.get {
            Get::Number(get) => Arc::new(integers(rows.iter().map(get), n_too_large)?),
            Get::Real(get) => Arc::new(reals(rows.iter().map(get))?),
            Get::Flag(get) => Arc::new(rows.iter().map(get).collect::<BooleanArray>()),
            Get::Text(get) => Arc::new(texts(rows.iter().map(get))?),
            Get::Made(get) => Arc::new(texts(rows.iter().map(get))?),
        })
    }
}

/// Integers of 64 bits with a sign.
pub(super) fn integers(
    numbers: impl ExactSizeIterator<Item = Option<u64>>,
    n_too_large: &mut u64,
) -> Result<Int64Array, ArrowError> {
    let mut nulls = NullBufferBuilder::new(numbers.len());
    let mut values: Vec<i64> = Vec::with_capacity(numbers.len());
    for number in numbers {
        let value = number.map(i64::try_from);
        *n_too_large += u64::from(matches!(value, Some(Err(_))));
        let value = value.and_then(Result::ok);
        values.push(value.unwrap_or(0));
        nulls.append(value.is_some());
    }
    Int64Array::try_new(ScalarBuffer::from(values), nulls.finish())
}

fn reals(numbers: impl ExactSizeIterator<Item = Option<f64>>) -> Result<Float64Array, ArrowError> {
    let mut nulls = NullBufferBuilder::new(numbers.len());
    let mut values: Vec<f64> = Vec::with_capacity(numbers.len());
    for number in numbers {
        let value = number.filter(|value| value.is_finite());
        values.push(value.unwrap_or(0.0));
        nulls.append(value.is_some());
    }
    Float64Array::try_new(ScalarBuffer::from(values), nulls.finish())
}

/// Texts, one after the other in one buffer.
///
/// # Errors
/// When they have more than 2 GiB together; rows are too few for that.
pub(super) fn texts<T: AsRef<str>>(
    texts: impl ExactSizeIterator<Item = Option<T>>,
) -> Result<StringArray, ArrowError> {
    let mut nulls = NullBufferBuilder::new(texts.len());
    let mut offsets: Vec<i32> = Vec::with_capacity(texts.len() + 1);
    let mut bytes: Vec<u8> = Vec::new();
    offsets.push(0);
    for text in texts {
        if let Some(text) = &text {
            bytes.extend_from_slice(text.as_ref().as_bytes());
        }
        let end = i32::try_from(bytes.len());
        offsets.push(end.map_err(|_| ArrowError::OffsetOverflowError(bytes.len()))?);
        nulls.append(text.is_some());
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls.finish())
}

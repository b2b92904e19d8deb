//! A column: its name, what it means, and where its values come from.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};

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

type Number<R> = fn(&R) -> Option<u64>;
type Real<R> = fn(&R) -> Option<f64>;
type Flag<R> = fn(&R) -> Option<bool>;
type Text<R> = for<'r> fn(&'r R) -> Option<&'r str>;

/// Where values come from.
enum Get<R> {
    Number(Number<R>),
    Real(Real<R>),
    Flag(Flag<R>),
    Text(Text<R>),
    Made(fn(&R) -> Option<String>),
}

/// Columns, one a line or two: a function of [`Column`] with the name and what a value means, when a value is null, and the value
/// of a row.
macro_rules! columns {
    ($row:ident: $of:ty; $($kind:ident($($fact:expr),*) $(in $unit:literal)? $(null $when:literal)? => $value:expr;)*) => {
        vec![$($crate::parquet::column::Column::$kind($($fact,)* |$row: &$of| $value)$(.in_unit($unit))?$(.null($when))?),*]
    };
}
pub(super) use columns;

impl<R> Column<R> {
    fn new(name: &'static str, kind: ColumnType, about: &'static str, get: Get<R>) -> Self {
        let facts = ColumnFacts { name, kind, unit: "", about, null_when: "" };
        Self { facts, get }
    }

    /// Numbers; those beyond 63 bits are null.
    pub(super) fn number(name: &'static str, about: &'static str, get: Number<R>) -> Self {
        Self::new(name, ColumnType::Integer, about, Get::Number(get))
    }

    /// Nanoseconds.
    pub(super) fn ns(name: &'static str, about: &'static str, get: Number<R>) -> Self {
        Self::number(name, about, get).in_unit("ns")
    }

    pub(super) fn bytes(name: &'static str, about: &'static str, get: Number<R>) -> Self {
        Self::number(name, about, get).in_unit("B")
    }

    /// How many.
    pub(super) fn count(name: &'static str, about: &'static str, get: Number<R>) -> Self {
        Self::number(name, about, get).in_unit("1")
    }

    /// Numbers with a fraction; those that are not finite are null.
    pub(super) fn real(name: &'static str, about: &'static str, get: Real<R>) -> Self {
        Self::new(name, ColumnType::Real, about, Get::Real(get))
    }

    pub(super) fn flag(name: &'static str, about: &'static str, get: Flag<R>) -> Self {
        Self::new(name, ColumnType::Flag, about, Get::Flag(get))
    }

    pub(super) fn text(name: &'static str, about: &'static str, get: Text<R>) -> Self {
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
    pub(super) fn values(&self, rows: &[R], n_too_large: &mut u64) -> ArrayRef {
        match &self.get {
            Get::Number(get) => Arc::new(integers(rows.iter().map(get), n_too_large)),
            Get::Real(get) => {
                let finite = |row: &R| get(row).filter(|value| value.is_finite());
                Arc::new(rows.iter().map(finite).collect::<Float64Array>())
            }
            Get::Flag(get) => Arc::new(rows.iter().map(get).collect::<BooleanArray>()),
            Get::Text(get) => Arc::new(rows.iter().map(get).collect::<StringArray>()),
            Get::Made(get) => Arc::new(rows.iter().map(get).collect::<StringArray>()),
        }
    }
}

/// Columns that several tables have with one meaning: when it was, in which thread and section, for whom.
impl<R> Column<R> {
    pub(super) fn at_unix_ns(get: Number<R>) -> Self {
        Self::unix_ns("at_unix_ns", "when, on the wall clock, since 1970", get)
    }

    /// A moment on the wall clock, which is not known where the start of the process is not.
    pub(super) fn unix_ns(name: &'static str, about: &'static str, get: Number<R>) -> Self {
        Self::ns(name, about, get).null("the start of the process is not known")
    }

    pub(super) fn at_ns(get: Number<R>) -> Self {
        Self::ns("at_ns", "when, since the start of the process", get)
    }

    pub(super) fn thread(get: Number<R>) -> Self {
        Self::number("thread", "its thread, by number in the process", get)
    }

    pub(super) fn node(get: Number<R>) -> Self {
        Self::number("node", "its call path, by number in the process", get)
    }

    pub(super) fn path(get: Text<R>) -> Self {
        let about = "names from the outermost section to this one, as in `sections`";
        Self::text("path", about, get)
    }

    /// Of what the program recorded for a session.
    pub(super) fn recorded_for(get: Text<R>) -> Self {
        Self::text("session", "name of the session that it was recorded for", get)
            .null("it was recorded for none")
    }

    /// Of what is found to lie in a session.
    pub(super) fn belongs_to(get: Text<R>) -> Self {
        Self::text("session", "name of the session that it belongs to", get)
            .null("it belongs to none, or it is not known to which")
    }
}

/// Integers of 64 bits with a sign.
pub(super) fn integers(
    numbers: impl Iterator<Item = Option<u64>>,
    n_too_large: &mut u64,
) -> Int64Array {
    let values = numbers.map(|number| {
        let value = number.map(i64::try_from);
        *n_too_large += u64::from(matches!(value, Some(Err(_))));
        value.and_then(Result::ok)
    });
    values.collect()
}

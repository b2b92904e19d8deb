//! Objects of a document: keys with their values, each written once and in this order, and what the schema says of them.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// An object of JSON whose values are given where it is made, with what is said of each key above it. A key with `?` is left out where its
/// value is `None`; `..` puts the keys of another object in its place. An object with a name is described once in the schema, under that
/// name; others where they stand.
///
/// ```text
/// object! {
///     /// Calls of one name.
///     struct Calls;
///     /// As the program named it.
///     name: &row.name,
///     ..calls(&row.calls),
///     /// Absent without a GPU.
///     gpu?: gpu,
/// }
/// ```
macro_rules! object {
    ($(#[doc = $text:literal])* struct $name:ident; $($fields:tt)*) => {
        $crate::json::object::Object(
            $crate::json::object::fields!($($fields)*),
            $crate::json::object::described!($name, [$($text)*]),
        )
    };
    ($($fields:tt)*) => {
        $crate::json::object::Object($crate::json::object::fields!($($fields)*), ::std::marker::PhantomData::<()>)
    };
}
pub(crate) use object;

macro_rules! fields {
    () => { () };
    (..$object:expr $(, $($rest:tt)*)?) => {
        ($object, $crate::json::object::fields!($($($rest)*)?))
    };
    ($(#[doc = $text:literal])* $key:ident: $value:expr $(, $($rest:tt)*)?) => {
        (
            $crate::json::object::Field($crate::json::object::described!($key, [$($text)*]), $value),
            $crate::json::object::fields!($($($rest)*)?),
        )
    };
    ($(#[doc = $text:literal])* $key:ident?: $value:expr $(, $($rest:tt)*)?) => {
        (
            $crate::json::object::maybe($crate::json::object::described!($key, [$($text)*]), $value),
            $crate::json::object::fields!($($($rest)*)?),
        )
    };
}
pub(crate) use fields;

/// A type that stands for a name and what is said of it.
macro_rules! described {
    ($name:ident, [$($text:literal)*]) => {{
        struct Here;
        impl $crate::json::object::Described for Here {
            const NAME: &'static str = stringify!($name);
            const TEXT: &'static str = concat!($($text, "\n"),*);
        }
        ::std::marker::PhantomData::<Here>
    }};
}
pub(crate) use described;

/// Something that can be written to JSON and of which a schema can be made.
pub(crate) trait Json: Serialize + JsonSchema {}

impl<T: Serialize + JsonSchema> Json for T {}

/// A name and what is said of it.
pub(crate) trait Described {
    /// A key, or the name of a definition; empty of an object that is described where it stands.
    const NAME: &'static str;
    /// Lines of its doc comment.
    const TEXT: &'static str;
}

impl Described for () {
    const NAME: &'static str = "";
    const TEXT: &'static str = "";
}

/// What [`object!`] makes.
pub(crate) struct Object<T, N = ()>(pub(crate) T, pub(crate) PhantomData<N>);

/// A key and its value.
pub(crate) struct Field<K, T>(pub(crate) PhantomData<K>, pub(crate) T);

/// The same, left out without a value.
pub(crate) fn maybe<K, T>(key: PhantomData<K>, value: Option<T>) -> Option<Field<K, T>> {
    value.map(|value| Field(key, value))
}

/// Something that adds keys to an object.
pub(crate) trait Fields {
    /// Writes them.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Says what their values are.
    fn describe(generator: &mut SchemaGenerator, known: &mut Properties);
}

/// What is known of the keys of an object.
#[derive(Default)]
pub(crate) struct Properties {
    schemas: Map<String, Value>,
    required: Vec<Value>,
}

impl Properties {
    fn add<K: Described, T: JsonSchema>(&mut self, generator: &mut SchemaGenerator) {
        let mut schema = generator.subschema_for::<T>();
        describe::<K>(&mut schema);
        self.schemas.insert(K::NAME.into(), schema.to_value());
    }
}

fn describe<K: Described>(schema: &mut Schema) {
    let text = K::TEXT.trim();
    if !text.is_empty() {
        schema.insert("description".into(), text.into());
    }
}

impl<T: Fields, N> Serialize for Object<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.write(&mut map)?;
        map.end()
    }
}

impl<T: Fields, N: Described> JsonSchema for Object<T, N> {
    fn inline_schema() -> bool {
        N::NAME.is_empty()
    }

    fn schema_name() -> Cow<'static, str> {
        N::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut known = Properties::default();
        T::describe(generator, &mut known);
        let mut schema = schemars::json_schema!({
            "type": "object",
            "properties": known.schemas,
            "required": known.required,
        });
        describe::<N>(&mut schema);
        schema
    }
}

impl<T: Fields, N> Fields for Object<T, N> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)
    }

    fn describe(generator: &mut SchemaGenerator, known: &mut Properties) {
        T::describe(generator, known);
    }
}

impl<T: Fields> Fields for Option<T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|object| object.write(map))
    }

    fn describe(generator: &mut SchemaGenerator, known: &mut Properties) {
        let n_required = known.required.len();
        T::describe(generator, known);
        known.required.truncate(n_required);
    }
}

impl<K: Described, T: Json> Fields for Field<K, T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(K::NAME, &self.1)
    }

    fn describe(generator: &mut SchemaGenerator, known: &mut Properties) {
        known.add::<K, T>(generator);
        known.required.push(K::NAME.into());
    }
}

impl Fields for () {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    fn describe(_: &mut SchemaGenerator, _: &mut Properties) {}
}

impl<A: Fields, B: Fields> Fields for (A, B) {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)?;
        self.1.write(map)
    }

    fn describe(generator: &mut SchemaGenerator, known: &mut Properties) {
        A::describe(generator, known);
        B::describe(generator, known);
    }
}

//! Objects of a document: keys with their values, each written once and in this order.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// An object of JSON whose values are given where it is made. A key with `?` is left out where its value is `None`; `..` puts the keys of
/// another object in its place.
///
/// ```text
/// object! { name: &row.name, ..calls(&row.calls), gpu?: gpu }
/// ```
macro_rules! object {
    ($($fields:tt)*) => { $crate::json::object::Object($crate::json::object::fields!($($fields)*)) };
}
pub(crate) use object;

macro_rules! fields {
    () => { () };
    (..$object:expr $(, $($rest:tt)*)?) => {
        ($object, $crate::json::object::fields!($($($rest)*)?))
    };
    ($key:ident: $value:expr $(, $($rest:tt)*)?) => {
        ($crate::json::object::Field(stringify!($key), $value), $crate::json::object::fields!($($($rest)*)?))
    };
    ($key:ident?: $value:expr $(, $($rest:tt)*)?) => {
        ($crate::json::object::MaybeField(stringify!($key), $value), $crate::json::object::fields!($($($rest)*)?))
    };
}
pub(crate) use fields;

/// What [`object!`] makes.
pub(crate) struct Object<T>(pub(crate) T);

/// A key and its value.
pub(crate) struct Field<T>(pub(crate) &'static str, pub(crate) T);

/// The same, left out without a value.
pub(crate) struct MaybeField<T>(pub(crate) &'static str, pub(crate) Option<T>);

/// Something that adds keys to an object.
pub(crate) trait Fields {
    /// Writes them.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl<T: Fields> Serialize for Object<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.write(&mut map)?;
        map.end()
    }
}

impl<T: Fields> Fields for Object<T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)
    }
}

impl<T: Fields> Fields for Option<T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|object| object.write(map))
    }
}

impl<T: Serialize> Fields for Field<T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(self.0, &self.1)
    }
}

impl<T: Serialize> Fields for MaybeField<T> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.1
            .iter()
            .try_for_each(|value| map.serialize_entry(self.0, value))
    }
}

impl Fields for () {
    fn write<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<A: Fields, B: Fields> Fields for (A, B) {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.write(map)?;
        self.1.write(map)
    }
}

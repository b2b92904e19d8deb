//! A serializer that hands everything on to another one, but for what is beyond the limit of a list.

use std::cell::RefCell;
use std::fmt::Display;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::{Cuts, note, of_session};

/// Lists by time: what is kept of them is spread evenly. Of others the first entries are kept, because those come first that
/// matter most.
const BY_TIME: [&str; 7] = [
    "series",
    "timeline",
    "cpu_timeline",
    "cache_timeline",
    "events",
    "labelled",
    "points",
];

/// Without a parent a call path would stand in a wrong place, so they are kept whatever the limit: as many as a recorder tells
/// apart unless it is told to tell more.
const CALL_PATHS: [&str; 2] = ["sections", "tree"];
pub(in crate::html) const MAX_CALL_PATHS: usize = 4_096;

/// Where a value stands.
#[derive(Debug)]
pub(super) struct Path<'a> {
    around: Option<&'a Path<'a>>,
    name: &'static str,
}

impl Path<'_> {
    pub(super) const ROOT: Path<'static> = Path {
        around: None,
        name: "",
    };

    fn names(&self) -> Vec<&'static str> {
        let upwards = std::iter::successors(Some(self), |path| path.around);
        let mut names: Vec<&str> = upwards.map(|path| path.name).collect();
        names.reverse();
        names.remove(0);
        names
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a Path<'a>,
    limit: usize,
    cuts: &'a RefCell<Cuts>,
}

impl Place<'_> {
    fn within<R>(self, name: &'static str, use_it: impl FnOnce(Place<'_>) -> R) -> R {
        let path = Path {
            around: Some(self.path),
            name,
        };
        use_it(Place {
            path: &path,
            ..self
        })
    }

    /// Entries of a list here.
    fn most(self) -> usize {
        let names = self.path.names();
        if names == CALL_PATHS {
            return self.limit.max(MAX_CALL_PATHS);
        }
        match names.iter().position(|name| *name == "sessions") {
            Some(depth) if depth + 1 == names.len() => (self.limit / 4).max(4),
            Some(_) => of_session(self.limit),
            None => self.limit,
        }
    }

    fn is_by_time(self) -> bool {
        BY_TIME.contains(&self.path.name)
    }
}

/// Hands a value on.
pub(super) struct Bounded<'a, S> {
    inner: S,
    place: Place<'a>,
}

impl<'a, S> Bounded<'a, S> {
    pub(super) fn new(inner: S, path: &'a Path<'a>, limit: usize, cuts: &'a RefCell<Cuts>) -> Self {
        Self {
            inner,
            place: Place { path, limit, cuts },
        }
    }
}

/// A value at its place.
struct At<'a, T: ?Sized> {
    value: &'a T,
    place: Place<'a>,
}

impl<T: Serialize + ?Sized> Serialize for At<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Bounded {
            inner: serializer,
            place: self.place,
        })
    }
}

/// A list, or what is written like one.
pub(super) struct List<'a, L> {
    inner: L,
    place: Place<'a>,
    /// Entries, where that is known before.
    length: Option<usize>,
    most: usize,
    met: usize,
    kept: usize,
}

impl<'a, L> List<'a, L> {
    fn new(inner: L, place: Place<'a>, length: Option<usize>) -> Self {
        Self {
            inner,
            place,
            length,
            most: place.most(),
            met: 0,
            kept: 0,
        }
    }

    /// Whether the next entry is kept.
    fn keeps_next(&mut self) -> bool {
        let is_kept = match self.length {
            // The entry after which the next of `most` even stretches begins.
            Some(length) if length > self.most && self.place.is_by_time() => {
                self.kept * length <= self.met * self.most && self.kept < self.most
            }
            _ => self.met < self.most,
        };
        self.met += 1;
        self.kept += usize::from(is_kept);
        is_kept
    }

    fn note(&self) {
        if self.kept < self.met {
            let list = self.place.path.names().join(".");
            note(
                &mut self.place.cuts.borrow_mut(),
                &list,
                self.kept,
                self.met,
            );
        }
    }
}

macro_rules! hand_on {
    ($($method:ident($($value:ident: $type:ty),*);)*) => {$(
        fn $method(self, $($value: $type),*) -> Result<S::Ok, S::Error> {
            self.inner.$method($($value),*)
        }
    )*};
}

impl<'a, S: Serializer> Serializer for Bounded<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = List<'a, S::SerializeSeq>;
    type SerializeTuple = Fields<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Fields<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Fields<'a, S::SerializeTupleVariant>;
    type SerializeMap = Entries<'a, S::SerializeMap>;
    type SerializeStruct = Fields<'a, S::SerializeStruct>;
    type SerializeStructVariant = Fields<'a, S::SerializeStructVariant>;

    hand_on! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_f32(value: f32);
        serialize_f64(value: f64);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let place = self.place;
        self.inner.serialize_some(&At { value, place })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let place = self.place;
        self.inner
            .serialize_newtype_struct(name, &At { value, place })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.place.within(variant, |place| {
            let value = At { value, place };
            self.inner
                .serialize_newtype_variant(name, index, variant, &value)
        })
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        // Text formats need no length; the one that is known before may be too large.
        let inner = self.inner.serialize_seq(None)?;
        Ok(List::new(inner, self.place, length))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let inner = self.inner.serialize_map(None)?;
        Ok(Entries {
            list: List::new(inner, self.place, None),
            is_kept: true,
        })
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        let inner = self.inner.serialize_tuple(length)?;
        Ok(Fields::new(inner, self.place))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let inner = self.inner.serialize_tuple_struct(name, length)?;
        Ok(Fields::new(inner, self.place))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let inner = self
            .inner
            .serialize_tuple_variant(name, index, variant, length)?;
        Ok(Fields::new(inner, self.place))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let inner = self.inner.serialize_struct(name, length)?;
        Ok(Fields::new(inner, self.place))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let inner = self
            .inner
            .serialize_struct_variant(name, index, variant, length)?;
        Ok(Fields::new(inner, self.place))
    }
}

impl<L: SerializeSeq> SerializeSeq for List<'_, L> {
    type Ok = L::Ok;
    type Error = L::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), L::Error> {
        if !self.keeps_next() {
            return Ok(());
        }
        let inner = &mut self.inner;
        self.place
            .within("*", |place| inner.serialize_element(&At { value, place }))
    }

    fn end(self) -> Result<L::Ok, L::Error> {
        self.note();
        self.inner.end()
    }
}

/// Keys and values.
pub(super) struct Entries<'a, M> {
    list: List<'a, M>,
    is_kept: bool,
}

impl<M: SerializeMap> SerializeMap for Entries<'_, M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), M::Error> {
        self.is_kept = self.list.keeps_next();
        if self.is_kept {
            self.list.inner.serialize_key(key)
        } else {
            Ok(())
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        if !self.is_kept {
            return Ok(());
        }
        let inner = &mut self.list.inner;
        self.list
            .place
            .within("*", |place| inner.serialize_value(&At { value, place }))
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.list.note();
        self.list.inner.end()
    }
}

/// Fields: all are kept.
pub(super) struct Fields<'a, F> {
    inner: F,
    place: Place<'a>,
}

impl<'a, F> Fields<'a, F> {
    fn new(inner: F, place: Place<'a>) -> Self {
        Self { inner, place }
    }
}

macro_rules! fields {
    ($($trait:ident $method:ident $(($key:ident))?;)*) => {$(
        impl<F: $trait> $trait for Fields<'_, F> {
            type Ok = F::Ok;
            type Error = F::Error;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), F::Error> {
                let inner = &mut self.inner;
                let name = ["*" $(, $key)?];
                self.place.within(name[name.len() - 1], |place| {
                    inner.$method($($key,)? &At { value, place })
                })
            }

            fn end(self) -> Result<F::Ok, F::Error> {
                self.inner.end()
            }
        }
    )*};
}

fields! {
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
    SerializeStruct serialize_field(key);
    SerializeStructVariant serialize_field(key);
}

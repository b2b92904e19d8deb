//! The codec of notes and of the blocks of a capture: what has a form in bytes, written and read by one description.

use crate::value::Value;

/// Texts in notes are cut here.
pub(crate) const MAX_TEXT_BYTES: usize = 8 << 10;

/// What has a form in bytes. A form only ever grows at its end: what older versions wrote is read for good.
pub(crate) trait Wire: Sized {
    /// Appends it to a payload.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes it from the front of a payload; `None` when there is none, or one that makes no sense.
    fn take(from: &mut Decoder<'_>) -> Option<Self>;
}

/// The form of a struct is its fields, in the order given here; that of an enum is the variant's code, of one byte, and its fields.
/// What `..` stands for at the end of a struct is not written, and has its default.
/// A field `= value` has that value in notes of older captures, which end before it.
macro_rules! wire {
    (struct $type:ident { $($field:ident $(= $older:expr)?,)* .. }) => {
        wire!(@struct $type { $($field $(= $older)?),* } ..Self::default());
    };
    (struct $type:ident { $($field:ident $(= $older:expr)?),* $(,)? }) => {
        wire!(@struct $type { $($field $(= $older)?),* });
    };
    (@struct $type:ident { $($field:ident $(= $older:expr)?),* } $($rest:tt)*) => {
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(from: &mut Decoder<'_>) -> Option<Self> {
                $(let $field = Wire::take(from)$(.or(Some($older)))??;)*
                Some(Self { $($field,)* $($rest)* })
            }
        }
    };
    (enum $type:ident {
        $($code:literal $variant:ident $(($($inner:ident),+))? $({ $($field:ident $(= $older:expr)?),* })?),* $(,)?
    }) => {
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($inner),+))? $({ $($field),* })? => {
                        out.push($code);
                        $($($inner.put(out);)+)?
                        $($($field.put(out);)*)?
                    })*
                }
            }

            fn take(from: &mut Decoder<'_>) -> Option<Self> {
                match u8::take(from)? {
                    $($code => {
                        $($(let $inner = Wire::take(from)?;)+)?
                        $($(let $field = Wire::take(from)$(.or(Some($older)))??;)*)?
                        Some(Self::$variant $(($($inner),+))? $({ $($field),* })?)
                    })*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use wire;

/// What is left of a payload.
pub(crate) struct Decoder<'a> {
    pub(crate) bytes: &'a [u8],
    /// So many lists may lie within each other: a damaged capture cannot use up the stack.
    n_lists: usize,
}

impl<'a> Decoder<'a> {
    /// Attributes are a list too, and values in them may be 16 deep.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, n_lists: 17 }
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut Decoder<'_>) -> Option<Self> {
                let (bytes, rest) = from.bytes.split_first_chunk()?;
                from.bytes = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, i64, f64);

impl Wire for bool {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(u8::take(from)? != 0)
    }
}

impl Wire for String {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let length = u32::take(from)? as usize;
        let (bytes, rest) = from.bytes.split_at_checked(length)?;
        from.bytes = rest;
        Some(crate::value::readable(bytes))
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_bytes(&text.as_bytes()[..text.floor_char_boundary(MAX_TEXT_BYTES)], out);
}

/// A text of any length, and of any bytes.
pub(crate) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// How many bytes or things follow.
pub(crate) fn put_length(n: usize, out: &mut Vec<u8>) {
    u32::try_from(n).unwrap_or(u32::MAX).put(out);
}

/// A flag, and a number whether there is one or not. So are the next two.
impl Wire for Option<u64> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.is_some(), self.unwrap_or_default()).put(out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let (is_there, number) = <(bool, u64)>::take(from)?;
        Some(is_there.then_some(number))
    }
}

/// Numbers that are not finite are absent.
impl Wire for Option<f64> {
    fn put(&self, out: &mut Vec<u8>) {
        self.map(f64::to_bits).put(out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let (is_there, number) = <(bool, f64)>::take(from)?;
        Some((is_there && number.is_finite()).then_some(number))
    }
}

impl Wire for Option<String> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        put_text(self.as_deref().unwrap_or_default(), out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let (is_there, text) = <(bool, String)>::take(from)?;
        Some(is_there.then_some(text))
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// Their number, and so many of them.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        let n = u16::try_from(self.len()).unwrap_or(u16::MAX);
        n.put(out);
        self.iter().take(n.into()).for_each(|item| item.put(out));
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        from.n_lists = from.n_lists.checked_sub(1)?;
        let n = u16::take(from)?;
        let items = (0..n).map(|_| T::take(from)).collect();
        from.n_lists += 1;
        items
    }
}

wire! {
    enum Value {
        0 Bool(flag),
        1 Int(number),
        2 Float(number),
        3 Text(text),
        4 Null,
        5 List(values),
    }
}

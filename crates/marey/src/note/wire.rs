//! Numbers and texts of a note's payload.

use crate::series::{SeriesInfo, SeriesKind, Unit};
use crate::value::{Attributes, Value};

/// Texts in notes are cut here.
pub(super) const MAX_TEXT_BYTES: usize = 8 << 10;

/// Appends to a payload.
pub(super) struct Encoder(pub(super) Vec<u8>);

impl Encoder {
    pub(super) fn u8(&mut self, v: u8) -> &mut Self {
        self.0.push(v);
        self
    }

    pub(super) fn u16(&mut self, v: u16) -> &mut Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    pub(super) fn f64(&mut self, v: f64) -> &mut Self {
        self.u64(v.to_bits())
    }

    pub(super) fn optional_f64(&mut self, v: Option<f64>) -> &mut Self {
        self.optional(v.map(f64::to_bits))
    }

    pub(super) fn optional_text(&mut self, v: Option<&str>) -> &mut Self {
        self.u8(v.is_some().into()).text(v.unwrap_or_default())
    }

    pub(super) fn u32(&mut self, v: u32) -> &mut Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    pub(super) fn u64(&mut self, v: u64) -> &mut Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    pub(super) fn optional(&mut self, v: Option<u64>) -> &mut Self {
        self.u8(v.is_some().into()).u64(v.unwrap_or_default())
    }

    pub(super) fn text(&mut self, v: &str) -> &mut Self {
        let bytes = &v.as_bytes()[..v.floor_char_boundary(MAX_TEXT_BYTES)];
        self.u32(u32::try_from(bytes.len()).expect("cut above"));
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn attributes(&mut self, attributes: &Attributes) -> &mut Self {
        let n = u16::try_from(attributes.len()).unwrap_or(u16::MAX);
        self.u16(n);
        for (name, value) in attributes.iter().take(n.into()) {
            self.text(name);
            self.value(value);
        }
        self
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(v) => self.u8(0).u8((*v).into()),
            Value::Int(v) => self.u8(1).u64(v.cast_unsigned()),
            Value::Float(v) => self.u8(2).u64(v.to_bits()),
            Value::Text(v) => self.u8(3).text(v),
            Value::Null => self.u8(4),
            Value::List(values) => {
                let n = u16::try_from(values.len()).unwrap_or(u16::MAX);
                self.u8(5).u16(n);
                values.iter().take(n.into()).for_each(|v| self.value(v));
                self
            }
        };
    }
}

/// Lists within each other that are read.
const MAX_LISTS: usize = 16;

/// Takes from the front of a payload.
pub(super) struct Decoder<'a>(pub(super) &'a [u8]);

impl Decoder<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|b| b[0])
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    /// Numbers that are not finite are absent.
    #[expect(clippy::option_option, reason = "damaged and absent are two things")]
    pub(super) fn optional_f64(&mut self) -> Option<Option<f64>> {
        let value = self.optional()?.map(f64::from_bits);
        Some(value.filter(|v| v.is_finite()))
    }

    /// A number at the end of a note, which older captures do not have.
    pub(super) fn later_f64(&mut self) -> Option<f64> {
        self.optional_f64().flatten()
    }

    #[expect(clippy::option_option, reason = "damaged and absent are two things")]
    pub(super) fn optional_text(&mut self) -> Option<Option<String>> {
        let (is_there, text) = (self.u8()? != 0, self.text()?);
        Some(is_there.then_some(text))
    }

    pub(super) fn series_info(&mut self) -> Option<SeriesInfo> {
        let unit = Unit::of_code(self.u8()?)?;
        let kind = match self.u8()? {
            0 => SeriesKind::Gauge,
            1 => SeriesKind::Cumulative,
            _ => return None,
        };
        let (name, subject) = (self.text()?, self.text()?);
        Some(SeriesInfo {
            name,
            subject,
            unit,
            kind,
        })
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// Outer `None`: not there. Inner `None`: there, and absent.
    #[expect(clippy::option_option, reason = "damaged and absent are two things")]
    pub(super) fn optional(&mut self) -> Option<Option<u64>> {
        let (flag, value) = (self.u8()?, self.u64()?);
        Some((flag != 0).then_some(value))
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        if length > self.0.len() {
            return None;
        }
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(crate::readable_text::readable(bytes))
    }

    pub(super) fn attributes(&mut self) -> Option<Attributes> {
        let n = self.u16()?;
        let mut attributes = Attributes::new();
        for _ in 0..n {
            let name = self.text()?;
            attributes.push((name, self.value(MAX_LISTS)?));
        }
        Some(attributes)
    }

    /// A value in which lists lie in each other that often at most: a damaged capture cannot use up the stack.
    fn value(&mut self, n_lists: usize) -> Option<Value> {
        Some(match self.u8()? {
            0 => Value::Bool(self.u8()? != 0),
            1 => Value::Int(self.u64()?.cast_signed()),
            2 => Value::Float(f64::from_bits(self.u64()?)),
            3 => Value::Text(self.text()?),
            4 => Value::Null,
            5 => {
                let n_inner = n_lists.checked_sub(1)?;
                let n = self.u16()?;
                let values = (0..n).map(|_| self.value(n_inner)).collect::<Option<_>>();
                Value::List(values?)
            }
            _ => return None,
        })
    }
}

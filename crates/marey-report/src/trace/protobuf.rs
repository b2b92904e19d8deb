//! The wire format of protocol buffers, as much of it as traces need.
//!
//! A field is a key, then its value. The key is `number << 3 | type`; types are 0 for integers, 1 for eight bytes, 2 for what
//! has a length. Integers have seven bits a byte, lowest first, with the top bit set in all but the last. Source: the encoding
//! guide of protobuf.dev.

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(low_byte(value) | 0x80);
            value >>= 7;
        }
        self.bytes.push(low_byte(value));
    }

    /// An unsigned integer, an enum value or a boolean.
    pub(super) fn unsigned(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// A signed integer of the types `int32` and `int64`; a negative one takes ten bytes.
    pub(super) fn signed(&mut self, field: u32, value: i64) {
        self.unsigned(field, value.cast_unsigned());
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.with_length(field, text.as_bytes());
    }

    /// A message within this one.
    pub(super) fn message(&mut self, field: u32, message: &Self) {
        self.with_length(field, &message.bytes);
    }

    fn with_length(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

fn low_byte(value: u64) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(write: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = Message::default();
        write(&mut message);
        message.bytes
    }

    #[test]
    fn the_examples_of_the_encoding_guide_come_out() {
        assert_eq!(encoded(|m| m.unsigned(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(encoded(|m| m.text(2, "testing")), b"\x12\x07testing");
        let mut inner = Message::default();
        inner.unsigned(1, 150);
        assert_eq!(encoded(|m| m.message(3, &inner)), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(encoded(|m| m.signed(1, -2)), minus_two);
    }

    #[test]
    fn fields_beyond_fifteen_take_two_bytes_and_fixed_numbers_eight() {
        assert_eq!(encoded(|m| m.unsigned(16, 1)), [0x80, 0x01, 0x01]);
        assert_eq!(encoded(|m| m.fixed64(47, 1)), [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encoded(|m| m.double(1, 1.0)), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}

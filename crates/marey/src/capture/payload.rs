//! What the payloads of blocks are made of, field by field in the order of their bytes.

use crate::clock::Anchor;
use crate::recorder::NodeSnapshot;
use crate::wire::{Decoder, Wire, put_length, wire};

wire! { struct Anchor { ticks, monotonic_ns, unix_ns } }
wire! {
    struct NodeSnapshot {
        node, errors, count, sum, min, max, last, last_end, first, first_start, buckets,
    }
}

/// Their number (all ones for none), and so many of them.
impl Wire for Option<Vec<(u32, u32)>> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.as_ref().map_or(usize::MAX, Vec::len), out);
        self.iter().flatten().for_each(|bucket| bucket.put(out));
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        match u32::take(from)? {
            u32::MAX => Some(None),
            n => (0..n).map(|_| Wire::take(from)).collect::<Option<_>>().map(Some),
        }
    }
}

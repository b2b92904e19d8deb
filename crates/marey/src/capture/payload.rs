//! Reading numbers and texts off the payload of a block.

use crate::recorder::NodeSnapshot;

/// Reads numbers off a payload; `None` past its end.
pub(crate) struct Payload<'a>(pub(crate) &'a [u8]);

impl<'a> Payload<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|b| b[0])
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (text, rest) = (length <= self.0.len()).then(|| self.0.split_at(length))?;
        self.0 = rest;
        Some(text)
    }

    pub(crate) fn node_totals(&mut self) -> Option<NodeSnapshot> {
        let mut totals = NodeSnapshot {
            node: self.u32()?,
            errors: self.u32()?,
            count: self.u64()?,
            sum: self.u64()?,
            min: self.u64()?,
            max: self.u64()?,
            last: self.u64()?,
            last_end: self.u64()?,
            first: self.u64()?,
            first_start: self.u64()?,
            buckets: None,
        };
        let n = self.u32()?;
        if n != u32::MAX {
            let mut buckets = Vec::new();
            for _ in 0..n {
                buckets.push((self.u32()?, self.u32()?));
            }
            totals.buckets = Some(buckets);
        }
        Some(totals)
    }
}

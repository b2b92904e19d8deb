//! Stands for the recorder's histogram, whose many buckets would only make every model slower: here are four.

/// Number of buckets.
pub(crate) const N_BUCKETS: usize = 4;

/// Bucket of a value; the last one has all that is larger.
pub(crate) fn bucket_of(value: u64) -> usize {
    usize::try_from(value).map_or(3, |value| value.min(3))
}

//! Readings of a sampler, as payload.

use super::wire::{Decoder, Encoder};

/// Readings of a sampler's series in one time bucket. Times are ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Number of the sampler.
    pub group: u32,
    /// Number of the series that the first value belongs to.
    pub first_series: u32,
    /// Rounds in the bucket.
    pub rounds: u32,
    /// When the bucket begins.
    pub start: u64,
    /// How long it is; 0 while every round is a bucket of its own.
    pub width: u64,
    /// When the first round was.
    pub first: u64,
    /// One for each series from `first_series` on.
    pub values: Vec<Readings>,
}

/// Readings of one series in one time bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// How many; 0 when there was nothing to be had.
    pub count: u32,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
    /// Sum.
    pub sum: f64,
    /// Last.
    pub last: f64,
}

impl Samples {
    pub(super) fn put(&self, out: &mut Encoder) {
        out.u32(self.group).u32(self.first_series).u32(self.rounds);
        out.u64(self.start).u64(self.width).u64(self.first);
        let n = u16::try_from(self.values.len()).unwrap_or(u16::MAX);
        out.u16(n);
        for value in self.values.iter().take(n.into()) {
            if self.rounds == 1 {
                out.f64(if value.count == 0 {
                    f64::NAN
                } else {
                    value.last
                });
            } else {
                out.u32(value.count)
                    .f64(value.min)
                    .f64(value.max)
                    .f64(value.sum)
                    .f64(value.last);
            }
        }
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let mut samples = Self {
            group: from.u32()?,
            first_series: from.u32()?,
            rounds: from.u32()?,
            start: from.u64()?,
            width: from.u64()?,
            first: from.u64()?,
            values: Vec::new(),
        };
        for _ in 0..from.u16()? {
            samples.values.push(if samples.rounds == 1 {
                Readings::of(from.f64()?)
            } else {
                Readings {
                    count: from.u32()?,
                    min: from.f64()?,
                    max: from.f64()?,
                    sum: from.f64()?,
                    last: from.f64()?,
                }
            });
        }
        Some(samples)
    }
}

impl Readings {
    /// One reading; none when it is not finite.
    pub(crate) fn of(value: f64) -> Self {
        let mut readings = Self::default();
        readings.add(value);
        readings
    }

    /// Adds a reading; nothing when it is not finite.
    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let is_first = self.count == 0;
        self.min = if is_first { value } else { self.min.min(value) };
        self.max = if is_first { value } else { self.max.max(value) };
        self.sum += value;
        self.last = value;
        self.count = self.count.saturating_add(1);
    }
}

//! Readings of a sampler, as payload.

use crate::wire::{Decoder, Wire, wire};

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

impl Wire for Samples {
    fn put(&self, out: &mut Vec<u8>) {
        for number in [self.group, self.first_series, self.rounds] {
            number.put(out);
        }
        for ticks in [self.start, self.width, self.first] {
            ticks.put(out);
        }
        let n = u16::try_from(self.values.len()).unwrap_or(u16::MAX);
        n.put(out);
        for value in self.values.iter().take(n.into()) {
            match (self.rounds, value.count) {
                (1, 0) => f64::NAN.put(out),
                (1, _) => value.last.put(out),
                _ => value.put(out),
            }
        }
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        let mut samples = Self {
            group: Wire::take(from)?,
            first_series: Wire::take(from)?,
            rounds: Wire::take(from)?,
            start: Wire::take(from)?,
            width: Wire::take(from)?,
            first: Wire::take(from)?,
            values: Vec::new(),
        };
        for _ in 0..u16::take(from)? {
            samples.values.push(if samples.rounds == 1 {
                Readings::of(f64::take(from)?)
            } else {
                Readings::take(from)?
            });
        }
        Some(samples)
    }
}

wire! { struct Readings { count, min, max, sum, last } }

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

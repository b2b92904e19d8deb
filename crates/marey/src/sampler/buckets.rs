//! Bounds a series in time: every round is a bucket of its own until there are as many as may be, then buckets double in width.
//!
//! ```text
//! at most 4 points   | | | |   then   |   |   |   |   then   |       |       |
//! rounds             x x x x x x x x x x x x x x x x x x x x x x x x x x x x x
//! ```
//!
//! Nothing that was written is taken back: early points stay narrower than late ones. A run of `n` rounds writes no more than
//! `max_points · (1 + log₂(n / max_points) / 2)` buckets, rounded up, and at most `max_points` more where sessions begin and end:
//!
//! ```text
//! session            |------- A ------|
//! rounds       x x x x x x x x x x x x x x x x
//! buckets     |     |     |   |     | |   |         a round before an end shares no bucket with one after it
//! ```
//!
//! So what is known of a session when it ends is what is known of it later, however coarse the series has become by then.

use crate::note::Readings;
use crate::recorder::Bucket;

/// The bucket that is being filled, and the rule for the next.
#[derive(Debug)]
pub(crate) struct Buckets {
    interval: u64,
    max_points: u64,
    /// The first round.
    origin: Option<u64>,
    n_rounds: u64,
    /// Beginnings and ends of sessions by the last round, and how many more of them may cut a bucket.
    edges: u64,
    cuts_left: u64,
    width: u64,
    bucket: Bucket,
    values: Vec<Readings>,
}

impl Buckets {
    /// For rounds that come every `interval` ticks. At least two points are kept.
    pub(crate) fn new(interval: u64, max_points: u64, n_series: usize) -> Self {
        Self {
            interval: interval.max(1),
            max_points: max_points.max(2),
            origin: None,
            n_rounds: 0,
            edges: 0,
            cuts_left: max_points.max(2),
            width: 0,
            bucket: Bucket::default(),
            values: vec![Readings::default(); n_series],
        }
    }

    /// Takes a round at `now` in, by when so many sessions have begun or ended. `closed` gets the bucket that is full, before or
    /// with this round.
    pub(crate) fn add(
        &mut self,
        now: u64,
        edges: u64,
        values: &[f64],
        mut closed: impl FnMut(Bucket, &[Readings]),
    ) {
        let origin = *self.origin.get_or_insert(now);
        let age = now.saturating_sub(origin);
        self.widen(age);
        let start = age.checked_div(self.width).map_or(now, |n| origin + n * self.width);
        let is_another = (start, self.width) != (self.bucket.start, self.bucket.width);
        if self.width == 0 || is_another || self.is_cut(edges) {
            self.close(&mut closed);
            self.bucket = Bucket { start, width: self.width, first: now, last: now, rounds: 0 };
            self.values.fill(Readings::default());
        }
        self.edges = edges;
        self.bucket.rounds += 1;
        self.bucket.last = now;
        for (readings, value) in self.values.iter_mut().zip(values) {
            readings.add(*value);
        }
        self.n_rounds += 1;
        if self.width == 0 {
            closed(self.bucket, &self.values);
        }
    }

    /// A session has begun or ended since the last round.
    fn is_cut(&mut self, edges: u64) -> bool {
        let is_cut = edges != self.edges && self.cuts_left > 0 && self.bucket.rounds > 0;
        self.cuts_left -= u64::from(is_cut);
        is_cut
    }

    /// Writes the bucket that is being filled, at the end.
    pub(crate) fn close(&mut self, closed: &mut impl FnMut(Bucket, &[Readings])) {
        if self.bucket.width > 0 && self.bucket.rounds > 0 {
            closed(self.bucket, &self.values);
        }
        self.bucket.rounds = 0;
    }

    /// The bucket that was added to last.
    pub(crate) fn current(&self) -> (Bucket, &[Readings]) {
        (self.bucket, &self.values)
    }

    /// Doubles the width until the run so far fits into as many points as may be.
    fn widen(&mut self, age: u64) {
        let is_full = |width: u64| age / width >= self.max_points;
        if self.width == 0 && (self.n_rounds >= self.max_points || is_full(self.interval)) {
            self.width = self.interval * 2;
        }
        while self.width > 0 && is_full(self.width) {
            self.width *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All buckets of rounds at these times, whose values are their numbers: start, width, rounds, min, max, sum.
    fn buckets(
        max_points: u64,
        times: impl Iterator<Item = u64>,
    ) -> Vec<(u64, u64, u32, [f64; 3])> {
        let mut written = Vec::new();
        let mut keep = |bucket: Bucket, values: &[Readings]| {
            let v = values[0];
            written.push((bucket.start, bucket.width, bucket.rounds, [v.min, v.max, v.sum]));
        };
        let mut buckets = Buckets::new(10, max_points, 1);
        for (value, now) in (0u32..).zip(times) {
            buckets.add(now, 0, &[value.into()], &mut keep);
        }
        buckets.close(&mut keep);
        written
    }

    #[test]
    fn rounds_stay_apart_until_there_are_too_many_and_then_share_ever_wider_buckets() {
        // times    100 110 120 130 | 140 150 | 160 170 | 180 190 200 210 | 220
        // values     0   1   2   3 |   4   5 |   6   7 |   8   9  10  11 |  12
        // width      each its own  |   20        20    |        40           40
        let expected = vec![
            (100, 0, 1, [0.0, 0.0, 0.0]),
            (110, 0, 1, [1.0, 1.0, 1.0]),
            (120, 0, 1, [2.0, 2.0, 2.0]),
            (130, 0, 1, [3.0, 3.0, 3.0]),
            (140, 20, 2, [4.0, 5.0, 9.0]),
            (160, 20, 2, [6.0, 7.0, 13.0]),
            (180, 40, 4, [8.0, 11.0, 38.0]),
            (220, 40, 1, [12.0, 12.0, 12.0]),
        ];
        assert_eq!(buckets(4, (100..230).step_by(10)), expected);
    }

    #[test]
    fn rounds_before_and_after_an_end_of_a_session_share_no_bucket() {
        // times    0 10 | 20 30 | 40 50 60 70 | …    2 points: 20 wide from 20 on, 40 from 40 on, 80 from 80 on
        // edges    .  .    .  A    A  A  .  .        begun before 30, ended before 60; then at each round, which is too often
        let edges = |now: u64| match now {
            0..30 => 0,
            30..60 => 1,
            60..80 => 2,
            _ => now,
        };
        let mut written = Vec::new();
        let mut keep = |bucket: Bucket, _: &[Readings]| {
            written.push((bucket.first, bucket.last, bucket.width, bucket.rounds));
        };
        let mut buckets = Buckets::new(10, 2, 1);
        for now in (0..160).step_by(10) {
            buckets.add(now, edges(now), &[1.0], &mut keep);
        }
        buckets.close(&mut keep);
        let expected = [
            (0, 0, 0, 1),
            (10, 10, 0, 1),
            (20, 20, 20, 1),
            (30, 30, 20, 1),
            (40, 50, 40, 2),
            (60, 70, 40, 2),
            (80, 150, 80, 8),
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn a_round_that_comes_late_falls_into_the_bucket_of_its_time() {
        // 0 10 (20 and 30 missed) | 42 (late), 50 | 61
        let expected = vec![
            (0, 0, 1, [0.0, 0.0, 0.0]),
            (10, 0, 1, [1.0, 1.0, 1.0]),
            (40, 20, 2, [2.0, 3.0, 5.0]),
            (60, 20, 1, [4.0, 4.0, 4.0]),
        ];
        assert_eq!(buckets(4, [0, 10, 42, 50, 61].into_iter()), expected);
    }

    #[test]
    fn after_a_long_pause_the_width_covers_it_and_nothing_is_forgotten() {
        // A machine that slept: 1 000 intervals pass between two rounds. 4 points of 2 560 cover 10 000 from the start.
        let expected = vec![
            (0, 0, 1, [0.0, 0.0, 0.0]),
            (10, 0, 1, [1.0, 1.0, 1.0]),
            (7680, 2560, 1, [2.0, 2.0, 2.0]),
        ];
        assert_eq!(buckets(4, [0, 10, 10_000].into_iter()), expected);
    }

    #[test]
    fn a_day_at_a_hundred_hertz_writes_a_bounded_number_of_buckets() {
        // 8.64 million rounds into 10 000 points: one raw stretch, then at most 5 000 buckets for each of 10 doublings.
        let written = buckets(10_000, (0..8_640_000).map(|round| round * 10));
        assert!(written.len() <= 10_000 + 5_000 * 10, "{}", written.len());
        assert_eq!(written.iter().map(|b| u64::from(b.2)).sum::<u64>(), 8_640_000);
        let (start, width, ..) = written[written.len() - 1];
        assert!((start + width) / width <= 10_000);
    }
}

//! What did each counter read, and how did it change?

use std::collections::BTreeMap;

use marey::Run;

use crate::questions::diffusion::Spread;

/// A longer series is put together by time.
const MAX_POINTS: usize = 10_000;

/// All readings of one counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The counter's name as the user gave it; not safe to print.
    pub name: String,
    /// Number of readings.
    pub count: u64,
    /// Smallest reading.
    pub min: f64,
    /// Mean of the readings, each counting the same however long it held.
    pub mean: f64,
    /// Largest reading.
    pub max: f64,
    /// The reading that was taken last.
    pub last: f64,
    /// Each reading, or, beyond 10 000, all readings of each ten-thousandth of the time from first to last.
    pub series: Vec<CounterPoint>,
    /// Every point of `series` is one reading.
    pub is_each_reading: bool,
}

/// One reading, or those of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterPoint {
    /// When the first of them was taken, since the start of the run.
    pub start_ns: u64,
    /// When the last of them was taken.
    pub end_ns: u64,
    /// Number of readings.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// When, and what was read.
type Reading = (u64, f64);

/// Figures of each counter, in the order of their first readings. What is no finite number is passed over.
pub fn counters(run: &Run) -> Vec<Counter> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut readings: Vec<(&str, Vec<Reading>)> = Vec::new();
    for reading in run.counters.iter().filter(|r| r.value.is_finite()) {
        let index = *known.entry(&reading.name).or_insert_with(|| {
            readings.push((&reading.name, Vec::new()));
            readings.len() - 1
        });
        readings[index].1.push((reading.at_ns, reading.value));
    }
    readings.iter().map(|(name, readings)| of_counter(name, readings)).collect()
}

fn of_counter(name: &str, readings: &[Reading]) -> Counter {
    let all = point(readings);
    let is_each_reading = readings.len() <= MAX_POINTS;
    let series = if is_each_reading {
        readings.chunks(1).map(point).collect()
    } else {
        let stretch = |at_ns: u64| stretch(at_ns, all.start_ns, all.end_ns);
        let same = |a: &Reading, b: &Reading| stretch(a.0) == stretch(b.0);
        readings.chunk_by(same).map(point).collect()
    };
    Counter {
        name: name.to_owned(),
        count: all.count,
        min: all.min,
        mean: all.mean,
        max: all.max,
        last: readings.last().map_or(all.max, |(_, value)| *value),
        series,
        is_each_reading,
    }
}

/// Number of the ten-thousandth of the time from `first_ns` to `last_ns`, both included, in which `at_ns` is.
fn stretch(at_ns: u64, first_ns: u64, last_ns: u64) -> u128 {
    let length = u128::from(last_ns.saturating_sub(first_ns)) + 1;
    u128::from(at_ns.saturating_sub(first_ns)) * MAX_POINTS as u128 / length
}

/// Readings, of which there is at least one, as one point.
fn point(readings: &[Reading]) -> CounterPoint {
    let found = Spread::of(readings.iter().map(|(_, value)| *value)).unwrap_or_default();
    CounterPoint {
        start_ns: readings.first().map_or(0, |(at_ns, _)| *at_ns),
        end_ns: readings.last().map_or(0, |(at_ns, _)| *at_ns),
        count: readings.len() as u64,
        min: found.min,
        mean: found.mean.clamp(found.min, found.max),
        max: found.max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    #[test]
    fn each_counter_has_its_figures_and_every_reading() {
        let run = RunBuilder::new()
            .counter("queue", 2, 4.0)
            .counter("loss", 3, 0.5)
            .counter("queue", 5, 9.0)
            .counter("queue", 8, 5.0)
            .finish(10);
        let found = counters(&run);
        let names: Vec<&str> = found.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["queue", "loss"]);
        let queue = &found[0];
        assert_eq!((queue.count, queue.min, queue.mean), (3, 4.0, 6.0));
        assert_eq!((queue.max, queue.last), (9.0, 5.0));
        assert!(queue.is_each_reading);
        let expected =
            CounterPoint { start_ns: 5, end_ns: 5, count: 1, min: 9.0, mean: 9.0, max: 9.0 };
        assert_eq!(queue.series[1], expected);
    }

    #[test]
    fn a_long_series_is_put_together_by_time_and_no_reading_is_lost() {
        // 20 000 readings, one a ns from 0 on: value 0, 1, 0, 1 … Each ten-thousandth of 20 000 ns holds two of them.
        let mut builder = RunBuilder::new();
        for at_ns in 0..20_000u32 {
            builder = builder.counter("flip", at_ns.into(), f64::from(at_ns % 2));
        }
        let flip = counters(&builder.finish(20_000)).remove(0);
        assert!(!flip.is_each_reading);
        assert_eq!((flip.count, flip.mean, flip.series.len()), (20_000, 0.5, 10_000));
        let expected =
            CounterPoint { start_ns: 6, end_ns: 7, count: 2, min: 0.0, mean: 0.5, max: 1.0 };
        assert_eq!(flip.series[3], expected);
        assert!(flip.series.iter().all(|point| point.count == 2));
    }

    #[test]
    fn stretches_without_a_reading_have_no_point() {
        // All but one of 10 001 readings within the first ns, the last one at the end.
        let mut builder = RunBuilder::new();
        for _ in 0..10_000 {
            builder = builder.counter("burst", 0, 2.0);
        }
        let run = builder.counter("burst", 1_000_000, 8.0).finish(1_000_000);
        let burst = counters(&run).remove(0);
        let counts: Vec<u64> = burst.series.iter().map(|point| point.count).collect();
        assert_eq!(counts, [10_000, 1]);
        assert_eq!((burst.max, burst.last), (8.0, 8.0));
    }

    #[test]
    fn figures_stay_finite() {
        let run = RunBuilder::new()
            .counter("huge", 0, f64::MAX)
            .counter("huge", 1, f64::NAN)
            .counter("huge", 2, f64::MAX)
            .finish(10);
        let huge = counters(&run).remove(0);
        assert_eq!((huge.count, huge.mean), (2, f64::MAX));
    }
}

//! What the process read from disks, overall and while a section was open.
//!
//! ```text
//! counter       0      8        16   16     20      readings
//! rates         |--- 8 -|-- 8 ---|-- 0 -|-- 4 -|
//! vae_decode         |-----|        |-----|
//! its reads           4 + 4    +     0 +  2         each rate counts for as long as the section was open
//! ```

use super::{Asked, Observations};
use crate::compare::measure::{MeasureKind, Subject};
use crate::intervals::{Interval, union};
use crate::readings::{Rate, rates, sound};
use crate::records::Records;
use crate::stats::float;

/// What the process read from real disks.
const SERIES: &str = "process.disk.read";

pub(super) fn observe(asked: &Asked<'_>, found: &mut Observations) {
    let run = asked.run;
    let Some(series) = run.series.iter().find(|s| s.info.name == SERIES) else {
        return;
    };
    let rates = rates(&sound(&series.points));
    if rates.is_empty() {
        return;
    }
    let records = Records::new(run, |node| node > 0);
    for (path, nodes) in asked.section_paths() {
        let open = union(records.of_all(nodes));
        let open_ns: u64 = open.iter().map(Interval::length_ns).sum();
        let (bytes, known_ns) = read_during(&rates, &open);
        // Where the readings are about less than half of the time, what was read in the rest of it is anybody's guess.
        if open_ns == 0 || known_ns < float(open_ns) / 2.0 {
            continue;
        }
        let of = || Subject::Path(path.clone());
        let per_second = bytes * 1e9 / known_ns;
        found.add(MeasureKind::SectionReadRate, of(), Some(per_second));
        let all = bytes * float(open_ns) / known_ns;
        found.add(MeasureKind::SectionBytesRead, of(), Some(all));
    }
}

/// Bytes read during the intervals, and how much of their time the rates are about. Both are in order of time.
fn read_during(rates: &[Rate], open: &[Interval]) -> (f64, f64) {
    let (mut bytes, mut known_ns) = (0.0, 0.0);
    let mut first = 0;
    for interval in open {
        while rates
            .get(first)
            .is_some_and(|r| r.end_ns <= interval.start_ns)
        {
            first += 1;
        }
        for rate in rates[first..]
            .iter()
            .take_while(|r| r.start_ns < interval.end_ns)
        {
            let start_ns = rate.start_ns.max(interval.start_ns);
            let common_ns = float(rate.end_ns.min(interval.end_ns).saturating_sub(start_ns));
            bytes += rate.growth * common_ns / float(rate.end_ns - rate.start_ns);
            known_ns += common_ns;
        }
    }
    (bytes, known_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(start_ns: u64, end_ns: u64, growth: f64) -> Rate {
        Rate {
            start_ns,
            end_ns,
            growth,
            per_second: growth,
        }
    }

    #[test]
    fn what_was_read_while_a_section_was_open() {
        // The drawing, 10 a rate: half of the first and of the second, then half of nothing and half of 4.
        let rates = [
            rate(0, 10, 8.0),
            rate(10, 20, 8.0),
            rate(20, 30, 0.0),
            rate(30, 40, 4.0),
        ];
        let open = [(5, 15), (25, 35)].map(|(start_ns, end_ns)| Interval { start_ns, end_ns });
        let (bytes, known_ns) = read_during(&rates, &open);
        assert!((bytes - 10.0).abs() < 1e-9 && (known_ns - 20.0).abs() < 1e-9);
        // One long call holds everything; beyond the last reading nothing is known.
        let (bytes, known_ns) = read_during(
            &rates,
            &[Interval {
                start_ns: 0,
                end_ns: 100,
            }],
        );
        assert!((bytes - 20.0).abs() < 1e-9 && (known_ns - 40.0).abs() < 1e-9);
    }
}

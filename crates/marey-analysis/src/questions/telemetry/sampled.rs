//! The series of a run by name.

use marey::{Run, SeriesPoint};

use crate::readings::{Figures, Growth, gauge, growth, sound};
use crate::section_lookup::SectionLookup;

/// Series by name and subject, with what is needed to make figures of them.
pub(super) struct Sampled<'a> {
    run: &'a Run,
    /// Sorted, each with at least one reading.
    series: Vec<Named<'a>>,
    pub(super) places: SectionLookup<'a>,
}

struct Named<'a> {
    name: &'a str,
    subject: &'a str,
    points: Vec<SeriesPoint>,
}

impl<'a> Sampled<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        Self::with(run, SectionLookup::new(run))
    }

    /// The same without the sections in which something was read.
    pub(super) fn without_places(run: &'a Run) -> Self {
        Self::with(run, SectionLookup::blind(run))
    }

    fn with(run: &'a Run, places: SectionLookup<'a>) -> Self {
        let named = run.series.iter().map(|series| Named {
            name: &series.info.name,
            subject: &series.info.subject,
            points: sound(&series.points),
        });
        let mut series: Vec<Named<'_>> = named.filter(|s| !s.points.is_empty()).collect();
        series.sort_by_key(|s| (s.name, s.subject));
        Self { run, series, places }
    }

    pub(super) fn wall_ns(&self) -> u64 {
        self.run.wall_ns
    }

    /// Readings of the series with most of them, but for GPUs and samplers.
    pub(super) fn n_host_readings(&self) -> u64 {
        let is_host =
            |s: &&Named<'_>| !s.name.starts_with("gpu.") && !s.name.starts_with("sampler.");
        let count = |s: &Named<'_>| s.points.iter().map(|p| u64::from(p.count)).sum();
        let counts = self.series.iter().filter(is_host).map(count);
        counts.max().unwrap_or(0)
    }

    /// Readings, at least one.
    pub(super) fn points(&self, name: &str, subject: &str) -> Option<&[SeriesPoint]> {
        let place = self.series.binary_search_by(|s| (s.name, s.subject).cmp(&(name, subject)));
        Some(&self.series[place.ok()?].points)
    }

    /// What a series of this name was read of, sorted; numbers by their value.
    pub(super) fn subjects(&self, name: &str) -> Vec<&'a str> {
        let of_name = self.series.iter().filter(|s| s.name == name);
        let mut subjects: Vec<&str> = of_name.map(|s| s.subject).collect();
        let number = |subject: &str| subject.parse::<u64>().unwrap_or(u64::MAX);
        subjects.sort_by(|a, b| (number(a), a).cmp(&(number(b), b)));
        subjects
    }

    /// Names of series that begin so, and their subjects, sorted.
    pub(super) fn beginning_with(&self, prefix: &str) -> Vec<(&'a str, &'a str)> {
        let named = self.series.iter().map(|s| (s.name, s.subject));
        named.filter(|(name, _)| name.starts_with(prefix)).collect()
    }

    pub(super) fn gauge(&self, name: &str, subject: &str) -> Option<Figures> {
        gauge(self.points(name, subject)?, &self.places)
    }

    pub(super) fn growth(&self, name: &str, subject: &str) -> Option<Growth> {
        growth(self.points(name, subject)?, &self.places)
    }

    /// A fact of the run that is a whole number.
    pub(super) fn number_fact(&self, name: &str) -> Option<u64> {
        self.fact(name)?.parse().ok()
    }

    /// The last fact of this name.
    pub(super) fn fact(&self, name: &str) -> Option<&'a str> {
        let mut facts = self.run.info.facts.iter().rev();
        let (_, value) = facts.find(|(known, _)| known == name)?;
        Some(value)
    }

    pub(super) fn facts(&self) -> &'a [(String, String)] {
        &self.run.info.facts
    }
}

//! What samplers read last.

use std::sync::atomic::Ordering::Relaxed;

use super::Recorder;
use super::series_table::{Bucket, GroupPlace, SeriesTable};
use crate::clock;
use crate::note::Readings;
use crate::series::SeriesInfo;

impl Recorder {
    /// A place in the table of series for a sampler. Its series are read by live viewers from then on.
    pub(crate) fn place_series(&self, infos: &[SeriesInfo]) -> Option<GroupPlace> {
        let _alone = self.lanes();
        let group = self.n_samplers.fetch_add(1, Relaxed);
        self.series_table().place(infos, group)
    }

    /// Shows a sampler's series to nobody any more.
    pub(crate) fn retire_series(&self, place: GroupPlace) {
        self.series_table().retire(place);
    }

    /// Shows a round to live viewers.
    pub(crate) fn publish_series(&self, place: GroupPlace, bucket: Bucket, values: &[Readings]) {
        self.series_table().publish(place, bucket, values);
    }

    /// The latest reading of every series of this process's samplers, and how long ago it was taken, in nanoseconds. Empty without
    /// samplers, or before their first round.
    pub fn latest_readings(&self) -> Vec<(SeriesInfo, f64, u64)> {
        let now = clock::ticks();
        let age = |ticks: u64| self.duration_ns(now.saturating_sub(ticks));
        let latest = self.series_table().latest().into_iter();
        latest.map(|(info, value, ticks)| (info, value, age(ticks))).collect()
    }

    /// Time since the recording began, in nanoseconds.
    pub fn uptime_ns(&self) -> u64 {
        self.duration_ns(clock::ticks().saturating_sub(self.first_anchor().ticks))
    }

    pub(super) fn series_table(&self) -> SeriesTable<'static> {
        SeriesTable::new(self.process.words(), &self.layout)
    }
}

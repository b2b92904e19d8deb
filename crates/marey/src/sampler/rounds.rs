//! One sampler's rounds: reads its source, keeps the time buckets, writes notes and the table for live viewers.

use super::buckets::Buckets;
use super::{SamplerOptions, Source};
use crate::clock;
use crate::note::{Note, Readings, Samples};
use crate::recorder::{Bucket, GroupPlace, Lane, Recorder, SamplerLane, recording_number};
use crate::series::{SeriesInfo, Unit};

/// Series that every sampler has beside those of its source: what it costs, and how late it is.
const OWN_SERIES: usize = 3;

/// A source at work for one recording.
pub(super) struct Rounds {
    source: Box<dyn Source>,
    recorder: &'static Recorder,
    /// Number of the recording: in another one nothing is written.
    recording: u32,
    lane: SamplerLane,
    place: GroupPlace,
    buckets: Buckets,
    /// Own series first, then those of the source; what found no room in the table is read and left out.
    values: Vec<f64>,
    n_missed: u64,
}

impl Rounds {
    /// Introduces a source to the recording. `None` when there is no room for its series, nothing to sample, or the recording is over by
    /// now.
    pub(super) fn begin(
        source: Box<dyn Source>,
        options: SamplerOptions,
        recorder: &'static Recorder,
        recording: u32,
        lane: SamplerLane,
    ) -> Option<Self> {
        if recording_number() != recording {
            return None;
        }
        let measured = source.series();
        let write = |note: &Note| {
            if let Some(words) = note.encode(clock::ticks(), None) {
                lane.note(&words);
            }
        };
        for (key, value) in source.facts() {
            write(&Note::Fact { key, value });
        }
        for unavailable in source.unavailable() {
            write(&Note::Unavailable(unavailable));
        }
        if measured.is_empty() {
            return None;
        }
        let mut infos = vec![
            SeriesInfo::gauge("sampler.late", options.name, Unit::Seconds),
            SeriesInfo::cumulative("sampler.missed", options.name, Unit::Count),
            SeriesInfo::cumulative("sampler.cpu", options.name, Unit::Seconds),
        ];
        infos.extend(measured);
        let n_values = infos.len();
        let place = recorder.place_series(&infos)?;
        for (index, info) in (0u32..).zip(infos.into_iter().take(place.n_series())) {
            let group = place.group();
            write(&Note::Series { group, index, info });
        }
        let interval = recorder.ticks_of(options.interval_ns());
        Some(Self {
            source,
            recorder,
            recording,
            lane,
            place,
            buckets: Buckets::new(interval, options.max_points, place.n_series()),
            values: vec![f64::NAN; n_values],
            n_missed: 0,
        })
    }

    /// One round. `late_ns` is how long after its time it began, `n_missed` how many before it were left out. False when the recording
    /// is over.
    pub(super) fn round(&mut self, late_ns: u64, n_missed: u64) -> bool {
        self.n_missed += n_missed;
        self.values.fill(f64::NAN);
        let (own, measured) = self.values.split_at_mut(OWN_SERIES);
        self.source.read(measured);
        let cpu_ns = clock::thread_cpu_ns();
        #[expect(clippy::cast_precision_loss, reason = "seconds and small counts")]
        own.copy_from_slice(&[late_ns as f64 / 1e9, self.n_missed as f64, cpu_ns as f64 / 1e9]);
        if recording_number() != self.recording {
            return false;
        }
        let (lane, group) = (&self.lane, self.place.group());
        let edges = self.recorder.session_edges();
        self.buckets.add(clock::ticks(), edges, &self.values, |bucket, values| {
            write(lane, group, bucket, values);
        });
        let (bucket, values) = self.buckets.current();
        self.recorder.publish_series(self.place, bucket, values);
        true
    }

    /// Writes the bucket that is being filled, and takes the series from live viewers.
    pub(super) fn finish(&mut self) {
        if recording_number() == self.recording {
            let (lane, group) = (&self.lane, self.place.group());
            self.buckets.close(&mut |bucket, values| write(lane, group, bucket, values));
            self.recorder.retire_series(self.place);
        }
    }
}

fn write(lane: &Lane, group: u32, bucket: Bucket, values: &[Readings]) {
    for note in Samples::of_bucket(group, bucket, values) {
        if let Some(words) = note.encode(bucket.last, None) {
            lane.note(&words);
        }
    }
}

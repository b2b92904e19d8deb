//! How long did the GPU work for each call path, between the events at both ends of its calls?
//!
//! ```text
//! host      |-- step 1 --|-- step 2 --|              host: what the call took
//! stream         |------ step 1 ------|--- step 2 ---|
//!           <-- delay --><--- gpu --->
//! ```
//!
//! A span is the time on one stream from one event to the other: work, and waiting in between. Spans of a section and of those
//! within it overlap, so only [`SectionGpuTime::covered_ns`], where each moment counts once, is a share of anything.

use std::collections::BTreeMap;

use marey::{GpuSpan, Run};

use crate::intervals::{Interval, union_length_ns};
use crate::questions::diffusion::Durations;
use crate::stats::ratio;

/// What a recording calls it where it says why sections have none.
pub const GPU_TIMES: &str = "GPU time of sections";

/// GPU time of sections.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuTimes {
    /// By what it was measured, such as `CUDA events`; `None` when the capture does not say.
    pub measured_by: Option<String>,
    /// Calls of the call paths below.
    pub n_calls: u64,
    /// Those of them without a span.
    pub n_not_measured: u64,
    /// Call paths with spans, by node.
    pub sections: Vec<SectionGpuTime>,
    /// Streams with spans, by device, then stream.
    pub streams: Vec<StreamGpuTime>,
}

/// GPU time of one call path.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionGpuTime {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// Completed calls that have no span.
    pub n_not_measured: u64,
    /// Lengths of the spans.
    pub gpu: Durations,
    /// Length of the span of the call that began first. It is in no document of its own.
    pub first_ns: Option<u64>,
    /// From the beginning of a call to that of its work; `None` when no delay is known.
    pub delay: Option<Durations>,
    /// By how much a delay may be wrong at most; `None` when no delay is known.
    pub delay_error_ns: Option<u64>,
    /// Time that the spans cover, each moment once; `None` unless it is known where all of them lie.
    pub covered_ns: Option<u64>,
    /// `covered_ns` as a share of the wall time, 0 to 1, more where work ends after the run; `None` when that is not known.
    pub share_of_wall_ratio: Option<f64>,
}

/// What one stream did for sections.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamGpuTime {
    /// The device's number.
    pub device: u32,
    /// As torch numbers it; 0 is the default stream.
    pub stream: u64,
    /// Spans on it.
    pub n_spans: u64,
    /// Time that they cover, each moment once, so nested ones do not count twice; `None` unless it is known where all lie.
    pub covered_ns: Option<u64>,
}

/// GPU time by call path; `None` when none was measured. One pass over the spans and a sort of each call path's.
pub fn gpu_times(run: &Run) -> Option<GpuTimes> {
    let mut by_node: BTreeMap<u32, Vec<&GpuSpan>> = BTreeMap::new();
    let mut by_stream: BTreeMap<(u32, u64), Vec<&GpuSpan>> = BTreeMap::new();
    for span in &run.gpu_spans {
        by_node.entry(span.node).or_default().push(span);
        let of_stream = by_stream.entry((span.device, span.stream));
        of_stream.or_default().push(span);
    }
    let row = |(node, spans): (&u32, &Vec<&GpuSpan>)| section(run, *node, spans);
    let sections: Vec<SectionGpuTime> = by_node.iter().filter_map(row).collect();
    if sections.is_empty() {
        return None;
    }
    let how = run.info.facts.iter().find(|(key, _)| key == "gpu_times");
    let sum = |of: fn(&SectionGpuTime) -> u64| sections.iter().map(of).fold(0, u64::saturating_add);
    let n_not_measured = sum(|row| row.n_not_measured);
    Some(GpuTimes {
        measured_by: how.map(|(_, value)| value.clone()),
        n_calls: sum(|row| row.gpu.count).saturating_add(n_not_measured),
        n_not_measured,
        sections,
        streams: by_stream.iter().map(|(key, spans)| stream(*key, spans)).collect(),
    })
}

fn section(run: &Run, node: u32, spans: &[&GpuSpan]) -> Option<SectionGpuTime> {
    let n_calls = run.totals.get(node as usize).map_or(0, |totals| totals.count);
    let covered_ns = covered_ns(spans);
    let share = |ns| (run.wall_ns > 0).then(|| ratio(u128::from(ns), run.wall_ns.into()));
    Some(SectionGpuTime {
        node,
        n_not_measured: n_calls.saturating_sub(spans.len() as u64),
        gpu: Durations::of(spans.iter().map(|span| span.gpu_ns))?,
        first_ns: spans.iter().min_by_key(|span| span.start_ns).map(|span| span.gpu_ns),
        delay: Durations::of(spans.iter().filter_map(|span| span.delay_ns)),
        delay_error_ns: spans.iter().filter_map(|span| span.error_ns).max(),
        covered_ns,
        share_of_wall_ratio: covered_ns.and_then(share),
    })
}

fn stream((device, stream): (u32, u64), spans: &[&GpuSpan]) -> StreamGpuTime {
    StreamGpuTime { device, stream, n_spans: spans.len() as u64, covered_ns: covered_ns(spans) }
}

fn covered_ns(spans: &[&GpuSpan]) -> Option<u64> {
    let placed: Option<Vec<Interval>> = spans.iter().map(|span| place(span)).collect();
    Some(union_length_ns(placed?))
}

/// Where a span lies; `None` when its delay is not known.
pub fn place(span: &GpuSpan) -> Option<Interval> {
    let start_ns = span.start_ns.saturating_add(span.delay_ns?);
    let end_ns = start_ns.saturating_add(span.gpu_ns);
    Some(Interval { start_ns, end_ns })
}

impl GpuTimes {
    /// The row of a call path; `None` when nothing of it was measured.
    pub fn of(&self, node: u32) -> Option<&SectionGpuTime> {
        let at = self.sections.binary_search_by_key(&node, |row| row.node);
        self.sections.get(at.ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn span(node: u32, start_ns: u64, delay_ns: Option<u64>, gpu_ns: u64) -> GpuSpan {
        GpuSpan {
            thread: 0,
            node,
            start_ns,
            device: 0,
            stream: 0,
            delay_ns,
            gpu_ns,
            error_ns: delay_ns.map(|_| 2),
        }
    }

    /// ```text
    /// host    0         10        20        30        40
    ///         |- loop --------|
    ///         |step||step|
    /// stream     |-- step --|- step -|                       step 3–13, 13–22
    ///           |-------- loop -------|                      loop 2–23
    /// ```
    fn drawn() -> Run {
        RunBuilder::new()
            .section("loop", 0, 16, |s| {
                s.section("step", 0, 5, |_| {});
                s.section("step", 5, 11, |_| {});
                s.section("step", 12, 13, |_| {});
            })
            .with(|run| {
                run.gpu_spans =
                    vec![span(1, 0, Some(2), 21), span(2, 0, Some(3), 10), span(2, 5, Some(8), 9)];
                run.info.facts = vec![("gpu_times".into(), "CUDA events".into())];
            })
            .finish(40)
    }

    #[test]
    fn each_call_path_has_the_time_between_its_events_and_the_delay_before_it() {
        let found = gpu_times(&drawn()).unwrap();
        assert_eq!(found.measured_by.as_deref(), Some("CUDA events"));
        let step = found.of(2).unwrap();
        assert_eq!((step.gpu.count, step.gpu.total_ns, step.gpu.max_ns), (2, 19, 10));
        assert_eq!(step.delay.as_ref().map(|d| (d.mean_ns, d.max_ns)), Some((5.5, 8)));
        assert_eq!(step.delay_error_ns, Some(2));
        assert_eq!(step.covered_ns, Some(19));
        assert_eq!(step.share_of_wall_ratio, Some(19.0 / 40.0));
        assert_eq!(found.of(1).unwrap().gpu.total_ns, 21);
        assert!(found.of(9).is_none());
    }

    #[test]
    fn calls_without_a_span_are_counted() {
        let found = gpu_times(&drawn()).unwrap();
        assert_eq!(found.of(2).unwrap().n_not_measured, 1);
        assert_eq!((found.n_calls, found.n_not_measured), (4, 1));
    }

    #[test]
    fn what_a_stream_did_for_nested_sections_is_counted_once() {
        let found = gpu_times(&drawn()).unwrap();
        assert_eq!(found.streams.len(), 1);
        assert_eq!((found.streams[0].n_spans, found.streams[0].covered_ns), (3, Some(21)));
    }

    #[test]
    fn without_a_delay_it_is_not_known_what_spans_cover() {
        let mut run = drawn();
        run.gpu_spans[2].delay_ns = None;
        let found = gpu_times(&run).unwrap();
        let step = found.of(2).unwrap();
        assert_eq!((step.covered_ns, step.share_of_wall_ratio), (None, None));
        assert_eq!(step.delay.as_ref().map(|d| d.count), Some(1));
        assert_eq!(step.gpu.total_ns, 19);
    }

    #[test]
    fn nothing_measured_is_no_answer_and_extremes_do_not_panic() {
        assert_eq!(gpu_times(&Run::default()), None);
        let extreme = Run {
            gpu_spans: vec![span(7, u64::MAX, Some(u64::MAX), u64::MAX); 2],
            ..Run::default()
        };
        let found = gpu_times(&extreme).unwrap();
        assert_eq!(found.sections[0].share_of_wall_ratio, None);
    }
}

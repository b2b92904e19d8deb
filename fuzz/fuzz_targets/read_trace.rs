//! Any bytes are read as a trace without a panic and within limits, and what is read is sound: columns are equally long, indices
//! point somewhere, the parts of a device's time come to the whole.

#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{
    HostRows, TraceContext, idle_gaps, kernels, overlap, part_lists, trace_answers, transfers, utilization,
};

/// Small, so that they are met.
const LIMITS: Limits = Limits {
    rows: 1_000,
    bytes: 1 << 16,
    name_bytes: 4_096,
    event_bytes: 2_048,
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = read(bytes, LIMITS) {
        assert_sound(&trace);
    }
});

fn assert_sound(trace: &Trace) {
    let rows = &trace.rows;
    assert!(rows.len() <= LIMITS.rows);
    assert_eq!(rows.duration_ns.len(), rows.len());
    assert_eq!(rows.name.len(), rows.len());
    assert_eq!(rows.track.len(), rows.len());
    assert_eq!(rows.category.len(), rows.len());
    assert!(rows.name.iter().all(|name| (*name as usize) < trace.names.len()));
    let n_tracks = trace.tracks.each.len();
    assert!(rows.track.iter().all(|track| (*track as usize) < n_tracks));
    let host = HostRows::new(trace);
    for row in 0..rows.len() as u32 {
        assert!(host.self_ns(row) <= rows.duration_of(row));
        assert!(host.around(row).count() < rows.len());
    }
    let n_texts = trace.texts.len();
    assert!(trace.inputs.iter().all(|inputs| (inputs.shapes as usize) < n_texts));
    let _ = trace_answers(trace, None);
    let context = TraceContext::new(trace, None);
    let lists = part_lists(&context);
    for timeline in &context.timelines {
        let used = utilization(trace, timeline);
        let parts = [
            used.compute_ns,
            used.exposed_communication_ns,
            used.exposed_memory_ns,
            used.idle_ns,
            used.unknown_ns,
        ];
        assert_eq!(parts.iter().sum::<u64>(), used.span_ns);
        assert_eq!(idle_gaps(&context, timeline).total_ns, used.idle_ns + used.unknown_ns);
        let hidden = overlap(timeline).hidden_memory_ns;
        assert!(hidden <= used.memory_ns);
        let _ = (kernels(&context, timeline), transfers(trace, timeline));
        let document = trace.document_of_process(timeline.process);
        let parts = lists.steps.iter().chain(&lists.profiler_steps).chain(&lists.phases);
        let parts = parts.filter(|list| list.document == document && list.device.as_ref() == Some(&used.device));
        for work in parts.flat_map(|list| &list.parts).filter_map(|part| part.work) {
            assert!(work.busy_ns <= used.busy_ns);
        }
    }
}

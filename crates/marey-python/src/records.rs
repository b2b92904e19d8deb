//! Single records of a capture as JSON, for tests: what reports show only in sums.

use std::path::PathBuf;

use marey::{Attributes, Generation, Run, Section, Session};
use pyo3::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::errors::report_error;

/// Sessions, and what belongs to one, of a capture, as a JSON text. Sessions are named by their place in `sessions`. For tests.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments of Python are converted to owned values"
)]
pub(crate) fn records(path: PathBuf) -> PyResult<String> {
    let run = marey::load(&path).map_err(report_error)?;
    let sessions = run.sessions.iter().map(|session| {
        json!({
            "name": session.name, "tags": object(&session.tags), "parent": session.parent, "thread": session.thread,
            "flow": session.flow, "start_ns": session.start_ns, "end_ns": session.end_ns,
        })
    });
    let events = run.events.iter().map(|event| {
        json!({"name": event.name, "data": object(&event.attributes), "session": event.session, "thread": event.thread})
    });
    let caches = run.cache_events.iter().map(|event| {
        json!({
            "outcome": format!("{:?}", event.outcome), "held_bytes": event.held_bytes,
            "data": object(&event.attributes), "session": event.session,
        })
    });
    let generation = run.generation.iter().map(|record| {
        let mut fields = generation_of(&record.what);
        fields.insert("session".into(), record.session.into());
        Json::Object(fields)
    });
    let named = |node: u32| run.nodes.get(node as usize).map(|node| node.name.as_str());
    let gpu_spans = run.gpu_spans.iter().map(|span| {
        json!({
            "name": named(span.node), "thread": span.thread, "start_ns": span.start_ns, "device": span.device,
            "stream": span.stream, "gpu_ns": span.gpu_ns, "delay_ns": span.delay_ns, "error_ns": span.error_ns,
        })
    });
    let memory = run.section_memory.iter().map(|memory| {
        let figures = &memory.figures;
        json!({
            "name": named(memory.node), "device": figures.device,
            "allocated": [figures.allocated_before, figures.allocated_peak, figures.allocated_after],
            "allocated_peak_error": figures.allocated_peak_error,
            "reserved": [figures.reserved_before, figures.reserved_peak, figures.reserved_after],
            "reserved_peak_error": figures.reserved_peak_error,
            "inactive_split": figures.inactive_split,
        })
    });
    let unavailable = run.unavailable.iter().map(|u| json!([u.what, u.why]));
    let losses = json!({
        "notes_dropped": run.losses.notes_dropped, "sections_unrecorded": run.losses.sections_unrecorded,
    });
    Ok(json!({
        "sessions": sessions.collect::<Vec<_>>(),
        "sections": sections(&run),
        "events": events.collect::<Vec<_>>(),
        "cache_events": caches.collect::<Vec<_>>(),
        "generation": generation.collect::<Vec<_>>(),
        "gpu_spans": gpu_spans.collect::<Vec<_>>(),
        "section_memory": memory.collect::<Vec<_>>(),
        "unavailable": unavailable.collect::<Vec<_>>(),
        "losses": losses,
    })
    .to_string())
}

/// Every section with what was noted of it, in the order in which they began.
fn sections(run: &Run) -> Vec<Json> {
    let mut order: Vec<usize> = (0..run.sections.len()).collect();
    order.sort_by_key(|place| run.sections[*place].start_ns);
    let assignment = marey_analysis::SessionAssignment::new(run);
    let row = |place: &usize| {
        let section = &run.sections[*place];
        let noted: Vec<_> =
            run.section_attributes.iter().filter(|noted| noted.section == *place).collect();
        json!({
            "name": run.nodes[section.node as usize].name, "start_ns": section.start_ns,
            "thread": section.thread, "flow": section.flow, "is_failed": section.is_failed,
            "has_pauses": section.has_pauses, "duration_ns": section.duration_ns(),
            "session": noted.iter().find_map(|noted| noted.session).or_else(|| around(run, section)),
            "belongs_to": assignment.of_section(*place),
            "attributes": noted.first().map(|noted| object(&noted.attributes)),
        })
    };
    order.iter().map(row).collect()
}

/// The innermost session that was begun in the section's thread and flow before it, and ended after it.
fn around(run: &Run, section: &Section) -> Option<u32> {
    let is_around = |session: &Session| {
        (session.thread, session.flow) == (section.thread, section.flow)
            && session.start_ns <= section.start_ns
            && session.end_ns.unwrap_or(u64::MAX) >= section.end_ns
    };
    let last = run.sessions.iter().rposition(is_around)?;
    u32::try_from(last).ok()
}

fn object(attributes: &Attributes) -> Json {
    let pairs =
        attributes.iter().map(|(name, value)| (name.clone(), marey_report::json_value(value)));
    Json::Object(pairs.collect())
}

fn generation_of(what: &Generation) -> Map<String, Json> {
    let fields = match what {
        Generation::Step(step) => json!({
            "kind": "step", "step": step.step, "timestep": step.timestep, "block_size": step.block_size,
            "computation_ns": step.computation_ns, "guidance_scale": step.guidance_scale,
        }),
        Generation::Block(block) => json!({
            "kind": "block", "index": block.index, "size": block.size, "computation_ns": block.computation_ns,
            "memory_bytes": block.memory_bytes,
        }),
        Generation::Model(model) => json!({
            "kind": "model", "name": model.name, "count": model.count, "type": model.kind,
            "flops_per_call": model.flops_per_call, "calls_per_step": model.calls_per_step,
        }),
        Generation::Streaming(event) => json!({
            "kind": "streaming", "frames": event.frames, "encoding_ns": event.encoding_ns,
            "network_latency_ns": event.network_latency_ns, "buffer_occupancy": event.buffer_occupancy,
        }),
        Generation::DroppedFrames { count } => json!({"kind": "dropped_frames", "count": count}),
        Generation::Layer(layer) => json!({
            "kind": "layer", "name": layer.name, "computation_ns": layer.computation_ns, "parameters": layer.parameters,
        }),
        Generation::Allocation(allocation) => json!({
            "kind": "allocation", "is_release": allocation.is_release, "bytes": allocation.bytes,
            "allocator": allocation.allocator, "context": allocation.context,
        }),
    };
    match fields {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}

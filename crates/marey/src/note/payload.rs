//! What the payloads of notes are made of: types of other modules, field by field in the order of their bytes.

use crate::device_work::{DeviceMemory, GpuSpan, SectionKey};
use crate::generation::{
    Allocation, BlockComputation, DiffusionStep, Generation, LayerComputation, ModelParameters,
    StreamingEvent,
};
use crate::resources::{Resources, Spent};
use crate::run::{
    CacheEvent, CacheOutcome, CounterReading, Event, MemoryReading, MemorySource, Outcome, Session,
    Thread,
};
use crate::series::{SeriesInfo, SeriesKind, Unavailable, Unit};
use crate::window::WindowChange;
use crate::wire::{Decoder, Wire, wire};

wire! {
    enum Generation {
        0 Step(step),
        1 Block(block),
        2 Model(model),
        3 Streaming(event),
        4 DroppedFrames { count },
        5 Layer(layer),
        6 Allocation(allocation),
    }
}
wire! { struct DiffusionStep { step, timestep, block_size, computation_ns, guidance_scale } }
wire! { struct BlockComputation { index, size, computation_ns, memory_bytes } }
wire! { struct ModelParameters { name, count, kind, flops_per_call = None, calls_per_step = None } }
wire! { struct StreamingEvent { frames, encoding_ns, network_latency_ns, buffer_occupancy } }
wire! { struct LayerComputation { name, computation_ns, parameters } }
wire! { struct Allocation { is_release, bytes, allocator, context } }

wire! {
    enum WindowChange {
        0 Opened { name, instrument, options },
        1 Recording,
        2 Stopped { reason },
        3 Exported { path, bytes, export_ns },
        4 Failed { during, error },
        5 Remark { text },
    }
}

wire! { struct Thread { os_id, name } }
wire! { struct Event { name, attributes, .. } }
wire! { struct CounterReading { name, value, .. } }
wire! { struct Session { number, name, tags, flow = 0, .. } }
wire! { struct Unavailable { what, why } }

wire! { struct SectionKey { thread, node, start_ticks } }
wire! { struct GpuSpan { device, stream, delay_ns, gpu_ns, error_ns, .. } }
wire! {
    struct DeviceMemory {
        device,
        allocated_before, allocated_after, allocated_peak,
        reserved_before, reserved_after, reserved_peak,
        inactive_split,
        allocated_peak_error = 0, reserved_peak_error = 0,
    }
}

wire! { struct Resources { process, thread, resident_before, resident_after, peak_bytes = None } }
wire! { struct Spent { cpu_ns, read_bytes, written_bytes } }

/// Nothing, or what was used, at the end of a note.
impl Wire for Option<Resources> {
    fn put(&self, out: &mut Vec<u8>) {
        if let Some(used) = self {
            used.put(out);
        }
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Resources::take(from))
    }
}

/// A flag, and what was spent only if it is set.
impl Wire for Option<Spent> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(spent) = self {
            spent.put(out);
        }
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        if bool::take(from)? { Spent::take(from).map(Some) } else { Some(None) }
    }
}

wire! { struct SeriesInfo { unit, kind, name, subject } }
wire! { enum SeriesKind { 0 Gauge, 1 Cumulative } }

wire! {
    enum Unit {
        0 Count, 1 Bytes, 2 BytesPerSecond, 3 Ratio, 4 Seconds, 5 Celsius, 6 Watts, 7 Joules, 8 Hertz,
        9 Bits,
    }
}

wire! {
    struct MemoryReading { source, label, allocated_bytes, reserved_bytes, peak_bytes, .. }
}
wire! {
    struct CacheEvent { cache, outcome, step, block, score, threshold, held_bytes, attributes, .. }
}
wire! { enum CacheOutcome { 0 Hit, 1 Miss, 2 Eviction, 3 Lookup } }

impl Wire for Outcome {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u8).put(out);
    }

    /// The first captures end before it.
    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Self::from_code(u8::take(from).unwrap_or(Self::Done as u8))
    }
}

impl Wire for MemorySource {
    fn put(&self, out: &mut Vec<u8>) {
        let (code, device) = match self {
            Self::Process => (0_u32, 0_u32),
            Self::TorchCuda(device) => (1, *device),
        };
        (code, device).put(out);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        match <(u32, u32)>::take(from)? {
            (0, _) => Some(Self::Process),
            (1, device) => Some(Self::TorchCuda(device)),
            _ => None,
        }
    }
}

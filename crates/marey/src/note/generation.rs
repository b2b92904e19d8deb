//! What a generating program reports, as payload.

use super::wire::{Decoder, Encoder};
use crate::generation::{
    Allocation, BlockComputation, DiffusionStep, Generation, LayerComputation, ModelParameters,
    StreamingEvent,
};

impl Generation {
    pub(super) fn put(&self, out: &mut Encoder) {
        match self {
            Self::Step(step) => out
                .u8(0)
                .optional(step.step)
                .optional_f64(step.timestep)
                .optional(step.block_size)
                .optional(step.computation_ns)
                .optional_f64(step.guidance_scale),
            Self::Block(block) => out
                .u8(1)
                .optional(block.index)
                .optional(block.size)
                .optional(block.computation_ns)
                .optional(block.memory_bytes),
            Self::Model(model) => out
                .u8(2)
                .text(&model.name)
                .optional(model.count)
                .optional_text(model.kind.as_deref())
                .optional_f64(model.flops_per_call)
                .optional_f64(model.calls_per_step),
            Self::Streaming(event) => out
                .u8(3)
                .optional(event.frames)
                .optional(event.encoding_ns)
                .optional(event.network_latency_ns)
                .optional_f64(event.buffer_occupancy),
            Self::DroppedFrames { count } => out.u8(4).u64(*count),
            Self::Layer(layer) => out
                .u8(5)
                .text(&layer.name)
                .optional(layer.computation_ns)
                .optional(layer.parameters),
            Self::Allocation(allocation) => out
                .u8(6)
                .u8(allocation.is_release.into())
                .u64(allocation.bytes)
                .optional_text(allocation.allocator.as_deref())
                .optional_text(allocation.context.as_deref()),
        };
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(match from.u8()? {
            0 => Self::Step(DiffusionStep {
                step: from.optional()?,
                timestep: from.optional_f64()?,
                block_size: from.optional()?,
                computation_ns: from.optional()?,
                guidance_scale: from.optional_f64()?,
            }),
            1 => Self::Block(BlockComputation {
                index: from.optional()?,
                size: from.optional()?,
                computation_ns: from.optional()?,
                memory_bytes: from.optional()?,
            }),
            2 => Self::Model(ModelParameters {
                name: from.text()?,
                count: from.optional()?,
                kind: from.optional_text()?,
                // Older captures end here.
                flops_per_call: from.later_f64(),
                calls_per_step: from.later_f64(),
            }),
            3 => Self::Streaming(StreamingEvent {
                frames: from.optional()?,
                encoding_ns: from.optional()?,
                network_latency_ns: from.optional()?,
                buffer_occupancy: from.optional_f64()?,
            }),
            4 => Self::DroppedFrames { count: from.u64()? },
            5 => Self::Layer(LayerComputation {
                name: from.text()?,
                computation_ns: from.optional()?,
                parameters: from.optional()?,
            }),
            6 => Self::Allocation(Allocation {
                is_release: from.u8()? != 0,
                bytes: from.u64()?,
                allocator: from.optional_text()?,
                context: from.optional_text()?,
            }),
            _ => return None,
        })
    }
}

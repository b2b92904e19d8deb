//! Windows, GPU time and memory of sections, as payload.

use super::wire::{Decoder, Encoder};
use crate::device_work::{DeviceMemory, SectionKey};
use crate::window::WindowChange;

impl WindowChange {
    pub(super) fn put(&self, out: &mut Encoder) {
        match self {
            Self::Opened {
                name,
                instrument,
                options,
            } => out.u8(0).text(name).text(instrument).attributes(options),
            Self::Recording => out.u8(1),
            Self::Stopped { reason } => out.u8(2).text(reason),
            Self::Exported {
                path,
                bytes,
                export_ns,
            } => out.u8(3).text(path).u64(*bytes).u64(*export_ns),
            Self::Failed { during, error } => out.u8(4).text(during).text(error),
            Self::Remark { text } => out.u8(5).text(text),
        };
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(match from.u8()? {
            0 => Self::Opened {
                name: from.text()?,
                instrument: from.text()?,
                options: from.attributes()?,
            },
            1 => Self::Recording,
            2 => Self::Stopped {
                reason: from.text()?,
            },
            3 => Self::Exported {
                path: from.text()?,
                bytes: from.u64()?,
                export_ns: from.u64()?,
            },
            4 => Self::Failed {
                during: from.text()?,
                error: from.text()?,
            },
            5 => Self::Remark { text: from.text()? },
            _ => return None,
        })
    }
}

impl SectionKey {
    pub(super) fn put(self, out: &mut Encoder) -> &mut Encoder {
        out.u32(self.thread).u32(self.node).u64(self.start_ticks)
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            thread: from.u32()?,
            node: from.u32()?,
            start_ticks: from.u64()?,
        })
    }
}

impl DeviceMemory {
    pub(super) fn put(self, out: &mut Encoder) {
        out.u32(self.device)
            .u64(self.allocated_before)
            .u64(self.allocated_after)
            .u64(self.allocated_peak)
            .u64(self.reserved_before)
            .u64(self.reserved_after)
            .u64(self.reserved_peak)
            .optional(self.inactive_split);
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            device: from.u32()?,
            allocated_before: from.u64()?,
            allocated_after: from.u64()?,
            allocated_peak: from.u64()?,
            reserved_before: from.u64()?,
            reserved_after: from.u64()?,
            reserved_peak: from.u64()?,
            inactive_split: from.optional()?,
        })
    }
}

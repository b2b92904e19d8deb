//! Windows, GPU time, memory and resources of sections, as payload.

use super::wire::{Decoder, Encoder};
use crate::device_work::{DeviceMemory, SectionKey};
use crate::resources::{Resources, Spent};
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

impl Resources {
    pub(super) fn put(&self, out: &mut Encoder) {
        self.process.put(out);
        out.u8(u8::from(self.thread.is_some()));
        if let Some(thread) = &self.thread {
            thread.put(out);
        }
        out.optional(self.resident_before)
            .optional(self.resident_after)
            .optional(self.peak_bytes);
    }

    pub(super) fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            process: Spent::take(from)?,
            thread: match from.u8()? {
                0 => None,
                _ => Some(Spent::take(from)?),
            },
            resident_before: from.optional()?,
            resident_after: from.optional()?,
            // The first captures have none.
            peak_bytes: from.optional().flatten(),
        })
    }
}

impl Spent {
    fn put(&self, out: &mut Encoder) {
        out.u64(self.cpu_ns)
            .optional(self.read_bytes)
            .optional(self.written_bytes);
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            cpu_ns: from.u64()?,
            read_bytes: from.optional()?,
            written_bytes: from.optional()?,
        })
    }
}

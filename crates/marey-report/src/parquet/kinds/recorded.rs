//! Tables of lists of the run: an item a row, in the order of the list.

use marey::{
    CacheEvent, CounterReading, Event, GpuSpan, MemoryReading, MemorySource, OpenSection, Session,
};

use super::json;
use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// An item of a list of the run, with the process.
pub(crate) struct At<'a, T> {
    process: &'a Process,
    it: &'a T,
}

/// A table each: its list, what an item is, and its columns without those that every table has.
macro_rules! tables {
    ($($table:ident: $list:ident of $item:ty; $row:ident { $($columns:tt)* })*) => {$(
        /// The table.
        pub(crate) struct $table;

        impl Table for $table {
            type Row<'a> = At<'a, $item>;

            fn columns<'a>() -> Vec<Column<Self::Row<'a>>> {
                columns! { $row: At<'_, $item>; $($columns)* }
            }

            fn new(_: &Process) -> Self {
                Self
            }

            fn len(&self, process: &Process) -> usize {
                process.run.$list.len()
            }

            fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Self::Row<'a>> {
                Some(At { process, it: process.run.$list.get(place)? })
            }
        }
    )*};
}

tables! {
    Open: open of OpenSection; row {
        unix_ns("start_unix_ns", "when it was entered, on the wall clock, since 1970")
            => row.process.unix_ns(row.it.start_ns);
        ns("start_ns", "when it was entered, since the start of the process") => Some(row.it.start_ns);
        ns("so_far_ns", "from then to the end of the capture")
            => Some(row.it.end_ns(row.process.run.wall_ns) - row.it.start_ns);
        thread() null "the thread completed no section" => row.it.thread.map(u64::from);
        node() => Some(row.it.node.into());
        path() => Some(row.process.path(row.it.node)?.text.as_str());
        text("name", "its name") => row.process.name(row.it.node);
    }

    Sessions: sessions of Session; row {
        text("session", "its name") => Some(row.it.name.as_str());
        number("number", "its number in the process: several may have one name") => Some(row.it.number);
        unix_ns("start_unix_ns", "when it began, on the wall clock, since 1970")
            => row.process.unix_ns(row.it.start_ns);
        ns("start_ns", "when it began, since the start of the process") => Some(row.it.start_ns);
        ns("end_ns", "when it ended") null "it was open when the capture ended" => row.it.end_ns;
        ns("duration_ns", "how long it took") null "it was open when the capture ended"
            => Some(row.it.end_ns?.saturating_sub(row.it.start_ns));
        text("outcome", "`done`, `failed`, or `cut_off`: stopped before its end, or open when the capture ended")
            => Some(row.it.outcome.name());
        text("parent", "name of the session that it is nested in") null "it is nested in none"
            => row.process.session_name(row.it.parent);
        number("thread", "the thread that began it, by number in the process") => Some(row.it.thread.into());
        ns("cpu_ns", "processor time of the whole process meanwhile")
            null "it had not ended, or that was not read"
            => Some(row.it.used?.process.cpu_ns);
        bytes("read_bytes", "fetched from storage by the whole process meanwhile")
            null "it had not ended, or that was not read"
            => row.it.used?.process.read_bytes;
        bytes("written_bytes", "made by the whole process to be written to storage meanwhile")
            null "it had not ended, or that was not read"
            => row.it.used?.process.written_bytes;
        bytes("resident_before_bytes", "resident memory of the process when it began")
            null "it had not ended, or that was not read"
            => row.it.used?.resident_before;
        bytes("resident_after_bytes", "resident memory of the process when it ended")
            null "it had not ended, or that was not read"
            => row.it.used?.resident_after;
        made("tags", "the user's tags, a JSON object") null "there are none" => json(&row.it.tags);
    }

    Events: events of Event; row {
        at_unix_ns() => row.process.unix_ns(row.it.at_ns);
        at_ns() => Some(row.it.at_ns);
        text("name", "its name") => Some(row.it.name.as_str());
        thread() => Some(row.it.thread.into());
        recorded_for() => row.process.session_name(row.it.session);
        made("data", "what it was given, a JSON object") null "nothing was" => json(&row.it.attributes);
    }

    Counters: counters of CounterReading; row {
        at_unix_ns() => row.process.unix_ns(row.it.at_ns);
        at_ns() => Some(row.it.at_ns);
        text("name", "the counter") => Some(row.it.name.as_str());
        real("value", "its value") => Some(row.it.value);
    }

    Memory: memory of MemoryReading; row {
        at_unix_ns() => row.process.unix_ns(row.it.at_ns);
        at_ns() => Some(row.it.at_ns);
        text("label", "the user's label") null "the recorder took it by itself" => row.it.label.as_deref();
        text("source", "process: resident memory; torch_cuda: torch's allocator on a device")
            => Some(match row.it.source {
                MemorySource::Process => "process",
                MemorySource::TorchCuda(_) => "torch_cuda",
            });
        number("device", "number of the device") null "of the process"
            => match row.it.source {
                MemorySource::Process => None,
                MemorySource::TorchCuda(device) => Some(device.into()),
            };
        bytes("allocated_bytes", "in use: resident, or in tensors") => Some(row.it.allocated_bytes);
        bytes("reserved_bytes", "what the allocator holds") null "of the process" => row.it.reserved_bytes;
        bytes("peak_bytes", "most in use so far, as the source counts it") null "not read" => row.it.peak_bytes;
        recorded_for() => row.process.session_name(row.it.session);
    }

    SectionMemory: section_memory of marey::SectionMemory; row {
        ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
        thread() => Some(row.it.thread.into());
        node() => Some(row.it.node.into());
        path() => Some(row.process.path(row.it.node)?.text.as_str());
        text("name", "its name") => row.process.name(row.it.node);
        number("device", "number of the device") => Some(row.it.figures.device.into());
        bytes("allocated_before_bytes", "in tensors when it was entered") => Some(row.it.figures.allocated_before);
        bytes("allocated_peak_bytes", "most in tensors meanwhile")
            null "torch's own peak did not rise meanwhile, or was reset"
            => known(row.it.figures.allocated_peak, row.it.figures.allocated_peak_error);
        bytes("allocated_after_bytes", "in tensors when it was left") => Some(row.it.figures.allocated_after);
        bytes("reserved_before_bytes", "held by the allocator when it was entered")
            => Some(row.it.figures.reserved_before);
        bytes("reserved_peak_bytes", "most held meanwhile") null "as above"
            => known(row.it.figures.reserved_peak, row.it.figures.reserved_peak_error);
        bytes("reserved_after_bytes", "held when it was left") => Some(row.it.figures.reserved_after);
    }

    SectionResources: section_resources of marey::SectionResources; row {
        ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
        thread() => Some(row.it.thread.into());
        node() => Some(row.it.node.into());
        path() => Some(row.process.path(row.it.node)?.text.as_str());
        text("name", "its name") => row.process.name(row.it.node);
        ns("process_cpu_ns", "processor time of the process meanwhile") => Some(row.it.used.process.cpu_ns);
        bytes("process_read_bytes", "fetched from storage by the process meanwhile")
            null "the kernel does not count it"
            => row.it.used.process.read_bytes;
        bytes("process_written_bytes", "made to be written to storage by the process meanwhile")
            null "the kernel does not count it"
            => row.it.used.process.written_bytes;
        ns("thread_cpu_ns", "processor time of its own thread") null "it ran in a task"
            => Some(row.it.used.thread?.cpu_ns);
        bytes("thread_read_bytes", "fetched from storage by its own thread")
            null "it ran in a task, or the kernel does not count it"
            => row.it.used.thread?.read_bytes;
        bytes("thread_written_bytes", "made to be written to storage by its own thread")
            null "it ran in a task, or the kernel does not count it"
            => row.it.used.thread?.written_bytes;
        bytes("resident_before_bytes", "resident memory of the process when it was entered")
            null "it was not read"
            => row.it.used.resident_before;
        bytes("resident_after_bytes", "resident memory of the process when it was left") null "it was not read"
            => row.it.used.resident_after;
    }

    GpuSpans: gpu_spans of GpuSpan; row {
        ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
        number("thread", "the section's thread, by number in the process") => Some(row.it.thread.into());
        node() => Some(row.it.node.into());
        path() => Some(row.process.path(row.it.node)?.text.as_str());
        text("name", "the section's name") => row.process.name(row.it.node);
        number("device", "number of the device") => Some(row.it.device.into());
        number("stream", "the stream, as torch numbers it; 0 is the default stream") => Some(row.it.stream);
        ns("gpu_ns", "from the first to the second event on the stream: work and waiting") => Some(row.it.gpu_ns);
        ns("delay_ns", "from the section's start to the beginning of its work on the GPU")
            null "clocks could not be compared"
            => row.it.delay_ns;
        ns("error_ns", "by how much the delay may be wrong") null "there is no delay" => row.it.error_ns;
    }

    Cache: cache_events of CacheEvent; row {
        at_unix_ns() => row.process.unix_ns(row.it.at_ns);
        at_ns() => Some(row.it.at_ns);
        text("cache", "which cache") => Some(row.it.cache.as_str());
        text("outcome", "hit, miss, eviction, or lookup: what came of it is recorded apart or not known")
            => Some(row.it.outcome.name());
        number("step", "denoising step") null "not said" => row.it.step;
        number("block", "block of frames") null "not said" => row.it.block;
        real("score", "what was compared with the threshold") null "not said" => row.it.score;
        real("threshold", "the limit that decided") null "not said" => row.it.threshold;
        bytes("held_bytes", "what the cache held afterwards") null "not said" => row.it.held_bytes;
        recorded_for() => row.process.session_name(row.it.session);
        made("data", "anything else that it was given, a JSON object")
            null "nothing was" => json(&row.it.attributes);
    }
}

/// A peak that may have been more is none.
fn known(peak: u64, error: u64) -> Option<u64> {
    (error == 0).then_some(peak)
}

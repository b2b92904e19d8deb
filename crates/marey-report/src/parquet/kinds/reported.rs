//! Tables of what the program reported of its own work: a report a row, in the order of time.

use marey::{
    Allocation, Generation, GenerationRecord, LayerComputation, ModelParameters, StreamingEvent,
};

use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// A report, with the process.
pub(crate) struct Report<'a, T> {
    process: &'a Process,
    record: &'a GenerationRecord,
    it: &'a T,
}

/// A table each: which reports it has, and its columns without those that every such table has.
macro_rules! tables {
    ($($table:ident: $reports:pat => $it:ident of $item:ty; $row:ident { $($columns:tt)* })*) => {$(
        /// The table: places in `Run::generation`.
        pub(crate) struct $table(Vec<usize>);

        impl Table for $table {
            type Row<'a> = Report<'a, $item>;

            fn columns<'a>() -> Vec<Column<Self::Row<'a>>> {
                columns! { $row: Report<'_, $item>;
                    at_unix_ns() => $row.process.unix_ns($row.record.at_ns);
                    at_ns() => Some($row.record.at_ns);
                    $($columns)*
                    thread() => Some($row.record.thread.into());
                    recorded_for() => $row.process.session_name($row.record.session);
                }
            }

            fn new(process: &Process) -> Self {
                let all = process.run.generation.iter().enumerate();
                let its = all.filter(|(_, record)| Self::of(&record.what).is_some());
                Self(its.map(|(place, _)| place).collect())
            }

            fn len(&self, _: &Process) -> usize {
                self.0.len()
            }

            fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Self::Row<'a>> {
                let record = process.run.generation.get(*self.0.get(place)?)?;
                Some(Report { process, record, it: Self::of(&record.what)? })
            }
        }

        impl $table {
            fn of(report: &Generation) -> Option<&$item> {
                match report {
                    $reports => Some($it),
                    _ => None,
                }
            }
        }
    )*};
}

tables! {
    Models: Generation::Model(it) => it of ModelParameters; row {
        text("name", "its name") => Some(row.it.name.as_str());
        text("kind", "what it is: transformer, vae") null "not said" => row.it.kind.as_deref();
        count("parameters", "number of its parameters") null "not said" => row.it.count;
        real("flops_per_call", "floating point operations of one pass") in "1" null "not said"
            => row.it.flops_per_call;
        real("calls_per_step", "passes of a denoising step") in "1" null "not said" => row.it.calls_per_step;
    }

    Layers: Generation::Layer(it) => it of LayerComputation; row {
        text("name", "its name") => Some(row.it.name.as_str());
        ns("duration_ns", "how long it took") null "not known" => row.it.computation_ns;
        count("parameters", "number of its parameters") null "not said" => row.it.parameters;
    }

    Deliveries: it @ (Generation::Streaming(_) | Generation::DroppedFrames { .. }) => it of Generation; row {
        count("frames", "frames that were delivered")
            null "not said, or they were dropped" => delivered(row.it)?.frames;
        count("dropped_frames", "frames that were to be delivered and were not") null "it is a delivery"
            => match row.it { Generation::DroppedFrames { count } => Some(*count), _ => None, };
        ns("encoding_ns", "time to encode them") null "not said" => delivered(row.it)?.encoding_ns;
        ns("network_latency_ns", "time on the network") null "not said" => delivered(row.it)?.network_latency_ns;
        real("buffer_occupancy", "fill of the viewer's buffer, in the program's own scale") null "not said"
            => delivered(row.it)?.buffer_occupancy;
    }

    Allocations: Generation::Allocation(it) => it of Allocation; row {
        flag("is_release", "it is a release") => Some(row.it.is_release);
        bytes("bytes", "its size") => Some(row.it.bytes);
        text("allocator", "who made it") null "not said" => row.it.allocator.as_deref();
        text("context", "what for") null "not said" => row.it.context.as_deref();
    }
}

fn delivered(report: &Generation) -> Option<&StreamingEvent> {
    match report {
        Generation::Streaming(event) => Some(event),
        _ => None,
    }
}

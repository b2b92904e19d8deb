//! One row a delivery of frames, or a report of dropped ones, in order of time.

use marey::{Generation, StreamingEvent};

use crate::parquet::column::{Column, columns};
use crate::parquet::reported::{Report, Reported};

/// The table.
pub(crate) struct Deliveries;

fn delivered<'r>(row: &'r Report<'_>) -> Option<&'r StreamingEvent> {
    match row.what() {
        Generation::Streaming(event) => Some(event),
        _ => None,
    }
}

impl Reported for Deliveries {
    fn has(report: &Generation) -> bool {
        matches!(report, Generation::Streaming(_) | Generation::DroppedFrames { .. })
    }

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        columns! { row: Report<'_>;
            count("frames", "frames that were delivered")
                null "not said, or they were dropped" => delivered(row)?.frames;
            count("dropped_frames", "frames that were to be delivered and were not") null "it is a delivery"
                => match row.what() { Generation::DroppedFrames { count } => Some(*count), _ => None, };
            ns("encoding_ns", "time to encode them") null "not said" => delivered(row)?.encoding_ns;
            ns("network_latency_ns", "time on the network") null "not said" => delivered(row)?.network_latency_ns;
            real("buffer_occupancy", "fill of the viewer's buffer, in the program's own scale") null "not said"
                => delivered(row)?.buffer_occupancy;
        }
    }
}

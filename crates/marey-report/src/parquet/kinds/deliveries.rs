//! One row a delivery of frames, or a report of dropped ones, in order of time.

use marey::{Generation, StreamingEvent};

use crate::parquet::column::Column;
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
        matches!(
            report,
            Generation::Streaming(_) | Generation::DroppedFrames { .. }
        )
    }

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        vec![
            Column::number(
                "frames",
                "frames that were delivered",
                |row: &Report<'_>| delivered(row)?.frames,
            )
            .in_unit("1")
            .null("not said, or they were dropped"),
            Column::number(
                "dropped_frames",
                "frames that were to be delivered and were not",
                |row: &Report<'_>| match row.what() {
                    Generation::DroppedFrames { count } => Some(*count),
                    _ => None,
                },
            )
            .in_unit("1")
            .null("it is a delivery"),
            Column::number("encoding_ns", "time to encode them", |row: &Report<'_>| {
                delivered(row)?.encoding_ns
            })
            .in_unit("ns")
            .null("not said"),
            Column::number(
                "network_latency_ns",
                "time on the network",
                |row: &Report<'_>| delivered(row)?.network_latency_ns,
            )
            .in_unit("ns")
            .null("not said"),
            Column::real(
                "buffer_occupancy",
                "fill of the viewer's buffer, in the program's own scale",
                |row: &Report<'_>| delivered(row)?.buffer_occupancy,
            )
            .null("not said"),
        ]
    }
}

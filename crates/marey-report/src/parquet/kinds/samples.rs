//! One row a point of a series: a reading of a sampler, or all readings of a time bucket.

use marey::{SeriesInfo, SeriesKind, SeriesPoint, Unit};

use super::number;
use crate::parquet::column::{Column, columns};
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table. Points by series, in order of name and subject, then of time.
pub(crate) struct Samples {
    /// How many points are in the series up to and with each one.
    ends: Vec<usize>,
}

/// A point.
pub(crate) struct Row<'a> {
    process: &'a Process,
    info: &'a SeriesInfo,
    point: &'a SeriesPoint,
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        Unit::Bits => "bits",
        other => other.symbol(),
    }
}

impl Table for Samples {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            text("name", "what was read: host.cpu.busy, gpu.power") => Some(row.info.name.as_str());
            text("subject", "of what: a GPU's UUID, a core's number, a disk's name") null "there is only one"
                => Some(row.info.subject.as_str()).filter(|subject| !subject.is_empty());
            text("unit", "count, ratio, bits, B, B/s, s, °C, W, J or Hz") => Some(unit(row.info.unit));
            flag("is_cumulative", "values only grow: the difference of two is what happened between them")
                => Some(row.info.kind == SeriesKind::Cumulative);
            unix_ns("first_unix_ns", "when the first reading was taken, on the wall clock, since 1970")
                => row.process.unix_ns(row.point.first_ns);
            ns("first_ns", "when the first reading was taken, since the start of the process")
                => Some(row.point.first_ns);
            ns("last_ns", "when the last reading was taken") => Some(row.point.last_ns);
            count("readings", "readings in this point") => number(row.point.count as usize);
            real("min", "lowest") in "`unit`" => Some(row.point.min);
            real("mean", "mean") in "`unit`" => Some(row.point.mean());
            real("max", "highest") in "`unit`" => Some(row.point.max);
            real("last", "the last one") in "`unit`" => Some(row.point.last);
        }
    }

    fn new(process: &Process) -> Self {
        let mut n_points: usize = 0;
        let ends = process.run.series.iter().map(|series| {
            n_points = n_points.saturating_add(series.points.len());
            n_points
        });
        Self { ends: ends.collect() }
    }

    fn len(&self, _: &Process) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        let number = self.ends.partition_point(|end| *end <= place);
        let series = process.run.series.get(number)?;
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(Row {
            process,
            info: &series.info,
            point: series.points.get(place.checked_sub(begin)?)?,
        })
    }
}

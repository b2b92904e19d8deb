//! What HTA says of a trace.

use marey_analysis::{HtaAnswers, HtaIdleCategory};

use crate::model::{Cell, Table};
use crate::quantity::float;

/// The figures by HTA's definitions. Rows are figures: what, of which rank and stream, and how long.
pub fn hta_tables(answers: &[HtaAnswers]) -> Vec<Table> {
    let mut table = Table::new(
        "hta_compat",
        "By the definitions of HTA 0.5.0",
        &[
            ("document", "Document"),
            ("figure", "Figure"),
            ("stream", "Stream"),
            ("total_us", "µs"),
            ("ratio", "Share"),
        ],
    );
    for of in answers {
        add(&mut table, of);
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    let note = "Not Marey's figures: rounded, without the last step, with synchronisations taken for work.";
    table.notes.push(note.into());
    vec![table]
}

fn add(table: &mut Table, of: &HtaAnswers) {
    let document = Cell::Count(of.document.into());
    let whole_ns = of.kernel_time_ns;
    let times = [
        ("kernel_time", of.kernel_time_ns),
        ("idle_time", of.idle_ns),
        ("compute_time", of.compute_ns),
        ("non_compute_time", of.non_compute_ns),
    ];
    for (figure, ns) in times {
        let ratio = (whole_ns > 0).then(|| float(ns) / float(whole_ns));
        table.row(vec![
            document.clone(),
            Cell::text(figure),
            Cell::Absent,
            Cell::Number(float(ns) / 1_000.0),
            Cell::known(ratio, Cell::Ratio),
        ]);
    }
    table.row(vec![
        document.clone(),
        Cell::text("comp_comm_overlap"),
        Cell::Absent,
        Cell::Absent,
        Cell::known(of.overlap_ratio, Cell::Ratio),
    ]);
    for kind in &of.kernel_types {
        table.row(vec![
            document.clone(),
            Cell::text(kind.kernel_type.as_str()),
            Cell::Absent,
            Cell::Number(float(kind.total_ns) / 1_000.0),
            Cell::Absent,
        ]);
    }
    for idle in &of.idle_by_stream {
        let category = match idle.category {
            HtaIdleCategory::HostWait => "host_wait",
            HtaIdleCategory::KernelWait => "kernel_wait",
            HtaIdleCategory::Other => "other",
        };
        let us = float(idle.total_ns.unsigned_abs()) / 1_000.0;
        table.row(vec![
            document.clone(),
            Cell::text(category),
            Cell::Text(idle.stream.to_string()),
            Cell::Number(if idle.total_ns < 0 { -us } else { us }),
            Cell::Absent,
        ]);
    }
}

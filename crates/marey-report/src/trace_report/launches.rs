//! How far a device ran behind the host.

use marey_analysis::{DeviceAnswers, LaunchDelay};

use crate::document::{Cell, Table};
use crate::quantity::{counted, duration_ns};

pub(super) fn table(device: &DeviceAnswers) -> Table {
    let launches = &device.launches;
    let mut table = Table::new(
        "launches",
        "Launches",
        &[
            ("figure", "Figure"),
            ("mean", "Mean"),
            ("median", "Median"),
            ("p95", "p95"),
            ("max", "Max"),
        ],
    );
    let mut delay = |what: &str, delay: Option<LaunchDelay>| {
        if let Some(delay) = delay {
            table.row(vec![
                Cell::text(what),
                Cell::Mean(delay.spread.mean_ns),
                Cell::Mean(delay.spread.median_ns),
                Cell::Duration(delay.p95_ns),
                Cell::Duration(delay.spread.max_ns),
            ]);
        }
    };
    delay("from a call to its first work", launches.delay);
    delay("from its end to that", launches.delay_after_call);
    if let Some(queue) = launches.queue {
        table.row(vec![
            Cell::text("queue, operations"),
            Cell::Number(rounded(queue.mean)),
            Cell::Count(queue.median),
            Cell::Count(queue.p95),
            Cell::Count(queue.max),
        ]);
        table.row(one("queue empty", Cell::Ratio(queue.empty_ratio)));
    }
    if let Some(rate) = launches.kernels_per_second {
        table.row(one("kernels a second", Cell::Number(rounded(rate))));
    }
    if let Some(ratio) = launches.launch_bound_ratio {
        table.row(one("idle time in which the host was launching", Cell::Ratio(ratio)));
    }
    if let Some(delay) = launches.delay {
        table.notes.push(format!(
            "Delays are of {}; one that launches a graph counts once. A call behind work that still runs waits for it.",
            counted(delay.count, "call", "calls")
        ));
    }
    if let Some(before_ns) = launches.before_launch_ns {
        table.notes.push(format!(
            "{} operations began before the call that launched them: the clocks differ by {} or more.",
            launches.n_before_launch,
            duration_ns(before_ns)
        ));
    }
    if launches.n_without_launch > 0 {
        table
            .notes
            .push(format!("{} operations have no launch in the trace.", launches.n_without_launch));
    }
    table
}

/// To three digits, and whole from 100 on: rates of a trace are no more certain.
fn rounded(value: f64) -> f64 {
    let scale = match value.abs() {
        n if n >= 100.0 => 1.0,
        n if n >= 10.0 => 10.0,
        n if n >= 1.0 => 100.0,
        _ => 1_000.0,
    };
    (value * scale).round() / scale
}

/// A figure that is one number.
fn one(what: &str, cell: Cell) -> Vec<Cell> {
    vec![Cell::text(what), cell, Cell::Absent, Cell::Absent, Cell::Absent]
}

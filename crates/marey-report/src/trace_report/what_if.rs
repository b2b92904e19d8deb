//! What a trace would have taken if something were different.

use marey_analysis::findings::{Figure, FigureUnit};
use marey_analysis::{WhatIf, WhatIfRow};

use crate::document::{Block, Cell, Document, Table};
use crate::model::TraceFile;
use crate::quantity::{duration_ns, float, percent};

/// What was asked of one file, without the rest of it. Nothing where nobody asked.
pub fn what_if_document(file: &TraceFile) -> Document {
    let asked = file.answers.as_ref().and_then(|answers| answers.what_if.as_ref());
    let blocks = asked.map(|asked| {
        let title = format!("{} with {}", file.file, asked.changes.join(", "));
        let table = Table { title: String::new(), ..table(asked) };
        vec![Block::Title(title), Block::Text(sentence(asked)), Block::Table(table)]
    });
    Document::from(blocks.unwrap_or_default())
}

fn sentence(asked: &WhatIf) -> String {
    let WhatIfRow { recorded_ns, then_ns, .. } = asked.wall;
    let [recorded, then] = [recorded_ns, then_ns].map(duration_ns);
    if recorded_ns == then_ns {
        return format!("It would take {then}, as long as it did.");
    }
    let word = if then_ns < recorded_ns { "less" } else { "more" };
    let share = percent(float(recorded_ns.abs_diff(then_ns)) / float(recorded_ns.max(1)));
    format!("It would take {then} instead of {recorded}, {share} {word}.")
}

/// The wall time, its parts, and the work of devices.
pub(super) fn table(asked: &WhatIf) -> Table {
    let rows = [&asked.wall].into_iter().chain(&asked.rows).chain([&asked.work]);
    let figure = |ns: u64| Figure { value: float(ns), unit: FigureUnit::Ns };
    let difference = |row: &&WhatIfRow| Figure {
        value: figure(row.then_ns).value - figure(row.recorded_ns).value,
        unit: FigureUnit::Ns,
    };
    let table = Table::of_each(
        "what_if",
        format!("With {}", asked.changes.join(", ")),
        rows,
        &[
            ("name", "Part", &|row| Cell::name(&row.name)),
            ("device", "Device", &|row| Cell::text_of(&row.device)),
            ("recorded_ns", "Recorded", &|row| Cell::Duration(row.recorded_ns)),
            ("then_ns", "Then", &|row| Cell::Duration(row.then_ns)),
            ("difference_ns", "Difference", &|row| Cell::Difference(difference(row))),
        ],
    );
    let assumed = asked.assumptions.join("; ");
    let without = asked.without_launch_ratio.filter(|ratio| *ratio > 0.0);
    let without = without.map(|ratio| {
        let share = percent(ratio);
        format!("{share} of GPU work has no launch in the trace: it follows what ran before it.")
    });
    let nothing = (!asked.without_effect.is_empty())
        .then(|| format!("Without effect here: {}.", asked.without_effect.join(", ")));
    nothing
        .into_iter()
        .chain(without)
        .fold(table.noted(format!("Assumed: {assumed}.")), Table::noted)
}

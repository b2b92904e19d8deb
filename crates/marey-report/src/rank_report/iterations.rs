//! Steps and blocks over ranks.

use marey_analysis::ranks::{IterationsOverRanks, JobAnswers};

use super::places::{Places, SPREAD};
use crate::document::{Cell, Table};

/// A row for steps and one for blocks: each rank's median of iterations that do not warm up.
pub(super) fn summary(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut columns = vec![("turns", "Iterations"), ("count", "Count"), ("n_ranks", "Ranks")];
    columns.extend(SPREAD);
    let mut table = Table::new("turns", "Steps and blocks, medians of ranks", &columns);
    for (name, iterations) in [("steps", &job.steps), ("blocks", &job.blocks)] {
        let Some(iterations) = iterations else { continue };
        let medians = iterations.medians.as_ref();
        let mut row = vec![
            Cell::text(name),
            Cell::Count(iterations.count),
            Cell::count(medians.map(|over| over.n_ranks)),
        ];
        row.extend(places.spread(medians));
        table.row(row);
        table.notes.extend(iterations.counts_differ.map(|(least, most)| {
            format!("Ranks differ in their number of {name}: {least} to {most}.")
        }));
        if !iterations.out_of_step.is_empty() {
            table.notes.push(format!(
                "{name} of rank {} are lost in part: they have a median, and are not compared one by one.",
                places.list(&iterations.out_of_step)
            ));
        }
    }
    table
}

/// A row a cell, the one with the largest spread first.
pub(super) fn each(
    key: &'static str,
    title: &str,
    iterations: Option<&IterationsOverRanks>,
    places: Places<'_>,
) -> Table {
    let mut columns = vec![("first", "Iteration"), ("n_ranks", "Ranks")];
    columns.extend(SPREAD);
    columns.extend([
        ("own_max_ns", "Without comm. max"),
        ("own_slowest", "Without comm. slowest"),
        ("warm_up", "Warm-up"),
    ]);
    let mut table = Table::new(key, title, &columns);
    let Some(iterations) = iterations else { return table };
    let mut cells: Vec<_> = iterations.each.iter().collect();
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.durations.spread_ns));
    for cell in cells {
        let own = cell.own.as_ref();
        let mut row = vec![Cell::Count(cell.first), Cell::Count(cell.durations.n_ranks)];
        row.extend(places.spread(Some(&cell.durations)));
        row.extend([
            Cell::duration(own.map(|own| own.max_ns)),
            Cell::known(own.map(|own| own.slowest), |place| places.cell(place)),
            Cell::text(if cell.is_warm_up { "yes" } else { "" }),
        ]);
        table.row(row);
    }
    if iterations.per_cell > 1 {
        let per_cell = iterations.per_cell;
        table
            .notes
            .push(format!("A row is the mean of {per_cell} iterations that follow each other."));
    }
    table
}

//! Ranks side by side: who is slow, how long steps and sections take on each, what single ones find; and jobs of different numbers of ranks.

use marey_analysis::ranks::{IterationsOverRanks, JobAnswers, RanksAnswers};

use super::figure;
use super::places::{Places, SPREAD};
use crate::document::{Cell, Table, named};

/// Who is slow, and who only waits: a row a rank, the highest score first.
pub(super) fn stragglers(job: &JobAnswers, places: Places<'_>) -> Table {
    let rows = &job.stragglers.ranks;
    let columns =
        "rank: Rank, verdict: Verdict, score: Slower by, own_ns: Own time, waiting_ns: Waits";
    let mut table = Table::of_fields("stragglers", "Stragglers", rows, columns)
        .shows("rank", rows, |row| places.cell(row.place))
        .shows("verdict", rows, |row| named(&row.verdict))
        .shows("score", rows, |row| Cell::Ratio(row.score));
    let basis = Some(&job.stragglers.basis).filter(|words| !words.is_empty());
    table.notes.extend(basis.cloned());
    let late = rows.iter().find_map(|rank| rank.since_ns);
    let of_late = late.map(|_| "Of a rank that became slow, slower by is of the time since then.");
    table.notes.extend(of_late.map(Into::into));
    table
}

/// A row for steps and one for blocks: each rank's median of iterations that do not warm up.
pub(super) fn iterations(job: &JobAnswers, places: Places<'_>) -> Table {
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
pub(super) fn each_iteration(
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

/// A row a call path, the one with the most time first: what ranks spent in it in all.
pub(super) fn sections(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut columns =
        vec![("path", "Section"), ("n_ranks", "Ranks"), ("count", "Calls"), ("total_ns", "Total")];
    columns.extend(SPREAD);
    columns.extend([
        ("call_median_ns", "Call median"),
        ("call_p95_ns", "Call p95"),
        ("errors", "Errors"),
        ("n_open", "Open in"),
    ]);
    let mut table = Table::new("sections", "Sections, totals of ranks", &columns);
    for section in &job.sections {
        let totals = section.totals.as_ref();
        let mut row = vec![
            Cell::text(section.path.join(" › ")),
            Cell::count(totals.map(|over| over.n_ranks)),
            Cell::Count(section.count),
            Cell::Duration(section.total_ns),
        ];
        row.extend(places.spread(totals));
        row.extend([
            Cell::duration(section.median_ns),
            Cell::duration(section.p95_ns),
            Cell::Count(section.errors),
            Cell::Count(section.n_open),
        ]);
        table.row(row);
    }
    table
}

/// What is the matter with single ranks: a row a rule.
pub(super) fn single_findings(job: &JobAnswers, places: Places<'_>) -> Table {
    let table = Table::of_each(
        "rank_findings",
        "Findings of single ranks",
        &job.rank_findings,
        &[
            ("rule", "Finding", &|r| Cell::Text(r.rule.clone())),
            ("severity", "Severity", &|r| Cell::Text(r.severity.clone())),
            ("n_ranks", "Ranks", &|r| Cell::Count(r.places.len() as u64)),
            ("ranks", "Which", &|r| Cell::Text(places.list(&r.places))),
            ("issue", "For example", &|r| Cell::Text(r.issue.clone())),
        ],
    );
    table
        .noted("As reports of single ranks say it; captures and traces are not asked rank by rank.")
}

/// World sizes against each other, a row each.
pub(super) fn scaling(answers: &RanksAnswers) -> Table {
    let scaling = answers.scaling.as_ref();
    let rows = scaling.into_iter().flat_map(|scaling| &scaling.rows);
    let mut table = Table::of_each(
        "scaling",
        "Scaling",
        rows,
        &[
            ("world_size", "Ranks", &|r| Cell::Count(r.world_size.into())),
            ("n_jobs", "Jobs", &|r| Cell::Count(r.n_jobs)),
            ("duration_ns", "Duration", &|r| Cell::Mean(r.duration_ns)),
            ("speedup", "Speed-up", &|r| figure(Some(r.speedup))),
            ("shared_efficiency", "Efficiency, shared", &|r| Cell::Ratio(r.shared_efficiency)),
            ("own_efficiency", "Efficiency, own", &|r| Cell::Ratio(r.own_efficiency)),
            ("waiting_ratio", "Waiting", &|r| Cell::ratio(r.waiting_ratio)),
            ("communication_ratio", "Communication", &|r| Cell::ratio(r.communication_ratio)),
        ],
    );
    table.notes.extend(scaling.map(|scaling| format!("Compared by: {}.", scaling.measure)));
    table.noted("Shared: all ranks make one generation together. Own: each makes its own. Only one of the two is right for a job.")
}

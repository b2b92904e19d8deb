//! The table of sections.

use std::collections::BTreeMap;

use marey::live::{Look, OpenNow};
use marey_report::{escape, quantity, width};

use super::line::{Line, Role};

/// Below this width the mean is left out.
const WIDE: usize = 76;
/// Columns of a figure, with the space before it.
const COLUMN: usize = 11;

/// A call path with its figures so far; `None` before the first call has ended.
struct Row<'a> {
    path: String,
    totals: Option<&'a marey::live::Totals>,
    /// How long the oldest call that is open has been, and how many are.
    open: Option<(u64, usize)>,
}

/// Heading and rows, the most time first. `n_rows` at most, after leaving out `skipped`.
pub(super) fn table(look: &Look, total_width: usize, skipped: usize, n_rows: usize) -> Vec<Line> {
    let headings: &[&str] = if total_width < WIDE {
        &["calls", "total", "last", "open for"]
    } else {
        &["calls", "total", "mean", "last", "open for"]
    };
    let path_width = total_width.saturating_sub(headings.len() * COLUMN);
    let figures = |texts: &[String]| -> String {
        texts
            .iter()
            .map(|text| width::pad_start(text, COLUMN))
            .collect()
    };
    let heading = width::pad_end("Section", path_width)
        + &figures(&headings.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut lines = vec![Line::of(Role::Label, heading)];
    for row in rows(look).into_iter().skip(skipped).take(n_rows) {
        let known = |show: fn(&marey::live::Totals) -> String| quantity::known(row.totals, show);
        let mut texts = vec![
            row.totals
                .map_or_else(|| "0".into(), |totals| totals.count.to_string()),
            known(|totals| quantity::duration_ns(totals.sum_ns)),
        ];
        if headings.len() == 5 {
            texts.push(known(|totals| quantity::duration(totals.mean_ns())));
        }
        texts.push(known(|totals| quantity::duration_ns(totals.last_ns)));
        texts.push(row.open.map_or_else(String::new, |(ns, n)| {
            let times = if n > 1 {
                format!(" ×{n}")
            } else {
                String::new()
            };
            quantity::duration_ns(ns) + &times
        }));
        let role = if row.open.is_some() && look.is_running() {
            Role::Open
        } else {
            Role::Value
        };
        let path = width::pad_end(&of_width(&row.path, path_width), path_width);
        lines.push(Line::of(role, path).and(role, figures(&texts)));
    }
    lines
}

/// How many rows the table has.
pub(super) fn n_rows(look: &Look) -> usize {
    rows(look).len()
}

/// Names from the outside in; of a long path the end.
pub(super) fn shown_path(path: &[&str], limit: usize) -> String {
    let shown: Vec<String> = path.iter().map(|name| escape::visible(name)).collect();
    of_width(&shown.join(" / "), limit)
}

fn of_width(path: &str, limit: usize) -> String {
    if width::columns(path) <= limit {
        path.to_owned()
    } else {
        width::back(path, limit)
    }
}

/// How long a section has been open; `None` when it began with the last thing that is known of a process that is over.
pub(super) fn open_for_ns(look: &Look, open: &OpenNow) -> Option<u64> {
    let for_ns = look.at_ns.saturating_sub(open.start_ns);
    (for_ns > 0 || look.is_running()).then_some(for_ns)
}

/// Names from the outside in, `~` before what ran beside its parent, as in reports.
fn marked_path(look: &Look, node: u32) -> String {
    let around = std::iter::successors(Some(node), |node| look.parent(*node).0);
    let names = look.path(node);
    let marked = around.zip(names.iter().rev()).map(|(node, name)| {
        let mark = if look.parent(node).1 { "~" } else { "" };
        format!("{mark}{}", escape::visible(name))
    });
    let mut marked: Vec<String> = marked.collect();
    marked.reverse();
    marked.join(" / ")
}

fn rows(look: &Look) -> Vec<Row<'_>> {
    let mut open: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
    for section in &look.open {
        let for_ns = open_for_ns(look, section).unwrap_or(0);
        let (oldest, n) = open.entry(section.node).or_default();
        *oldest = for_ns.max(*oldest);
        *n += 1;
    }
    let only_open = open.keys().filter(|node| look.totals_of(**node).is_none());
    let nodes = look
        .totals
        .iter()
        .map(|totals| totals.node)
        .chain(only_open.copied());
    let mut rows: Vec<Row<'_>> = nodes
        .map(|node| Row {
            path: marked_path(look, node),
            totals: look.totals_of(node),
            open: open.get(&node).copied(),
        })
        .collect();
    // Parents have a smaller number than what is in them, and come before it where times are equal.
    rows.sort_by_key(|row| {
        let total = row.totals.map_or(0, |totals| totals.sum_ns);
        std::cmp::Reverse(total.saturating_add(row.open.map_or(0, |(ns, _)| ns)))
    });
    rows
}

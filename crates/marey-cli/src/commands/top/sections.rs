//! The table of sections.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::live::{LiveState, Totals};
use marey_report::live::LiveSnapshot;
use marey_report::{escape, quantity, width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::screen::{LABEL, OPEN};

/// Below this width the mean is left out.
const WIDE: usize = 76;
/// Columns of a figure, with the space before it.
const COLUMN: usize = 11;

/// A call path with its figures so far; `None` before the first call has ended.
struct Row<'a> {
    path: String,
    totals: Option<&'a Totals>,
    /// How long the oldest call that is open has been, and how many are.
    open: Option<(u64, usize)>,
}

/// Heading and rows, the most time first. `n_rows` at most, after leaving out `skipped`.
pub(super) fn table(
    now: &LiveSnapshot,
    total_width: usize,
    skipped: usize,
    n_rows: usize,
) -> Vec<Line<'static>> {
    let is_wide = total_width >= WIDE;
    let path_width = total_width.saturating_sub((4 + usize::from(is_wide)) * COLUMN);
    let line = |path: &str, [calls, total, mean, last, open]: [String; 5], style: Style| {
        let path = width::pad_end(&of_width(path, path_width), path_width);
        let mean = is_wide.then_some(mean);
        let shown = [Some(calls), Some(total), mean, Some(last), Some(open)];
        let shown = shown.iter().flatten();
        let figures: String = shown.map(|text| width::pad_start(text, COLUMN)).collect();
        (Span::styled(path, style), figures)
    };
    let headings = ["calls", "total", "mean", "last", "open for"].map(String::from);
    let (path, headings) = line("Section", headings, LABEL);
    let mut lines = vec![Line::from(vec![path, Span::styled(headings, LABEL)])];
    for row in rows(now).into_iter().skip(skipped).take(n_rows) {
        let known = |of: fn(&Totals) -> u64| {
            quantity::known(row.totals, |totals| quantity::duration_ns(of(totals)))
        };
        let open = row.open.map_or_else(String::new, |(ns, n)| match n {
            1 => quantity::duration_ns(ns),
            n => format!("{} ×{n}", quantity::duration_ns(ns)),
        });
        let figures = [
            row.totals.map_or(0, |totals| totals.count).to_string(),
            known(|totals| totals.sum_ns),
            known(|totals| totals.sum_ns / totals.count.max(1)),
            known(|totals| totals.last_ns),
            open,
        ];
        let is_open = row.open.is_some() && now.look.is_running();
        let style = if is_open { OPEN } else { Style::new() };
        let (path, figures) = line(&row.path, figures, style);
        lines.push(Line::from(vec![path, figures.into()]));
    }
    lines
}

/// How many rows the table has.
pub(super) fn n_rows(now: &LiveSnapshot) -> usize {
    rows(now).len()
}

/// Names from the outside in; of a long path the end.
pub(super) fn shown_path(path: &[&str], limit: usize) -> String {
    let shown: Vec<String> = path.iter().map(|name| escape::visible(name)).collect();
    of_width(&shown.join(" / "), limit)
}

fn of_width(path: &str, limit: usize) -> String {
    if width::columns(path) <= limit { path.to_owned() } else { width::back(path, limit) }
}

/// Names from the outside in, `~` before what ran beside its parent, as in reports.
fn marked_path(look: &LiveState, node: u32) -> String {
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

fn rows(now: &LiveSnapshot) -> Vec<Row<'_>> {
    let look = &now.look;
    let mut open: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
    for section in &look.open {
        let for_ns = now.open_for_ns(section).unwrap_or(0);
        let (oldest, n) = open.entry(section.node).or_default();
        *oldest = for_ns.max(*oldest);
        *n += 1;
    }
    let only_open = open.keys().copied();
    let only_open = only_open.filter(|node| look.totals_of(*node).is_none());
    let nodes = look.totals.iter().map(|totals| totals.node);
    let mut rows: Vec<Row<'_>> = nodes
        .chain(only_open)
        .map(|node| Row {
            path: marked_path(look, node),
            totals: look.totals_of(node),
            open: open.get(&node).copied(),
        })
        .collect();
    // Parents have a smaller number than what is in them, and come before it where times are equal.
    rows.sort_by_key(|row| {
        let total = row.totals.map_or(0, |totals| totals.sum_ns);
        Reverse(total.saturating_add(row.open.map_or(0, |(ns, _)| ns)))
    });
    rows
}

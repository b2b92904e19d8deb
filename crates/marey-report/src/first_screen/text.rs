//! The first screen as text: at most 25 lines, no wider than the terminal.

mod findings;
mod rows;

use super::amount::{Column, share, time_ns};
use super::line::{Line, Style, name, paragraph, spelled};
use super::{FirstScreen, signal_name};
use crate::escape::visible;
use crate::model::StatusKind;
use crate::quantity::float;
use crate::width::{columns, pad_end};

/// Columns, where the terminal has no fewer.
const WIDTH: usize = 100;
const LINES: usize = 25;
const NAME: usize = 24;
const PROGRAM: usize = 40;
const MOST_FINDINGS: usize = 2;
/// Columns before what a label is about.
const LABEL: usize = 10;

/// How the first screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Columns that there are.
    pub width: usize,
    /// With colours of a terminal.
    pub has_colour: bool,
    /// Without signs that are not of ASCII.
    pub is_ascii: bool,
}

/// What is left out so that it fits, the first at once, the others one after the other.
struct Cut {
    level: usize,
    width: usize,
    is_ascii: bool,
}

impl Cut {
    const LEVELS: usize = 8;

    fn from(&self, level: usize) -> bool {
        self.level >= level
    }

    fn is_narrow(&self) -> bool {
        self.width < 60
    }

    fn cells(&self) -> usize {
        match self.width {
            0..80 => 0,
            80..WIDTH => 10,
            _ => 20,
        }
    }
}

impl FirstScreen {
    /// As text, which ends with a line feed.
    pub fn text(&self, how: &Shown) -> String {
        let width = how.width.clamp(1, WIDTH);
        let mut lines = Vec::new();
        for level in 0..Cut::LEVELS {
            lines = self.lines(&Cut {
                level,
                width,
                is_ascii: how.is_ascii,
            });
            if lines.len() <= LINES {
                break;
            }
        }
        lines.truncate(LINES);
        let lines = lines
            .iter()
            .map(|line| line.painted(width, how.has_colour) + "\n");
        let text: String = lines.collect();
        // What was cut ends so.
        if how.is_ascii {
            text.replace('…', "~")
        } else {
            text
        }
    }

    fn lines(&self, cut: &Cut) -> Vec<Line> {
        let parts = [
            self.headline_lines(cut),
            self.account
                .as_ref()
                .map(|account| rows::lines(account, cut))
                .unwrap_or_default(),
            self.figures(cut),
            self.finding_lines(cut),
            self.next_lines(cut),
        ];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let mut all = Vec::new();
        for part in parts {
            if !all.is_empty() {
                all.push(Line::default());
            }
            all.extend(part);
        }
        all
    }

    /// `marey: clip.py finished in 1.838 s · 1 clip: 20 steps`
    fn headline_lines(&self, cut: &Cut) -> Vec<Line> {
        let head = &self.headline;
        let total = Column::of(head.total_ns).time(head.total_ns);
        let total = spelled(&total, cut.is_ascii);
        let before = format!(
            "marey: {} ",
            spelled(&name(&head.program, PROGRAM), cut.is_ascii)
        );
        let (outcome, style) = match head.outcome {
            StatusKind::Finished => ("finished".into(), Style::Good),
            StatusKind::Running => ("is still running".into(), Style::Plain),
            StatusKind::Failed => ("failed".into(), Style::Bad),
            StatusKind::OutOfMemory => ("ran out of memory".into(), Style::Bad),
            StatusKind::Killed => {
                let by = head
                    .signal
                    .map(|signal| format!(" by {}", signal_name(signal)));
                (format!("was killed{}", by.unwrap_or_default()), Style::Bad)
            }
            StatusKind::EndedWithoutClosing => {
                ("ended without closing its recording".into(), Style::Bad)
            }
        };
        let is_well = matches!(head.outcome, StatusKind::Finished);
        let how_long = if is_well {
            format!(" in {total}")
        } else {
            format!(" after {total}")
        };
        let rank = head.rank.map(|[rank, n]| format!("rank {rank} of {n}"));
        let work = match head.outcome {
            outcome if outcome.is_cut_short() => Vec::new(),
            _ if self.is_nothing_recorded => vec!["nothing inside it was recorded".to_owned()],
            _ => head.work.text(),
        };
        let mut after = format!("{how_long}{}", spelled(&self.why(), cut.is_ascii));
        for part in rank.into_iter().chain(work) {
            let longer = spelled(&format!("{after} · {part}"), cut.is_ascii);
            if columns(&format!("{before}{outcome}{longer}")) <= cut.width {
                after = longer;
            }
        }
        let whole = format!("{before}{outcome}{after}");
        if columns(&whole) > cut.width {
            let lines = paragraph(&whole, 0, cut.width, 3);
            return lines
                .into_iter()
                .map(|line| Line::default().with(line, Style::Bold))
                .collect();
        }
        vec![
            Line::default()
                .with(before, Style::Bold)
                .with(outcome, style)
                .with(after, Style::Bold),
        ]
    }

    /// `: ValueError in denoise › denoising_step 7 (exit code 1)`
    fn why(&self) -> String {
        let head = &self.headline;
        if !head.outcome.is_cut_short() {
            return String::new();
        }
        let is_code = |reason: &str| reason.starts_with("exit code");
        let reason = head.reason.as_deref().filter(|reason| !is_code(reason));
        let last = head.stopped_in.len().saturating_sub(3);
        let path: Vec<String> = head.stopped_in[last..]
            .iter()
            .map(|one| name(one, NAME))
            .collect();
        let dots = if last > 0 { "… › " } else { "" };
        let path = (!path.is_empty()).then(|| format!(" in {dots}{}", path.join(" › ")));
        let path = path.unwrap_or_default();
        let said = head.reason.clone().filter(|reason| is_code(reason));
        let code = head.exit_code.filter(|code| *code != 0);
        let code = code.map(|code| format!("exit code {code}")).or(said);
        let code = code.map(|code| format!(" ({})", visible(&code)));
        let code = code.unwrap_or_default();
        match reason {
            Some(reason) => format!(": {}{path}{code}", name(reason, PROGRAM)),
            None if path.is_empty() => code,
            None => format!(",{path}{code}"),
        }
    }

    fn figures(&self, cut: &Cut) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut add = |label: &str, parts: &[String]| lines.extend(labelled(label, parts, cut));
        if let Some(speed) = &self.speed {
            add("Speed", &speed.text());
        }
        if self.is_nothing_recorded {
            add("CPU", &self.cpu_alone());
        }
        add("Memory", &self.memory.text());
        let system = self
            .system
            .as_ref()
            .filter(|system| !cut.from(2) && !self.is_nothing_recorded && !system.is_empty());
        if let Some(system) = system {
            add("System", &system.text());
        }
        lines
    }

    /// Processor time of a run of which nothing else is known.
    fn cpu_alone(&self) -> Vec<String> {
        let own = self.system.as_ref().and_then(|system| system.own_cores);
        let Some(own) = own else {
            return Vec::new();
        };
        let total = self.headline.total_ns;
        let used = own * float(total) / 1e9;
        let idle = if own < 0.5 {
            ": idle otherwise (a timer, disk, network or another process)"
        } else {
            ""
        };
        vec![format!(
            "{used:.2} s in {} ({}){idle}",
            time_ns(total),
            share(own)
        )]
    }

    fn finding_lines(&self, cut: &Cut) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let most = if cut.from(5) { 1 } else { MOST_FINDINGS };
        for found in self.findings.iter().take(most) {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.extend(findings::of(found, cut));
        }
        let more = self.findings.len().saturating_sub(most) as u64;
        if more > 0 {
            lines.push(Line::plain(format!("  + {more} more: {}", self.next.full)));
        }
        lines.extend(
            self.failure
                .as_ref()
                .map(|failed| findings::failure(*failed, cut))
                .unwrap_or_default(),
        );
        if let Some(checks) = &self.checks {
            lines.extend(findings::no_issue(checks, self.system.as_ref(), cut));
        }
        lines
    }

    fn next_lines(&self, cut: &Cut) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(lost) = &self.lost {
            let lost = spelled(&visible(lost), cut.is_ascii);
            let said = paragraph(&lost, 8, cut.width, 2);
            lines.extend(said.into_iter().enumerate().map(|(at, line)| {
                match at {
                    0 => Line::plain("  ")
                        .with("Data", Style::Mark)
                        .with(line[6.min(line.len())..].to_owned(), Style::Plain),
                    _ => Line::plain(line),
                }
            }));
        }
        let parts = self.next_parts();
        let between = spelled("   ·   ", cut.is_ascii);
        let one = format!("  Next  {}", parts.join(&between));
        if columns(&one) <= cut.width {
            lines.push(Line::plain(one));
            return lines;
        }
        let before = ["  Next  ", "        "]
            .into_iter()
            .chain(std::iter::repeat("        "));
        let most = if cut.from(6) { 1 } else { parts.len() };
        lines.extend(
            parts
                .iter()
                .take(most)
                .zip(before)
                .map(|(part, before)| Line::plain(format!("{before}{part}"))),
        );
        lines
    }

    fn next_parts(&self) -> Vec<String> {
        let page = self.next.page.clone();
        let full = format!("all tables: {}", self.next.full);
        if self.headline.rank.is_some() {
            return [format!("all ranks: {}", self.next.ranks)]
                .into_iter()
                .chain(page)
                .collect();
        }
        if self.is_nothing_recorded {
            let watch = "marey top   watches it while it runs".to_owned();
            return [watch].into_iter().chain(page).collect();
        }
        match self.headline.outcome {
            StatusKind::Failed => {
                let fix = "fix the error, then run again".to_owned();
                let page = page.map(|page| format!("what was recorded: {page}"));
                [fix].into_iter().chain(page.or(Some(full))).collect()
            }
            StatusKind::Killed | StatusKind::OutOfMemory => {
                let page = page.map(|page| format!("recorded up to the kill: {page}"));
                vec![page.unwrap_or(full)]
            }
            _ => page.into_iter().chain([full]).collect(),
        }
    }
}

/// `  Speed   32.8 FPS · first block after 42.6 ms`, in two lines at most.
fn labelled(label: &str, parts: &[String], cut: &Cut) -> Vec<Line> {
    if parts.is_empty() {
        return Vec::new();
    }
    let between = spelled(" · ", cut.is_ascii);
    let mut said: Vec<String> = vec![String::new()];
    for part in parts {
        let part = spelled(&visible(part), cut.is_ascii);
        let last = said.last_mut().filter(|last| !last.is_empty());
        match last {
            Some(last)
                if LABEL + columns(last) + columns(&between) + columns(&part) <= cut.width =>
            {
                last.extend([between.as_str(), &part]);
            }
            Some(_) => said.push(part),
            None => said = vec![part],
        }
    }
    said.truncate(if cut.from(3) { 1 } else { 2 });
    let line = |(at, text): (usize, String)| {
        let label = if at == 0 { label } else { "" };
        Line::plain(format!("  {}{text}", pad_end(label, LABEL - 2)))
    };
    said.into_iter().enumerate().map(line).collect()
}

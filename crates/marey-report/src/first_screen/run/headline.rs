//! The headline: what ran, how it ended, in what time, and what it made.

use marey::profiling_config::words_of_name;
use marey::{Outcome, signal_text};
use marey_analysis::job::program_name;
use marey_analysis::{Diffusion, FrameKind, FrameRate};

use super::account::total_ns;
use super::findings::is_nothing_recorded;
use crate::escape;
use crate::first_screen::brief::{seconds, short};
use crate::first_screen::line::name;
use crate::first_screen::{Headline, Mood};
use crate::json::object::{Fields, Json, object};
use crate::model::{Report, SessionFacts, StatusKind};
use crate::quantity::{Column, Unit, counted};

/// The fact in which a program says what to call it.
const NAME: &str = "demo";

/// The signal of Ctrl-C.
pub(super) const INTERRUPT: i32 = 2;

/// Columns of a program's name and of an error's, and of the name of a section.
const PROGRAM: usize = 40;
const SECTION: usize = 24;

/// What was made, in the units of the field; `None` where it is not known.
pub(super) struct Work {
    /// Generations.
    pub(super) generations: u64,
    /// What they are: `clip`, `image`, `request`; `None` where nothing says so.
    pub(super) unit: Option<&'static str>,
    /// Most requests that went on at once.
    pub(super) most_at_once: Option<u64>,
    /// Autoregressive blocks.
    pub(super) blocks: Option<u64>,
    /// Completed denoising steps.
    pub(super) steps: Option<u64>,
    /// Those of them that failed, by name.
    pub(super) failed: Vec<String>,
    /// Frames: those that were delivered, else decoded, else latent.
    pub(super) frames: Option<u64>,
}

/// `clip.py failed after 808.6 ms: ValueError in denoise › denoising_step 7 (exit code 1)`
pub(super) fn headline(report: &Report, work: &Work) -> Headline {
    let kind = report.status.kind;
    let total_ns = total_ns(report);
    let total = Column::of(Unit::Time, total_ns).text(total_ns);
    let mood = match kind {
        StatusKind::Finished if report.status.lost.is_empty() => Mood::Good,
        StatusKind::Finished | StatusKind::Running => Mood::Plain,
        _ => Mood::Bad,
    };
    let outcome = match kind {
        StatusKind::Finished => "finished".into(),
        StatusKind::Running => "is still running".into(),
        StatusKind::Failed => "failed".into(),
        StatusKind::OutOfMemory => "ran out of memory".into(),
        StatusKind::EndedWithoutClosing => "ended without closing its recording".into(),
        StatusKind::Killed => match report.status.signal {
            Some(INTERRUPT) => "was interrupted (SIGINT)".into(),
            Some(signal) => format!("was killed by {}", signal_name(signal)),
            None => "was killed".into(),
        },
    };
    let how_long = if kind == StatusKind::Finished { "in" } else { "after" };
    let rank = rank(report).map(|(rank, n)| format!("rank {rank} of {n}"));
    let made = match kind {
        _ if kind.is_cut_short() => Vec::new(),
        _ if is_nothing_recorded(report) => vec!["nothing inside it was recorded".to_owned()],
        _ => work.text(),
    };
    Headline {
        subject: name(program(report), PROGRAM),
        outcome,
        mood,
        after: format!(" {how_long} {total}{}", why(report)),
        parts: rank.into_iter().chain(made).collect(),
    }
}

/// For programs.
pub(super) fn facts(report: &Report, work: &Work) -> impl Fields + Json + use<> {
    let launch = report.run.launch.as_ref();
    let oom_kills = launch.and_then(|launch| launch.oom_kills);
    let kind = report.status.kind;
    let reason = report.status.reason.clone();
    let reason = reason.or_else(|| report.status.lost_text());
    let open = stopped_in(report);
    let open: Vec<String> = open.iter().map(|name| short(name)).collect();
    object! {
        /// Without folders.
        command: command(&report.run.command),
        /// How it ended.
        outcome: kind,
        /// Why it failed, in its own words; of one that finished, which of its processes did not.
        reason?: reason.map(|reason| short(&reason)),
        /// That killed it.
        signal: report.status.signal,
        exit_code: exit_code(report),
        /// Of its control group, by the kernel.
        oom_kills?: oom_kills.filter(|_| kind.has_failed()),
        /// Of the command.
        wall_s: seconds(total_ns(report)),
        /// What it made.
        work: object! {
            generations?: Some(work.generations).filter(|n| *n > 0),
            failed?: Some(work.failed.len()).filter(|n| *n > 0),
            unit?: work.unit,
            most_at_once?: work.most_at_once,
            blocks?: work.blocks,
            steps_done?: work.steps,
            frames?: work.frames,
        },
        /// Where it stopped, outermost first.
        open?: Some(open).filter(|open| !open.is_empty()),
    }
}

/// The program without its folders.
fn program(report: &Report) -> &str {
    let named = report.run.facts.iter().find(|(key, _)| key == NAME);
    match (named, program_name(&report.run.command)) {
        (Some((_, name)), _) => name,
        (None, "") => "the program",
        (None, name) => name,
    }
}

/// The command without the folders of its programs and files.
fn command(command: &[String]) -> String {
    const COMMAND: usize = 240;
    let short = |part: &String| match part.rsplit_once('/') {
        Some((_, name)) if part.starts_with('/') => name.to_owned(),
        _ => part.clone(),
    };
    let parts: Vec<String> = command.iter().map(short).collect();
    escape::cut(&parts.join(" "), COMMAND)
}

/// Its place among several ranks, and their number.
pub(super) fn rank(report: &Report) -> Option<(u32, u32)> {
    let rank = report.run.rank.zip(report.run.world_size);
    rank.filter(|(_, n)| *n > 1)
}

fn exit_code(report: &Report) -> Option<i32> {
    let launch = report.run.launch.as_ref()?;
    launch.exit_code.filter(|_| launch.pid == report.run.pid)
}

/// `: ValueError in denoise › denoising_step 7 (exit code 1)`; of one that came to its end `, 2 processes lost`.
fn why(report: &Report) -> String {
    if !report.status.kind.is_cut_short() {
        return match report.status.lost.len() as u64 {
            0 => String::new(),
            n => format!(", {} lost", counted(n, "process", "processes")),
        };
    }
    let is_code = |reason: &str| reason.starts_with("exit code");
    let (code, reason) = match report.status.reason.as_deref() {
        Some(said) if is_code(said) => (Some(said.to_owned()), None),
        said => (None, said),
    };
    let open = stopped_in(report);
    let last = open.len().saturating_sub(3);
    let path: Vec<String> = open[last..].iter().map(|one| name(one, SECTION)).collect();
    let dots = if last > 0 { "… › " } else { "" };
    let path = match path.as_slice() {
        [] => String::new(),
        path => format!(" in {dots}{}", path.join(" › ")),
    };
    let own = exit_code(report).filter(|code| *code != 0);
    let code = own.map(|code| format!("exit code {code}")).or(code);
    let code = code.map(|code| format!(" ({})", escape::visible(&code)));
    let code = code.unwrap_or_default();
    match reason {
        Some(reason) => format!(": {}{path}{code}", name(reason, PROGRAM)),
        None if path.is_empty() => code,
        None => format!(",{path}{code}"),
    }
}

/// Where it failed or was killed, outermost first; iterations with their number.
pub(super) fn stopped_in(report: &Report) -> Vec<String> {
    let path = report.stop.iter().flat_map(|stop| &stop.path);
    path.filter_map(|at| {
        let name = &report.section_row(at.node)?.name;
        let turn = at.turn.map(|turn| format!(" {turn}"));
        Some(format!("{name}{}", turn.unwrap_or_default()))
    })
    .collect()
}

/// `SIGKILL` of 9.
pub(super) fn signal_name(signal: i32) -> String {
    let text = signal_text(signal);
    text.split(" (").next().unwrap_or_default().to_owned()
}

impl Work {
    pub(super) fn new(report: &Report) -> Self {
        let found = report.activity.diffusion.as_ref();
        let steps = found.and_then(|found| found.steps.as_ref());
        let blocks = found.and_then(|found| found.blocks.as_ref());
        let streaming = report.activity.streaming.as_ref();
        let delivered = streaming.and_then(|streaming| streaming.frames);
        let rate = found.and_then(frame_rate);
        // What some generations delivered with what others decoded.
        let pixels = rate.filter(|rate| rate.kind == FrameKind::Pixel);
        let pixels = pixels.map(|rate| rate.frames);
        let outermost = report.sessions.iter().filter(|one| one.parent.is_none());
        let outermost: Vec<&SessionFacts> = outermost.collect();
        let failed = outermost.iter().filter(|one| one.outcome == Outcome::Failed.name());
        Self {
            generations: outermost.len() as u64,
            unit: unit(&outermost, report.requests.is_some()),
            most_at_once: report.requests.as_ref().map(|found| found.most_at_once),
            failed: failed.map(|one| one.name.clone()).collect(),
            blocks: blocks.map(|blocks| blocks.each.len() as u64 + blocks.not_recorded),
            steps: steps.map(|steps| steps.each.len() as u64 + steps.not_recorded),
            frames: delivered.max(pixels).or(rate.map(|rate| rate.frames)),
        }
    }

    /// `, 1 failed (clip-3)`
    fn failures(&self) -> String {
        match self.failed.as_slice() {
            [] => String::new(),
            [only] => format!(", 1 failed ({})", name(only, SECTION)),
            several => format!(", {} failed", several.len()),
        }
    }

    /// In words, the parts that may be left out last: `1 clip: 3 blocks × 4 steps, 12 frames`.
    pub(super) fn text(&self) -> Vec<String> {
        let generations = self.unit.filter(|_| self.generations > 0);
        let generations =
            generations.map(|unit| counted(self.generations, unit, &format!("{unit}s")));
        let generations = generations.map(|all| all + &self.failures());
        if let Some(most) = self.most_at_once {
            let all = generations.unwrap_or_default();
            return vec![format!("{all}, up to {most} at once")];
        }
        let steps = |n: u64| counted(n, "step", "steps");
        let blocks = self.blocks.map(|n| counted(n, "block", "blocks"));
        let steps = match (blocks, self.blocks.zip(self.steps)) {
            (Some(blocks), Some((n, all))) if n > 0 && all > 0 && all % n == 0 => {
                vec![format!("{blocks} × {}", steps(all / n))]
            }
            (blocks, _) => blocks.into_iter().chain(self.steps.map(steps)).collect(),
        };
        let frames = self.frames.map(|n| counted(n, "frame", "frames"));
        let made: Vec<String> = steps.into_iter().chain(frames).collect();
        match generations {
            None => made,
            Some(all) if made.is_empty() => vec![all],
            Some(all) => vec![format!("{all}: {}", made.join(", "))],
        }
    }
}

/// What all of the generations are, by their names.
fn unit(sessions: &[&SessionFacts], is_concurrent: bool) -> Option<&'static str> {
    let unit = |session: &&SessionFacts| match words_of_name(&session.name).first()?.as_str() {
        "request" | "req" => Some("request"),
        "clip" => Some("clip"),
        "video" => Some("video"),
        "image" | "picture" => Some("image"),
        _ => None,
    };
    let first = sessions.first().and_then(unit);
    let is_one = sessions.iter().all(|session| unit(session) == first);
    let fallback = match sessions.len() {
        _ if is_concurrent => Some("request"),
        0 | 1 => None,
        _ => Some("generation"),
    };
    first.filter(|_| is_one).or(fallback)
}

/// The rate over the longest time, which is that of generations where frames were made in such: of pixels where those are known.
pub(super) fn frame_rate(found: &Diffusion) -> Option<&FrameRate> {
    let is_pixel = |rate: &FrameRate| rate.kind == FrameKind::Pixel;
    let rates = found.rates.iter();
    // What is delivered leaves the first delivery out.
    rates.max_by_key(|rate| (is_pixel(rate), rate.over_ns, rate.frames))
}

//! The headline: what ran, how it ended, in what time, and what it made.

use marey::profiling_config::words_of_name;
use marey_analysis::job::program_name;
use marey_analysis::{Diffusion, FrameKind, FrameRate};

use super::account_rows::total_ns;
use crate::model::{Report, SessionFacts, StatusKind};
use crate::quantity::counted;

/// The fact in which a program says what to call it.
const NAME: &str = "demo";

/// What ran, how it ended, in what time, and what it made. Names are as the user gave them.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The program without its folders.
    pub program: String,
    /// How it ended.
    pub outcome: StatusKind,
    /// Why it failed, in its own words.
    pub reason: Option<String>,
    /// Its exit code; `None` where that is not known.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Wall time of the command, or of the run.
    pub total_ns: u64,
    /// Where it failed or was killed, outermost first; iterations with their number.
    pub stopped_in: Vec<String>,
    /// Its place among several ranks, and their number.
    pub rank: Option<[u32; 2]>,
    /// What it made.
    pub work: Work,
}

/// What was made, in the units of the field; `None` where it is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Generations.
    pub generations: u64,
    /// What they are: `clip`, `image`, `request`; `None` where nothing says so.
    pub unit: Option<&'static str>,
    /// Most requests that went on at once.
    pub most_at_once: Option<u64>,
    /// Autoregressive blocks.
    pub blocks: Option<u64>,
    /// Completed denoising steps.
    pub steps: Option<u64>,
    /// Frames: those that were delivered, else decoded, else latent.
    pub frames: Option<u64>,
}

impl Headline {
    pub(super) fn new(report: &Report) -> Self {
        let launch = report.run.launch.as_ref();
        let is_own = |pid: u32| pid == report.run.pid;
        let launch = launch.filter(|launch| is_own(launch.pid));
        let named = report.run.facts.iter().find(|(key, _)| key == NAME);
        let program = match (named, program_name(&report.run.command)) {
            (Some((_, name)), _) => name,
            (None, "") => "the program",
            (None, name) => name,
        };
        let ranks = report.run.rank.zip(report.run.world_size);
        Self {
            program: program.to_owned(),
            outcome: report.status.kind,
            reason: report.status.reason.clone(),
            exit_code: launch.and_then(|launch| launch.exit_code),
            signal: report.status.signal,
            total_ns: total_ns(report),
            stopped_in: stopped_in(report),
            rank: ranks.filter(|(_, n)| *n > 1).map(|(rank, n)| [rank, n]),
            work: Work::new(report),
        }
    }
}

fn stopped_in(report: &Report) -> Vec<String> {
    let path = report.stop.iter().flat_map(|stop| &stop.path);
    path.filter_map(|at| {
        let name = &report.section_row(at.node)?.name;
        let turn = at.turn.map(|turn| format!(" {turn}"));
        Some(format!("{name}{}", turn.unwrap_or_default()))
    })
    .collect()
}

impl Work {
    fn new(report: &Report) -> Self {
        let found = report.activity.diffusion.as_ref();
        let steps = found.and_then(|found| found.steps.as_ref());
        let blocks = found.and_then(|found| found.blocks.as_ref());
        let streaming = report.activity.streaming.as_ref();
        let delivered = streaming.and_then(|streaming| streaming.frames);
        let outermost = report.sessions.iter().filter(|one| one.parent.is_none());
        let outermost: Vec<&SessionFacts> = outermost.collect();
        Self {
            generations: outermost.len() as u64,
            unit: unit(&outermost, report.requests.is_some()),
            most_at_once: report.requests.as_ref().map(|found| found.most_at_once),
            blocks: blocks.map(|blocks| blocks.each.len() as u64 + blocks.not_recorded),
            steps: steps.map(|steps| steps.each.len() as u64 + steps.not_recorded),
            frames: delivered.or_else(|| Some(frame_rate(found?)?.frames)),
        }
    }

    /// In words, the parts that may be left out last: `1 clip: 3 blocks × 4 steps, 12 frames`.
    pub(super) fn text(&self) -> Vec<String> {
        let generations = self.unit.filter(|_| self.generations > 0);
        let generations =
            generations.map(|unit| counted(self.generations, unit, &format!("{unit}s")));
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

/// The rate over the longest time: of pixels where those are known.
pub(super) fn frame_rate(found: &Diffusion) -> Option<&FrameRate> {
    let is_pixel = |rate: &FrameRate| rate.kind == FrameKind::Pixel;
    let rates = found.rates.iter();
    rates.max_by_key(|rate| (is_pixel(rate), rate.over_ns))
}

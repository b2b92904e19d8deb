//! Denoising steps, blocks, rates of frames, delivery, caches and models: a line for each that is known.

use marey_analysis::{
    Blocks, Delivery, Diffusion, Durations, FrameRate, Model, StepCaching, StepSource, Steps,
};

use super::block;
use crate::escape::{cut, visible};
use crate::model::Report;
use crate::quantity::{
    counted, duration, duration_ns, flops, known, number, parameters, percent, time_s,
};
use crate::width::{columns, pad_end};

const WIDTH: usize = 80;
const NAME_WIDTH: usize = 48;
/// Longer lists do not help anybody on a terminal.
const MAX_OUTLIERS: usize = 3;
const MAX_MODELS: usize = 8;

/// `None` when the run says nothing of that kind.
pub(super) fn lines(report: &Report) -> Option<String> {
    let found = report.activity.diffusion.as_ref()?;
    let mut rows = Rows(Vec::new());
    if let Some(steps) = &found.steps {
        rows.steps(steps);
    }
    if let Some(blocks) = &found.blocks {
        rows.blocks(blocks);
    }
    for rate in &found.rates {
        rows.add("Frames", rate_line(rate));
    }
    if let Some(delivery) = &found.delivery {
        rows.delivery(delivery);
    }
    rows.costs(found);
    let models = found.models.iter().flat_map(|models| &models.each);
    for model in models.clone().take(MAX_MODELS) {
        rows.add("Model", model_line(model));
    }
    let more = models.count().saturating_sub(MAX_MODELS) as u64;
    if more > 0 {
        rows.add(
            "",
            format!("… and {}", counted(more, "more model", "more models")),
        );
    }
    Some(block::titled("DIFFUSION", &rows.aligned(), WIDTH))
}

/// Label and what it says. Labels that repeat are shown once.
struct Rows(Vec<(&'static str, String)>);

impl Rows {
    fn add(&mut self, label: &'static str, text: String) {
        self.0.push((label, text));
    }

    fn aligned(&self) -> Vec<String> {
        let width = self.0.iter().map(|(label, _)| columns(label)).max();
        let mut last = "";
        let line = |(label, text): &(&'static str, String)| {
            let shown = if *label == last { "" } else { label };
            last = label;
            format!("{}  {text}", pad_end(shown, width.unwrap_or(0)))
        };
        self.0.iter().map(line).collect()
    }

    fn steps(&mut self, steps: &Steps) {
        let n_steps = counted(steps.each.len() as u64, "step", "steps");
        let loops = counted(steps.n_loops, "loop", "loops");
        let most = steps.per_loop_max;
        let passes = steps.each.iter().map(|step| step.n_passes).max();
        let passes = passes.filter(|most| *most > 1);
        let passes = passes.map(|most| format!(", up to {most} passes a step"));
        let passes = passes.unwrap_or_default();
        let source = source(&steps.source);
        self.add(
            "Steps",
            format!("{n_steps} in {loops} of at most {most}{passes}, {source}"),
        );
        self.not_recorded(steps.not_recorded);
        self.warm_up_and_steady(
            ["First step", "Other steps"],
            steps.warm_up.as_ref(),
            steps.steady.as_ref(),
        );
        self.warm_up_and_steady(
            ["First step on the GPU", "Other steps on the GPU"],
            steps.gpu_warm_up.as_ref(),
            steps.gpu_steady.as_ref(),
        );
        for index in steps.outliers.iter().take(MAX_OUTLIERS) {
            if let Some(step) = steps.each.get(*index) {
                let block = step.block.map(|block| format!(" of block {block}"));
                self.add(
                    "Outliers",
                    format!(
                        "step {}{}, which ended at {} s, took {}",
                        step.step,
                        block.unwrap_or_default(),
                        time_s(step.end_ns),
                        known(step.duration_ns, duration_ns)
                    ),
                );
            }
        }
        let more = steps.outliers.len().saturating_sub(MAX_OUTLIERS);
        if more > 0 {
            self.add("Outliers", format!("… and {more} more"));
        }
    }

    fn blocks(&mut self, blocks: &Blocks) {
        let mut parts = vec![counted(blocks.each.len() as u64, "block", "blocks")];
        let frames = |n| counted(n, "latent frame", "latent frames");
        parts.extend(blocks.total_frames.map(|n| format!("of {}", frames(n))));
        parts.extend(
            blocks
                .per_second
                .map(|rate| format!("at {} blocks/s", short(rate))),
        );
        self.add(
            "Blocks",
            format!("{}, {}", parts.join(" "), source(&blocks.source)),
        );
        self.not_recorded(blocks.not_recorded);
        self.warm_up_and_steady(
            ["First block", "Other blocks"],
            blocks.warm_up.as_ref(),
            blocks.steady.as_ref(),
        );
        if let Some(ns) = blocks.time_to_first_ns {
            self.add("Time to first block", duration_ns(ns));
        }
        self.between("Between blocks", blocks.between.as_ref(), blocks.jitter_ns);
    }

    fn delivery(&mut self, found: &Delivery) {
        let viewer = format!("viewer at {} frames/s", number(found.playback_per_second));
        let deadlines = found.deadlines_met.saturating_add(found.deadlines_missed);
        self.add("Time to first frames", duration_ns(found.time_to_first_ns));
        self.between(
            "Between deliveries",
            found.between.as_ref(),
            found.jitter_ns,
        );
        if deadlines > 0 {
            self.add(
                "Delivery",
                format!(
                    "{viewer}: {} of {deadlines} deadlines met",
                    found.deadlines_met
                ),
            );
        }
        if found.deadlines_missed > 0 {
            let underruns = counted(found.deadlines_missed, "underrun", "underruns");
            let stalled = duration_ns(found.stalled_ns);
            let ahead = found.frames_ahead_needed;
            self.add(
                "Delivery",
                format!("{underruns}, stood still for {stalled}; none with {ahead} frames ahead"),
            );
        }
        if let Some(factor) = found.real_time_factor {
            self.add("Delivery", format!("{} times real time", short(factor)));
        }
    }

    fn costs(&mut self, found: &Diffusion) {
        if let Some(caching) = &found.caching {
            self.add("Cached steps", caching_line(caching));
        }
        if let Some(growth) = &found.growth {
            let signed = |ns: f64| {
                let sign = if ns < 0.0 { "-" } else { "+" };
                format!("{sign}{}", duration(ns.abs()))
            };
            let [low, high] = growth.interval_ns.map(signed);
            let (first, last) = (duration(growth.first_ns), duration(growth.last_ns));
            let over = growth.n_blocks;
            let per_block = signed(growth.per_block_ns);
            self.add(
                "Context",
                format!(
                    "{per_block} a step with each block (95 %: {low} to {high}): {first} to {last} over {over} blocks"
                ),
            );
        }
        if let Some(passes) = &found.clean_passes {
            let share = passes
                .share_ratio
                .map(|ratio| format!(", {} of the time", percent(ratio)));
            let calls = counted(passes.calls.count, "pass", "passes");
            let total = duration_ns(passes.calls.total_ns);
            self.add(
                "Clean context",
                format!(
                    "{calls}, {total}{}: {}",
                    share.unwrap_or_default(),
                    cut(&passes.name, NAME_WIDTH)
                ),
            );
        }
        if let Some(guidance) = &found.guidance {
            let both = guidance.guided.as_ref().zip(guidance.unguided.as_ref());
            if let Some((with, without)) = both {
                let (with, without) = (duration_ns(with.p50_ns), duration_ns(without.p50_ns));
                self.add(
                    "Guidance",
                    format!("p50 of a step {with} with it, {without} without"),
                );
            }
            for way in &guidance.ways {
                let generations = counted(way.n_generations, "generation", "generations");
                let how = cut(&way.how, NAME_WIDTH);
                self.add("Guidance", format!("{how}, {generations}"));
            }
            if let Some(ratio) = guidance.unconditional_ratio {
                let share = percent(ratio);
                self.add(
                    "Guidance",
                    format!("{share} of all passes' time is unconditional"),
                );
            }
        }
    }

    fn warm_up_and_steady(
        &mut self,
        labels: [&'static str; 2],
        warm_up: Option<&Durations>,
        steady: Option<&Durations>,
    ) {
        if let Some(first) = warm_up {
            let several = format!(
                "p50 {} of {} pipelines, max {}",
                duration_ns(first.p50_ns),
                first.count,
                duration_ns(first.max_ns)
            );
            let one = || duration_ns(first.max_ns);
            self.add(labels[0], if first.count > 1 { several } else { one() });
        }
        if let Some(steady) = steady {
            let [p50, p95, max] = [steady.p50_ns, steady.p95_ns, steady.max_ns].map(duration_ns);
            self.add(labels[1], format!("p50 {p50}, p95 {p95}, max {max}"));
        }
    }

    fn between(&mut self, label: &'static str, found: Option<&Durations>, jitter_ns: Option<f64>) {
        let Some(found) = found else { return };
        let [p50, p95, p99] = [found.p50_ns, found.p95_ns, found.p99_ns].map(duration_ns);
        let jitter = jitter_ns.map(|ns| format!(", jitter {}", duration(ns)));
        let jitter = jitter.unwrap_or_default();
        self.add(label, format!("p50 {p50}, p95 {p95}, p99 {p99}{jitter}"));
    }

    fn not_recorded(&mut self, n: u64) {
        if n > 0 {
            self.add(
                "",
                format!("{n} more were not recorded one by one and are in no figure here"),
            );
        }
    }
}

fn source(source: &StepSource) -> String {
    match source {
        StepSource::Reported => "as the program reported them".into(),
        StepSource::Iterations(name) => format!("turns of {}", cut(name, NAME_WIDTH)),
        StepSource::Sections(name) => format!("calls of {}", cut(name, NAME_WIDTH)),
    }
}

fn rate_line(rate: &FrameRate) -> String {
    format!(
        "{:>7}/s  {}",
        short(rate.per_second),
        visible(&rate.meaning)
    )
}

fn caching_line(found: &StepCaching) -> String {
    let all = found.n_cached.saturating_add(found.n_computed);
    let saved = found.saved_ns.map(|ns| {
        let amount = duration(ns.abs());
        if ns < 0.0 {
            format!(", which cost {amount}")
        } else {
            format!(", which saved {amount}")
        }
    });
    format!("{} of {all}{}", found.n_cached, saved.unwrap_or_default())
}

fn model_line(model: &Model) -> String {
    let mut parts = vec![cut(&model.name, NAME_WIDTH)];
    let kind = model.kind.as_ref().filter(|kind| !kind.is_empty());
    parts.extend(kind.map(|kind| cut(kind, NAME_WIDTH)));
    let count = model
        .parameters
        .map(|n| format!("{} parameters", parameters(n)));
    parts.extend(count);
    parts.extend(model.achieved_flops_per_second.map(flops));
    let peak = model.utilization_ratio.zip(model.peak.as_ref());
    parts.extend(peak.map(|(ratio, peak)| {
        let of = cut(&peak.of, NAME_WIDTH);
        format!(
            "{} of {} ({of})",
            percent(ratio),
            flops(peak.flops_per_second)
        )
    }));
    parts.join(", ")
}

/// A rate with two decimals, below 0.01 four.
fn short(per_second: f64) -> String {
    if per_second > 0.0 && per_second < 0.01 {
        return format!("{per_second:.4}");
    }
    format!("{per_second:.2}")
}

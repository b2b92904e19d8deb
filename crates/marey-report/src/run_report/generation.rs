//! Denoising steps, blocks, delivery, caches of steps, models, layers and pipelines.

use marey_analysis::{
    Delivery, Diffusion, Guidance, Model, StepCaching, StepPoint, StepSource, Steps,
};

use crate::document::{Cell, Facts, Table};
use crate::model::Report;
use crate::quantity::{
    counted, duration, duration_ns, float, flops, number, parameters, per_second_of, percent,
};

/// Outliers that people are shown, those that took most of their like.
const MAX_OUTLIERS: usize = 5;
/// Longer lists do not help anybody.
const MAX_MODELS: usize = 8;

/// How long steps and blocks took, the first apart from the rest.
pub(super) fn times(report: &Report) -> Table {
    let found = report.activity.diffusion.as_ref();
    let steps = found.and_then(|found| found.steps.as_ref());
    let blocks = found.and_then(|found| found.blocks.as_ref());
    let delivery = found.and_then(|found| found.delivery.as_ref());
    let all = [
        ("First step", steps.and_then(|s| s.warm_up.as_ref())),
        ("Other steps", steps.and_then(|s| s.steady.as_ref())),
        ("First step on the GPU", steps.and_then(|s| s.gpu_warm_up.as_ref())),
        ("Other steps on the GPU", steps.and_then(|s| s.gpu_steady.as_ref())),
        ("First block", blocks.and_then(|b| b.warm_up.as_ref())),
        ("Other blocks", blocks.and_then(|b| b.steady.as_ref())),
        ("Between blocks", blocks.and_then(|b| b.between.as_ref())),
        ("Between deliveries", delivery.and_then(|d| d.between.as_ref())),
    ];
    let known = all.into_iter().filter_map(|(work, times)| Some((work, times?)));
    Table::of_each(
        "step_times",
        "Times of steps and blocks",
        known,
        &[
            ("work", "Work", &|(work, _)| Cell::text(*work)),
            ("count", "Count", &|(_, times)| Cell::Count(times.count)),
            ("mean_ns", "Mean", &|(_, times)| Cell::Mean(times.mean_ns)),
            ("p50_ns", "p50", &|(_, times)| Cell::Duration(times.p50_ns)),
            ("p95_ns", "p95", &|(_, times)| Cell::Duration(times.p95_ns)),
            ("p99_ns", "p99", &|(_, times)| Cell::Duration(times.p99_ns)),
            ("max_ns", "Max", &|(_, times)| Cell::Duration(times.max_ns)),
        ],
    )
}

/// Steady steps that took much longer than others of their like, the longest against its like first.
pub(super) fn outliers(report: &Report) -> Table {
    let steps = report.activity.diffusion.as_ref();
    let steps = steps.and_then(|found| found.steps.as_ref());
    let each = steps.into_iter().flat_map(|steps| {
        let outliers = steps.outliers.iter();
        outliers.filter_map(|at| steps.each.get(*at))
    });
    let ratio = |step: &StepPoint| Some(float(step.duration_ns?) / step.usual_ns?);
    let mut each: Vec<&StepPoint> = each.collect();
    each.sort_by(|a, b| ratio(b).unwrap_or(0.0).total_cmp(&ratio(a).unwrap_or(0.0)));
    Table::of_each(
        "outliers",
        "Steps that took much longer",
        each,
        &[
            ("step", "Step", &|s| Cell::Count(s.step)),
            ("block", "Block", &|s| Cell::count(s.block)),
            ("loop", "Loop", &|s| Cell::Count(s.loop_number)),
            ("duration_ns", "Took", &|s| Cell::duration(s.duration_ns)),
            ("usual_ns", "Median of its like", &|s| Cell::mean(s.usual_ns)),
            ("ratio_of_usual", "Times", &|s| Cell::known(ratio(s), Cell::Change)),
            ("end_ns", "Ended at", &|s| Cell::Moment(s.end_ns)),
        ],
    )
    .limited(MAX_OUTLIERS)
}

/// A sentence for each thing that is known.
pub(super) fn facts(report: &Report) -> Facts {
    let mut all = Facts::about("Steps and blocks");
    let Some(found) = &report.activity.diffusion else {
        return all;
    };
    if let Some(steps) = &found.steps {
        steps_of(&mut all, steps);
    }
    if let Some(blocks) = &found.blocks {
        blocks_of(&mut all, blocks);
    }
    if let Some(delivery) = &found.delivery {
        delivery_of(&mut all, delivery);
    }
    costs_of(&mut all, found);
    let models = found.models.iter().flat_map(|models| &models.each);
    for model in models.clone().take(MAX_MODELS) {
        all.row("Model", model_line(model));
    }
    let more = models.count().saturating_sub(MAX_MODELS);
    all.known("Model", (more > 0).then(|| format!("… and {more} more")));
    all
}

fn steps_of(facts: &mut Facts, steps: &Steps) {
    let n_steps = counted(steps.each.len() as u64, "step", "steps");
    let loops = counted(steps.n_loops, "loop", "loops");
    let most = steps.per_loop_max;
    let passes = steps.each.iter().map(|step| step.n_passes).max();
    let passes = passes.filter(|most| *most > 1);
    let passes = passes.map(|most| format!(", up to {most} passes a step"));
    let passes = passes.unwrap_or_default();
    let source = source(&steps.source);
    facts.row("Steps", format!("{n_steps} in {loops} of at most {most}{passes}, {source}"));
    not_recorded(facts, "Steps", steps.not_recorded);
}

fn blocks_of(facts: &mut Facts, blocks: &Steps) {
    let mut parts = vec![counted(blocks.each.len() as u64, "block", "blocks")];
    let frames = |n| counted(n, "latent frame", "latent frames");
    parts.extend(blocks.total_frames.map(|n| format!("of {}", frames(n))));
    parts
        .extend(blocks.loops_per_second.map(|rate| format!("at {} blocks/s", per_second_of(rate))));
    facts.row("Blocks", format!("{}, {}", parts.join(" "), source(&blocks.source)));
    not_recorded(facts, "Blocks", blocks.not_recorded);
    facts.known("Time to first block", blocks.time_to_first_ns.map(duration_ns));
    facts.known("Jitter between blocks", blocks.jitter_ns.map(duration));
}

fn delivery_of(facts: &mut Facts, found: &Delivery) {
    let viewer = format!("viewer at {} frames/s", number(found.playback_per_second));
    let deadlines = found.deadlines_met.saturating_add(found.deadlines_missed);
    facts.row("Time to first frames", duration_ns(found.time_to_first_ns));
    facts.known("Jitter between deliveries", found.jitter_ns.map(duration));
    if deadlines > 0 {
        facts.row(
            "Delivery",
            format!("{viewer}: {} of {deadlines} deadlines met", found.deadlines_met),
        );
    }
    if found.deadlines_missed > 0 {
        let underruns = counted(found.deadlines_missed, "underrun", "underruns");
        let stalled = duration_ns(found.stalled_ns);
        let ahead = counted(found.frames_ahead_needed, "frame", "frames");
        facts.row(
            "Delivery",
            format!("{underruns}, stood still for {stalled}; none with {ahead} ahead"),
        );
    }
    if let Some(factor) = found.real_time_factor {
        facts.row("Delivery", format!("{} times real time", per_second_of(factor)));
    }
}

fn costs_of(facts: &mut Facts, found: &Diffusion) {
    if let Some(caching) = &found.caching {
        facts.row("Cached steps", caching_line(caching));
    }
    if let Some(growth) = &found.growth {
        let signed = |ns: f64| {
            let sign = if ns < 0.0 { "-" } else { "+" };
            format!("{sign}{}", duration(ns.abs()))
        };
        let [low, high] = growth.interval_ns.map(signed);
        let (first, last) = (duration(growth.first_ns), duration(growth.last_ns));
        let over = counted(growth.n_blocks, "block", "blocks");
        let per_block = signed(growth.per_block_ns);
        facts.row(
            "Context",
            format!(
                "{per_block} a step with each block (95 %: {low} to {high}): {first} to {last} over {over}"
            ),
        );
    }
    if let Some(passes) = &found.clean_passes {
        let share = passes.share_ratio.map(|ratio| format!(", {} of the time", percent(ratio)));
        let calls = counted(passes.calls.count, "pass", "passes");
        let total = duration_ns(passes.calls.total_ns);
        facts.row(
            "Clean context",
            format!("{calls}, {total}{}: {}", share.unwrap_or_default(), passes.name),
        );
    }
    if let Some(guidance) = &found.guidance {
        guidance_of(facts, guidance);
    }
}

fn guidance_of(facts: &mut Facts, found: &Guidance) {
    if let Some((with, without)) = found.guided.as_ref().zip(found.unguided.as_ref()) {
        let [with, without] = [with.p50_ns, without.p50_ns].map(duration_ns);
        facts.row("Guidance", format!("p50 of a step {with} with it, {without} without"));
    }
    for way in &found.ways {
        let generations = counted(way.n_generations, "generation", "generations");
        facts.row("Guidance", format!("{}, {generations}", way.how));
    }
    if let Some(ratio) = found.unconditional_ratio {
        let share = percent(ratio);
        facts.row("Guidance", format!("{share} of all passes' time is unconditional"));
    }
}

fn not_recorded(facts: &mut Facts, label: &str, n: u64) {
    if n > 0 {
        let why = "were not recorded one by one and are in no figure here";
        facts.row(label, format!("{n} more {why}"));
    }
}

fn source(source: &StepSource) -> String {
    match source {
        StepSource::Reported => "as the program reported them".into(),
        StepSource::Iterations(name) => format!("iterations of {name}"),
        StepSource::Sections(name) => format!("calls of {name}"),
    }
}

fn caching_line(found: &StepCaching) -> String {
    let all = found.n_cached.saturating_add(found.n_computed);
    let saved = found.saved_ns.map(|ns| {
        let amount = duration(ns.abs());
        if ns < 0.0 { format!(", which cost {amount}") } else { format!(", which saved {amount}") }
    });
    format!("{} of {all}{}", found.n_cached, saved.unwrap_or_default())
}

fn model_line(model: &Model) -> String {
    let mut parts = vec![model.name.clone()];
    let kind = model.kind.as_ref().filter(|kind| !kind.is_empty());
    parts.extend(kind.cloned());
    let count = model.parameters.map(|n| format!("{} parameters", parameters(n)));
    parts.extend(count);
    parts.extend(model.achieved_flops_per_second.map(flops));
    let peak = model.utilization_ratio.zip(model.peak.as_ref());
    parts.extend(peak.map(|(ratio, peak)| {
        let of = &peak.of;
        format!("{} of {} ({of})", percent(ratio), flops(peak.flops_per_second))
    }));
    parts.join(", ")
}

/// Each layer that the program measured, those with most time first.
pub(super) fn layers(report: &Report) -> Table {
    let layers = report.activity.layers.iter();
    let table = Table::of_each(
        "layers",
        "Layers",
        layers.flat_map(|layers| &layers.each),
        &[
            ("name", "Layer", &|l| Cell::name(&l.name)),
            ("count", "Calls", &|l| Cell::Count(l.n_calls)),
            ("total_ns", "Total", &|l| Cell::duration((l.n_timed > 0).then_some(l.total_ns))),
            ("mean_ns", "Mean", &|l| Cell::mean(l.mean_ns)),
            ("min_ns", "Min", &|l| Cell::duration(l.min_ns)),
            ("max_ns", "Max", &|l| Cell::duration(l.max_ns)),
            ("share_ratio", "Share", &|l| Cell::ratio(l.share_ratio)),
            ("n_parameters", "Parameters", &|l| Cell::known(l.parameters, Cell::Parameters)),
        ],
    );
    table.noted("Share: of the time of all reported layers.")
}

/// Pipelines beside each other. Without rows unless there are several: what a single one did is what the run did.
pub(super) fn pipelines(report: &Report) -> Table {
    let are_several = report.pipelines.len() > 1;
    let table = Table::of_each(
        "pipelines",
        "Pipelines",
        report.pipelines.iter().filter(|_| are_several),
        &[
            ("name", "Pipeline", &|p| Cell::name(&p.name)),
            ("n_calls", "Calls", &|p| Cell::Count(p.n_calls)),
            ("n_not_done", "Not done", &|p| Cell::Count(p.n_failed + p.n_cut_off)),
            ("total_ns", "Time", &|p| Cell::Duration(p.calls_ns)),
            ("n_parameters", "Parameters", &|p| {
                let models = p.models.as_ref();
                Cell::known(models.and_then(|m| m.parameters), Cell::Parameters)
            }),
            ("n_steps", "Steps", &|p| Cell::Count(p.n_steps)),
            ("first_ns", "First", &|p| {
                Cell::known(p.warm_up.as_ref(), |first| Cell::Duration(first.max_ns))
            }),
            ("p50_ns", "p50", &|p| {
                Cell::known(p.steady.as_ref(), |others| Cell::Duration(others.p50_ns))
            }),
            ("per_second", "it/s", &|p| Cell::known(p.steps_per_second, Cell::PerSecond)),
        ],
    );
    table.noted("First: its first denoising step. p50 and it/s are of its other steps.")
}

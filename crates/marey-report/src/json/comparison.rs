//! Comparisons and trends. Their fields are described in `docs/schema/comparison.schema.json` and `docs/schema/trend.schema.json`.

use marey_analysis::compare::{
    Change, Comparison, Headline, MeanChange, Measure, Observed, Side, Subject, TrendMeasure,
};
use marey_analysis::findings::FigureUnit;

use super::object::{Json, object};
use super::{SCHEMA_VERSION, bytes_of, float_seconds, list, seconds};
use crate::compare::{
    ComparedPart, ComparedRank, ComparedRun, ComparedSide, ComparedTime, ComparisonReport,
    TrendReport, headline_text,
};

/// The comparison as UTF-8 JSON, indented; valid and finite whatever names the user chose.
pub fn comparison_json(report: &ComparisonReport) -> Vec<u8> {
    bytes_of(&comparison(report))
}

/// The figures of many runs, likewise.
pub fn trend_json(report: &TrendReport) -> Vec<u8> {
    bytes_of(&trend(report))
}

/// The document of a trend.
pub(super) fn trend(report: &TrendReport) -> impl Json {
    let runs = &report.runs;
    object! {
        /// What `marey compare --trend DIR --format json` writes. Durations are seconds, sizes bytes. What is not known is null, never 0.
        struct Trend;
        /// The first number changes when a key changes its meaning or goes.
        schema_version: SCHEMA_VERSION,
        /// The folder that was given.
        path: &runs.path,
        /// In order of their start.
        runs: list(&runs.runs, run),
        /// Captures of which nothing could be read, and why.
        unreadable: &runs.unreadable,
        /// Each figure that at least two runs have.
        measures: list(&report.trend.measures, trend_measure),
    }
}

/// What the document and the page have.
pub(super) fn comparison(report: &ComparisonReport) -> impl Json + use<'_> {
    let found = &report.comparison;
    let options = &report.options;
    object! {
        /// What `marey compare BASELINE CANDIDATE --format json` writes. Durations are seconds, sizes bytes. What is not known is null,
        /// never 0.
        struct Comparison;
        /// The first number changes when a key changes its meaning or goes.
        schema_version: SCHEMA_VERSION,
        verdict: found.verdict,
        /// Why the sides are not two whole runs of one program, the gravest first; mostly empty.
        obstacles: &found.obstacles,
        /// No criterion is met: the command ends with 0.
        passed: report.is_passed(),
        /// What makes the comparison fail.
        criteria: &report.criteria,
        /// What matters, most important first.
        headline: list(&found.headline, |line| headline(found, line)),
        baseline: side(&report.baseline, &found.baseline),
        candidate: side(&report.candidate, &found.candidate),
        /// Facts that differ.
        environment: &found.environment,
        /// What neither differs nor is the same as far as anybody knows: a side says nothing of it.
        unknown_environment: &found.unknown_environment,
        /// Call paths of both sides.
        sections: &found.sections,
        /// Everything that was compared.
        measures: list(&found.measures, measure),
        /// The mean wall time of both sides and the parts of it, which add up; null without runs on a side.
        time: ComparedTime::new(report).as_ref().map(time),
        /// Of two traces whose time differs: device time by class of operators, and whether work or speed changed it; absent unless most of
        /// the work of both is known.
        work?: Some(&found.work).filter(|rows| !rows.is_empty()),
        /// Ranks of the same number, the one of which a part changed most first; absent unless each side is one job of several.
        ranks?: Some(report.ranks()).filter(|ranks| !ranks.is_empty()).map(|ranks| list(&ranks, rank)),
        /// How it was decided.
        decided: object! {
            basis: found.basis,
            /// Tests that chance was corrected for.
            tests: found.n_tests,
            /// Changes of time below this share are the same.
            min_change_ratio: report.min_change_ratio(),
            /// Sections and loops below this share of the wall time were not tested.
            min_share_ratio: options.min_share_ratio,
            /// Chance of a false alarm in the whole comparison.
            alpha: options.alpha,
            /// Resamples for intervals.
            resamples: options.n_resamples,
            /// Where random numbers began.
            seed: options.seed,
        },
        /// What a reader should know about the comparison itself.
        notes: &found.notes,
    }
}

fn headline<'a>(found: &'a Comparison, line: &'a Headline) -> impl Json + use<'a> {
    object! {
        struct Headline;
        verdict: line.verdict,
        /// In a few words.
        what: line.what,
        /// The line that texts begin with.
        text: headline_text(found, line, str::to_owned),
        subject: subject(&found.measures[line.measure].subject),
        /// Index into `measures` of the figure that says so.
        measure: line.measure,
    }
}

fn side<'a>(side: &'a ComparedSide, found: &Side) -> impl Json + use<'a> {
    object! {
        struct Side;
        /// As it was given.
        path: &side.path,
        n_runs: side.runs.len(),
        /// Runs that did not end by themselves, or failed.
        n_unfinished: found.n_unfinished,
        /// Runs that lost records.
        n_with_losses: found.n_with_losses,
        /// Median wall time of the runs; null without runs.
        wall_s: found.wall_ns.map(float_seconds),
        /// Processes of one job that its traces are of; empty for repeats and for a single run.
        ranks: &side.ranks,
        /// In order of their start.
        runs: list(&side.runs, run),
        /// Captures of which nothing could be read, and why.
        unreadable: &side.unreadable,
    }
}

fn run(run: &ComparedRun) -> impl Json + use<'_> {
    object! {
        /// One run, by the process that stands for it.
        struct ComparedRun;
        /// Where it lies below the path that was given.
        name: &run.name,
        /// Host, process id and start: no two runs share them.
        id: &run.id,
        /// Nanoseconds since 1970.
        start_unix_ns: run.start_unix_ns,
        /// Seconds from the start to the end, or to the last thing known.
        wall_s: seconds(run.wall_ns),
        status: run.status.kind,
        status_text: run.status.text(),
        /// Nothing was lost and the capture was sound.
        complete: run.is_complete,
        /// What was not recorded, counted.
        losses: list(&run.losses, |loss| object! {
            kind: loss.kind,
            count: loss.count,
            only_a_risk: loss.is_only_risk,
        }),
        /// What was wrong with the capture.
        warnings: &run.warnings,
        /// Processes of the same job that are left out.
        other_processes: run.n_others,
    }
}

fn measure(of: &Measure) -> impl Json + use<'_> {
    object! {
        /// One figure of both sides.
        struct Measure;
        /// What is measured; `meaning` of a measure says it in words. New kinds may come.
        kind: of.kind,
        area: of.kind.area(),
        /// What is measured, in words.
        meaning: of.kind.meaning(),
        subject: subject(&of.subject),
        /// `count`, `seconds`, `bytes`, `bytes_per_second`, `ratio`, `per_second`, `celsius`, `watts`, `joules`, `hertz` or `number`.
        unit: of.unit.in_documents().0,
        better: of.better,
        baseline: of.baseline.map(|side| observed(side, of.unit)),
        candidate: of.candidate.map(|side| observed(side, of.unit)),
        change: of.change.map(|found| change(found, of.unit)),
        /// For times: seconds that the change adds to a run, all calls together; negative when it takes some.
        impact_s: of.impact_ns.map(float_seconds),
        verdict: of.verdict,
        basis: of.basis,
        confidence: of.confidence,
        /// Why the verdict is what it is.
        reason: &of.reason,
    }
}

/// The mean wall time of both sides, and the parts of it, which add up.
fn time(found: &ComparedTime) -> impl Json + use<> {
    object! {
        total: time_part("total", found.total_ns, &found.total),
        /// The smallest difference of the total that would have been found four times in five; null of single runs.
        detectable_s: found.total.chance.map(|chance| float_seconds(chance.detectable)),
        /// Those that changed most first; empty where it is not known what held the runs up.
        parts: list(&found.parts, |one: &ComparedPart| time_part(&one.name, one.held_ns, &one.change)),
    }
}

fn rank(of: &ComparedRank) -> impl Json + use<> {
    let [baseline_s, candidate_s] = of.wall_ns.map(seconds);
    let [part_baseline_s, part_candidate_s] = of.held_ns.map(seconds);
    object! {
        /// A rank that both jobs have.
        struct ComparedRank;
        rank: of.rank,
        /// Wall time.
        baseline_s: baseline_s,
        /// Wall time.
        candidate_s: candidate_s,
        /// The part of it that changed most, waiting for other ranks left out, as the user named it; `other` is what no part has.
        part: of.part.clone(),
        part_baseline_s: part_baseline_s,
        part_candidate_s: part_candidate_s,
    }
}

fn time_part(name: &str, held_ns: [u64; 2], change: &MeanChange) -> impl Json + use<> {
    let chance = change.chance;
    object! {
        struct TimePart;
        /// As the user named it; `other` is what no part has.
        name: name.to_owned(),
        /// Mean of the runs.
        baseline_s: seconds(held_ns[0]),
        /// Mean of the runs.
        candidate_s: seconds(held_ns[1]),
        /// Half of the 95 % interval of the difference (Welch); null of single runs.
        half_width_s: chance.map(|chance| float_seconds(chance.half_width)),
        /// Chance of such a difference when nothing changed, corrected for the number of parts (Holm); of the total alone. Null of single
        /// runs.
        adjusted_p_value: chance.map(|chance| chance.p_value),
    }
}

fn observed(side: Observed, unit: FigureUnit) -> impl Json {
    object! {
        /// A figure of one side, in `unit`.
        struct Observed;
        /// Median of the samples.
        value: in_unit(side.value, unit),
        min: in_unit(side.min, unit),
        max: in_unit(side.max, unit),
        /// Runs, or calls, that it is of.
        samples: side.n_samples,
    }
}

fn change(found: Change, unit: FigureUnit) -> impl Json {
    object! {
        struct Change;
        /// Candidate less baseline, in `unit`.
        difference: in_unit(found.difference, unit),
        /// Candidate over baseline; null when the baseline is 0, or one of them below 0.
        ratio: found.ratio,
        /// Where the ratio lies with 95 % confidence; null for single values.
        interval: found.interval,
        /// Chance of such a difference when nothing changed; null where there is no test.
        p_value: found.p_value,
        /// The same after correction for all tests (Holm).
        adjusted_p_value: found.adjusted_p_value,
    }
}

fn trend_measure(of: &TrendMeasure) -> impl Json + use<'_> {
    object! {
        /// What is measured; `meaning` of a measure says it in words. New kinds may come.
        kind: of.kind,
        /// What is measured, in words.
        meaning: of.kind.meaning(),
        subject: subject(&of.subject),
        /// `count`, `seconds`, `bytes`, `bytes_per_second`, `ratio`, `per_second`, `celsius`, `watts`, `joules`, `hertz` or `number`.
        unit: of.unit.in_documents().0,
        /// The runs that have it, oldest first.
        points: list(&of.points, |point| object! {
            /// Name of the run.
            run: &point.run,
            /// Nanoseconds since 1970.
            start_unix_ns: point.at_unix_ns,
            /// In `unit`.
            value: in_unit(point.value, of.unit),
        }),
    }
}

/// A figure in the unit that stands beside it.
fn in_unit(value: f64, of: FigureUnit) -> f64 {
    value / of.in_documents().1
}

/// What something is of: a kind, and the names that belong to it.
fn subject(of: &Subject) -> impl Json + use<'_> {
    let (kind, path, name) = match of {
        Subject::Run => ("run", None, None),
        Subject::Path(path) => ("path", Some(path), None),
        Subject::Name(name) => ("name", None, Some(name)),
        Subject::Loop(name) => ("loop", None, Some(name)),
        Subject::Memory(name) => ("memory", None, Some(name)),
        Subject::MemoryDuring { path, source } => ("memory_during", Some(path), Some(source)),
        Subject::Gpu(name) => ("gpu", None, Some(name)),
        Subject::Rate(name) => ("rate", None, Some(name)),
        Subject::Cache(name) => ("cache", None, Some(name)),
        Subject::Kernel(name) => ("kernel", None, Some(name)),
        Subject::KernelClass(name) => ("kernel_class", None, Some(name)),
        Subject::Transfer(name) => ("transfer", None, Some(name)),
        Subject::Phase(name) => ("phase", None, Some(name)),
        Subject::Attention(name) => ("attention", None, Some(name)),
        Subject::IdleCause(name) => ("idle_cause", None, Some(name)),
    };
    object! {
        /// What a figure is of.
        struct Subject;
        /// run: the whole run. kernel: all kernels of a name in traces. kernel_class: all kernels of a class. transfer: copies of a
        /// direction. phase: parts of a trace that do one thing in a generation. attention: a path of attention. idle_cause: a cause of
        /// idle time of devices. path: a call path. name: all sections of a name. loop: all iterations of the loops of a name. memory: a source
        /// of memory readings. memory_during: the same while a call path was open.
        kind: kind,
        /// Names from the outermost to the innermost; for path and memory_during.
        path: path,
        /// For everything but run and path.
        name: name,
    }
}

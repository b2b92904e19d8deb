//! How often was each pipeline called, and how fast was it?
//!
//! ```text
//! pipeline "Flux"   |-- call 1 --|              |-- call 2 --|
//!   "Wan", in it        |-- 1 --|                                 its steps and sections are its own
//! steps of Flux      |f|         |w|   …         |g| |h|          f: warm-up
//! ```

use std::cmp::Reverse;

use marey::{Outcome, Thresholds};

use super::cut::Cut;
use super::{SessionRun, SessionRuns};
use crate::intervals::{Interval, union};
use crate::questions::diffusion::{Durations, FrameRate, Models, diffusion};
use crate::questions::names::NameRow;
use crate::questions::pipelines::Pipelines;

/// What one pipeline did.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The tag `pipeline` of its sessions; not safe to print.
    pub name: String,
    /// Its calls: sessions with that tag.
    pub n_calls: u64,
    /// Calls that an error left.
    pub n_failed: u64,
    /// Calls that were stopped before their end, or had not ended when the capture did.
    pub n_cut_off: u64,
    /// Time in which at least one of its calls went on, those of other pipelines within it too.
    pub calls_ns: u64,
    /// Denoising steps.
    pub n_steps: u64,
    /// Its first step.
    pub warm_up: Option<Durations>,
    /// All other steps.
    pub steady: Option<Durations>,
    /// Steady steps in a second of their time.
    pub steps_per_second: Option<f64>,
    /// Rates of its frames.
    pub rates: Vec<FrameRate>,
    /// Its models.
    pub models: Option<Models>,
    /// Its sections, by name.
    pub sections: Vec<NameRow>,
}

/// More than this are not told apart.
const MAX_PIPELINES: usize = 100;

impl SessionRuns<'_> {
    /// The pipelines of the run in the order of their first calls; of more than a hundred those with most calls.
    pub fn pipelines(&self, limits: &Thresholds) -> Vec<Pipeline> {
        let found = Pipelines::new(self.run, self.assignment.nesting());
        let sessions = found.sessions(self.run);
        let mut each: Vec<_> = found.names().iter().zip(&sessions).enumerate().collect();
        if each.len() > MAX_PIPELINES {
            each.sort_by_key(|(place, (_, (calls, _)))| (Reverse(calls.len()), *place));
            each.truncate(MAX_PIPELINES);
            each.sort_by_key(|(place, _)| *place);
        }
        each.into_iter()
            .map(|(_, (name, (calls, all)))| self.pipeline(name, calls, all, limits))
            .collect()
    }

    fn pipeline(&self, name: &str, calls: &[u32], all: &[u32], limits: &Thresholds) -> Pipeline {
        let times = calls.iter().map(|call| self.assignment.interval(*call));
        let times = union(times.collect());
        let its = self.of_sessions(all);
        let made = diffusion(&its.run, limits).unwrap_or_default();
        let steps = made.steps.as_ref();
        let steady = steps.and_then(|steps| steps.steady.clone());
        let ended = |outcome: Outcome| {
            let calls = calls.iter().map(|call| &self.run.sessions[*call as usize]);
            calls.filter(|call| call.outcome == outcome).count() as u64
        };
        Pipeline {
            name: name.to_owned(),
            n_calls: calls.len() as u64,
            n_failed: ended(Outcome::Failed),
            n_cut_off: ended(Outcome::CutOff),
            calls_ns: times.iter().map(Interval::length_ns).sum(),
            n_steps: steps.map_or(0, |steps| steps.each.len() as u64),
            warm_up: steps.and_then(|steps| steps.warm_up.clone()),
            steps_per_second: steady.as_ref().and_then(Durations::per_second),
            steady,
            rates: made.rates,
            models: made.models,
            sections: its.sections().by_name,
        }
    }

    /// What belongs to these sessions, and not to others that are nested in them, as a run from their first beginning to their last end.
    fn of_sessions(&self, sessions: &[u32]) -> SessionRun {
        let each = sessions.iter().map(|session| self.assignment.interval(*session));
        let hull = each.reduce(|one, other| Interval {
            start_ns: one.start_ns.min(other.start_ns),
            end_ns: one.end_ns.max(other.end_ns),
        });
        let time = hull.unwrap_or_default();
        let nesting = self.assignment.nesting();
        let places = sessions.iter().map(|session| {
            let place = nesting.places(*session).start;
            place..place + 1
        });
        let places: Vec<_> = places.collect();
        let cut = Cut { run: self.run, time, parts: &self.parts(&places, time) };
        SessionRun {
            run: cut.run(),
            n_sections_missing: self.n_missing,
            is_incomplete: self.is_incomplete.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diffusion;
    use marey::{Attributes, Generation, ModelParameters, Run, Session};
    use marey_testing::RunBuilder;

    const MS: u64 = 1_000_000;

    fn tag(pipeline: &str) -> Attributes {
        vec![("pipeline".to_owned(), pipeline.into())]
    }

    fn model(name: &str, count: u64, flops: f64) -> Generation {
        Generation::Model(ModelParameters {
            name: name.into(),
            count: Some(count),
            flops_per_call: Some(flops),
            calls_per_step: Some(1.0),
            ..ModelParameters::default()
        })
    }

    /// ```text
    /// ms         0        10        20        30        40        50        60
    /// Flux       |-------------------------------------|         |----|            2 calls, 40 + 6; the last one failed
    ///   Wan           |----------|   |----------|                                  2 calls, 12 + 12
    /// steps          F  WW  W         W  W      F  F              F
    ///           ends 4  9 12          24 27     36 38             55
    ///           took 4  4  3           3  3      2  2              2
    /// ```
    fn two_pipelines() -> Run {
        let step = |builder: RunBuilder, end: u64, took: u64| {
            builder.iteration("denoising_step", (end - took) * MS, end * MS, |_| {})
        };
        let mut builder = RunBuilder::new()
            .session("a", 0, Some(40 * MS), tag("Flux"))
            .session("b", 5 * MS, Some(17 * MS), tag("Wan"))
            .session("c", 20 * MS, Some(32 * MS), tag("Wan"))
            .session("d", 50 * MS, Some(56 * MS), tag("Flux"))
            .generation(MS, Some(0), model("dit", 10, 4e9))
            .generation(5 * MS, Some(1), model("Wan / dit", 7, 6e9));
        for (end, took) in [(4, 4), (9, 4), (12, 3), (24, 3), (27, 3), (36, 2), (38, 2), (55, 2)] {
            builder = step(builder, end, took);
        }
        let nested = |session: &mut Session| session.parent = Some(0);
        builder
            .section("vae_decode", 13 * MS, 16 * MS, |_| {})
            .with(|run| {
                run.sessions[1..3].iter_mut().for_each(nested);
                run.sessions[3].outcome = Outcome::Failed;
            })
            .finish(60 * MS)
    }

    #[test]
    fn in_the_total_a_slower_pipeline_is_no_outlier_and_models_of_one_name_are_two() {
        // P: 10 steps of 20 ms, one of 90; Q beside it in another thread: 8 steps of 30 ms.
        let mut builder = RunBuilder::new().session("p", 0, Some(400 * MS), tag("P")).generation(
            0,
            Some(0),
            model("unet", 1000, 1.0),
        );
        let mut at_ms = 0;
        for ms in [20, 20, 20, 20, 20, 90, 20, 20, 20, 20, 20] {
            builder = builder.iteration("denoising_step", at_ms * MS, (at_ms + ms) * MS, |_| {});
            at_ms += ms;
        }
        builder = builder.thread("other").session("q", 0, Some(400 * MS), tag("Q")).generation(
            0,
            Some(1),
            model("unet", 2000, 1.0),
        );
        for n in 0..8 {
            builder = builder.iteration("denoising_step", n * 30 * MS, (n + 1) * 30 * MS, |_| {});
        }
        let found = diffusion(&builder.finish(400 * MS), &Thresholds::default()).unwrap();
        let steps = found.steps.unwrap();
        let slow = steps.outliers.iter().map(|at| steps.each[*at].duration_ns);
        assert_eq!(slow.collect::<Vec<_>>(), [Some(90 * MS)]);
        let models = found.models.unwrap();
        let each = models.each.iter().map(|m| (m.name.as_str(), m.parameters));
        let expected = [("unet (P)", Some(1000)), ("unet (Q)", Some(2000))];
        assert_eq!(each.collect::<Vec<_>>(), expected);
        assert_eq!(models.parameters, Some(3000));
    }

    #[test]
    fn a_model_that_two_pipelines_tell_alike_is_one() {
        let run = RunBuilder::new()
            .session("p", 0, Some(4 * MS), tag("P"))
            .generation(0, Some(0), model("vae", 500, 1.0))
            .generation(0, Some(0), model("unet", 1000, 1.0))
            .session("q", 4 * MS, Some(8 * MS), tag("Q"))
            .generation(4 * MS, Some(1), model("vae", 500, 1.0))
            .generation(4 * MS, Some(1), model("unet", 2000, 1.0))
            .finish(8 * MS);
        let models = diffusion(&run, &Thresholds::default()).unwrap().models;
        let models = models.unwrap();
        let names: Vec<&str> = models.each.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["vae", "unet (P)", "unet (Q)"]);
        assert_eq!(models.parameters, Some(3500));
    }

    #[test]
    fn each_pipeline_has_its_own_steps_warm_up_models_and_sections() {
        let run = two_pipelines();
        let found = SessionRuns::new(&run).pipelines(&Thresholds::default());
        let [flux, wan] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((flux.name.as_str(), wan.name.as_str()), ("Flux", "Wan"));
        assert_eq!((flux.n_calls, flux.n_failed, wan.n_failed), (2, 1, 0));
        assert_eq!((flux.calls_ns, wan.calls_ns), (46 * MS, 24 * MS));
        assert_eq!((flux.n_steps, wan.n_steps), (4, 4));
        let totals = |durations: &Option<Durations>| durations.as_ref().unwrap().total_ns / MS;
        assert_eq!((totals(&flux.warm_up), totals(&flux.steady)), (4, 6));
        assert_eq!((totals(&wan.warm_up), totals(&wan.steady)), (4, 9));
        assert_eq!(flux.steps_per_second, Some(3.0 / 6e-3));
        let models = |pipeline: &Pipeline| {
            let models = pipeline.models.as_ref().unwrap();
            let each = models.each.iter().map(|model| model.name.clone());
            (each.collect::<Vec<_>>(), models.parameters)
        };
        assert_eq!(models(flux), (vec!["dit".to_owned()], Some(10)));
        assert_eq!(models(wan), (vec!["Wan / dit".to_owned()], Some(7)));
        let sections = |pipeline: &Pipeline| pipeline.sections.len();
        assert_eq!((sections(flux), sections(wan)), (0, 1));
    }

    #[test]
    fn in_total_the_first_step_of_each_is_warm_up_and_models_have_their_own_steps() {
        let run = two_pipelines();
        let found = diffusion(&run, &Thresholds::default()).unwrap();
        let steps = found.steps.unwrap();
        let first: Vec<u64> =
            steps.each.iter().filter(|step| step.is_warm_up).map(|step| step.end_ns / MS).collect();
        assert_eq!(first, [4, 9]);
        let models = found.models.unwrap();
        assert_eq!(models.parameters, Some(17));
        // 4·10⁹ in 2 ms, 6·10⁹ in 3 ms.
        let achieved = models.each.iter().map(|model| model.achieved_flops_per_second);
        assert_eq!(achieved.collect::<Vec<_>>(), [Some(2e12), Some(2e12)]);
    }

    #[test]
    fn sessions_without_the_tag_are_of_the_pipeline_around_them_or_of_none() {
        let run = RunBuilder::new()
            .session("user", 0, Some(10), vec![])
            .session("call", 2, Some(8), tag("Flux"))
            .session("inner", 3, Some(5), vec![])
            .section("s", 3, 4, |_| {})
            .section("of the user", 8, 9, |_| {})
            .with(|run| {
                run.sessions[1].parent = Some(0);
                run.sessions[2].parent = Some(1);
            })
            .finish(10);
        let found = SessionRuns::new(&run).pipelines(&Thresholds::default());
        assert_eq!((found.len(), found[0].n_calls), (1, 1));
        let names = found[0].sections.iter().map(|row| row.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["s"]);
        let without = RunBuilder::new().session("user", 0, Some(10), vec![]).finish(10);
        assert!(SessionRuns::new(&without).pipelines(&Thresholds::default()).is_empty());
    }

    #[test]
    fn of_very_many_those_with_most_calls_are_told_apart() {
        let mut builder = RunBuilder::new();
        for n in 0..101 {
            builder = builder.session("s", n, Some(n + 1), tag(&format!("p{n}")));
        }
        let run = builder.session("s", 200, Some(201), tag("p100")).finish(300);
        let found = SessionRuns::new(&run).pipelines(&Thresholds::default());
        let names: Vec<&str> = found.iter().map(|pipeline| pipeline.name.as_str()).collect();
        assert_eq!((names.len(), names[0], names[99]), (100, "p0", "p100"));
        assert!(!names.contains(&"p99"));
    }
}

//! Passes over clean frames, which only fill the KV cache: a block-wise pipeline makes one after each block.
//!
//! ```text
//! block              |--------- 0 ---------|    |--------- 1 ---------|
//! denoising_step      |-||-||-||-|               |-||-||-||-|
//! kv_cache_commit                 |---|                      |---|
//! ```

use marey::{Run, Section};
use serde::Serialize;

use super::calls::calls;
use super::durations::Durations;
use super::named::Named;
use super::work::Work;
use crate::intervals::{Interval, common_length_ns, length_ns, union};
use crate::stats::ratio;

/// Passes over clean frames that only fill the KV cache.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CleanPasses {
    /// Name of the sections, as the user gave it; the first of such names where there are several.
    pub name: String,
    /// How long they took.
    pub calls: Durations,
    /// Their share of the time of blocks and of those passes that lie in none, 0 to 1; of denoising steps where there are no blocks.
    /// `None` when neither is known.
    pub share_ratio: Option<f64>,
}

/// `None` when no recorded section is named so.
pub(super) fn clean_passes(
    run: &Run,
    named: &Named,
    work: Option<&Work<'_>>,
) -> Option<CleanPasses> {
    let sections = || calls(run, &named.clean).map(|(_, section)| section);
    let first = sections().min_by_key(|section| section.start_ns)?;
    let durations = Durations::of(sections().map(Section::duration_ns))?;
    Some(CleanPasses {
        name: run.nodes.get(first.node as usize)?.name.clone(),
        share_ratio: work.and_then(|work| share(sections().map(Interval::of), work)),
        calls: durations,
    })
}

fn share(passes: impl Iterator<Item = Interval>, work: &Work<'_>) -> Option<f64> {
    let passes = union(passes.collect());
    let length_ns = length_ns(&passes);
    let within_ns = common_length_ns(&passes, &union(work.intervals()));
    let outside_ns = length_ns.saturating_sub(within_ns);
    let whole_ns = work.duration_ns.saturating_add(outside_ns);
    // Blocks may have been reported shorter than what went on in them.
    (whole_ns > 0).then(|| ratio(length_ns.into(), whole_ns.max(length_ns).into()))
}

#[cfg(test)]
mod tests {
    use crate::{CleanPasses, Thresholds, diffusion};
    use marey::Run;
    use marey_testing::RunBuilder;

    fn found(run: &Run) -> Option<CleanPasses> {
        diffusion(run, &Thresholds::default())?.clean_passes
    }

    #[test]
    fn the_share_of_clean_passes_is_of_the_blocks_that_they_lie_in() {
        // 0    40  50   90 100
        // |-step-|kv|-step-|kv|    20 of 100
        let run = RunBuilder::new()
            .iteration("block", 0, 50, |s| {
                s.section("denoising_step", 0, 40, |_| {});
                s.section("kv_cache_commit", 40, 50, |_| {});
            })
            .iteration("block", 50, 100, |s| {
                s.section("denoising_step", 50, 90, |_| {});
                s.section("kv_cache_commit", 90, 100, |_| {});
            })
            .finish(100);
        let found = found(&run).unwrap();
        assert_eq!(found.name, "kv_cache_commit");
        assert_eq!((found.calls.count, found.calls.total_ns), (2, 20));
        assert_eq!(found.share_ratio, Some(0.2));
    }

    #[test]
    fn passes_beside_denoising_count_to_the_whole() {
        // |-- step 60 --||- clean 20 -|    20 of 80
        let run = RunBuilder::new()
            .section("denoising_step", 0, 60, |_| {})
            .section("clean_context_pass", 60, 80, |_| {})
            .finish(100);
        assert_eq!(found(&run).unwrap().share_ratio, Some(0.25));
    }

    #[test]
    fn without_steps_and_blocks_the_share_is_not_known() {
        let run = RunBuilder::new().section("update_kv_cache", 0, 20, |_| {}).finish(100);
        let found = found(&run).unwrap();
        assert_eq!((found.calls.total_ns, found.share_ratio), (20, None));
    }
}

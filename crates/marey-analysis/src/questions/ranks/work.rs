//! What did all ranks make?

use serde::Serialize;

use crate::job::RankSummary;

/// What all ranks made. Ranks that share a generation each count its frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JobWork {
    /// Most pixel frames of any rank; `None` when no rank says, as all below.
    pub pixel_frames_max: Option<u64>,
    /// All of them together.
    pub pixel_frames_sum: Option<u64>,
    /// Lowest pixel frames in a second of any rank.
    pub pixel_frames_per_second_min: Option<f64>,
}

/// Frames of all ranks. Ranks that share a generation each count its frames, so the most of any rank is what was made then, and the sum
/// where each makes its own.
///
/// ```text
/// rank 0   |======| 16 frames, 8 a second
/// rank 1   |========| 16 frames, 6 a second      most 16, sum 32, lowest rate 6
/// ```
pub(super) fn work(places: &[&RankSummary]) -> JobWork {
    let frames = || places.iter().filter_map(|rank| rank.work.pixel_frames);
    let rates = places.iter();
    let rates = rates.filter_map(|rank| rank.work.pixel_frames_per_second);
    JobWork {
        pixel_frames_max: frames().max(),
        pixel_frames_sum: frames().reduce(u64::saturating_add),
        pixel_frames_per_second_min: rates.filter(|rate| rate.is_finite()).reduce(f64::min),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Work;

    fn rank(pixel_frames: Option<u64>, rate: Option<f64>) -> RankSummary {
        RankSummary {
            work: Work { pixel_frames, pixel_frames_per_second: rate, ..Work::default() },
            ..RankSummary::default()
        }
    }

    #[test]
    fn ranks_that_do_not_say_are_left_out() {
        let ranks = [rank(Some(16), Some(8.0)), rank(Some(16), Some(6.0)), rank(None, None)];
        let expected = JobWork {
            pixel_frames_max: Some(16),
            pixel_frames_sum: Some(32),
            pixel_frames_per_second_min: Some(6.0),
        };
        assert_eq!(work(&ranks.each_ref()), expected);
        assert_eq!(work(&[&ranks[2]]), JobWork::default());
    }
}

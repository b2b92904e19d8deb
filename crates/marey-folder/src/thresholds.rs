//! Limits of findings for one report: `--threshold NAME=VALUE`.

use std::str::FromStr;

use marey::{Run, Threshold, ThresholdError, Thresholds};

/// A limit that a command line sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    threshold: Threshold,
    value: f64,
}

impl FromStr for Limit {
    type Err = String;

    /// Takes `NAME=VALUE`; otherwise says what is wrong with it.
    fn from_str(text: &str) -> Result<Self, String> {
        let pair = text.split_once('=');
        let (name, value) =
            pair.ok_or_else(|| format!("`{text}` is not NAME=VALUE, such as frames_per_second=5"))?;
        let threshold = *Threshold::of(name.trim()).map_err(|error| error.to_string())?;
        let value = value.trim();
        let value: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
        if !Threshold::allows(value) {
            return Err(ThresholdError::NotALimit(value).to_string());
        }
        Ok(Self { threshold, value })
    }
}

/// Lets reports of the run use these limits, above those of its configuration; of one name the last counts. The capture stays as it is.
pub fn apply(limits: &[Limit], run: &mut Run) {
    let facts = limits.iter().map(|limit| (limit.threshold.fact(), format!("{:?}", limit.value)));
    run.info.facts.extend(facts);
}

/// These limits, and of what they leave out the usual ones; of one name the last counts.
pub fn thresholds(limits: &[Limit]) -> Thresholds {
    let mut all = Thresholds::default();
    for limit in limits {
        // Its name and its value were looked at when it was read.
        all.set(limit.threshold.name, limit.value).ok();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn said(text: &str) -> String {
        Limit::from_str(text).unwrap_err()
    }

    #[test]
    fn limits_of_the_command_line_stand_above_those_of_the_configuration() {
        let mut run = RunBuilder::new()
            .with(|run| {
                let fact = |name: &str| (format!("profiling.thresholds.{name}"), "7.0".into());
                run.info.facts = vec![fact("frames_per_second"), fact("block_frames")];
            })
            .finish(1);
        let limits = ["frames_per_second=4", "frames_per_second = 5", "model_parameters=2e9"];
        let limits: Result<Vec<Limit>, String> = limits.iter().map(|text| text.parse()).collect();
        apply(&limits.unwrap(), &mut run);
        let expected = Thresholds {
            frames_per_second: 5.0,
            block_frames: 7.0,
            model_parameters: 2e9,
            ..Thresholds::default()
        };
        assert_eq!(Thresholds::of(&run), expected);
    }

    #[test]
    fn what_is_no_limit_is_said_to_be_none() {
        assert_eq!(
            said("frames_per_second"),
            "`frames_per_second` is not NAME=VALUE, such as frames_per_second=5"
        );
        assert_eq!(said("frames_per_second=fast"), "`fast` is not a number");
        assert_eq!(said("stage_ratio=-1"), "a threshold is a number, 0 or more, not -1");
        assert_eq!(said("stage_ratio=inf"), "a threshold is a number, 0 or more, not inf");
        assert_eq!(
            said("frame_per_second=5"),
            "there is no threshold `frame_per_second`; did you mean `frames_per_second`?"
        );
    }
}

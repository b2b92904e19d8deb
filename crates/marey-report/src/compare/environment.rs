//! Facts that differ, short enough for a table.

use marey_analysis::compare::Difference;

/// Characters of a value that are shown.
const MAX_CHARS: usize = 40;
/// Words before a difference that tell where it is.
const CONTEXT: usize = 1;

/// The two values of a fact; where both are long, only the words that differ, with `…` for what does not.
pub(crate) fn values(difference: &Difference) -> [String; 2] {
    let both = [&difference.baseline, &difference.candidate].map(|values| values.join(" | "));
    if both.iter().all(|value| value.chars().count() <= MAX_CHARS) {
        return both;
    }
    let words: [Vec<&str>; 2] = [0, 1].map(|side| both[side].split(' ').collect());
    let shorter = words[0].len().min(words[1].len());
    let same = |at: &dyn Fn(&Vec<&str>, usize) -> usize| {
        let is_same = |n: &usize| words[0][at(&words[0], *n)] == words[1][at(&words[1], *n)];
        (0..shorter).take_while(is_same).count()
    };
    let same_front = same(&|_, n| n);
    // What is the same in front is not counted again from behind.
    let same_back = same(&|words, n| words.len() - 1 - n).min(shorter - same_front);
    let front = same_front.saturating_sub(CONTEXT);
    [&words[0], &words[1]].map(|words| between(words, front, same_back))
}

fn between(words: &[&str], front: usize, back: usize) -> String {
    let mut shown: Vec<String> = Vec::new();
    if front > 0 {
        shown.push("…".into());
    }
    let end = words.len().saturating_sub(back).max(front);
    shown.extend(words[front..end].iter().map(|word| ending(word)));
    if end < words.len() {
        shown.push("…".into());
    }
    shown.join(" ")
}

/// A long path differs from another at its end, mostly.
fn ending(word: &str) -> String {
    let n = word.chars().count();
    if n <= MAX_CHARS {
        return word.to_owned();
    }
    let end = word.chars().skip(n - MAX_CHARS);
    std::iter::once('…').chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_analysis::compare::EnvironmentCategory;

    fn shown(baseline: &str, candidate: &str) -> [String; 2] {
        values(&Difference {
            category: EnvironmentCategory::Command,
            name: "command".into(),
            baseline: vec![baseline.into()],
            candidate: vec![candidate.into()],
        })
    }

    #[test]
    fn of_long_values_only_what_differs_is_shown() {
        let command = |steps: &str| {
            format!(
                "python generate.py --model /models/a/very/long/path/to/it --steps {steps} --size 1024 --seed 7"
            )
        };
        let found = shown(&command("50"), &command("40"));
        assert_eq!(found, ["… --steps 50 …", "… --steps 40 …"]);
        let longer = command("50") + " --fast";
        let found = shown(&command("50"), &longer);
        assert_eq!(found, ["… 7", "… 7 --fast"]);
    }

    #[test]
    fn of_a_long_word_the_end_is_shown() {
        let program = "/a/very/long/path/to/where/it/lies/in/this/place/generate";
        let found = shown(&format!("{program} 1"), &format!("{program} 2"));
        let end = "here/it/lies/in/this/place/generate";
        assert!(found[0].ends_with(&format!("{end} 1")) && found[0].starts_with('…'));
        assert!(found[1].chars().count() < 45, "{}", found[1]);
    }

    #[test]
    fn a_value_that_repeats_itself_is_not_counted_twice() {
        let once = "x ".repeat(40) + "y";
        let twice = "x ".repeat(41) + "y";
        let [a, b] = shown(&once, &twice);
        assert_eq!((a.as_str(), b.as_str()), ("… x …", "… x x …"));
    }
}

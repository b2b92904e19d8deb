//! How a sentence calls several ranks.

use crate::findings::job_facts::{JobFacts, listed};

/// Runs of ranks that are said; of more, how many there are.
const MAX_RUNS: usize = 5;

impl JobFacts<'_> {
    /// The ranks at these places, of which there is one at least: `rank 3`, `ranks 0-2 and 5`; files where one does not say its rank.
    pub(in crate::findings) fn all_named(&self, places: &[u32]) -> String {
        let members = places.iter().map(|place| self.job.members.get(*place as usize)?.rank);
        let numbers = members.collect::<Option<Vec<u32>>>();
        numbers.and_then(|numbers| ranks(&numbers)).unwrap_or_else(|| {
            let names: Vec<String> = places.iter().map(|place| self.named(*place)).collect();
            listed(&names)
        })
    }
}

/// Ranks in ascending order, three or more in a row as a run: `rank 3`, `ranks 0-2, 5 and 6`; `None` of none.
pub(in crate::findings) fn ranks(numbers: &[u32]) -> Option<String> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let said = |&(first, last): &(u32, u32)| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first}-{last}")],
    };
    let is_one = numbers.len() == 1;
    let what = if is_one { "rank" } else { "ranks" };
    let n_more: usize =
        runs.iter().skip(MAX_RUNS).map(|(first, last)| (last - first) as usize + 1).sum();
    let mut names: Vec<String> = runs.iter().take(MAX_RUNS).flat_map(said).collect();
    if n_more > 0 {
        names.push(format!("{n_more} more"));
    }
    let last = names.pop()?;
    Some(if names.is_empty() {
        format!("{what} {last}")
    } else {
        format!("{what} {} and {last}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_in_a_row_are_a_run_and_of_many_runs_the_first_are_said() {
        let said = |numbers: &[u32]| ranks(numbers).unwrap_or_default();
        assert_eq!(ranks(&[]), None);
        assert_eq!(said(&[3]), "rank 3");
        assert_eq!(said(&[0, 2]), "ranks 0 and 2");
        assert_eq!(said(&[0, 1]), "ranks 0 and 1");
        assert_eq!(said(&[0, 1, 2]), "ranks 0-2");
        assert_eq!(said(&[0, 1, 2, 5, 7, 8]), "ranks 0-2, 5, 7 and 8");
        // 0 2 4 6 8, and 10 and 12 to 14.
        let many = [0, 2, 4, 6, 8, 10, 12, 13, 14];
        assert_eq!(said(&many), "ranks 0, 2, 4, 6, 8 and 4 more");
        assert_eq!(said(&[u32::MAX]), format!("rank {}", u32::MAX));
    }
}

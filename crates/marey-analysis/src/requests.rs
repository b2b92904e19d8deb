//! What did a mean request wait for? Of a program that works on several at once, whose wall time says little of any one of them.
//!
//! ```text
//! req-0   |-wait-|--decode--|                 each session has an account of its own;
//! req-1     |----wait-------|--decode--|      their sum over their number is the mean request
//! ```

use marey::Run;

use crate::account::{Account, wall_account};
use crate::intervals::Interval;
use crate::questions::session_runs::SessionRuns;

/// Sessions that went on beside one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Most that went on at once.
    pub most_at_once: u64,
    /// How long each took, shortest first.
    pub durations_ns: Vec<u64>,
    /// What held each of them up, added up: its wall time is that of all of them.
    pub account: Account,
}

/// The requests of a run: its outermost sessions, where some of them went on at the same time. `None` otherwise, where one had not ended, and
/// where sections are missing or there are too many sessions to look at each.
pub fn requests(run: &Run, runs: &SessionRuns<'_>) -> Option<Requests> {
    let outermost = || (0..).zip(&run.sessions).filter(|(_, s)| s.parent.is_none());
    let times: Vec<Interval> = outermost()
        .map(|(_, session)| Some(Interval { start_ns: session.start_ns, end_ns: session.end_ns? }))
        .collect::<Option<_>>()?;
    let most_at_once = most_at_once(&times);
    if most_at_once < 2 || runs.n_sections_missing() > 0 {
        return None;
    }
    let in_full = runs.in_full(0);
    let mut own = vec![0; run.nodes.len()];
    let mut wall_ns: u64 = 0;
    for (index, _) in outermost() {
        let session = in_full.contains(&index).then(|| runs.get(index)).flatten()?;
        let account = wall_account(&session.run, &session.sections())?;
        wall_ns = wall_ns.checked_add(account.wall_ns)?;
        own[0] += account.unattributed_ns;
        for row in account.rows {
            *own.get_mut(row.node as usize)? += row.self_ns;
        }
    }
    let mut durations_ns: Vec<u64> = times.iter().map(Interval::length_ns).collect();
    durations_ns.sort_unstable();
    Some(Requests { most_at_once, durations_ns, account: Account::of_own(run, wall_ns, &own) })
}

/// Most intervals that share a moment.
fn most_at_once(times: &[Interval]) -> u64 {
    let starts = times.iter().map(|time| (time.start_ns, 1));
    // What ends when another begins was not there at once.
    let ends = times.iter().map(|time| (time.end_ns, -1));
    let mut changes: Vec<(u64, i64)> = starts.chain(ends).collect();
    changes.sort_unstable();
    let mut now = 0;
    let most = changes.into_iter().map(|(_, change)| {
        now += change;
        now
    });
    u64::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections;
    use marey_testing::RunBuilder;

    #[test]
    fn the_mean_request_is_the_sum_of_the_accounts() {
        // a   |-wait 10-|-work 10-|          b   |---- wait 20 ----|-work 10-|
        let run = RunBuilder::new()
            .session("a", 0, Some(20), vec![])
            .section("wait", 0, 10, |_| {})
            .section("work", 10, 20, |_| {})
            .thread("other")
            .session("b", 0, Some(30), vec![])
            .section("wait", 0, 20, |_| {})
            .section("work", 20, 30, |_| {})
            .finish(40);
        let found = requests(&run, &SessionRuns::new(&run)).unwrap();
        assert_eq!((found.most_at_once, found.account.wall_ns), (2, 50));
        assert_eq!(found.durations_ns, [20, 30]);
        let held: Vec<u64> = found.account.rows.iter().map(|row| row.held_ns).collect();
        assert_eq!((held, found.account.unattributed_ns), (vec![30, 20], 0));
        assert_eq!(sections(&run).tree.len(), 2);
    }

    #[test]
    fn one_after_the_other_is_a_run_like_any_other() {
        let run = RunBuilder::new()
            .session("a", 0, Some(20), vec![])
            .session("b", 20, Some(30), vec![])
            .finish(40);
        assert_eq!(requests(&run, &SessionRuns::new(&run)), None);
    }
}

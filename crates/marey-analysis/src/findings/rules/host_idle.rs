//! Does the device wait for the host where nothing is denoised?
//!
//! ```text
//! host     |-- encode --|    |---- denoise ----|       | decode |
//! device    |-| |-| |-|      |-----------------|       |--------|
//!              idle idle ╌╌╌╌                   ╌╌╌╌╌╌╌               each moment is of where the host is
//! ```

use std::cmp::Reverse;

use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, saving};
use crate::quantity::{duration_ns, rounded_percent};
use crate::{PhaseRole, TraceAccountRow};

pub(super) const RULE: Rule = Rule {
    id: "host-idle",
    category: Category::Performance,
    checks: "the device waits for the host outside of denoising",
    limits: &[],
    saves: "no estimate; at most that time",
    of: &[Check::Trace(
        "wall time outside of denoising in which no device worked, as a share of the trace. The limit is 0.05",
        check,
    )],
};

/// Share of the wall.
const MOST: f64 = 0.05;
/// Phases that are named.
const MOST_PLACES: usize = 3;

fn check(facts: &TraceFacts<'_>) -> Outcome {
    if facts.answers.devices.is_empty() {
        return facts.unknown(NO_DEVICE);
    }
    let rows = facts.answers.account.iter().flat_map(|account| &account.rows);
    let is_denoising = |row: &&TraceAccountRow| row.role == Some(PhaseRole::Denoising);
    if !rows.clone().any(|row| is_denoising(&row)) {
        return Outcome::Unknown("the trace has no name for denoising".into());
    }
    let idle_ns = |row: &TraceAccountRow| row.held_ns.saturating_sub(row.busy_ns);
    let mut outside: Vec<&TraceAccountRow> = rows.filter(|row| !is_denoising(row)).collect();
    outside.sort_by_key(|row| Reverse(idle_ns(row)));
    let all_ns = outside.iter().map(|row| idle_ns(row)).sum::<u64>();
    let wall_ns = facts.wall_ns().max(1);
    let share = ratio(all_ns.into(), wall_ns.into());
    let unknown = facts
        .answers
        .devices
        .iter()
        .map(|one| one.utilization.unknown_ns + one.utilization.unknown_around_ns);
    let unknown_ns: u64 = unknown.sum();
    if share > MOST && ratio(unknown_ns.into(), wall_ns.into()) > MOST {
        return facts.unknown("launched work is missing");
    }
    if share <= MOST {
        let shown = rounded_percent(share);
        return Outcome::Passed(format!("outside of denoising devices waited {shown} of the time"));
    }
    outside.truncate(MOST_PLACES);
    let encodes = outside.iter().any(|row| row.role == Some(PhaseRole::TextEncoder));
    let has_stacks = facts.has_stacks();
    let mut tries = Vec::new();
    tries.extend(
        has_stacks.then_some("A trace without with_stack to size it: stacks lengthen host time."),
    );
    tries.extend(encodes.then_some("Cached prompt embeddings."));
    tries.extend((!has_stacks).then_some("with_stack=True names what the host does there."));
    let issue = format!(
        "Host outside denoising: GPU idle for {}, {} of the trace",
        duration_ns(all_ns),
        rounded_percent(share)
    );
    let how = "the idle time outside of denoising; some of it is work that a host has to do";
    let saved = saving(&Won::Within(facts.wall_ns()), None, all_ns, how);
    let places = outside.iter().filter(|row| idle_ns(row) > 0);
    let of_place = |row: &&TraceAccountRow| Evidence::ns(row.name.as_str(), idle_ns(row));
    let mut found = RULE.found(share, issue, &tries.join(" "), saved);
    found.evidence = places.map(of_place).collect();
    if has_stacks {
        found.confidence = Confidence::Medium;
    }
    Outcome::Found(vec![found])
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{check, host, launched};

    /// ```text
    /// host     |- encode_prompt -|-- denoising_step 0, 1 --|      0–40, 40–100
    /// device         |--|         |------------------------|      10–20, 40–100
    /// ```
    #[test]
    fn idle_time_is_of_the_phase_that_the_host_is_in() {
        let events = [
            host("user_annotation", "encode_prompt", 0, 40),
            launched("gemm", 5, 10, 10),
            host("user_annotation", "denoising_step 0", 40, 30),
            host("user_annotation", "denoising_step 1", 70, 30),
            launched("gemm", 40, 40, 60),
        ];
        // 30 of 100 µs.
        let found = only(check(&RULE, &events));
        let expected = "Host outside denoising: GPU idle for 30.0 µs, 30 % of the trace";
        assert_eq!(found.issue, expected);
        assert_eq!(found.evidence[0].figure.value, 30_000.0);
        assert!(found.remedy.contains("prompt embeddings"), "{}", found.remedy);
        assert!(matches!(check(&RULE, &events[2..]), Outcome::Passed(_)));
    }
}

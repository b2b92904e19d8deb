//! Do denoising steps wait for the device before they are through?
//!
//! ```text
//! host     |------ step 0 ------||------ step 1 ------|
//!            |wait|       |wait|    |wait|      |wait|      .item(), a copy to the host, synchronize
//! device   |------|   |-------|   |------|   |-------|      stands still after each, until something is launched again
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::RULE;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{NO_DEVICE, TraceFacts, Won, saving};
use crate::quantity::rounded_percent;
use crate::{SyncCall, SyncPlace};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    if facts.answers.devices.is_empty() {
        return facts.unknown(NO_DEVICE);
    }
    let Some((waiting_ns, host_ns)) = in_steps(facts) else {
        return Outcome::Unknown("the trace tells no steps".into());
    };
    let share = ratio(waiting_ns.into(), host_ns.into());
    let limit = facts.thresholds.synchronisation_ratio;
    if share <= limit {
        let shown = rounded_percent(share);
        return Outcome::Passed(format!("calls that wait took {shown} of the time of steps"));
    }
    Outcome::Found(vec![finding(facts, (waiting_ns, share), limit)])
}

/// Time of steps in calls that wait, and in all; `None` without steps. Waiting of several threads is at most the step.
fn in_steps(facts: &TraceFacts<'_>) -> Option<(u64, u64)> {
    let parts = &facts.answers.parts;
    // A document has a list for each device, of the same steps.
    let lists = if parts.steps.is_empty() { &parts.profiler_steps } else { &parts.steps };
    let mut documents = BTreeSet::new();
    let lists = lists.iter().filter(|list| documents.insert(list.document));
    let steps = lists.flat_map(|list| &list.parts);
    let (waiting_ns, host_ns) = steps.fold((0_u64, 0_u64), |(waiting, host), step| {
        (
            waiting.saturating_add(step.synchronising_ns.min(step.host_ns)),
            host.saturating_add(step.host_ns),
        )
    });
    (host_ns > 0).then_some((waiting_ns, host_ns))
}

fn finding(facts: &TraceFacts<'_>, (waiting_ns, share): (u64, f64), limit: f64) -> Finding {
    let all = &facts.answers.synchronisation;
    let most: Option<&SyncCall> = all.calls.first();
    let named = most.map(|call| format!(", mostly in {}", call.name));
    let gaps_ns = all.gaps_ns.unwrap_or_default();
    let mut evidence = vec![
        Evidence::ratio("share of the time of steps in calls that wait", share).against(limit),
        Evidence::ns("time in them", waiting_ns),
        Evidence::ns(
            "time that a device stood still because of waiting, in all of the trace",
            gaps_ns,
        ),
    ];
    evidence.extend(most.map(|call| {
        let calls = "calls of the one that waits most";
        Evidence::count(calls, call.count)
    }));
    let issue = format!(
        "Steps wait for the GPU: {} of their time{}",
        rounded_percent(share),
        named.unwrap_or_default()
    );
    let how = "the time waited within steps, and no more than a device stood still during a wait or from one to the next launch";
    let saved = saving(&Won::Within(gaps_ns), None, waiting_ns, how);
    let confidence = Confidence::Medium;
    Finding { evidence, confidence, ..RULE.found(share, issue, &remedy(&all.places), saved) }
}

/// What to do about the place that waits most, in the whole trace.
fn remedy(places: &[SyncPlace]) -> String {
    const TABLE: &str = "--table synchronisation_places says where";
    let mut sums: BTreeMap<(&str, Option<&str>), (u64, &SyncPlace)> = BTreeMap::new();
    for place in places {
        let what = place.operator.as_deref().unwrap_or(&place.name);
        let around = [&place.function, &place.module, &place.range];
        let at = around.into_iter().flatten().next();
        let (sum_ns, _) = sums.entry((what, at.map(String::as_str))).or_insert((0, place));
        *sum_ns = sum_ns.saturating_add(place.total_ns);
    }
    let most = sums.into_iter().max_by_key(|(_, (total_ns, _))| *total_ns);
    let Some(((what, at), (_, place))) = most else {
        return format!("{}; {TABLE}.", of_operator(None, ""));
    };
    let at = at.map_or_else(String::new, |at| format!(" in {at}"));
    let line = if place.function.is_some() { "" } else { ", with_stack=True its line" };
    let advice = of_operator(place.operator.as_deref(), &place.name);
    format!("{what}{at} waits most in the trace. {advice}; {TABLE} else{line}.")
}

/// What to do instead of an operator that waits, or of a call outside of any.
fn of_operator(operator: Option<&str>, call: &str) -> &'static str {
    match operator.map(|name| name.trim_start_matches("aten::")) {
        Some("item" | "_local_scalar_dense" | "is_nonzero" | "equal") => {
            "Keep the value on the host, or read it once before the loop (of a scheduler: set_begin_index, time steps on the host)"
        }
        Some("nonzero" | "masked_select" | "_unique2" | "repeat_interleave" | "index") => {
            "Only the device knows how large its result is: look it up on the host, before the loop (of a scheduler: set_begin_index)"
        }
        Some("copy_" | "_to_copy" | "to") => {
            "Copy once before the loop, or from pinned memory with non_blocking=True; a constant is made on the device"
        }
        None if call.contains("Synchronize") => "One synchronisation after the last step is enough",
        _ => {
            "No .item(), .cpu(), printing or branching on tensors between steps, and copies with non_blocking=True"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;
    use crate::findings::trace_facts::made::{answers, check, host, launched};

    /// Four steps of 100 µs, each with a kernel and a call that waits so long.
    fn steps(waits_us: u64) -> Vec<String> {
        let step = |n: u64| {
            let begin = n * 100;
            let wait = begin + 20;
            [
                format!(
                    r#"{{"ph":"X","cat":"user_annotation","name":"denoising_step {n}","pid":9,"tid":9,"ts":{begin},"dur":100}}"#
                ),
                launched("gemm", begin + 5, begin + 10, 10 + waits_us),
                format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":{wait},"dur":{waits_us},"args":{{"correlation":{}}}}}"#,
                    1000 + n
                ),
            ]
        };
        (0..4).flat_map(step).collect()
    }

    #[test]
    fn steps_that_wait_are_found_with_the_call() {
        // 4 × 30 of 4 × 100 µs.
        let found = only(check(&RULE, &steps(30)));
        assert!((found.evidence[0].figure.value - 0.3).abs() < 1e-9);
        assert!(found.issue.contains("cudaStreamSynchronize"), "{}", found.issue);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(120_000));
    }

    /// What is around the wait of step 0, which is the longest.
    ///
    /// ```text
    /// host  |-------------------- denoising_step 0 ----------------------|
    ///         |- scheduling_ddim.py(12): step --------------------|
    ///           |- aten::item ------------------------|
    ///             |- cudaStreamSynchronize: 20 to 70 -|
    /// ```
    fn remedy_in(around: &[(&str, &str)]) -> String {
        let mut events = steps(40);
        let longer = events[2].replace("\"dur\":40", "\"dur\":50");
        events[2] = longer;
        let around = around.iter().zip([10, 15, 18]);
        events.extend(around.map(|((cat, name), at)| host(cat, name, at, 80 - at)));
        only(check(&RULE, &events)).remedy
    }

    #[test]
    fn the_place_that_waits_most_is_named_with_what_to_do_instead() {
        let function = ("python_function", "schedulers/scheduling_ddim.py(12): index_for_timestep");
        let step = "nn.Module: UNet_0";
        assert_eq!(
            remedy_in(&[function, ("cpu_op", "aten::nonzero")]),
            "aten::nonzero in schedulers/scheduling_ddim.py(12): index_for_timestep waits most in the trace. Only the device knows how large its result \
             is: look it up on the host, before the loop (of a scheduler: set_begin_index); --table synchronisation_places says where else."
        );
        let item = remedy_in(&[
            function,
            ("python_function", step),
            ("cpu_op", "aten::_local_scalar_dense"),
        ]);
        assert!(item.starts_with("aten::_local_scalar_dense in schedulers/sch"), "{item}");
        assert!(item.contains("Keep the value on the host"), "{item}");
        let copy = remedy_in(&[("cpu_op", "aten::copy_")]);
        assert!(
            copy.starts_with("aten::copy_ in denoising_step 0 waits most in the trace. Copy once"),
            "{copy}"
        );
        assert!(copy.ends_with("says where else, with_stack=True its line."), "{copy}");
        let bare = remedy_in(&[]);
        assert!(bare.starts_with("cudaStreamSynchronize in denoising_step "), "{bare}");
    }

    /// Two steps of 100 µs. The next kernel is in the queue while the host waits for the one before:
    ///
    /// ```text
    /// host     [a][b] |----wait----|        [c]
    /// µs       1  2   5            60       70        of each step
    /// device     |----a----||------b------|╌╌╌|-c-|
    ///            4         40            64   72  80
    /// ```
    fn queued() -> Vec<String> {
        let step = |n: u64| {
            let at = n * 100;
            [
                format!(
                    r#"{{"ph":"X","cat":"user_annotation","name":"denoising_step {n}","pid":9,"tid":9,"ts":{at},"dur":100}}"#
                ),
                launched("a", at + 1, at + 4, 36),
                launched("b", at + 2, at + 40, 24),
                format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":{},"dur":55}}"#,
                    at + 5
                ),
                launched("c", at + 70, at + 72, 8),
            ]
        };
        (0..2).flat_map(step).collect()
    }

    #[test]
    fn no_more_can_be_won_than_the_device_stood_still_because_of_it() {
        // It waits for 110 µs. Of the gaps of 8, 24 and 8 µs none begins before a wait has ended: nothing can be won.
        let found = only(check(&RULE, &queued()));
        let evidence = |n: usize| found.evidence[n].figure.value;
        assert!((evidence(1) - 110_000.0).abs() < 1e-9);
        assert!(evidence(2).abs() < 1e-9);
        assert_eq!(found.saving.as_ref().unwrap().at_most_ns, Some(0));
        // Four µs longer, the wait goes on until b has ended: both gaps of 8 µs, in which c is launched, may be its fault.
        let mut longer = queued();
        for event in &mut longer {
            *event = event.replace("\"dur\":55", "\"dur\":60");
        }
        let found = only(check(&RULE, &longer));
        assert_eq!(found.saving.unwrap().at_most_ns, Some(16_000));
    }

    /// A step of 1 000 µs whose wait ends as its first kernel does. What follows is launched at 100 and begins at `begins_us`.
    ///
    /// ```text
    /// host    [a] |--wait--|------------[b]
    /// µs       1  5        50           100
    /// device    |-----a----|╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌|-b-|
    /// ```
    fn followed(begins_us: u64) -> Vec<String> {
        let step = r#"{"ph":"X","cat":"user_annotation","name":"denoising_step 0","pid":9,"tid":9,"ts":0,"dur":1000}"#;
        let wait = r#"{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":5,"dur":45}"#;
        vec![
            step.to_owned(),
            launched("a", 1, 4, 46),
            wait.to_owned(),
            launched("b", 100, begins_us, 10),
        ]
    }

    #[test]
    fn a_gap_counts_until_shortly_after_its_launch_and_not_if_data_was_loaded_in_it() {
        let gaps_ns = |events: &[String]| answers(events).synchronisation.gaps_ns;
        // Of 52 µs all, of 350 the 50 until the launch and the 10 that it may take.
        assert_eq!(gaps_ns(&followed(102)), Some(52_000));
        assert_eq!(gaps_ns(&followed(400)), Some(60_000));
        let mut loads = followed(102);
        loads.push(host("user_annotation", "DataLoader.__next__", 55, 40));
        assert_eq!(gaps_ns(&loads), Some(0));
    }

    #[test]
    fn steps_that_hardly_wait_pass_and_without_steps_nothing_is_known() {
        let passed = check(&RULE, &steps(2));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        let unknown = check(&RULE, &[launched("gemm", 1, 100, 10)]);
        assert!(matches!(unknown, Outcome::Unknown(_)), "{unknown:?}");
    }
}

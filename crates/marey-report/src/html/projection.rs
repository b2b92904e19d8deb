//! What a page has of a report: everything but the middle of very long lists.

use std::borrow::Cow;
use std::collections::BTreeSet;

use marey_analysis::{Blocks, Delivery, IterationPoint, StackFrames, StepPoint};

use super::bounded::{self, MAX_CALL_PATHS, ShortList, note};
use crate::model::{Activity, Report, SessionFacts};

/// Bytes of a report as JSON, without its call paths, which are all kept: there are never many times more.
const MAX_BYTES: usize = 1_000_000;

/// The report as JSON, and which lists in it are not whole.
pub(super) fn json(report: &Report) -> (Vec<u8>, Vec<ShortList>) {
    let tree = &report.sections.tree;
    let call_paths = serde_json::to_vec(&tree[..tree.len().min(MAX_CALL_PATHS)]);
    let n_left_short = report.n_sessions_left_short();
    let report = &with_short_snapshots(report);
    let report = &with_full_sessions(report);
    let snapshots = serde_json::to_vec(&report.snapshot_files);
    let kept = [call_paths, snapshots].into_iter().flatten();
    let max_bytes = MAX_BYTES + kept.map(|json| json.len()).sum::<usize>();
    let (json, mut cuts) = bounded::json(max_bytes, |limit, cuts| {
        let of_session = bounded::of_session(limit);
        let iterations = report.iterations.iter().map(|one| one.series.len());
        let sessions = || report.sessions.iter().filter_map(|s| s.activity.as_deref());
        if iterations.max().unwrap_or(0) <= limit
            && longest(&report.activity) <= limit
            && sessions().all(|activity| longest(activity) <= of_session)
        {
            return Cow::Borrowed(report.as_ref());
        }
        let mut short = report.as_ref().clone();
        for one in &mut short.iterations {
            let all = one.series.len();
            one.series = extremes(&one.series, limit);
            if one.series.len() < all {
                note(cuts, "iterations.*.series", one.series.len(), all);
            }
        }
        let mut shorten = |activity: &mut Activity, place: &str, limit: usize| {
            let Some(diffusion) = &mut activity.diffusion else {
                return;
            };
            let mut noted = |list: &str, kept: usize, of: usize| {
                if kept < of {
                    note(cuts, &format!("{place}.diffusion.{list}.each"), kept, of);
                }
            };
            if let Some(steps) = &mut diffusion.steps {
                let all = steps.each.len();
                shorten_steps(&mut steps.each, &mut steps.outliers, limit);
                noted("steps", steps.each.len(), all);
            }
            if let Some(Blocks { each, .. }) = &mut diffusion.blocks {
                let all = each.len();
                let kept = evenly(all, limit);
                keep(each, &kept);
                let steps = diffusion.steps.iter_mut().flat_map(|steps| &mut steps.each);
                for step in steps {
                    let place = step.block_at.and_then(|at| kept.binary_search(&at).ok());
                    step.block_at = place;
                }
                for end in diffusion
                    .growth
                    .iter_mut()
                    .flat_map(|growth| &mut growth.between)
                {
                    *end = kept.partition_point(|at| at <= end).saturating_sub(1);
                }
                noted("blocks", each.len(), all);
            }
            if let Some(Delivery { each, .. }) = &mut diffusion.delivery {
                let all = each.len();
                keep(each, &evenly(all, limit));
                noted("delivery", each.len(), all);
            }
        };
        shorten(&mut short.activity, "activity", limit);
        for activity in short
            .sessions
            .iter_mut()
            .filter_map(|s| s.activity.as_deref_mut())
        {
            shorten(activity, "sessions.*.activity", of_session);
        }
        Cow::Owned(short)
    });
    bounded::leave_out(&mut cuts, "sessions", report.sessions.len(), n_left_short);
    (json, cuts)
}

/// The report with those sessions of which it is known what they did; one within another names the nearest that is there.
fn with_full_sessions(report: &Report) -> Cow<'_, Report> {
    if report.n_sessions_left_short() == 0 {
        return Cow::Borrowed(report);
    }
    let mut places: Vec<Option<usize>> = Vec::with_capacity(report.sessions.len());
    let mut full = Vec::new();
    for session in &report.sessions {
        let parent = session.parent.and_then(|parent| *places.get(parent)?);
        if session.activity.is_none() {
            places.push(parent);
            continue;
        }
        places.push(Some(full.len()));
        full.push(SessionFacts {
            parent,
            ..session.clone()
        });
    }
    let mut short = report.clone();
    short.sessions = full;
    Cow::Owned(short)
}

/// Stacks of a memory snapshot that a page has, frames of each of them, and steps.
const MAX_STACKS: usize = 15;
const MAX_FRAMES: usize = 8;
const MAX_GROWTH_POINTS: usize = 200;
/// Devices of all snapshots together.
const MAX_DEVICES: usize = 16;

/// The report with memory snapshots that have about 100 KB each: what is left out of stacks is counted where it
/// stands.
fn with_short_snapshots(report: &Report) -> Cow<'_, Report> {
    if report.snapshot_files.is_empty() {
        return Cow::Borrowed(report);
    }
    let mut short = report.clone();
    let mut room = MAX_DEVICES;
    for answers in short
        .snapshot_files
        .iter_mut()
        .flat_map(|file| &mut file.answers)
    {
        let all = answers.devices.len();
        answers.devices.truncate(room);
        room -= answers.devices.len();
        if answers.devices.len() < all {
            let left_out = (all - answers.devices.len()) as u64;
            answers
                .warnings
                .push(("devices, for lack of room in the page", left_out));
        }
    }
    let answers = short
        .snapshot_files
        .iter_mut()
        .flat_map(|file| &mut file.answers);
    for device in answers.flat_map(|answers| &mut answers.devices) {
        let alive = &mut device.alive;
        let rows = alive.by_stack.drain(alive.by_stack.len().min(MAX_STACKS)..);
        let others = rows.map(|row| row.bytes).fold(0, u64::saturating_add);
        alive.other_stacks_bytes = alive.other_stacks_bytes.saturating_add(others);
        if let Some(rows) = &mut alive.by_section {
            rows.truncate(MAX_STACKS);
        }
        let of_rows = alive.by_stack.iter_mut().flat_map(|row| &mut row.stack);
        let of_failures = device
            .out_of_memory
            .iter_mut()
            .flat_map(|failed| &mut failed.stack);
        of_rows.chain(of_failures).for_each(shorten_stack);
        if let Some(growth) = &mut device.growth {
            let all = growth.points.len();
            keep(&mut growth.points, &evenly(all, MAX_GROWTH_POINTS));
        }
    }
    Cow::Owned(short)
}

/// The frames around the one to look at.
fn shorten_stack(stack: &mut StackFrames) {
    let all = stack.frames.len();
    let look_at = stack.user_frame.or(stack.caller_frame).unwrap_or(0);
    let from = look_at
        .saturating_sub(MAX_FRAMES / 2)
        .min(all.saturating_sub(MAX_FRAMES));
    let until = (from + MAX_FRAMES).min(all);
    stack.frames.truncate(until);
    stack.frames.drain(..from);
    stack.n_left_out = stack
        .n_left_out
        .saturating_add((all - stack.frames.len()) as u64);
    let moved = |place: usize| {
        place
            .checked_sub(from)
            .filter(|place| *place < until - from)
    };
    stack.user_frame = stack.user_frame.and_then(moved);
    stack.caller_frame = stack.caller_frame.and_then(moved);
}

fn longest(activity: &Activity) -> usize {
    let Some(diffusion) = &activity.diffusion else {
        return 0;
    };
    let steps = diffusion.steps.as_ref().map_or(0, |s| s.each.len());
    let blocks = diffusion.blocks.as_ref().map_or(0, |b| b.each.len());
    let delivery = diffusion.delivery.as_ref().map_or(0, |d| d.each.len());
    steps.max(blocks).max(delivery)
}

/// The shortest and the longest turn of each of `limit / 2` even stretches.
fn extremes(series: &[IterationPoint], limit: usize) -> Vec<IterationPoint> {
    if series.len() <= limit {
        return series.to_vec();
    }
    let stretches = series.chunks(series.len().div_ceil((limit / 2).max(1)));
    let of_stretch = |turns: &[IterationPoint]| {
        let least = (0..turns.len()).min_by_key(|n| turns[*n].duration_ns);
        let most = (0..turns.len()).max_by_key(|n| turns[*n].duration_ns);
        let chosen: BTreeSet<usize> = least.into_iter().chain(most).collect();
        chosen.into_iter().map(|n| turns[n]).collect::<Vec<_>>()
    };
    stretches.flat_map(of_stretch).collect()
}

/// Outliers stay, as far as there is room, and so does what they are counted by.
fn shorten_steps(each: &mut Vec<StepPoint>, outliers: &mut Vec<usize>, limit: usize) {
    let all = each.len();
    if all <= limit {
        return;
    }
    let mut chosen: BTreeSet<usize> = outliers.iter().copied().take(limit / 2).collect();
    chosen.extend(evenly(all, limit - chosen.len()));
    let chosen: Vec<usize> = chosen.into_iter().filter(|n| *n < all).collect();
    let place = |n: &usize| chosen.binary_search(n).ok();
    *outliers = outliers.iter().filter_map(place).collect();
    keep(each, &chosen);
}

/// `n` places of a list of `length`, spread evenly; all when there are fewer.
fn evenly(length: usize, n: usize) -> Vec<usize> {
    if length <= n {
        return (0..length).collect();
    }
    (0..n).map(|k| k * length / n).collect()
}

/// Keeps entries at ascending places.
fn keep<T>(list: &mut Vec<T>, places: &[usize]) {
    let mut next = places.iter().peekable();
    let mut place = 0;
    list.retain(|_| {
        let is_kept = next.next_if(|kept| **kept == place).is_some();
        place += 1;
        is_kept
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SnapshotFile;
    use marey::{CacheEvent, CacheOutcome, Section};
    use marey_testing::RunBuilder;

    /// A snapshot with `n` devices, each with as much as the answers ever have.
    fn long_snapshot(n: u32) -> SnapshotFile {
        let bytes = include_bytes!("../../../marey-analysis/tests/data/flux_tiny_resident.pickle");
        let found = marey_analysis::import::snapshot::read_snapshot(bytes).unwrap();
        let mut answers = marey_analysis::snapshot(&found, None);
        let device = answers.devices.remove(0);
        answers.devices = (0..n)
            .map(|number| {
                let mut device = device.clone();
                device.device = number;
                let row = device.alive.by_stack[0].clone();
                device.alive.by_stack = vec![row; 100];
                device
            })
            .collect();
        SnapshotFile {
            file: "a.pickle".into(),
            answers: Some(answers),
            problem: None,
        }
    }

    #[test]
    fn memory_snapshots_are_cut_and_what_is_left_out_is_counted() {
        let mut report = Report::new(&RunBuilder::new().finish(0));
        report.snapshot_files = vec![long_snapshot(20), long_snapshot(1)];
        let whole = &report.snapshot_files[0].answers.as_ref().unwrap().devices[0].alive;
        let all_bytes: u64 = whole.by_stack.iter().map(|row| row.bytes).sum();
        let (json, _) = json(&report);
        assert!(json.len() < 2_600_000, "{}", json.len());
        let page: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let [first, second] = [0, 1].map(|n| &page["snapshot_files"][n]["answers"]);
        assert_eq!(first["devices"].as_array().unwrap().len(), 16);
        assert_eq!(first["warnings"][0][1], 4);
        assert_eq!(second["warnings"][0][1], 1);
        let alive = &first["devices"][0]["alive"];
        let rows = alive["by_stack"].as_array().unwrap();
        assert_eq!(rows.len(), 15);
        let shown: u64 = rows.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        let others = alive["other_stacks_bytes"].as_u64().unwrap();
        assert_eq!(shown + others, all_bytes + whole.other_stacks_bytes);
        let stack = &rows[0]["stack"];
        let frames = stack["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 8);
        let look_at = usize::try_from(stack["user_frame"].as_u64().unwrap()).unwrap();
        let original = whole.by_stack[0].stack.as_ref().unwrap();
        let expected = &original.frames[original.user_frame.unwrap()];
        assert_eq!(frames[look_at]["file"], expected.file.as_str());
    }

    #[test]
    fn a_report_stays_small_whatever_the_run() {
        let cache_event = |n: u64| CacheEvent {
            at_ns: n,
            cache: "teacache".into(),
            outcome: CacheOutcome::Hit,
            step: Some(n),
            block: None,
            score: Some(0.1),
            threshold: None,
            held_bytes: None,
            attributes: vec![],
            session: None,
        };
        let drawn = (0..300).fold(RunBuilder::new(), |builder, n| {
            builder.session("one", n, Some(n + 1_000), vec![])
        });
        let run = drawn
            .iteration("denoising_step", 0, 1, |_| {})
            .with(|run| {
                run.cache_events = (0..100_000).map(cache_event).collect();
                run.sections = (0..200_000)
                    .map(|n| Section {
                        start_ns: n * 10,
                        end_ns: n * 10 + 9,
                        ..run.sections[0]
                    })
                    .collect();
            })
            .finish(2_000_000);
        let report = Report::new(&run);
        let (json, left_out) = json(&report);
        assert!(json.len() <= MAX_BYTES, "{}", json.len());
        let found: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let steps = &found["iterations"][0];
        let figures = (&steps["calls"]["count"], &steps["calls"]["total_ns"]);
        assert_eq!(figures, (&200_000.into(), &1_800_000.into()));
        let left_out = serde_json::to_value(left_out).unwrap();
        let lists: Vec<&str> = left_out
            .as_array()
            .unwrap()
            .iter()
            .map(|list| list["list"].as_str().unwrap())
            .collect();
        for list in ["activity.cache_timeline", "iterations.*.series", "sessions"] {
            assert!(lists.contains(&list), "{list} of {lists:?}");
        }
    }

    #[test]
    fn of_very_many_sessions_those_that_say_what_they_did_are_in_the_page() {
        let mut builder = RunBuilder::new();
        for n in 0..200 {
            builder = builder.session(&format!("{n}"), n * 10, Some(n * 10 + 5), vec![]);
        }
        let run = builder
            .with(|run| {
                // Of these, 30 and 190 are in the page, and 150 is not.
                run.sessions[150].parent = Some(30);
                run.sessions[190].parent = Some(150);
            })
            .finish(2_000);
        let (json, left_out) = json(&Report::new(&run));
        let found: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let sessions = found["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 100);
        assert!(sessions.iter().all(|s| s["activity"].is_object()));
        let inner = sessions.iter().find(|s| s["name"] == "190").unwrap();
        assert_eq!(inner["parent"], 30);
        let left_out = serde_json::to_value(left_out).unwrap();
        let expected = serde_json::json!([{"list": "sessions", "kept": 100, "left_out": 100}]);
        assert_eq!(left_out, expected);
    }

    #[test]
    fn every_call_path_is_kept_however_long_they_are_together() {
        let mut builder = RunBuilder::new();
        for n in 0..3_000 {
            builder = builder.section(&format!("section {n}"), n, n + 1, |_| {});
        }
        let (json, short) = json(&Report::new(&builder.finish(3_000)));
        assert!(json.len() > MAX_BYTES);
        let found: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(found["sections"]["tree"].as_array().unwrap().len(), 3_000);
        assert!(short.iter().all(|list| list.list != "sections.tree"));
    }

    #[test]
    fn a_long_loop_keeps_the_shortest_and_the_longest_turn() {
        let turn = |n: u64| IterationPoint {
            start_ns: n * 100,
            duration_ns: match n {
                500 => 1,
                501 => 99,
                _ => 50,
            },
        };
        let all: Vec<IterationPoint> = (0..10_000).map(turn).collect();
        let kept = extremes(&all, 100);
        assert!(kept.len() <= 100);
        assert!(kept.contains(&turn(500)) && kept.contains(&turn(501)));
        assert!(kept.is_sorted_by_key(|turn| turn.start_ns));
    }

    #[test]
    fn outliers_keep_their_steps() {
        let each = |n: u64| StepPoint {
            end_ns: n,
            ..StepPoint::default()
        };
        let mut steps: Vec<StepPoint> = (0..1_000).map(each).collect();
        let mut outliers = vec![3, 777, 998];
        shorten_steps(&mut steps, &mut outliers, 20);
        assert!(steps.len() <= 20);
        let ends = outliers.iter().map(|n| steps[*n].end_ns);
        assert_eq!(ends.collect::<Vec<u64>>(), [3, 777, 998]);
    }
}

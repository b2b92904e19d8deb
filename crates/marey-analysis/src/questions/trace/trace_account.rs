//! Where did the wall time of a trace go, so that it adds up?
//!
//! ```text
//! host      | encode |  | denoise |      | decode |         phases; between them nobody says what the host does
//! device       |--a--|      |--b--------------|c-|
//! held by   encode   before  denoise          decode after  a device at work: who launched it; idle: where the host is
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::context::TraceContext;
use super::device_timeline::DeviceWork;
use super::scopes::annotations;
use super::trace_phases::{PhaseRole, TracePhase};
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, difference, intersection, length_ns, union};

/// Wall time of a trace by phases. Each moment is one phase's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceAccount {
    /// From the first event of host and devices to the last; spans of the profiler itself are none.
    pub wall: Interval,
    /// Their `held_ns` add up to the wall; empty where no phase has a name. In order of their first moments on the host.
    pub rows: Vec<TraceAccountRow>,
    /// Where the host was: disjoint, in order, all of the wall, each with the place of its row.
    pub host: Vec<(Interval, usize)>,
}

/// A phase, or what is between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceAccountRow {
    /// The name that the program has for it, `denoise`, or where it is: `before vae_decode`.
    pub name: String,
    /// What it does in a generation; `None` when its name does not say.
    pub role: Option<PhaseRole>,
    /// The program says nothing of it.
    pub is_between: bool,
    /// How often it was entered; of denoising the steps or calls that were found.
    pub count: u64,
    /// Wall time that it held up.
    pub held_ns: u64,
    /// The part of that in which a device worked for it.
    pub busy_ns: u64,
}

impl TraceAccount {
    /// The rows, where they say where the time went: none where nothing of a generation has a name, and most of the wall is between
    /// those that do.
    pub fn phases(&self) -> &[TraceAccountRow] {
        let between = self.rows.iter().filter(|row| row.is_between);
        let between_ns: u64 = between.map(|row| row.held_ns).sum();
        let has_role = self.rows.iter().any(|row| row.role.is_some());
        if has_role || between_ns <= self.wall.length_ns() / 2 { &self.rows } else { &[] }
    }

    /// Busy and idle time of each row, if devices had worked at these times, which are in the context's order, and the host had come to its
    /// moments at those, and to its last at this one.
    pub(super) fn held_by(
        &self,
        context: &TraceContext<'_>,
        end_ns: u64,
        work: impl Iterator<Item = Interval>,
        moved: impl Fn(u64) -> u64,
    ) -> Vec<[u64; 2]> {
        let recorded = context.timelines.iter().flat_map(|device| &device.work);
        let work = recorded.zip(work).map(|(recorded, time)| {
            let launched = recorded.launch.map(|call| context.trace.rows.start_of(call));
            let at_ns = launched.unwrap_or(recorded.start_ns);
            let after = self.host.partition_point(|(time, _)| time.end_ns <= at_ns);
            (time, self.host.get(after).or(self.host.last()).map_or(0, |(_, row)| *row))
        });
        let host = self.host.iter().map(|(time, row)| {
            let is_last = time.end_ns == self.wall.end_ns;
            let until_ns = if is_last { end_ns } else { moved(time.end_ns) };
            (Interval { start_ns: moved(time.start_ns), end_ns: until_ns }, *row)
        });
        held(&host.collect::<Vec<_>>(), work.collect(), self.rows.len())
    }

    /// Where the host was at a moment; `None` outside of the wall.
    pub fn at(&self, ns: u64) -> Option<&TraceAccountRow> {
        let after = self.host.partition_point(|(time, _)| time.end_ns <= ns);
        let (time, row) = self.host.get(after)?;
        self.rows.get(*row).filter(|_| time.start_ns <= ns)
    }
}

/// Of the whole trace; `None` of a part, and of a trace in which nothing happens. It has no rows where no phase has a name, and of several
/// documents, whose clocks nobody knows to be one.
pub fn trace_account(context: &TraceContext<'_>) -> Option<TraceAccount> {
    let trace = context.trace;
    let wall = wall(trace).filter(|_| context.scope.is_none())?;
    let found = phases(context);
    let is_one_clock = trace.metadata.len() <= 1;
    let Some((rows, host)) = on_the_host(wall, &found).filter(|_| is_one_clock) else {
        return Some(TraceAccount { wall, ..TraceAccount::default() });
    };
    let mut account = TraceAccount { wall, rows, host };
    let work = context.timelines.iter().flat_map(|device| &device.work);
    let sums = account.held_by(context, wall.end_ns, work.map(DeviceWork::interval), |ns| ns);
    for (row, [busy_ns, idle_ns]) in account.rows.iter_mut().zip(sums) {
        row.busy_ns = busy_ns;
        row.held_ns = busy_ns + idle_ns;
    }
    Some(account)
}

/// Everything that host and devices did. `None` of nothing.
fn wall(trace: &Trace) -> Option<Interval> {
    let own = trace.rows.each().filter(|row| !matches!(trace.class_of(*row), Class::Other));
    own.map(|row| trace.rows.time_of(row)).reduce(|all, one| Interval {
        start_ns: all.start_ns.min(one.start_ns),
        end_ns: all.end_ns.max(one.end_ns),
    })
}

/// What a generation consists of; then what turns its result into a picture; then ranges that the program named. Of two that overlap the
/// first one has the moment.
fn phases(context: &TraceContext<'_>) -> Vec<TracePhase> {
    let (trace, parts) = (context.trace, context.parts());
    let n_steps = parts.steps.first().map(|steps| steps.ranges.len() as u64);
    let of_role = |role| {
        let phases = parts.phases.iter().filter(|phase| phase.role == Some(role));
        let mut found: Vec<TracePhase> = phases.cloned().collect();
        // One within another is part of it.
        found.sort_by(|a, b| {
            let order = |of: &TracePhase| Reverse(length_ns(&of.ranges));
            (order(a), &a.name).cmp(&(order(b), &b.name))
        });
        for phase in &mut found {
            phase.name = shown_name(phase, role);
            if let (PhaseRole::Denoising, Some(n_steps)) = (role, n_steps) {
                phase.count = n_steps;
            }
        }
        found
    };
    let mut found: Vec<TracePhase> =
        [PhaseRole::Vae, PhaseRole::TextEncoder].into_iter().flat_map(of_role).collect();
    found.extend(postprocessing(trace));
    found.extend(of_role(PhaseRole::Denoising));
    let known = union(found.iter().flat_map(|phase| phase.ranges.clone()).collect());
    found.extend(named(trace, &known));
    found
}

/// As the program calls it in a range; Python's functions and modules have no name for people.
fn shown_name(phase: &TracePhase, role: PhaseRole) -> String {
    let is_python = phase.name.contains(": ");
    match role {
        PhaseRole::Denoising => "denoise".into(),
        PhaseRole::TextEncoder if is_python => "text encoders".into(),
        PhaseRole::Vae if is_python && phase.name.ends_with("encode") => "vae_encode".into(),
        PhaseRole::Vae if is_python => "vae_decode".into(),
        _ => phase.name.clone(),
    }
}

/// What diffusers does with decoded pictures.
fn postprocessing(trace: &Trace) -> Option<TracePhase> {
    let is_it = |name: &str| {
        let is_processor = name.contains("image_processor") || name.contains("video_processor");
        is_processor && name.ends_with("): postprocess")
    };
    let rows = trace.rows_named(is_it);
    let rows = rows.filter(|row| trace.class_of(*row) == Class::PythonFunction);
    let ranges: Vec<Interval> = rows.map(|row| trace.rows.time_of(row)).collect();
    (!ranges.is_empty()).then(|| TracePhase::of(0, "postprocess", ranges))
}

/// Other ranges of the thread that has most of them, the outermost. One that is around a known phase, or large and mostly made up of
/// smaller ones, says less than what is in it.
fn named(trace: &Trace, known: &[Interval]) -> Vec<TracePhase> {
    let mut by_track: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in annotations(trace) {
        let track = trace.rows.track.get(row as usize).copied();
        by_track.entry(track.unwrap_or_default()).or_default().push(row);
    }
    let covered = |rows: &[u32]| union(rows.iter().map(|row| trace.rows.time_of(*row)).collect());
    let most = by_track.into_values().map(|rows| (length_ns(&covered(&rows)), rows));
    let Some((whole_ns, mut rows)) =
        most.max_by_key(|(ns, rows)| (*ns, Reverse(rows.first().copied())))
    else {
        return Vec::new();
    };
    rows.sort_by_key(|row| (trace.rows.start_of(*row), Reverse(trace.rows.end_ns(*row)), *row));
    let mut found: BTreeMap<&str, Vec<Interval>> = BTreeMap::new();
    let mut until_ns = 0;
    for (at, row) in rows.iter().enumerate() {
        let time = trace.rows.time_of(*row);
        if time.start_ns < until_ns || is_passed_through(trace, &rows[at..], known, whole_ns) {
            continue;
        }
        until_ns = time.end_ns;
        found.entry(trace.name_of(*row)).or_default().push(time);
    }
    found.into_iter().map(|(name, times)| TracePhase::of(0, name, times)).collect()
}

/// Whether the first of these rows is; the others follow in order of time.
fn is_passed_through(trace: &Trace, rows: &[u32], known: &[Interval], whole_ns: u64) -> bool {
    let [first, rest @ ..] = rows else {
        return false;
    };
    let time = trace.rows.time_of(*first);
    if !intersection(&[time], known).is_empty() {
        return true;
    }
    if time.length_ns() < whole_ns / 3 {
        return false;
    }
    let within = rest.iter().map(|row| trace.rows.time_of(*row));
    let within = within.take_while(|within| within.start_ns < time.end_ns);
    let within = within.filter(|within| within.end_ns <= time.end_ns && *within != time);
    length_ns(&union(within.collect())) * 2 >= time.length_ns()
}

/// Times of the host, each with the place of its row.
type Host = Vec<(Interval, usize)>;

/// Rows without times, and where the host is. `None` where no phase is within the wall.
fn on_the_host(wall: Interval, phases: &[TracePhase]) -> Option<(Vec<TraceAccountRow>, Host)> {
    let mut free = vec![wall];
    let mut taken: Vec<(Interval, &TracePhase)> = Vec::new();
    for phase in phases {
        let own = intersection(&free, &phase.ranges);
        free = difference(&free, &own);
        taken.extend(own.into_iter().map(|time| (time, phase)));
    }
    taken.sort_by_key(|(time, _)| *time);
    let last = taken.last()?.1;
    let mut rows: Vec<TraceAccountRow> = Vec::new();
    let mut host = Host::new();
    let mut place = |row: TraceAccountRow| {
        let known = rows.iter().position(|known| known.name == row.name);
        known.unwrap_or_else(|| {
            rows.push(row);
            rows.len() - 1
        })
    };
    let row = |name: String, phase: Option<&TracePhase>| TraceAccountRow {
        name,
        role: phase.and_then(|phase| phase.role),
        is_between: phase.is_none(),
        count: phase.map_or(0, |phase| phase.count),
        held_ns: 0,
        busy_ns: 0,
    };
    let mut from_ns = wall.start_ns;
    for (time, phase) in taken {
        if time.start_ns > from_ns {
            let before = place(row(format!("before {}", phase.name), None));
            let between = Interval { start_ns: from_ns, end_ns: time.start_ns };
            host.push((between, before));
        }
        host.push((time, place(row(phase.name.clone(), Some(phase)))));
        from_ns = time.end_ns;
    }
    if from_ns < wall.end_ns {
        let after = place(row(format!("after {}", last.name), None));
        let end = Interval { start_ns: from_ns, end_ns: wall.end_ns };
        host.push((end, after));
    }
    Some((rows, host))
}

/// Busy and idle time of each row. A moment in which several works run is that one's which began first.
///
/// ```text
/// host     |---- 0 ----|-- 1 --|
/// work        |a 0|  |b 0|c 1|
/// busy        |000|  |000|11|
/// idle     |00|   |00|      |1|
/// ```
fn held(
    host: &[(Interval, usize)],
    mut work: Vec<(Interval, usize)>,
    n_rows: usize,
) -> Vec<[u64; 2]> {
    let mut sums = vec![[0, 0]; n_rows];
    let wall_end_ns = host.last().map_or(0, |(time, _)| time.end_ns);
    let mut at_host = 0;
    let mut until_ns = host.first().map_or(0, |(time, _)| time.start_ns);
    let end = Interval { start_ns: wall_end_ns, end_ns: wall_end_ns };
    work.sort_by_key(|(time, _)| *time);
    work.push((end, 0));
    for (time, row) in work {
        while until_ns < time.start_ns
            && let Some((place, idle)) = host.get(at_host)
        {
            let idle_until_ns = place.end_ns.min(time.start_ns);
            sums[*idle][1] += idle_until_ns.saturating_sub(until_ns);
            until_ns = until_ns.max(idle_until_ns);
            at_host += usize::from(place.end_ns <= time.start_ns);
        }
        if time.end_ns > until_ns {
            sums[row][0] += time.end_ns - until_ns;
            until_ns = time.end_ns;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::chrome::{Limits, read};

    const fn time(start_ns: u64, end_ns: u64) -> Interval {
        Interval { start_ns, end_ns }
    }

    #[test]
    fn a_moment_is_of_who_launched_the_work_or_of_where_the_host_is() {
        // host   |---- 0 ----|---- 1 ----|        0 to 100, to 200
        // work      |0|  |---0---|  |1|           20–40, 70–130, 160–180
        let host = [(time(0, 100), 0), (time(100, 200), 1)];
        let work = vec![(time(20, 40), 0), (time(70, 130), 0), (time(160, 180), 1)];
        assert_eq!(held(&host, work, 2), [[80, 50], [20, 50]]);
        assert_eq!(held(&host, Vec::new(), 2), [[0, 100], [0, 100]]);
    }

    #[test]
    fn works_at_the_same_time_share_no_moment() {
        // work   |---0---|          10–60
        //           |--1-----|      30–90: the rest is its own
        //              |1|          50–55
        let host = [(time(0, 100), 0)];
        let work = vec![(time(50, 55), 1), (time(10, 60), 0), (time(30, 90), 1)];
        assert_eq!(held(&host, work, 2), [[50, 20], [30, 0]]);
    }

    #[test]
    fn what_is_between_two_phases_is_called_by_its_place() {
        let phase = |name: &str, ranges: &[Interval]| TracePhase::of(0, name, ranges.to_vec());
        // wall     0                                     100
        // decode                 |--|       |----|         40–50, 70–90
        // denoise       |------------------|               10–60: without what is decode's
        let found =
            [phase("decode", &[time(40, 50), time(70, 90)]), phase("denoise", &[time(10, 60)])];
        let (rows, host) = on_the_host(time(0, 100), &found).unwrap();
        let said = host.iter().map(|(time, row)| (time.start_ns, rows[*row].name.as_str()));
        let expected = [
            (0, "before denoise"),
            (10, "denoise"),
            (40, "decode"),
            (50, "denoise"),
            (60, "before decode"),
            (70, "decode"),
            (90, "after decode"),
        ];
        assert_eq!(said.collect::<Vec<_>>(), expected);
        assert_eq!(on_the_host(time(0, 100), &[]), None);
    }

    #[test]
    fn ranges_around_phases_are_no_phases() {
        let range = |name: &str, from: u64, lasts: u64| {
            format!(
                r#"{{"ph":"X","cat":"user_annotation","name":"{name}","pid":9,"tid":9,"ts":{from},"dur":{lasts}}}"#
            )
        };
        // The profiler's own span begins before, and ends after all else.
        let profiler = r#"{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":1,"tid":1,"ts":0,"dur":400}"#;
        let events = [
            profiler.to_owned(),
            range("model_inference", 100, 200),
            range("vae_decode", 150, 100),
            range("save", 260, 30),
        ];
        let text = format!("{{\"traceEvents\":[{}]}}", events.join(","));
        let trace = read(text.as_bytes(), Limits::default()).unwrap();
        let account = trace_account(&TraceContext::new(&trace, None)).unwrap();
        assert_eq!(account.wall.length_ns(), 200_000);
        let rows = account.rows.iter();
        let rows: Vec<_> = rows.map(|row| (row.name.as_str(), row.held_ns / 1000)).collect();
        let expected = [
            ("before vae_decode", 50),
            ("vae_decode", 100),
            ("before save", 10),
            ("save", 30),
            ("after save", 10),
        ];
        assert_eq!(rows, expected);
        assert_eq!(account.at(account.wall.start_ns + 50_000).unwrap().name, "vae_decode");
    }
}

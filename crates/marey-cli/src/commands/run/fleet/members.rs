//! The processes of a job: found, looked at again and again, and kept when they die.

use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use marey::live::{Live, Look, Process, Reading};
use marey_report::fleet::{self, Fleet, Member, MemberLabels, Past};

use super::super::job::Job;
use crate::run_folder::captures;

/// Processes that are looked at; more are counted.
const MAX_MEMBERS: usize = 256;
/// A capture without a process that was opened just now may get one.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

/// The processes of a job.
#[derive(Debug)]
pub(super) struct Members {
    folder: PathBuf,
    job_id: String,
    host: String,
    /// Captures that need no second thought.
    settled: HashSet<PathBuf>,
    watched: Vec<Watched>,
    /// Counts of recordings that had to make room.
    past: Past,
    left_out: u64,
}

#[derive(Debug)]
struct Watched {
    process: Process,
    seen: Seen,
}

/// What is known of a recording.
#[derive(Debug)]
enum Seen {
    /// It may go on; what samplers had read at the look before.
    Live(Box<Live>, Vec<Reading>),
    /// It is over: the last look.
    Over(Box<Look>),
}

impl Members {
    /// Those of a job that is about to run; none is looked at yet.
    pub(super) fn of(job: &Job) -> Self {
        Self {
            folder: job.folder.clone(),
            job_id: job.id().to_owned(),
            host: host(),
            settled: job.earlier.iter().cloned().collect(),
            watched: Vec::new(),
            past: Past::default(),
            left_out: 0,
        }
    }

    /// Finds what is new, and looks at every process that is not over. Costs some hundred microseconds a process.
    pub(super) fn look(&mut self) -> Fleet {
        self.find();
        let looks: Vec<Look> = self.watched.iter_mut().map(Watched::look).collect();
        let members: Vec<Member<'_>> = self
            .watched
            .iter()
            .zip(&looks)
            .map(|(watched, look)| watched.member(look))
            .collect();
        fleet::observe(
            &self.host,
            &self.job_id,
            &self.past,
            &members,
            self.left_out,
        )
    }

    /// Finds what is new.
    fn find(&mut self) {
        for capture in captures(&self.folder).unwrap_or_default() {
            if self.settled.contains(&capture) {
                continue;
            }
            // One that is complete has none; but what was opened just now comes again.
            let Some(process) = Process::of_capture(&capture) else {
                if is_old(&capture) {
                    self.settled.insert(capture);
                }
                continue;
            };
            if self.watched.len() >= MAX_MEMBERS && !self.forget_one_that_is_over() {
                self.left_out = self.left_out.saturating_add(1);
                self.settled.insert(capture);
                continue;
            }
            if let Some(live) = Live::attach(&process.folder) {
                self.settled.insert(capture);
                self.watched.push(Watched {
                    process,
                    seen: Seen::Live(Box::new(live), Vec::new()),
                });
            }
        }
        self.watched
            .sort_by_key(|watched| watched.process.start_unix_ns);
    }

    /// Makes room for a new one: the first that is over goes, rather one whose process has others, which keep its counts.
    fn forget_one_that_is_over(&mut self) -> bool {
        if !self.watched.iter().any(Watched::is_over) {
            for watched in &mut self.watched {
                watched.look();
            }
        }
        let mut n_of = BTreeMap::<MemberLabels, usize>::new();
        for watched in &self.watched {
            *n_of.entry(watched.labels()).or_default() += 1;
        }
        let has_others = |watched: &Watched| n_of.get(&watched.labels()).is_some_and(|n| *n > 1);
        let mut places = self.watched.iter();
        let place = places.position(|watched| watched.is_over() && has_others(watched));
        let place = place.or_else(|| self.watched.iter().position(Watched::is_over));
        let Some(gone) = place.map(|place| self.watched.remove(place)) else {
            return false;
        };
        if has_others(&gone)
            && let Seen::Over(last) = &gone.seen
        {
            self.past.keep(&gone.member(last));
        } else {
            self.past.forget(|labels| *labels == gone.labels());
        }
        true
    }
}

impl Watched {
    fn labels(&self) -> MemberLabels {
        MemberLabels {
            rank: self.process.rank,
            pid: self.process.pid(),
        }
    }

    fn member<'a>(&self, look: &'a Look) -> Member<'a> {
        Member {
            labels: self.labels(),
            look,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.seen, Seen::Over(_))
    }

    fn look(&mut self) -> Look {
        let (live, before) = match &mut self.seen {
            Seen::Over(last) => return Look::clone(last),
            Seen::Live(live, before) => (live, before),
        };
        if self.process.start_unix_ns.is_none() {
            self.process = live.process();
        }
        let mut look = live.look();
        self.process.rank = live.said_rank().or(self.process.rank);
        if look.is_running() {
            before.clone_from(&look.series);
        } else {
            keep_readings(&mut look, mem::take(before));
            self.seen = Seen::Over(Box::new(look.clone()));
        }
        look
    }
}

/// A recording that is over shows no readings: those of the look before stay, for what only grows.
fn keep_readings(last: &mut Look, before: Vec<Reading>) {
    for reading in before {
        if !last.series.iter().any(|known| known.info == reading.info) {
            last.series.push(reading);
        }
    }
}

/// Nothing has been written to it for a while: it is complete and stays so.
fn is_old(capture: &Path) -> bool {
    let written = capture.metadata().and_then(|file| file.modified());
    let age = written.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > SETTLED_AFTER)
}

/// Name of this machine; empty when the system does not say.
fn host() -> String {
    let name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use marey::live::Totals;
    use marey::{Generated, Identity, Node, NodeKind, SeriesInfo, Status, Unit};
    use marey_report::fleet::{Metric, Value};

    use super::*;

    /// A recording of 0.1 s in a section, with one step.
    fn over(pid: u32, n: u64) -> Watched {
        let process = Process {
            folder: PathBuf::new(),
            identity: Identity {
                pid,
                ..Identity::default()
            },
            is_alive: Some(true),
            capture: None,
            start_unix_ns: Some(n),
            job_id: None,
            rank: None,
            forked_from: None,
            outside_of: None,
            command: vec![],
        };
        let node = |parent, name: &str| Node {
            parent,
            name: name.into(),
            kind: NodeKind::Section,
            is_detached: false,
        };
        let look = Look {
            status: Status::Finished,
            nodes: Arc::new([node(None, ""), node(Some(0), "s")]),
            totals: vec![Totals {
                node: 1,
                count: 1,
                sum_ns: 100_000_000,
                ..Totals::default()
            }],
            generated: Generated {
                steps: 1,
                ..Generated::default()
            },
            ..Look::default()
        };
        Watched {
            process,
            seen: Seen::Over(Box::new(look)),
        }
    }

    fn members() -> Members {
        Members {
            folder: PathBuf::from("/nowhere"),
            job_id: "j".into(),
            host: "h".into(),
            settled: HashSet::new(),
            watched: Vec::new(),
            past: Past::default(),
            left_out: 0,
        }
    }

    #[test]
    fn counters_of_a_process_with_300_recordings_never_fall() {
        let mut members = members();
        let mut known = BTreeMap::new();
        for n in 0..300 {
            if members.watched.len() >= MAX_MEMBERS {
                assert!(members.forget_one_that_is_over());
            }
            members.watched.push(over(7, n));
            let fleet = members.look();
            let [only] = &fleet.processes[..] else {
                panic!("{fleet:?}");
            };
            for (key, value) in &only.figures {
                let Value::Number(value) = value else {
                    continue;
                };
                let before = known.insert(key.clone(), *value).unwrap_or(0.0);
                assert!(*value >= before, "{key:?} fell from {before} to {value}");
            }
        }
        assert_eq!(members.watched.len(), MAX_MEMBERS);
        assert_eq!(known.get(&(Metric::Steps, vec![])), Some(&300.0));
    }

    #[test]
    fn one_of_many_recordings_of_a_process_goes_before_the_only_one_of_another() {
        let mut members = members();
        members.watched = vec![over(1, 1), over(2, 2), over(2, 3)];
        assert!(members.forget_one_that_is_over());
        let left: Vec<u32> = members.watched.iter().map(|w| w.labels().pid).collect();
        assert_eq!(left, [1, 2]);
        let steps = |fleet: &Fleet, place: usize| {
            fleet.processes[place]
                .figures
                .get(&(Metric::Steps, vec![]))
                .cloned()
        };
        assert_eq!(steps(&members.look(), 1), Some(Value::Number(2.0)));
    }

    #[test]
    fn readings_of_the_look_before_stay_when_the_recording_is_over() {
        let reading = |name: &str, value| Reading {
            info: SeriesInfo::gauge(name, "", Unit::Seconds),
            value,
            at_ns: 0,
            age_ns: 0,
        };
        let mut last = Look {
            status: Status::Finished,
            series: vec![reading("process.cpu.user", 9.0)],
            ..Look::default()
        };
        let before = vec![
            reading("process.cpu.user", 7.0),
            reading("process.cpu.system", 2.0),
        ];
        keep_readings(&mut last, before);
        let values: Vec<f64> = last.series.iter().map(|reading| reading.value).collect();
        assert_eq!(values, [9.0, 2.0]);
    }
}

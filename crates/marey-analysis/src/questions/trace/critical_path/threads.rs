//! The threads of the host, for the way back through them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::HostRows;
use super::activity::Activity;
use super::past::{Before, Past};
use crate::import::chrome::{Class, Trace};

/// Threads of a document that did something.
pub(super) struct Threads<'a> {
    trace: &'a Trace,
    host: &'a HostRows,
    /// By what the trace calls them, so that the order of the file makes no difference.
    tracks: Vec<Thread>,
    /// Where each track is in `tracks`.
    places: BTreeMap<u32, u32>,
}

struct Thread {
    track: u32,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It runs nothing but backward passes for another one: its outermost rows are of the engine.
    Backward,
    /// It runs operators, ranges or Python, and may have called for a backward pass.
    Caller,
    /// It makes calls of the runtime only, as monitors do.
    Monitor,
}

/// What torch calls the steps of a backward pass.
const ENGINE: &str = "autograd::engine";

impl<'a> Threads<'a> {
    pub(super) fn new(trace: &'a Trace, host: &'a HostRows, document: u32) -> Self {
        let tracks = (0_u32..).zip(&trace.tracks.each);
        let is_here = |process: u32| {
            let process = trace.tracks.processes.get(process as usize);
            process.is_some_and(|process| process.document == document)
        };
        let mut tracks: Vec<Thread> = tracks
            .filter(|(track, of)| is_here(of.process) && !host.of_track(*track).is_empty())
            .map(|(track, _)| Thread {
                track,
                role: role(trace, host, track),
            })
            .collect();
        tracks.sort_by_cached_key(|thread| {
            let track = trace.tracks.each.get(thread.track as usize);
            let process = track.map(|track| trace.process_label(track.process));
            (process, track.map(|track| trace.tracks.label(track.tid)))
        });
        let places = (0_u32..).zip(&tracks);
        Self {
            trace,
            host,
            places: places
                .map(|(place, thread)| (thread.track, place))
                .collect(),
            tracks,
        }
    }

    /// The threads whose end can be the end of the trace: those that launched work; without any, those that ran operators;
    /// without any, all. Others may wait for ever, as watchdogs and monitors do.
    pub(super) fn leading(&self, launches: &BTreeSet<u32>) -> Vec<u32> {
        let all = || self.tracks.iter().map(|thread| thread.track);
        let launching: Vec<u32> = all().filter(|track| launches.contains(track)).collect();
        if !launching.is_empty() {
            return launching;
        }
        let is_operator = |row: &u32| self.trace.class_of(*row) == Class::Operator;
        let computes = |track: &u32| self.host.of_track(*track).iter().any(is_operator);
        let computing: Vec<u32> = all().filter(computes).collect();
        if computing.is_empty() {
            all().collect()
        } else {
            computing
        }
    }

    /// The threads as the way back meets them, of which it asks about one moment after the other, each before the last.
    pub(super) fn back(&self) -> ThreadsBack<'_> {
        ThreadsBack {
            threads: self,
            pasts: BTreeMap::new(),
            backward: None,
            callers: None,
            everyone: None,
        }
    }

    fn place(&self, track: u32) -> Option<u32> {
        self.places.get(&track).copied()
    }

    fn activity(&self, is_meant: impl Fn(&Thread) -> bool) -> Activity {
        let threads = (0_u32..).zip(&self.tracks);
        let meant = threads.filter(|(_, thread)| is_meant(thread));
        Activity::new(
            self.trace,
            meant.map(|(place, thread)| (place, self.host.of_track(thread.track))),
        )
    }
}

/// What the threads did before moments that only ever go down.
pub(super) struct ThreadsBack<'a> {
    threads: &'a Threads<'a>,
    /// By track.
    pasts: BTreeMap<u32, Past>,
    /// Of threads of each role, from when they are first asked about.
    backward: Option<Activity>,
    callers: Option<Activity>,
    everyone: Option<Activity>,
}

/// Threads that are open at a moment of which it is looked at what they do, the first ones by name: of the rest none is taken
/// for what a backward pass waited for.
const MOST_OPEN: usize = 64;

impl ThreadsBack<'_> {
    /// What a thread did just before `at_ns`.
    pub(super) fn before(&mut self, track: u32, at_ns: u64) -> Before {
        let past = self.pasts.entry(track).or_default();
        past.before(self.threads.trace, self.threads.host, track, at_ns)
    }

    /// The thread that a thread waited for when it had nothing to do of its own after `since_ns`, and until when that one was
    /// active before `at_ns`.
    ///
    /// A thread that runs backward passes waits for the one that calls for them, if that did anything meanwhile; others wait
    /// for those that run them, since nothing else in a trace says that a thread waits for another.
    ///
    /// ```text
    /// caller     |-- loss --| |----------- ## backward ## --------------------|
    /// backward                     |-- f --|        |-- g --|
    ///                         ╰────╯ of the caller  ╎
    ///                                      ╰────────╯ of nobody else: the caller did nothing but wait
    /// ```
    pub(super) fn waited_for(
        &mut self,
        track: u32,
        since_ns: u64,
        at_ns: u64,
    ) -> Option<(u32, u64)> {
        let threads = self.threads;
        let place = threads.place(track);
        let role = place.and_then(|place| Some(threads.tracks.get(place as usize)?.role));
        let found = if role == Some(Role::Backward) {
            let callers = || threads.activity(|thread| thread.role == Role::Caller);
            let mut callers = self.callers.take().unwrap_or_else(callers);
            let open: Vec<u32> = callers.open(at_ns, place).take(MOST_OPEN).collect();
            let ended = callers.ended(place);
            self.callers = Some(callers);
            let is_active = |place: &u32| self.is_active(*place, since_ns, at_ns);
            let open = open.into_iter().find(is_active);
            open.map(|place| (place, at_ns)).or(ended)
        } else {
            let backward = || threads.activity(|thread| thread.role == Role::Backward);
            let backward = self.backward.get_or_insert_with(backward);
            backward.last(at_ns, place)
        };
        let (place, until_ns) = found.filter(|(_, until_ns)| *until_ns > since_ns)?;
        Some((threads.tracks.get(place as usize)?.track, until_ns))
    }

    /// A thread did something of its own between two moments, other than to wait in a row that is open.
    fn is_active(&mut self, place: u32, since_ns: u64, at_ns: u64) -> bool {
        let Some(thread) = self.threads.tracks.get(place as usize) else {
            return false;
        };
        let before = self.before(thread.track, at_ns);
        let is_idle = before
            .row
            .is_none_or(|row| may_wait(self.threads.trace, row));
        let until_ns = if is_idle {
            before.since_ns
        } else {
            Some(at_ns)
        };
        until_ns > Some(since_ns)
    }

    /// The thread that had something to do last before `at_ns`, other than `track`.
    pub(super) fn starter(&mut self, track: u32, at_ns: u64) -> Option<(u32, u64)> {
        let threads = self.threads;
        let everyone = || threads.activity(|_| true);
        let everyone = self.everyone.get_or_insert_with(everyone);
        let (place, until_ns) = everyone.last(at_ns, threads.place(track))?;
        Some((threads.tracks.get(place as usize)?.track, until_ns))
    }
}

/// In this row, and nothing in it, a thread may wait for a backward pass: a named range, or the function that starts one.
pub(super) fn may_wait(trace: &Trace, row: u32) -> bool {
    match trace.class_of(row) {
        Class::Annotation => true,
        Class::PythonFunction => trace.name_of(row).contains("run_backward"),
        _ => false,
    }
}

fn role(trace: &Trace, host: &HostRows, track: u32) -> Role {
    let rows = host.of_track(track);
    let mut first = rows.first().into_iter();
    if first.any(|row| trace.name_of(*row).starts_with(ENGINE)) {
        Role::Backward
    } else if rows.iter().any(|row| trace.class_of(*row) != Class::Call) {
        Role::Caller
    } else {
        Role::Monitor
    }
}

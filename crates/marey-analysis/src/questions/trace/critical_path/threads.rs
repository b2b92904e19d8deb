//! The threads of the host, for the way back through them.

use std::collections::BTreeSet;

use super::super::HostRows;
use crate::import::chrome::{Class, Trace};

/// Threads of a document that did something.
pub(super) struct Threads<'a> {
    trace: &'a Trace,
    host: &'a HostRows,
    /// By what the trace calls them, so that the order of the file makes no difference.
    tracks: Vec<Thread>,
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

/// What a thread did just before a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// The innermost row that was open.
    pub(super) row: Option<u32>,
    /// Since when nothing else was: when the last row in it ended, or it began. Without a row, when the last row ended; `None`
    /// when there was none.
    pub(super) since_ns: Option<u64>,
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
        Self {
            trace,
            host,
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

    /// What a thread did just before `at_ns`. O(log n + depth).
    pub(super) fn before(&self, track: u32, at_ns: u64) -> Before {
        let rows = self.host.of_track(track);
        let began = rows.partition_point(|row| self.trace.rows.start_of(*row) < at_ns);
        let last = began
            .checked_sub(1)
            .and_then(|last| rows.get(last))
            .copied();
        let mut since_ns: Option<u64> = None;
        let around = last.into_iter().flat_map(|last| self.host.around(last));
        for row in last.into_iter().chain(around) {
            let end_ns = self.trace.rows.end_ns(row);
            if end_ns >= at_ns {
                let start_ns = self.trace.rows.start_of(row);
                return Before {
                    row: Some(row),
                    since_ns: since_ns.max(Some(start_ns)),
                };
            }
            since_ns = since_ns.max(Some(end_ns));
        }
        Before {
            row: None,
            since_ns,
        }
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
    pub(super) fn waited_for(&self, track: u32, since_ns: u64, at_ns: u64) -> Option<(u32, u64)> {
        let mut threads = self.tracks.iter();
        let is_backward =
            threads.any(|thread| thread.track == track && thread.role == Role::Backward);
        let wanted = if is_backward {
            Role::Caller
        } else {
            Role::Backward
        };
        self.last_active(at_ns, |thread, before| {
            let is_idle = before.row.is_none_or(|row| may_wait(self.trace, row));
            let until_ns = if is_idle {
                before.since_ns
            } else {
                Some(at_ns)
            };
            thread.role == wanted
                && thread.track != track
                && (!is_backward || until_ns > Some(since_ns))
        })
        .filter(|(_, until_ns)| *until_ns > since_ns)
    }

    /// The thread that had something to do last before `at_ns`, other than `track`.
    pub(super) fn starter(&self, track: u32, at_ns: u64) -> Option<(u32, u64)> {
        self.last_active(at_ns, |thread, _| thread.track != track)
    }

    fn last_active(
        &self,
        at_ns: u64,
        is_meant: impl Fn(&Thread, &Before) -> bool,
    ) -> Option<(u32, u64)> {
        let until = self.tracks.iter().filter_map(|thread| {
            let before = self.before(thread.track, at_ns);
            let until_ns = before.row.map_or(before.since_ns, |_| Some(at_ns))?;
            is_meant(thread, &before).then_some((thread.track, until_ns))
        });
        // Of equals the first.
        until.fold(None, |best: Option<(u32, u64)>, found| match best {
            Some(best) if best.1 >= found.1 => Some(best),
            _ => Some(found),
        })
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

//! Which slices a run has, and in which rows they lie.

use std::collections::{BTreeMap, BTreeSet};

use marey::Run;
use serde::Serialize;

use super::devices;
use super::paths::{Category, Paths};
use super::rows::{Group, GroupKind, Row, RowKind, Slice, rows};
use crate::lanes::flow_of_open;
use crate::model::thread_name;

/// What slices were made of: none is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(super) struct Recorded {
    sections: usize,
    open: usize,
    sessions: usize,
    events: usize,
}

/// Sessions, then each thread with its events first, then each stream of a GPU.
pub(super) fn groups(run: &Run, paths: &mut Paths) -> (Vec<Group>, Recorded) {
    let mut groups = vec![sessions(run, paths)];
    let mut events = events(run, paths);
    let mut sections = sections(run, paths);
    let same_names = same_names(run);
    let threads: BTreeSet<u32> = events.keys().chain(sections.keys()).copied().collect();
    groups.extend(threads.into_iter().map(|thread| {
        let events = events.remove(&thread).unwrap_or_default();
        let mut in_rows = vec![Row { kind: RowKind::Events, depth: 0, slices: events }];
        in_rows.extend(rows(sections.remove(&thread).unwrap_or_default()));
        Group::of_host(GroupKind::Thread, title(run, &same_names, thread), in_rows)
    }));
    groups.extend(devices::of_sections(run, paths));
    for group in &mut groups {
        group.rows.retain(|row| !row.slices.is_empty());
    }
    groups.retain(|group| !group.rows.is_empty());
    let recorded = Recorded {
        sections: run.sections.len(),
        open: run.open.len(),
        sessions: run.sessions.len(),
        events: run.events.len(),
    };
    (groups, recorded)
}

fn sessions(run: &Run, paths: &mut Paths) -> Group {
    let slices = run.sessions.iter().map(|session| {
        let path = paths.other(Category::Session, &session.name);
        match session.end_ns {
            Some(end_ns) => Slice::of_path(path, session.start_ns, end_ns),
            None => open(path, session.start_ns, run.wall_ns),
        }
    });
    Group::of_host(GroupKind::Sessions, "sessions".into(), rows(slices.collect()))
}

fn open(path: u32, start_ns: u64, end_ns: u64) -> Slice {
    Slice { flags: Slice::OPEN, ..Slice::of_path(path, start_ns, end_ns) }
}

fn events(run: &Run, paths: &mut Paths) -> BTreeMap<u32, Vec<Slice>> {
    let mut by_thread: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
    for event in &run.events {
        let path = paths.other(Category::Event, &event.name);
        let slice = Slice::of_path(path, event.at_ns, event.at_ns);
        by_thread.entry(event.thread).or_default().push(slice);
    }
    for slices in by_thread.values_mut() {
        slices.sort_by_key(|slice| slice.start_ns);
    }
    by_thread
}

/// Sections of each thread; those of no known thread stand under `u32::MAX`.
fn sections(run: &Run, paths: &Paths) -> BTreeMap<u32, Vec<Slice>> {
    let mut by_thread: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
    // Sections come thread by thread.
    for of_thread in run.sections.chunk_by(|a, b| a.thread == b.thread) {
        let slices = by_thread.entry(of_thread[0].thread).or_default();
        slices.extend(of_thread.iter().map(|section| Slice {
            flow: section.flow.into(),
            flags: u8::from(section.is_failed) * Slice::FAILED
                + u8::from(section.has_pauses) * Slice::PAUSED,
            ..Slice::of_path(paths.node(section.node), section.start_ns, section.end_ns)
        }));
    }
    for section in &run.open {
        let slices = by_thread.entry(section.thread.unwrap_or(u32::MAX));
        slices.or_default().push(Slice {
            flow: flow_of_open(run, section),
            ..open(paths.node(section.node), section.start_ns, section.end_ns(run.wall_ns))
        });
    }
    by_thread
}

/// Names that several threads have.
fn same_names(run: &Run) -> BTreeSet<&str> {
    let mut met = BTreeSet::new();
    let names = run.threads.iter().map(|thread| thread.name.as_str());
    names.filter(|name| !met.insert(*name)).collect()
}

fn title(run: &Run, same_names: &BTreeSet<&str>, thread: u32) -> String {
    let known = run.threads.get(thread as usize);
    let name = thread_name(run, thread).unwrap_or_else(|| "thread not known".into());
    match known.filter(|known| same_names.contains(name.as_str()) && !known.name.is_empty()) {
        Some(known) => format!("{name} ({})", known.os_id),
        None => name,
    }
}

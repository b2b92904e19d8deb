//! Strips of a page: what each rank did when, as columns.

use std::collections::BTreeMap;

use marey_analysis::job::StagePiece;
use marey_analysis::ranks::{JobAnswers, Member};
use serde::Serialize;

use super::chosen;
use crate::html::columns::{Columns, steps};
use crate::html::contents::shorten_text;

/// Strips at most.
const MAX_STRIPS: usize = 1_024;
/// Names of stages that are told apart, those with the most time.
const MAX_NAMES: usize = 250;
/// Times are multiples of a unit that leaves them so many bits.
const BITS: u32 = 24;

/// Strips but for their columns: of all pieces the names, the starts on the rank's own clock, each as its distance from the one before, and the lengths, in
/// units.
#[derive(Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(super) struct Strips {
    /// Places of the ranks that have one.
    places: Vec<u32>,
    /// Pieces of each.
    n_pieces: Vec<usize>,
    /// What pieces are called, the longest in all ranks first; one past the last are all others.
    names: Vec<String>,
    /// Which of them are collectives, and waits for them.
    communication: Vec<u64>,
    unit_ns: u64,
    /// Ranks that have none, for lack of room.
    n_left_out: usize,
}

/// The strips of a job: of as many ranks as come to about `room` pieces.
pub(super) fn strips(job: &JobAnswers, room: usize, columns: &mut Columns) -> Strips {
    let all: Vec<u32> = (0..).take(job.members.len()).collect();
    let n_all: usize = job.members.iter().map(|member| member.stages.len()).sum();
    let places = chosen(job, &all, MAX_STRIPS.min(all.len() * room / n_all.max(1)));
    let members = || places.iter().filter_map(|p| job.members.get(*p as usize));
    let named = named(members());
    let numbers: BTreeMap<Name<'_>, u64> = named.iter().copied().zip(0..).collect();
    let pieces = || members().flat_map(|member| &member.stages);
    let bits = u64::BITS - pieces().map(|p| p.end_ns).max().unwrap_or(0).leading_zeros();
    let unit_ns = 1 << bits.saturating_sub(BITS);

    let (mut names, mut starts) = (Vec::new(), Vec::new());
    for member in members() {
        starts.extend(steps(member.stages.iter().map(|piece| piece.start_ns / unit_ns)));
        names.extend(member.stages.iter().map(|piece| {
            let number = name(member, piece).and_then(|name| numbers.get(&name));
            number.copied().unwrap_or(numbers.len() as u64)
        }));
    }
    columns.add(&names);
    columns.add(&starts);
    columns.add_all(pieces().map(|piece| length(piece) / unit_ns));
    Strips {
        n_left_out: all.len() - places.len(),
        n_pieces: members().map(|member| member.stages.len()).collect(),
        names: named.iter().map(|(name, _)| shortened(name)).collect(),
        communication: (0..).zip(&named).filter(|(_, name)| name.1).map(|(at, _)| at).collect(),
        unit_ns,
        places,
    }
}

/// A name, and whether it is a collective's.
type Name<'a> = (&'a str, bool);

fn name<'a>(member: &'a Member, piece: &StagePiece) -> Option<Name<'a>> {
    let name = member.stage_names.get(piece.name as usize)?;
    Some((name, member.communication_names.contains(&piece.name)))
}

/// The names, those with the most time in all ranks first.
fn named<'a>(members: impl Iterator<Item = &'a Member>) -> Vec<Name<'a>> {
    let mut times: BTreeMap<Name<'_>, u64> = BTreeMap::new();
    for member in members {
        for piece in &member.stages {
            if let Some(name) = name(member, piece) {
                let time = times.entry(name).or_default();
                *time = time.saturating_add(length(piece));
            }
        }
    }
    let mut by_time: Vec<(Name<'_>, u64)> = times.into_iter().collect();
    by_time.sort_by_key(|(name, time)| (std::cmp::Reverse(*time), *name));
    by_time.truncate(MAX_NAMES);
    by_time.into_iter().map(|(name, _)| name).collect()
}

fn shortened(name: &str) -> String {
    let mut name = name.to_owned();
    shorten_text(&mut name);
    name
}

fn length(piece: &StagePiece) -> u64 {
    piece.end_ns.saturating_sub(piece.start_ns)
}

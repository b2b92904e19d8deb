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
/// What is narrower than one of these parts of the span is put together with its neighbours: tried one after the other until there is room.
const NARROW: [u64; 5] = [u64::MAX, 2_000, 500, 120, 30];
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
    /// Pieces that stand for several short ones.
    n_merged: usize,
    /// Ranks that have none, for lack of room.
    n_left_out: usize,
}

/// The strips of a job with at most about `room` pieces.
pub(super) fn strips(job: &JobAnswers, room: usize, columns: &mut Columns) -> Strips {
    let all: Vec<u32> = (0..).take(job.members.len()).collect();
    let places = chosen(job, &all, MAX_STRIPS);
    let members = || places.iter().filter_map(|p| job.members.get(*p as usize));
    let named = named(members());
    let numbers: BTreeMap<Name<'_>, u64> = named.iter().copied().zip(0..).collect();
    let ends = members().flat_map(|member| &member.stages);
    let bits = u64::BITS - ends.map(|p| p.end_ns).max().unwrap_or(0).leading_zeros();
    let unit_ns = 1 << bits.saturating_sub(BITS);

    let strips =
        strips_within(&members().map(|m| &*m.stages).collect::<Vec<_>>(), job.span_ns, room);
    let (mut names, mut starts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for (member, pieces) in members().zip(&strips) {
        let pieces = || pieces.iter().map(|(piece, _)| piece);
        starts.extend(steps(pieces().map(|piece| piece.start_ns / unit_ns)));
        lengths.extend(pieces().map(|piece| length(piece) / unit_ns));
        names.extend(pieces().map(|piece| {
            let number = name(member, piece).and_then(|name| numbers.get(&name));
            number.copied().unwrap_or(numbers.len() as u64)
        }));
    }
    columns.add(&names);
    columns.add(&starts);
    columns.add(&lengths);
    Strips {
        n_left_out: all.len() - places.len(),
        places,
        n_pieces: strips.iter().map(Vec::len).collect(),
        names: named.iter().map(|(name, _)| shortened(name)).collect(),
        communication: (0..).zip(&named).filter(|(_, name)| name.1).map(|(at, _)| at).collect(),
        unit_ns,
        n_merged: strips.iter().flatten().filter(|(_, of)| *of > 1).count(),
    }
}

/// A piece, and how many it stands for.
type Kept = (StagePiece, usize);

/// The pieces of each strip; neighbours are put together only as far as there is no room for them.
fn strips_within(all: &[&[StagePiece]], span_ns: u64, room: usize) -> Vec<Vec<Kept>> {
    let mut strips = Vec::new();
    for part in NARROW {
        let each = all.iter().map(|pieces| merged(pieces, span_ns / part));
        strips = each.collect::<Vec<_>>();
        if strips.iter().map(Vec::len).sum::<usize>() <= room {
            break;
        }
    }
    strips
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

/// Pieces in order of time, with how many each stands for. Neighbours that are narrower than `near_ns` and lie as close become one, called
/// as the longest of them.
fn merged(pieces: &[StagePiece], near_ns: u64) -> Vec<Kept> {
    let mut sorted = pieces.to_vec();
    sorted.sort_by_key(|piece| (piece.start_ns, piece.end_ns));
    let mut kept: Vec<Kept> = Vec::new();
    let mut longest = 0;
    for piece in sorted {
        let is_short = length(&piece) < near_ns;
        match kept.last_mut() {
            Some((last, of))
                if is_short
                    && longest < near_ns
                    && piece.start_ns.saturating_sub(last.end_ns) < near_ns =>
            {
                last.end_ns = last.end_ns.max(piece.end_ns);
                *of += 1;
                if length(&piece) > longest {
                    longest = length(&piece);
                    last.name = piece.name;
                }
            }
            _ => {
                longest = length(&piece);
                kept.push((piece, 1));
            }
        }
    }
    kept
}

//! Who the ranks are, on which host, and where their clocks lie.

use marey_analysis::job::{Ended, Source, StagePiece};
use marey_analysis::ranks::{ClockMethod, Clocks, Member, PlacedClock};

use super::{Drawing, MS};

pub(super) fn host_of(drawing: &Drawing, rank: u32) -> String {
    let is_second = rank >= drawing.n_ranks.div_ceil(2) && drawing.n_ranks > 1;
    (drawing.naming)(if is_second { "studio-b" } else { "studio-a" })
}

pub(super) fn member(drawing: &Drawing, rank: u32) -> Member {
    let steps_end = 700 + 100 * u64::from(drawing.n_steps.max(1) - 1);
    let piece = |name, start, end| StagePiece { name, start_ns: start * MS, end_ns: end * MS };
    let mut stages = vec![piece(0, 0, 200), piece(1, 200, 700)];
    let names = ["load", "denoise", "all_reduce", "decode"].map(drawing.naming);
    // Of many steps every piece stands for several, as where a recording has too many of them.
    let several = drawing.n_steps.div_ceil(126).max(1);
    for step in (1..u64::from(drawing.n_steps)).step_by(several as usize) {
        let (start, end) =
            (600 + 100 * step, (600 + 100 * (step + u64::from(several))).min(steps_end));
        let work_end = if drawing.slow == Some(rank) { end - 2 } else { end - 22 };
        stages.push(piece(1, start, work_end));
        stages.push(piece(2, work_end, end));
    }
    stages.push(piece(3, steps_end, steps_end + 200));
    Member {
        rank: Some(rank),
        host: host_of(drawing, rank),
        local_rank: Some(rank % (drawing.n_ranks / 2).max(1)),
        pid: 5_000 + rank,
        file: (drawing.naming)(&format!("rank{rank}.marey")),
        source: Source::Capture,
        ended: Ended::Finished,
        wall_ns: (steps_end + 200) * MS,
        stages,
        stage_names: names.into(),
        communication_names: vec![2],
        ..Member::default()
    }
}

pub(super) fn clocks(n_ranks: u32) -> Clocks {
    let is_second = |rank: u32| n_ranks > 1 && rank >= n_ranks.div_ceil(2);
    let placed = |rank: u32| {
        if is_second(rank) {
            PlacedClock {
                start_ns: Some(3 * MS),
                correction_ns: -1_200_000,
                error_ns: Some(40_000),
                method: ClockMethod::Collectives,
            }
        } else {
            PlacedClock {
                start_ns: Some(0),
                correction_ns: 0,
                error_ns: Some(0),
                method: ClockMethod::SameClock,
            }
        }
    };
    Clocks {
        each: (0..n_ranks).map(placed).collect(),
        start_unix_ns: Some(1_795_000_000_000_000_000),
        error_ns: Some(if n_ranks > 1 { 40_000 } else { 0 }),
        note: String::new(),
    }
}

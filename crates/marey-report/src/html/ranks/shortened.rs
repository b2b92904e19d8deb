//! A job's answers as a page has them: whole where figures and places are, lists of names cut.

use marey_analysis::job::{Ended, Unread};
use marey_analysis::ranks::{HeatMap, JobAnswers, Member, TurnsOverRanks};
use serde::Serialize;

/// Call paths, those with the most time.
const MAX_SECTIONS: usize = 500;
/// Collectives, those with the most waiting.
const MAX_COLLECTIVES: usize = 200;
/// Findings of the job.
const MAX_FINDINGS: usize = 100;
/// Ranks that no file tells of, by number.
const MAX_MISSING: usize = 10_000;
/// Ranks whose files could not be read.
const MAX_UNREAD: usize = 1_000;
/// Warnings of one file.
const MAX_WARNINGS: usize = 4;
/// Ranks of one of several groups of a name, by number.
const MAX_PLACES: usize = 256;
/// Characters of a text.
const MAX_TEXT: usize = 500;

/// How many entries of lists are not there.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    sections: usize,
    collectives: usize,
    findings: usize,
    missing: usize,
    unread: usize,
}

/// The answers without what columns have: pieces of strips and cells of maps.
pub(super) fn shortened(job: &JobAnswers) -> (JobAnswers, LeftOut) {
    let without_map = |turns: &TurnsOverRanks| TurnsOverRanks {
        out_of_step: first(&turns.out_of_step, MAX_MISSING),
        count: turns.count,
        counts_differ: turns.counts_differ,
        per_cell: turns.per_cell,
        medians: turns.medians,
        each: turns.each.clone(),
        heat_map: HeatMap::default(),
    };
    let mut short = JobAnswers {
        job_id: text(&job.job_id),
        n_processes: job.n_processes,
        world_size: job.world_size,
        missing: first(&job.missing, MAX_MISSING),
        unread: job.unread.iter().take(MAX_UNREAD).map(unread).collect(),
        other_world_sizes: job.other_world_sizes.clone(),
        members: job.members.iter().map(member).collect(),
        hosts: job.hosts.clone(),
        versions: job.versions.clone(),
        clocks: job.clocks.clone(),
        span_ns: job.span_ns,
        sections: first(&job.sections, MAX_SECTIONS),
        steps: job.steps.as_ref().map(without_map),
        blocks: job.blocks.as_ref().map(without_map),
        waiting: job.waiting.clone(),
        // Their finding says it.
        absences: Vec::new(),
        stragglers: job.stragglers.clone(),
        // Strips show it.
        slowest: None,
        last: None,
        resources: job.resources.clone(),
        work: job.work.clone(),
        findings: job.findings.clone(),
        rank_findings: first(&job.rank_findings, MAX_FINDINGS),
    };
    for finding in &mut short.rank_findings {
        finding.rule = text(&finding.rule);
        finding.severity = text(&finding.severity);
        finding.issue = text(&finding.issue);
    }
    let sections = short.sections.iter_mut();
    for name in sections.flat_map(|section| &mut section.path) {
        *name = text(name);
    }
    let mut left_out = LeftOut {
        sections: job.sections.len() - short.sections.len(),
        missing: job.missing.len() - short.missing.len(),
        unread: job.unread.len() - short.unread.len(),
        ..LeftOut::default()
    };
    if let Some(waiting) = &mut short.waiting {
        left_out.collectives = cut(&mut waiting.collectives, MAX_COLLECTIVES);
        for collective in &mut waiting.collectives {
            collective.places.truncate(MAX_PLACES);
        }
    }
    left_out.findings = cut(&mut short.findings.found, MAX_FINDINGS);
    (short, left_out)
}

fn member(member: &Member) -> Member {
    let warnings = member.warnings.iter().take(MAX_WARNINGS);
    Member {
        host: text(&member.host),
        file: text(&member.file),
        session_id: member.session_id.as_deref().map(text),
        warnings: warnings.map(|warning| text(warning)).collect(),
        stages: Vec::new(),
        stage_names: Vec::new(),
        communication_names: Vec::new(),
        ended: match &member.ended {
            Ended::Failed(why) => Ended::Failed(text(why)),
            other => other.clone(),
        },
        work: member.work.clone(),
        ..*member
    }
}

fn unread(file: &Unread) -> Unread {
    Unread {
        file: text(&file.file),
        rank: file.rank,
        why: text(&file.why),
    }
}

fn first<T: Clone>(all: &[T], n: usize) -> Vec<T> {
    all[..all.len().min(n)].to_vec()
}

/// Leaves the first `n`; says how many that were not.
fn cut<T>(list: &mut Vec<T>, n: usize) -> usize {
    let left_out = list.len().saturating_sub(n);
    list.truncate(n);
    left_out
}

/// The text, a long one cut.
pub(super) fn text(whole: &str) -> String {
    match whole.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    }
}

//! Phases of a job as spans.
//!
//! ```text
//! job      |─────────────────────────────────|
//! process     |────────────────────────────|
//! session        |────────────|
//! section        |──| |───────|    |──|           outermost ones alone; loops are in the metrics
//! ```
//!
//! All spans of a job have one trace, whichever `marey run` sends them: its number is made of the job's name.

use std::cmp::Reverse;
use std::path::PathBuf;

use marey::{NodeKind, Run, Section};
use marey_analysis::Belonging;
use marey_report::escape;
use marey_report::fleet::MemberLabels;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{
    ResourceSpans, ScopeSpans, Span, Status, span::SpanKind, status::StatusCode,
};

use super::encode::{number, resource, scope, text};
use super::service::Service;

/// Sections of a process that are sent, the longest.
const MAX_SECTIONS: usize = 1000;
/// Sessions of a process that are sent, the first.
const MAX_SESSIONS: usize = 200;
/// Processes that are sent.
const MAX_PROCESSES: usize = 64;
/// Captures that are larger are not read.
const MAX_BYTES: u64 = 64 << 20;
/// Columns of a name.
const MAX_NAME: usize = 250;

/// When the job was, on the wall clock.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct JobSpan {
    pub(in super::super) start_unix_ns: u64,
    pub(in super::super) end_unix_ns: u64,
    /// The program did not end well.
    pub(in super::super) is_failed: bool,
}

/// The phases of a job, from its captures.
pub(super) fn request(
    job: &JobSpan,
    captures: &[PathBuf],
    host: &str,
    job_id: &str,
    service: &Service,
) -> ExportTraceServiceRequest {
    let trace = Trace::of(job_id);
    let job_span = trace.id(&[host.as_bytes(), &job.start_unix_ns.to_le_bytes()]);
    let mut left_out = 0;
    let mut all = Vec::new();
    for capture in captures {
        let is_small = capture.metadata().is_ok_and(|file| file.len() <= MAX_BYTES);
        let run = if all.len() < MAX_PROCESSES && is_small {
            marey::load(capture).ok()
        } else {
            None
        };
        let Some(run) = run else {
            left_out += 1;
            continue;
        };
        let process = MemberLabels {
            rank: run.info.rank,
            pid: run.info.pid,
        };
        let spans = Phases {
            run: &run,
            trace: &trace,
        };
        let resource = resource(service, host, job_id, Some(process));
        all.push(group(resource, spans.of_process(&job_span)));
    }
    let mut span = trace.span(&job_span, &[], "job", job.start_unix_ns, job.end_unix_ns);
    span.attributes = vec![text("diffusion.phase", "job")];
    if left_out > 0 {
        let left_out = number("diffusion.processes.left_out", left_out);
        span.attributes.push(left_out);
    }
    mark(&mut span, job.is_failed);
    let machine = resource(service, host, job_id, None);
    all.insert(0, group(machine, vec![span]));
    ExportTraceServiceRequest {
        resource_spans: all,
    }
}

fn group(
    resource: opentelemetry_proto::tonic::resource::v1::Resource,
    spans: Vec<Span>,
) -> ResourceSpans {
    let spans = ScopeSpans {
        scope: Some(scope()),
        spans,
        ..ScopeSpans::default()
    };
    ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![spans],
        ..ResourceSpans::default()
    }
}

/// The trace of a job.
struct Trace {
    id: Vec<u8>,
    seed: u64,
}

impl Trace {
    fn of(job_id: &str) -> Self {
        let seed = hash(0, job_id.as_bytes());
        let other = hash(1, job_id.as_bytes());
        Self {
            id: [seed.to_be_bytes(), other.to_be_bytes()].concat(),
            seed,
        }
    }

    /// Number of a span that no other span of the trace has, from what tells it apart.
    fn id(&self, parts: &[&[u8]]) -> Vec<u8> {
        let id = parts.iter().fold(self.seed, |seed, part| hash(seed, part));
        id.to_be_bytes().to_vec()
    }

    fn span(&self, id: &[u8], parent: &[u8], name: &str, start: u64, end: u64) -> Span {
        Span {
            trace_id: self.id.clone(),
            span_id: id.to_vec(),
            parent_span_id: parent.to_vec(),
            name: escape::cut(name, MAX_NAME),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: start,
            end_time_unix_nano: end.max(start),
            ..Span::default()
        }
    }
}

/// The phases of one process.
struct Phases<'a> {
    run: &'a Run,
    trace: &'a Trace,
}

impl Phases<'_> {
    /// The process, its sessions and its outermost sections.
    fn of_process(&self, job: &[u8]) -> Vec<Span> {
        let run = self.run;
        let process = self.id(b"process", 0);
        let name = run
            .info
            .rank
            .map_or("process".to_owned(), |rank| format!("rank {rank}"));
        let mut own = self.span(&process, job, &name, 0, run.wall_ns);
        own.attributes = vec![text("diffusion.phase", "process")];
        let sessions = run.sessions.iter().zip(0_u32..).take(MAX_SESSIONS);
        let sessions = sessions.map(|(session, at)| {
            let parent = session.parent.map(|parent| self.session(parent));
            let parent = parent.unwrap_or_else(|| process.clone());
            let end = session.end_ns.unwrap_or(run.wall_ns);
            let id = self.session(at);
            let mut span = self.span(&id, &parent, &session.name, session.start_ns, end);
            span.attributes = vec![text("diffusion.phase", "session")];
            span
        });
        let sessions: Vec<Span> = sessions.collect();
        let (sections, beyond) = self.sections(&process);
        let left_out = beyond + run.sessions.len().saturating_sub(MAX_SESSIONS);
        if left_out > 0 {
            let left_out = u64::try_from(left_out).unwrap_or(u64::MAX);
            own.attributes
                .push(number("diffusion.spans.left_out", left_out));
        }
        [vec![own], sessions, sections].concat()
    }

    /// The longest of the outermost sections by their start, and how many there are beyond them.
    fn sections(&self, process: &[u8]) -> (Vec<Span>, usize) {
        let run = self.run;
        let belonging = Belonging::new(run);
        let is_outermost = |section: &Section| {
            let node = run.nodes.get(section.node as usize);
            node.is_some_and(|node| node.parent == Some(0) && node.kind == NodeKind::Section)
        };
        let all = run.sections.iter().enumerate();
        let mut outermost: Vec<(usize, &Section)> =
            all.filter(|(_, section)| is_outermost(section)).collect();
        outermost.sort_by_key(|(at, section)| (Reverse(section.duration_ns()), *at));
        let beyond = outermost.len().saturating_sub(MAX_SECTIONS);
        outermost.truncate(MAX_SECTIONS);
        outermost.sort_by_key(|(at, section)| (section.start_ns, *at));
        let span = |(at, section): (usize, &Section)| {
            let name = run.nodes.get(section.node as usize);
            let name = name.map_or("", |node| node.name.as_str());
            let session = belonging
                .of_section(at)
                .filter(|session| (*session as usize) < MAX_SESSIONS);
            let parent = session.map_or(process.to_vec(), |session| self.session(session));
            let id = self.id(b"section", u64::try_from(at).unwrap_or(u64::MAX));
            let mut span = self.span(&id, &parent, name, section.start_ns, section.end_ns);
            span.attributes = vec![
                text("diffusion.phase", "section"),
                number("thread.id", section.thread.into()),
            ];
            mark(&mut span, section.is_failed);
            span
        };
        (outermost.into_iter().map(span).collect(), beyond)
    }

    fn session(&self, session: u32) -> Vec<u8> {
        self.id(b"session", session.into())
    }

    fn id(&self, what: &[u8], number: u64) -> Vec<u8> {
        let info = &self.run.info;
        let process = [u64::from(info.pid), info.start_unix_ns].map(u64::to_le_bytes);
        let process = process.as_flattened();
        self.trace
            .id(&[info.host.as_bytes(), process, what, &number.to_le_bytes()])
    }

    fn span(&self, id: &[u8], parent: &[u8], name: &str, start_ns: u64, end_ns: u64) -> Span {
        let unix = |ns: u64| self.run.info.start_unix_ns.saturating_add(ns);
        self.trace
            .span(id, parent, name, unix(start_ns), unix(end_ns))
    }
}

fn mark(span: &mut Span, is_failed: bool) {
    if is_failed {
        span.status = Some(Status {
            code: StatusCode::Error.into(),
            message: String::new(),
        });
    }
}

/// FNV-1a; never 0, which stands for no span.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed.rotate_left(17);
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use marey::{Node, RunInfo, Session};

    use super::*;

    /// ```text
    /// session |───────────|          5 … 25
    /// load    |──|                   5 … 10
    /// decode                |──|     30 … 40, failed
    /// ```
    fn run() -> Run {
        let node = |parent, name: &str, kind| Node {
            parent,
            name: name.into(),
            kind,
            is_detached: false,
        };
        let section = |node, start_ns, end_ns, is_failed| Section {
            thread: 0,
            node,
            start_ns,
            end_ns,
            flow: 0,
            is_failed,
            has_pauses: false,
        };
        Run {
            info: RunInfo {
                start_unix_ns: 1000,
                pid: 7,
                rank: Some(2),
                ..RunInfo::default()
            },
            wall_ns: 50,
            nodes: vec![
                node(None, "", NodeKind::Section),
                node(Some(0), "load", NodeKind::Section),
                node(Some(1), "inner", NodeKind::Section),
                node(Some(0), "decode", NodeKind::Section),
                node(Some(0), "step", NodeKind::Iteration),
            ],
            sections: vec![
                section(2, 6, 7, false),
                section(1, 5, 10, false),
                section(4, 11, 12, false),
                section(3, 30, 40, true),
            ],
            sessions: vec![Session {
                number: 1,
                name: "clip".into(),
                start_ns: 5,
                end_ns: Some(25),
                outcome: marey::Outcome::Done,
                used: None,
                tags: vec![],
                parent: None,
                thread: 0,
                flow: 0,
            }],
            ..Run::default()
        }
    }

    #[test]
    fn outermost_sections_lie_in_their_session_and_sessions_in_their_process() {
        let run = run();
        let trace = Trace::of("j");
        let phases = Phases {
            run: &run,
            trace: &trace,
        };
        let spans = phases.of_process(&[9; 8]);
        let shown: Vec<(&str, u64, u64, bool)> = spans
            .iter()
            .map(|span| {
                let (start, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
                (span.name.as_str(), start, end, span.status.is_some())
            })
            .collect();
        let expected = [
            ("rank 2", 1000, 1050, false),
            ("clip", 1005, 1025, false),
            ("load", 1005, 1010, false),
            ("decode", 1030, 1040, true),
        ];
        assert_eq!(shown, expected);
        let [process, clip, load, decode] = &spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!(process.parent_span_id, [9; 8]);
        assert_eq!(clip.parent_span_id, process.span_id);
        assert_eq!(load.parent_span_id, clip.span_id);
        assert_eq!(decode.parent_span_id, process.span_id);
        let sizes = spans
            .iter()
            .all(|s| s.trace_id.len() == 16 && s.span_id.len() == 8);
        assert!(sizes);
        assert_eq!(process.trace_id, Trace::of("j").id, "of every machine");
    }

    #[test]
    fn only_the_longest_sections_are_sent_and_the_rest_is_counted() {
        let mut run = run();
        run.sessions.clear();
        let section = |at: u64| Section {
            thread: 0,
            node: 1,
            start_ns: 10 * at,
            end_ns: 10 * at + at % 7,
            flow: 0,
            is_failed: false,
            has_pauses: false,
        };
        run.sections = (0..1400).map(section).collect();
        let trace = Trace::of("j");
        let phases = Phases {
            run: &run,
            trace: &trace,
        };
        let spans = phases.of_process(&[]);
        assert_eq!(spans.len(), 1 + MAX_SECTIONS);
        // Of 200 of each length, 6 to 2 are sent.
        let shortest = spans[1..]
            .iter()
            .map(|span| span.end_time_unix_nano - span.start_time_unix_nano)
            .min();
        assert_eq!(shortest, Some(2));
        let left_out = number("diffusion.spans.left_out", 400);
        assert!(spans[0].attributes.contains(&left_out));
    }
}

//! Sections of futures, polled by hand: no executor decides what runs when.

use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use marey::{Config, InSection, Run, Section};

/// Everything below in one recording, since a process has one.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { output_dir: Some(folder.path().into()), ..Config::default() };
        let recording = marey::start(config).unwrap();
        one_after_the_other();
        in_turn();
        on_two_threads();
        endings();
        attributed();
        marey::load(&recording.finish().unwrap()).unwrap()
    })
}

/// Once pending, then done.
async fn waits() {
    let mut has_waited = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn poll<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll(&mut future) {
            return output;
        }
    }
}

/// ```text
/// serve    |- request ------------------------|
///              |- encode -|  |- decode -|
///                |leaf|        |leaf|
/// ```
fn one_after_the_other() {
    let _serve = marey::section!("serve");
    let part = async {
        waits().await;
        drop(marey::section!("leaf"));
        waits().await;
    };
    let other = async { drop(marey::section!("leaf")) };
    finish(
        async {
            let _session = marey::session("clip-0", &[]);
            part.in_section("encode").await;
            other.in_section("decode").await;
        }
        .in_section("request"),
    );
    drop(marey::section!("after_requests"));
}

/// Two of one section, each polled while the other waits.
fn in_turn() {
    let both = async {
        let mut first = pin!(waits().in_section("left"));
        let mut second = pin!(waits().in_section("right"));
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
        assert!(poll(&mut first).is_ready() && poll(&mut second).is_ready());
        waits().in_section("then").await;
    };
    finish(both.in_section("joined"));
}

/// Begun here, ended on another thread.
fn on_two_threads() {
    let mut moved = Box::pin(
        async {
            drop(marey::section!("here"));
            waits().await;
            drop(marey::section!("there"));
        }
        .in_section("moved"),
    );
    assert!(poll(&mut moved.as_mut()).is_pending());
    let is_ready = std::thread::scope(|threads| {
        threads.spawn(|| poll(&mut moved.as_mut()).is_ready()).join().unwrap()
    });
    assert!(is_ready);
}

fn endings() {
    let result = |result: Result<(), ()>| async move { result };
    finish(result(Ok(())).try_in_section("is_ok")).unwrap();
    finish(result(Err(())).try_in_section("is_err")).unwrap_err();
    finish(result(Err(())).in_section("not_asked")).unwrap_err();
    {
        let mut dropped = pin!(waits().in_section("dropped"));
        assert!(poll(&mut dropped).is_pending());
    }
    drop(waits().in_section("never_polled"));
    let panics = async { assert!(run_is_whole(), "on purpose") }.in_section("panics");
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| finish(panics))).unwrap_err();
    drop(marey::section!("after_panic"));
    marey::section!("guard_is_err").ended(Err::<(), ()>(())).unwrap_err();
    marey::section!("guard_is_ok").ended(Ok::<(), ()>(())).unwrap();
}

fn run_is_whole() -> bool {
    false
}

fn attributed() {
    finish(waits().in_section("tiled").with("tiles", 4));
    let section = marey::section!("late", early = 1);
    section.attribute("frames", 16);
}

/// The only section of a name, and the names that it stands under.
fn only(name: &str) -> (&'static Section, Vec<&'static str>) {
    let run = run();
    let mut found = run.sections.iter().filter(|s| run.nodes[s.node as usize].name == name);
    let (section, more) = (found.next().unwrap(), found.next());
    assert!(more.is_none(), "{name} is one call");
    let mut path = Vec::new();
    let mut node = run.nodes[section.node as usize].parent;
    while let Some(above) = node.map(|at| &run.nodes[at as usize]).filter(|n| n.parent.is_some()) {
        path.insert(0, above.name.as_str());
        node = above.parent;
    }
    (section, path)
}

#[test]
fn what_a_future_awaits_is_within_it_and_one_call() {
    let (request, path) = only("request");
    assert_eq!(path, ["serve"]);
    let (encode, path) = only("encode");
    assert_eq!(path, ["serve", "request"]);
    let (decode, _) = only("decode");
    assert!(request.start_ns <= encode.start_ns && encode.end_ns <= decode.start_ns);
    assert!(decode.end_ns <= request.end_ns);
    assert_ne!(request.flow, 0);
    assert_eq!([encode.flow, decode.flow], [request.flow; 2]);
    let run = run();
    let leaves = run.sections.iter().filter(|s| run.nodes[s.node as usize].name == "leaf");
    assert_eq!(leaves.map(|leaf| leaf.flow).collect::<Vec<_>>(), [request.flow; 2]);
    assert_eq!(run.sessions.iter().map(|s| s.flow).collect::<Vec<_>>(), [request.flow]);
    let (after, path) = only("after_requests");
    assert_eq!((after.flow, path), (0, vec!["serve"]));
}

#[test]
fn futures_that_are_polled_in_turn_are_flows_of_their_own() {
    let (joined, path) = only("joined");
    assert_eq!(path, [""; 0]);
    let ((left, of_left), (right, of_right), (then, _)) =
        (only("left"), only("right"), only("then"));
    assert_eq!((of_left, of_right), (vec!["joined"], vec!["joined"]));
    assert!(
        left.start_ns <= right.start_ns
            && right.start_ns <= left.end_ns
            && left.end_ns <= right.end_ns
    );
    let nodes = &run().nodes;
    let is_beside = |section: &Section| nodes[section.node as usize].is_detached;
    assert_eq!([left, right, then].map(is_beside), [false, true, false]);
    assert_eq!([left.flow, then.flow], [joined.flow; 2]);
    assert_ne!(right.flow, joined.flow);
}

#[test]
fn a_future_that_moves_to_another_thread_takes_its_section_with_it() {
    let (moved, _) = only("moved");
    let ((here, of_here), (there, of_there)) = (only("here"), only("there"));
    assert_eq!((of_here, of_there), (vec!["moved"], vec!["moved"]));
    assert_ne!(here.thread, there.thread);
    assert_eq!((moved.thread, there.flow), (there.thread, moved.flow));
    assert!(moved.start_ns <= here.start_ns && there.end_ns <= moved.end_ns);
}

#[test]
fn failures_are_errors_panics_and_what_is_dropped_before_its_end() {
    let is_failed = |name| only(name).0.is_failed;
    for name in ["is_err", "dropped", "panics", "guard_is_err"] {
        assert!(is_failed(name), "{name}");
    }
    for name in ["is_ok", "not_asked", "guard_is_ok", "after_panic"] {
        assert!(!is_failed(name), "{name}");
    }
    assert_eq!(only("after_panic").1, [""; 0]);
    assert!(run().nodes.iter().all(|node| node.name != "never_polled"));
}

#[test]
fn attributes_are_given_before_a_section_and_within_it() {
    let run = run();
    let attributes = |name: &str| -> Vec<(String, marey::Value)> {
        let of = |given: &&marey::SectionAttributes| {
            run.nodes[run.sections[given.section].node as usize].name == name
        };
        run.section_attributes
            .iter()
            .filter(of)
            .flat_map(|given| given.attributes.clone())
            .collect()
    };
    assert_eq!(attributes("tiled"), [("tiles".into(), 4.into())]);
    assert_eq!(attributes("late"), [("early".into(), 1.into()), ("frames".into(), 16.into())]);
}

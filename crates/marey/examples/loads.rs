//! Records more than there is room for: the other side of the tests of limits.
//!
//! `loads CASE N` prints what it has to say, and `done` as its last line.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "a soak is paced")]

use std::time::{Duration, Instant};

use marey::{Config, Ending, NodeKind, SectionGuard};

fn main() {
    let case = std::env::args().nth(1).expect("a case");
    let n: usize = std::env::args().nth(2).map_or(0, |n| n.parse().unwrap());
    match case.as_str() {
        "restart" => return restart(),
        "moved" => return moved(n),
        _ => {}
    }
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    match case.as_str() {
        "steps" => steps(n),
        "drained steps" => drained_steps(n),
        "threads" => threads(n),
        "short threads" => short_threads(n),
        "names" => (0..n).for_each(|i| drop(marey::section_named(&format!("name-{i}")))),
        "strange names" => strange_names(),
        "deep" => deep(n),
        "out of order" => out_of_order(n),
        "slots" => slots(),
        "epochs" => epochs(n),
        "growth" => growth(n),
        "soak" => soak(n),
        "generations" => generations(n),
        _ => unreachable!("no such case"),
    }
    recording.finish();
    println!("done");
}

fn step(n: usize) {
    let _step = marey::section!("step", index = n);
}

fn steps(n: usize) {
    (0..n).for_each(step);
}

/// None is lost because rings were full, however seldom the drain has its turn.
fn drained_steps(n: usize) {
    for i in 0..n {
        step(i);
        if i % 1_000 == 0 {
            marey::recorder().unwrap().drain_now();
        }
    }
}

fn threads(n: usize) {
    std::thread::scope(|scope| {
        for i in 0..n {
            let thread = std::thread::Builder::new().name(format!("worker-{i}"));
            let work = || {
                for _ in 0..20_000 {
                    let _step = marey::section!("step");
                    let _inner = marey::section!("inner");
                }
            };
            thread.spawn_scoped(scope, work).unwrap();
        }
    });
}

/// Threads that live for one section, four at a time; prints how many lanes they had.
fn short_threads(n: usize) {
    for _ in 0..n / 4 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| drop(marey::section!("step")));
            }
        });
    }
    println!("lanes {}", n_lanes());
}

fn n_lanes() -> usize {
    let root = std::env::var_os("MAREY_RING_DIR").unwrap();
    let mine = marey::leftovers(root.as_ref());
    std::fs::read_dir(&mine[0].folder).unwrap().count() - 1
}

fn strange_names() {
    let long = vec![b'x'; 1 << 20];
    let names: [&[u8]; 8] = [
        b"\x1b[2J\x07\0\r\n",
        b"</script><img src=x onerror=alert(1)>",
        b"../../../../etc/passwd",
        b"\xff\xfe\x80",
        &[0x80; 5000],
        &long,
        b"",
        "\u{202e}\u{1f3ac}".as_bytes(),
    ];
    let lane = marey::lane().unwrap();
    let slot = lane.recorder().take_slots(1).unwrap()[0];
    for name in names {
        let id = lane.recorder().name(name);
        lane.enter(slot, lane.node(id, NodeKind::Section, false), 0);
        lane.exit(slot, Ending::default());
        if let Ok(text) = std::str::from_utf8(name) {
            marey::event(text, &[(text, text.into())]);
            drop(marey::session(text, &[(text, text.into())]));
        }
    }
}

fn deep(n: usize) {
    if n == 0 {
        return;
    }
    let _level = marey::section!("level");
    deep(n - 1);
}

/// Opens `n` under each other and drops them from the outside in; what comes afterwards is at the top.
fn out_of_order(n: usize) {
    let mut open: Vec<SectionGuard> = (0..n).map(|_| marey::section!("level")).collect();
    open.drain(..).for_each(drop);
    drop(marey::section!("afterwards"));
}

/// More open sections than the table has slots for: guards are recorded all the same, others are counted.
fn slots() {
    let open: Vec<_> = (0..100).map(|_| marey::section!("main")).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let open: Vec<_> = (0..10).map(|_| marey::section!("thread")).collect();
                drop(open);
            });
        }
    });
    let recorder = marey::recorder().unwrap();
    for _ in 0..3 {
        if recorder.take_slots(1).is_none() {
            recorder.count_unrecorded();
        }
    }
    drop(open);
}

/// Ten sections of ten names, then the totals start again, `n` times.
fn epochs(n: usize) {
    for _ in 0..n {
        for name in 0..10 {
            (0..10).for_each(|_| drop(marey::section_named(&name.to_string())));
        }
        marey::recorder().unwrap().clear_totals();
    }
    let live = marey::recorder().unwrap().totals();
    assert!(live.iter().all(|lane| lane.nodes.is_empty()));
}

/// `n` sections of twenty names, nested two deep, 100 000 a second.
fn soak(n: usize) {
    const OPERATIONS: [&str; 19] = [
        "qkv",
        "norm",
        "rope",
        "attention",
        "output",
        "gate",
        "up",
        "down",
        "activation",
        "cross_q",
        "cross_kv",
        "cross_attention",
        "cross_output",
        "modulation",
        "residual",
        "patch",
        "unpatch",
        "cache",
        "sync",
    ];
    let mut next = Instant::now();
    let mut wait = || {
        next += Duration::from_micros(10);
        while Instant::now() < next {
            std::hint::spin_loop();
        }
    };
    for _ in 0..n / 20 {
        let _block = marey::section!("block");
        for operation in OPERATIONS {
            let _operation = marey::section_named(operation);
            wait();
        }
        wait();
    }
}

/// Six sessions of `n` sections each, with a session, an event and a name of its own at each end.
fn generations(n: usize) {
    for generation in 0..6 {
        let _session = marey::session(&format!("clip-{generation}"), &[]);
        marey::event("encoded", &[]);
        drop(marey::section_named(&format!("first of clip-{generation}")));
        for _ in 0..n {
            drop(marey::section!("step"));
        }
        drop(marey::section_named(&format!("last of clip-{generation}")));
    }
}

/// Records in memory, with room for some of it, and then in a folder; `n` sections each.
fn moved(n: usize) {
    let (in_folder, _) = Config::from_env();
    let in_memory = Config { output_dir: None, memory_capture_bytes: 400_000, ..in_folder.clone() };
    let _recording = marey::start(in_memory).unwrap();
    let part = |name: &str| {
        let _session = marey::session(name, &[]);
        drop(marey::section_named(&format!("first of {name}")));
        (0..n).for_each(|_| drop(marey::section!("step")));
        drop(marey::section_named(&format!("last of {name}")));
    };
    part("memory");
    let recording = marey::start(in_folder).unwrap();
    part("folder");
    recording.finish();
    println!("done");
}

/// Prints by how much memory grew between the first hundredth and the end.
fn growth(n: usize) {
    let plain = |n: usize| (0..n).for_each(|_| drop(marey::section!("step")));
    plain(n / 100);
    // Rings, names and totals have gone through the drain once.
    marey::recorder().unwrap().drain_now();
    let early = marey::resident_bytes().unwrap();
    plain(n - n / 100);
    println!("grown {}", marey::resident_bytes().unwrap().saturating_sub(early));
}

/// Records, stops, goes on without recording, and records again; prints both captures.
fn restart() {
    let config = || Config::from_env().0;
    let first = marey::start(config()).unwrap();
    steps(10);
    let open = marey::section!("open at the end");
    println!("{}", first.finish().unwrap().display());
    steps(5);
    drop(open);
    let second = marey::start(config()).unwrap();
    steps(20);
    drop(marey::section!("second only"));
    println!("{}", second.finish().unwrap().display());
    println!("done");
}

//! Opens sections of several kinds: the other side of the tests of what a configuration switches off.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

fn main() {
    if std::env::args().any(|argument| argument == "in-memory") {
        in_memory();
        return;
    }
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    if std::env::args().any(|argument| argument == "sampled") {
        // The first round of the host's sampler.
        while marey::recorder().unwrap().latest_readings().is_empty() {
            std::thread::yield_now();
        }
    }
    for _ in 0..2 {
        let _pipeline = marey::section!("pipeline");
        for round in 0..2 {
            {
                let _encoding = marey::section!("text_encoding", round = round);
            }
            for _ in 0..2 {
                let _step = marey::iteration!("denoising_step");
            }
            let _decode = marey::section_named("vae_decode");
            for _ in 0..2 {
                let _tile = marey::section!("tile");
            }
        }
    }
    recording.finish();
}

fn in_memory() {
    let recording = marey::start(marey::Config::default()).unwrap();
    drop(marey::section!("pipeline"));
    let recorder = marey::recorder().unwrap();
    let run = marey::decode(&recorder.capture_so_far(), marey::Status::Running).unwrap();
    assert_eq!(run.sections.len(), 1);
    println!("{} series", run.series.len() + recorder.latest_readings().len());
    recording.finish();
}

//! A small generation that uses everything a capture can hold: what the golden captures of the tests are made from.
//!
//! `pipeline FOLDER` records into FOLDER and prints where.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

use marey::{CacheEvent, CacheOutcome, Config, MemoryReading, MemorySource, Note};

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let config = Config {
        output_dir: Some(folder.into()),
        job_id: Some("golden".into()),
        rank: Some(0),
        // A prompt on the command line is not recorded; facts are.
        facts: vec![("model".into(), "tiny-video <b>v1</b>".into())],
        ..Config::default()
    };
    let recording = marey::start(config).unwrap();
    let load = marey::section!("load_model");
    drop(load);
    for clip in 0..2 {
        let _session = marey::session(&format!("clip-{clip}"), &[("seed", (7 + clip).into())]);
        generate(clip);
    }
    let upload = std::thread::Builder::new().name("upload".into());
    let upload = upload.spawn(|| {
        for _ in 0..3 {
            let _chunk = marey::section!("upload_chunk");
        }
    });
    upload.unwrap().join().unwrap();
    strange_names();
    let path = {
        // Left open when the capture ends.
        let open = marey::section!("waiting_for_upload");
        let path = recording.finish().unwrap();
        std::mem::forget(open);
        path
    };
    println!("{}", path.display());
}

fn generate(clip: i32) {
    for block in 0..3 {
        let _block = marey::section!("block", index = block, clip = clip);
        for step in 0..4_u64 {
            let turn = marey::iteration!("denoising_step");
            let outcome = [CacheOutcome::Miss, CacheOutcome::Hit][usize::from(step % 2 == 1)];
            note(&Note::Cache(CacheEvent {
                cache: "teacache".into(),
                outcome,
                step: Some(step),
                score: Some(0.25),
                threshold: Some(0.3),
                ..CacheEvent::default()
            }));
            if clip == 1 && block == 2 && step == 3 {
                turn.fail();
            }
        }
        let _decode = marey::section!("vae_decode");
    }
    marey::counter("frames", f64::from(clip) * 12.0);
    marey::event("clip_done", &[("clip", clip.into()), ("ok", true.into())]);
    note(&Note::Memory(MemoryReading {
        label: Some("after_clip".into()),
        source: MemorySource::TorchCuda(0),
        allocated_bytes: 6 << 30,
        reserved_bytes: Some(8 << 30),
        peak_bytes: Some(7 << 30),
        ..MemoryReading::default()
    }));
}

/// Names that must never be taken for markup, a path or a terminal's control codes; one is not UTF-8.
fn strange_names() {
    for name in ["</script><b>", "../../etc", "\u{1b}[31mred"] {
        drop(marey::section_named(name));
    }
    let lane = marey::lane().unwrap();
    let recorder = lane.recorder();
    let node = lane.node(recorder.name(b"caf\xe9"), marey::NodeKind::Section, false);
    let slot = recorder.take_slots(1).unwrap()[0];
    lane.enter(slot, node, 0);
    lane.exit(slot, marey::Ending::default());
}

fn note(note: &Note) {
    marey::lane().unwrap().recorder().note(note);
}

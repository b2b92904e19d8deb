//! Records the ranks of a job one after the other, as each of them would by itself: `many_ranks FOLDER JOB WORLD_SIZE FIRST END SECTIONS`
//! writes the captures of the ranks from `FIRST` to before `END`. For measuring `marey aggregate`.
//!
//! A rank encodes a text, makes steps of fifty blocks with attention, communication and a feed-forward network, and decodes.

#![allow(clippy::print_stderr, reason = "a program of its own")]

use marey::{Config, Value};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "ranks".into());
    let job = arguments.next().unwrap_or_else(|| "job".into());
    let mut number = |otherwise: u64| {
        let given = arguments.next().and_then(|text| text.parse().ok());
        given.unwrap_or(otherwise)
    };
    let (world_size, first, end, n_sections) = (number(2), number(0), number(2), number(100_000));
    for rank in first..end {
        let config = Config {
            output_dir: Some((&folder).into()),
            job_id: Some(job.clone()),
            rank: u32::try_from(rank).ok(),
            // All of it fits, so that nothing has to be waited for.
            ring_records: 1 << 17,
            note_bytes: 8 << 20,
            facts: vec![("world_size".into(), world_size.to_string())],
            ..Config::default()
        };
        let recording = match marey::start(config) {
            Ok(recording) => recording,
            Err(error) => return eprintln!("rank {rank}: {error}"),
        };
        pipeline(n_sections, world_size);
        recording.finish();
    }
}

fn pipeline(n_sections: u64, world_size: u64) {
    const BLOCKS: u64 = 50;
    const IN_STEP: u64 = 1 + BLOCKS * 5;
    let group = Value::from("world");
    {
        let _text = marey::section!("text_encoding");
    }
    let denoise = marey::section!("denoise");
    for _ in 0..n_sections.saturating_sub(3) / IN_STEP {
        let _step = marey::iteration!("denoising_step");
        for _ in 0..BLOCKS {
            let _block = marey::section!("transformer_block");
            drop(marey::section!("norm"));
            drop(marey::section!("attention"));
            drop(marey::section!(
                "all_to_all_single",
                group = group.clone(),
                group_size = world_size,
                bytes = 1_u64 << 20
            ));
            drop(marey::section!("feed_forward"));
        }
    }
    drop(denoise);
    drop(marey::section!("vae_decode"));
}

//! Records as many sections as it is told, slowly enough that all of them get into the capture: `volume N [SECTIONS IN A SESSION]`.
//!
//! A step in fifty thousand sections, a block in fifty, and the operations of each block; with sessions, an operation in each stage.

fn main() {
    let numbers = std::env::args().skip(1).map(|n| n.parse());
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().unwrap_or_default();
    let Some(recording) = marey::start_from_env() else {
        return;
    };
    match numbers[..] {
        [n] => blocks(n),
        [n, in_session] => sessions(n, in_session),
        _ => {}
    }
    recording.finish();
}

/// The drain has to keep up: it takes about as long for a record as the producer does.
fn wait() {
    (0..40).for_each(|_| std::hint::spin_loop());
}

/// In no session where `in_session` is 0.
fn sessions(n: u64, in_session: u64) {
    let mut session = None;
    for i in 0..n / 2 {
        if (2 * i).checked_rem(in_session) == Some(0) {
            drop(session.take());
            session = Some(marey::session("clip", &[]));
        }
        let _stage = marey::section!("stage");
        let _operation = marey::section!("operation");
        wait();
    }
}

fn blocks(n: u64) {
    let mut left = n;
    while left > 0 {
        let _step = marey::iteration!("denoising_step");
        left -= 1;
        for _ in 0..(left / 50).min(1_000) {
            let _block = marey::section!("transformer_block");
            for _ in 0..49 {
                let _operation = marey::section!("operation");
                wait();
            }
            left -= 50;
        }
        if left < 50 {
            break;
        }
    }
}

//! Records as many sections as it is told, slowly enough that all of them get into the capture: `volume N`.
//!
//! A step in fifty thousand sections, a block in fifty, and the operations of each block.

fn main() {
    let n: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000_000);
    let Some(recording) = marey::start_from_env() else {
        return;
    };
    let mut left = n;
    while left > 0 {
        let _step = marey::iteration!("denoising_step");
        left -= 1;
        for _ in 0..(left / 50).min(1_000) {
            let _block = marey::section!("transformer_block");
            for _ in 0..49 {
                let _operation = marey::section!("operation");
                // The drain has to keep up: it takes about as long for a record as the producer does.
                (0..40).for_each(|_| std::hint::spin_loop());
            }
            left -= 50;
        }
        if left < 50 {
            break;
        }
    }
    recording.finish();
}

//! Models of a lane's ring and totals: every interleaving of a producer, the drain and a reader, and every value that the memory
//! model lets them see.
//!
//! The code is that of the recorder, file by file, with loom's atomics under it. A process that is killed needs no model of its
//! own: a reader that does all its work between two steps of the producer reads what a kill would have left.
//!
//! A thread is preempted twice at most in each execution, or as often as `LOOM_MAX_PREEMPTIONS` says. What a producer does around
//! ring and totals (`Lane::complete` of the recorder) and a round of the drain are written again here, in few lines, because the
//! originals need a whole recorder.
//!
//! ```console
//! $ cargo run --manifest-path loom/Cargo.toml            # all models, or those whose names contain an argument
//! ```

mod atomics;
mod draining;
mod glances;
mod histogram;
mod lane;
mod recorder;
mod snapshots;

use std::time::Instant;

/// A name that says what holds, and the model of it.
type Model = (&'static str, fn());

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let models = [snapshots::MODELS, glances::MODELS, draining::MODELS].concat();
    let mut chosen = models
        .into_iter()
        .filter(|(name, _)| name.contains(&wanted))
        .peekable();
    assert!(chosen.peek().is_some(), "no model is called {wanted}");
    for (name, model) in chosen {
        let start = Instant::now();
        println!("{name}");
        let n = explore(model);
        println!("    {n} executions, {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// Runs a model in all its executions; says how many there were.
fn explore(model: fn()) -> u64 {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 10_000;
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    let executions = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&executions);
    builder.check(move || {
        counted.fetch_add(1, Relaxed);
        model();
    });
    executions.load(Relaxed)
}

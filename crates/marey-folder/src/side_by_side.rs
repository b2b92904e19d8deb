//! Work on many files at once.
//!
//! ```text
//! items     a  b  c  d  e
//! thread 1  |--a--||-d-|            the next one takes the next item
//! thread 2  |-b-||--c--||--e--|     one item a thread in memory, what comes of it is small
//! answers   a  b  c  d  e           in the order of the items
//! ```

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many threads as there are cores.
pub fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What comes of each item, in order, whatever the number of threads.
pub fn of_each<T: Sync, A: Send>(
    items: &[T],
    n_threads: usize,
    of: impl Fn(&T) -> A + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match items.get(at) {
                Some(item) => answers.push((at, of(item))),
                None => return answers,
            }
        }
    };
    let mut answers = std::thread::scope(|scope| {
        let spawn = |_| marey::without_signals(|| scope.spawn(work));
        let others: Vec<_> = (1..n_threads.min(items.len())).map(spawn).collect();
        let mut answers = work();
        for other in others {
            answers.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        answers
    });
    answers.sort_unstable_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

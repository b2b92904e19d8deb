//! Loom's atomics, in place of the standard library's.
//!
//! Loom 0.7 remembers of each atomic only the access that came last, so a thread that loads a word before it stores into it hides
//! from loom that another thread had loaded it: orders are left out (issues 166 and 392 of loom). Here every access first stores
//! into a word of its own that nobody reads. That makes each depend on the one before it, and no thread see more than it would.
//!
//! Loom's time goes with the number of its atomics, so words that no model uses have none.

use loom::sync::atomic;

pub(crate) use atomic::{Ordering, fence};

macro_rules! atomic_word {
    ($name:ident, $number:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name {
            used: Option<(atomic::$name, atomic::AtomicBool)>,
        }

        impl $name {
            pub(crate) fn new(value: $number) -> Self {
                let turn = atomic::AtomicBool::new(false);
                Self {
                    used: Some((atomic::$name::new(value), turn)),
                }
            }

            #[allow(dead_code, reason = "of 64-bit words only")]
            pub(crate) fn unused() -> Self {
                Self { used: None }
            }

            /// The word itself, with the access that is to come depending on those before.
            fn take_turn(&self) -> &atomic::$name {
                let (value, turn) = self.used.as_ref().expect("a word that the model has");
                turn.store(true, Ordering::Relaxed);
                value
            }

            pub(crate) fn load(&self, order: Ordering) -> $number {
                self.take_turn().load(order)
            }

            pub(crate) fn store(&self, value: $number, order: Ordering) {
                self.take_turn().store(value, order);
            }
        }
    };
}

atomic_word!(AtomicU32, u32);
atomic_word!(AtomicU64, u64);

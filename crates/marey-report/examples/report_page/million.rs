//! A run with as many slices as a page shows one by one.

use marey::Run;
use marey_testing::RunBuilder;

/// Three levels: a generation of 50 steps, blocks of the network in each, operations in each block. Lengths differ, as they do
/// on a machine, by a generator of fixed seed.
pub(crate) fn run(n_slices: u64) -> Run {
    const STEPS: u64 = 50;
    const BLOCKS: u64 = 40;
    let n_operations = n_slices / (STEPS * BLOCKS) - 1;
    let mut seed = 1_u64;
    let mut length = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        1_000 + (seed >> 33) % 40_000
    };
    let mut now = 1_000_000;
    let mut builder = RunBuilder::new();
    for _ in 0..STEPS {
        let begun = now;
        let mut blocks = Vec::new();
        for _ in 0..BLOCKS {
            let operations: Vec<(u64, u64)> = (0..n_operations)
                .map(|_| {
                    let start = now + 300 + length() % 1_000;
                    now = start + length();
                    (start, now)
                })
                .collect();
            now += 2_000;
            blocks.push(operations);
        }
        now += 100_000;
        builder = builder.iteration("denoising_step", begun, now, |s| {
            let mut at = begun;
            for operations in &blocks {
                let end = operations.last().map_or(at, |(_, end)| end + 1_000);
                s.section("transformer_block", at, end, |s| {
                    for (n, (start, end)) in operations.iter().enumerate() {
                        s.section(NAMES[n % NAMES.len()], *start, *end, |_| {});
                    }
                });
                at = end;
            }
        });
    }
    builder.finish(now + 1_000_000)
}

const NAMES: [&str; 8] =
    ["norm1", "to_q", "to_k", "to_v", "attention", "to_out", "norm2", "feed_forward"];

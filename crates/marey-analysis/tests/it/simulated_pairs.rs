//! Pairs of simulated runs, and what comparisons say of them; tests and a bench count them.
//!
//! Simulated runs stray as those of a machine that does little else are taken to: each call by 3 %, log-normal; each call
//! resembles the one before it (0.3); one call in fifty takes half as long again, also what is done once; and each run as
//! a whole is faster or slower by 0.7 %, so that two runs differ by 1 %. Where single runs differ by more than that, their
//! comparison raises more alarms (differences of 1.4 %: one in eleven), and only repeats help.

use marey::{MemoryReading, MemorySource, Run};
use marey_analysis::compare::{CompareOptions, Verdict, compare};
use marey_testing::RunBuilder;

const MS: f64 = 1e6;

/// Pairs of each kind.
pub(crate) const N_PAIRS: u64 = 500;

/// How much a run strays.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    pub(crate) call: f64,
    pub(crate) run: f64,
    pub(crate) resemblance: f64,
}

pub(crate) const USUAL: Noise = Noise { call: 0.03, run: 0.007, resemblance: 0.3 };

/// What is compared.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) seed: u64,
    pub(crate) n_repeats: u64,
    pub(crate) n_steps: u64,
    pub(crate) noise: Noise,
}

/// A generator of its own, so that it has nothing in common with the one that draws samples.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        // Marsaglia's xorshift with the shifts 13, 7, 17.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let halves =
            [self.0 >> 48, (self.0 >> 32) & 0xffff].map(|bits| u16::try_from(bits).unwrap_or(0));
        (f64::from(halves[0]) * 65_536.0 + f64::from(halves[1]) + 0.5) / 4_294_967_296.0
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Durations of calls that follow one another.
struct Calls {
    middle_ns: f64,
    stray: f64,
    noise: Noise,
}

impl Calls {
    fn new(random: &mut Random, middle_ms: f64, of_run: f64, noise: Noise) -> Self {
        Self { middle_ns: middle_ms * MS * of_run, stray: random.normal(), noise }
    }

    fn next(&mut self, random: &mut Random) -> u64 {
        let keep = self.noise.resemblance;
        self.stray = keep * self.stray + (1.0 - keep * keep).sqrt() * random.normal();
        let slow = if random.uniform() < 0.02 { 1.5 } else { 1.0 };
        let ns = self.middle_ns * (self.noise.call * self.stray).exp() * slow;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "milliseconds to minutes"
        )]
        let ns = ns as u64;
        ns
    }
}

/// A run of a pipeline: `load` and `encode` once, `n_steps` steps of attention and feed-forward, twelve calls of the decoder.
/// `slower` is by how much everything in a step takes longer.
fn simulated(seed: u64, n_steps: u64, noise: Noise, slower: f64) -> Run {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..10 {
        random.uniform();
    }
    let of_run = (noise.run * random.normal()).exp();
    let mut calls = |middle_ms| Calls::new(&mut random, middle_ms, of_run, noise);
    let mut once = calls(3000.0);
    let mut attention = calls(60.0 * slower);
    let mut feed_forward = calls(35.0 * slower);
    let mut between = calls(5.0 * slower);
    let mut decode = calls(150.0);
    let load_ns = once.next(&mut random);
    let mut at = load_ns;
    let peak = 8.2e9 * (1.0 + 0.002 * random.normal());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some gigabytes")]
    let reading = MemoryReading {
        at_ns: load_ns,
        label: None,
        source: MemorySource::TorchCuda(0),
        allocated_bytes: peak as u64,
        reserved_bytes: Some(9_000_000_000),
        peak_bytes: None,
        session: None,
    };
    let steps: Vec<[u64; 3]> = (0..n_steps)
        .map(|_| {
            [attention.next(&mut random), feed_forward.next(&mut random), between.next(&mut random)]
        })
        .collect();
    let decodes: Vec<u64> = (0..12).map(|_| decode.next(&mut random)).collect();
    let denoised = at + steps.iter().flatten().sum::<u64>();
    let end = denoised + decodes.iter().sum::<u64>();
    let mut decoded_at = denoised;
    let mut builder = RunBuilder::new().memory(reading).section("load", 0, load_ns, |_| {});
    builder = builder.section("denoise", at, denoised, |s| {
        for [attention, feed_forward, between] in &steps {
            let (first, second) = (at + attention, at + attention + feed_forward);
            s.iteration("step", at, second + between, |s| {
                s.section("attention", at, first, |_| {});
                s.section("feed_forward", first, second, |_| {});
            });
            at = second + between;
        }
    });
    for decode_ns in decodes {
        builder = builder.section("vae_decode", decoded_at, decoded_at + decode_ns, |_| {});
        decoded_at += decode_ns;
    }
    builder.finish(end)
}

/// Pairs of which the comparison says one of these, of [`N_PAIRS`].
pub(crate) fn count(verdicts: &[Verdict], pair: Pair, slower: f64) -> u64 {
    let options = CompareOptions {
        // The verdicts of tests do not depend on intervals; fewer resamples make the same count in less time.
        n_resamples: 50,
        ..CompareOptions::default()
    };
    let runs = |first: u64, slower| -> Vec<Run> {
        let seeds = first..first + pair.n_repeats;
        seeds.map(|seed| simulated(seed, pair.n_steps, pair.noise, slower)).collect()
    };
    let is_so = |number: &u64| {
        let first = pair.seed + 2 * pair.n_repeats * number;
        let baseline = runs(first, 1.0);
        let found = compare(&baseline, &runs(first + pair.n_repeats, slower), &options);
        verdicts.contains(&found.verdict)
    };
    (0..N_PAIRS).filter(is_so).count() as u64
}

/// Pairs of unchanged runs with an alarm in either direction.
pub(crate) fn alarms(pair: Pair) -> u64 {
    count(&[Verdict::Worse, Verdict::Better], pair, 1.0)
}

/// Single runs, whose calls are the samples.
pub(crate) const SINGLE: Pair = Pair { seed: 1, n_repeats: 1, n_steps: 50, noise: USUAL };

/// Repeats on a machine whose runs differ more.
pub(crate) const REPEATED: Pair =
    Pair { seed: 100_001, n_repeats: 5, noise: Noise { run: 0.01, ..USUAL }, ..SINGLE };

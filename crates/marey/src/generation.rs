//! What a generating program reports about its own work: denoising steps, blocks of frames, models, delivered frames.
//!
//! All fields but names are optional: what the program did not say is absent, not 0.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// One report of a program, with when and where it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerationRecord {
    /// When it was reported: at the end of the work that it is about.
    pub at_ns: u64,
    /// Index into [`crate::Run::threads`].
    pub thread: u32,
    /// The flow in which it was reported, as in [`crate::Section::flow`].
    pub flow: u16,
    /// Index into [`crate::Run::sessions`], for a report to one session.
    pub session: Option<u32>,
    /// What was reported.
    pub what: Generation,
}

/// What a generating program reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Generation {
    /// A denoising step.
    Step(DiffusionStep),
    /// A block of frames.
    Block(BlockComputation),
    /// A model that the program uses.
    Model(ModelParameters),
    /// Frames that were delivered.
    Streaming(StreamingEvent),
    /// Frames that were to be delivered and were not.
    DroppedFrames {
        /// How many.
        count: u64,
    },
    /// A layer of a model.
    Layer(LayerComputation),
    /// An allocation or a release.
    Allocation(Allocation),
}

macro_rules! reports {
    ($($kind:ident($report:ident)),+) => {
        $(impl From<$report> for Generation {
            fn from(report: $report) -> Self {
                Self::$kind(report)
            }
        })+
    };
}
reports!(
    Step(DiffusionStep),
    Block(BlockComputation),
    Model(ModelParameters),
    Streaming(StreamingEvent),
    Layer(LayerComputation),
    Allocation(Allocation)
);

/// What a program has reported so far, counted. Everything is 0 before the first report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Denoising steps.
    pub steps: u64,
    /// Blocks of frames.
    pub blocks: u64,
    /// Latent frames in those blocks whose size was given.
    pub block_frames: u64,
    /// Frames that were delivered.
    pub streamed_frames: u64,
    /// Frames that were to be delivered and were not.
    pub dropped_frames: u64,
}

impl Generated {
    pub(crate) const WORDS: usize = 5;

    /// What one report adds.
    pub(crate) fn of(report: &Generation) -> Self {
        let none = Self::default();
        match report {
            Generation::Step(_) => Self { steps: 1, ..none },
            Generation::Block(block) => {
                Self { blocks: 1, block_frames: block.size.unwrap_or(0), ..none }
            }
            Generation::Streaming(event) => {
                Self { streamed_frames: event.frames.unwrap_or(0), ..none }
            }
            Generation::DroppedFrames { count } => Self { dropped_frames: *count, ..none },
            Generation::Model(_) | Generation::Layer(_) | Generation::Allocation(_) => none,
        }
    }

    pub(crate) fn words(self) -> [u64; Self::WORDS] {
        [self.steps, self.blocks, self.block_frames, self.streamed_frames, self.dropped_frames]
    }

    pub(crate) fn of_words(words: [u64; Self::WORDS]) -> Self {
        let [steps, blocks, block_frames, streamed_frames, dropped_frames] = words;
        Self { steps, blocks, block_frames, streamed_frames, dropped_frames }
    }
}

/// When a program made its first and its newest reports. `None` before the first one of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportTimes {
    /// Of denoising steps.
    pub steps: Option<ReportSpan>,
    /// Of blocks of frames; `frames` are latent ones.
    pub blocks: Option<ReportSpan>,
    /// Of frames that were delivered.
    pub deliveries: Option<ReportSpan>,
}

/// The first and the newest report of a kind. Times are nanoseconds since the start of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportSpan {
    /// When the newest was made.
    pub at_ns: u64,
    /// When the first was made.
    pub first_ns: u64,
    /// Frames that the first one counted.
    pub first_frames: u64,
}

impl ReportTimes {
    /// Words: both times of each kind in ticks, 0 when there is none, and the frames of the first block and delivery.
    pub(crate) const WORDS: usize = 8;
    /// The place of a kind's times, and that of its frames.
    const STEPS: (usize, Option<usize>) = (0, None);
    const BLOCKS: (usize, Option<usize>) = (2, Some(6));
    const DELIVERIES: (usize, Option<usize>) = (4, Some(7));

    /// Notes a report that was made at a moment in ticks.
    pub(crate) fn note(words: &[AtomicU64], report: &Generation, ticks: u64) {
        let ((at, frames_at), frames) = match report {
            Generation::Step(_) => (Self::STEPS, 0),
            Generation::Block(block) => (Self::BLOCKS, block.size.unwrap_or(0)),
            Generation::Streaming(event) => (Self::DELIVERIES, event.frames.unwrap_or(0)),
            _ => return,
        };
        if words[at].load(Relaxed) == 0 {
            words[at + 1].store(ticks, Relaxed);
            if let Some(at) = frames_at {
                words[at].store(frames, Relaxed);
            }
        }
        words[at].store(ticks, Relaxed);
    }

    /// Notes another pass of the newest step: that is when the step ended.
    pub(crate) fn note_pass(words: &[AtomicU64], is_first: bool, ticks: u64) {
        let (at, _) = Self::STEPS;
        words[at].store(ticks, Relaxed);
        if is_first {
            words[at + 1].store(ticks, Relaxed);
        }
    }

    pub(crate) fn of_words(words: [u64; Self::WORDS], ns: impl Fn(u64) -> u64) -> Self {
        let known = |ticks: u64| (ticks > 0).then(|| ns(ticks));
        let newest = |(at, frames_at): (usize, Option<usize>)| {
            Some(ReportSpan {
                at_ns: known(words[at])?,
                first_ns: known(words[at + 1])?,
                first_frames: frames_at.map_or(0, |at| words[at]),
            })
        };
        Self {
            steps: newest(Self::STEPS),
            blocks: newest(Self::BLOCKS),
            deliveries: newest(Self::DELIVERIES),
        }
    }
}

/// A denoising step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffusionStep {
    /// Number of the step in its loop.
    pub step: Option<u64>,
    /// Time step of the schedule, in the program's own scale (0..1, or 0..1000).
    pub timestep: Option<f64>,
    /// Latent frames that the step worked on.
    pub block_size: Option<u64>,
    /// How long it took.
    pub computation_ns: Option<u64>,
    /// Scale of the guidance.
    pub guidance_scale: Option<f64>,
}

/// A block of frames, from its first denoising step to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockComputation {
    /// Number of the block.
    pub index: Option<u64>,
    /// Latent frames in it.
    pub size: Option<u64>,
    /// How long it took.
    pub computation_ns: Option<u64>,
    /// Memory in use, as the program read it.
    pub memory_bytes: Option<u64>,
}

/// A model that the program uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelParameters {
    /// Name of the model.
    pub name: String,
    /// Number of parameters.
    pub count: Option<u64>,
    /// What it is: `transformer`, `vae`.
    pub kind: Option<String>,
    /// Floating point operations of one pass: a multiplication and an addition are two.
    pub flops_per_call: Option<f64>,
    /// Passes that a denoising step makes: 2 with guidance by an unconditional pass.
    pub calls_per_step: Option<f64>,
}

/// Frames that were delivered to a viewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamingEvent {
    /// How many.
    pub frames: Option<u64>,
    /// Time to encode them.
    pub encoding_ns: Option<u64>,
    /// Time on the network.
    pub network_latency_ns: Option<u64>,
    /// Fill of the viewer's buffer, in the program's own scale.
    pub buffer_occupancy: Option<f64>,
}

/// A layer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerComputation {
    /// Name of the layer.
    pub name: String,
    /// How long it took.
    pub computation_ns: Option<u64>,
    /// Number of its parameters.
    pub parameters: Option<u64>,
}

/// An allocation or a release of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocation {
    /// It is a release.
    pub is_release: bool,
    /// Its size.
    pub bytes: u64,
    /// Who made it.
    pub allocator: Option<String>,
    /// What for.
    pub context: Option<String>,
}

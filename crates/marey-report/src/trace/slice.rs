//! What lies on a track of a trace: slices that nest, and moments.

use marey::{Attributes, CacheEvent, GpuSpan, Value, Window};

use crate::lanes;

/// What lies on a track for some time.
pub(super) type Slice<'a> = lanes::Slice<What<'a>>;

/// What a slice is.
#[derive(Clone, Copy, Debug)]
pub(super) struct What<'a> {
    pub(super) category: Category,
    /// Its name in [`Names`](super::names::Names).
    pub(super) name: u32,
    pub(super) args: Args<'a>,
    /// Where the arrows of work that it queued begin.
    pub(super) launches: Launches,
}

impl<'a> What<'a> {
    pub(super) fn new(category: Category, name: u32, args: Args<'a>) -> Self {
        Self { category, name, args, launches: Launches::default() }
    }
}

impl<'a> Slice<'a> {
    /// What is said about it, name by name: what the user gave, and what the recorder knows.
    pub(super) fn facts(&self) -> impl Iterator<Item = (&'static str, Fact<'a>)> {
        let flags = [
            (Self::FAILED, "left by an error"),
            (Self::PAUSED, "was suspended"),
            (Self::OPEN, "still open"),
        ];
        let flags = flags
            .into_iter()
            .filter(|(flag, _)| self.flags & flag != 0)
            .map(|(_, name)| (name, Fact::Bool(true)));
        flags.chain(self.what.args.facts())
    }
}

/// A point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub(super) at_ns: u64,
    pub(super) name: u32,
    pub(super) category: Category,
    pub(super) args: Args<'a>,
}

/// Arrows from a slice: numbers that follow each other, within a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Launches {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Launches {
    pub(super) fn numbers(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |n| u64::from(self.first) + u64::from(n))
    }
}

/// What a slice or a moment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Section,
    Iteration,
    Step,
    Block,
    Session,
    Window,
    Gpu,
    Event,
    Cache,
    /// Within a collective: waiting for others, and transfer.
    Communication,
}

impl Category {
    /// Each with what it is called, in their order.
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::Section, "section"),
        (Self::Iteration, "iteration"),
        (Self::Step, "step"),
        (Self::Block, "block"),
        (Self::Session, "session"),
        (Self::Window, "window"),
        (Self::Gpu, "gpu"),
        (Self::Event, "event"),
        (Self::Cache, "cache"),
        (Self::Communication, "communication"),
    ];

    pub(super) fn text(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// What is said about a slice or a moment, where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Args<'a> {
    None,
    /// Only what the user gave.
    Attributes(&'a Attributes),
    Window(&'a Window),
    Gpu(&'a GpuSpan),
    Cache(&'a CacheEvent),
}

/// A value of a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fact<'a> {
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    /// Never NaN or infinite.
    Float(f64),
    Text(&'a str),
    /// [`Value::List`].
    List(&'a Value),
}

impl<'a> Fact<'a> {
    /// `None` for a number that is none.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Float(value) => Self::float(*value),
            Value::Text(value) => Some(Self::Text(value)),
            Value::Null => None,
            Value::List(_) => Some(Self::List(value)),
        }
    }

    fn float(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Float(value))
    }
}

impl<'a> Args<'a> {
    /// What the user gave, in that order. Names may come twice.
    pub(super) fn attributes(&self) -> &'a [(String, Value)] {
        match self {
            Self::None | Self::Gpu(_) => &[],
            Self::Attributes(attributes) => attributes,
            Self::Window(window) => &window.options,
            Self::Cache(event) => &event.attributes,
        }
    }

    /// What Marey knows; only what is known.
    pub(super) fn facts(&self) -> impl Iterator<Item = (&'static str, Fact<'a>)> {
        let mut facts: [Option<(&'static str, Fact<'a>)>; 6] = [None; 6];
        match self {
            Self::None | Self::Attributes(_) => {}
            Self::Window(window) => {
                let reason = window.stop_reason.as_deref();
                let failure = window.failures.first();
                facts[0] = Some(("instrument", Fact::Text(&window.instrument)));
                facts[1] = reason.map(|reason| ("stopped because of", Fact::Text(reason)));
                facts[2] = window.files.first().map(|file| ("file", Fact::Text(&file.path)));
                facts[3] = failure.map(|failure| ("failed", Fact::Text(&failure.error)));
            }
            Self::Gpu(span) => {
                facts[0] = Some(("device", Fact::Unsigned(span.device.into())));
                facts[1] = Some(("stream", Fact::Unsigned(span.stream)));
                facts[2] = span.delay_ns.map(|ns| ("queue delay (ns)", Fact::Unsigned(ns)));
                facts[3] = span.error_ns.map(|ns| ("may be off by (ns)", Fact::Unsigned(ns)));
            }
            Self::Cache(event) => {
                let number = |name, value: Option<u64>| value.map(|v| (name, Fact::Unsigned(v)));
                let float = |name, value: Option<f64>| Some((name, Fact::float(value?)?));
                facts[0] = number("step", event.step);
                facts[1] = number("block", event.block);
                facts[2] = float("score", event.score);
                facts[3] = float("threshold", event.threshold);
                facts[4] = number("held (bytes)", event.held_bytes);
            }
        }
        facts.into_iter().flatten()
    }
}

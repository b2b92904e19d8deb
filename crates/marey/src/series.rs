//! Series: what samplers read of the machine, over time.

/// What a series measures; fixed when its source starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesInfo {
    /// What is measured: `host.cpu.busy`, `gpu.power`. The tables are in `docs/explanation/series.md`.
    pub name: String,
    /// Of what, where there are several: a GPU's UUID, a core's number, a disk's name. Empty otherwise.
    pub subject: String,
    /// What a value counts.
    pub unit: Unit,
    /// What a value says about the time before it.
    pub kind: SeriesKind,
}

impl SeriesInfo {
    /// A series of readings that stand for themselves.
    pub fn gauge(name: &str, subject: &str, unit: Unit) -> Self {
        Self { name: name.into(), subject: subject.into(), unit, kind: SeriesKind::Gauge }
    }

    /// A series of readings that only grow; the difference of two is what happened between them.
    pub fn cumulative(name: &str, subject: &str, unit: Unit) -> Self {
        Self { kind: SeriesKind::Cumulative, ..Self::gauge(name, subject, unit) }
    }
}

/// What a value says about the time before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SeriesKind {
    /// A reading of now.
    #[default]
    Gauge,
    /// All since some moment before the run; never falls.
    Cumulative,
}

/// What a value counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Things, times, flags.
    #[default]
    Count,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// A share, 1 is all. CPU time of several cores goes above 1.
    Ratio,
    /// Seconds.
    Seconds,
    /// Degrees Celsius.
    Celsius,
    /// Watts.
    Watts,
    /// Joules.
    Joules,
    /// Hertz.
    Hertz,
    /// Bits of a mask, whose meaning the table of series gives.
    Bits,
}

impl Unit {
    /// How the unit is written; empty for [`Self::Count`], [`Self::Ratio`] and [`Self::Bits`].
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Count | Self::Ratio | Self::Bits => "",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Seconds => "s",
            Self::Celsius => "°C",
            Self::Watts => "W",
            Self::Joules => "J",
            Self::Hertz => "Hz",
        }
    }
}

/// Readings of one thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What was read.
    pub info: SeriesInfo,
    /// The readings, ordered by time; a point is one reading until a run is long, then a time bucket of several.
    pub points: Vec<SeriesPoint>,
}

/// One reading, or all readings of a time bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    /// When the first of them was taken.
    pub first_ns: u64,
    /// When the last of them was taken.
    pub last_ns: u64,
    /// How many there are, at least 1.
    pub count: u32,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Sum of the values; over `count` it is their mean.
    pub sum: f64,
    /// The last value.
    pub last: f64,
}

impl SeriesPoint {
    /// Mean of the readings.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

/// Something that could have been measured, and why it was not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unavailable {
    /// What: a source (`nvml`), or a series of it with its subject (`gpu.power GPU-5f…`).
    pub what: String,
    /// Why, in words for a user, with a remedy where there is one.
    pub why: String,
}

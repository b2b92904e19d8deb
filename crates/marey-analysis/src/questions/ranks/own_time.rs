//! How long did a rank work, and not wait?

/// One rank between shared calls, its turn, or its run.
pub(super) struct OwnTime {
    pub(super) place: u32,
    pub(super) duration_ns: u64,
    /// `None` when not known.
    pub(super) waiting_ns: Option<u64>,
    /// Standard error of its own time, by the scatter of the rank's intervals or turns; `None` of one alone, as a whole run is.
    pub(super) error_ns: Option<f64>,
    /// It took longer from some moment on.
    pub(super) late: Option<Late>,
}

/// A rank that took longer from some moment on than before, beside the others.
#[derive(Clone, Copy)]
pub(super) struct Late {
    /// When, in the time of its run.
    pub(super) since_ns: u64,
    /// Its own time from then on against the median of the ranks there.
    pub(super) score: f64,
}

impl OwnTime {
    /// Without waiting, where that is known.
    pub(super) fn own_ns(&self, is_waiting_known: bool) -> u64 {
        let waiting_ns = self.waiting_ns.filter(|_| is_waiting_known);
        self.duration_ns.saturating_sub(waiting_ns.unwrap_or_default())
    }
}

//! Highest memory of several sections at once, from the one set of peaks that torch's allocator counts.
//!
//! A peak counts from its last reset, and a reset is for everybody. So before each reset the peaks so far go into all that
//! is open, and into what others would see without Marey:
//!
//! ```text
//! held        1    3 2    5    2    4    2
//! outer       |---------------------------|    5
//! inner            |-----------|               5: from its own beginning
//! later                          |-----|       4
//! reset       ^    ^             ^
//! others      -------- 5 since the start -----
//! others who reset here              ^---      2 from there on
//! ```
//!
//! The ledger holds numbers only. Who reads them from torch, and resets, is elsewhere.

/// Peaks of one device: all that its allocator counts, in an order of its own that does not change.
#[derive(Debug, Default)]
pub struct PeakLedger {
    /// What others see, had nobody reset but they.
    shown: Vec<u64>,
    open: Vec<(u64, Vec<u64>)>,
}

impl PeakLedger {
    /// Nothing is open.
    pub const fn new() -> Self {
        Self { shown: Vec::new(), open: Vec::new() }
    }

    /// Something begins, with the peaks as they are right before the reset that follows. Counts for it are of what comes.
    pub fn begin(&mut self, number: u64, peaks: &[u64]) {
        self.fold(peaks);
        self.open.push((number, Vec::new()));
    }

    /// What began under this number has these peaks so far. `None` for what never began here.
    pub fn so_far(&self, number: u64, peaks: &[u64]) -> Option<Vec<u64>> {
        let (_, own) = self.open.iter().find(|(open, _)| *open == number)?;
        let mut own = own.clone();
        raise(&mut own, peaks);
        Some(own)
    }

    /// It ends: its own peaks. `None` for what never began here.
    pub fn end(&mut self, number: u64, peaks: &[u64]) -> Option<Vec<u64>> {
        let at = self.open.iter().position(|(open, _)| *open == number)?;
        let (_, mut own) = self.open.swap_remove(at);
        raise(&mut own, peaks);
        Some(own)
    }

    /// Somebody else resets: the peaks so far are those of what is open, and no longer shown.
    pub fn reset_by_others(&mut self, peaks: &[u64]) {
        self.fold(peaks);
        self.shown.clear();
    }

    /// What somebody else sees where the allocator counts `peaks`.
    pub fn shown(&self, peaks: &[u64]) -> Vec<u64> {
        let mut shown = self.shown.clone();
        raise(&mut shown, peaks);
        shown
    }

    /// Forgets what is open. What others see stays.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    fn fold(&mut self, peaks: &[u64]) {
        raise(&mut self.shown, peaks);
        for (_, own) in &mut self.open {
            raise(own, peaks);
        }
    }
}

/// Makes each figure at least as high as the other one.
fn raise(figures: &mut Vec<u64>, by: &[u64]) {
    if figures.len() < by.len() {
        figures.resize(by.len(), 0);
    }
    for (figure, other) in figures.iter_mut().zip(by) {
        *figure = (*figure).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An allocator: how much it holds, and the most since the last reset.
    struct Allocator {
        held: u64,
        peak: u64,
    }

    impl Allocator {
        fn hold(&mut self, held: u64) {
            self.held = held;
            self.peak = self.peak.max(held);
        }

        fn reset(&mut self) {
            self.peak = self.held;
        }
    }

    /// The drawing of the module: what was held, and at which moments.
    #[test]
    fn each_section_has_the_most_that_was_held_while_it_was_open() {
        let mut torch = Allocator { held: 1, peak: 1 };
        let mut ledger = PeakLedger::default();
        ledger.begin(1, &[torch.peak]);
        torch.reset();
        torch.hold(3);
        torch.hold(2);
        ledger.begin(2, &[torch.peak]);
        torch.reset();
        torch.hold(5);
        torch.hold(2);
        assert_eq!(ledger.end(2, &[torch.peak]), Some(vec![5]));
        ledger.begin(3, &[torch.peak]);
        torch.reset();
        torch.hold(4);
        torch.hold(2);
        assert_eq!(ledger.shown(&[torch.peak]), [5]);
        ledger.reset_by_others(&[torch.peak]);
        torch.reset();
        assert_eq!(ledger.shown(&[torch.peak]), [2]);
        assert_eq!(ledger.end(3, &[torch.peak]), Some(vec![4]));
        assert_eq!(ledger.end(1, &[torch.peak]), Some(vec![5]));
    }

    #[test]
    fn a_child_does_not_lower_the_peak_of_what_is_around_it() {
        // held     9  1    2  1
        // outer  |----------------|    9
        // inner        |------|        2
        let mut ledger = PeakLedger::default();
        ledger.begin(1, &[0]);
        ledger.begin(2, &[9]);
        assert_eq!(ledger.end(2, &[2]), Some(vec![2]));
        assert_eq!(ledger.end(1, &[2]), Some(vec![9]));
    }

    #[test]
    fn sections_that_overlap_without_nesting_each_have_their_own() {
        // held      4    7    2    3
        // a      |---------|            7
        // b           |----------|      7
        // c                   |----|    3
        let mut ledger = PeakLedger::default();
        ledger.begin(1, &[0]);
        ledger.begin(2, &[4]);
        assert_eq!(ledger.end(1, &[7]), Some(vec![7]));
        ledger.begin(3, &[7]);
        assert_eq!(ledger.end(2, &[3]), Some(vec![7]));
        assert_eq!(ledger.end(3, &[3]), Some(vec![3]));
    }

    #[test]
    fn what_others_reset_does_not_come_back() {
        let mut ledger = PeakLedger::default();
        ledger.begin(1, &[80, 100]);
        assert_eq!(ledger.shown(&[10, 100]), [80, 100]);
        ledger.reset_by_others(&[10, 100]);
        assert_eq!(ledger.shown(&[10, 20]), [10, 20]);
        ledger.begin(2, &[12, 20]);
        assert_eq!(ledger.shown(&[11, 20]), [12, 20]);
    }

    #[test]
    fn what_never_began_has_no_peak() {
        let mut ledger = PeakLedger::default();
        ledger.begin(1, &[5]);
        ledger.forget_open();
        assert_eq!(ledger.end(1, &[5]), None);
        assert_eq!(ledger.shown(&[0]), [5]);
    }
}

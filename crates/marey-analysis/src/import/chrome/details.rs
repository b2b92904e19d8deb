//! What only some events say, beyond the columns.

use super::args::{Fields, count, integer};

/// The number of an operator (`External id`). Operators get theirs as they begin: the outer one has the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorNumber {
    /// Which row.
    pub row: u32,
    /// Its number.
    pub number: u32,
}

/// The inputs of an operator, or of a collective of the host (`gloo:all_gather`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Which row.
    pub row: u32,
    /// `Input Dims` as it is written, by its number in `Trace::texts`: `[[2, 77], [], []]`.
    pub shapes: u32,
    /// `Input type` likewise; `None` when the trace does not say.
    pub types: Option<u32>,
    /// `Concrete Inputs` likewise, of operators whose work depends on them; `None` when the trace does not say.
    pub values: Option<u32>,
}

/// What a kernel of communication says about itself. Each is absent where the trace does not say; texts by their number in
/// `Trace::texts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collective {
    /// Which row.
    pub row: u32,
    /// `allreduce`, `all_to_allv`.
    pub name: Option<u32>,
    /// The type of its elements: `Float`, `BFloat16`.
    pub element_type: Option<u32>,
    /// Elements that go in on this rank.
    pub n_elements_in: Option<u64>,
    /// Elements that come out on this rank.
    pub n_elements_out: Option<u64>,
    /// Ranks that take part.
    pub group_size: Option<u64>,
    /// Which group of ranks, as captures have it: its description and name (`mesh_tp:3`), `default_pg`, or what there is of both.
    pub group: Option<u32>,
}

/// A synchronisation as a device's row has it (`cuda_sync`). It is no work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWait {
    /// Which row.
    pub row: u32,
    /// The stream that waits; `None` when the trace does not say, or says -1.
    pub stream: Option<i64>,
}

/// An allocation or a release, as torch's allocators say it (`[memory]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Nanoseconds after the first event of the trace; `None` when it was before that.
    pub at_ns: Option<u64>,
    /// The thread.
    pub track: u32,
    /// The kind of device by torch's numbers: 0 the host, 1 a GPU of NVIDIA's, 6 one of AMD's. `None` when the trace does not say, as below.
    pub device_type: Option<i64>,
    /// The number of the device; -1 for the host.
    pub device: Option<i64>,
    /// Below zero for a release.
    pub bytes: i64,
    /// All that the allocator has given out afterwards.
    pub allocated_bytes: Option<u64>,
    /// All that it holds afterwards.
    pub reserved_bytes: Option<u64>,
}

impl DeviceWait {
    /// As the object `args` of the row has it.
    pub(super) fn of(row: u32, object: &[u8]) -> Self {
        let stream = Fields::new(object).filter(|(key, _)| *key == b"stream").last();
        let stream = stream.and_then(|(_, value)| integer(value));
        Self { row, stream: stream.filter(|number| *number >= 0) }
    }
}

impl Allocation {
    /// As the object `args` of the event has it; `None` when it does not say how many bytes. When it was is left open.
    pub(super) fn of(track: u32, object: &[u8]) -> Option<Self> {
        let mut said = None;
        let mut allocation = Self {
            at_ns: None,
            track,
            device_type: None,
            device: None,
            bytes: 0,
            allocated_bytes: None,
            reserved_bytes: None,
        };
        for (key, value) in Fields::new(object) {
            match key {
                b"Bytes" => said = integer(value),
                b"Device Type" => allocation.device_type = integer(value),
                b"Device Id" => allocation.device = integer(value),
                b"Total Allocated" => allocation.allocated_bytes = count(value),
                b"Total Reserved" => allocation.reserved_bytes = count(value),
                _ => {}
            }
        }
        allocation.bytes = said?;
        Some(allocation)
    }
}

/// What stands in the brackets of an input: the second of `[[2, 8], [4], []]` is `4`. `None` when there are not as many.
pub(super) fn sizes(shapes: &str, wanted: usize) -> Option<&str> {
    let (mut depth, mut n_inputs, mut start) = (0_u32, 0, 0);
    for (at, letter) in shapes.char_indices() {
        match letter {
            '[' => {
                depth += 1;
                start = if depth == 2 { at + 1 } else { start };
            }
            ']' if depth == 2 && n_inputs == wanted => return shapes.get(start..at),
            ']' => {
                n_inputs += usize::from(depth == 2);
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_found_by_their_place() {
        let shapes = "[[1, 4, 24, 60], [[2], [3]], [], [24, 24]]";
        assert_eq!(sizes(shapes, 0), Some("1, 4, 24, 60"));
        assert_eq!(sizes(shapes, 2), Some(""));
        assert_eq!(sizes(shapes, 3), Some("24, 24"));
        assert_eq!(sizes(shapes, 4), None);
        assert_eq!(sizes("]][", 0), None);
    }
}

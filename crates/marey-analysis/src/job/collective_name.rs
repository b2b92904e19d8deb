//! What the name of a collective says of its calls, whichever recorder wrote it.

use crate::questions::trace::CollectiveKind;

/// Processes come together in it at first: who waits there waits for an earlier or later start, not for work.
pub(crate) const START_UP: &str = "init_process_group";

/// An asynchronous call is recorded as two: what hands it over, and the wait for it.
pub(crate) const BEGIN: &str = " begin";
/// See [`BEGIN`].
pub(crate) const WAIT: &str = " wait";

/// Nobody leaves it before everybody has come.
pub(crate) fn is_synchronising(name: &str) -> bool {
    let kind = CollectiveKind::of(name);
    let needs_all = matches!(
        kind,
        CollectiveKind::AllReduce
            | CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll
    );
    needs_all || ["barrier", "monitored_barrier"].contains(&name)
}

/// Two ranks talk in it, each by a name of its own: the n-th of one is not the n-th of another.
pub(crate) fn is_between_two(name: &str) -> bool {
    CollectiveKind::of(name) == CollectiveKind::SendReceive
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of torch.distributed and of kernels.
    #[test]
    fn ranks_meet_in_what_needs_all_of_them() {
        for (name, meets, is_of_two) in [
            ("all_reduce", true, false),
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", true, false),
            ("_allgather_base", true, false),
            ("all_gather_object", true, false),
            ("reduce_scatter_tensor", true, false),
            ("all_to_all_single", true, false),
            ("barrier", true, false),
            ("monitored_barrier", true, false),
            ("broadcast_object_list", false, false),
            ("reduce", false, false),
            ("gather", false, false),
            ("scatter", false, false),
            (START_UP, false, false),
            ("send", false, true),
            ("irecv", false, true),
            ("batch_isend_irecv", false, true),
            ("batch_isend_irecv wait", false, true),
            ("send_recv", false, true),
        ] {
            let found = (is_synchronising(name), is_between_two(name));
            assert_eq!(found, (meets, is_of_two), "{name}");
        }
    }
}

//! What the other crates of Marey use of the recorder and its captures. Not for programs: it changes with every version.

pub use crate::capture::{Leftover, close_abandoned, close_leftovers, decode, leftovers, peek};
pub use crate::clock::{ClockKind, kind as clock_kind, monotonic_ns, ticks, unix_ns, utc};
pub use crate::descriptors::{apart, without_descriptors, without_signals};
pub use crate::device_work::SectionKey;
pub use crate::folder::names_in;
pub use crate::generation::{Generated, ReportSpan, ReportTimes};
pub use crate::histogram::{N_BUCKETS, bucket_of, bucket_range, quantile_ranks};
pub use crate::launch::signal_text;
pub use crate::note::{Note, Readings, Samples};
pub use crate::private_files::{
    file_mode, keep_for_owner, make_job_folder, make_output_folder, new_file,
};
pub use crate::process_memory::{
    counted_peak_bytes, peak_resident_bytes, reset_peak_resident, resident_bytes,
};
pub use crate::profiling_config::default_output_dir;
pub use crate::recorder::{
    Allowance, Current, Ending, Identity, Lane, LaunchCapture, NameId, NodeSnapshot, Outside, Slot,
    StartedSession, TotalsSnapshot, ask_for_window, file_size_limit, is_alive, is_asked_for_by_env,
    job_id, lane, new_flow, offer_windows, own_lane, place_in_job, rank, recording_number,
    ring_root, start_from_env_with,
};
pub use crate::resources::{Spent, wait_with_usage};
pub use crate::sampler::{HostOptions, HostSource, SamplerOptions, Source, oom_kills};
pub use crate::successor::Successor;

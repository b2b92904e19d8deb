//! What is measured, each in a process of its own.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Figures;
use crate::batches::measure;

static N_REPORTED: AtomicU64 = AtomicU64::new(0);

/// One thing to measure.
pub(crate) enum Subject {
    /// Sections with rings in shared memory and the capture on disk.
    Shared,
    /// The same with rings in private memory.
    Private,
    /// Sections while nothing is recorded.
    Off,
    /// A loop that does nothing.
    Empty,
    /// fastrace's local spans under one root, with a reporter that drops them.
    Fastrace,
}

impl Subject {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "shared" => Self::Shared,
            "private" => Self::Private,
            "off" => Self::Off,
            "empty" => Self::Empty,
            "fastrace" => Self::Fastrace,
            _ => panic!("no subject {name}"),
        }
    }

    pub(crate) fn measure(&self) -> Figures {
        match self {
            Self::Shared => recorded(None),
            // Without shared bytes, lanes lie in private memory.
            Self::Private => recorded(Some(0)),
            Self::Off => figures(measure(section), 0.0),
            Self::Empty => figures(measure(|| {}), 0.0),
            Self::Fastrace => fastrace(),
        }
    }
}

fn section() {
    let _section = marey::section!("x");
}

fn recorded(shared_bytes: Option<usize>) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    let defaults = marey::Config::default();
    let config = marey::Config {
        output_dir: Some(folder.path().into()),
        shared_bytes: shared_bytes.unwrap_or(defaults.shared_bytes),
        ..defaults
    };
    let recording = marey::start(config).unwrap();
    let measured = measure(section);
    let capture = recording.finish().unwrap();
    let run = marey::load(&capture).unwrap();
    let is_private = run.losses.threads_in_private_memory > 0;
    assert_eq!(is_private, shared_bytes == Some(0), "the ring lies where it should");
    #[expect(clippy::cast_precision_loss, reason = "a count of thousands")]
    figures(measured, run.losses.sections_missing() as f64)
}

fn fastrace() -> Figures {
    struct Nowhere;
    impl fastrace::collector::Reporter for Nowhere {
        fn report(&mut self, spans: Vec<fastrace::collector::SpanRecord>) {
            N_REPORTED.fetch_add(spans.len() as u64, Relaxed);
        }
    }
    fastrace::set_reporter(Nowhere, fastrace::collector::Config::default());
    let mut n = 0_u32;
    let mut parent = None;
    let measured = measure(|| {
        // A root for each batch, as a request would have: fastrace keeps spans until their root ends.
        if n.is_multiple_of(crate::batches::BATCH) {
            parent = None;
            let root = fastrace::Span::root("batch", fastrace::collector::SpanContext::random());
            parent = Some((root.set_local_parent(), root));
        }
        n += 1;
        let _span = fastrace::local::LocalSpan::enter_with_local_parent("x");
    });
    drop(parent);
    fastrace::flush();
    // Its spans and a root for each batch; that it was measured recording is not to be taken for granted.
    assert!(
        N_REPORTED.load(Relaxed) > u64::from(n),
        "{} of {n} spans reported",
        N_REPORTED.load(Relaxed)
    );
    figures(measured, 0.0)
}

fn figures((per_section_ns, anchor_ns, process_ns): (f64, f64, f64), n_lost: f64) -> Figures {
    Figures { per_section_ns, anchor_ns, process_ns, n_lost }
}

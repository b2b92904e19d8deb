//! A `tracing` layer that records spans as sections, so that libraries which use `tracing` (candle's models do) need no change.

use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::recorder::{SectionGuard, section_named};

/// Records every entered span as a section of the thread that entered it; a span that is entered twice is two sections. Fields are not
/// recorded. Filter with the layer's own filters: candle's spans are at TRACE level.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingLayer {
    _private: (),
}

impl TracingLayer {
    /// The layer.
    pub fn new() -> Self {
        Self::default()
    }
}

thread_local! {
    /// Guards of entered spans, innermost last.
    static ENTERED: std::cell::RefCell<Vec<(u64, SectionGuard)>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TracingLayer {
    fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {}

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id).filter(|_| crate::is_on()) {
            let guard = section_named(span.name());
            // Without a place to keep it, in a thread that is torn down, the section ends at once.
            ENTERED.try_with(|entered| entered.borrow_mut().push((id.into_u64(), guard))).ok();
        }
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        // The thread's storage may be gone when a span is left while the thread is torn down.
        let guard = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let at = entered.iter().rposition(|(known, _)| *known == id.into_u64())?;
            Some(entered.remove(at))
        });
        drop(guard);
    }
}

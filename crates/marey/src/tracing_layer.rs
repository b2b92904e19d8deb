//! A `tracing` layer that records spans as sections, so that libraries which use `tracing` (candle's models do) need no change.

use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Id, Record};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::recorder::{SectionGuard, section_named};
use crate::value::{Attributes, Value};

/// Records every entered span as a section of the thread that entered it, with its fields as attributes, and events with theirs. A span that
/// is entered twice is two sections: candle's models keep a span for each layer and enter it with each call. So each poll of a future that is
/// instrumented by `tracing` is one, too; [`crate::InSection`] makes one of the whole. Filter with the layer's own filters: candle's spans are
/// at TRACE level.
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
    fn on_new_span(&self, span: &tracing::span::Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        span.record(&mut fields);
        if let Some(span) = context.span(id).filter(|_| !fields.others.is_empty()) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let mut fields: Fields = extensions.remove().unwrap_or_default();
        values.record(&mut fields);
        extensions.insert(fields);
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if crate::is_on() {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let name = fields.message.unwrap_or_else(|| event.metadata().target().into());
            crate::note(|| crate::Note::event(&name, fields.others));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id).filter(|_| crate::is_on()) {
            let guard = section_named(span.name());
            if let Some(fields) = span.extensions().get::<Fields>() {
                guard.note(fields.others.clone());
            }
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

/// What a span or an event says.
#[derive(Debug, Default)]
struct Fields {
    /// Of an event: its text.
    message: Option<String>,
    others: Attributes,
}

impl Fields {
    fn push(&mut self, field: &Field, value: Value) {
        match value {
            Value::Text(text) if field.name() == "message" => self.message = Some(text),
            value => self.others.push((field.name().into(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.push(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value.into());
    }
}

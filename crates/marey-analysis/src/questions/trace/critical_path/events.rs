//! Which calls waited for which event or stream, as far as the trace says.

use std::collections::BTreeMap;

use super::queues::{Queues, Wanted};
use crate::import::chrome::{DeviceWait, Trace};

/// The synchronisations on the rows of devices, by the calls that made them.
pub(super) struct Events<'a> {
    /// By the row of the call.
    by_call: BTreeMap<u32, &'a DeviceWait>,
    /// Of streams that wait: the stream, and when it was told to.
    of_streams: Vec<(u32, u64, &'a DeviceWait)>,
    /// When the calls were made that these name, by correlation.
    calls: BTreeMap<i64, u32>,
}

impl<'a> Events<'a> {
    /// Of one document. Looks at each call once.
    pub(super) fn new(trace: &'a Trace, document: u32, queues: &Queues<'_>) -> Self {
        let waits = trace.waits.iter();
        let waits: Vec<&DeviceWait> = waits
            .filter(|wait| trace.document_of(wait.row) == document)
            .collect();
        let mut events = Self {
            by_call: BTreeMap::new(),
            of_streams: Vec::new(),
            calls: BTreeMap::new(),
        };
        let named = |wait: &&DeviceWait| [wait.correlation, wait.on_correlation];
        let mut named: Vec<i64> = waits.iter().flat_map(named).flatten().collect();
        named.sort_unstable();
        for call in trace.calls.iter().filter(|_| !named.is_empty()) {
            let Some(correlation) = call.correlation else {
                continue;
            };
            let is_named = named.binary_search(&correlation).is_ok();
            if is_named && trace.document_of(call.row) == document {
                events.calls.insert(correlation, call.row);
            }
        }
        for wait in waits {
            let call = wait.correlation.and_then(|c| events.calls.get(&c).copied());
            if let Some(call) = call {
                events.by_call.insert(call, wait);
            }
            let process = trace.process_of(wait.row);
            let is_told = wait.on_stream.is_some() || wait.on_correlation.is_some();
            let stream = wait.stream.and_then(|s| queues.stream(process, s));
            if let Some(stream) = stream.filter(|_| is_told) {
                let at_ns = trace.rows.start_of(call.unwrap_or(wait.row));
                events.of_streams.push((stream, at_ns, wait));
            }
        }
        events
            .of_streams
            .sort_by_key(|(stream, at_ns, wait)| (*stream, *at_ns, wait.on_stream));
        events
    }

    /// What a stream was told to wait for between two launches on it: streams and the moments up to which their work counts.
    pub(super) fn of_stream(
        &self,
        trace: &Trace,
        queues: &Queues<'_>,
        stream: u32,
        (from_ns, to_ns): (u64, u64),
    ) -> impl Iterator<Item = (u32, u64)> {
        let first = self
            .of_streams
            .partition_point(|told| (told.0, told.1) < (stream, from_ns));
        let last = self
            .of_streams
            .partition_point(|told| (told.0, told.1) < (stream, to_ns));
        let told = self.of_streams.get(first..last).unwrap_or_default();
        told.iter().filter_map(move |(_, at_ns, wait)| {
            let process = trace.process_of(wait.row);
            let other = queues.stream(process, wait.on_stream?)?;
            Some((other, self.recorded_ns(trace, wait).unwrap_or(*at_ns)))
        })
    }

    /// What a call that synchronises may have waited for: what the trace says of it, else anything launched before.
    pub(super) fn of_call(&self, trace: &Trace, queues: &Queues<'_>, call: u32) -> Wanted {
        let called_ns = trace.rows.start_of(call);
        let wait = self.by_call.get(&call).copied();
        let process = wait.map(|wait| trace.process_of(wait.row));
        let stream = wait.and_then(|wait| {
            let stream = wait.on_stream.or(wait.stream)?;
            queues.stream(process?, stream)
        });
        let recorded_ns = wait.and_then(|wait| self.recorded_ns(trace, wait));
        Wanted {
            process,
            stream,
            launched_by_ns: recorded_ns.unwrap_or(called_ns),
        }
    }

    fn recorded_ns(&self, trace: &Trace, wait: &DeviceWait) -> Option<u64> {
        let call = self.calls.get(&wait.on_correlation?)?;
        Some(trace.rows.start_of(*call))
    }
}

//! What a GPU did for the sections of a session, what they used, and the windows that were opened in it.

use std::collections::BTreeSet;

use marey::{GpuSpan, SectionMemory, SectionResources, Window};

use super::Cut;

/// A section by thread, node and start.
type Key = (u32, u32, u64);

impl Cut<'_> {
    pub(super) fn windows(&self) -> Vec<Window> {
        let windows = self.parts.windows.iter().map(|i| &self.run.windows[*i]);
        windows
            .map(|window| {
                let mut window = window.clone();
                window.opened_ns = self.shifted(window.opened_ns);
                window.recording_ns = window.recording_ns.map(|at| self.shifted(at));
                window.stopped_ns = window.stopped_ns.map(|at| self.shifted(at));
                window.session = self.renumbered(window.session);
                for file in &mut window.files {
                    file.at_ns = self.shifted(file.at_ns);
                }
                for failure in &mut window.failures {
                    failure.at_ns = self.shifted(failure.at_ns);
                }
                window
            })
            .collect()
    }

    pub(super) fn gpu_spans(&self) -> Vec<GpuSpan> {
        let key = |span: &GpuSpan| (span.thread, span.node, span.start_ns);
        let mut spans = self.of_its_sections(&self.run.gpu_spans, key);
        for span in &mut spans {
            span.start_ns = self.shifted(span.start_ns);
        }
        spans
    }

    pub(super) fn section_memory(&self) -> Vec<SectionMemory> {
        let key = |memory: &SectionMemory| (memory.thread, memory.node, memory.start_ns);
        let mut readings = self.of_its_sections(&self.run.section_memory, key);
        for memory in &mut readings {
            memory.start_ns = self.shifted(memory.start_ns);
        }
        readings
    }

    pub(super) fn section_resources(&self) -> Vec<SectionResources> {
        let key = |used: &SectionResources| (used.thread, used.node, used.start_ns);
        let mut all = self.of_its_sections(&self.run.section_resources, key);
        for used in &mut all {
            used.start_ns = self.shifted(used.start_ns);
        }
        all
    }

    fn of_its_sections<T: Clone>(&self, all: &[T], key: impl Fn(&T) -> Key) -> Vec<T> {
        if all.is_empty() {
            return Vec::new();
        }
        let sections = self.parts.sections.iter().map(|i| &self.run.sections[*i]);
        let mine: BTreeSet<Key> = sections.map(|s| (s.thread, s.node, s.start_ns)).collect();
        let is_mine = |one: &&T| mine.contains(&key(one));
        all.iter().filter(is_mine).cloned().collect()
    }
}

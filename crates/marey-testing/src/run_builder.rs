//! Builds a [`Run`] from a drawn timeline.

use marey::{
    Attributes, CacheEvent, CounterReading, Event, Generation, GenerationRecord, Histogram,
    MemoryReading, Node, NodeKind, NodeTotals, OpenSection, Outcome, Resources, Run, Section,
    SectionAttributes, SectionResources, Series, SeriesInfo, SeriesPoint, Session, Status, Thread,
};

/// A [`Run`] under construction. Sections are drawn by name, start and end; those within belong to a closure.
///
/// ```
/// use marey_testing::RunBuilder;
/// // 0        10        20        30
/// // |--- denoise ------|-- decode -|
/// //   |step|   |step|
/// let run = RunBuilder::new()
///     .section("denoise", 0, 20, |s| {
///         s.iteration("step", 2, 7, |_| {});
///         s.iteration("step", 11, 16, |_| {});
///     })
///     .section("decode", 20, 30, |_| {})
///     .finish(30);
/// assert_eq!(run.sections.len(), 4);
/// ```
#[derive(Debug)]
pub struct RunBuilder {
    run: Run,
    thread: u32,
}

impl Default for RunBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl RunBuilder {
    /// An empty run with one thread named `main`.
    pub fn new() -> Self {
        let root =
            Node { parent: None, name: String::new(), kind: NodeKind::Section, is_detached: false };
        let run = Run {
            status: Status::Finished,
            nodes: vec![root],
            totals: vec![NodeTotals::default()],
            threads: vec![Thread { os_id: 1, name: "main".into() }],
            ..Run::default()
        };
        Self { run, thread: 0 }
    }

    /// Draws what follows in another thread.
    ///
    /// # Panics
    /// Beyond 2³² threads.
    #[must_use]
    pub fn thread(mut self, name: &str) -> Self {
        self.thread = u32::try_from(self.run.threads.len()).expect("few threads in a drawing");
        self.run.threads.push(Thread { os_id: self.thread + 1, name: name.into() });
        self
    }

    /// Draws a section at the top level.
    #[must_use]
    pub fn section(
        mut self,
        name: &str,
        start_ns: u64,
        end_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> Self {
        Within { builder: &mut self, parent: 0 }.section(name, start_ns, end_ns, inner);
        self
    }

    /// Draws an iteration at the top level.
    #[must_use]
    pub fn iteration(
        mut self,
        name: &str,
        start_ns: u64,
        end_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> Self {
        Within { builder: &mut self, parent: 0 }.iteration(name, start_ns, end_ns, inner);
        self
    }

    /// Draws a section at the top level that was never left, and what is within it.
    #[must_use]
    pub fn open(mut self, name: &str, start_ns: u64, inner: impl FnOnce(&mut Within<'_>)) -> Self {
        Within { builder: &mut self, parent: 0 }.open(name, start_ns, inner);
        self
    }

    /// Adds a session.
    #[must_use]
    pub fn session(
        mut self,
        name: &str,
        start_ns: u64,
        end_ns: Option<u64>,
        tags: Attributes,
    ) -> Self {
        self.run.sessions.push(Session {
            number: self.run.sessions.len() as u64,
            name: name.into(),
            start_ns,
            end_ns,
            outcome: end_ns.map_or(Outcome::CutOff, |_| Outcome::Done),
            used: None,
            tags,
            parent: None,
            thread: self.thread,
            flow: 0,
        });
        self
    }

    /// Adds an event.
    #[must_use]
    pub fn event(mut self, name: &str, at_ns: u64, attributes: Attributes) -> Self {
        self.run.events.push(Event {
            at_ns,
            thread: self.thread,
            name: name.into(),
            attributes,
            session: None,
        });
        self
    }

    /// Adds a memory reading.
    #[must_use]
    pub fn memory(mut self, reading: MemoryReading) -> Self {
        self.run.memory.push(reading);
        self
    }

    /// Adds a series of single readings, drawn as time and value.
    #[must_use]
    pub fn series(mut self, info: SeriesInfo, readings: &[(u64, f64)]) -> Self {
        let point = |(at_ns, value): &(u64, f64)| SeriesPoint {
            first_ns: *at_ns,
            last_ns: *at_ns,
            count: 1,
            min: *value,
            max: *value,
            sum: *value,
            last: *value,
        };
        let points = readings.iter().map(point).collect();
        self.run.series.push(Series { info, points });
        self
    }

    /// Adds a report of the program about its own work, to a session if it is one of its.
    #[must_use]
    pub fn generation(mut self, at_ns: u64, session: Option<u32>, what: Generation) -> Self {
        self.run.generation.push(GenerationRecord {
            at_ns,
            thread: self.thread,
            flow: 0,
            session,
            what,
        });
        self
    }

    /// Adds a counter reading.
    #[must_use]
    pub fn counter(mut self, name: &str, at_ns: u64, value: f64) -> Self {
        self.run.counters.push(CounterReading { at_ns, name: name.into(), value, session: None });
        self
    }

    /// Adds a cache event.
    #[must_use]
    pub fn cache_event(mut self, event: CacheEvent) -> Self {
        self.run.cache_events.push(event);
        self
    }

    /// Says what each recorded section of a name used, by how long it took.
    #[must_use]
    pub fn used(mut self, name: &str, used: impl Fn(u64) -> Resources) -> Self {
        let nodes = &self.run.nodes;
        let is_named = |section: &&Section| nodes[section.node as usize].name == name;
        let resources = |section: &Section| SectionResources {
            thread: section.thread,
            node: section.node,
            start_ns: section.start_ns,
            used: used(section.end_ns - section.start_ns),
        };
        let all: Vec<_> = self.run.sections.iter().filter(is_named).map(resources).collect();
        self.run.section_resources.extend(all);
        self
    }

    /// Changes anything else before the run is finished.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Run)) -> Self {
        change(&mut self.run);
        self
    }

    /// The run, which lasted `wall_ns`.
    ///
    /// # Panics
    /// Beyond 2³² threads.
    pub fn finish(mut self, wall_ns: u64) -> Run {
        self.run.wall_ns = wall_ns;
        for open in &mut self.run.open {
            open.until_ns = wall_ns;
        }
        let order = |s: &Section| {
            (s.thread, s.end_ns, std::cmp::Reverse(s.start_ns), std::cmp::Reverse(s.node))
        };
        let before = self.run.sections.clone();
        self.run.sections.sort_by_key(order);
        for given in &mut self.run.section_attributes {
            let section = before[given.section];
            given.section = self
                .run
                .sections
                .iter()
                .position(|s| *s == section)
                .expect("the same sections, sorted");
        }
        self.run.section_attributes.sort_by_key(|given| given.section);
        self.run.totals = totals(&self.run);
        self.run
    }
}

/// Draws inside a section.
#[derive(Debug)]
pub struct Within<'a> {
    builder: &'a mut RunBuilder,
    parent: u32,
}

impl Within<'_> {
    /// Draws a section.
    pub fn section(
        &mut self,
        name: &str,
        start_ns: u64,
        end_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> &mut Self {
        self.completed(name, NodeKind::Section, start_ns, end_ns, inner)
    }

    /// Draws an iteration.
    pub fn iteration(
        &mut self,
        name: &str,
        start_ns: u64,
        end_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> &mut Self {
        self.completed(name, NodeKind::Iteration, start_ns, end_ns, inner)
    }

    /// Draws a section that was never left.
    pub fn open(
        &mut self,
        name: &str,
        start_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> &mut Self {
        let node = self.node(name, NodeKind::Section);
        self.builder.run.open.push(OpenSection {
            thread: Some(self.builder.thread),
            node,
            start_ns,
            until_ns: u64::MAX,
        });
        inner(&mut Within { builder: self.builder, parent: node });
        self
    }

    /// Gives attributes to the section that was drawn last.
    pub fn attributes(&mut self, attributes: Attributes) -> &mut Self {
        let section = self.builder.run.sections.len() - 1;
        self.builder.run.section_attributes.push(SectionAttributes {
            section,
            attributes,
            session: None,
        });
        self
    }

    fn completed(
        &mut self,
        name: &str,
        kind: NodeKind,
        start_ns: u64,
        end_ns: u64,
        inner: impl FnOnce(&mut Within<'_>),
    ) -> &mut Self {
        assert!(start_ns <= end_ns, "{name}: a section ends after it starts");
        let node = self.node(name, kind);
        inner(&mut Within { builder: self.builder, parent: node });
        let thread = self.builder.thread;
        self.builder.run.sections.push(Section {
            thread,
            node,
            start_ns,
            end_ns,
            flow: 0,
            is_failed: false,
            has_pauses: false,
        });
        self
    }

    fn node(&mut self, name: &str, kind: NodeKind) -> u32 {
        let nodes = &mut self.builder.run.nodes;
        let node = Node { parent: Some(self.parent), name: name.into(), kind, is_detached: false };
        let id = nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        });
        u32::try_from(id).expect("few nodes in a drawing")
    }
}

fn totals(run: &Run) -> Vec<NodeTotals> {
    (0..run.nodes.len())
        .map(|node| {
            let calls: Vec<&Section> =
                run.sections.iter().filter(|s| s.node as usize == node).collect();
            let mut histogram = Histogram::default();
            for call in &calls {
                histogram.add(call.duration_ns());
            }
            let mut threads: Vec<u32> = calls.iter().map(|s| s.thread).collect();
            threads.sort_unstable();
            threads.dedup();
            let duration = |s: Option<&&Section>| s.map_or(0, |s| s.duration_ns());
            NodeTotals {
                count: calls.len() as u64,
                sum_ns: calls.iter().map(|s| s.duration_ns()).sum(),
                min_ns: calls.iter().map(|s| s.duration_ns()).min().unwrap_or(0),
                max_ns: calls.iter().map(|s| s.duration_ns()).max().unwrap_or(0),
                first_ns: duration(calls.iter().min_by_key(|s| s.start_ns)),
                last_ns: duration(calls.iter().max_by_key(|s| s.end_ns)),
                errors: calls.iter().filter(|s| s.is_failed).count() as u64,
                histogram: Some(histogram),
                n_threads: u32::try_from(threads.len()).expect("few threads in a drawing"),
            }
        })
        .collect()
}

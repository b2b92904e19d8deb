use super::*;
use marey_testing::RunBuilder;

/// Names of sections that belong to each session, and to none.
fn by_session(run: &Run) -> BTreeMap<String, Vec<String>> {
    let assignment = SessionAssignment::new(run);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (index, section) in run.sections.iter().enumerate() {
        let session = assignment.of_section(index);
        let session = session.map_or("none", |s| &run.sessions[s as usize].name);
        let name = run.nodes[section.node as usize].name.clone();
        found.entry(session.into()).or_default().push(name);
    }
    for names in found.values_mut() {
        names.sort();
    }
    found
}

fn drawn() -> Run {
    // time       0         10        20        30        40
    // session A  |--------------------------------|            begun in thread 1
    // session B                |------|                        begun in thread 2
    // session C           |-- C, in A ---|                     begun in thread 1
    // thread 1    |- a -|  |- c -|      |-- a --|   |- none -|
    // thread 2                  |- b -|
    // thread 3   |- a ---|       |none|           |none|
    // thread 4     |--- for B (said so) ----|
    //                   |- b -|
    RunBuilder::new()
        .session("A", 0, Some(33), vec![])
        .session("C", 9, Some(24), vec![])
        .section("a1", 1, 7, |_| {})
        .section("c1", 10, 16, |_| {})
        .section("a2", 25, 32, |_| {})
        .section("none1", 36, 40, |_| {})
        .thread("two")
        .session("B", 14, Some(21), vec![])
        .section("b1", 15, 20, |_| {})
        .thread("three")
        .section("a3", 0, 8, |_| {})
        .section("none2", 16, 20, |_| {})
        .section("none3", 34, 36, |_| {})
        .thread("four")
        .section("b2", 2, 26, |s| {
            s.section("b3", 7, 12, |_| {});
        })
        .with(|run| {
            run.sessions[1].parent = Some(0);
            let for_b = run.sections.len() - 1;
            run.section_attributes.push(marey::SectionAttributes {
                section: for_b,
                attributes: vec![],
                session: Some(2),
            });
        })
        .finish(40)
}

#[test]
fn sections_belong_to_the_sessions_of_the_drawing() {
    let found = by_session(&drawn());
    assert_eq!(found["A"], ["a1", "a2", "a3"]);
    assert_eq!(found["B"], ["b1", "b2", "b3"]);
    assert_eq!(found["C"], ["c1"]);
    assert_eq!(found["none"], ["none1", "none2", "none3"]);
}

#[test]
fn a_record_belongs_to_the_session_that_it_names_then_to_that_of_its_thread() {
    let run = drawn();
    let assignment = SessionAssignment::new(&run);
    // At 18, sessions A, C and B are open.
    assert_eq!(assignment.of_record(Some(2), Some(0), 18), Some(2));
    assert_eq!(assignment.of_record(None, Some(0), 18), Some(1));
    assert_eq!(assignment.of_record(None, Some(1), 18), Some(2));
    assert_eq!(assignment.of_record(None, Some(2), 18), None);
    assert_eq!(assignment.of_record(None, None, 18), None);
    // At 10, A and C are: one chain.
    assert_eq!(assignment.of_record(None, None, 10), Some(1));
    assert_eq!(assignment.of_record(None, Some(3), 38), None);
    // A session that the capture does not hold is none.
    assert_eq!(assignment.of_record(Some(9), None, 10), Some(1));
}

#[test]
fn a_session_within_a_section_of_another_is_the_inner_one() {
    // 0         10        20
    // |------ for A ------|
    //    |--- B, in A --|
    //      |- x -|
    let run = RunBuilder::new()
        .session("A", 0, Some(20), vec![])
        .session("B", 3, Some(18), vec![])
        .section("stage", 0, 20, |s| {
            s.section("x", 5, 10, |_| {});
        })
        .with(|run| {
            run.sessions[1].parent = Some(0);
            run.section_attributes.push(marey::SectionAttributes {
                section: 1,
                attributes: vec![],
                session: Some(0),
            });
        })
        .finish(20);
    let found = by_session(&run);
    assert_eq!((&found["A"][0], &found["B"][0]), (&"stage".into(), &"x".into()));
}

#[test]
fn tasks_of_one_thread_do_not_mix_their_sessions() {
    // 0         10        20
    // task 1 |-- session P --|    section p
    // task 2   |-- session Q --|  section q
    let mut run = RunBuilder::new()
        .session("P", 0, Some(16), vec![])
        .session("Q", 2, Some(18), vec![])
        .section("p", 3, 10, |_| {})
        .section("q", 4, 12, |_| {})
        .section("neither", 5, 6, |_| {})
        .finish(20);
    for (index, session) in run.sessions.iter_mut().enumerate() {
        session.flow = if index == 0 { 1 } else { 2 };
    }
    for section in &mut run.sections {
        section.flow = match run.nodes[section.node as usize].name.as_str() {
            "p" => 1,
            "q" => 2,
            _ => 3,
        };
    }
    let found = by_session(&run);
    assert_eq!((&found["P"][0], &found["Q"][0]), (&"p".into(), &"q".into()));
    assert_eq!(found["none"], ["neither"]);
}

#[test]
fn sessions_that_claim_to_be_nested_in_each_other_end_the_search() {
    let mut run = RunBuilder::new()
        .session("A", 0, Some(10), vec![])
        .session("B", 0, Some(10), vec![])
        .section("x", 1, 2, |_| {})
        .finish(10);
    run.sessions[0].parent = Some(1);
    run.sessions[1].parent = Some(0);
    assert!(SessionAssignment::new(&run).of_section(0).is_some());
}

/// The rules as they are written, with a look at everything for each section.
mod by_hand {
    use super::*;

    pub(super) fn of_section(run: &Run, index: usize) -> Option<u32> {
        let section = &run.sections[index];
        let said = |index: usize| {
            let given = run.section_attributes.iter();
            given.filter(|given| given.section == index).find_map(|given| given.session)
        };
        let time = Interval::of(section);
        let key = |index: usize| {
            let s = &run.sections[index];
            (s.start_ns, Reverse(s.end_ns), s.node, index)
        };
        let is_of_lane = |thread, flow| (thread, flow) == (section.thread, section.flow);
        // Whatever begins last encloses most closely, sessions at the same moment first.
        let sections = (0..run.sections.len())
            .filter(|other| key(*other) < key(index))
            .filter(|other| is_of_lane(run.sections[*other].thread, run.sections[*other].flow))
            .filter(|other| contains(Interval::of(&run.sections[*other]), time))
            .filter_map(|other| Some(((key(other).0, 1, Some(key(other))), said(other)?)));
        let sessions = (0..)
            .zip(&run.sessions)
            .filter(|(_, s)| is_of_lane(s.thread, s.flow))
            .filter(|(number, _)| contains(of_session(run, *number), time))
            .map(|(number, s)| ((s.start_ns, 0, None), number));
        let ends = |until: u64| {
            (0..).take(run.sessions.len()).filter(move |s| {
                let time_of = of_session(run, *s);
                let begins = time_of.start_ns <= time.start_ns || time_of.start_ns < until;
                begins && time_of.end_ns >= time.start_ns
            })
        };
        said(index)
            .or_else(|| Some(sections.chain(sessions).max_by_key(|(key, _)| *key)?.1))
            .or_else(|| only_one(run, &ends(time.end_ns).collect::<Vec<u32>>(), time))
    }

    fn only_one(run: &Run, open: &[u32], time: Interval) -> Option<u32> {
        let chain = |session: u32| {
            std::iter::successors(Some(session), |s| run.sessions[*s as usize].parent)
        };
        let lasting = open.iter().filter(|s| contains(of_session(run, **s), time));
        let innermost = *lasting
            .max_by_key(|s| (chain(**s).count(), run.sessions[**s as usize].start_ns, **s))?;
        let is_nested =
            |s: &u32| chain(*s).any(|o| o == innermost) || chain(innermost).any(|o| o == *s);
        open.iter().all(is_nested).then_some(innermost)
    }

    fn of_session(run: &Run, session: u32) -> Interval {
        let session = &run.sessions[session as usize];
        Interval { start_ns: session.start_ns, end_ns: session.end_ns.unwrap_or(run.wall_ns) }
    }
}

proptest::proptest! {
    #[test]
    fn the_sweep_finds_what_the_rules_say_of_each_section(
        sessions in proptest::collection::vec((0u64..40, proptest::option::of(0u64..30), 0u32..3, 0u16..2, 0u32..20), 0..12),
        sections in proptest::collection::vec((0u64..50, 0u64..20, 0u32..3, 0u16..2, proptest::option::of(0u32..12)), 0..24),
    ) {
        let mut builder = RunBuilder::new();
        let mut sorted = sessions;
        sorted.sort_unstable();
        for (start_ns, length_ns, ..) in &sorted {
            builder = builder.session("s", *start_ns, length_ns.map(|ns| start_ns + ns), vec![]);
        }
        for (start_ns, length_ns, ..) in &sections {
            builder = builder.section("x", *start_ns, start_ns + length_ns, |_| {});
        }
        let mut run = builder.finish(80);
        for (index, (session, (.., thread, flow, parent))) in (0u32..).zip(run.sessions.iter_mut().zip(&sorted)) {
            (session.thread, session.flow) = (*thread, *flow);
            session.parent = (*parent < index).then_some(*parent);
        }
        for (index, (section, (.., thread, flow, said))) in run.sections.iter_mut().zip(&sections).enumerate() {
            (section.thread, section.flow) = (*thread, *flow);
            let session = said.filter(|said| (*said as usize) < sorted.len());
            run.section_attributes.extend(session.map(|session| marey::SectionAttributes {
                section: index,
                attributes: vec![],
                session: Some(session),
            }));
        }
        let assignment = SessionAssignment::new(&run);
        for index in 0..run.sections.len() {
            let by_hand = by_hand::of_section(&run, index);
            proptest::prop_assert_eq!(assignment.of_section(index), by_hand, "section {}", index);
        }
    }
}

#[test]
fn what_a_thread_works_for_encloses_its_sections() {
    // time       0         10        20        30        40
    // session A  |--------------------|                         begun in thread 1
    // session B       |-------------------|                     begun in thread 1, too: not nested
    // worker      [- for A -]  [- for B -]                      tasks of an executor
    //              |-a-|        |--b--|     |- none -|
    //                     |none|
    // started         [- for B, as long as it lasts …           a thread
    //                  |-b-|          |--b--|   |- none -|
    let work = |session, thread, start_ns, end_ns| marey::SessionWork {
        session,
        thread,
        flow: 0,
        start_ns,
        end_ns,
    };
    let run = RunBuilder::new()
        .session("A", 0, Some(21), vec![])
        .session("B", 5, Some(25), vec![])
        .thread("worker")
        .section("a1", 2, 6, |_| {})
        .section("none1", 10, 13, |_| {})
        .section("b1", 15, 20, |_| {})
        .section("none2", 28, 36, |_| {})
        .thread("started")
        .section("b2", 6, 10, |_| {})
        .section("b3", 22, 27, |_| {})
        .section("none3", 30, 38, |_| {})
        .with(|run| {
            run.session_work =
                vec![work(1, 1, 14, Some(21)), work(0, 1, 1, Some(9)), work(1, 2, 5, None)];
        })
        .finish(40);
    let found = by_session(&run);
    assert_eq!(found["A"], ["a1"]);
    assert_eq!(found["B"], ["b1", "b2", "b3"]);
    assert_eq!(found["none"], ["none1", "none2", "none3"]);
}

#[test]
fn a_thread_that_was_started_in_a_session_serves_no_other_after_it() {
    // time       0         10        20        30        40
    // session A  |------------------|
    // session B    |--- in A --|                                begun in thread 1
    // session C                           |---------------|     begun in thread 1
    // started        |b|          |a|   |none|  |-none-|
    // bare                                      |--c--|
    let run = RunBuilder::new()
        .session("A", 0, Some(19), vec![])
        .session("B", 2, Some(13), vec![])
        .session("C", 25, Some(39), vec![])
        .thread("started")
        .section("b", 4, 6, |_| {})
        .section("a", 15, 17, |_| {})
        .section("none1", 21, 24, |_| {})
        .section("none2", 30, 36, |_| {})
        .thread("bare")
        .section("c", 30, 35, |_| {})
        .with(|run| {
            run.sessions[1].parent = Some(0);
            run.session_work = vec![marey::SessionWork {
                session: 1,
                thread: 1,
                flow: 0,
                start_ns: 3,
                end_ns: None,
            }];
        })
        .finish(40);
    let found = by_session(&run);
    assert_eq!(found["A"], ["a"]);
    assert_eq!(found["B"], ["b"]);
    assert_eq!(found["none"], ["none1", "none2"]);
    assert_eq!(found["C"], ["c"]);
    let assignment = SessionAssignment::new(&run);
    let of_started = |at_ns| assignment.of_record(None, Some(1), at_ns);
    assert_eq!([of_started(5), of_started(16), of_started(30)], [Some(1), Some(0), None]);
    assert_eq!(assignment.of_record(None, Some(2), 30), Some(2));
}

#[test]
fn a_generators_session_is_what_it_does_not_what_its_consumer_does() {
    // time        0         10        20        30
    // session G   |-----------------------------|     begun in thread 1, by a generator
    // runs        |------|       |------|             in thread 1
    //              |-g-|       |-n-| |----- g -----|
    // session H       |---------------------|         likewise, or the consumer would be alone with G
    let work = |start_ns, end_ns| marey::SessionWork {
        session: 0,
        thread: 0,
        flow: 0,
        start_ns,
        end_ns: Some(end_ns),
    };
    let run = RunBuilder::new()
        .session("G", 0, Some(30), vec![])
        .session("H", 4, Some(26), vec![])
        .section("g1", 1, 5, |_| {})
        .section("none1", 13, 17, |_| {})
        .section("g2", 19, 33, |_| {})
        .with(|run| {
            run.sessions.iter_mut().for_each(|session| session.flow = marey::Session::IN_NO_FLOW);
            run.session_work = vec![work(0, 7), work(15, 22)];
        })
        .finish(40);
    let found = by_session(&run);
    assert_eq!(found["G"], ["g1", "g2"]);
    assert_eq!(found["none"], ["none1"]);
    assert_eq!(SessionAssignment::new(&run).of_record(None, Some(0), 10), None);
}

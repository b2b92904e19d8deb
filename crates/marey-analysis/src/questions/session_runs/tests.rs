use super::*;
use crate::telemetry;
use marey::{
    Generation, GenerationRecord, GpuSpan, ModelParameters, SeriesInfo, Status, StreamingEvent,
    Unit, Window,
};
use marey_testing::RunBuilder;

const SECOND: u64 = 1_000_000_000;

fn names(run: &Run) -> Vec<&str> {
    let names = run.sections.iter();
    names.map(|s| run.nodes[s.node as usize].name.as_str()).collect()
}

#[test]
fn three_sessions_in_a_row_have_their_own_readings() {
    // Twelve readings of memory, four in each session: the original said 4, 8, 12.
    let readings: Vec<(u64, f64)> = (0..12).map(|n| (n * 10 + 5, 1.0)).collect();
    let run = RunBuilder::new()
        .session("first", 0, Some(40), vec![])
        .session("second", 40, Some(80), vec![])
        .session("third", 80, Some(120), vec![])
        .series(SeriesInfo::gauge("host.memory.used", "", Unit::Bytes), &readings)
        .finish(120);
    let runs = SessionRuns::new(&run);
    let counts: Vec<u64> = (0..3)
        .map(|index| {
            let session = runs.get(index).unwrap().run;
            telemetry(&session).memory.unwrap().used.unwrap().n_readings
        })
        .collect();
    assert_eq!(counts, [4, 4, 4]);
    assert_eq!(runs.get(3), None);
}

#[test]
fn a_session_begins_at_zero_and_lasts_as_long_as_it_did() {
    // run       0         10        20        30
    // session         |------ A ------|
    // sections    |-- none --|
    //                    |- in A -|
    let run = RunBuilder::new()
        .with(|run| run.info.start_unix_ns = 1_000)
        .thread("worker")
        .section("none", 2, 13, |_| {})
        .section("in A", 19 - 10, 9 + 8, |_| {})
        .session("A", 6, Some(22), vec![])
        .event("ready", 10, vec![])
        .finish(30);
    let session = SessionRuns::new(&run).get(0).unwrap();
    let found = &session.run;
    assert_eq!((found.info.start_unix_ns, found.wall_ns), (1_006, 16));
    assert_eq!(found.status, Status::Finished);
    assert_eq!(names(found), ["in A"]);
    assert_eq!((found.sections[0].start_ns, found.sections[0].end_ns), (3, 11));
    assert_eq!(found.events[0].at_ns, 4);
    let sections = session.sections();
    assert_eq!(sections.tree.len(), 1);
    assert_eq!(sections.tree[0].share_of_wall_ratio, Some(0.5));
    assert_eq!(sections.under_no_section, UnderNoSection::Known(8));
    assert_eq!(sections.tree[0].calls.first_ns, Some(8));
}

#[test]
fn two_sessions_on_two_threads_do_not_bleed_into_each_other() {
    let frames = |frames| {
        Generation::Streaming(StreamingEvent { frames: Some(frames), ..StreamingEvent::default() })
    };
    // session P  |----------------|   thread one
    // session Q     |----------------|   thread two
    let run = RunBuilder::new()
        .session("P", 0, Some(20), vec![])
        .section("p", 5, 15, |_| {})
        .event("p event", 8, vec![])
        .generation(9, None, frames(1))
        .thread("two")
        .session("Q", 3, Some(23), vec![])
        .section("q", 5, 15, |_| {})
        .event("q event", 8, vec![])
        .generation(9, None, frames(2))
        .finish(30);
    let runs = SessionRuns::new(&run);
    for (index, name) in [(0, "p"), (1, "q")] {
        let found = runs.get(index).unwrap().run;
        assert_eq!(names(&found), [name]);
        assert_eq!(found.events.len(), 1);
        assert_eq!(found.events[0].name, format!("{name} event"));
        assert_eq!(found.generation[0].what, frames(index as u64 + 1));
        let counted: u64 = found.totals.iter().map(|t| t.count).sum();
        assert_eq!(counted, 1);
    }
}

/// ```text
/// time       0         10        20        30        40
/// session A      |--------|                               first
/// session B                        |-----------|          second
///   C, in B                          |--|                 third
/// models      vae   dit        unet  lora        late     dit: for A   lora: for B
/// ```
#[test]
fn a_model_of_no_session_is_in_every_session_that_ends_after_it() {
    let model = |name: &str| {
        Generation::Model(ModelParameters { name: name.into(), ..ModelParameters::default() })
    };
    let run = RunBuilder::new()
        .session("A", 4, Some(13), vec![])
        .session("B", 22, Some(34), vec![])
        .session("C", 26, Some(29), vec![])
        .with(|run| run.sessions[2].parent = Some(1))
        .generation(1, None, model("vae"))
        .generation(6, Some(0), model("dit"))
        .generation(18, None, model("unet"))
        .generation(24, Some(1), model("lora"))
        .generation(36, None, model("late"))
        .finish(40);
    let runs = SessionRuns::new(&run);
    let models = |runs: &SessionRuns<'_>, session| {
        let found = runs.get(session).unwrap().run;
        let of = |record: &GenerationRecord| match &record.what {
            Generation::Model(model) => (model.name.clone(), record.at_ns),
            other => panic!("{other:?}"),
        };
        found.generation.iter().map(of).collect::<Vec<_>>()
    };
    let named = |names: &[(&str, u64)]| {
        let each = names.iter().map(|(name, at_ns)| ((*name).to_owned(), *at_ns));
        each.collect::<Vec<_>>()
    };
    assert_eq!(models(&runs, 0), named(&[("vae", 0), ("dit", 2)]));
    let of_b = named(&[("vae", 0), ("unet", 0), ("lora", 2)]);
    assert_eq!(models(&runs, 1), of_b);
    let of_c = named(&[("vae", 0), ("unet", 0), ("lora", 0)]);
    assert_eq!(models(&runs, 2), of_c);
    // The same by way of the session around it.
    let b = runs.get(1).unwrap();
    assert_eq!(models(&SessionRuns::within(&b), 1), of_c);
}

/// ```text
/// session A        |-------------|          10 to 30
/// decode         |-- 5 to 9 --|  |-- 12 to 20 --|
/// GPU                  ^ of the first    ^ of the second, 3 later, 4 long
/// window                        opened 14, stopped 16
/// ```
#[test]
fn gpu_time_goes_with_its_section_and_a_window_with_the_moment_it_was_opened() {
    let span = |node, start_ns| GpuSpan {
        thread: 0,
        node,
        start_ns,
        device: 0,
        stream: 0,
        delay_ns: Some(3),
        gpu_ns: 4,
        error_ns: None,
    };
    let run = RunBuilder::new()
        .session("A", 10, Some(30), vec![])
        .section("decode", 5, 9, |_| {})
        .section("decode", 12, 20, |_| {})
        .with(|run| {
            run.gpu_spans = vec![span(1, 5), span(1, 12)];
            run.windows.push(Window { opened_ns: 14, stopped_ns: Some(16), ..Window::default() });
        })
        .finish(40);
    let found = SessionRuns::new(&run).get(0).unwrap().run;
    assert_eq!(found.gpu_spans, [span(1, 2)]);
    assert_eq!(found.windows.len(), 1);
    let window = &found.windows[0];
    assert_eq!((window.opened_ns, window.stopped_ns), (4, Some(6)));
}

#[test]
fn what_is_nested_counts_for_its_parent_too() {
    let run = RunBuilder::new()
        .session("outer", 0, Some(20), vec![])
        .session("inner", 5, Some(15), vec![])
        .section("before", 1, 4, |_| {})
        .section("within", 6, 9, |s| {
            s.section("deeper", 7, 8, |_| {}).attributes(vec![("n".into(), 1i64.into())]);
        })
        .with(|run| run.sessions[1].parent = Some(0))
        .finish(20);
    let runs = SessionRuns::new(&run);
    let outer = runs.get(0).unwrap().run;
    assert_eq!(names(&outer), ["before", "deeper", "within"]);
    assert_eq!(outer.sessions[1].parent, Some(0));
    let inner = runs.get(1).unwrap().run;
    assert_eq!(names(&inner), ["deeper", "within"]);
    assert_eq!(inner.section_attributes[0].section, 0);
    let sessions: Vec<_> = inner.sessions.iter().map(|s| (&s.name, s.parent)).collect();
    assert_eq!(sessions, [(&"inner".to_owned(), None)]);
}

#[test]
fn energy_of_sessions_in_a_row_is_that_of_the_run() {
    let power: Vec<(u64, f64)> = (0..40).map(|n| (SECOND / 4 + n * SECOND / 2, 100.0)).collect();
    let run = RunBuilder::new()
        .session("first", 0, Some(10 * SECOND), vec![])
        .session("second", 10 * SECOND, Some(20 * SECOND), vec![])
        .series(SeriesInfo::gauge("gpu.power", "GPU-1", Unit::Watts), &power)
        .finish(20 * SECOND);
    let joules = |run: &Run| telemetry(run).gpus.unwrap().together.energy.unwrap().joules;
    let runs = SessionRuns::new(&run);
    assert_eq!(joules(&runs.get(0).unwrap().run), 1000.0);
    assert_eq!(joules(&runs.get(1).unwrap().run), 1000.0);
    assert_eq!(joules(&run), 2000.0);
}

#[test]
fn a_bucket_across_the_edge_of_a_session_is_in_none() {
    let mut run = RunBuilder::new()
        .session("A", 10, None, vec![])
        .series(
            SeriesInfo::gauge("host.memory.used", "", Unit::Bytes),
            &[(5, 1.0), (15, 2.0), (25, 3.0)],
        )
        .finish(30);
    run.series[0].points[0].last_ns = 12;
    let found = SessionRuns::new(&run).get(0).unwrap().run;
    assert_eq!(found.series[0].points.len(), 2);
    assert_eq!(found.series[0].points[0].first_ns, 5);
    assert_eq!((found.wall_ns, found.status), (20, run.status));
}

#[test]
fn a_session_of_a_run_that_dropped_sections_does_not_claim_shares() {
    let mut run = RunBuilder::new()
        .session("A", 0, Some(20), vec![])
        .section("generate", 0, 20, |s| {
            s.section("step", 1, 5, |_| {});
        })
        .section("load", 20, 30, |_| {})
        .finish(30);
    run.losses.sections_ring_full = 3;
    run.totals[2].count += 3;
    let found = SessionRuns::new(&run).get(0).unwrap();
    assert_eq!(found.n_sections_missing, 3);
    let sections = found.sections();
    let unknown = UnderNoSection::Unknown(NotAvailable::NotRecordedOneByOne(3));
    assert_eq!(sections.under_no_section, unknown);
    let [generate, step] = &sections.tree[..] else {
        panic!("{sections:?}");
    };
    assert_eq!((generate.share_of_wall_ratio, generate.self_ns), (Some(1.0), None));
    assert_eq!((step.share_of_wall_ratio, step.self_ns), (None, None));
}

#[test]
fn a_peak_of_before_the_session_is_not_the_sessions() {
    // session        |------ early ------|     |---- late ----|    |- grows -|      early reads 500 at its end
    // counted   100  500            500        500        500      500  600
    // resident   90  200            480        110        120      130  580
    let counted = SeriesInfo::gauge("process.memory.peak", "", Unit::Bytes);
    let resident = SeriesInfo::gauge("process.memory.resident", "", Unit::Bytes);
    let times = [1, 5, 12, 21, 29, 41, 48];
    let at = |values: [f64; 7]| -> Vec<(u64, f64)> { times.into_iter().zip(values).collect() };
    let run = RunBuilder::new()
        .session("early", 2, Some(15), vec![])
        .session("late", 20, Some(30), vec![])
        .session("grows", 40, Some(50), vec![])
        .series(counted, &at([100.0, 500.0, 500.0, 500.0, 500.0, 500.0, 600.0]))
        .series(resident, &at([90.0, 200.0, 480.0, 110.0, 120.0, 130.0, 580.0]))
        .with(|run| {
            run.sessions[0].used =
                Some(marey::Resources { peak_bytes: Some(500), ..marey::Resources::default() });
        })
        .finish(60);
    let runs = SessionRuns::new(&run);
    let peak = |session: usize| {
        let its = runs.get(session).unwrap().run;
        let memory = crate::telemetry(&its).memory.unwrap();
        memory.process_resident.unwrap().max
    };
    assert_eq!([peak(0), peak(1), peak(2)], [500.0, 120.0, 600.0]);
}

#[test]
fn a_peak_between_two_sessions_readings_is_neither_ones_that_did_not_read_it() {
    // session    |------- makes it -------|------- after it -------|     400 between the two readings around the edge
    // counted        30              30                 400
    // resident       30              30                  31
    let series = |name: &str| SeriesInfo::gauge(name, "", Unit::Bytes);
    let run = RunBuilder::new()
        .session("makes it", 0, Some(20), vec![])
        .session("after it", 20, Some(40), vec![])
        .series(series("process.memory.peak"), &[(4, 30.0), (18, 30.0), (34, 400.0)])
        .series(series("process.memory.resident"), &[(4, 30.0), (18, 30.0), (34, 31.0)])
        .finish(40);
    let peak = |run: &Run, session: usize| {
        let its = SessionRuns::new(run).get(session).unwrap().run;
        let memory = crate::telemetry(&its).memory.unwrap();
        memory.process_resident.unwrap().max
    };
    assert_eq!([peak(&run, 0), peak(&run, 1)], [30.0, 31.0]);
    let mut read = run;
    for (session, peak_bytes) in read.sessions.iter_mut().zip([Some(400), None]) {
        session.used = Some(marey::Resources { peak_bytes, ..marey::Resources::default() });
    }
    assert_eq!([peak(&read, 0), peak(&read, 1)], [400.0, 31.0]);
}

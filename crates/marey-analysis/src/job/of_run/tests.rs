use marey::{
    BlockComputation, DiffusionStep, Generation, GpuSpan, OpenSection, Run, SectionAttributes,
    SeriesInfo, Status, Unit, Value,
};
use marey_testing::RunBuilder;

use crate::intervals::Interval;
use crate::job::{CollectiveSums, Ended, RankSummary, StagePiece};

fn of(run: &Run) -> RankSummary {
    RankSummary::of_run(run, "rank0-1.marey")
}

fn interval(start_ns: u64, end_ns: u64) -> Interval {
    Interval { start_ns, end_ns }
}

/// Gives the call that began then attributes.
fn say(run: &mut Run, start_ns: u64, given: &[(&str, Value)]) {
    let mut sections = run.sections.iter();
    let section = sections.position(|s| s.start_ns == start_ns).unwrap();
    let attributes = given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    run.section_attributes.push(SectionAttributes { section, attributes, session: None });
    run.section_attributes.sort_by_key(|given| given.section);
}

fn said<'a>(summary: &'a RankSummary, name: &str) -> &'a CollectiveSums {
    let mut each = summary.collectives.iter();
    each.find(|sums| sums.name == name).unwrap()
}

#[test]
fn what_a_process_says_of_itself_is_kept() {
    let mut run = RunBuilder::new().section("load", 0, 40, |_| {}).finish(100);
    run.info.job_id = "j".into();
    run.info.rank = Some(3);
    run.info.world_size = Some(8);
    run.info.local_rank = Some(1);
    run.info.host = "node1".into();
    run.info.pid = 1;
    run.info.start_unix_ns = 7;
    run.info.facts = [("marey", "0.1.0"), ("boot_id", "b"), ("forked_from", "9")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .to_vec();
    run.status = Status::Killed(9);
    run.losses.sections_ring_full = 2;
    run.losses.notes_dropped = 3;
    let found = of(&run);
    assert_eq!(found.process.rank, Some(3));
    assert_eq!(found.process.world_size, Some(8));
    assert_eq!(found.process.local_rank, Some(1));
    assert_eq!(found.process.forked_from, Some(9));
    assert_eq!((found.process.job_id.as_str(), found.process.host.as_str()), ("j", "node1"));
    assert_eq!((found.process.pid, found.process.start_unix_ns), (1, 7));
    assert_eq!(found.marey.as_deref(), Some("0.1.0"));
    assert_eq!(found.ended, Ended::Killed(9));
    assert_eq!((found.wall_ns, found.n_lost), (100, 5));
}

#[test]
fn sections_are_summed_by_their_path() {
    // denoise |----------------|       |------|
    //   step    |0-5|  |5-15|
    // decode                      open since 70
    let mut run = RunBuilder::new()
        .section("denoise", 0, 20, |s| {
            s.iteration("step", 0, 5, |_| {});
            s.iteration("step", 5, 15, |_| {});
        })
        .section("denoise", 40, 50, |_| {})
        .open("decode", 70, |_| {})
        .finish(100);
    run.sections[0].is_failed = true;
    let found = of(&run);
    let path = |names: &[&str]| -> Vec<String> { names.iter().map(|n| (*n).to_owned()).collect() };
    let rows: Vec<_> = found.sections.iter().map(|s| &s.path).collect();
    assert_eq!(rows, [&path(&["decode"]), &path(&["denoise"]), &path(&["denoise", "step"])]);
    let [decode, denoise, step] = &found.sections[..] else { panic!() };
    assert_eq!((decode.count, decode.open_ns), (0, Some(30)));
    assert_eq!((denoise.count, denoise.total_ns), (2, 30));
    assert_eq!((denoise.min_ns, denoise.max_ns), (10, 20));
    assert!(step.is_iteration && !denoise.is_iteration);
    let durations = crate::job::LogBuckets::sum(&step.durations);
    assert_eq!(durations.count(), 2);
    // Between 5 and 10.
    assert_eq!(durations.quantile(0.5), Some(7));
}

#[test]
fn of_many_call_paths_those_with_the_most_time_stay() {
    let mut builder = RunBuilder::new();
    for n in 0..300_u64 {
        let name = format!("s{n:03}");
        builder = builder.section(&name, n * 1000, n * 1000 + n + 1, |_| {});
    }
    let found = of(&builder.finish(400_000));
    assert_eq!(found.sections.len(), RankSummary::MAX_SECTIONS);
    assert_eq!(found.sections[0].path, ["s044"]);
}

#[test]
fn communication_is_what_lies_within_a_turn() {
    // time        0         10        20        30
    // step        |--- 0 ---|         |--- 1 ---|
    // all_reduce     |----|      |-------|
    // waiting                               |----|   for all_gather, begun at 21
    let mut run = RunBuilder::new()
        .iteration("denoising_step", 0, 10, |s| {
            s.section("all_reduce", 3, 8, |_| {});
        })
        .section("all_reduce", 15, 18, |_| {})
        .iteration("denoising_step", 20, 30, |s| {
            s.section("all_reduce", 20, 23, |_| {});
            s.section("all_gather", 24, 25, |_| {});
            s.section("wait", 26, 30, |_| {});
        })
        .finish(40);
    let group = ("group", Value::Text("world".into()));
    for start_ns in [3, 15] {
        let size = ("group_size", Value::Int(4));
        say(&mut run, start_ns, &[group.clone(), size, ("bytes", Value::Int(100))]);
    }
    say(&mut run, 24, &[("is_async", Value::Bool(true))]);
    say(&mut run, 26, &[("collective", Value::Text("all_gather".into()))]);
    let found = of(&run);
    let steps = found.steps.as_ref().unwrap();
    assert_eq!((steps.count, steps.per_cell, steps.median_ns), (2, 1, Some(10)));
    let [first, second] = steps.cells[..] else { panic!() };
    assert_eq!((first.start_ns, first.end_ns), (0, 10));
    assert_eq!(first.communication_ns, Some(5));
    // 20 to 23, 24 to 25, 26 to 30.
    assert_eq!(second.communication_ns, Some(8));
    assert!(first.is_warm_up && !second.is_warm_up);
    let whole = found.collectives.iter().find(|c| c.group.is_some()).unwrap();
    assert_eq!(whole.calls, [interval(3, 8), interval(15, 18)]);
    assert_eq!((whole.group_size, whole.bytes), (Some(4), Some(200)));
    assert!(whole.is_synchronising && !whole.is_device);
    assert!(!said(&found, "all_gather begin").is_synchronising);
    let wait = said(&found, "all_gather wait");
    assert_eq!((wait.calls[0], wait.is_synchronising), (interval(26, 30), false));
}

#[test]
fn a_call_that_failed_moved_nothing_and_is_counted_apart() {
    // all_reduce   |3|   |------- 1 000: another rank is gone ------- x
    let mut run = RunBuilder::new()
        .section("all_reduce", 0, 3, |_| {})
        .section("all_reduce", 10, 1010, |_| {})
        .finish(1010);
    say(&mut run, 0, &[("group", Value::Text("world".into()))]);
    // Only the one that failed says how large the group is.
    say(&mut run, 10, &[("group", Value::Text("world".into())), ("group_size", Value::Int(3))]);
    run.sections[1].is_failed = true;
    let found = of(&run);
    let sums = said(&found, "all_reduce");
    assert_eq!((sums.count, sums.total_ns), (1, 3));
    assert_eq!(sums.group_size, Some(3));
    assert_eq!(sums.calls, [interval(0, 3)]);
    assert_eq!((sums.n_failed, sums.failed_ns), (1, 1000));
}

#[test]
fn the_time_of_a_failed_call_is_neither_communication_nor_own_work_of_its_turn() {
    // time        0     3  5                    26  30
    // step        |----------------- 0 ------------------|
    // all_reduce     |--|
    // barrier           |------ 20: gives up ----x
    // wait                  |-|                             within the failed one, and succeeds: 9 to 11
    let mut run = RunBuilder::new()
        .iteration("denoising_step", 0, 30, |s| {
            s.section("all_reduce", 3, 5, |_| {});
            s.section("barrier", 6, 26, |s| {
                s.section("wait", 9, 11, |_| {});
            });
        })
        .finish(30);
    let about = ("collective", Value::Text("all_gather".into()));
    say(&mut run, 9, &[about]);
    let failed = run.sections.iter_mut().find(|s| s.start_ns == 6).unwrap();
    failed.is_failed = true;
    let step = of(&run).steps.unwrap().cells[0];
    // 3 to 5 and 9 to 11; of 20 the other 18.
    assert_eq!((step.communication_ns, step.failed_ns), (Some(4), 18));
}

#[test]
fn a_common_name_is_a_collective_only_where_a_call_says_its_group() {
    let mut run = RunBuilder::new()
        .section("gather", 0, 10, |_| {})
        .section("wait", 12, 14, |_| {})
        .section("send", 20, 30, |_| {})
        .section("send", 40, 50, |_| {})
        .finish(60);
    assert!(of(&run).collectives.is_empty());
    say(&mut run, 40, &[("group", Value::Text("pp".into()))]);
    let found = of(&run);
    let counts: Vec<(Option<&str>, u64)> =
        found.collectives.iter().map(|sums| (sums.group.as_deref(), sums.count)).collect();
    assert_eq!(counts, [(None, 1), (Some("pp"), 1)]);
}

#[test]
fn the_time_on_a_device_stands_where_each_call_has_one() {
    // host     |-|             |-|
    // device     |--- 20 ---|     |-- 10 --|
    let mut run = RunBuilder::new()
        .section("all_reduce", 0, 2, |_| {})
        .section("all_reduce", 50, 52, |_| {})
        .finish(100);
    let node = run.sections[0].node;
    let span = |start_ns, delay_ns, gpu_ns| GpuSpan {
        thread: 0,
        node,
        start_ns,
        device: 0,
        stream: 0,
        delay_ns,
        gpu_ns,
        error_ns: None,
    };
    run.gpu_spans = vec![span(0, Some(5), 20)];
    let found = of(&run);
    let host = said(&found, "all_reduce");
    // The second call was not measured: the host's times stand, which tell nothing about when all had come.
    assert!(!host.is_device && !host.is_synchronising);
    assert_eq!(host.calls, [interval(0, 2), interval(50, 52)]);
    run.gpu_spans.push(span(50, Some(5), 10));
    let found = of(&run);
    let device = said(&found, "all_reduce");
    assert!(device.is_device && device.is_synchronising);
    assert_eq!(device.calls, [interval(5, 25), interval(55, 65)]);
    run.gpu_spans[1].delay_ns = None;
    assert!(!said(&of(&run), "all_reduce").is_synchronising);
}

#[test]
fn marks_are_moments_and_no_calls() {
    let run = RunBuilder::new()
        .event("start_mark", 7, Vec::new())
        .event("other", 9, Vec::new())
        .event("start_mark", 30, Vec::new())
        .finish(40);
    let found = of(&run);
    assert_eq!((&found.marks[..], found.n_marks_left_out), (&[7, 30][..], 0));
    assert!(found.collectives.is_empty());
}

#[test]
fn of_many_marks_the_first_are_kept_and_the_others_counted() {
    let drawn =
        (0..260).fold(RunBuilder::new(), |drawn, at| drawn.event("start_mark", at, Vec::new()));
    let found = of(&drawn.finish(2000));
    assert_eq!((found.marks.len(), found.marks.last()), (256, Some(&255)));
    assert_eq!(found.n_marks_left_out, 4);
}

#[test]
fn many_turns_share_cells() {
    let mut builder = RunBuilder::new();
    for n in 0..513 {
        builder = builder.iteration("denoising_step", n * 10, n * 10 + 4, |_| {});
    }
    let steps = of(&builder.finish(6000)).steps.unwrap();
    assert_eq!((steps.count, steps.per_cell, steps.cells.len()), (513, 2, 257));
    assert_eq!((steps.cells[0].start_ns, steps.cells[0].end_ns), (0, 14));
    assert_eq!((steps.cells[0].total_ns, steps.cells[256].total_ns), (8, 4));
    assert_eq!(steps.cells[0].communication_ns, None);
}

#[test]
fn the_first_step_and_block_of_a_run_warm_up_whatever_is_generated_later() {
    // block   |-- 0 --||-- 1 --|  |-- 0 --|
    // step     0  1     0  1       0  1
    let step = |step, ns| {
        Generation::Step(DiffusionStep {
            step: Some(step),
            computation_ns: Some(ns),
            ..DiffusionStep::default()
        })
    };
    let block = |index, ns| {
        Generation::Block(BlockComputation {
            index: Some(index),
            computation_ns: Some(ns),
            ..BlockComputation::default()
        })
    };
    let run = RunBuilder::new()
        .generation(4, None, step(0, 4))
        .generation(8, None, step(1, 3))
        .generation(10, None, block(0, 10))
        .generation(14, None, step(0, 3))
        .generation(18, None, step(1, 3))
        .generation(20, None, block(1, 10))
        .generation(34, None, step(0, 4))
        .generation(38, None, step(1, 3))
        .generation(40, None, block(0, 10))
        .finish(50);
    let found = of(&run);
    let steps = found.steps.unwrap();
    let warm: Vec<bool> = steps.cells.iter().map(|cell| cell.is_warm_up).collect();
    assert_eq!(warm, [true, false, false, false, false, false]);
    assert_eq!(steps.median_ns, Some(3));
    let blocks = found.blocks.unwrap();
    let warm: Vec<bool> = blocks.cells.iter().map(|cell| cell.is_warm_up).collect();
    assert_eq!(warm, [true, false, false]);
}

/// What ran when.
fn pieces(of: &RankSummary) -> Vec<(&str, u64, u64)> {
    let named = |piece: &StagePiece| {
        let name = of.stage_names[piece.name as usize].as_str();
        (name, piece.start_ns, piece.end_ns)
    };
    of.stages.iter().map(named).collect()
}

#[test]
fn stages_are_the_outermost_sections_of_the_main_thread() {
    let mut run = RunBuilder::new()
        .section("text", 0, 10, |_| {})
        .iteration("generation", 10, 90, |s| {
            s.section("denoise", 10, 60, |s| {
                s.section("attention", 12, 20, |_| {});
            });
            s.section("decode", 65, 80, |_| {});
        })
        .thread("writer")
        .section("write", 0, 100, |_| {})
        .finish(120);
    run.open = vec![OpenSection {
        thread: Some(0),
        node: run.sections[0].node,
        start_ns: 100,
        until_ns: 120,
    }];
    let first = run.sections.iter().find(|s| s.start_ns == 0).unwrap().node;
    run.open[0].node = first;
    assert_eq!(
        pieces(&of(&run)),
        [("text", 0, 10), ("denoise", 10, 60), ("decode", 65, 80), ("text", 100, 120)]
    );
}

#[test]
fn collectives_are_shown_wherever_they_lie() {
    // text        |----|
    // denoise          |--------------------|
    //   attention        |-----|                  54 of 94 are no nearly all: what lies below does not show
    //   all_reduce             |--|
    //   wait                         |-|          says for no collective
    // decode                                |-----|
    // barrier                                     |-- open
    let mut run = RunBuilder::new()
        .section("text", 0, 10, |_| {})
        .section("denoise", 10, 70, |s| {
            s.iteration("step", 12, 60, |s| {
                s.section("attention", 12, 20, |_| {});
                s.section("all_reduce", 20, 26, |_| {});
                s.section("wait", 30, 40, |_| {});
            });
        })
        .section("decode", 70, 100, |_| {})
        .open("evaluate", 100, |s| {
            s.open("barrier", 100, |_| {});
        })
        .finish(110);
    for open in &mut run.open {
        open.thread = Some(0);
    }
    assert_eq!(
        pieces(&of(&run)),
        [
            ("text", 0, 10),
            ("denoise", 10, 20),
            ("all_reduce", 20, 26),
            ("denoise", 26, 70),
            ("decode", 70, 100),
            ("barrier", 100, 110)
        ]
    );
}

#[test]
fn a_section_that_is_nearly_all_shows_what_lies_below() {
    // run            |------------------------------------|   all
    //   denoise      |--------------------------------|       94 of 100, 4 of them by itself
    //     attention  |--------------|  |----------|           40 + 20
    //     mlp                                     |---|       30
    //   decode                                        |---|
    let run = RunBuilder::new()
        .section("run", 0, 100, |s| {
            s.section("denoise", 0, 94, |s| {
                s.iteration("step", 0, 94, |s| {
                    s.section("attention", 0, 40, |s| {
                        s.section("softmax", 0, 40, |_| {});
                    });
                    s.section("attention", 44, 64, |_| {});
                    s.section("mlp", 64, 94, |_| {});
                });
            });
            s.section("decode", 94, 100, |_| {});
        })
        .finish(100);
    assert_eq!(
        pieces(&of(&run)),
        [("attention", 0, 40), ("attention", 44, 64), ("mlp", 64, 94), ("decode", 94, 100)]
    );
}

#[test]
fn what_is_little_below_nearly_all_does_not_stand_for_it() {
    // denoise   |-------------------------|   100
    //   log           |--|                    15, or 5
    let of_log = |end_ns| {
        let run = RunBuilder::new().section("denoise", 0, 100, |s| {
            s.section("log", 20, end_ns, |_| {});
        });
        of(&run.finish(100))
    };
    assert_eq!(pieces(&of_log(35)), [("denoise", 0, 20), ("log", 20, 35), ("denoise", 35, 100)]);
    assert_eq!(pieces(&of_log(25)), [("denoise", 0, 100)]);
}

#[test]
fn a_rank_that_waits_is_shown_like_one_that_does_not() {
    // denoise 85, of which attention 80; decode 15; in between it waits for 5 or for 100, which would make 92 % of denoise.
    let waits = |wait_ns: u64| {
        let run = RunBuilder::new()
            .section("denoise", 0, 85 + wait_ns, |s| {
                s.section("attention", 0, 80, |_| {});
                s.section("all_reduce", 80, 80 + wait_ns, |_| {});
            })
            .section("decode", 85 + wait_ns, 100 + wait_ns, |_| {});
        of(&run.finish(100 + wait_ns))
    };
    for wait_ns in [5, 100] {
        let found = waits(wait_ns);
        let names: Vec<&str> = pieces(&found).iter().map(|piece| piece.0).collect();
        assert_eq!(names, ["denoise", "all_reduce", "denoise", "decode"]);
    }
}

#[test]
fn turns_stand_where_there_are_only_collectives_in_them() {
    let run = RunBuilder::new()
        .iteration("step", 0, 10, |s| {
            s.section("all_reduce", 7, 10, |_| {});
        })
        .iteration("step", 20, 30, |s| {
            s.section("all_reduce", 22, 30, |_| {});
        });
    assert_eq!(
        pieces(&of(&run.finish(30))),
        [("step", 0, 7), ("all_reduce", 7, 10), ("step", 20, 22), ("all_reduce", 22, 30)]
    );
}

#[test]
fn of_many_pieces_stages_and_collectives_keep_their_time() {
    // 3 000 times attention 7, all_reduce 2, nothing 1.
    let mut builder = RunBuilder::new();
    for n in 0..3000 {
        builder = builder.section("attention", n * 10, n * 10 + 7, |_| {}).section(
            "all_reduce",
            n * 10 + 7,
            n * 10 + 9,
            |_| {},
        );
    }
    let found = of(&builder.finish(30_000));
    let pieces = pieces(&found);
    assert!((128..=RankSummary::MAX_PIECES).contains(&pieces.len()));
    assert!(pieces.windows(2).all(|two| two[0].2 <= two[1].1));
    let time_of = |name: &str| -> u64 {
        let named = pieces.iter().filter(|piece| piece.0 == name);
        named.map(|(_, start_ns, end_ns)| end_ns - start_ns).sum()
    };
    assert_eq!((time_of("attention"), time_of("all_reduce")), (21_000, 6000));
}

#[test]
fn of_many_stages_each_stretch_shows_the_one_with_most_of_it() {
    // a and b by turns, 9 and 1 of ten, 3 000 times; then c. 256 stretches of 234 and a bit hold 23 iterations each.
    let mut builder = RunBuilder::new();
    for n in 0..3000 {
        builder = builder.section("a", n * 10, n * 10 + 9, |_| {}).section(
            "b",
            n * 10 + 9,
            n * 10 + 10,
            |_| {},
        );
    }
    let found = of(&builder.section("c", 30_000, 60_000, |_| {}).finish(60_000));
    assert_eq!(found.stage_names, ["a", "c"]);
    let width_ns = 60_000_u64.div_ceil(256);
    let border_ns = 30_000 / width_ns * width_ns;
    assert_eq!(
        found.stages,
        [
            StagePiece { name: 0, start_ns: 0, end_ns: found.stages[0].end_ns },
            StagePiece { name: 1, start_ns: found.stages[0].end_ns, end_ns: 60_000 },
        ]
    );
    let border = found.stages[0].end_ns;
    assert!(border == border_ns || border == border_ns + width_ns);
}

#[test]
fn gpus_and_memory_are_read_from_series() {
    let run = RunBuilder::new()
        .series(
            SeriesInfo::gauge("gpu.memory.used", "GPU-1", Unit::Bytes),
            &[(0, 100.0), (10, 300.0)],
        )
        .series(SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio), &[(0, 0.5), (10, 1.0)])
        .finish(10);
    let found = of(&run).machine;
    let [gpu] = &found.gpus[..] else { panic!() };
    assert_eq!(gpu.uuid, "GPU-1");
    let memory = gpu.memory_bytes.unwrap();
    assert_eq!((memory.min, memory.mean, memory.max), (100.0, 200.0, 300.0));
    assert_eq!(gpu.utilization_ratio.unwrap().max, 1.0);
    assert_eq!(gpu.power_watts, None);
    assert_eq!(found.host_cpu_ratio, None);
}

#[test]
fn an_empty_run_comes_to_nothing() {
    let found = of(&Run::default());
    assert_eq!(found.ended, Ended::WithoutClosing);
    assert!(found.sections.is_empty() && found.steps.is_none() && found.stages.is_empty());
}

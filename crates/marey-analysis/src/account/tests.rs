use marey::{GpuSpan, Section};
use marey_testing::RunBuilder;
use proptest::prelude::*;

use super::*;
use crate::sections;

/// Held and own time by call path, and what nothing held.
fn held(run: &Run) -> (Vec<(String, u64, u64)>, u64) {
    let found = wall_account(run, &sections(run)).unwrap();
    let path = |node: u32| {
        let parent = |node: &u32| run.nodes[*node as usize].parent.filter(|above| *above > 0);
        let above = std::iter::successors(Some(node), parent);
        let mut names: Vec<&str> =
            above.map(|node| run.nodes[node as usize].name.as_str()).collect();
        names.reverse();
        names.join("/")
    };
    let rows = found.rows.iter();
    let rows = rows.map(|row| (path(row.node), row.held_ns, row.self_ns));
    (rows.collect(), found.unattributed_ns)
}

fn rows(expected: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    let owned = |(path, held, own): &(&str, u64, u64)| ((*path).to_owned(), *held, *own);
    expected.iter().map(owned).collect()
}

/// ```text
/// 0   10      30  35        60  70
/// |load|      |generate-----|
///                |step| 32..50
/// ```
#[test]
fn one_threads_rows_add_up_to_the_wall_time() {
    let run = RunBuilder::new()
        .section("load", 0, 10, |_| {})
        .section("generate", 30, 60, |s| {
            s.iteration("step", 32, 50, |_| {});
        })
        .finish(70);
    let expected = rows(&[("generate", 30, 12), ("generate/step", 18, 18), ("load", 10, 10)]);
    assert_eq!(held(&run), (expected, 30));
}

/// ```text
/// main     |load 0-10|           |generate 30-60|          70
/// worker 1        |write 5-20|         |write 40-66|
/// worker 2            |read 15-25|
/// held     load 0-10, write 10-15, write and read 15-20, read 20-25, - 25-30, generate 30-60, write 60-66, - 66-70
/// ```
#[test]
fn other_threads_hold_the_run_up_only_while_the_main_thread_is_in_nothing() {
    let run = RunBuilder::new()
        .section("load", 0, 10, |_| {})
        .section("generate", 30, 60, |_| {})
        .thread("worker 1")
        .section("write", 5, 20, |_| {})
        .section("write", 40, 66, |_| {})
        .thread("worker 2")
        .section("read", 15, 25, |_| {})
        .with(|run| run.info.pid = run.threads[0].os_id)
        .finish(70);
    // write 5 + 5/2 + 6, read 5/2 + 5; the last of them has the odd nanosecond.
    let expected =
        rows(&[("generate", 30, 30), ("write", 13, 13), ("load", 10, 10), ("read", 8, 8)]);
    assert_eq!(held(&run), (expected, 9));
}

/// ```text
/// main flow   |serve 0-100                               |
/// task 1        |request 10-60|
/// task 2              |request 40-80|                       both below serve
/// held        serve 0-10, request 10-80, serve 80-100
/// ```
#[test]
fn what_runs_in_tasks_below_a_section_holds_it_up() {
    let request = |flow, start_ns, end_ns| Section {
        thread: 0,
        node: 2,
        start_ns,
        end_ns,
        flow,
        ..Section::default()
    };
    let run = RunBuilder::new()
        .section("serve", 0, 100, |s| {
            s.section("request", 1, 2, |_| {});
        })
        .with(|run| {
            run.nodes[2].is_detached = true;
            run.sections.retain(|section| section.node == 1);
            run.sections.push(request(1, 10, 60));
            run.sections.push(request(2, 40, 80));
        })
        .finish(100);
    let expected = rows(&[("serve", 100, 30), ("serve/request", 70, 70)]);
    assert_eq!(held(&run), (expected, 0));
}

/// ```text
/// asyncio.run: all in tasks of the main thread, which is in nothing itself
/// task 1   |generate 0-100                    |
/// task 2      |fetch 20-60|                        below generate: it waits for that
/// worker    |heartbeat 0-100                  |    a thread beside
/// ```
#[test]
fn a_task_waits_for_what_runs_below_it_and_threads_beside_tasks_add_nothing() {
    let section = |thread, node, flow, start_ns, end_ns| Section {
        thread,
        node,
        start_ns,
        end_ns,
        flow,
        ..Section::default()
    };
    let run = RunBuilder::new()
        .section("generate", 0, 1, |s| {
            s.section("fetch", 0, 1, |_| {});
        })
        .thread("worker")
        .section("heartbeat", 0, 1, |_| {})
        .with(|run| {
            run.info.pid = run.threads[0].os_id;
            run.nodes[1].is_detached = true;
            run.nodes[2].is_detached = true;
            run.sections =
                vec![section(0, 2, 2, 20, 60), section(0, 1, 1, 0, 100), section(1, 3, 0, 0, 100)];
        })
        .finish(110);
    let expected = rows(&[("generate", 100, 60), ("generate/fetch", 40, 40)]);
    assert_eq!(held(&run), (expected, 10));
}

/// ```text
/// main      |generate 0-100 |
/// another process, the same call path and more
///              |generate 10-90, denoise in it 20-80|
/// ```
#[test]
fn the_same_call_path_in_another_process_is_not_waited_for() {
    let run = RunBuilder::new()
        .section("generate", 0, 100, |_| {})
        .thread("copy.py 2: main")
        .section("generate", 10, 90, |s| {
            s.section("denoise", 20, 80, |_| {});
        })
        .with(|run| run.info.pid = run.threads[0].os_id)
        .finish(100);
    assert_eq!(held(&run), (rows(&[("generate", 100, 100)]), 0));
}

#[test]
fn sections_that_are_open_at_the_end_hold_it_up_until_then() {
    let run = RunBuilder::new()
        .open("generate", 20, |s| {
            s.section("step", 30, 40, |_| {});
        })
        .finish(100);
    let expected = rows(&[("generate", 80, 70), ("generate/step", 10, 10)]);
    assert_eq!(held(&run), (expected, 20));
}

#[test]
fn of_one_thread_it_is_known_also_where_records_are_missing_and_of_several_it_is_not() {
    let drawn = || RunBuilder::new().section("a", 0, 10, |_| {}).section("a", 20, 30, |_| {});
    let lossy = |drawn: RunBuilder| {
        let mut run = drawn.finish(40);
        run.sections.remove(1);
        run.losses.sections_ring_full = 1;
        run
    };
    assert_eq!(held(&lossy(drawn())), (rows(&[("a", 20, 20)]), 20));
    let several = lossy(drawn().thread("worker").section("b", 0, 5, |_| {}));
    assert_eq!(wall_account(&several, &sections(&several)), None);
}

/// A call of the main thread, by name and start, whose work began so long after it and took so long.
fn on_device(run: &mut Run, name: &str, start_ns: u64, delay_ns: u64, gpu_ns: u64) {
    let is_call = |s: &&Section| s.start_ns == start_ns && run.nodes[s.node as usize].name == name;
    let node = run.sections.iter().find(is_call).unwrap().node;
    run.gpu_spans.push(GpuSpan {
        thread: 0,
        node,
        start_ns,
        device: 0,
        stream: 0,
        delay_ns: Some(delay_ns),
        gpu_ns,
        error_ns: Some(0),
    });
}

/// ```text
/// host       |step 0-10|step 10-20|decode 20-30|copy 30-100           |
/// device       |step 5-35      |step 35-65     |decode 65-90  |copy 90-95|
/// held by    |step 0-65                        |decode 65-90  |copy    |
/// ```
#[test]
fn what_the_device_has_still_to_do_holds_up_whoever_waits_for_it() {
    let run = RunBuilder::new()
        .section("step", 0, 10, |_| {})
        .section("step", 10, 20, |_| {})
        .section("decode", 20, 30, |_| {})
        .section("copy", 30, 100, |_| {})
        .with(|run| {
            on_device(run, "step", 0, 5, 30);
            on_device(run, "step", 10, 25, 30);
            on_device(run, "decode", 20, 45, 25);
            on_device(run, "copy", 30, 60, 5);
        })
        .finish(110);
    let expected = rows(&[("step", 65, 65), ("decode", 25, 25), ("copy", 10, 10)]);
    assert_eq!(held(&run), (expected, 10));
}

/// ```text
/// host     |step 0-20            |wait 20-60                          |
///          |a 0-10    |b 10-20   |
/// device      |step 4-52                                     |
///              |a 5-30            |b 30-50               |
/// held by  |a 0-30                |b 30-50               |step|wait   |
/// ```
#[test]
fn the_innermost_of_what_the_device_does_holds_the_run_up() {
    let run = RunBuilder::new()
        .section("step", 0, 20, |s| {
            s.section("a", 0, 10, |_| {});
            s.section("b", 10, 20, |_| {});
        })
        .section("wait", 20, 60, |_| {})
        .with(|run| {
            on_device(run, "step", 0, 4, 48);
            on_device(run, "a", 0, 5, 25);
            on_device(run, "b", 10, 20, 20);
        })
        .finish(60);
    let expected = rows(&[("step", 52, 2), ("step/a", 30, 30), ("step/b", 20, 20), ("wait", 8, 8)]);
    assert_eq!(held(&run), (expected, 0));
}

/// The host launches too slowly, so that the device ends with it; or it is not known when the device worked.
#[test]
fn a_device_that_does_not_lag_changes_nothing() {
    let drawn = RunBuilder::new().section("step", 0, 20, |_| {}).section("save", 20, 60, |_| {});
    let mut run = drawn.with(|run| on_device(run, "step", 0, 1, 19)).finish(60);
    let expected = (rows(&[("save", 40, 40), ("step", 20, 20)]), 0);
    assert_eq!(held(&run), expected);
    run.gpu_spans[0].gpu_ns = 50;
    run.gpu_spans[0].delay_ns = None;
    assert_eq!(held(&run), expected);
}

proptest! {
    /// Sections as the walk of a stack over time, in up to three threads and two flows: whatever they are, rows add up.
    #[test]
    fn rows_add_up_whatever_was_recorded(
        drawn in proptest::collection::vec((0..3_u32, 0..2_u16, 0..4_u32, 0..100_u64, 0..50_u64), 0..40),
        wall_ns in 1..120_u64,
    ) {
        let mut run = RunBuilder::new()
            .section("a", 0, 1, |s| {
                s.section("b", 0, 1, |s| {
                    s.section("c", 0, 1, |_| {});
                });
            })
            .section("d", 1, 1, |_| {})
            .thread("one")
            .thread("two")
            .finish(wall_ns);
        run.sections = drawn
            .iter()
            .map(|(thread, flow, node, start_ns, length_ns)| Section {
                thread: *thread,
                node: node + 1,
                flow: *flow,
                start_ns: *start_ns,
                end_ns: start_ns + length_ns,
                ..Section::default()
            })
            .collect();
        run.sections.sort_by_key(|s| (s.thread, s.end_ns));
        let spans = run.sections.iter().zip(&drawn).map(|(section, (.., delay_ns, gpu_ns))| GpuSpan {
            thread: section.thread,
            node: section.node,
            start_ns: section.start_ns,
            device: 0,
            stream: 0,
            delay_ns: (*gpu_ns % 5 > 0).then_some(*delay_ns),
            gpu_ns: *gpu_ns,
            error_ns: None,
        });
        run.gpu_spans = spans.collect();
        let found = Account::of_own(&run, run.wall_ns, &of_flows(&run).unwrap());
        let below = |parent: Option<usize>| -> u64 {
            let rows = found.rows.iter().filter(|row| row.parent == parent);
            rows.map(|row| row.held_ns).sum()
        };
        prop_assert_eq!(below(None) + found.unattributed_ns, wall_ns);
        for (index, row) in found.rows.iter().enumerate() {
            prop_assert_eq!(row.self_ns + below(Some(index)), row.held_ns);
        }
    }
}

//! Ten million records are ordinary; here is enough of them to notice a quadratic step.

use marey::{Node, NodeKind, NodeTotals, Run, Section, Thread};
use marey_analysis::{UnderNoSection, sections};

#[test]
fn a_million_calls_under_many_names_are_answered() {
    const CALLS: u64 = 1_000_000;
    const NAMES: u64 = 100;
    let node = |id: u64| Node {
        parent: (id > 0).then_some(0),
        name: if id == 0 { String::new() } else { format!("section {id}") },
        kind: NodeKind::Section,
        is_detached: false,
    };
    let run = Run {
        wall_ns: CALLS * 10,
        nodes: (0..=NAMES).map(node).collect(),
        threads: vec![Thread::default()],
        sections: (0..CALLS)
            .map(|call| Section {
                thread: 0,
                node: u32::try_from(call % NAMES + 1).unwrap(),
                start_ns: call * 10,
                end_ns: call * 10 + 7,
                flow: 0,
                is_failed: false,
                has_pauses: false,
            })
            .collect(),
        totals: (0..=NAMES)
            .map(|id| NodeTotals {
                count: if id == 0 { 0 } else { CALLS / NAMES },
                sum_ns: CALLS / NAMES * 7,
                min_ns: 7,
                max_ns: 7,
                first_ns: 7,
                last_ns: 7,
                n_threads: 1,
                ..NodeTotals::default()
            })
            .collect(),
        ..Run::default()
    };
    let found = sections(&run);
    assert_eq!(found.under_no_section, UnderNoSection::Known(CALLS * 3));
    assert_eq!(found.tree.len() as u64, NAMES);
    assert!(found.tree.iter().all(|row| row.calls.std_dev_ns == Some(0.0)));
}

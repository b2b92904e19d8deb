use super::*;
use proptest::prelude::{Rng, *};
use proptest::test_runner::{RngAlgorithm, TestRng};

const BASIC_OOM: &[u8] = include_bytes!("../../../tests/data/basic_oom.pickle");
const FLUX_TINY: &[u8] = include_bytes!("../../../tests/data/flux_tiny_resident.pickle");

/// A pickle of protocol 4 around these opcodes.
fn pickle(program: &[u8]) -> Vec<u8> {
    [&[0x80, 4][..], program, b"."].concat()
}

fn text(text: &str) -> Vec<u8> {
    let len = u8::try_from(text.len()).unwrap();
    [&[0x8c, len], text.as_bytes()].concat()
}

/// `{"segments": [], "device_traces": <value>}`
fn with_traces(value: &[u8]) -> Vec<u8> {
    pickle(&[b"}(", &text("segments")[..], b"]", &text("device_traces"), value, b"u"].concat())
}

/// A dictionary of one event; `more` are further keys and values.
fn event(action: &str, more: &[u8]) -> Vec<u8> {
    let address = [&text("addr")[..], b"K\x10"].concat();
    let size = [&text("size")[..], b"M\x00\x02"].concat();
    [b"}(", &text("action")[..], &text(action), &address, &size, more, b"u"].concat()
}

#[test]
fn frames_and_stacks_are_kept_once() {
    // 2 679 lists of frames in the file, of 411 different dictionaries.
    let found = read_snapshot(FLUX_TINY).unwrap();
    assert_eq!(found.traces[0].events.len(), 3913);
    assert!(found.stacks.len() <= 2679, "{}", found.stacks.len());
    assert!(found.frames.len() <= 411, "{}", found.frames.len());
    let deepest = found.stacks.iter().map(|stack| stack.0.len()).max().unwrap();
    assert!(deepest > 10);
}

#[test]
fn ends_of_ranges_are_read_and_marks_are_no_events() {
    let number = |name: &str, value: u8| [&text(name)[..], &[b'K', value]].concat();
    let range = |stage: &str, at_us: u8| {
        let stage = [text("stage"), text(stage)].concat();
        let name = [text("name"), text("denoise")].concat();
        let times = [number("device", 0), number("time_us", at_us)].concat();
        [&b"}("[..], &stage, &name, &times, b"u"].concat()
    };
    let ranges = [
        &text("external_annotations")[..],
        b"](",
        &range("END", 9),
        &range("START", 7),
        &range("NEITHER", 8),
        b"e",
    ];
    let events = [&b"](]("[..], &event("alloc", b""), &event("user_defined", b""), b"ee"].concat();
    let found = read_snapshot(&with_traces(&[events, ranges.concat()].concat())).unwrap();
    let end = |is_start, time_us| RangeEnd { device: 0, name: "denoise".into(), is_start, time_us };
    assert_eq!(found.range_ends, [end(true, 7), end(false, 9)]);
    assert_eq!(found.traces[0].events.len(), 1);
    let unusable = "annotations without name, stage, device or time";
    assert_eq!(found.warnings, [(unusable, 1)]);
    // What is no list of them costs nothing else.
    let none = [&b"]"[..], &text("external_annotations"), b"N"].concat();
    assert_eq!(read_snapshot(&with_traces(&none)).unwrap().range_ends, []);
}

#[test]
fn opcodes_that_run_code_are_refused_by_name() {
    let cases: [(&[u8], &str); 13] = [
        (b"cposix\nsystem\n", "GLOBAL"),
        (b"\x93", "STACK_GLOBAL"),
        (b"R", "REDUCE"),
        (b"b", "BUILD"),
        (b"iposix\nsystem\n", "INST"),
        (b"o", "OBJ"),
        (b"\x81", "NEWOBJ"),
        (b"\x92", "NEWOBJ_EX"),
        (b"P1\n", "PERSID"),
        (b"Q", "BINPERSID"),
        (b"\x82\x01", "EXT1"),
        (b"\x83\x01\x00", "EXT2"),
        (b"\x84\x01\x00\x00\x00", "EXT4"),
    ];
    for (program, name) in cases {
        let error = read_snapshot(&with_traces(program)).unwrap_err();
        // PROTO 4, } (, the keys with their lengths, ]
        let offset = 2 + 2 + 10 + 1 + 15;
        let expected = SnapshotError::Refused { opcode: name, runs_code: true, offset };
        assert_eq!(error, expected);
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.to_string().contains("nothing of it was run"), "{error}");
    }
}

#[test]
fn other_opcodes_are_refused_too() {
    for code in [b'0', b'2', b'I', b'S', b'B', 0x8f, 0x97] {
        let error = read_snapshot(&with_traces(&[code])).unwrap_err();
        assert!(matches!(error, SnapshotError::Refused { runs_code: false, .. }), "{error}");
    }
    let error = read_snapshot(&with_traces(&[0xff])).unwrap_err();
    assert!(matches!(error, SnapshotError::Unknown { code: 0xff, .. }), "{error}");
}

#[test]
fn what_is_no_pickle_is_said() {
    for bytes in [&b""[..], b"{}", b"\x80", b"\x80\x01.", b"\x80\x63.", b"PK\x03\x04"] {
        assert_eq!(read_snapshot(bytes).unwrap_err(), SnapshotError::NotAPickle);
    }
    let list = read_snapshot(&pickle(b"]")).unwrap_err();
    assert_eq!(list.to_string(), "the pickle holds no memory snapshot: it has no segments");
    let only_segments =
        pickle(b"]}(\x8c\x06deviceK\x00\x8c\x07addressK\x10\x8c\ntotal_sizeK\x08\x8c\x06blocks]ua");
    let found = read_snapshot(&only_segments).unwrap();
    let sizes = found.segments.iter().map(|segment| segment.total_bytes);
    assert_eq!((sizes.collect::<Vec<_>>(), found.traces.len()), (vec![8], 0));
    let number = with_traces(b"K\x01");
    assert!(matches!(read_snapshot(&number), Err(SnapshotError::NotASnapshot { .. })));
}

#[test]
fn a_file_cut_anywhere_is_an_error_with_a_place() {
    for length in 2..BASIC_OOM.len() {
        let error = read_snapshot(&BASIC_OOM[..length]).unwrap_err();
        assert!(
            matches!(error, SnapshotError::CutOff { offset } if offset <= length),
            "{length}: {error}"
        );
    }
}

#[test]
fn deep_nesting_ends_at_a_limit() {
    let error = read_snapshot(&pickle(&b"](".repeat(100_000))).unwrap_err();
    assert!(matches!(error, SnapshotError::Limit { what: "nested values", .. }), "{error}");
    // Without marks depth is only references: a list in a list in a list, built from the outside.
    let chain = b"]\x94".repeat(1000);
    let end = b"a".repeat(999);
    let error = read_snapshot(&pickle(&[chain, end].concat())).unwrap_err();
    assert!(matches!(error, SnapshotError::NotASnapshot { .. }), "{error}");
}

#[test]
fn a_list_that_holds_itself_is_read_once() {
    // L = []; L.append(L) as the traces of devices: a device whose events are lists.
    let found = read_snapshot(&with_traces(b"]\x94h\x00a")).unwrap();
    assert_eq!(found.traces.len(), 1);
    // The trace of the first device is the list of traces itself: one event, which is no dictionary.
    assert_eq!(found.traces[0].events, []);
}

#[test]
fn a_laugh_of_a_billion_ends_at_the_number_of_dictionaries() {
    // An event, used in a list 1 000 times, which is used as the trace of 100 devices.
    let one = [b"](", &event("alloc", b"")[..], b"\x94", &b"h\x00".repeat(999), b"e"].concat();
    let many = [b"](", &one[..], b"\x94", &b"h\x01".repeat(99), b"e"].concat();
    let error = read_snapshot(&with_traces(&many)).unwrap_err();
    assert!(matches!(error, SnapshotError::Limit { .. }), "{error}");
}

#[test]
fn more_values_than_a_file_of_its_length_can_need_are_refused() {
    let error = read_snapshot(&pickle(&b"N".repeat(3 << 20))).unwrap_err();
    assert!(matches!(error, SnapshotError::Limit { what: "values for its length", .. }), "{error}");
    let again = [&b"}\x94"[..], &b"K\x01K\x01s".repeat(66)].concat();
    let error = read_snapshot(&pickle(&again)).unwrap_err();
    assert!(
        matches!(error, SnapshotError::Limit { what: "parts of one dictionary", .. }),
        "{error}"
    );
}

#[test]
fn numbers_of_any_length_are_read_or_refused() {
    let mut long = vec![0x8b];
    long.extend(u32::MAX.to_le_bytes());
    let error = read_snapshot(&with_traces(&long)).unwrap_err();
    assert!(matches!(error, SnapshotError::Limit { what: "bytes in one number", .. }), "{error}");
    // LONG1 of nine bytes: an address beyond 64 bits is no address.
    let time = [&text("time_us")[..], b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x7f"].concat();
    let found =
        read_snapshot(&with_traces(&[b"]]", &event("alloc", &time)[..], b"aa"].concat())).unwrap();
    assert_eq!(found.traces[0].events[0].time_us, None);
}

#[test]
fn numbers_that_are_none_are_absent() {
    let nan = f64::NAN.to_be_bytes();
    let time = [&text("time_us")[..], b"G", &nan].concat();
    let free = [&text("device_free")[..], b"\x8a\x01\xff"].concat();
    let events = [b"](", &event("alloc", &time)[..], &event("oom", &free), b"e"].concat();
    let found = read_snapshot(&with_traces(&[b"]", &events[..], b"a"].concat())).unwrap();
    let events = &found.traces[0].events;
    assert_eq!(events[0].time_us, None);
    // -1: no number of bytes.
    assert_eq!((events[1].action, events[1].device_free_bytes), (Action::OutOfMemory, None));
}

#[test]
fn what_is_not_known_is_passed_over_and_counted() {
    let odd = text("colour");
    let events = [
        b"](",
        &event("alloc", &[&odd[..], b"N"].concat())[..],
        &event("painted", b""),
        b"}",
        b"N",
        b"e",
    ]
    .concat();
    let found = read_snapshot(&with_traces(&[b"]", &events[..], b"a"].concat())).unwrap();
    assert_eq!(found.traces[0].events.len(), 1);
    assert_eq!(found.warnings, [("events without size, address or a known action", 3)]);
}

#[test]
fn a_pickle_of_protocol_2_is_read() {
    // BINPUT and BINUNICODE, as Python 2 and 3.3 wrote them.
    let key = |text: &str| {
        let len = u32::try_from(text.len()).unwrap().to_le_bytes();
        [b"X", &len[..], text.as_bytes()].concat()
    };
    let program = [
        b"\x80\x02}q\x00(",
        &key("segments")[..],
        b"q\x01]q\x02",
        &key("device_traces"),
        b"q\x03]q\x04u.",
    ]
    .concat();
    let found = read_snapshot(&program).unwrap();
    assert_eq!((found.segments.len(), found.traces.len()), (0, 0));
}

#[test]
fn changed_bytes_end_in_a_snapshot_or_an_error() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let mut n_read = 0;
    for _ in 0..20_000 {
        let mut damaged = BASIC_OOM.to_vec();
        for _ in 0..=random.next_u32() % 4 {
            let at = random.next_u32() as usize % damaged.len();
            damaged[at] = random.next_u32().to_le_bytes()[0];
        }
        if let Ok(found) = read_snapshot(&damaged) {
            n_read += 1;
            assert_sound(&found);
            let answers = crate::snapshot(&found, None);
            assert!(answers.devices.len() <= 128);
        }
    }
    assert!(n_read > 100, "{n_read}");
}

/// What both ways of reading say; they agree.
fn both_ways(bytes: &[u8]) -> Option<Snapshot> {
    let short = read(bytes, true).ok()?;
    let long = read(bytes, false).expect("what the short way reads, the long way reads");
    assert!(short == long);
    Some(long)
}

#[test]
fn events_read_the_short_way_are_those_that_were_built() {
    // Nothing in these files needs the long way.
    for file in [BASIC_OOM, FLUX_TINY] {
        assert!(both_ways(file).is_some());
        assert!(both_ways(&[file, b"more"].concat()).is_some());
    }
    let (values, _) = machine::run(FLUX_TINY, true).unwrap();
    // Of 3 913 events all but those with new texts, new frames, or the start of a piece of the pickle in them.
    assert!(values.n_events() > 3000, "{}", values.n_events());
}

/// A file of three events at the address 32 with one frame each, and something after them. The memo holds the first event's keys
/// 1 and 3 to 5 and its frame 7, the second event 8 and its list 9, the third event 10 and its list 11.
fn three_events(then: &[u8]) -> Vec<u8> {
    let key = |name: &str| [&text(name)[..], b"\x94"].concat();
    let first = [
        b"}\x94(",
        &key("action")[..],
        &key("alloc"),
        &key("addr"),
        b"K\x20",
        &key("size"),
        b"M\x00\x02",
        &key("frames"),
        b"]\x94}\x94au",
    ]
    .concat();
    let next = b"}\x94(h\x01h\x02h\x03K\x20h\x04M\x00\x02h\x05]\x94(h\x07eu";
    with_traces(&[b"](](", &first[..], next, next, then, b"ee"].concat())
}

#[test]
fn what_the_short_way_would_get_wrong_is_read_the_long_way() {
    let plain = both_ways(&three_events(b"")).unwrap();
    assert_eq!((plain.traces[0].events.len(), plain.stacks.len()), (3, 1));
    // The second event's list gets a second frame; the third's has one still.
    let longer = three_events(b"h\x09h\x07a");
    // The frame's place in the memo becomes a number.
    let changed = three_events(b"K\x01q\x07");
    // The second event is a frame of a fourth.
    let misread = three_events(b"}\x94(h\x01h\x02h\x03K\x20h\x04M\x00\x02h\x05]\x94(h\x08eu");
    // The second event gets another size.
    let set = three_events(b"h\x08h\x04K\x05s");
    for (file, n_stacks) in [(&longer, 2), (&changed, 1), (&misread, 1), (&set, 1)] {
        assert!(read(file, true).is_err());
        let found = read_snapshot(file).unwrap();
        assert_eq!(found, read(file, false).unwrap());
        assert_eq!(found.stacks.len(), n_stacks);
    }
    let sizes = read_snapshot(&set).unwrap().traces.remove(0).events;
    assert_eq!((sizes[1].bytes, sizes[2].bytes), (5, 512));
}

#[test]
fn changed_bytes_say_the_same_both_ways() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[6; 32]);
    let mut n_read = 0;
    let mut check = |file: &[u8], rounds: u32| {
        for _ in 0..rounds {
            let mut damaged = file.to_vec();
            for _ in 0..=random.next_u32() % 3 {
                let at = random.next_u32() as usize % damaged.len();
                damaged[at] = match random.next_u32() % 3 {
                    0 => damaged[random.next_u32() as usize % file.len()],
                    1 => damaged[at].wrapping_add(1),
                    _ => random.next_u32().to_le_bytes()[0],
                };
            }
            n_read += u32::from(both_ways(&damaged).is_some());
        }
    };
    check(BASIC_OOM, 20_000);
    check(FLUX_TINY, 300);
    assert!(n_read > 1000, "{n_read}");
}

/// Indices that point somewhere.
fn assert_sound(found: &Snapshot) {
    let n_stacks = found.stacks.len();
    let is_stack = |stack: Option<u32>| stack.is_none_or(|stack| (stack as usize) < n_stacks);
    for segment in &found.segments {
        assert!(segment.first_block + segment.n_blocks <= found.blocks.len());
    }
    assert!(found.blocks.iter().all(|block| is_stack(block.stack)));
    let mut events = found.traces.iter().flat_map(|trace| &trace.events);
    assert!(events.all(|event| is_stack(event.stack)));
    let mut frames = found.stacks.iter().flat_map(|stack| stack.0.iter());
    assert!(frames.all(|frame| (*frame as usize) < found.frames.len()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_end_in_a_snapshot_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let program = [&[0x80, 4][..], &bytes].concat();
        if let Ok(found) = read_snapshot(&program) {
            assert_sound(&found);
        }
    }
}

//! Damaged captures: what can be read is read, what cannot is reported, and nothing is made up.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use marey::{Run, Section, Status, Warning};
use proptest::prelude::{Rng, *};
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::program::{captures, recorded, rings};

const FILE_HEADER: usize = 16;
const BLOCK_HEADER: usize = 16;
/// The kind of blocks that says when things were.
const ANCHOR: u16 = 7;

/// A golden capture.
fn golden(name: &str) -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    std::fs::read(data.join(name)).unwrap()
}

/// The blocks of a sound capture.
fn blocks(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut blocks, mut rest) = (Vec::new(), &bytes[FILE_HEADER..]);
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (block, after) = rest.split_at(BLOCK_HEADER + length);
        blocks.push(block);
        rest = after;
    }
    blocks
}

fn kind(block: &[u8]) -> u16 {
    u16::from_le_bytes([block[4], block[5]])
}

/// What of a section does not depend on anything else in the capture.
fn essence(section: &Section) -> (u64, u64, u32, u16, bool) {
    let Section { start_ns, end_ns, node, flow, is_failed, .. } = *section;
    (start_ns, end_ns, node, flow, is_failed)
}

fn read(bytes: &[u8]) -> Run {
    marey::decode(bytes, Status::EndedWithoutClosing).unwrap()
}

/// Indices that point somewhere, times that run forwards.
fn assert_sound(run: &Run) {
    assert_eq!(run.nodes.len(), run.totals.len());
    for section in &run.sections {
        assert!(section.start_ns <= section.end_ns);
        assert!((section.node as usize) < run.nodes.len());
        assert!((section.thread as usize) < run.threads.len());
    }
    for (id, node) in (0..).zip(&run.nodes) {
        assert!(node.parent.is_none_or(|parent| parent < id));
    }
    assert!(run.events.iter().all(|event| (event.thread as usize) < run.threads.len()));
    assert!(run.open.iter().all(|open| (open.node as usize) < run.nodes.len()));
    let attributes = run.section_attributes.iter();
    assert!(attributes.map(|given| given.section).all(|at| at < run.sections.len()));
}

#[test]
fn a_capture_cut_anywhere_is_read_up_to_the_cut() {
    let bytes = &golden("v2.marey")[..];
    let ends: Vec<usize> = blocks(bytes)
        .iter()
        .scan(FILE_HEADER, |end, block| {
            *end += block.len();
            Some(*end)
        })
        .collect();
    for length in 0..FILE_HEADER {
        assert!(marey::decode(&bytes[..length], Status::Running).is_err());
    }
    let mut n_sections = 0;
    for length in FILE_HEADER..bytes.len() {
        let run = read(&bytes[..length]);
        assert_sound(&run);
        let is_between = length == FILE_HEADER || ends.contains(&length);
        let cut = run.warnings.iter().any(|w| matches!(w, Warning::Truncated { .. }));
        assert_eq!(cut, !is_between, "cut at {length}");
        assert_eq!(run.status, Status::EndedWithoutClosing);
        assert!(run.sections.len() >= n_sections, "cut at {length}");
        n_sections = run.sections.len();
    }
    assert_eq!(n_sections, read(bytes).sections.len());
}

#[test]
fn flipped_bits_cost_their_blocks_and_are_reported() {
    let bytes = &golden("v2.marey")[..];
    let intact = read(bytes);
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut n_damaged = 0;
    for _ in 0..5000 {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.next_u32() % 3 {
            let at = FILE_HEADER + random.next_u32() as usize % (bytes.len() - FILE_HEADER);
            damaged[at] ^= 1 << (random.next_u32() % 8);
        }
        if damaged == bytes {
            continue;
        }
        let run = read(&damaged);
        assert_sound(&run);
        assert!(run.sections.len() <= intact.sections.len());
        // A checksum finds every flip of so few bits.
        assert!(!run.warnings.is_empty());
        n_damaged += 1;
    }
    assert!(n_damaged > 4900);
}

/// The bytes behind a sound file header, with the checksum of every block made good.
fn with_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = FILE_HEADER;
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| rest.len() >= BLOCK_HEADER) {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let is_block = rest.starts_with(b"MBLK") && length <= rest.len() - BLOCK_HEADER;
        if is_block {
            let mut checksum = crc32fast::Hasher::new();
            checksum.update(&rest[4..12]);
            checksum.update(&rest[BLOCK_HEADER..BLOCK_HEADER + length]);
            rest[12..16].copy_from_slice(&checksum.finalize().to_le_bytes());
        }
        at += if is_block { BLOCK_HEADER + length } else { 1 };
    }
    bytes
}

#[test]
fn what_passes_the_checksums_and_makes_no_sense_is_read_without_a_panic() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[13; 32]);
    for name in ["v2.marey", "v2_full.marey"] {
        let bytes = golden(name);
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.next_u32() % 8 {
                let at = FILE_HEADER + random.next_u32() as usize % (bytes.len() - FILE_HEADER);
                damaged[at] ^= 1 << (random.next_u32() % 8);
            }
            assert_sound(&read(&with_checksums(damaged)));
        }
    }
}

#[test]
fn what_is_cut_or_damaged_where_it_is_written_over_is_counted() {
    let bytes = golden("v2_full.marey");
    let intact = read(&bytes);
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[17; 32]);
    for _ in 0..2000 {
        let mut damaged = bytes.clone();
        let at = FILE_HEADER + random.next_u32() as usize % (bytes.len() - FILE_HEADER);
        damaged[at] ^= 1 << (random.next_u32() % 8);
        let run = read(&damaged);
        assert_sound(&run);
        let lost = intact.sections.len() - run.sections.len();
        let is_said = !run.warnings.is_empty()
            || run.losses.sections_missing() == intact.losses.sections_missing() + lost as u64;
        assert!(is_said, "bit at {at}");
    }
    for length in FILE_HEADER..bytes.len() {
        let run = read(&bytes[..length]);
        assert_sound(&run);
        assert!(run.sections.len() <= intact.sections.len());
    }
}

#[test]
fn a_flip_in_the_header_is_no_panic() {
    let bytes = golden("v2.marey");
    for bit in 0..FILE_HEADER * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let is_reserved = bit / 8 >= 12;
        assert_eq!(marey::decode(&damaged, Status::Running).is_ok(), is_reserved, "bit {bit}");
    }
}

#[test]
fn headers_that_promise_much_take_neither_memory_nor_for_ever() {
    // Each of these says that 16 MiB follow; checked one after the other that would be 128 GiB.
    let header = [
        b"MBLK".as_slice(),
        &11_u16.to_le_bytes(),
        &[0, 0],
        &(16_u32 << 20).to_le_bytes(),
        &[0; 4],
    ];
    let mut bytes = golden("v2.marey");
    let intact = read(&bytes).sections.len();
    bytes.extend(header.concat().repeat(18 << 16));
    let run = read(&bytes);
    assert_eq!(run.sections.len(), intact);
    assert!(run.warnings.iter().any(|w| matches!(w, Warning::Truncated { .. })));
}

proptest! {
    #[test]
    fn lost_blocks_take_their_sections_with_them_and_nothing_is_made_up(
        lost in prop::collection::vec(any::<bool>(), 64),
    ) {
        let bytes = golden("v2.marey");
        let intact = read(&bytes);
        let kept = blocks(&bytes)
            .into_iter()
            .zip(lost.iter().cycle())
            // Without its anchors a capture has no times to compare.
            .filter(|(block, is_lost)| kind(block) == ANCHOR || !**is_lost)
            .flat_map(|(block, _)| block);
        let damaged: Vec<u8> = bytes[..FILE_HEADER].iter().chain(kept).copied().collect();
        let run = read(&damaged);
        assert_sound(&run);
        let known: Vec<_> = intact.sections.iter().map(essence).collect();
        for section in &run.sections {
            prop_assert!(known.contains(&essence(section)));
        }
        // A name is the same, or it says that it was lost.
        for (id, node) in run.nodes.iter().enumerate() {
            let is_same = intact.nodes.get(id).is_some_and(|known| known.name == node.name);
            prop_assert!(is_same || node.name.starts_with("(lost "), "{}", node.name);
        }
        // Where totals are left, they are the exact ones.
        for (found, known) in run.totals.iter().zip(&intact.totals) {
            prop_assert!(found.count <= known.count);
        }
    }

    #[test]
    fn any_bytes_behind_a_header_are_read_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        let capture = [&golden("v2.marey")[..FILE_HEADER], &bytes].concat();
        assert_sound(&read(&capture));
    }
}

#[test]
fn rings_with_flipped_bits_are_read_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let ended = recorded("endings", folder.path()).arg("_exit").status().unwrap();
    assert_eq!(ended.code(), Some(3));
    let capture = &captures(folder.path())[0];
    let intact = marey::load(capture).unwrap();
    let rings = &marey::leftovers(&rings(folder.path()))[0].folder;
    let files = ["process", "lane-0"].map(|name| {
        let file = OpenOptions::new().read(true).write(true).open(rings.join(name));
        file.unwrap()
    });
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let mut n_different = 0;
    for turn in 0..3000 {
        let file = &files[turn % 2];
        let length = file.metadata().unwrap().len();
        // Half of them hit the header, where it hurts.
        let within = if turn % 4 < 2 { 4096 } else { length };
        let at = u64::from(random.next_u32()) % within;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        let flipped = byte[0] ^ 1 << (random.next_u32() % 8);
        file.write_all_at(&[flipped], at).unwrap();
        let run = marey::load(capture).unwrap();
        assert_sound(&run);
        n_different += usize::from(run.totals != intact.totals);
        file.write_all_at(&byte, at).unwrap();
    }
    assert!(n_different > 10, "{n_different}");
    assert_eq!(marey::load(capture).unwrap(), intact);
}

#[test]
fn a_version_that_nobody_released_is_refused_and_named() {
    for version in [0, 1, 3] {
        let mut capture = golden("v2.marey");
        capture[8] = version;
        let error = marey::decode(&capture, Status::EndedWithoutClosing).unwrap_err();
        let said = format!(
            "the capture has the unknown capture version {version}; this marey reads version 2; use a newer one"
        );
        assert_eq!(error.to_string(), said);
    }
}

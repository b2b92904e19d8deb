use super::{Machine, Sampled};
use crate::sampler::host::HostOptions;
use crate::sampler::host::table::page;

const MEMINFO: &str = "\
== proc/meminfo
MemTotal:       16384000 kB
MemFree:         1000000 kB
MemAvailable:    4000000 kB
SwapCached:           10 kB
SwapTotal:       2000000 kB
SwapFree:        1999000 kB
HugePages_Total:       0
";

#[test]
fn used_is_what_is_not_available() {
    let sampled = Machine::drawn(MEMINFO).sampled();
    sampled.assert("host.memory.available", "", 4_096_000_000.0);
    sampled.assert("host.memory.used", "", 12_681_216_000.0);
    sampled.assert("host.swap.used", "", 1_024_000.0);
    assert_eq!(sampled.fact("host.memory_bytes").as_deref(), Some("16777216000"));
    assert_eq!(sampled.fact("host.swap_bytes").as_deref(), Some("2048000000"));
}

#[test]
fn facts_do_not_depend_on_the_switches() {
    let machine = Machine::drawn(MEMINFO);
    machine.draw("== proc/stat\ncpu  1 1 1 1 1\ncpu0 1 1 1 1 1\nctxt 5\n");
    for (cpu, memory) in [(true, false), (false, true)] {
        let sampled = Sampled::new(&HostOptions { cpu, memory, ..machine.options() });
        assert_eq!(sampled.fact("host.memory_bytes").as_deref(), Some("16777216000"));
        assert_eq!(sampled.fact("host.cpus").as_deref(), Some("1"));
    }
}

#[test]
fn what_is_available_is_absent_where_the_kernel_does_not_estimate_it() {
    let sampled = Machine::drawn(
        "== proc/meminfo\nMemTotal: 100 kB\nMemFree: 50 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    )
    .sampled();
    assert!(sampled.why_not("host.memory.used").contains("kernel"));
    sampled.assert("host.swap.used", "", 0.0);
}

#[test]
fn swapping_is_counted_in_bytes_and_looked_at_often_once_there_is_any() {
    let machine =
        Machine::drawn("== proc/vmstat\nnr_free_pages 7\npswpin 0\npswpout 0\npgpgin 9\n");
    let mut sampled = machine.sampled();
    sampled.assert("host.swap.in", "", 0.0);
    machine.write("proc/vmstat", "nr_free_pages 7\npswpin 3\npswpout 5\npgpgin 9\n");
    sampled.read_after(1_000_000);
    sampled.assert_nan("host.swap.in", "");
    sampled.read_again();
    sampled.assert("host.swap.in", "", 3.0 * page());
    sampled.assert("host.swap.out", "", 5.0 * page());
    machine.write("proc/vmstat", "nr_free_pages 7\npswpin 4\npswpout 5\npgpgin 9\n");
    sampled.read_after(900_000_000);
    sampled.assert("host.swap.in", "", 4.0 * page());
}

#[test]
fn a_kernel_without_swap_has_no_swapping() {
    let sampled = Machine::drawn("== proc/vmstat\nnr_free_pages 7\n").sampled();
    assert!(sampled.why_not("host.swap.in").contains("swap"));
}

#[test]
fn a_file_is_in_the_page_cache_as_far_as_it_was_written() {
    let machine = Machine::drawn("");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a page")]
    let page = page() as usize;
    machine.write("weights é \n.bin", vec![1; 4 * page]);
    let path = machine.path("weights é \n.bin");
    let subject = path.to_str().unwrap().to_owned();
    let missing = machine.path("missing");
    let files = vec![path.clone(), missing, machine.path("")];
    let mut sampled = Sampled::new(&HostOptions { files, ..machine.options() });
    sampled.assert("file.cached", &subject, 1.0);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(16 * page as u64).unwrap();
    drop(file);
    sampled.read_after(999_999_999);
    sampled.assert_nan("file.cached", &subject);
    sampled.read_again();
    sampled.assert("file.cached", &subject, 0.25);
    std::fs::remove_file(&path).unwrap();
    sampled.read_again();
    sampled.assert_nan("file.cached", &subject);
    // Its space on the disk is free.
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut open = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    assert!(!open.any(|file| file.to_string_lossy().starts_with(&subject)));

    let unavailable = crate::Source::unavailable(&sampled.source);
    let files = unavailable.iter().filter(|lack| lack.what.starts_with("file.cached"));
    let why: Vec<_> = files.map(|lack| lack.why.as_str()).collect();
    assert!(why[0].contains("cannot be opened") && why[1] == "it is no plain file", "{why:?}");
}

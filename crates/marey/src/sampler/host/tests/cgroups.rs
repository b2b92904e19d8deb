use super::Machine;

const MOUNT_2: &str = "== proc/self/mountinfo
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

const MOUNTS_1: &str = "== proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
";

#[test]
fn version_2_tells_use_peak_limit_quota_and_throttling() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/job.slice/run 7\n== sys/fs/cgroup/job.slice/run 7/memory.current\n1000\n");
    machine.draw("== sys/fs/cgroup/job.slice/run 7/memory.peak\n3000\n== sys/fs/cgroup/job.slice/run 7/memory.max\n5000\n");
    machine.draw("== sys/fs/cgroup/job.slice/run 7/memory.stat\nanon 600\ninactive_file 150\nactive_file 50\n");
    machine.draw("== sys/fs/cgroup/job.slice/run 7/cpu.max\n250000 100000\n");
    machine.draw("== sys/fs/cgroup/job.slice/run 7/cpu.stat\nusage_usec 9\nnr_throttled 2\nthrottled_usec 1500000\n");
    let mut sampled = machine.sampled();
    sampled.assert("cgroup.memory.used", "", 1000.0);
    sampled.assert("cgroup.memory.working_set", "", 850.0);
    sampled.assert("cgroup.memory.peak", "", 3000.0);
    sampled.assert("cgroup.memory.limit", "", 5000.0);
    sampled.assert("cgroup.cpu.throttled", "", 1.5);
    assert_eq!(sampled.fact("cgroup.version").as_deref(), Some("2"));
    assert_eq!(sampled.fact("cgroup.cpu.quota").as_deref(), Some("2.5"));
    // A peak can be reset, and a limit lifted.
    machine.draw("== sys/fs/cgroup/job.slice/run 7/memory.peak\n2000\n== sys/fs/cgroup/job.slice/run 7/memory.max\nmax\n");
    sampled.read_again();
    sampled.assert("cgroup.memory.peak", "", 2000.0);
    sampled.assert_nan("cgroup.memory.limit", "");
}

#[test]
fn the_limit_is_the_smallest_on_the_way_up() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/a/b/c\n== sys/fs/cgroup/a/memory.max\n700\n== sys/fs/cgroup/a/b/memory.max\n600\n");
    machine
        .draw("== sys/fs/cgroup/a/b/c/memory.max\nmax\n== sys/fs/cgroup/a/b/c/memory.current\n5\n");
    machine.draw("== sys/fs/cgroup/a/cpu.max\n150000 100000\n== sys/fs/cgroup/a/b/cpu.max\n400000 100000\n== sys/fs/cgroup/a/b/c/cpu.max\nmax 100000\n");
    machine.draw("== sys/fs/cgroup/a/cpu.stat\nthrottled_usec 2000000\n== sys/fs/cgroup/a/b/c/cpu.stat\nthrottled_usec 0\n");
    // Above the mount nothing is looked at.
    machine.draw("== sys/fs/memory.max\n1\n== sys/fs/cpu.max\n1 100000\n");
    let sampled = machine.sampled();
    sampled.assert("cgroup.memory.limit", "", 600.0);
    assert_eq!(sampled.fact("cgroup.cpu.quota").as_deref(), Some("1.5"));
    // The group that stops is that with the smallest quota.
    sampled.assert("cgroup.cpu.throttled", "", 2.0);
}

#[test]
fn without_a_limit_there_is_no_limit() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/a\n== sys/fs/cgroup/a/memory.max\nmax\n== sys/fs/cgroup/a/memory.current\n5\n");
    machine.draw(
        "== sys/fs/cgroup/a/cpu.max\nmax 100000\n== sys/fs/cgroup/a/cpu.stat\nusage_usec 5\n",
    );
    let sampled = machine.sampled();
    sampled.assert("cgroup.memory.used", "", 5.0);
    assert!(sampled.why_not("cgroup.memory.limit").contains("limit"));
    assert!(sampled.why_not("cgroup.memory.peak").contains("memory.peak"));
    assert!(sampled.why_not("cgroup.cpu.throttled").contains("processor time"));
    assert_eq!(sampled.fact("cgroup.cpu.quota"), None);
}

#[test]
fn a_group_without_the_controller_is_counted_in_the_next_one_above() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/a/b\n== sys/fs/cgroup/a/memory.current\n77\n== sys/fs/cgroup/a/b/cgroup.events\npopulated 1\n");
    machine.sampled().assert("cgroup.memory.used", "", 77.0);
}

#[test]
fn the_root_of_version_2_counts_nothing_and_that_is_said() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/\n== sys/fs/cgroup/cgroup.controllers\ncpu memory\n");
    assert!(machine.sampled().why_not("cgroup.memory.used").contains("does not count memory"));
}

#[test]
fn version_1_tells_the_same_with_other_words() {
    let machine = Machine::drawn(MOUNTS_1);
    machine
        .draw("== proc/100/cgroup\n9:name=systemd:/user\n4:memory:/job/7\n2:cpu,cpuacct:/job:x\n");
    let memory = "sys/fs/cgroup/memory/job/7";
    machine.draw(&format!(
        "== {memory}/memory.usage_in_bytes\n1000\n== {memory}/memory.max_usage_in_bytes\n3000\n"
    ));
    machine.draw(&format!("== {memory}/memory.limit_in_bytes\n9223372036854771712\n"));
    machine.draw(&format!("== {memory}/memory.stat\ninactive_file 7\ntotal_inactive_file 400\n"));
    machine.draw("== sys/fs/cgroup/memory/job/memory.limit_in_bytes\n8000\n== sys/fs/cgroup/memory/memory.limit_in_bytes\n9223372036854771712\n");
    let cpu = "sys/fs/cgroup/cpu,cpuacct/job:x";
    machine
        .draw(&format!("== {cpu}/cpu.cfs_quota_us\n50000\n== {cpu}/cpu.cfs_period_us\n100000\n"));
    machine.draw(&format!(
        "== {cpu}/cpu.stat\nnr_periods 5\nnr_throttled 2\nthrottled_time 2500000000\n"
    ));
    machine.draw("== sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us\n-1\n== sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us\n100000\n");
    let sampled = machine.sampled();
    sampled.assert("cgroup.memory.used", "", 1000.0);
    sampled.assert("cgroup.memory.working_set", "", 600.0);
    sampled.assert("cgroup.memory.peak", "", 3000.0);
    sampled.assert("cgroup.memory.limit", "", 8000.0);
    sampled.assert("cgroup.cpu.throttled", "", 2.5);
    assert_eq!(sampled.fact("cgroup.version").as_deref(), Some("1"));
    assert_eq!(sampled.fact("cgroup.cpu.quota").as_deref(), Some("0.5"));
}

#[test]
fn the_largest_number_of_version_1_is_no_limit() {
    let machine = Machine::drawn(MOUNTS_1);
    machine
        .draw("== proc/100/cgroup\n4:memory:/\n== sys/fs/cgroup/memory/memory.usage_in_bytes\n1\n");
    for (limit, expected) in [
        ("9223372036854771712", None),
        ("9223372036854710272", None),
        ("1099511627776", Some(1_099_511_627_776.0)),
    ] {
        machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", limit);
        assert_eq!(machine.sampled().get("cgroup.memory.limit", ""), expected);
    }
}

#[test]
fn where_both_versions_are_each_controller_is_taken_from_its_own() {
    let machine = Machine::drawn(MOUNTS_1);
    let mounts = std::fs::read_to_string(machine.path("proc/self/mountinfo")).unwrap();
    let mounts =
        format!("{mounts}41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
    machine.write("proc/self/mountinfo", mounts);
    machine.draw("== proc/100/cgroup\n4:memory:/seven\n9:name=systemd:/user\n0::/unit\n");
    machine.draw("== sys/fs/cgroup/memory/seven/memory.usage_in_bytes\n1000\n== sys/fs/cgroup/unified/unit/memory.current\n1\n");
    machine.draw("== sys/fs/cgroup/unified/unit/cpu.max\n300000 100000\n== sys/fs/cgroup/unified/unit/cpu.stat\nthrottled_usec 7000000\n");
    machine.draw("== sys/fs/cgroup/unified/unit/io.pressure\nsome avg10=0.00 total=2000000\n== sys/fs/cgroup/unified/unit/cgroup.events\npopulated 1\n");
    let sampled = machine.sampled();
    sampled.assert("cgroup.memory.used", "", 1000.0);
    sampled.assert("cgroup.cpu.throttled", "", 7.0);
    sampled.assert("pressure.io.some", "cgroup", 2.0);
    assert_eq!(sampled.fact("cgroup.version").as_deref(), Some("1 and 2"));
    assert_eq!(sampled.fact("cgroup.cpu.quota").as_deref(), Some("3"));
}

#[test]
fn a_path_that_leads_out_of_the_namespace_or_nowhere_means_the_top_of_the_mount() {
    for path in ["/", "/../../other", "/..", "/docker/0123", "/gone (deleted)"] {
        let machine = Machine::drawn(MOUNT_2);
        machine.draw("== sys/fs/cgroup/memory.current\n42\n== sys/fs/cgroup/memory.max\n64\n");
        // What a path with `..` would lead to.
        machine.draw("== sys/other/memory.current\n1\n== other/memory.current\n1\n== sys/fs/memory.current\n1\n");
        machine.write("proc/100/cgroup", format!("0::{path}\n"));
        let sampled = machine.sampled();
        sampled.assert("cgroup.memory.used", "", 42.0);
        sampled.assert("cgroup.memory.limit", "", 64.0);
    }
}

#[test]
fn a_mount_that_shows_part_of_the_tree_is_followed_from_there() {
    let machine = Machine::drawn(
        "== proc/self/mountinfo
35 31 0:32 /docker/0123 /sys/fs/cgroup/my\\040memory\\134 rw,relatime master:7 propagate_from:2 - cgroup cgroup rw,memory
== proc/100/cgroup
4:memory:/docker/0123/inner
",
    );
    machine.draw("== sys/fs/cgroup/my memory\\/inner/memory.usage_in_bytes\n9\n== sys/fs/cgroup/my memory\\/memory.usage_in_bytes\n1\n");
    machine.sampled().assert("cgroup.memory.used", "", 9.0);
}

#[test]
fn a_cgroup_that_is_removed_is_nan() {
    let machine = Machine::drawn(MOUNT_2);
    machine.draw("== proc/100/cgroup\n0::/a\n== sys/fs/cgroup/a/memory.current\n5\n");
    let mut sampled = machine.sampled();
    machine.draw("== sys/fs/cgroup/a/memory.current\n");
    sampled.read_again();
    sampled.assert_nan("cgroup.memory.used", "");
}

#[test]
fn without_cgroups_there_is_a_reason() {
    let sampled = Machine::drawn("== proc/100/stat\n").sampled();
    assert!(sampled.why_not("cgroup.memory.used").contains("cgroup"));
    assert!(sampled.why_not("cgroup.cpu.throttled").contains("cgroup"));
    assert_eq!(sampled.fact("cgroup.version"), None);
}

#[test]
fn kills_for_lack_of_memory_are_counted_in_both_versions() {
    let machine = Machine::drawn(MOUNT_2);
    let kills = || super::super::cgroup::oom_kills(&machine.options());
    machine.draw("== proc/100/cgroup\n0::/a/b\n== sys/fs/cgroup/a/b/cgroup.events\npopulated 1\n");
    assert_eq!(kills(), None);
    machine.draw("== sys/fs/cgroup/a/memory.events\nlow 0\noom 7\noom_kill 3\noom_group_kill 9\n");
    assert_eq!(kills(), Some(3));
    machine.draw(MOUNTS_1);
    machine.draw("== proc/100/cgroup\n4:memory:/job\n== sys/fs/cgroup/memory/job/memory.oom_control\noom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    assert_eq!(kills(), Some(2));
}

use super::Machine;

const STAT: &str = "\
== proc/stat
cpu  300 20 100 5000 40 6 4 10 50 8
cpu0 200 10 60 2500 30 4 2 6 30 5
cpu1 100 10 40 2500 10 2 2 4 20 3
intr 987654 0 0 1 0
ctxt 12345
btime 1700000000
processes 77
softirq 5 1 2
== proc/loadavg
0.75 1.50 12.00 3/412 9876
== proc/sys/kernel/osrelease
6.1.0-made-up
";

#[test]
fn busy_time_is_all_but_idle_and_iowait_and_guests_count_once() {
    let sampled = Machine::drawn(STAT).sampled();
    // 300 + 20 + 100 + 6 + 4 + 10 ticks of a hundredth of a second.
    sampled.assert("host.cpu.busy", "", 4.40);
    sampled.assert("host.cpu.iowait", "", 0.40);
    sampled.assert("host.cpu.steal", "", 0.10);
    sampled.assert("core.cpu.busy", "0", 2.82);
    sampled.assert("core.cpu.busy", "1", 1.58);
    sampled.assert("host.context_switches", "", 12345.0);
    sampled.assert("host.load", "1", 0.75);
    sampled.assert("host.load", "5", 1.5);
    sampled.assert("host.load", "15", 12.0);
    assert_eq!(sampled.fact("host.cpus").as_deref(), Some("2"));
    assert_eq!(sampled.fact("host.kernel").as_deref(), Some("6.1.0-made-up"));
}

#[test]
fn a_counter_that_falls_stands_still_until_it_is_past_its_highest() {
    let machine = Machine::drawn(STAT);
    let mut sampled = machine.sampled();
    for (iowait, expected) in [("39", 0.40), ("12", 0.40), ("41", 0.41)] {
        machine
            .write("proc/stat", format!("cpu  300 20 100 5000 {iowait} 6 4 10 50 8\nctxt 12345\n"));
        sampled.read_again();
        sampled.assert("host.cpu.iowait", "", expected);
    }
}

#[test]
fn a_core_that_goes_offline_is_nan_until_it_is_back() {
    let machine = Machine::drawn(STAT);
    let mut sampled = machine.sampled();
    machine.write(
        "proc/stat",
        "cpu  301 20 100 5000 40 6 4 10\ncpu1 101 10 40 2500 10 2 2 4\nctxt 12346\n",
    );
    sampled.read_again();
    sampled.assert_nan("core.cpu.busy", "0");
    sampled.assert("core.cpu.busy", "1", 1.59);
    sampled.assert("host.cpu.busy", "", 4.41);
    machine.draw(STAT);
    sampled.read_again();
    sampled.assert("core.cpu.busy", "0", 2.82);
}

#[test]
fn cores_have_their_numbers_also_where_some_are_missing() {
    let sampled = Machine::drawn(
        "== proc/stat\ncpu  9 0 0 1 0 0 0 0\ncpu2 4 0 0 1 0 0 0 0\ncpu7 5 0 0 0 0 0 0 0\nctxt 1\n",
    )
    .sampled();
    sampled.assert("core.cpu.busy", "2", 0.04);
    sampled.assert("core.cpu.busy", "7", 0.05);
    assert_eq!(sampled.get("core.cpu.busy", "0"), None);
    assert_eq!(sampled.fact("host.cpus").as_deref(), Some("2"));
}

#[test]
fn what_an_old_kernel_does_not_count_is_absent() {
    let sampled = Machine::drawn("== proc/stat\ncpu  3 0 2 9\ncpu0 3 0 2 9\nctxt 1\n").sampled();
    sampled.assert("host.cpu.busy", "", 0.05);
    assert!(sampled.why_not("host.cpu.iowait").contains("kernel"));
    assert!(sampled.why_not("host.cpu.steal").contains("kernel"));
}

#[test]
fn waiting_time_is_in_seconds_of_the_machine_and_of_the_cgroup() {
    let machine = Machine::drawn(
        "== proc/pressure/cpu
some avg10=1.00 avg60=2.00 avg300=3.00 total=1500000
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
== proc/pressure/memory
some avg10=0.00 avg60=0.00 avg300=0.00 total=250
full avg10=0.00 avg60=0.00 avg300=0.00 total=50
== proc/100/cgroup
0::/job
== proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate
== sys/fs/cgroup/job/cgroup.events
populated 1
== sys/fs/cgroup/job/cpu.pressure
some avg10=0.00 avg60=0.00 avg300=0.00 total=42
full avg10=0.00 avg60=0.00 avg300=0.00 total=21
",
    );
    let sampled = machine.sampled();
    sampled.assert("pressure.cpu.some", "", 1.5);
    sampled.assert("pressure.memory.some", "", 0.00025);
    sampled.assert("pressure.memory.full", "", 0.00005);
    sampled.assert("pressure.cpu.some", "cgroup", 0.000_042);
    let why = sampled.why_not("pressure.io.full");
    assert!(why.contains("proc/pressure/io") && why.contains("psi=1"), "{why}");
}

#[test]
fn the_root_of_all_cgroups_has_no_waiting_time_of_its_own() {
    let machine = Machine::drawn(
        "== proc/pressure/cpu
some avg10=1.00 total=1500000
== proc/100/cgroup
0::/
== proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
== sys/fs/cgroup/cpu.pressure
some avg10=1.00 total=1500000
",
    );
    let sampled = machine.sampled();
    sampled.assert("pressure.cpu.some", "", 1.5);
    assert_eq!(sampled.get("pressure.cpu.some", "cgroup"), None);
}

#[test]
fn waiting_time_that_jumps_by_more_than_has_passed_is_left_out() {
    let machine = Machine::drawn(
        "== proc/100/cgroup
0::/job
== proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
== sys/fs/cgroup/job/cgroup.events
populated 1
",
    );
    let draw = |micros: u64| {
        let text = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={micros}\n");
        machine.write("proc/pressure/cpu", &text);
        machine.write("sys/fs/cgroup/job/cpu.pressure", &text);
    };
    draw(1_000_000);
    let mut sampled = machine.sampled();
    // 2³² ns more than there was time for, within the second second.
    for (micros, expected) in [
        (1_020_000, Some(1.02)),
        (5_314_967, None),
        (5_334_967, Some(1.04)),
        (5_334_967, Some(1.04)),
    ] {
        draw(micros);
        sampled.read_after(1_000_000_000);
        for subject in ["", "cgroup"] {
            match expected {
                Some(expected) => sampled.assert("pressure.cpu.some", subject, expected),
                None => sampled.assert_nan("pressure.cpu.some", subject),
            }
        }
    }
    // All of a long time that nobody read.
    draw(15_234_967);
    sampled.read_after(10_000_000_000);
    sampled.assert("pressure.cpu.some", "", 10.94);
}

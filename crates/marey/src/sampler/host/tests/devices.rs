use super::Machine;

#[test]
fn disks_are_whole_ones_that_store_something_of_their_own() {
    let line = "10 1 2048 500 20 2 4096 700 0 1250 1200 0 0 0 0 0 0\n";
    let machine = Machine::drawn("");
    for disk in [
        "nvme0n1",
        "sda",
        "sda/sda1",
        "dm-0",
        "md127",
        "loop0",
        "ram3",
        "zram0",
        "sr0",
        "rambo",
        "cciss!c0d0",
    ] {
        machine.write(&format!("sys/block/{disk}/stat"), line);
        machine
            .write(&format!("sys/block/{disk}/size"), if disk == "sr0" { "0\n" } else { "1000\n" });
        std::fs::create_dir_all(machine.path(&format!("sys/block/{disk}/slaves"))).unwrap();
    }
    machine.write("sys/block/dm-0/slaves/sda1", "");
    machine.write(
        "sys/block/sda/stat",
        "      10        1     2048  500 20 2     4096 700 0 1250 1200\n",
    );
    let sampled = machine.sampled();
    let series = crate::Source::series(&sampled.source);
    let read = series.iter().filter(|series| series.name == "disk.read");
    let disks: Vec<_> = read.map(|series| series.subject.as_str()).collect();
    assert_eq!(disks, ["cciss/c0d0", "md127", "nvme0n1", "rambo", "sda"]);
    for disk in disks {
        // Sectors of 512 bytes; milliseconds.
        sampled.assert("disk.read", disk, 1_048_576.0);
        sampled.assert("disk.written", disk, 2_097_152.0);
        sampled.assert("disk.busy", disk, 1.25);
    }
}

#[test]
fn a_disk_that_is_pulled_out_is_nan_and_the_others_go_on() {
    let machine = Machine::drawn(
        "== sys/block/sda/stat\n1 0 8 0 1 0 8 0 0 5 5\n== sys/block/sdb/stat\n1 0 8 0 1 0 8 0 0 5 5\n",
    );
    let mut sampled = machine.sampled();
    machine.draw("== sys/block/sda/stat\n== sys/block/sdb/stat\n1 0 16 0 1 0 8 0 0 5 5\n");
    sampled.read_again();
    sampled.assert_nan("disk.read", "sda");
    sampled.assert("disk.read", "sdb", 8192.0);
}

#[test]
fn disks_past_the_most_that_are_read_are_named() {
    let machine = Machine::drawn("");
    for disk in 10..50 {
        machine.write(&format!("sys/block/sd{disk}/stat"), "1 0 8 0 1 0 8 0 0 5 5\n");
    }
    let sampled = machine.sampled();
    assert_eq!(sampled.names().len(), 32 * 3);
    let unavailable = crate::Source::unavailable(&sampled.source);
    let left_out = unavailable.iter().filter(|lack| lack.what.starts_with("disk."));
    let left_out: Vec<_> = left_out.map(|lack| lack.what.as_str()).collect();
    assert_eq!(left_out.len(), 8);
    assert_eq!(left_out[0], "disk.read, disk.written, disk.busy of sd42");
}

#[test]
fn interfaces_have_their_bytes_whatever_they_are_called() {
    let mut text = b"Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:   16003     222    0    0    0     0          0         0    16003     222    0    0    0     0       0          0
  eth0:3875602826   88573    0    0    0     0          0         0  4833047   60139    0    0    0     0       0          0
vethab12: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0
w-\xe2\x82\xac.7: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0
".to_vec();
    text.extend(b"odd\xff: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n");
    let machine = Machine::drawn("");
    machine.write("proc/100/net/dev", &text);
    let mut sampled = machine.sampled();
    sampled.assert("host.network.received", "eth0", 3_875_602_826.0);
    sampled.assert("host.network.sent", "eth0", 4_833_047.0);
    sampled.assert("host.network.sent", "w-€.7", 6.0);
    sampled.assert("host.network.received", "odd\\xff", 7.0);
    assert_eq!(sampled.names().len(), 6);
    // One goes, one comes, and the order changes.
    machine.write("proc/100/net/dev", "new: 9 0 0 0 0 0 0 0 9 0\nw-€.7: 50 1 0 0 0 0 0 0 60 1 0 0 0 0 0 0\neth0: 3875602827 0 0 0 0 0 0 0 4833048 0\n");
    sampled.read_again();
    sampled.assert("host.network.received", "eth0", 3_875_602_827.0);
    sampled.assert("host.network.sent", "w-€.7", 60.0);
    sampled.assert_nan("host.network.received", "odd\\xff");
}

#[test]
fn a_process_that_sees_only_itself_has_no_network() {
    let sampled = Machine::drawn("== proc/100/net/dev\n    lo:   16003     222    0    0    0     0          0         0    16003     222    0\n").sampled();
    assert!(sampled.why_not("host.network.received").contains("lo"));
}

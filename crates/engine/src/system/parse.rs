//! The kernel's texts, read into counters.

use record::Memory;

use super::counters::{DeviceCounters, Flushes};

/// `/proc/stat` counts in ticks of `USER_HZ`, which is 100 on every Linux that feedline runs on.
const NS_PER_TICK: u64 = 10_000_000;
const NS_PER_MS: u64 = 1_000_000;
/// The unit of `/proc/diskstats`, whatever the sectors of the device.
const SECTOR_BYTES: u64 = 512;
const KIB: u64 = 1_024;

/// Counters that every kernel has.
const DEVICE_FIELDS: usize = 11;
/// Those of discards, which follow since 4.18; behind them those of flushes since 5.5.
const DISCARD_FIELDS: usize = 4;

/// What follows the name in the row of `/proc/diskstats` that has it: `259 0 nvme0n1 10 0 80 …`.
pub(super) fn row_of<'a>(diskstats: &'a str, name: &str) -> Option<&'a str> {
    diskstats.lines().find_map(|line| {
        let (_major, rest) = line.trim_start().split_once(' ')?;
        let (_minor, rest) = rest.trim_start().split_once(' ')?;
        rest.trim_start().strip_prefix(name).filter(|row| row.starts_with(' '))
    })
}

impl DeviceCounters {
    /// The fields of Documentation/admin-guide/iostats.rst. Rows of fewer than eleven (partitions before 2.6.25) are `None`.
    pub(super) fn parse(row: &str) -> Option<Self> {
        let mut fields = [0; DEVICE_FIELDS];
        let mut words = row.split_whitespace();
        for field in &mut fields {
            *field = words.next()?.parse::<u64>().ok()?;
        }
        let [reads, merged, sectors, read_ms, writes, _, written_sectors, write_ms, _, busy_ms, weighted_ms] =
            fields;
        Some(Self {
            reads,
            reads_merged: merged,
            read_bytes: sectors.checked_mul(SECTOR_BYTES)?,
            read_ns: read_ms.checked_mul(NS_PER_MS)?,
            writes,
            write_bytes: written_sectors.checked_mul(SECTOR_BYTES)?,
            write_ns: write_ms.checked_mul(NS_PER_MS)?,
            busy_ns: busy_ms.checked_mul(NS_PER_MS)?,
            weighted_ns: weighted_ms.checked_mul(NS_PER_MS)?,
            flushes: flushes(words.skip(DISCARD_FIELDS)),
        })
    }
}

/// Flushes, where the row has them.
fn flushes<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Flushes> {
    let mut field = || words.next()?.parse::<u64>().ok();
    Some(Flushes { count: field()?, time_ns: field()?.checked_mul(NS_PER_MS)? })
}

/// `read_bytes` of `/proc/self/io`: what this process made block devices deliver, read-ahead included.
pub(super) fn process_read_bytes(io: &str) -> Option<u64> {
    io.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}

/// What `/proc/PID/stat` says of a process: `7 (name) S …`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Name of the command. It may hold any bytes, also brackets and control characters; all but visible ASCII becomes `?`.
    /// Kernel workers have their plain name, without what they do at the time.
    pub(super) name: String,
    /// In user and kernel mode.
    pub(super) cpu_ns: u64,
    /// After the machine began.
    pub(super) begun_ticks: u64,
}

/// `None` where it is cut.
pub(super) fn stat(stat: &str) -> Option<Stat> {
    // The last bracket: a command may be named `a) b`.
    let (begin, end) = (stat.find('(')?, stat.rfind(')')?);
    let name = stat.get(begin + 1..end)?;
    // Their names change with what they do, and dozens of them would each be below the limit for a name.
    let name = if name.starts_with("kworker/") { "kworker" } else { name };
    let name = name.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect();
    // The third field follows the name.
    let fields: Vec<&str> = stat[end + 1..].split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let cpu_ns = field(14)?.checked_add(field(15)?)?.checked_mul(NS_PER_TICK)?;
    Some(Stat { name, cpu_ns, begun_ticks: field(22)? })
}

/// The busy time of every processor that is online.
pub(super) fn core_busy_ns(stat: &str) -> Vec<u64> {
    let is_core = |line: &&str| line.as_bytes().get(3).is_some_and(u8::is_ascii_digit);
    let cores = stat.lines().take_while(|line| line.starts_with("cpu")).filter(is_core);
    cores.map(busy_ns).collect::<Option<_>>().unwrap_or_default()
}

/// `cpu0 user nice system idle iowait irq softirq steal guest guest_nice`: all that is neither `idle` nor `iowait`.
/// Guests are counted in `user` already.
fn busy_ns(line: &str) -> Option<u64> {
    let ticks: Vec<u64> =
        // Without the two guest columns at the end.
        line.split_whitespace().skip(1).take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let busy = ticks.iter().enumerate().filter(|(field, _)| !matches!(field, 3 | 4));
    busy.map(|(_, ticks)| *ticks).sum::<u64>().checked_mul(NS_PER_TICK)
}

/// The eighth figure of the first line, `cpu user nice system idle iowait irq softirq steal …`.
pub(super) fn steal_ns(stat: &str) -> Option<u64> {
    let ticks: u64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    ticks.checked_mul(NS_PER_TICK)
}

/// `MemAvailable`, `Cached`, `Dirty` of `/proc/meminfo`; the first is there since Linux 3.14.
pub(super) fn memory(meminfo: &str) -> Option<Memory> {
    let bytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(KIB)
    };
    Some(Memory {
        available_bytes: bytes("MemAvailable")?,
        cached_bytes: bytes("Cached")?,
        dirty_bytes: bytes("Dirty")?,
    })
}

/// The second figure of `/proc/self/statm` (proc(5)), which counts pages.
pub(super) fn resident_bytes(statm: &str, page_bytes: u64) -> Option<u64> {
    statm.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 3.10 (11 fields), with a partition and names that begin alike.
    const LINUX_3_10: &str = "   8       0 sda 4219 17 337520 2851 1200 900 16800 4100 0 3020 6950\n   \
                              8       1 sda1 4100 15 336000 2800 1190 890 16700 4090 0 3000 6890\n  \
                              65     160 sdaa 1 2 3 4 5 6 7 8 9 10 11\n";
    /// Linux 4.19: four fields of discards.
    const LINUX_4_19: &str = " 259       0 nvme0n1 500 3 64000 75 20 1 320 9 2 60 84 11 0 2048 5\n";
    /// Linux 6.1: two more of flushes.
    const LINUX_6_1: &str = " 254       0 vda 33496094 304681 7296422717 14056626 511409 669478 153572360 667644 0 1529920 \
         14807311 534193 75 133606072 69327 249224 13713\n";

    fn counters(diskstats: &str, name: &str) -> Option<DeviceCounters> {
        DeviceCounters::parse(row_of(diskstats, name)?)
    }

    #[test]
    fn what_is_resident_is_the_second_figure() {
        assert_eq!(resident_bytes("40213 9001 2310 88 0 5520 0\n", 4_096), Some(36_868_096));
        assert_eq!((resident_bytes("7", 4_096), resident_bytes("7 x", 4_096)), (None, None));
    }

    #[test]
    fn eleven_fields_of_old_kernels_are_read() {
        let expected = DeviceCounters {
            reads: 4_219,
            reads_merged: 17,
            read_bytes: 337_520 * 512,
            read_ns: 2_851_000_000,
            writes: 1_200,
            write_bytes: 16_800 * 512,
            write_ns: 4_100_000_000,
            busy_ns: 3_020_000_000,
            weighted_ns: 6_950_000_000,
            flushes: None,
        };
        assert_eq!(counters(LINUX_3_10, "sda"), Some(expected));
    }

    #[test]
    fn a_device_is_found_by_its_whole_name() {
        assert_eq!(counters(LINUX_3_10, "sda1").unwrap().reads, 4_100);
        assert_eq!(counters(LINUX_3_10, "sdaa").unwrap().reads, 1);
        assert_eq!(counters(LINUX_3_10, "sd"), None);
        assert_eq!(counters(LINUX_3_10, "sdb"), None);
    }

    #[test]
    fn discards_of_newer_kernels_change_nothing_and_flushes_are_read() {
        let nvme = counters(LINUX_4_19, "nvme0n1").unwrap();
        assert_eq!((nvme.reads, nvme.busy_ns, nvme.weighted_ns), (500, 60_000_000, 84_000_000));
        let vda = counters(LINUX_6_1, "vda").unwrap();
        assert_eq!((vda.reads_merged, vda.read_bytes), (304_681, 7_296_422_717 * 512));
        assert_eq!((vda.busy_ns, vda.weighted_ns), (1_529_920_000_000, 14_807_311_000_000));
        let flushes = |count, time_ns| Some(Flushes { count, time_ns });
        assert_eq!((nvme.flushes, vda.flushes), (None, flushes(249_224, 13_713_000_000)));
        let later = format!("{} 1 2 3\n", LINUX_6_1.trim_end());
        assert_eq!(counters(&later, "vda"), Some(vda));
    }

    #[test]
    fn a_devices_own_file_has_the_same_fields() {
        let own = "     500        3    64000       75       20        1      320        9        2       60       84 \
                   11 0 2048 5\n";
        assert_eq!(DeviceCounters::parse(own), counters(LINUX_4_19, "nvme0n1"));
    }

    #[test]
    fn rows_that_are_cut_or_garbled_are_none() {
        assert_eq!(counters("   8       1 sda1 4100 15 336000 2800\n", "sda1"), None);
        assert_eq!(counters("   8       1 sda 1 2 3 4 5 6 x 8 9 10 11\n", "sda"), None);
        assert_eq!(counters(&format!(" 8 1 sda 1 2 {} 4 5 6 7 8 9 10 11\n", u64::MAX), "sda"), None);
        assert_eq!((counters("", "sda"), counters("\n8 \n8 0\n8 0 sda", "sda")), (None, None));
    }

    #[test]
    fn a_process_reads_what_its_io_says() {
        let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 6\n\
                  cancelled_write_bytes: 7\n";
        assert_eq!(process_read_bytes(io), Some(4_096));
        assert_eq!(process_read_bytes("rchar: 1\n"), None);
    }

    #[test]
    fn a_program_has_a_name_without_traps_and_its_processor_time() {
        let told = |name: &str| {
            let stat = stat(&format!(
                "4711 ({name}) S 1 4711 4711 0 -1 4194560 100 0 0 0 25 17 3 4 20 0 1 0 9876 0 0\n"
            ));
            stat.map(|stat| (stat.name, stat.cpu_ns, stat.begun_ticks))
        };
        let expected = |name: &str| Some((name.to_owned(), 420_000_000, 9_876));
        assert_eq!(told("fio"), expected("fio"));
        assert_eq!(told("a) R (b"), expected("a)?R?(b"));
        assert_eq!(told("\u{1b}[2J"), expected("?[2J"));
        assert_eq!(told("kworker/u8:3-iou_exit"), expected("kworker"));
        assert_eq!((stat("1 (x) S 1"), stat(")(")), (None, None));
    }

    #[test]
    fn a_processor_is_busy_but_for_idle_and_iowait() {
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 4 100 200 8 16 32 1000 1000\ncpu11 1 1 1 1 1 1 1\n\
                    intr 5 cpu3\n";
        assert_eq!(core_busy_ns(stat), [63 * NS_PER_TICK, 5 * NS_PER_TICK]);
        assert_eq!(core_busy_ns("cpu  1 2\ncpu0 1 x\n"), Vec::<u64>::new());
        assert_eq!(core_busy_ns(""), Vec::<u64>::new());
    }

    #[test]
    fn stolen_time_is_the_eighth_figure() {
        assert_eq!(steal_ns("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 …"), Some(80_000_000));
        assert_eq!(steal_ns("cpu  1 2 3 4 5 6 7\n"), None);
        assert_eq!(steal_ns(""), None);
    }

    #[test]
    fn memory_is_in_bytes_and_only_whole() {
        let meminfo = "MemTotal:       24684084 kB\nMemAvailable:   2000 kB\nCached:           300 kB\n\
                       SwapCached:            7 kB\nDirty:                40 kB\n";
        let expected = Memory { available_bytes: 2_048_000, cached_bytes: 307_200, dirty_bytes: 40_960 };
        assert_eq!(memory(meminfo), Some(expected));
        assert_eq!(memory("MemTotal: 1 kB\nCached: 1 kB\nDirty: 1 kB\n"), None);
    }
}

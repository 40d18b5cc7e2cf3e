use analysis::summarise;
use record::testing::fact;
use record::{Line, Memory, RunRecord};
use report::{Screen, markdown, terminal};

use crate::checks::throughput;
use crate::records;

fn assert_page(page: &str) {
    for line in page.lines() {
        assert!(line.len() <= 80, "{} columns: {line}", line.len());
        assert!(line.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "not plain ASCII: {line}");
        assert_eq!(line, line.trim_end());
    }
    assert!(page.ends_with('\n') && !page.contains("\n\n"));
}

#[test]
fn the_terminal_page_of_the_golden_record() {
    let page = terminal(&records::golden_summary(), Screen::PLAIN);
    assert_page(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn the_verdicts_are_the_last_lines() {
    let page = terminal(&records::golden_summary(), Screen::PLAIN);
    let last: Vec<&str> = page.lines().rev().take(20).collect();
    assert!(last.iter().any(|line| line.starts_with("FEEDS     nvme")));
    assert!(last.iter().any(|line| line.starts_with("UNCERTAIN array")));
}

#[test]
fn the_markdown_report_of_the_golden_record() {
    insta::assert_snapshot!(markdown(&records::golden_summary()));
}

#[test]
fn a_run_of_several_ways_names_each_of_them() {
    let ways = [("random", "bypass", 131_072, 0.9), ("sequential", "warm", 1_048_576, 1.4)];
    let page = terminal(&summarise(&records::in_ways(&ways)), Screen::PLAIN);
    assert_page(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn gpus_of_the_machine_have_a_table_where_there_are_any() {
    let heading = "GPUs of this machine";
    assert!(!markdown(&records::golden_summary()).contains(heading));
    let mut record = records::golden();
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            let gpu = |index, busy_permille, received_bytes| record::Gpu {
                index,
                name: "NVIDIA H100 80GB HBM3".to_owned(),
                busy_permille,
                received_bytes,
                sent_bytes: None,
                wall_ns: rep.window_ns,
            };
            let bytes = rep.window_ns * 3;
            rep.system.gpus = vec![gpu(0, Some(617), Some(bytes)), gpu(1, None, None)];
        }
    }
    let page = markdown(&summarise(&record));
    let rows: Vec<&str> =
        page.split(heading).nth(1).unwrap().lines().filter(|line| line.contains("H100 80GB")).collect();
    assert!(rows[0].ends_with("| 0 | NVIDIA H100 80GB HBM3 | 62 % | 3,000 | - |"), "{}", rows[0]);
    assert!(rows[1].ends_with("| 1 | NVIDIA H100 80GB HBM3 | - | - | - |"), "{}", rows[1]);
}

#[test]
fn a_way_that_does_not_reach_the_line_is_said_below_the_verdict() {
    let summary = summarise(&records::in_ways(&[("random", "bypass", 131_072, 0.1)]));
    let page = terminal(&summary, Screen::PLAIN);
    let after = page.split("FEEDS     nvme").nth(1).unwrap();
    let below = after.lines().find(|line| line.contains("not at")).unwrap();
    assert_eq!(below, "                 not at random (depths 8-128: 7.9 to 42 % of its line)");
    let report = markdown(&summary);
    let row = report.lines().find(|line| line.starts_with("| **FEEDS**")).unwrap();
    assert!(row.ends_with("<br>not at random (depths 8-128: 7.9 to 42 % of its line) |"), "{row}");
}

fn data_line(record: &record::RunRecord) -> String {
    let page = terminal(&summarise(record), Screen::PLAIN);
    page.lines().find(|line| line.starts_with("data ")).unwrap().to_owned()
}

#[test]
fn data_of_which_nothing_was_read_is_not_praised_for_it() {
    let mut record = records::golden();
    record.lines.retain(|line| !matches!(line, Line::Rep(_)));
    record.run.datasets[0].files = 1;
    record.run.datasets[0].bytes = 114_660;
    let line = data_line(&record);
    assert!(
        line.starts_with("data  1 file of 114,660 B (") && line.ends_with("; nothing was read"),
        "{line}"
    );

    let mut record = records::golden();
    record.run.targets.retain(|target| !target.storage);
    record.run.cells.retain(|cell| cell.target == "null");
    record.run.datasets[0].target = "null".to_owned();
    assert_eq!(data_line(&record), "data  none: the null target reads nothing");
    assert!(terminal(&summarise(&record), Screen::PLAIN).contains("ran   1 cell x 5"));
}

#[test]
fn data_of_spread_sizes_and_devices_is_told_as_what_it_is() {
    let mut record = records::golden();
    let dataset = &mut record.run.datasets[0];
    (dataset.files, dataset.bytes, dataset.lognormal_stdev_bytes) = (1_000, 113_420_000, Some(57_330));
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    let words = "data  1,000 files of 113,420 B on average (lognormal, standard deviation 57,330 B)";
    assert!(
        page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words.replace("  ", " ")),
        "{page}"
    );

    let mut record = records::golden();
    let dataset = &mut record.run.datasets[0];
    (dataset.files, dataset.bytes) = (1, 512 << 20);
    let node = record::Fact { name: "device_node".to_owned(), value: "/dev/vdb".to_owned() };
    record.run.targets[0].facts.push(node);
    let line = data_line(&record);
    assert!(line.starts_with("data  a device of 512 MiB, samples of 114,660 B, shuffled_epoch"), "{line}");
}

#[test]
fn a_record_without_a_plan_or_a_line_has_no_empty_line_for_them() {
    let mut record = records::golden();
    record.run.plan_hash.clear();
    record.run.need.samples_per_s = None;
    let summary = summarise(&record);
    assert_page(&terminal(&summary, Screen::PLAIN));
    assert!(!markdown(&summary).contains("| plan |"));
    assert!(!terminal(&summary, Screen::PLAIN).contains("plan "), "{}", terminal(&summary, Screen::PLAIN));
}

#[test]
fn rows_that_look_alike_are_told_apart_by_how_they_were_read() {
    let mut record = records::in_ways(&[("shuffled_epoch", "warm", 131_072, 1.0)]);
    for cell in &mut record.run.cells {
        let axis = |name: &str, value: &str| record::AxisWords {
            name: name.to_owned(),
            value: value.to_owned(),
            unit: String::new(),
        };
        cell.axes = vec![axis("target", &cell.target), axis("cache", cell.cache.as_str())];
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    let after = |title: &str| page.split(title).nth(1).unwrap().split("\n- ").next().unwrap().to_owned();
    for (title, told) in [
        ("- metadata", ["cold; names and inodes", "warm"]),
        ("- where a file's", ["  cold", "  warm"]),
        ("- paced", ["bypass; poisson", "warm; poisson"]),
    ] {
        let table = after(title);
        assert!(told.iter().all(|words| table.contains(words)), "{title}: {table}");
    }
    // Of the device the judged rows alone are shown, and still say which of all they are.
    let device = after("- the device below");
    assert!(device.contains("all 18 in") && device.contains("bypass"), "{device}");
}

#[test]
fn a_map_is_named_with_what_the_kernel_was_told_of_it() {
    let mut record = records::golden();
    for cell in record.run.cells.iter_mut().filter(|cell| cell.cell.starts_with("nvme/io_uring")) {
        cell.engine = "mmap".to_owned();
        cell.axes = vec![record::AxisWords {
            name: "madvise".to_owned(),
            value: "random".to_owned(),
            unit: String::new(),
        }];
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    assert!(page.contains("FEEDS     nvme   8 x h100 resnet50 from depth 32 (mmap (random))"), "{page}");
    let device = page.split("- the device below").nth(1).unwrap();
    assert!(device.contains("nvme   mmap (random)"), "{device}");
}

#[test]
fn a_warm_cell_asked_what_this_process_read_whatever_the_device_did() {
    let mut record = records::golden();
    for cell in record.run.cells.iter_mut().filter(|cell| cell.cell == "nvme/io_uring/qd8") {
        cell.cache = "warm".into();
    }
    for line in &mut record.lines {
        if let Line::Rep(rep) = line
            && rep.cell == "nvme/io_uring/qd8"
        {
            rep.system.process_read_bytes = Some(0);
        }
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    let device = page.split("- the device below").nth(1).unwrap();
    let row = device.lines().find(|line| line.starts_with("nvme") && line.contains("io_uring   8")).unwrap();
    assert_eq!(row.split_whitespace().rev().nth(1), Some("0"), "{row}");
}

#[test]
fn cells_that_write_show_what_the_device_wrote() {
    let mut record = records::golden();
    record.run.cells.iter_mut().for_each(|cell| cell.operation = "write".into());
    for line in &mut record.lines {
        let Line::Rep(rep) = line else { continue };
        let Some(device) = &mut rep.system.device else { continue };
        (device.reads, device.read_bytes) = (0, 0);
        (device.writes, device.write_bytes) = (2_000, 2_000_000_000);
        device.write_ns = 4_000_000_000;
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    let (_, table) = page.split_once("- the device below").unwrap();
    let heading = table.lines().find(|line| line.starts_with("target")).unwrap();
    assert!(heading.contains("writes/s") && !heading.contains("reads/s"), "{heading}");
    let row = table.lines().find(|line| line.starts_with("nvme")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[2..6], ["8", "1,000", "1,000", "2.0"], "{row}");
}

#[test]
fn a_target_is_told_by_what_is_known_of_it() {
    let mut record = records::golden();
    record.run.targets[0]
        .facts
        .extend([fact("mount_source", "/dev/nvme0n1"), fact("device_model", "P5800X")]);
    record.run.targets[1].facts.clear();
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    let places: Vec<&str> = page.lines().filter(|line| line.starts_with("at ")).collect();
    let expected = [
        "at    nvme: /mnt/nvme/bench on ext4 (/dev/nvme0n1, P5800X)",
        "at    filer: /mnt/filer/bench",
        "at    array: /mnt/array/bench on xfs",
        "at    tree: /mnt/tree/bench on ext4 (QEMU HARDDISK)",
        "at    stream: /mnt/stream/bench on ext4 (QEMU HARDDISK)",
    ];
    assert_eq!(places, expected);
}

#[test]
fn pages_hold_their_width_whatever_the_figures() {
    for factor in [1e-9, 1e-6, 1e-3, 1e3, 1e6] {
        assert_page(&terminal(&summarise(&records::scaled(factor)), Screen::PLAIN));
    }
    assert_page(&terminal(&summarise(&records::with_targets(&[0.1; 12])), Screen::PLAIN));
    assert_page(&terminal(&summarise(&records::at_one_depth(128)), Screen::PLAIN));
}

#[test]
fn pages_hold_their_width_whatever_the_names() {
    assert_page(&terminal(&summarise(&records::with_long_names()), Screen::PLAIN));
}

#[test]
fn a_run_of_names_alone_has_a_table_and_no_verdict() {
    let mut record = records::golden();
    record.run.cells.retain(|cell| cell.operation == feed::Operation::Stat);
    record.run.targets.retain(|target| target.name == "tree");
    record.run.skipped.clear();
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    assert!(page.contains("\ntree   stat pread  16    80.2"), "{page}");
    assert!(page.ends_with("UNJUDGED  tree only names were asked for (stat): no verdict\n"), "{page}");
    assert!(!page.contains("of line"), "a table of throughput without a row:\n{page}");
}

#[test]
fn a_paced_load_below_the_line_is_shown_and_not_judged() {
    let mut record = records::golden();
    records::scale_need(&mut record, 2.0);
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    let after = page.split("- paced").nth(1).unwrap();
    assert!(after.contains("poisson arrivals; offers 50 % of the line: no verdict"), "{page}");
    assert!(page.contains("UNJUDGED  stream offers 50 % of the line: no verdict"), "{page}");
}

#[test]
fn a_memory_map_tells_its_faults() {
    let mut record = records::golden();
    for cell in record.run.cells.iter_mut().filter(|cell| cell.cell == "nvme/io_uring/qd8") {
        cell.engine = "mmap".to_owned();
    }
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            rep.usage.minor_faults = rep.counters.get("ops").copied().unwrap_or(0) / 10;
            rep.usage.major_faults = 2 * rep.counters.get("ops").copied().unwrap_or(0);
        }
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    assert_eq!(page.matches("0.10 minor and 2.0 major faults per read").count(), 1, "{page}");
}

#[test]
fn many_cells_show_what_the_device_did_for_the_judged_alone() {
    let few = terminal(&records::golden_summary(), Screen::PLAIN);
    let many = terminal(&summarise(&records::in_ways(&[("random", "bypass", 131_072, 0.9)])), Screen::PLAIN);
    let rows = |page: &str| {
        let table = page.split("- the device below").nth(1).unwrap().to_owned();
        table
            .lines()
            .skip_while(|line| !line.starts_with("target"))
            .skip(1)
            .take_while(|line| !line.starts_with("  %util"))
            .count()
    };
    assert_eq!((rows(&few), rows(&many)), (9, 3));
    let title = |page: &str| page.contains("(the judged cells; all 18 in");
    assert!(title(&many) && !title(&few), "{many}");
    assert!(few.contains("bytes nvme/pread/qd128: others read 6.3 GB from the device meanwhile"), "{few}");
}

#[test]
fn every_cell_is_in_the_markdown_report() {
    let summary = summarise(&records::with_targets(&[0.5; 8]));
    let report = markdown(&summary);
    let columns = |line: &str| line.split(" |").count();
    let head = report.lines().find(|line| line.contains("| p99 ms |")).unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && columns(line) == columns(head) && *line != head;
    let rows = report.lines().filter(is_row).count();
    assert!(rows >= summary.cells.len(), "{rows} rows for {} cells", summary.cells.len());
    let page = terminal(&summary, Screen::PLAIN);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("one cell of each curve, and those without figures; all "), "{page}");
    assert!(page.contains("failed: cannot open 128 files"), "failed cells stay in the short table");
}

#[test]
fn markup_in_a_record_stays_text() {
    let mut record = records::golden();
    record.run.title = Some("a | b <script> *c*\nd".to_owned());
    let report = markdown(&summarise(&record));
    assert!(report.starts_with("# a \\| b &lt;script> \\*c\\* d\n"), "{report}");
}

#[test]
fn a_cut_record_is_rendered_with_its_loss() {
    let mut record = records::golden();
    record.lines.retain(|line| !matches!(line, Line::End(_)));
    record.loss = Some("the last line is incomplete".to_owned());
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    assert!(page.contains("the run was cut") && page.contains("the last line is incomplete"), "{page}");
}

#[test]
fn an_empty_record_is_rendered() {
    let mut record = records::golden();
    record.lines.clear();
    assert_page(&terminal(&summarise(&record), Screen::PLAIN));
    assert!(markdown(&summarise(&record)).contains("nothing was measured"));
    record.run.cells.clear();
    record.run.targets.clear();
    record.run.datasets.clear();
    assert_page(&terminal(&summarise(&record), Screen::PLAIN));
}

#[test]
fn the_terminal_page_of_storages_behind_a_network() {
    let page = terminal(&summarise(&records::networks()), Screen::PLAIN);
    assert_page(&page);
    insta::assert_snapshot!(page);
}

#[test]
fn the_markdown_report_of_storages_behind_a_network() {
    insta::assert_snapshot!(markdown(&summarise(&records::networks())));
}

#[test]
fn a_demo_is_called_one_wherever_it_is_shown() {
    let summary = summarise(&records::networks());
    let page = terminal(&summary, Screen::PLAIN);
    let verdict = page.lines().find(|line| line.starts_with("DEMO ")).unwrap();
    assert!(verdict.starts_with("DEMO      lab "), "{verdict}");
    assert!(
        page.contains("gate  inconclusive: lab must FEED: not decided: a demo cannot be judged"),
        "{page}"
    );
    for word in ["FEEDS", "STARVES", "UNCERTAIN"] {
        assert!(page.lines().all(|line| !(line.starts_with(word) && line.contains(" lab "))), "{page}");
    }
    assert!(markdown(&summary).contains("| **DEMO** | lab | "));
}

/// The record of storages behind a network with one more target, which was read through memory maps.
fn with_a_map() -> record::RunRecord {
    let mut record = records::networks();
    for cell in record.run.cells.iter_mut().filter(|cell| cell.engine == "pread") {
        (cell.target, cell.engine, cell.cache) = ("map".to_owned(), "mmap".to_owned(), "cold".into());
    }
    let like = record.run.targets[0].clone();
    record.run.targets.push(record::Target { name: "map".to_owned(), title: "map".to_owned(), ..like });
    record
}

#[test]
fn maps_and_storages_behind_a_network_share_a_table_and_a_plot() {
    let summary = summarise(&with_a_map());
    let page = terminal(&summary, Screen::PLAIN);
    assert_page(&page);
    let words = "from storage: bypass (io_uring, nfs3, lean, sdk), cold (mmap)";
    assert!(markdown(&summary).contains(words), "{}", markdown(&summary));
    assert!(page.contains("\n- cells: 114,660 B samples, 128 KiB blocks,"), "read in one way\n{page}");
    assert!(throughput(&summary).contains(words));
    let mut both = with_a_map();
    for cell in both.run.cells.iter_mut().filter(|cell| cell.target == "map") {
        cell.target = "nvme".to_owned();
    }
    let page = terminal(&summarise(&both), Screen::PLAIN);
    assert!(
        page.contains("\n- bypass\n") && page.contains("\n- cold\n"),
        "nvme was read in both ways\n{page}"
    );
}

#[test]
fn no_block_device_is_expected_behind_a_network() {
    let mut record = records::networks();
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            rep.system.process_read_bytes = Some(0);
            rep.system.device = None;
        }
    }
    let page = terminal(&summarise(&record), Screen::PLAIN);
    assert_page(&page);
    let bytes: Vec<&str> = page.lines().filter(|line| line.starts_with("bytes ")).collect();
    assert!(bytes.iter().all(|line| line.contains("6 cells") && line.contains("nvme/")), "{bytes:?}");
    let device = page.split("- the device below").nth(1).unwrap().split("\nbytes ").next().unwrap();
    assert!(!device.contains("nfs3") && !device.contains("lean") && !device.contains("mount"), "{device}");
}

#[test]
fn what_does_not_fit_on_the_wire_is_said_once_for_a_target() {
    let mut record = records::networks();
    for line in &mut record.lines {
        if let Line::Rep(rep) = line
            && rep.cell.starts_with("filer2/")
        {
            let network = rep.system.network.as_mut().unwrap();
            network.received_bytes *= if rep.cell.ends_with("/qd32") { 3 } else { 2 };
        }
    }
    let report = markdown(&summarise(&record));
    let lines: Vec<&str> = report.lines().filter(|line| line.contains("the interface carried")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("- 3 cells of filer2, the most in filer2/nfs3/qd32: "), "{lines:?}");
}

#[test]
fn what_is_said_of_a_target_is_shown_where_it_may_be_published() {
    let summary = summarise(&records::networks());
    for page in [terminal(&summary, Screen::PLAIN), markdown(&summary)] {
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("about: what is said of filer2"), "{page}");
        assert!(!page.contains("what is said of s3"), "{page}");
    }
}

#[test]
fn segments_sent_again_and_the_busiest_core_stand_in_the_table_of_the_network() {
    let report = markdown(&summarise(&records::networks()));
    let table = report.split("## Network\n").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(table.contains("| p99 op | busiest core |"), "{table}");
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("| filer2 ").ends_with("| 50 % | 20 TCP segments sent again |"), "{table}");
    assert!(row("| lab ").ends_with("| - |  |"), "{table}");
}

/// The golden record on a machine that writes meanwhile.
fn writing() -> RunRecord {
    let mut record = records::golden();
    let memory =
        |available_bytes, dirty_bytes| Some(Memory { available_bytes, dirty_bytes, ..Memory::default() });
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            let system = &mut rep.system;
            if let Some(device) = &mut system.device {
                (device.writes, device.write_ns) = (1_000, 3_500_000_000);
                device.write_bytes = device.wall_ns / 5;
            }
            system.memory_before = memory(12_000_000_000, 0);
            system.memory_after = memory(8_000_000_000, 400_000_000);
        }
    }
    record
}

#[test]
fn what_was_written_and_what_memory_was_left_stand_beside_what_was_read() {
    let record = writing();
    let summary = summarise(&record);
    let page = markdown(&summary);
    let section = page.split("\n## ").find(|section| section.contains("w_await ms")).unwrap();
    let last_columns = |row: &str| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        [cells[1], cells[2], cells[3]]
            .into_iter()
            .chain(cells[18..22].iter().copied())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let rows = section.lines().filter(|line| line.starts_with("| ")).map(last_columns).take(3);
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    assert!(
        terminal(&summary, Screen::PLAIN).contains("r_await")
            && !terminal(&summary, Screen::PLAIN).contains("w_await")
    );
    let text = report::export::csv(&record, &summary).text;
    for metric in [
        "device_written_bps,B/s,200000000",
        "device_write_await_ns,ns,3500000",
        "memory_dirty_max_bytes,B,400000000",
    ] {
        assert!(text.contains(&format!(",{metric},")), "{metric}");
    }
}

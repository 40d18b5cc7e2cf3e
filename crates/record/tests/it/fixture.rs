//! Records of older formats are read for ever. One committed directory for each format.

use std::path::{Path, PathBuf};

use record::{Captured, Format, Line, Outcome, Rep, System, counter, read_intervals, read_run};

use crate::sample;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
#[ignore = "writes tests/fixtures/v1_1, which is committed and never changed"]
fn write_v1_1() {
    sample::write(&fixture("v1_1"));
}

fn reps(name: &str) -> Vec<Rep> {
    let lines = read_run(&fixture(name)).unwrap().lines;
    lines.into_iter().filter_map(|line| if let Line::Rep(rep) = line { Some(*rep) } else { None }).collect()
}

#[test]
fn format_1_0_is_read() {
    let record = read_run(&fixture("v1")).unwrap();
    assert_eq!(record.loss, None);
    assert_eq!(record.run.format, Format { major: 1, minor: 0 });
    assert_eq!(record.run.run_id, "20261121T044123Z-sample-3f9a");
    assert_eq!(record.run.need.samples_per_s, Some(100_000.0 / 7.0));
    assert_eq!(record.run.measure.seed, u64::MAX);
    assert_eq!(record.env.cores_online, Captured::Value(8));
    assert_eq!(record.lines.len(), 6);
    assert!(matches!(&record.lines[0], Line::Ceiling(ceiling) if ceiling.ops == 1_000_000));
    assert!(
        matches!(&record.lines[5], Line::End(end) if end.not_run[0].repetitions == 3 && end.changed == [0])
    );
}

#[test]
fn histograms_of_format_1_0_hold_what_was_counted() {
    let reps = reps("v1");
    assert_eq!(reps.len(), 4);
    assert!(matches!(&reps[3].outcome, Outcome::Failed { reason } if reason.contains("ended early")));
    for rep in reps {
        let latencies = rep.histograms["service_ns"].decode().unwrap();
        assert_eq!(latencies.len(), rep.counters[counter::OPS]);
        // Read 250 of 500, each 997 ns slower than the one before, from 80 us.
        assert!(latencies.equivalent(latencies.value_at_quantile(0.5), 80_000 + 249 * 997));
    }
}

#[test]
fn what_format_1_0_does_not_hold_is_unknown() {
    let record = read_run(&fixture("v1")).unwrap();
    let cell = &record.run.cells[0];
    assert_eq!((cell.operation.as_str(), &cell.pace, cell.submit_batch), ("read", &None, None));
    for rep in reps("v1") {
        assert_eq!((rep.system, rep.cache.names_dropped), (System::default(), None));
    }
}

#[test]
fn format_1_1_is_read() {
    let record = read_run(&fixture("v1_1")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 1 }));
    let cell = &record.run.cells[0];
    assert_eq!((cell.operation.as_str(), cell.submit_batch), ("read_file", Some(8)));
    let pace = cell.pace.as_ref().unwrap();
    assert_eq!((pace.rate_bps, pace.of_line, pace.batch_samples), (None, Some(1.1), Some(3_200)));
    assert_eq!((pace.arrivals.as_str(), pace.spin_ns), ("batch", 60_000));
}

#[test]
fn system_figures_of_format_1_1_are_read() {
    for rep in reps("v1_1") {
        let system = rep.system;
        let device = system.device.unwrap();
        assert_eq!((device.name.as_str(), device.reads, device.read_bytes), ("nvme0n1", 1_000, 65_540_096));
        assert_eq!((device.weighted_ns, device.wall_ns), (60_000_000_000, 2_000_000_100));
        assert_eq!(system.process_read_bytes, Some(65_536_000));
        assert_eq!(system.core_busy_ns, [1_500_000_000, 20_000_000]);
        assert_eq!(system.memory_before.unwrap().cached_bytes, 500_000_000);
        assert_eq!(system.memory_after.unwrap().dirty_bytes, 4_096);
        assert_eq!(rep.cache.names_dropped, Some(true));
    }
}

#[test]
fn intervals_of_format_1_0_are_read() {
    let intervals = read_intervals(&fixture("v1")).unwrap();
    assert_eq!((intervals.reps.len(), intervals.loss), (3, None));
    for second in intervals.reps.iter().flat_map(|rep| &rep.seconds) {
        assert_eq!(second.service_ns.decode().unwrap().len(), second.ops);
    }
}

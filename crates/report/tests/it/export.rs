//! A run in the forms of other tools, each read back as its consumer does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use analysis::{Summary, distributions, summarise};
use record::{Line, Outcome, RunRecord};
use report::export::{self, Direction, Export};
use serde_json::{Value, json};

use crate::records::{golden, golden_summary, networks};
use crate::trained::edit_figures;

/// A run in which one cell failed, and one has too few reads for any percentile.
fn with_gaps() -> (RunRecord, Summary) {
    let mut record = golden();
    for line in &mut record.lines {
        let Line::Rep(rep) = line else { continue };
        if rep.cell == "filer/pread/qd8" {
            rep.outcome = Outcome::Failed { reason: "the mount went away, \"filer\", twice".to_owned() };
        }
        if rep.cell == "nvme/io_uring/qd8" {
            let mut few = record::new_histogram();
            few.record_n(1_000_000, 3).unwrap();
            rep.histograms.insert("service_ns".to_owned(), record::encode(&few));
        }
    }
    let summary = summarise(&record);
    (record, summary)
}

/// Records of every kind of load, each with its summary.
fn all() -> Vec<(RunRecord, Summary)> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let curated = |name: &str| record::read_run(&results.join(name)).unwrap();
    let records = [golden(), networks(), curated("training-throttled"), curated("quickstart")];
    let with_summary = |record: RunRecord| {
        let summary = summarise(&record);
        (record, summary)
    };
    let mut all: Vec<_> = records.into_iter().map(with_summary).collect();
    all.push(with_gaps());
    all
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = format!("{}/tests/fixtures/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    jsonschema::validator_for(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .unwrap()
}

#[track_caller]
fn valid(schema: &jsonschema::Validator, export: &Export) -> Value {
    let value: Value = serde_json::from_str(&export.text).unwrap();
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

fn has_gap(export: &Export, words: &str) -> bool {
    export.gaps.iter().any(|gap| gap.contains(words))
}

#[test]
fn bmf_is_what_its_schema_wants_and_has_the_interval_as_its_bounds() {
    let schema = schema("bmf");
    for (_, summary) in all() {
        valid(&schema, &export::bmf(&summary));
    }
    let summary = golden_summary();
    let value = valid(&schema, &export::bmf(&summary));
    let bps = summary.cell("nvme/io_uring/qd32").unwrap().figures().unwrap().bps;
    let throughput = &value["nvme/io_uring/qd32"]["throughput-bytes"];
    assert_eq!(throughput["value"].as_f64(), Some(bps.mean));
    assert_eq!(throughput["lower_value"].as_f64(), Some(bps.interval.unwrap().low));
    assert_eq!(throughput["upper_value"].as_f64(), Some(bps.interval.unwrap().high));
}

#[test]
fn what_failed_or_was_read_too_seldom_is_absent_and_said() {
    let (_, summary) = with_gaps();
    let bmf = export::bmf(&summary);
    let value: Value = serde_json::from_str(&bmf.text).unwrap();
    assert_eq!(value["filer/pread/qd8"], Value::Null);
    assert!(value["nvme/io_uring/qd8"]["throughput-bytes"].is_object());
    assert_eq!(value["nvme/io_uring/qd8"]["latency-p50"], Value::Null);
    assert!(has_gap(&bmf, "filer/pread/qd8: failed: the mount went away"), "{:#?}", bmf.gaps);
    assert!(has_gap(&bmf, "nvme/io_uring/qd8: no latency-p50"), "{:#?}", bmf.gaps);
}

#[test]
fn a_rate_that_is_no_positive_number_is_in_no_form() {
    for rate in [f64::NAN, f64::INFINITY, 0.0] {
        let mut summary = golden_summary();
        let cell = summary.cells.iter_mut().find(|cell| cell.cell.cell == "nvme/io_uring/qd32").unwrap();
        edit_figures(cell, |figures| figures.bps.mean = rate);
        let bmf = export::bmf(&summary);
        let value: Value = serde_json::from_str(&bmf.text).unwrap();
        assert_eq!(value["nvme/io_uring/qd32"]["throughput-bytes"], Value::Null);
        assert!(has_gap(&bmf, "nvme/io_uring/qd32: no throughput-bytes: its rate is no positive number"));
        let gauges = export::prometheus(&summary).text;
        let samples = gauges.lines().filter(|line| !line.starts_with('#')).map(sample);
        let of_cell = samples.filter(|(name, labels, _)| {
            name == "feedline_throughput_bytes_per_second" && labels["cell"] == "nvme/io_uring/qd32"
        });
        assert_eq!(of_cell.count(), 0);
    }
}

#[test]
fn a_schema_that_admits_all_would_be_noticed() {
    let no_value =
        Export { text: r#"{"cell":{"latency-p50":{"lower_value":1}}}"#.to_owned(), gaps: Vec::new() };
    let value: Value = serde_json::from_str(&no_value.text).unwrap();
    assert!(!schema("bmf").is_valid(&value));
    assert!(!schema("github-action-benchmark").is_valid(&serde_json::json!([])));
}

#[test]
fn each_figure_stands_in_the_file_of_its_direction() {
    let schema = schema("github-action-benchmark");
    for (_, summary) in all() {
        let names = |direction| -> BTreeSet<String> {
            let value = valid(&schema, &export::github_action_benchmark(&summary, direction).unwrap());
            value.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
        };
        let (bigger, smaller) = (names(Direction::Bigger), names(Direction::Smaller));
        assert!(bigger.is_disjoint(&smaller));
        assert!(bigger.iter().all(|name| !name.contains("latency") && !name.contains("cpu")), "{bigger:?}");
        assert!(smaller.iter().all(|name| !name.contains("throughput")), "{smaller:?}");
    }
}

#[test]
fn a_file_without_an_entry_is_not_made() {
    let mut record = golden();
    record.lines.retain(|line| !matches!(line, Line::Rep(_)));
    let summary = summarise(&record);
    assert_eq!(export::github_action_benchmark(&summary, Direction::Bigger), None);
    assert_eq!(export::bmf(&summary).text, "{}\n");
}

/// The rows of a CSV text by the names of its columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn csv_has_a_row_for_each_figure_of_each_repetition() {
    let (record, summary) = with_gaps();
    let export = export::csv(&record, &summary);
    assert!(export.text.ends_with("\r\n") && export.text.lines().count() > 100);
    let rows = rows(&export.text);
    let mut seen = BTreeSet::new();
    for row in &rows {
        let key = ["cell", "role", "rep", "rank", "metric"].map(|name| row[name].clone());
        assert!(seen.insert(key), "two rows for one figure: {row:?}");
        if row["gap"].is_empty() {
            assert!(row["value"].parse::<f64>().unwrap().is_finite() && !row["metric"].is_empty(), "{row:?}");
        } else {
            assert!(row["value"].is_empty() && row["metric"].is_empty(), "{row:?}");
        }
    }
    let failed = rows.iter().find(|row| row["cell"] == "filer/pread/qd8").unwrap();
    assert_eq!(failed["gap"], "the mount went away, \"filer\", twice");
    let cells: BTreeSet<&str> = rows.iter().map(|row| row["cell"].as_str()).collect();
    assert_eq!(cells.len(), record.run.cells.len(), "no planned cell is missing");
}

#[test]
fn the_mean_of_a_column_is_the_figure_of_the_cell() {
    let (record, summary) = (golden(), golden_summary());
    let rows = rows(&export::csv(&record, &summary).text);
    let of_cell = rows.iter().filter(|row| {
        row["cell"] == "nvme/io_uring/qd32" && row["role"] == "measure" && row["metric"] == "throughput_bps"
    });
    let points: Vec<f64> = of_cell.map(|row| row["value"].parse().unwrap()).collect();
    let mean = points.iter().sum::<f64>() / points.len() as f64;
    let bps = summary.cell("nvme/io_uring/qd32").unwrap().figures().unwrap().bps.mean;
    assert!((mean / bps - 1.0).abs() < 1e-12, "{mean} and {bps}");
}

#[test]
fn jsonl_has_an_object_for_each_repetition_and_one_for_each_cell_without() {
    for (record, summary) in all() {
        let export = export::jsonl(&record, &summary);
        let objects: Vec<Value> =
            export.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let reps = record.lines.iter().filter(|line| matches!(line, Line::Rep(_))).count();
        let without = objects.iter().filter(|object| object["rep"].is_null()).count();
        assert_eq!(objects.len(), reps + without);
        assert!(objects.iter().all(|object| object["cell"].is_string()));
        assert!(objects.iter().all(|one| one["throughput_bps"].is_null() || one["gap"].is_null()));
        let missing = objects.iter().filter(|object| object["rep"].is_null());
        assert!(missing.clone().all(|object| object["gap"].is_string()));
    }
}

/// A line of Prometheus text, as strictly as the format has it.
fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (name, rest) = line.split_once('{').unwrap();
    let is_name = |text: &str| {
        !text.is_empty()
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    let mut chars = rest.chars().peekable();
    while chars.peek() != Some(&'}') {
        let label: String = chars.by_ref().take_while(|c| *c != '=').collect();
        assert!(is_name(&label) && chars.next() == Some('"'), "{line}");
        let mut value = String::new();
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => value.push(match chars.next().unwrap() {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    c => panic!("\\{c} in {line}"),
                }),
                c => value.push(c),
            }
        }
        assert!(labels.insert(label, value).is_none(), "{line}");
        match chars.peek() {
            Some(',') => drop(chars.next()),
            Some('}') => {}
            other => panic!("{other:?} in {line}"),
        }
    }
    assert_eq!((chars.next(), chars.next()), (Some('}'), Some(' ')), "{line}");
    // A time stamp would stand behind the value.
    let value: f64 = chars.collect::<String>().parse().unwrap();
    assert!(value.is_finite(), "{line}");
    (name.to_owned(), labels, value)
}

#[test]
fn prometheus_text_is_grouped_typed_and_without_duplicates() {
    for (_, summary) in all() {
        let text = export::prometheus(&summary).text;
        assert!(text.ends_with('\n'));
        let (mut typed, mut current, mut seen) = (BTreeSet::new(), String::new(), BTreeSet::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.strip_suffix(" gauge").unwrap();
                assert!(typed.insert(name.to_owned()), "{name} is typed twice");
                name.clone_into(&mut current);
            } else if !line.starts_with('#') {
                let (name, labels, _) = sample(line);
                assert_eq!(name, current, "samples of a metric stand together behind its type");
                assert!(seen.insert((name, labels)), "{line} stands twice");
            }
        }
        assert!(typed.contains("feedline_run_info") && typed.contains("feedline_verdict"));
    }
}

#[test]
fn prometheus_escapes_labels_and_counts_in_base_units() {
    let mut record = golden();
    record.run.scenario = "three \"stores\"\\\nof ours".to_owned();
    let summary = summarise(&record);
    let text = export::prometheus(&summary).text;
    let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(sample).collect();
    assert!(samples.iter().all(|(_, labels, _)| labels["scenario"] == feed::plain(&record.run.scenario)));
    let p99 = samples.iter().find(|(name, labels, _)| {
        name == "feedline_latency_p99_seconds" && labels["cell"] == "nvme/io_uring/qd32"
    });
    let ns = summary.cell("nvme/io_uring/qd32").unwrap().figures().unwrap().latency.p99_ns.unwrap();
    assert!((p99.unwrap().2 * 1e9 - ns as f64).abs() < 1.0);
}

#[test]
fn promtool_takes_it_where_there_is_one() {
    use std::io::Write as _;
    let check = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .spawn();
    let Ok(mut child) = check else { return println!("skipped: no promtool here") };
    let text = export::prometheus(&golden_summary()).text;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The keys that fio-plot reads of a job.
fn read_as_fio_plot(job: &Value) -> f64 {
    for option in ["iodepth", "numjobs", "bs", "rw"] {
        assert!(job["job options"][option].is_string(), "{option}");
    }
    assert!(job["job options"]["iodepth"].as_str().unwrap().parse::<u32>().is_ok());
    for bucket in ["latency_ns", "latency_us", "latency_ms"] {
        assert!(job[bucket].as_object().unwrap().values().all(Value::is_number));
    }
    assert!(job["usr_cpu"].is_number() && job["sys_cpu"].is_number());
    let read = &job["read"];
    for key in ["bw", "bw_bytes", "iops", "iops_stddev", "io_bytes", "runtime", "total_ios"] {
        assert!(read[key].is_number(), "{key}");
    }
    for key in ["min", "max", "mean", "stddev", "N"] {
        assert!(read["clat_ns"][key].is_number() && read["lat_ns"][key].is_number(), "{key}");
    }
    let buckets =
        ["latency_ns", "latency_us", "latency_ms"].map(|name| job[name].as_object().unwrap().values());
    buckets.into_iter().flatten().filter_map(Value::as_f64).sum()
}

#[test]
fn fio_jobs_have_what_scripts_read() {
    for (record, summary) in all() {
        let document: Value = serde_json::from_str(&export::fio(&record, &summary).text).unwrap();
        assert!(document["fio version"].is_string());
        let measured = summary.cells.iter().filter(|cell| cell.is_measured()).count();
        let jobs = document["jobs"].as_array().unwrap();
        assert_eq!(jobs.len(), measured, "a failed cell is no job");
        for job in jobs {
            let share = read_as_fio_plot(job);
            assert!(share == 0.0 || (share - 100.0).abs() < 1e-6, "{share} % of {}", job["jobname"]);
        }
    }
}

#[test]
fn fio_jobs_have_the_figures_of_the_cell_and_percentiles_as_far_as_samples_go() {
    let (record, summary) = with_gaps();
    let text = export::fio(&record, &summary).text;
    let document: Value = serde_json::from_str(&text).unwrap();
    let job = |name: &str| {
        document["jobs"].as_array().unwrap().iter().find(|job| job["jobname"] == name).unwrap().clone()
    };
    let figures = summary.cell("nvme/io_uring/qd32").unwrap().figures().unwrap();
    let clat = &job("nvme/io_uring/qd32")["read"]["clat_ns"];
    assert_eq!(clat["percentile"]["99.000000"].as_u64(), figures.latency.p99_ns);
    assert_eq!(clat["N"].as_u64(), Some(figures.latency.count));
    let few = &job("nvme/io_uring/qd8")["read"]["clat_ns"]["percentile"];
    // Fifteen reads in five repetitions say something of the 30th percentile, and nothing of the median.
    assert!(few["30.000000"].is_u64() && few["50.000000"].is_null(), "{few}");
    let (fifth, tenth) = (text.find("\"5.000000\"").unwrap(), text.find("\"10.000000\"").unwrap());
    assert!(fifth < tenth, "percentiles stand in their order");
}

#[test]
fn every_printed_percentile_is_the_histograms() {
    for (record, _) in all() {
        for one in distributions(&record) {
            let histogram = one.waited();
            let text = export::hgrm(&one);
            let mut lines = text.lines();
            assert_eq!(
                lines.next().unwrap().split_whitespace().collect::<Vec<_>>(),
                ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
            );
            let steps = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            for step in steps {
                let fields: Vec<f64> = step.split_whitespace().map(|field| field.parse().unwrap()).collect();
                let &[value, q, count, beyond] = fields.as_slice() else { panic!("{step}") };
                assert!((value - histogram.value_at_quantile(q) as f64).abs() < 1e-3, "{step}");
                assert!((count - histogram.count_between(0, value as u64) as f64).abs() < 0.5, "{step}");
                assert!((beyond - 1.0 / (1.0 - q)).abs() < 0.01, "{step}");
                assert!((1.0 - q) * histogram.len() as f64 > 10.0 - 1e-3, "{step} lies beyond the samples");
            }
            assert!(text.contains(&format!("Total count    = {:12}]", histogram.len())), "{text}");
        }
    }
}

#[test]
fn a_cell_of_writes_is_one_in_every_export() {
    let mut record = golden();
    let cell = record.run.cells.iter_mut().find(|cell| cell.cell == "nvme/io_uring/qd32").unwrap();
    cell.operation = "write".into();
    cell.durability = Some("data".into());
    let summary = summarise(&record);
    let document: Value = serde_json::from_str(&export::fio(&record, &summary).text).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let job = jobs.iter().find(|job| job["jobname"] == "nvme/io_uring/qd32").unwrap();
    assert!(job["write"]["iops"].is_number() && job["read"].is_null(), "{job}");
    assert_eq!(
        (&job["job options"]["rw"], &job["job options"]["sync"]),
        (&json!("randwrite"), &json!("dsync"))
    );
    let table = rows(&export::csv(&record, &summary).text);
    let row = table.iter().find(|row| row["cell"] == "nvme/io_uring/qd32").unwrap();
    assert_eq!((row["operation"].as_str(), row["durability"].as_str()), ("write", "data"));
    assert!(table.iter().any(|row| row["cell"] != "nvme/io_uring/qd32" && row["durability"].is_empty()));
    assert!(export::jsonl(&record, &summary).text.contains("\"durability\":\"data\""));
}

/// What Otava's importer makes of a column: a number in every row, else text.
fn is_numeric(rows: &[BTreeMap<String, String>], column: &str) -> bool {
    rows.iter().all(|row| row[column].parse::<f64>().is_ok())
}

#[test]
fn otava_gets_a_row_for_each_run_in_time_and_no_empty_field() {
    let (mut late, mut early) = (golden(), with_gaps().0);
    late.run.started = "2026-11-22T04:41:23Z".to_owned();
    early.run.run_id = "20261121T044123Z-three-stores-0000".to_owned();
    let export = export::otava(&[summarise(&late), summarise(&early)]);
    let rows = rows(&export.text);
    assert_eq!(
        rows.iter().map(|row| row["time"].as_str()).collect::<Vec<_>>(),
        ["2026-11-21T04:41:23Z", "2026-11-22T04:41:23Z"]
    );
    assert_eq!(rows[0]["commit"], "7c1e09a");
    let metrics = rows[0].keys().filter(|name| !["time", "commit", "run"].contains(&name.as_str()));
    assert!(metrics.clone().count() > 20);
    for metric in metrics {
        assert!(is_numeric(&rows, metric), "{metric}");
    }
    assert!(!is_numeric(&rows, "time") && !rows[0].contains_key("filer/pread/qd8 throughput-bytes"));
    assert!(has_gap(&export, "filer/pread/qd8 throughput-bytes: left out, 1 of 2 runs have it"));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let (record, summary) = with_gaps();
    let again = golden_again();
    assert_eq!(export::csv(&record, &summary), export::csv(&again.0, &again.1));
    assert_eq!(export::fio(&record, &summary), export::fio(&again.0, &again.1));
    assert_eq!(export::tuning(&record), export::tuning(&again.0));
}

fn golden_again() -> (RunRecord, Summary) {
    let (mut record, _) = with_gaps();
    record.lines.reverse();
    let last = record.lines.iter().position(|line| matches!(line, Line::End(_))).unwrap();
    let end = record.lines.remove(last);
    record.lines.push(end);
    let summary = summarise(&record);
    (record, summary)
}

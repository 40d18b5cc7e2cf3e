//! Datasets of several forms: every page says of which one a verdict is, and which others do not reach the line.

use analysis::{Sizing, Summary, WayApart, summarise};
use record::{AxisWords, Cell, Line, Role, RunRecord};
use report::{Screen, markdown, terminal};

use crate::checks::words;
use crate::html::Run;
use crate::{answer, json, records, stored};

fn shards(mib: u64) -> AxisWords {
    AxisWords { name: "shard_size".to_owned(), value: (mib << 20).to_string(), unit: "B".to_owned() }
}

/// The fastest target of the golden record, which reads shards of 64 MiB, and the same in other forms that store as many
/// bytes, each at a share of its rates.
fn in_forms(others: &[(u64, f64)]) -> RunRecord {
    let mut record = records::golden();
    record.run.targets.retain(|target| target.name == "nvme");
    record.run.cells.retain(|cell| cell.target == "nvme");
    let kept = |name: &str| name.starts_with("nvme/");
    record.lines.retain(|line| !matches!(line, Line::Rep(rep) if !kept(&rep.cell)));
    let (cells, lines) = (record.run.cells.clone(), record.lines.clone());
    record.run.cells.iter_mut().for_each(|cell| cell.axes.push(shards(64)));
    for (mib, share) in others {
        let suffix = format!("/shards-{mib}MiB");
        let dataset = record.run.datasets.len();
        record.run.datasets.push(record.run.datasets[0].clone());
        record.run.cells.extend(cells.iter().map(|cell| Cell {
            cell: format!("{}{suffix}", cell.cell),
            dataset,
            axes: cell.axes.iter().cloned().chain([shards(*mib)]).collect(),
            ..cell.clone()
        }));
        for line in &lines {
            if let Line::Rep(rep) = line
                && rep.role == Role::Measure
            {
                let mut rep = rep.clone();
                rep.cell = format!("{}{suffix}", rep.cell);
                record.lines.push(Line::Rep(rep));
            }
        }
        records::scale_reps(&mut record, |cell| cell.ends_with(&suffix), *share);
    }
    record
}

/// The words of every page, however they are folded.
fn pages(record: &RunRecord) -> (Summary, [String; 4]) {
    let summary = summarise(record);
    let page = report::html(&[Run::of(record.clone()).page()]);
    let pages = [answer::at(&summary, 80), terminal(&summary, Screen::PLAIN), markdown(&summary), page];
    (summary, pages.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

#[test]
fn every_page_says_which_form_feeds_and_which_does_not() {
    let (summary, pages) = pages(&in_forms(&[(128, 0.15), (256, 0.2)]));
    let judged = "from depth 32 (io_uring, 64 MiB shards)";
    let short = ["128 MiB shards", "256 MiB shards"].map(|form| format!("not at {form} (depths 8-128: "));
    for page in pages {
        for words in [judged, &short[0], &short[1]] {
            assert!(page.contains(words), "{words}:\n{page}");
        }
    }
    let object = json::object(&summary);
    let verdict = &object["verdicts"][0];
    assert!(verdict["sentence"].as_str().unwrap().contains(judged), "{verdict:#}");
    assert_eq!(verdict["deciding"]["form"], "64 MiB shards");
    let unreached: Vec<&str> =
        verdict["unreached"].as_array().unwrap().iter().map(|words| words.as_str().unwrap()).collect();
    assert!(
        unreached.iter().zip(&short).all(|(words, expected)| words.starts_with(expected)),
        "{unreached:?}"
    );
    assert_eq!(unreached.len(), 2);
}

#[test]
fn what_starves_names_the_form_that_clears_and_cells_are_told_apart() {
    let mut record = in_forms(&[(256, 4.0)]);
    records::scale_reps(&mut record, |_| true, 0.3);
    let (summary, pages) = pages(&record);
    for page in pages {
        assert!(page.contains("(io_uring, 64 MiB shards)"), "{page}");
        assert!(page.contains("not confirmed: clears at 256 MiB shards, depth "), "{page}");
    }
    let full = markdown(&summary);
    assert!(full.contains("| 64 MiB shards |") && full.contains("| 256 MiB shards |"), "{full}");
}

#[test]
fn what_a_search_found_is_said_whole_of_each_form() {
    const FORMS: [u64; 4] = [16, 64, 256, 1024];
    let mut summary = records::golden_summary();
    summary.verdicts.clear();
    let searched = |mib: u64| Sizing {
        apart: WayApart { form: vec![shards(mib)], ..WayApart::default() },
        ..answer::fed(mib as u32)
    };
    summary.sizings = FORMS.map(searched).to_vec();
    let said = answer::at(&summary, 72).split_whitespace().collect::<Vec<_>>().join(" ");
    for mib in FORMS {
        let form = feed::format_bytes(mib << 20);
        let count = feed::group_digits(mib);
        let found =
            format!("SIZE nvme io_uring, {form} shards: feeds at least {count} accelerators, the most tried");
        assert!(said.contains(&found), "{found}:\n{said}");
    }
    let ways = json::object(&summary)["sizings"].as_array().unwrap().clone();
    assert_eq!(ways[1]["way"], "64 MiB shards");
}

/// Shards, epochs and checkpoints of the golden record, and the same shards under another codec.
fn of_two_codecs() -> RunRecord {
    let mut record = stored::stored();
    let codec =
        |value: &str| AxisWords { name: "codec".to_owned(), value: value.to_owned(), unit: String::new() };
    let packed = |cell: &Cell, record: &RunRecord| record.run.datasets[cell.dataset].layout == "webdataset";
    let of_shards: Vec<Cell> =
        record.run.cells.iter().filter(|cell| packed(cell, &record)).cloned().collect();
    let copies: Vec<usize> =
        (0..record.run.datasets.len()).map(|at| at + record.run.datasets.len()).collect();
    record.run.datasets.extend(record.run.datasets.clone());
    for cell in record.run.cells.iter_mut().filter(|cell| of_shards.contains(cell)) {
        cell.axes.push(codec("none"));
    }
    for cell in &of_shards {
        let name = format!("{}/zstd", cell.cell);
        let axes = cell.axes.iter().cloned().chain([codec("zstd")]).collect();
        let dataset = copies[cell.dataset];
        record.run.cells.push(Cell { cell: name.clone(), dataset, axes, ..cell.clone() });
        let reps = record.lines.iter().filter_map(|line| match line {
            Line::Rep(rep) if rep.cell == cell.cell => Some(rep.clone()),
            _ => None,
        });
        let reps: Vec<_> = reps.collect();
        record.lines.extend(reps.into_iter().map(|mut rep| {
            rep.cell.clone_from(&name);
            Line::Rep(rep)
        }));
    }
    record
}

#[test]
fn epochs_layouts_and_data_say_of_which_form_they_are() {
    let record = of_two_codecs();
    let summary = summarise(&record);
    let report = markdown(&summary);
    let section = |heading: &str| {
        let begin =
            report.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}: {report}"));
        let end = report[begin + 4..].find("\n## ").map_or(report.len(), |end| begin + 4 + end);
        &report[begin..end]
    };
    for heading in ["Epochs", "Layouts", "Need"] {
        for form in ["codec none", "codec zstd"] {
            assert!(section(heading).contains(form), "{form} in {heading}:\n{}", section(heading));
        }
    }
    for plot in report::plots(&summary, &[]).unwrap() {
        if ["layouts", "epochs"].contains(&plot.name) {
            let said: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
            let said = said.join(" ");
            assert!(said.contains("codec none") && said.contains("codec zstd"), "{}: {said}", plot.name);
        }
    }
}

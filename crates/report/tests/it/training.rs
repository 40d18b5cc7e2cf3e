//! Training jobs through every rendering.

use analysis::{Flag, Full, Gap, GapCause, Rate, Scaled, Sizing, Summary, Symptom};
use record::AxisWords;
use report::{Plot, Screen, markdown, terminal};

use crate::checks::{assert_plot, words};
use crate::trained::{
    self, Made, by_accelerators, by_readers, every_combination, two_targets, with_jobs, without_jobs,
};

fn plots(summary: &Summary) -> Vec<Plot> {
    let all = report::plots(summary, &[]).unwrap();
    all.into_iter().filter(|plot| plot.name.starts_with("training-")).collect()
}

fn names(summary: &Summary) -> Vec<&'static str> {
    plots(summary).iter().map(|plot| plot.name).collect()
}

fn plot(summary: &Summary, name: &str) -> String {
    plots(summary).into_iter().find(|plot| plot.name == name).unwrap().svg
}

fn recorded(reason: &str) -> Gap {
    GapCause::Recorded(reason.to_owned()).into()
}

fn flagged(asked: &str) -> Symptom {
    Symptom::Flagged(Flag::StandsIn { asked: asked.to_owned() })
}

/// Summaries that a layout may stumble over, by name.
fn variants() -> Vec<(&'static str, Summary)> {
    let single = |made: Made| with_jobs(without_jobs(), &[made]);
    let numbers: Vec<u32> = (0..13).map(|n| 1 << n).collect();
    let mut two_grids = by_readers("nvme", &[1, 2, 4, 8, 16], &[0, 1, 2, 4, 8]);
    two_grids.extend(by_readers("filer", &[1, 2, 4, 8, 16], &[0, 1, 2, 4, 8]));
    let ahead: Vec<u32> = (0..14).collect();
    let mut failed = with_jobs(without_jobs(), &by_readers("nvme", &[1, 2, 4096], &[0, 2]));
    let last = failed.cells.len() - 1;
    failed.cells[last].measured =
        analysis::Measurement::Failed { repetitions: 3, reason: recorded("no batch came") };
    failed.cells[last - 1].measured =
        analysis::Measurement::NotRun { reason: recorded("the time was used up") };
    let mut barrier = single(Made::of("nvme", 200));
    trained::edit(&mut barrier, &Made::of("nvme", 200).slug(), |of| {
        of.timeline.iter_mut().skip(1).step_by(3).for_each(|step| step.start_ns += 50_000_000);
    });
    vec![
        ("two", two_targets()),
        ("single", single(Made::of("nvme", 250))),
        ("one-step", single(Made { steps: 1, ..Made::of("nvme", 100) })),
        ("no-waits", single(Made { batch_ns: 0, ..Made::of("nvme", 0) })),
        ("all-waiting", single(Made::of("filer", 30_000))),
        ("barrier", barrier),
        ("ladder", with_jobs(without_jobs(), &every_combination())),
        ("numbers", by_accelerators(&["nvme"], &numbers)),
        ("numbers-of-two", by_accelerators(&["nvme", "filer"], &numbers)),
        ("two-numbers", by_accelerators(&["nvme"], &[1, 4096])),
        ("grid", with_jobs(without_jobs(), &by_readers("nvme", &[1, 2, 4, 8, 16], &[0, 1, 2, 4]))),
        ("grids", with_jobs(without_jobs(), &two_grids)),
        ("wide-grid", with_jobs(without_jobs(), &by_readers("nvme", &[1, 128], &ahead))),
        ("failed", failed),
    ]
}

#[test]
fn the_terminal_page_of_training_jobs() {
    let page = terminal(&two_targets(), Screen::PLAIN);
    assert!(
        page.lines().all(|line| line.len() <= 80 && line.is_ascii() && line == line.trim_end()),
        "{page}"
    );
    insta::assert_snapshot!(page);
}

#[test]
fn the_markdown_report_of_training_jobs() {
    let report = markdown(&two_targets());
    let (_, from) = report.split_once("## Training\n").unwrap();
    insta::assert_snapshot!(from.split_once("\n## ").unwrap().0);
}

#[test]
fn a_run_without_training_says_nothing_of_it() {
    let summary = without_jobs();
    assert!(plots(&summary).is_empty());
    for page in [terminal(&summary, Screen::PLAIN), markdown(&summary)] {
        assert!(!page.to_lowercase().contains("training") && !page.contains("DataLoader"), "{page}");
    }
}

#[test]
fn many_cells_are_shown_by_one_of_each_target_on_a_terminal_and_all_in_markdown() {
    let jobs = by_readers("nvme", &[1, 2, 4, 8, 16], &[0, 1, 2, 4, 8]);
    let summary = with_jobs(without_jobs(), &jobs);
    let page = terminal(&summary, Screen::PLAIN);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(one cell of each target; all 30 in report.md)"), "{page}");
    assert_eq!(page.lines().filter(|line| line.contains("reader ") || line.contains("readers ")).count(), 1);
    let (_, table) = markdown(&summary)
        .split_once("## Training\n")
        .unwrap()
        .1
        .split_once("|---|")
        .map(|(before, after)| (before.to_owned(), after.to_owned()))
        .unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|')).count();
    assert_eq!(rows, 30);
}

#[test]
fn the_widest_figures_stay_within_eighty_columns() {
    let mut made = Made { accelerators: 4_096, readers: Some(128), ..Made::of("filer", 250) };
    made.prefetch = 64;
    let mut summary = with_jobs(without_jobs(), &[made.clone()]);
    trained::edit(&mut summary, &made.slug(), |of| {
        of.au.mean = 1.0;
        of.au.interval = Some(feed::Interval { low: 0.999_9, mean: 1.0, high: 1.0 });
        of.dlio_au = Some(1.0);
        of.worst_au = 1.0;
        of.first_batch_ns = 60_000_000_000;
        of.wait_p99_ns = Some(60_000_000_000);
    });
    let cell = summary.cells.iter_mut().find(|cell| cell.cell.cell == made.slug()).unwrap();
    trained::edit_figures(cell, |figures| figures.samples_per_s.mean = 7_314_286.0);
    let page = terminal(&summary, Screen::PLAIN);
    assert!(page.lines().all(|line| line.len() <= 80), "{page}");
    assert!(
        page.contains("128 readers 4096    64 7314286 100.0 99.9-100.0 100.0 100.0 99 % 60000\n"),
        "{page}"
    );
}

#[test]
fn a_cell_without_figures_says_why_in_its_row() {
    let (_, failed) = variants().pop().unwrap();
    let page = terminal(&failed, Screen::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains("failed: no batch came") && page.contains("not run: the time was used up"),
        "{page}"
    );
}

#[test]
fn a_job_that_never_waited_is_not_told_what_it_waited_for() {
    let summary = with_jobs(without_jobs(), &[Made { batch_ns: 0, ..Made::of("nvme", 0) }]);
    let page = terminal(&summary, Screen::PLAIN);
    assert!(page.contains("stall nvme: none of the time was waited\n"), "{page}");
    assert!(!page.contains("\nidle ") && !page.contains("\nwhy "), "{page}");
}

#[test]
fn a_job_is_told_with_all_that_it_does() {
    let mut summary = with_jobs(without_jobs(), &[Made { accelerators: 1, ..Made::of("nvme", 60) }]);
    let plan = summary.cells.last_mut().unwrap().cell.training.as_mut().unwrap();
    (plan.barrier, plan.decode, plan.decode_threads) = (true, Some("jpeg".to_owned()), Some(4));
    let page = terminal(&summary, Screen::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "job nvme: 1 accelerator, batch 400, 224 ms a step, each step begun together, decode jpeg on 4 \
                 threads; 8 readers, prefetch 2";
    assert!(page.contains(words), "{page}");
}

#[test]
fn text_of_a_diagnosis_cannot_break_a_table_or_a_terminal() {
    let mut summary = two_targets();
    let slug = Made::of("filer", 250).slug();
    trained::edit(&mut summary, &slug, |of| {
        let diagnosis = of.diagnosis.as_mut().unwrap();
        diagnosis.symptoms = vec![flagged("a | <b> \u{1b}[31m"), flagged(&"x".repeat(300))];
    });
    let page = terminal(&summary, Screen::PLAIN);
    assert!(
        page.lines().all(|line| line.len() <= 80)
            && page.bytes().all(|b| b == b'\n' || (0x20..0x7f).contains(&b))
    );
    assert!(markdown(&summary).contains("latency-bound: stands in for a \\| &lt;b>  \\[31m"));
}

#[test]
fn plots_of_training_jobs_hold_whatever_they_show() {
    for (name, summary) in variants() {
        for Plot { name: stem, svg, .. } in plots(&summary) {
            if let Some(dir) = std::env::var_os("FEEDLINE_PLOTS") {
                std::fs::write(std::path::Path::new(&dir).join(format!("{name}-{stem}.svg")), &svg).unwrap();
            }
            assert_plot(&svg);
        }
        assert_eq!(plots(&summary), plots(&summary), "{name}");
    }
}

#[test]
fn a_demo_is_marked_wherever_it_is_shown() {
    let mut summary = with_jobs(without_jobs(), &by_readers("filer", &[1, 8], &[0, 2]));
    let filer = summary.targets.iter_mut().find(|target| target.name == "filer").unwrap();
    filer.demo = true;
    for plot in plots(&summary) {
        assert!(plot.svg.contains("filer (DEMO)"), "{}", plot.name);
    }
    let page = terminal(&summary, Screen::PLAIN);
    assert!(page.contains("\n  filer: DEMO\n"), "{page}");
}

#[test]
fn a_step_is_seen_however_short_it_is() {
    let (_, summary) = variants().into_iter().find(|(name, _)| *name == "all-waiting").unwrap();
    let svg = plot(&summary, "training-timeline");
    let steps = svg.matches("opacity=\"0.95\"").count() + svg.matches("opacity=\"0.6\"").count();
    assert_eq!(steps, 40 + 2, "forty steps, and two shades in the key");
}

#[test]
fn an_interval_beyond_the_whole_widens_the_axis() {
    let mut summary = by_accelerators(&["nvme"], &[1, 2]);
    let slug = Made { accelerators: 1, ..Made::of("nvme", 0) }.slug();
    trained::edit(&mut summary, &slug, |of| {
        of.au.interval = Some(feed::Interval { low: -0.3, mean: 0.5, high: 1.3 });
    });
    let svg = plot(&summary, "training-accelerators");
    assert_plot(&svg);
    let words: Vec<String> = words(&svg).into_iter().map(|one| one.words).collect();
    assert!(words.contains(&"120".to_owned()) && words.contains(&"-20".to_owned()), "{words:?}");
}

#[test]
fn only_what_was_varied_is_plotted() {
    let of = |wanted: &str| {
        let (_, summary) = variants().into_iter().find(|(name, _)| *name == wanted).unwrap();
        names(&summary)
    };
    assert_eq!(of("single"), ["training-timeline", "training-waits"]);
    let numbers = of("numbers");
    let expected = ["training-timeline", "training-accelerators", "training-waits"];
    assert_eq!(numbers, expected, "readers beside a shared depth are no grid");
    assert_eq!(of("grid"), ["training-timeline", "training-readers", "training-waits"]);
}

#[test]
fn the_timeline_of_training_jobs() {
    insta::assert_snapshot!(plot(&two_targets(), "training-timeline"));
}

#[test]
fn the_waits_of_training_jobs() {
    insta::assert_snapshot!(plot(&two_targets(), "training-waits"));
}

#[test]
fn utilization_by_accelerators() {
    insta::assert_snapshot!(plot(&by_accelerators(&["nvme"], &[1, 2, 4, 8, 16]), "training-accelerators"));
}

/// What `size --find hosts` tried: one accelerator on each host.
fn by_hosts() -> Summary {
    let mut summary = by_accelerators(&["nvme"], &[1, 2, 4]);
    for cell in &mut summary.cells {
        let Some(job) = &cell.cell.training else { continue };
        let hosts = job.accelerators;
        cell.cell.ranks = Some(hosts);
        let words = AxisWords { name: "hosts".to_owned(), value: hosts.to_string(), unit: String::new() };
        cell.cell.axes.push(words);
    }
    let scaled = |(hosts, mean): (u32, f64)| Scaled {
        hosts,
        bps: Rate { mean, interval: None, min: mean, max: mean },
        of_one: Some(mean / (f64::from(hosts) * 2e7)),
        doubt: None,
    };
    summary.sizings = vec![Sizing {
        target: "nvme".to_owned(),
        engine: "io_uring".to_owned(),
        demo: false,
        apart: analysis::WayApart::default(),
        axis: "hosts".to_owned(),
        on_hosts: true,
        meets: None,
        misses: None,
        threshold: 0.9,
        tried: 3,
        untried: None,
        scaling: [(1, 2e7), (2, 3e7), (4, 3e7)].map(scaled).to_vec(),
        full: Some(Full { from: 2, to: 4, bps: 3e7 }),
    }];
    summary.head.ranks = 4;
    summary
}

#[test]
fn hosts_have_a_row_each_and_lie_along_one_curve() {
    let summary = by_hosts();
    let page = terminal(&summary, Screen::PLAIN);
    assert!(page.contains("- scaling: what so many hosts got together, and its share of"));
    let row = |hosts: &str| {
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        page.lines()
            .map(cells)
            .find(|cells| cells.starts_with(&["nvme", "io_uring", hosts].map(str::to_owned)))
    };
    assert_eq!(row("4").unwrap()[3..], ["30.0", "-", "38", "%"], "{page}");
    assert!(page.contains("nvme io_uring 2: full from here on"), "{page}");
    assert!(page.contains("2 processes") && page.contains(": 1 process\n"), "{page}");
    let svg = plot(&summary, "training-accelerators");
    let words: Vec<String> = words(&svg).into_iter().map(|one| one.words).collect();
    assert!(words.contains(&"accelerators of all processes".to_owned()), "{words:?}");
    assert!(
        words.iter().all(|words| !words.ends_with("process")),
        "one curve and not one for each: {words:?}"
    );
    let report = markdown(&summary);
    assert!(
        report.contains("| nvme io_uring | 2 | 30.0 | - | 15.0 | 75 % | full from here on |"),
        "{report}"
    );
}

#[test]
fn utilization_by_readers_and_prefetch() {
    let summary = with_jobs(without_jobs(), &by_readers("nvme", &[2, 8], &[1, 2]));
    insta::assert_snapshot!(plot(&summary, "training-readers"));
}

/// Slugs of the jobs of each ladder, and what each step gains, in tenths.
fn climbed(jobs: &[Made]) -> Vec<Vec<(String, Option<f64>)>> {
    let summary = with_jobs(without_jobs(), jobs);
    let rung = |rung: &analysis::Rung| {
        let gain = rung.step.map(|(_, gain)| (gain * 10.0).round() / 10.0);
        (summary.cells[rung.cell].cell.cell.clone(), gain)
    };
    analysis::ladders(&summary).iter().map(|ladder| ladder.rungs.iter().map(rung).collect()).collect()
}

#[test]
fn a_ladder_changes_one_setting_at_a_time_and_gains_over_what_was_there_before() {
    let jobs = every_combination();
    let of = |slug: &str, gain| (slug.to_owned(), gain);
    // Batches take 4.5 steps in the mean, and 1.69 on the fast target. Neither readers nor batches ahead gain alone, and the
    // first of two that gain the same is taken.
    let most = [
        of("filer/train/n1/r1/p0", None),
        of("nvme/train/n1/r1/p0", Some(2.7)),
        of("nvme/train/n1/r8/p0", Some(1.0)),
        of("nvme/train/n1/r8/p16", Some(1.7)),
    ];
    let least = [
        of("filer/train/n1/r1/p0", None),
        of("filer/train/n1/r8/p0", Some(1.0)),
        of("nvme/train/n1/r8/p0", Some(2.7)),
        of("nvme/train/n1/r8/p16", Some(1.7)),
    ];
    assert_eq!(climbed(&jobs), [most.to_vec(), least.to_vec()]);
    assert_eq!(climbed(&jobs[..4]), Vec::<Vec<_>>::new(), "two settings are a grid");
    assert_eq!(climbed(&jobs[..7]), Vec::<Vec<_>>::new(), "where every setting is changed there is no job");
}

#[test]
fn what_each_setting_gains_over_what_was_there_before() {
    insta::assert_snapshot!(plot(&with_jobs(without_jobs(), &every_combination()), "training-ladder"));
}

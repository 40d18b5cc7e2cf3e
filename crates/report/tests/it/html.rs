use std::collections::BTreeSet;
use std::path::Path;

use analysis::{Summary, summarise};
use record::{Line, Outcome, RunRecord};
use report::{Page, Plot, PlotTable, Screen, html, plots};

use crate::hostile::{self, HOSTILE};
use crate::records;

/// Everything that a page borrows.
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    summary: Summary,
    pub(crate) plots: Vec<Plot>,
    scenario: String,
}

impl Run {
    pub(crate) fn of(record: RunRecord) -> Self {
        let summary = summarise(&record);
        let plots = plots(&summary, &[]).unwrap();
        Self { record, summary, plots, scenario: "version = 1\nneed = \"8xh100:resnet50\"\n".to_owned() }
    }

    pub(crate) fn page(&self) -> Page<'_> {
        Page {
            summary: &self.summary,
            plots: &self.plots,
            scenario: &self.scenario,
            environment: &self.record.env,
        }
    }

    fn html(&self) -> String {
        html(&[self.page()])
    }
}

/// The curated run of a training load.
pub(crate) fn training_record() -> RunRecord {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/training-throttled");
    record::read_run(&dir).expect("the curated record is readable")
}

/// A tag as it is written: its name and its attributes.
#[derive(Debug)]
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    /// Every attribute has a value in double quotes, or none at all.
    fn parse(inside: &'a str) -> Self {
        let (name, mut rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        let mut attributes = Vec::new();
        rest = rest.trim();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
            let (attribute, after) = rest.split_at(end);
            assert!(attribute.chars().all(|c| c.is_ascii_alphanumeric() || "-:_".contains(c)), "{inside}");
            let (value, after) = match after.strip_prefix("=\"") {
                Some(quoted) => quoted.split_once('"').unwrap(),
                None => ("", after),
            };
            attributes.push((attribute, value));
            rest = after.trim_start();
        }
        Self { name, attributes }
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }
}

const VOID: [&str; 5] = ["meta", "input", "br", "link", "col"];

/// All tags of a page, once every element is known to be closed in its order.
fn well_formed(page: &str) -> Vec<Tag<'_>> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page begins with its type");
    let (mut open, mut tags): (Vec<&str>, Vec<Tag<'_>>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') || matches!(open.last(), Some(&"style")), "{:?}", &rest[..at]);
        // Attributes hold no `>`: their text is escaped.
        let (inside, after) = rest[at + 1..].split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "near {:?}", &rest.chars().take(80).collect::<String>());
            continue;
        }
        let (inside, closed) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let tag = Tag::parse(inside);
        if !closed && !VOID.contains(&tag.name) {
            open.push(tag.name);
        }
        if tag.name == "script" {
            rest = &rest[rest.find("</script>").expect("the script ends")..];
        }
        tags.push(tag);
    }
    assert!(open.is_empty(), "{open:?}");
    tags
}

/// Most bytes of a page of a few dozen cells.
const BYTES_MAX: usize = 2_000_000;

/// What holds for every page.
fn check(page: &str) -> Vec<Tag<'_>> {
    let tags = well_formed(page);
    let mut ids = BTreeSet::new();
    for id in tags.iter().filter_map(|tag| tag.get("id")) {
        assert!(ids.insert(id), "{id} is there twice");
    }
    let references = ["aria-labelledby", "aria-describedby", "aria-controls", "data-for"];
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert!(!name.starts_with("on"), "{tag:?} runs a script");
            assert!(*name != "src" && !value.contains("url(h"), "{tag:?} loads");
            if references.contains(name) {
                assert!(value.split(' ').all(|id| ids.contains(id)), "{tag:?} refers to nothing");
            }
            if name.ends_with("href") {
                assert!(value.strip_prefix('#').is_some_and(|id| ids.contains(id)), "{tag:?} leads out");
            }
        }
    }
    assert!(!page.contains("@import") && !page.contains("fetch("));
    let levels: Vec<u32> = tags
        .iter()
        .filter(|tag| matches!(tag.name.as_bytes(), [b'h', b'1'..=b'6']))
        .map(|tag| u32::from(tag.name.as_bytes()[1] - b'0'))
        .collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is left out: {levels:?}");
    for landmark in ["main", "header", "nav", "footer"] {
        assert!(tags.iter().any(|tag| tag.name == landmark), "no {landmark}");
    }
    assert_eq!(tags.iter().filter(|tag| tag.name == "script").count(), 1);
    tags
}

#[test]
fn the_page_of_the_golden_record_holds_all_that_the_terminal_says() {
    let run = Run::of(records::golden());
    let page = run.html();
    check(&page);
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words:?} is not in the page"));
    let order = [
        "</span>FEEDS</strong> <b class=\"target\">nvme</b>",
        "</span>STARVES</strong> <b class=\"target\">filer</b>",
        "id=\"not-tested\"",
        "line at 90 % busy (0.8 of 8 accelerators",
        "7c1e09d4b6a3f0e25c1d9a7e8b4f6032",
        "<svg",
        "id=\"cells-table1\"",
        "128 threads exceed the limit of 64 processes",
        "<details class=\"part\">",
        "AMD EPYC 9354</dd>",
        "need = &quot;8xh100:resnet50&quot;",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.len() <= BYTES_MAX, "{} bytes", page.len());
    for words in
        report::terminal(&run.summary, Screen::PLAIN).lines().filter_map(|line| line.strip_prefix("note  "))
    {
        assert!(page.contains(&words.replace('\'', "&#39;")), "{words}");
    }
}

#[test]
fn the_report_has_the_sections_of_the_page_in_their_order() {
    for record in [records::golden(), records::networks(), training_record()] {
        let run = Run::of(record);
        let page = run.html();
        let titles = page.split("-title\">").skip(1).filter_map(|rest| rest.split_once("</h2>"));
        let of_page = titles.map(|(title, _)| title.split('>').next_back().unwrap());
        let in_both = |title: &&str| !["Plots", "Environment", "Scenario as it was run"].contains(title);
        let of_page: Vec<&str> = of_page.filter(in_both).collect();
        let report = report::markdown(&run.summary);
        let of_report: Vec<&str> = report.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(of_report, of_page);
        assert!(of_report.len() > 8, "{of_report:?}");
    }
}

#[test]
fn every_cell_has_its_row_and_its_bar() {
    let page = Run::of(records::golden()).html();
    let table = page.split("<table id=\"cells-table1\"").nth(1).unwrap();
    let rows = table.split("</table>").next().unwrap().matches("<tr data-engine=").count();
    let markdown = report::markdown(&records::golden_summary());
    let cells = markdown.split("## Cells").nth(1).unwrap().split("## ").next().unwrap();
    let expected = cells.lines().filter(|line| line.starts_with("| ") && !line.contains("| target")).count();
    assert_eq!(rows, expected);
    assert!(table.contains("class=\"bar below\"") && table.contains("class=\"bar beyond\""));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let run = Run::of(records::in_ways(&[("random", "bypass", 131_072, 0.9)]));
    assert_eq!(run.html(), Run::of(run.record.clone()).html());
}

#[test]
fn pages_of_all_kinds_of_runs_are_well_formed() {
    let mut failed = records::golden();
    for line in &mut failed.lines {
        if let Line::Rep(rep) = line {
            rep.outcome = Outcome::Failed { reason: "the mount is gone".to_owned() };
        }
    }
    let mut cut = records::golden();
    cut.lines.truncate(3);
    cut.loss = Some("the run was cut".to_owned());
    let mut empty = records::golden();
    empty.lines.clear();
    let mut without_cells = empty.clone();
    without_cells.run.cells.clear();
    without_cells.run.targets.clear();
    without_cells.run.datasets.clear();
    let mut without_need = records::golden();
    without_need.run.need.samples_per_s = None;
    let training = training_record();
    let several = records::in_ways(&[("random", "bypass", 131_072, 0.9), ("random", "warm", 4_096, 0.1)]);
    let edited = [failed, cut, empty, without_cells, without_need];
    for record in edited.into_iter().chain([training, several, records::networks()]) {
        let run = Run::of(record);
        check(&run.html());
        check(&html(&[run.page(), Run::of(records::golden()).page(), run.page()]));
    }
    well_formed(&html(&[]));
}

#[test]
fn a_run_without_a_verdict_says_so() {
    let mut record = records::golden();
    record.run.cells.clear();
    record.run.targets.clear();
    record.lines.clear();
    assert!(Run::of(record).html().contains("No target was judged in this run."));
}

#[test]
fn several_runs_have_a_column_each_and_a_section_each() {
    let mut other = records::scaled(0.5);
    other.run.run_id = "20261122T000000Z-three-stores-0002".to_owned();
    other.run.targets.retain(|target| target.name != "tree");
    let (one, two) = (Run::of(records::golden()), Run::of(other));
    let page = html(&[one.page(), two.page()]);
    check(&page);
    assert!(page.contains("<h1>2 runs side by side</h1>"));
    let first = page.split("id=\"verdicts\"").nth(1).unwrap().split("</section>").next().unwrap();
    let row = first.lines().find(|line| line.contains("<th scope=\"row\">nvme</th>")).unwrap();
    assert_eq!(row.matches("<td>").count(), 2, "{row}");
    let row = first.lines().find(|line| line.contains("<th scope=\"row\">tree</th>")).unwrap();
    assert!(row.ends_with("<td><span class=\"muted\">not in this run</span></td></tr>"), "{row}");
    for id in ["run1", "run2", "run1-cells", "run2-cells", "run1-plot-throughput", "run2-plot-throughput"] {
        assert!(page.contains(&format!(" id=\"{id}\"")), "{id}");
    }
}

#[test]
fn words_of_users_stay_words_wherever_they_come_from() {
    for record in hostile::records() {
        let mut run = Run::of(record);
        run.scenario = HOSTILE.to_owned();
        run.plots.iter_mut().for_each(|plot| {
            plot.title.push_str(HOSTILE);
            plot.table =
                PlotTable { columns: vec![HOSTILE.to_owned()], rows: vec![vec![HOSTILE.to_owned()]; 2] };
        });
        for page in [run.html(), html(&[run.page(), run.page()])] {
            check(&page);
            assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>alert(1)"));
            hostile::is_only_read("page", &page);
        }
    }
}

#[test]
fn a_table_behind_a_plot_can_be_read_without_the_plot() {
    let mut run = Run::of(records::golden());
    run.plots[0].table = PlotTable {
        columns: vec!["curve".to_owned(), "QD".to_owned()],
        rows: vec![vec!["nvme".to_owned(), "8".to_owned()], vec!["filer".to_owned(), "32".to_owned()]],
    };
    let page = run.html();
    check(&page);
    let behind = page.split("<details id=\"plot-throughput-behind\">").nth(1).unwrap();
    let behind = behind.split("</details>").next().unwrap();
    assert!(behind.contains("<summary>Table of 2 rows</summary>"));
    assert!(behind.contains("<tr><th scope=\"row\">filer</th><td class=\"n\">32</td></tr>"));
}

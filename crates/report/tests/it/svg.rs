use analysis::summarise;
use record::RunRecord;

use crate::checks::throughput;
use crate::records;

fn rendered(record: &RunRecord) -> String {
    throughput(&summarise(record))
}

/// What must hold of every plot.
fn assert_plot(svg: &str) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("role=\"img\"") && svg.contains("<title>") && svg.contains("<desc>"));
    assert!(svg.contains("prefers-color-scheme: dark"));
    assert!(svg.lines().all(|line| !line.trim().is_empty()), "a blank line ends an HTML block of Markdown");
    let in_order =
        |tag: &str| (svg.matches(&format!("<{tag}")).count(), svg.matches(&format!("</{tag}>")).count());
    let (opened, closed) = in_order("text");
    assert_eq!(opened, closed);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

/// Texts with their left ends and heights.
fn texts(svg: &str) -> Vec<(i32, i32, String)> {
    let mut found = Vec::new();
    for part in svg.split("<text ").skip(1) {
        let (attributes, rest) = part.split_once('>').unwrap();
        let attributes = format!(" {attributes}");
        let number = |name: &str| {
            let (_, from) = attributes.split_once(&format!(" {name}=\"")).unwrap();
            from.split_once('"').unwrap().0.parse::<i32>().unwrap()
        };
        let words = rest.split_once("</text>").unwrap().0.trim().to_owned();
        if attributes.contains("text-anchor=\"start\"") && !attributes.contains("transform") {
            found.push((number("x"), number("y"), words));
        }
    }
    found
}

/// Labels of the margin stand in columns; within one, none may touch another.
fn assert_labels_apart(svg: &str) {
    let texts = texts(svg);
    for (index, a) in texts.iter().enumerate() {
        for b in &texts[index + 1..] {
            assert!(a.0 != b.0 || (a.1 - b.1).abs() >= 12, "{a:?} touches {b:?}");
        }
    }
}

/// No curve, marker or leader of a single panel reaches into the margin where its labels stand.
fn assert_margin_clear(svg: &str) {
    let label_x = texts(svg).iter().map(|(x, ..)| *x).max().unwrap();
    let points = svg.split("points=\"").skip(1).flat_map(|part| part.split('"').next().unwrap().split(' '));
    for point in points.filter(|point| !point.is_empty()) {
        let x: i32 = point.split(',').next().unwrap().parse().unwrap();
        assert!(x < label_x, "{point} reaches into the labels at {label_x}");
    }
}

#[test]
fn the_plot_of_the_golden_record() {
    let svg = rendered(&records::golden());
    assert_plot(&svg);
    assert_labels_apart(&svg);
    assert_margin_clear(&svg);
    insta::assert_snapshot!(svg);
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    assert_eq!(rendered(&records::golden()), rendered(&records::golden()));
    let mut turned = records::golden();
    turned.lines.reverse();
    assert_eq!(rendered(&records::golden()), rendered(&turned));
}

/// Records that a layout may stumble over, by name.
fn variants() -> Vec<(&'static str, RunRecord)> {
    let ways = [
        ("random", "bypass", 131_072, 0.8),
        ("sequential", "bypass", 131_072, 1.2),
        ("shuffled_epoch", "cold", 131_072, 0.7),
        ("random", "warm", 4_096, 0.1),
        ("sequential", "warm", 1_048_576, 3.0),
    ];
    let mut no_need = records::golden();
    no_need.run.need.samples_per_s = None;
    let mut full = records::golden();
    full.run.need.utilization = 1.0;
    let mut few = records::golden();
    few.lines.retain(|line| !matches!(line, record::Line::Rep(rep) if rep.rep > 0));
    let mut far = records::golden();
    records::scale_reps(&mut far, |cell| cell.starts_with("array"), 0.005);
    let mut null = records::golden();
    null.run.targets.iter_mut().for_each(|target| target.storage = false);
    vec![
        ("one", records::golden()),
        ("two", records::in_ways(&ways[..1])),
        ("four", records::in_ways(&ways[..3])),
        ("six", records::in_ways(&ways)),
        ("many", records::with_targets(&[1.0, 0.99, 0.9, 0.6, 0.5, 0.4, 0.31, 0.3, 0.1])),
        ("tiny", records::scaled(1e-6)),
        ("huge", records::scaled(1e4)),
        ("single", records::at_one_depth(128)),
        ("no-need", no_need),
        ("full", full),
        ("few", few),
        ("far", far),
        ("null", null),
        ("depths", records::by_depth()),
    ]
}

#[test]
fn whole_files_are_counted_as_files_under_way() {
    let svg = rendered(&records::golden());
    let count = |words: &str| svg.matches(words).count();
    assert_eq!((count("files under way"), count("queue depth (reads outstanding")), (1, 1));
}

#[test]
fn plots_hold_whatever_they_show() {
    for (name, record) in variants() {
        let svg = rendered(&record);
        assert_plot(&svg);
        assert_labels_apart(&svg);
        if !["two", "four", "six"].contains(&name) {
            assert_margin_clear(&svg);
        }
        if let Some(dir) = std::env::var_os("FEEDLINE_PLOTS") {
            std::fs::write(std::path::Path::new(&dir).join(format!("{name}.svg")), svg).unwrap();
        }
    }
}

#[test]
fn a_curve_from_depth_1_on_stands_beside_what_its_latency_would_give() {
    let words = "dashed: QD x block / latency at depth 1, up to the highest rate";
    let svg = rendered(&records::by_depth());
    assert_eq!(svg.matches("class=\"l-s1\" stroke-width=\"1\" stroke-dasharray=\"5 3\"").count(), 1);
    assert!(texts(&svg).iter().any(|(.., text)| text == words));
    assert!(!rendered(&records::golden()).contains(words), "no curve there begins at depth 1");
}

#[test]
fn a_long_command_and_a_hostile_title_stay_inside() {
    let mut record = records::golden();
    record.run.title = Some("</title><script>alert(1)</script> & ".repeat(4));
    record.run.command = vec!["feedline".to_owned(), "x".repeat(400)];
    let svg = rendered(&record);
    assert_plot(&svg);
    assert!(!svg.contains("<script>"));
    assert!(texts(&svg).iter().all(|(_, _, words)| words.len() < 300));
}

#[test]
fn a_command_is_folded_over_three_lines_and_then_marked_as_cut() {
    let mut record = records::golden();
    let lines_of = |record: &RunRecord| -> Vec<String> {
        let texts = texts(&rendered(record));
        let first = texts.iter().position(|(.., words)| words.starts_with("$ ")).unwrap();
        texts[first..].iter().map(|(.., words)| words.clone()).collect()
    };
    let command = |words: usize| (0..words).map(|n| format!("--option-{n:03}")).collect::<Vec<_>>();
    record.run.command = command(20);
    let lines = lines_of(&record);
    assert_eq!(lines.join(" "), format!("$ {}", command(20).join(" ")));
    assert!(lines.len() > 1 && !rendered(&record).contains(".."));
    record.run.command = command(60);
    let lines = lines_of(&record);
    assert_eq!(lines.len(), 3);
    assert!(lines[2].ends_with(".."), "{lines:?}");
}

#[test]
fn the_subtitles_name_the_storage() {
    let mut record = records::golden();
    let named = |record: &RunRecord| {
        texts(&rendered(record)).into_iter().map(|(.., words)| words).collect::<Vec<_>>()
    };
    assert!(
        named(&record).contains(&"nvme: ext4; filer: nfs4; array: xfs; tree: ext4; stream: ext4".to_owned())
    );
    record.run.targets[0].name = "n".repeat(300);
    assert!(!named(&record).iter().any(|words| words.contains("filer: nfs4")), "no room, no line");
}

#[test]
fn the_region_below_the_line_is_stronger_on_a_dark_background() {
    let svg = rendered(&records::golden());
    let (light, dark) = svg.split_once("prefers-color-scheme: dark").unwrap();
    let opacity = |style: &str| -> f64 {
        let (_, from) = style.split_once("--fl-starving-opacity:").unwrap();
        from.split(';').next().unwrap().parse().unwrap()
    };
    assert!(opacity(dark) >= 2.0 * opacity(light));
    assert!(svg.contains(".f-starving{fill-opacity:var(--fl-starving-opacity)}"));
    assert!(svg.contains("class=\"f-starving\" fill-opacity=\"0.1\""));
}

#[test]
fn each_colour_is_plain_and_has_a_class_that_a_theme_replaces() {
    let svg = rendered(&records::by_depth());
    let (style, drawn) = svg.split_once("</style>").unwrap();
    assert!(!drawn.contains("var(") && !drawn.contains("style="), "a program without variables meets none");
    for property in ["fill", "stroke"] {
        for part in drawn.split(&format!(" {property}=\"")).skip(1).filter(|part| !part.starts_with("none")) {
            let (colour, rest) = part.split_once('"').unwrap();
            assert!(colour.len() == 7 && colour.starts_with('#'), "{part:.80}");
            let class = rest.strip_prefix(" class=\"").and_then(|rest| rest.split_once('"')).unwrap().0;
            assert!(style.contains(&format!(".{class}{{{property}:var(--fl-")), "{class}");
        }
    }
}

#[test]
fn storages_behind_a_network_share_one_plot_and_the_demo_is_marked() {
    let svg = rendered(&records::networks());
    assert_plot(&svg);
    assert_labels_apart(&svg);
    assert_margin_clear(&svg);
    let words: Vec<String> = texts(&svg).into_iter().map(|(.., words)| words).collect();
    assert!(words.contains(&"DEMO".to_owned()), "{words:?}");
    assert!(words.iter().any(|words| words.starts_with("DEMO: a server that feedline started")), "{words:?}");
    insta::assert_snapshot!(svg);
}

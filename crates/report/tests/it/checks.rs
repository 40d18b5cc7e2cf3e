//! What must hold of every plot.

use analysis::Summary;

/// Estimated width of a letter by its size, as the plots are laid out by.
const LETTER_BY_SIZE: f64 = 0.56;

/// A text with the box that it takes: left, top, right, bottom.
#[derive(Debug)]
pub(crate) struct Words {
    at: [f64; 4],
    pub(crate) words: String,
}

/// The plot of throughput against depth.
pub(crate) fn throughput(summary: &Summary) -> String {
    let plots = report::plots(summary, &[]).unwrap();
    plots.into_iter().find(|plot| plot.name == "throughput").unwrap().svg
}

pub(crate) fn words(svg: &str) -> Vec<Words> {
    let of_part = |part: &str| {
        let (attributes, rest) = part.split_once('>').unwrap();
        let attributes = format!(" {attributes}");
        let value = |name: &str| {
            let (_, from) = attributes.split_once(&format!(" {name}=\"")).unwrap();
            from.split_once('"').unwrap().0.to_owned()
        };
        let number = |name: &str| value(name).parse::<f64>().unwrap();
        let words = rest
            .split_once("</text>")
            .unwrap()
            .0
            .trim()
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&apos;", "'")
            .replace("&amp;", "&");
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        // plotters writes sizes in pixels of a box that is higher than the letters.
        let size = size.min(20.0);
        let width = words.chars().count() as f64 * size * LETTER_BY_SIZE;
        let left = match value("text-anchor").as_str() {
            "middle" => x - width / 2.0,
            "end" => x - width,
            _ => x,
        };
        Words { at: [left, y - size / 2.0, left + width, y + size / 2.0], words }
    };
    svg.split("<text ").skip(1).map(of_part).collect()
}

/// No text touches another, and none leaves the figure.
pub(crate) fn assert_apart(svg: &str) {
    let words = words(svg);
    let height: f64 = svg.split_once(" height=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap();
    for (index, a) in words.iter().enumerate() {
        assert!(
            !a.words.is_empty()
                && a.at[0] >= 0.0
                && a.at[2] <= 1_000.0
                && a.at[1] >= 0.0
                && a.at[3] <= height,
            "{a:?}"
        );
        for b in &words[index + 1..] {
            let apart = a.at[2] <= b.at[0] || b.at[2] <= a.at[0] || a.at[3] <= b.at[1] || b.at[3] <= a.at[1];
            assert!(apart, "{a:?} touches {b:?}");
        }
    }
}

pub(crate) fn assert_plot(svg: &str) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("prefers-color-scheme: dark") && svg.contains("<desc>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("=\"inf"));
    assert!(svg.lines().all(|line| !line.trim().is_empty()));
    assert_apart(svg);
}

/// A plot and the table behind it.
pub(crate) fn assert_whole(plot: &report::Plot) {
    assert_plot(&plot.svg);
    assert_inside(&plot.svg);
    assert_well_formed(&plot.svg);
    let width = plot.table.columns.len();
    assert!(width > 0 && !plot.table.rows.is_empty(), "{} has no table", plot.name);
    assert!(plot.table.rows.iter().all(|row| row.len() == width), "{}", plot.name);
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, from) = element.split_once(&format!(" {name}=\""))?;
    from.split_once('"').map(|found| found.0)
}

/// Every mark lies inside the figure.
fn assert_inside(svg: &str) {
    let size = |name| attribute(svg, name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (size("width"), size("height"));
    let inside = |x: f64, y: f64, element: &str| {
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{element}");
    };
    for element in svg.split('<').filter(|element| !element.starts_with('/')) {
        for point in attribute(element, "points").unwrap_or_default().split_whitespace() {
            let (x, y) = point.split_once(',').unwrap();
            inside(x.parse().unwrap(), y.parse().unwrap(), element);
        }
        for step in attribute(element, "d").unwrap_or_default().split('M').skip(1) {
            let (corner, size) = step.split_once('h').unwrap();
            let (x, y) = corner.split_once(' ').unwrap();
            let (wide, tall) = size.split_once('v').unwrap();
            let number = |words: &str| words.parse::<f64>().unwrap();
            let tall = number(tall.split_once('h').unwrap().0);
            assert!(number(wide) > 0.0 && tall > 0.0, "an empty cell: {step}");
            inside(number(x), number(y), step);
            inside(number(x) + number(wide), number(y) + tall, step);
        }
        for (x, y) in [("x1", "y1"), ("x2", "y2"), ("cx", "cy"), ("x", "y")] {
            if let (Some(x), Some(y)) = (attribute(element, x), attribute(element, y)) {
                inside(x.parse().unwrap(), y.parse().unwrap(), element);
            }
        }
    }
}

/// Every element that is opened is closed, in order.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("an element without an end: {part}"));
        assert!(!text.contains('&') || text.split('&').skip(1).all(|one| one.contains(';')), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{part}");
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

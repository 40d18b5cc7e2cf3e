//! Colours: sentinels for drawing, CSS variables in the result.
//!
//! Each role is drawn in an opaque sentinel colour that stands for nothing else, and replaced by a
//! variable with a light and a dark value. Series differ in marker and dash too, never in colour alone.

use plotters::style::RGBColor;

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Titles and labels.
    Text,
    /// Axes, ticks, the key.
    Muted,
    /// Grid lines.
    Grid,
    /// Background, and the inside of hollow markers.
    Paper,
    /// The feed line and its label.
    Line,
    /// The region below it.
    Starving,
    /// Marker, whisker, band and label of a series.
    Series(usize),
    /// The curve of a series, dashed in its own way.
    Curve(usize),
    /// What a series would be by latency and top rate alone.
    Model(usize),
    /// A line from a last point to its label.
    Leader(usize),
    /// A dashed line that was fitted to points.
    Fit,
}

/// A light and a dark value. Series are at least 3:1 and text at least 4.5:1 against their background.
struct Pair {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn pair(name: &'static str, light: &'static str, dark: &'static str) -> Pair {
    Pair { name, light, dark }
}

const PAPER: Pair = pair("paper", "#ffffff", "#0d1117");
const TEXT: Pair = pair("text", "#1f2328", "#e6edf3");
const MUTED: Pair = pair("muted", "#59636e", "#9198a1");
const GRID: Pair = pair("grid", "#e2e6ea", "#242b33");
/// Opacity of the region below the line: on a dark background the same share of red would not be seen.
const STARVING: Pair = pair("starving", "0.1", "0.24");
/// The same for a program that reads no style.
pub(super) const STARVING_OPACITY: f64 = 0.1;
const LINE: Pair = pair("line", "#c0392b", "#ff7b6b");

/// Blue, brown-orange, green, magenta, violet, olive, slate, teal: told apart by protanopes and
/// deuteranopes in the first four, by marker and dash in all.
const SERIES: [Pair; 8] = [
    pair("s1", "#0072b2", "#58a6e8"),
    pair("s2", "#b35c00", "#e08a3c"),
    pair("s3", "#007a5a", "#3fb68b"),
    pair("s4", "#a6447f", "#dc86b8"),
    pair("s5", "#6a4fb3", "#a992f0"),
    pair("s6", "#776300", "#c2ab3a"),
    pair("s7", "#57606a", "#a3acb6"),
    pair("s8", "#00707d", "#45b3c0"),
];

/// Dashes of curves; the first is solid.
const DASHES: [&str; 5] = ["", "9 4", "3 3", "12 4 3 4", "1 4"];

/// Series that have a sentinel of their own; a plot with more would be unreadable long before.
pub(super) const SERIES_MAX: usize = 256;

impl Ink {
    /// The colour that stands for this role while drawing.
    pub(super) fn sentinel(self) -> RGBColor {
        match self {
            Self::Text => RGBColor(0xfd, 0, 1),
            Self::Muted => RGBColor(0xfd, 0, 2),
            Self::Grid => RGBColor(0xfd, 0, 3),
            Self::Paper => RGBColor(0xfd, 0, 4),
            Self::Line => RGBColor(0xfd, 0, 5),
            Self::Starving => RGBColor(0xfd, 0, 6),
            Self::Fit => RGBColor(0xfd, 0, 7),
            Self::Series(n) => RGBColor(0xfe, 1, (n % SERIES_MAX) as u8),
            Self::Curve(n) => RGBColor(0xfe, 2, (n % SERIES_MAX) as u8),
            Self::Model(n) => RGBColor(0xfe, 4, (n % SERIES_MAX) as u8),
            Self::Leader(n) => RGBColor(0xfe, 3, (n % SERIES_MAX) as u8),
        }
    }

    fn pair(self) -> &'static Pair {
        match self {
            Self::Text | Self::Fit => &TEXT,
            Self::Muted => &MUTED,
            Self::Grid => &GRID,
            Self::Paper => &PAPER,
            Self::Line | Self::Starving => &LINE,
            Self::Series(n) | Self::Curve(n) | Self::Model(n) | Self::Leader(n) => &SERIES[n % SERIES.len()],
        }
    }

    /// The style that replaces the sentinel in attribute `property`.
    fn style(self, property: &str) -> String {
        let Pair { name, light, .. } = self.pair();
        let dash = match self {
            Self::Curve(n) => DASHES[n % DASHES.len()],
            Self::Model(_) | Self::Fit => "5 3",
            Self::Leader(_) => "1 3",
            _ => "",
        };
        let dash = if dash.is_empty() { String::new() } else { format!(";stroke-dasharray:{dash}") };
        let opacity = match (self, property) {
            (Self::Starving, "fill") => format!(";opacity:var(--fl-{},{})", STARVING.name, STARVING.light),
            _ => String::new(),
        };
        format!("{property}:var(--fl-{name},{light}){dash}{opacity}")
    }

    fn of_sentinel(hex: &str) -> Option<Self> {
        let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let n = usize::from(part(4)?);
        match (part(0)?, part(2)?, n) {
            (0xfd, 0, 1) => Some(Self::Text),
            (0xfd, 0, 2) => Some(Self::Muted),
            (0xfd, 0, 3) => Some(Self::Grid),
            (0xfd, 0, 4) => Some(Self::Paper),
            (0xfd, 0, 5) => Some(Self::Line),
            (0xfd, 0, 6) => Some(Self::Starving),
            (0xfd, 0, 7) => Some(Self::Fit),
            (0xfe, 1, n) => Some(Self::Series(n)),
            (0xfe, 2, n) => Some(Self::Curve(n)),
            (0xfe, 3, n) => Some(Self::Leader(n)),
            (0xfe, 4, n) => Some(Self::Model(n)),
            _ => None,
        }
    }
}

/// Fonts that exist on most systems; all of them are narrower than the widths estimated here.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'Liberation Sans', 'DejaVu Sans', sans-serif";

/// Gives the drawing its theme, title and description.
pub(super) fn finish(drawn: &str, title: &str, description: &str) -> String {
    // Names come from users, and XML has no word for these characters.
    let is_xml = |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    let drawn: String = drawn.chars().map(|c| if is_xml(c) { c } else { ' ' }).collect();
    let themed = with_styles(&drawn);
    let Some((head, body)) = themed.split_once(">\n") else { return themed };
    let lines: Vec<&str> = body.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    format!(
        "{head} class=\"feedline-plot\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<style>\n{}</style>\n{}\n",
        crate::markup::text(title),
        crate::markup::text(description),
        stylesheet(),
        lines.join("\n")
    )
}

/// Both themes; scoped to a class, so that a page that inlines the plot keeps its own.
fn stylesheet() -> String {
    let (light, dark) = (variables(false), variables(true));
    format!(
        ".feedline-plot{{{light}}}\n\
         @media (prefers-color-scheme: dark){{.feedline-plot{{{dark}}}}}\n\
         .feedline-plot text{{font-variant-numeric:tabular-nums}}\n"
    )
}

/// The colours of one theme as variables of CSS: `--fl-paper:#ffffff;...`.
pub(crate) fn variables(dark: bool) -> String {
    let value = |pair: &'static Pair| if dark { pair.dark } else { pair.light };
    all_pairs().flat_map(|pair| ["--fl-", pair.name, ":", value(pair), ";"]).collect()
}

/// Replaces sentinels by variables, and what plotters says of fonts by one stack at the root.
fn with_styles(drawn: &str) -> String {
    let mut themed = String::with_capacity(drawn.len() + drawn.len() / 4);
    let mut rest = drawn;
    while let Some(at) = rest.find("=\"#") {
        let (before, from) = rest.split_at(at);
        let (hex, after) = (from.get(3..9).unwrap_or_default(), from.get(10..).unwrap_or_default());
        let start = before.rfind(' ').map_or(0, |blank| blank + 1);
        let property = &before[start..];
        if let Some(ink) = Ink::of_sentinel(hex) {
            themed.push_str(&before[..start]);
            themed.extend(["style=\"", &ink.style(property), "\""]);
            rest = after;
        } else {
            themed.extend([before, "=\"#"]);
            rest = &from[3..];
        }
    }
    themed.push_str(rest);
    with_font_sizes(&themed.replace(" font-family=\"sans-serif\"", "").replace(" opacity=\"1\"", ""))
}

/// Sizes pass through a division in plotters; written with one decimal they read as they were meant.
fn with_font_sizes(themed: &str) -> String {
    let mut parts = themed.split("font-size=\"");
    let mut rounded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (size, after) = part.split_once('"').unwrap_or((part, ""));
        let size = size
            .parse::<f64>()
            .map_or_else(|_| size.to_owned(), |size| format!("{}", (size * 10.0).round() / 10.0));
        rounded.extend(["font-size=\"", &size, "\"", after]);
    }
    rounded
}

/// A finished plot for programs that know neither variables nor media: each variable by its value in one theme.
pub(crate) fn flattened(svg: &str, dark: bool) -> String {
    let unstyled = match (svg.find("<style>"), svg.find("</style>\n")) {
        (Some(from), Some(to)) if from < to => [&svg[..from], &svg[to + "</style>\n".len()..]].concat(),
        _ => svg.to_owned(),
    };
    let mut flat = String::with_capacity(unstyled.len());
    let mut rest = unstyled.as_str();
    while let Some((before, from)) = rest.split_once("var(--fl-") {
        flat.push_str(before);
        let Some((inside, after)) = from.split_once(')') else { break };
        let (name, light) = inside.split_once(',').unwrap_or((inside, ""));
        let known = all_pairs().find(|pair| dark && pair.name == name);
        flat.push_str(known.map_or(light, |pair| pair.dark));
        rest = after;
    }
    flat.push_str(rest);
    flat
}

fn all_pairs() -> impl Iterator<Item = &'static Pair> {
    [&PAPER, &TEXT, &MUTED, &GRID, &LINE, &STARVING].into_iter().chain(&SERIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast as WCAG 2.2 defines them.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let channel = |at: usize| {
                let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_that_is_read_has_enough_contrast_in_both_themes() {
        for pair in [&TEXT, &MUTED, &LINE].into_iter().chain(&SERIES) {
            // Labels are written in the colour of their series, so the limit of text holds for all.
            assert!(contrast(pair.light, PAPER.light) >= 4.5, "{} light", pair.name);
            assert!(contrast(pair.dark, PAPER.dark) >= 4.5, "{} dark", pair.name);
        }
    }

    /// `over` on `under`, at an opacity.
    fn mixed(over: &str, under: &str, opacity: f64) -> String {
        let channel = |at: usize| {
            let of = |hex: &str| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
            (of(over) * opacity + of(under) * (1.0 - opacity)).round() as u8
        };
        format!("#{:02x}{:02x}{:02x}", channel(1), channel(3), channel(5))
    }

    #[test]
    fn figures_in_a_grid_can_be_read_on_every_shade_of_it() {
        for share in [0.0, 0.5, 1.0] {
            let opacity = super::super::marker::heat(share);
            let light = mixed(SERIES[0].light, PAPER.light, opacity);
            let dark = mixed(SERIES[0].dark, PAPER.dark, opacity);
            assert!(contrast(TEXT.light, &light) >= 4.5, "{light} at {share}");
            assert!(contrast(TEXT.dark, &dark) >= 4.5, "{dark} at {share}");
        }
    }

    #[test]
    fn every_sentinel_comes_back_as_its_role() {
        let fixed = [Ink::Text, Ink::Muted, Ink::Grid, Ink::Paper, Ink::Line, Ink::Starving, Ink::Fit];
        let series = [Ink::Series(0), Ink::Series(255), Ink::Curve(7), Ink::Model(3), Ink::Leader(12)];
        for ink in fixed.into_iter().chain(series) {
            let RGBColor(r, g, b) = ink.sentinel();
            assert_eq!(Ink::of_sentinel(&format!("{r:02X}{g:02X}{b:02X}")), Some(ink));
        }
        assert_eq!(Ink::of_sentinel("FFFFFF"), None);
    }

    #[test]
    fn sentinels_become_styles_and_other_colours_stay() {
        let themed =
            with_styles("<rect opacity=\"0.5\" fill=\"#FD0004\" stroke=\"none\"/><a fill=\"#123456\"/>");
        assert_eq!(
            themed,
            "<rect opacity=\"0.5\" style=\"fill:var(--fl-paper,#ffffff)\" stroke=\"none\"/><a fill=\"#123456\"/>"
        );
        assert!(with_styles("<p stroke=\"#FE0201\"/>").contains("stroke-dasharray:9 4"));
    }

    #[test]
    fn text_from_a_record_cannot_leave_its_element() {
        let svg = finish("<svg a=\"b\">\n<g/>\n</svg>\n", "a </title><script>", "b & c\n\nd");
        assert!(svg.contains("<title>a &lt;/title&gt;&lt;script&gt;</title>"), "{svg}");
        assert!(svg.contains("<desc>b &amp; c\n\nd</desc>"));
    }
}

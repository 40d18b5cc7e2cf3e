//! Colours: each is written plainly, with a class by which a style sheet replaces it.
//!
//! A program that reads no style sheet, or knows no variables, shows the light theme. A browser follows the reader's
//! theme, or the variables of the page that holds the plot. Series differ in marker and dash too, never in colour alone.

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
    /// What belongs to a series.
    Series(usize),
}

/// The colours of a role. Series are at least 3:1 and text at least 4.5:1 against their background.
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
const LINE: Pair = pair("line", "#c0392b", "#ff7b6b");
/// A colour of its own beside that of the line: the class is found by the colour.
const STARVING: Pair = pair("starving", "#d1242f", "#ff7b6b");

// The first four are hues of the palette of Okabe and Ito, darkened to a contrast of 3:1 on white, as WCAG 2.1 asks of
// graphics (1.4.11).
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

/// Opacity of the region below the line.
pub(super) const STARVING_OPACITY: f64 = 0.1;
/// The same on a dark background, where the light theme's share of red would not be seen.
const STARVING_OPACITY_DARK: f64 = 0.24;

impl Ink {
    fn pair(self) -> &'static Pair {
        match self {
            Self::Text => &TEXT,
            Self::Muted => &MUTED,
            Self::Grid => &GRID,
            Self::Paper => &PAPER,
            Self::Line => &LINE,
            Self::Starving => &STARVING,
            Self::Series(n) => &SERIES[n % SERIES.len()],
        }
    }

    pub(super) fn is_series(self) -> bool {
        matches!(self, Self::Series(_))
    }

    /// The colour in the light theme.
    // The light theme: paper and most slides are white, and a program that ignores style sheets shows this one.
    pub(super) fn colour(self) -> RGBColor {
        let hex = self.pair().light;
        let channel = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_default();
        RGBColor(channel(1), channel(3), channel(5))
    }
}

/// The name of the role that has this colour in the light theme.
pub(super) fn role(hex: &str) -> Option<&'static str> {
    pairs().find(|pair| pair.light == hex).map(|pair| pair.name)
}

/// Overrides the plain colours where variables are known; scoped to a class, so that a page that inlines the plot keeps
/// its own. Programs that know no `@supports` skip all of it.
pub(super) fn stylesheet() -> String {
    let (light, dark) = (variables(false), variables(true));
    let rules = rules(|pair| format!("var(--fl-{})", pair.name), "var(--fl-starving-opacity)");
    format!(
        ".feedline-plot text{{font-variant-numeric:tabular-nums}}\n\
         @supports (color:var(--fl-text)){{\n.feedline-plot{{{light}}}\n\
         @media (prefers-color-scheme: dark){{.feedline-plot{{{dark}}}}}\n{rules}}}\n"
    )
}

/// Rules that give a plot the dark theme in a program without variables.
pub(crate) fn dark_rules() -> String {
    rules(|pair| pair.dark.to_owned(), &STARVING_OPACITY_DARK.to_string())
}

fn rules(value: impl Fn(&Pair) -> String, starving_opacity: &str) -> String {
    let of_pair = |pair: &'static Pair| {
        let (name, value) = (pair.name, value(pair));
        format!(".feedline-plot .f-{name}{{fill:{value}}}\n.feedline-plot .l-{name}{{stroke:{value}}}\n")
    };
    let opacity = format!(".feedline-plot .f-starving{{fill-opacity:{starving_opacity}}}\n");
    pairs().map(of_pair).chain([opacity]).collect()
}

/// The colours of one theme as variables of CSS: `--fl-paper:#ffffff;...`.
pub(crate) fn variables(dark: bool) -> String {
    let value = |pair: &'static Pair| if dark { pair.dark } else { pair.light };
    let colours: String = pairs().flat_map(|pair| ["--fl-", pair.name, ":", value(pair), ";"]).collect();
    let opacity = if dark { STARVING_OPACITY_DARK } else { STARVING_OPACITY };
    format!("{colours}--fl-starving-opacity:{opacity};")
}

fn pairs() -> impl Iterator<Item = &'static Pair> {
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
            let opacity = super::super::sign::heat(share);
            let light = mixed(SERIES[0].light, PAPER.light, opacity);
            let dark = mixed(SERIES[0].dark, PAPER.dark, opacity);
            assert!(contrast(TEXT.light, &light) >= 4.5, "{light} at {share}");
            assert!(contrast(TEXT.dark, &dark) >= 4.5, "{dark} at {share}");
        }
    }

    #[test]
    fn a_colour_says_its_role() {
        for pair in pairs() {
            assert_eq!(role(pair.light), Some(pair.name));
        }
        let RGBColor(red, green, blue) = Ink::Series(9).colour();
        assert_eq!(role(&format!("#{red:02x}{green:02x}{blue:02x}")), Some("s2"));
        assert_eq!(role("#123456"), None);
    }

    #[test]
    fn a_program_without_variables_meets_none() {
        let sheet = stylesheet();
        let (plain, supported) = sheet.split_once("@supports").unwrap();
        assert!(!plain.contains("var(") && supported.contains("fill:var(--fl-s8)"));
        assert!(!dark_rules().contains("var("));
    }
}

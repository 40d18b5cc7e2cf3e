//! Arithmetic as text: sections of labelled rows, each with the formula that it follows from.

use std::fmt;

/// Columns of a row's label at least.
const LABEL_MIN: usize = 10;

/// A title, and below it sections of labelled rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    title: String,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Section { label: String, rest: String },
    Row { label: String, rest: String },
}

impl Sheet {
    /// A sheet without a section.
    pub fn titled(title: &str) -> Self {
        Self { title: title.to_owned(), lines: Vec::new() }
    }

    /// Begins a section, with what there is to say beside its label.
    pub fn section(&mut self, label: &str, rest: &str) {
        self.lines.push(Line::Section { label: label.to_owned(), rest: rest.to_owned() });
    }

    /// A row of the section. Without a label it goes on with the row above.
    pub fn row(&mut self, label: &str, rest: &str) {
        self.lines.push(Line::Row { label: label.to_owned(), rest: rest.to_owned() });
    }

    /// A row that follows from a formula of this name: `F42`.
    pub fn by(&mut self, formula: &str, label: &str, rest: &str) {
        self.row(label, &format!("{rest} ({formula})"));
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |line: &Line| match line {
            Line::Row { label, .. } => label.chars().count() + 1,
            // It begins two columns before the rows.
            Line::Section { label, .. } => label.chars().count().saturating_sub(1),
        };
        let width = self.lines.iter().map(label).fold(LABEL_MIN, usize::max);
        f.write_str(&self.title)?;
        for line in &self.lines {
            let text = match line {
                // Two columns further than rows are indented, so that all text begins in one column.
                Line::Section { label, rest } => format!("{label:<0$}{rest}", width + 2),
                Line::Row { label, rest } => format!("  {label:<width$}{rest}"),
            };
            write!(f, "\n{}", text.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_label_sets_the_column() {
        let mut sheet = Sheet::titled("title");
        sheet.section("copied", "once");
        sheet.by("F42", "epoch from there", "1 / 2 = 0.5");
        sheet.section("empty", "");
        sheet.row("", "more");
        let expected = "\
title
copied             once
  epoch from there 1 / 2 = 0.5 (F42)
empty
                   more";
        assert_eq!(sheet.to_string(), expected);
        sheet.section("a section that is longer", "than rows");
        assert!(sheet.to_string().ends_with("\na section that is longer than rows"));
    }
}

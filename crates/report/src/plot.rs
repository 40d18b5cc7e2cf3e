//! A plot, with the table of what it shows.

/// A plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Name of its file, without `.svg`.
    pub name: &'static str,
    /// What it shows, in words.
    pub title: String,
    /// The plot.
    pub svg: String,
    /// The same for a window as narrow as a phone's.
    // A second drawing and no scaled one: letters that shrink with the plot cannot be read on a phone.
    pub narrow_svg: String,
    /// The figures that it shows.
    // Screen readers have nothing else, and a figure in a plot cannot be copied.
    pub table: PlotTable,
}

/// The figures of a plot, for those who cannot or would rather not look at it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlotTable {
    /// Names of the columns, with units.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

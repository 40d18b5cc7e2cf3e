//! PNG of a plot, with a font that is part of the program: the same picture on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::svg::{RenderError, theme};

/// Latin, Greek and Cyrillic letters of DejaVu Sans Condensed; its licence is beside it.
// A subset: the whole font would be most of the binary.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSansCondensed-subset.ttf");
const FAMILY: &str = "DejaVu Sans Condensed";

/// Pixels of the picture to a pixel of the plot: letters of 12 pixels are read on any display.
const SCALE: f32 = 2.0;

/// The plot as a PNG of twice its size in pixels, in the light or the dark theme. Letters that the font of the program
/// lacks are left out: it has those of Latin, Greek and Cyrillic.
///
/// # Errors
/// [`RenderError::Picture`] for a text that is no plot of this program, or one too large for a picture.
pub fn png(svg: &str, dark: bool) -> Result<Vec<u8>, RenderError> {
    let refused = |cause: String| RenderError::Picture { cause };
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::clone(&FONTS),
        // The light colours are written in the plot itself; resvg knows no variables of CSS, by which pages
        // switch.
        style_sheet: dark.then(theme::dark_rules),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| refused(error.to_string()))?;
    let size =
        tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| refused("it has no size".to_owned()))?;
    let mut picture = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| refused(format!("{} x {} pixels are too many", size.width(), size.height())))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| refused(error.to_string()))
}

// No font of the machine: the same record must give the same picture everywhere.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_of_the_program_is_found_by_its_name() {
        let names: Vec<&str> =
            FONTS.faces().flat_map(|face| &face.families).map(|family| family.0.as_str()).collect();
        assert!(names.contains(&FAMILY), "{names:?}");
    }

    #[test]
    fn what_is_no_plot_is_refused() {
        let error = png("not a plot", false).unwrap_err();
        assert!(error.to_string().contains("hint:"), "{error}");
    }
}

//! A PNG of a given size in bytes: a slope with noise, which filters and deflate leave as large as a photograph.

use super::draw::Draw;

/// Pixels for each ten bytes at the first try: 1.8 bytes a pixel, as photographs have them.
const PIXELS_PER_10_BYTES: u64 = 6;

/// Larger images repeat nothing that a decoder had not met before, and would take gigabytes to make.
const BYTES_MAX: u64 = 64 << 20;

/// Values of the noise.
// Differences of neighbours then have 4.5 bits, so that a byte of a pixel takes 0.6 of one.
const NOISE: u64 = 14;

/// Pixels of the slope to a step of brightness.
const SLOPE: u64 = 8;

/// Bytes that do not grow with the image: signature, header, checksums and end.
const HEAD_BYTES: u64 = 70;

// Each is a linear step towards the size, since lines are alike; two are usual.
const TRIES: usize = 5;

/// An image of about `target` bytes.
pub(super) fn sample(target: u64, seed: u64) -> Vec<u8> {
    let target = target.min(BYTES_MAX);
    let pixels = (target * PIXELS_PER_10_BYTES / 10).max(4);
    // 4:3, as cameras make them.
    let width = (pixels * 4 / 3).isqrt();
    let mut height = (pixels / width).max(1);
    let mut image = encoded(width, height, seed);
    for _ in 0..TRIES {
        let (wanted, found) =
            (target.saturating_sub(HEAD_BYTES), image.len() as u64 - HEAD_BYTES.min(image.len() as u64 - 1));
        let next = ((height * wanted + found / 2) / found).max(1);
        if next == height {
            break;
        }
        height = next;
        image = encoded(width, height, seed);
    }
    image
}

fn encoded(width: u64, height: u64, seed: u64) -> Vec<u8> {
    let mut draw = Draw::new(seed);
    let mut pixels = Vec::with_capacity((width * height * 3) as usize);
    for y in 0..height {
        for x in 0..width {
            // One draw for the three colours of a pixel.
            let word = draw.word();
            let brightness = (x + 2 * y) / SLOPE;
            pixels.extend(
                [0, 16, 32].map(|shift| (brightness + (((word >> shift & 0xffff) * NOISE) >> 16)) as u8),
            );
        }
    }
    let mut image = Vec::new();
    let mut encoder = png::Encoder::new(&mut image, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.expect("a vector takes all that is written to it");
    image
}

//! An image of a given size in bytes, drawn coefficient by coefficient.
//!
//! Nothing is transformed: what a decoder spends depends on the number of pixels, of coefficients and of bits, and these
//! are chosen here directly. So the size is met without a search, and the bytes are the same on every machine.

use super::draw::Draw;
use super::huffman::{AC_COUNTS, AC_SYMBOLS, Coder, DC_COUNTS, DC_SYMBOLS};

/// Pixels for each ten bytes: 0.6 bytes for each pixel, as ImageNet has them (110 kB at 469 x 387).
const PIXELS_PER_10_BYTES: u64 = 17;

/// Below the pixels that a decoder allows, by the blocks that stick out at the edges.
const PIXELS_MAX: u64 = 170_000_000;

/// Side of what is coded at once: four blocks of brightness, one of each colour difference.
const UNIT_PIXELS: u64 = 16;
const BLOCKS: [Block; 6] = [BRIGHTNESS, BRIGHTNESS, BRIGHTNESS, BRIGHTNESS, COLOUR, COLOUR];
const SHARES: u64 = 4 * 5 + 2 * 2;

const BRIGHTNESS: Block = Block { share: 5, component: 0 };
const COLOUR: Block = Block { share: 2, component: 1 };

/// A block of 8 x 8 coefficients.
#[derive(Clone, Copy)]
struct Block {
    /// Part of its unit's bits, in `SHARES`.
    share: u64,
    component: usize,
}

/// An image of about `target` bytes.
pub(super) fn sample(target: u64, seed: u64) -> Vec<u8> {
    let pixels =
        (target.saturating_mul(PIXELS_PER_10_BYTES) / 10).clamp(UNIT_PIXELS * UNIT_PIXELS, PIXELS_MAX);
    // 4:3, as cameras make them; a decoder's work per pixel does not depend on it.
    let width = (pixels * 4 / 3).isqrt();
    let height = pixels / width;
    let mut coder = Coder::after(header(width as u16, height as u16));
    let mut draw = Draw::new(seed);
    let mut last = [0; 3];
    let units = width.div_ceil(UNIT_PIXELS) * height.div_ceil(UNIT_PIXELS);
    for unit in 0..units {
        // What earlier units took more or less is spread over those that are left, so that the image ends at its
        // size.
        let left_bits = target.saturating_sub(coder.bytes() as u64 + 2) * 8;
        let unit_bits = left_bits / (units - unit);
        for (number, block) in BLOCKS.iter().enumerate() {
            // The two colour differences are components of their own, with the same share.
            let component = block.component + usize::from(number == 5);
            let bits = unit_bits * block.share / SHARES;
            // Blocks of a photograph differ: from half of their share to half more, but for the last, which meets the
            // size.
            let varied = if unit + 1 == units { bits } else { bits / 2 + draw.below(bits.clamp(1, 4096)) };
            draw_block(&mut coder, &mut draw, &mut last[component], varied);
        }
    }
    let mut image = coder.finish();
    image.extend([0xff, 0xd9]);
    image
}

/// Draws coefficients from low frequencies to high ones until `budget_bits` are spent, as coarser quantization would
/// leave them. The mean brightness walks, so that neighbours are alike.
fn draw_block(coder: &mut Coder, draw: &mut Draw, last: &mut i32, budget_bits: u64) {
    let begin = coder.written_bits();
    let mean = *last * 15 / 16 + draw.below(65) as i32 - 32;
    coder.dc(mean - *last);
    *last = mean;
    let mut zeros = 0;
    for position in 1..64_u32 {
        if coder.written_bits() - begin + 8 >= budget_bits {
            coder.end_of_block();
            return;
        }
        // One draw for the three choices of a coefficient: bits 0 to 3, 8 to 15, and from 16 on.
        let word = draw.word();
        if word & 15 < zeros_of_16(position) {
            zeros += 1;
            continue;
        }
        let size = size_at_least(position) + ((word >> 8) as u8 | 0x10).trailing_zeros();
        let magnitude = 1_i32 << (size - 1) | (word >> 16) as i32 & ((1 << (size - 1)) - 1);
        coder.ac(zeros, if word >> 63 == 0 { magnitude } else { -magnitude });
        zeros = 0;
    }
    if zeros > 0 {
        coder.end_of_block();
    }
}

/// How many of 16 coefficients at a place of the zigzag are 0.
fn zeros_of_16(position: u32) -> u64 {
    u64::from(position / 8).min(6)
}

/// Bits of the smallest magnitude at a place: low frequencies carry more.
fn size_at_least(position: u32) -> u32 {
    match position {
        1..6 => 4,
        6..20 => 3,
        20..40 => 2,
        _ => 1,
    }
}

/// Everything before the coefficients: JFIF, one table of quantization by 4, the frame with colour at half resolution,
/// the two Huffman tables, and one scan.
fn header(width: u16, height: u16) -> Vec<u8> {
    let mut header = vec![0xff, 0xd8];
    segment(&mut header, 0xe0, &[b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"]);
    segment(&mut header, 0xdb, &[&[0], &[4; 64]]);
    let ([h1, h0], [w1, w0]) = (height.to_be_bytes(), width.to_be_bytes());
    segment(&mut header, 0xc0, &[&[8, h1, h0, w1, w0, 3], &[1, 0x22, 0], &[2, 0x11, 0], &[3, 0x11, 0]]);
    segment(&mut header, 0xc4, &[&[0x00], &DC_COUNTS, &DC_SYMBOLS]);
    segment(&mut header, 0xc4, &[&[0x10], &AC_COUNTS, &AC_SYMBOLS]);
    segment(&mut header, 0xda, &[&[3, 1, 0, 2, 0, 3, 0], &[0, 63, 0]]);
    header
}

fn segment(out: &mut Vec<u8>, marker: u8, parts: &[&[u8]]) {
    let content = parts.concat();
    out.extend([0xff, marker]);
    out.extend((content.len() as u16 + 2).to_be_bytes());
    out.extend(content);
}

//! PNG of other kinds than the stand-in: colours, depths, lines out of order, and damage.

use decode::{DecodeError, FREE_BYTES};
use plan::Work;
use png::{BitDepth, ColorType};

use crate::decode;

/// An image of 20 x 10 pixels, all of the bytes `7`.
fn image(color: ColorType, depth: BitDepth, bytes: usize) -> Vec<u8> {
    let mut image = Vec::new();
    let mut encoder = png::Encoder::new(&mut image, 20, 10);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        encoder.set_palette([1_u8; 48].as_slice());
    }
    encoder.write_header().unwrap().write_image_data(&vec![7; bytes]).unwrap();
    image
}

/// A chunk as the specification has it: length, name, content, CRC.
fn chunk(name: [u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [&name[..], content].concat();
    let length = (content.len() as u32).to_be_bytes();
    [&length[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
}

#[test]
fn each_kind_of_colour_becomes_a_byte_for_each_channel() {
    for (color, depth, stored, out) in [
        (ColorType::Grayscale, BitDepth::Eight, 200, 200),
        (ColorType::Grayscale, BitDepth::One, 30, 200),
        (ColorType::Grayscale, BitDepth::Sixteen, 400, 200),
        (ColorType::GrayscaleAlpha, BitDepth::Eight, 400, 400),
        (ColorType::Indexed, BitDepth::Four, 100, 600),
        (ColorType::Rgb, BitDepth::Eight, 600, 600),
        (ColorType::Rgb, BitDepth::Sixteen, 1200, 600),
        (ColorType::Rgba, BitDepth::Eight, 800, 800),
    ] {
        assert_eq!(decode(Work::Png, &image(color, depth, stored)), Ok(out), "{color:?} {depth:?}");
    }
}

#[test]
fn damage_is_found_by_the_checksums() {
    let whole = image(ColorType::Rgb, BitDepth::Eight, 600);
    let data = whole.windows(4).position(|name| name == b"IDAT").unwrap();
    for at in [23, 30, data + 5, data + 12, whole.len() - 2] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        let error = decode(Work::Png, &damaged).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed { .. }), "{at}: {error}");
    }
    let trailing = [&whole[..], b"xyz"].concat();
    assert_eq!(decode(Work::Png, &trailing), Err(DecodeError::Trailing { format: "PNG", trailing_bytes: 3 }));
    for cut in 8..whole.len() {
        assert_eq!(decode(Work::Png, &whole[..cut]), Err(DecodeError::Truncated { format: "PNG" }), "{cut}");
    }
}

#[test]
fn dimensions_are_refused_before_pixels_are_allocated() {
    let of_color = |width: u32, height: u32, color: u8| {
        let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, color, 0, 0, 0]].concat();
        let bytes = [&b"\x89PNG\r\n\x1a\n"[..], &chunk(*b"IHDR", &head), &chunk(*b"IEND", &[])].concat();
        decode(Work::Png, &bytes)
    };
    let of = |width, height| of_color(width, height, 2);
    let too_large = Err(DecodeError::TooLarge { format: "PNG", limit_bytes: FREE_BYTES });
    for (width, height) in [(u32::MAX, u32::MAX), (1 << 31, 1), (1, 1 << 31), (5_000, 5_000)] {
        assert_eq!(of(width, height), too_large, "{width} x {height}");
    }
    // A mask of one channel is a quarter of what colours may take.
    let mask = of_color(5_000, 5_000, 0);
    assert!(matches!(mask, Err(DecodeError::Malformed { .. })), "no picture follows its header: {mask:?}");
    assert!(matches!(of(0, 5), Err(DecodeError::Malformed { .. })), "{:?}", of(0, 5));
    assert!(matches!(of(10, 10), Err(DecodeError::Malformed { .. })), "{:?}", of(10, 10));
}

#[test]
fn text_that_unpacks_to_much_is_left_alone() {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![b'x'; 200 << 20]).unwrap();
    let text = [&b"comment\0\0"[..], &packed.finish().unwrap()].concat();
    let mut image = image(ColorType::Rgb, BitDepth::Eight, 600);
    let end_of_header = 33;
    image.splice(end_of_header..end_of_header, chunk(*b"zTXt", &text));
    assert_eq!(decode(Work::Png, &image), Ok(600));
}

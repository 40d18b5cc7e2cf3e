//! Entropy coding of a baseline JPEG: the Huffman tables that ITU-T T.81 gives as an example, and the bits they make.

/// Codes of each length from 1 to 16 bits, and what they stand for: differences of DC coefficients (table K.3).
pub(super) const DC_COUNTS: [u8; 16] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
pub(super) const DC_SYMBOLS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// The same for AC coefficients (table K.5): zeros before the coefficient, and its bits.
pub(super) const AC_COUNTS: [u8; 16] = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125];
#[rustfmt::skip]
pub(super) const AC_SYMBOLS: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
    0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];

/// Sixteen zeros and no coefficient.
const ZERO_RUN: u8 = 0xf0;
/// The rest of the block is zero.
const END_OF_BLOCK: u8 = 0x00;

#[derive(Clone, Copy, Default)]
struct Code {
    bits: u32,
    length: u32,
}

/// Writes coefficients after a header.
pub(super) struct Coder {
    out: Vec<u8>,
    bits: u64,
    pending: u32,
    written_bits: u64,
    dc: [Code; 256],
    ac: [Code; 256],
}

impl Coder {
    pub(super) fn after(header: Vec<u8>) -> Self {
        let (dc, ac) = (codes(&DC_COUNTS, &DC_SYMBOLS), codes(&AC_COUNTS, &AC_SYMBOLS));
        Self { out: header, bits: 0, pending: 0, written_bits: 0, dc, ac }
    }

    /// Bits put so far, stuffed ones left out.
    pub(super) fn written_bits(&self) -> u64 {
        self.written_bits
    }

    /// Whole bytes so far, the header and stuffed ones among them.
    pub(super) fn bytes(&self) -> usize {
        self.out.len()
    }

    /// The difference of a DC coefficient to that of the block before, of at most 11 bits.
    pub(super) fn dc(&mut self, difference: i32) {
        let size = size(difference);
        self.put(self.dc[size as usize]);
        self.magnitude(difference, size);
    }

    /// A coefficient of 1 to 10 bits after `zeros` that are 0.
    pub(super) fn ac(&mut self, zeros: u32, value: i32) {
        // A code states at most 15 zeros before a coefficient.
        for _ in 0..zeros / 16 {
            self.put(self.ac[usize::from(ZERO_RUN)]);
        }
        let size = size(value);
        self.put(self.ac[((zeros % 16) << 4 | size) as usize]);
        self.magnitude(value, size);
    }

    pub(super) fn end_of_block(&mut self) {
        self.put(self.ac[usize::from(END_OF_BLOCK)]);
    }

    /// The bytes, the last one filled with ones.
    pub(super) fn finish(mut self) -> Vec<u8> {
        // Ones, as T.81 (F.1.2.3) has it: no code consists of ones alone.
        let filling = (8 - self.pending % 8) % 8;
        self.put(Code { bits: (1 << filling) - 1, length: filling });
        self.out
    }

    /// Negative values are written less one, in as many bits (T.81, F.1.2.1).
    fn magnitude(&mut self, value: i32, size: u32) {
        let bits = if value < 0 { value - 1 } else { value } as u32;
        self.put(Code { bits: bits & ((1 << size) - 1), length: size });
    }

    fn put(&mut self, code: Code) {
        self.bits = self.bits << code.length | u64::from(code.bits);
        self.pending += code.length;
        self.written_bits += u64::from(code.length);
        while self.pending >= 8 {
            self.pending -= 8;
            let byte = (self.bits >> self.pending) as u8;
            self.out.push(byte);
            // A stuffed zero tells data from a marker (T.81, B.1.1.5).
            if byte == 0xff {
                self.out.push(0);
            }
        }
    }
}

/// Bits of a value's magnitude.
fn size(value: i32) -> u32 {
    32 - value.unsigned_abs().leading_zeros()
}

/// The code of each symbol (T.81, annex C): codes of one length count up, and the next length goes on at twice that.
fn codes(counts: &[u8; 16], symbols: &[u8]) -> [Code; 256] {
    let mut codes = [Code::default(); 256];
    let mut symbols = symbols.iter();
    let mut bits = 0;
    for (length, count) in (1..).zip(counts) {
        for symbol in symbols.by_ref().take(usize::from(*count)) {
            codes[usize::from(*symbol)] = Code { bits, length };
            bits += 1;
        }
        bits <<= 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table K.5 of the standard spells these codes out.
    #[test]
    fn codes_are_those_that_the_standard_spells_out() {
        let ac = codes(&AC_COUNTS, &AC_SYMBOLS);
        let code = |symbol: usize| (ac[symbol].bits, ac[symbol].length);
        assert_eq!(code(0x00), (0b1010, 4));
        assert_eq!(code(0xf0), (0b111_1111_1001, 11));
        assert_eq!(code(0x01), (0b00, 2));
        assert_eq!(code(0x11), (0b1100, 4));
        assert_eq!(code(0xfa), (0b1111_1111_1111_1110, 16));
    }

    #[test]
    fn negative_values_are_one_less_and_a_full_byte_is_stuffed() {
        let mut coder = Coder::after(Vec::new());
        // 1110 and 1000 for the sizes 5 and 6 begin; then the value.
        coder.dc(-1);
        assert_eq!(coder.written_bits(), 4);
        assert_eq!(coder.finish(), [0b0100_1111]);
        let mut coder = Coder::after(Vec::new());
        coder.put(Code { bits: 0xff, length: 8 });
        assert_eq!(coder.finish(), [0xff, 0]);
    }
}

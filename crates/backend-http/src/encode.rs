//! Percent-encoding as signatures want it, and numbers in requests.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>, `UriEncode()`: letters, digits and
//! `-._~` stay, everything else becomes `%XX` with capitals. A slash stays in the path and nowhere else. The path on
//! the wire is the path that is signed, so no server has to guess.

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends a path; its slashes stay.
pub fn push_path(text: &str, out: &mut Vec<u8>) {
    push(text, true, out);
}

/// Appends a name or a value of a query.
pub fn push_query(text: &str, out: &mut Vec<u8>) {
    push(text, false, out);
}

fn push(text: &str, keep_slash: bool, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            // Services sign a key's slashes as they are. An encoded one would be another key to services that
            // decode once.
            b'/' if keep_slash => out.push(byte),
            _ => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                out.extend([b'%', DIGITS[high], DIGITS[low]]);
            }
        }
    }
}

/// A text without its percent-encoding; what is no encoding stays.
pub fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        // `u8::from_str_radix` would take a sign.
        let digits =
            after.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap_or_default(), 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends a number in decimal, without the machinery of formatting.
pub fn push_number(mut number: u64, out: &mut Vec<u8>) {
    // u64::MAX has 20 digits.
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends bytes in hexadecimal, small letters.
pub fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const SMALL: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend([SMALL[usize::from(byte >> 4)], SMALL[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(fill: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        fill(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_unreserved_characters_stay_and_slashes_in_paths() {
        assert_eq!(text(|out| push_path("a b/ü+~.bin", out)), "a%20b/%C3%BC%2B~.bin");
        assert_eq!(text(|out| push_query("a/b=c&d", out)), "a%2Fb%3Dc%26d");
        assert_eq!(decoded("a%20b%2Fc"), "a b/c");
        for plain in ["100%", "%+1", "%zz", "%"] {
            assert_eq!(decoded(plain), plain);
        }
    }

    #[test]
    fn numbers_and_hexadecimals_are_written_in_full() {
        assert_eq!(text(|out| push_number(0, out)), "0");
        assert_eq!(text(|out| push_number(u64::MAX, out)), u64::MAX.to_string());
        assert_eq!(text(|out| push_hex(&[0, 0xab, 0xff], out)), "00abff");
    }
}

//! Types of items as numpy spells them, in headers of `.npy` and metadata of Zarr.

/// Bytes of an item: `numpy.dtype.str` is byte order, kind, size. Text has four bytes for each letter.
pub(crate) fn size_of(descr: &str) -> Option<u64> {
    let plain = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
    let mut letters = plain.chars();
    let kind = letters.next()?;
    let digits = letters.as_str();
    // Of dates the unit follows in brackets.
    let digits = if matches!(kind, 'M' | 'm') { digits.split('[').next()? } else { digits };
    let size: u64 = digits.parse().ok()?;
    match kind {
        // The largest item of numpy is a complex number of 32 B; anything more in this place is no header of numpy.
        'b' | 'i' | 'u' | 'f' | 'c' | 'M' | 'm' => (1..=32).contains(&size).then_some(size),
        'S' | 'a' | 'V' => Some(size),
        'U' => size.checked_mul(4),
        _ => None,
    }
}

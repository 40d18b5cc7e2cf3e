//! Names of members: the two ways in which long ones are kept, and the key that groups them.

/// What a name says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Member<'a> {
    /// It belongs to the sample with this key.
    Of(&'a [u8]),
    /// It belongs to no sample: it has no extension, or WebDataset reserves its name (`__name__`).
    Beside,
}

/// The path up to the first dot of its last part, as `webdataset.tariterators.base_plus_ext` takes it.
pub(crate) fn member(path: &[u8]) -> Member<'_> {
    let base = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let Some(dot) = path[base..].iter().position(|byte| *byte == b'.') else { return Member::Beside };
    // The pattern there is `__[^/]*__($|/)`, from the beginning of the path on.
    let first = path.split(|byte| *byte == b'/').next().unwrap_or_default();
    let is_kept = first.len() >= 4 && first.starts_with(b"__") && first.ends_with(b"__");
    if dot == 0 || is_kept { Member::Beside } else { Member::Of(&path[..base + dot]) }
}

/// What an extended header of POSIX says of the next entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extended<'a> {
    /// Its name.
    pub(crate) path: Option<&'a [u8]>,
    /// Its bytes.
    pub(crate) size: Option<u64>,
}

/// Reads records of the form `LENGTH KEY=VALUE\n`; `None` where they are something else.
pub(crate) fn extended(body: &[u8]) -> Option<Extended<'_>> {
    let mut found = Extended::default();
    let mut rest = body;
    while !rest.is_empty() {
        // A length has at most 20 digits; a body without a space is not searched to its end.
        let space = rest.iter().take(20).position(|byte| *byte == b' ')?;
        let length: usize = number(&rest[..space])?.try_into().ok()?;
        let record = rest.get(space + 1..length)?.strip_suffix(b"\n")?;
        rest = &rest[length..];
        let equals = record.iter().position(|byte| *byte == b'=')?;
        let value = &record[equals + 1..];
        match &record[..equals] {
            b"path" => found.path = Some(value),
            b"size" => found.size = Some(number(value)?),
            _ => {}
        }
    }
    Some(found)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_path_up_to_the_first_dot_of_its_last_part() {
        assert_eq!(member(b"a.b/c.d.jpg"), Member::Of(b"a.b/c"));
        assert_eq!(member(b"../../etc/passwd.cls"), Member::Of(b"../../etc/passwd"));
        assert_eq!(member(b"/x.cls"), Member::Of(b"/x"));
        for beside in ["plain", "a.b/plain", "", ".hidden", "a/.hidden", "__meta__/a.json", "a.b/"] {
            assert_eq!(member(beside.as_bytes()), Member::Beside, "{beside}");
        }
    }

    #[test]
    fn extended_headers_are_read_by_their_lengths() {
        let body = b"12 path=a.b\n14 size=12345\n10 x=a\nb=\n";
        let size = Some(12345);
        assert_eq!(extended(body), Some(Extended { path: Some(b"a.b"), size }));
        for torn in ["99 path=a\n", "0 path=a\n", "3 path=a\n", "10 path=abc", "x", "8 size=\n", "7 abcd\n"] {
            assert_eq!(extended(torn.as_bytes()), None, "{torn}");
        }
    }
}

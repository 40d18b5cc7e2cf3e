//! The header of an `.npy` file: a dictionary as Python writes it, of which the three keys of numpy are understood.

use crate::numpy::size_of;

/// An array of items that have one size each.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) item_bytes: u64,
    pub(crate) shape: Vec<u64>,
}

/// Axes that numpy has at most.
const AXES_MAX: usize = 64;

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`; an error says what it is instead.
pub(crate) fn parse(bytes: &[u8]) -> Result<Array, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "a header that is no text".to_owned())?;
    let mut rest = Rest(text);
    let broken = || "a header that is no dictionary of numpy".to_owned();
    let (mut item_bytes, mut is_fortran, mut shape) = (None, None, None);
    rest.take("{").ok_or_else(broken)?;
    while rest.take("}").is_none() {
        let key = rest.string().ok_or_else(broken)?;
        rest.take(":").ok_or_else(broken)?;
        match key {
            // A list here describes fields of a structured array: samples would still be of one size, but what they
            // hold is not for a benchmark to guess.
            "descr" => {
                let descr = rest.string().ok_or("items made of fields")?;
                item_bytes = Some(size_of(descr).ok_or_else(|| format!("items of type `{descr}`"))?);
            }
            "fortran_order" => is_fortran = Some(rest.boolean().ok_or_else(broken)?),
            "shape" => shape = Some(rest.tuple().ok_or_else(broken)?),
            // numpy refuses further keys too.
            _ => return Err(broken()),
        }
        if rest.take(",").is_none() {
            rest.take("}").ok_or_else(broken)?;
            break;
        }
    }
    match (item_bytes, is_fortran, shape) {
        (Some(_), Some(true), Some(_)) => {
            Err("an array in the order of Fortran, whose samples are scattered".to_owned())
        }
        (Some(item_bytes), Some(false), Some(shape)) if rest.0.trim().is_empty() => {
            Ok(Array { item_bytes, shape })
        }
        _ => Err(broken()),
    }
}

/// What is not read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn take(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        let (string, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    fn boolean(&mut self) -> Option<bool> {
        if self.take("True").is_some() {
            return Some(true);
        }
        self.take("False").map(|()| false)
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        self.take("(")?;
        let mut axes = Vec::new();
        while self.take(")").is_none() {
            let text = self.0.trim_start();
            let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
            axes.push(text[..digits].parse().ok().filter(|_| axes.len() < AXES_MAX)?);
            // Python 2 wrote large numbers so.
            self.0 = text[digits..].strip_prefix('L').unwrap_or(&text[digits..]);
            if self.take(",").is_none() {
                self.take(")")?;
                break;
            }
        }
        Some(axes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let of = |descr: &str, shape: &str| {
            parse(
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}  \n").as_bytes(),
            )
        };
        assert_eq!(of("<f4", "(3, 4)"), Ok(Array { item_bytes: 4, shape: vec![3, 4] }));
        assert_eq!(of("|u1", "(3,)"), Ok(Array { item_bytes: 1, shape: vec![3] }));
        assert_eq!(of("<U7", "()"), Ok(Array { item_bytes: 28, shape: vec![] }));
        assert_eq!(of("<M8[ns]", "(5L,)"), Ok(Array { item_bytes: 8, shape: vec![5] }));
        for descr in ["|O", "<f99", "<f", "", "<f-4", "é4", "<U9223372036854775807"] {
            assert!(of(descr, "(3,)").unwrap_err().contains("items of type"), "{descr}");
        }
        for shape in ["(3", "3", "(-1,)", "(1e3,)", "(99999999999999999999,)", "(,)", "[3]"] {
            assert!(of("|u1", shape).unwrap_err().contains("no dictionary"), "{shape}");
        }
    }

    #[test]
    fn what_cannot_be_read_by_record_is_named() {
        let fortran = b"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4)}";
        assert!(parse(fortran).unwrap_err().contains("Fortran"));
        let fields = b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}";
        assert!(parse(fields).unwrap_err().contains("fields"));
        for broken in ["", "{", "{}", "{'descr': '<f4'}", "{'other': 1}", "{'descr': '<f4', 'descr"] {
            assert!(parse(broken.as_bytes()).unwrap_err().contains("no dictionary"), "{broken}");
        }
        assert!(parse(b"\xff").is_err());
    }
}

//! The decimal number in front of a unit, read exactly.

use super::error::{Quantity, UnitError};

/// Decimals beyond these are refused, so that every number times the largest unit fits 128 bits or is
/// too large anyway.
// 35 digits fit 128 bits. A product with a unit that does not fit them is caught where it is formed.
const FRACTION_DIGITS_MAX: usize = 15;
const INTEGER_DIGITS_MAX: usize = 20;

/// Characters of a wrong text that are repeated in an error.
// A whole file may stand where a size belongs, if a quote is missing.
const QUOTE_CHARS_MAX: usize = 40;

/// A text split into number and unit: `mantissa / 10^scale`.
pub(super) struct Written<'a> {
    pub(super) quantity: Quantity,
    pub(super) text: &'a str,
    /// The number as written, without thousands separators.
    pub(super) number: String,
    pub(super) unit: &'a str,
    mantissa: u128,
    scale: u32,
}

impl<'a> Written<'a> {
    pub(super) fn read(text: &'a str, quantity: Quantity) -> Result<Self, UnitError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(UnitError::Empty { quantity });
        }
        // The minus sign of typography is what a copied page or a spreadsheet holds.
        if text.strip_prefix(['-', '\u{2212}']).is_some_and(|rest| rest.trim_start().starts_with(is_number)) {
            return Err(UnitError::Negative { text: quoted(text), quantity });
        }
        let end = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim());
        let not_a_number = || UnitError::NotANumber { text: quoted(text), quantity };
        // A slip in an exponent changes a size tenfold and is easily overlooked; the prefixes say the same.
        if is_exponent(unit) {
            return Err(not_a_number());
        }
        let number = ungrouped(number).ok_or_else(|| comma_error(text))?;
        let (integer, fraction) = split_decimal(&number).ok_or_else(not_a_number)?;
        if fraction.len() > FRACTION_DIGITS_MAX {
            return Err(not_a_number());
        }
        let too_large = || UnitError::TooLarge { text: quoted(text), quantity };
        if integer.len() > INTEGER_DIGITS_MAX {
            return Err(too_large());
        }
        let mantissa = format!("0{integer}{fraction}").parse().map_err(|_| too_large())?;
        let scale = fraction.len() as u32;
        // Zero is never what is meant here: keys that take it, such as `warmup`, have a type of their own.
        if mantissa == 0 {
            return Err(UnitError::Zero { text: quoted(text), quantity });
        }
        Ok(Self { quantity, text, number, unit, mantissa, scale })
    }

    /// The number times `unit`, as a whole number of `base`.
    pub(super) fn whole(&self, unit: u64, base: &'static str, symbol: &str) -> Result<u64, UnitError> {
        let scaled = self.mantissa.checked_mul(u128::from(unit)).ok_or_else(|| self.too_large())?;
        let divisor = 10u128.pow(self.scale);
        let below = u64::try_from(scaled / divisor).map_err(|_| self.too_large())?;
        if scaled.is_multiple_of(divisor) {
            return Ok(below);
        }
        // Both neighbours are offered: which way to round is the user's business where bytes are counted
        // exactly.
        let above = below.saturating_add(1);
        let write =
            if below == 0 { format!("1 {symbol}") } else { format!("{below} {symbol} or {above} {symbol}") };
        Err(UnitError::NotWhole { text: quoted(self.text), base, write })
    }

    /// The number alone.
    pub(super) fn value(&self) -> f64 {
        // The decimal text, not the quotient: parsing rounds once.
        self.number.parse().unwrap_or(f64::NAN)
    }

    pub(super) fn too_large(&self) -> UnitError {
        UnitError::TooLarge { text: quoted(self.text), quantity: self.quantity }
    }

    pub(super) fn no_unit(&self, write: String) -> UnitError {
        UnitError::NoUnit { text: quoted(self.text), write }
    }

    pub(super) fn unknown_unit(&self, write: String) -> UnitError {
        UnitError::UnknownUnit {
            text: quoted(self.text),
            unit: quoted(self.unit),
            quantity: self.quantity,
            write,
        }
    }
}

/// A text from a file, made safe to repeat on a terminal.
fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTE_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTE_CHARS_MAX).is_some() {
        quoted.push('…');
    }
    quoted
}

fn is_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c == ','
}

fn is_exponent(unit: &str) -> bool {
    unit.strip_prefix(['e', 'E'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+'))
}

/// Takes the thousands separators out of `114,660`; `None` where a comma is anything else.
fn ungrouped(number: &str) -> Option<String> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut groups = integer.split(',');
    let first = groups.next().unwrap_or("");
    let is_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let is_plain = !integer.contains(',');
    ((is_plain || is_grouped) && !fraction.contains(',')).then(|| number.replace(',', ""))
}

fn comma_error(text: &str) -> UnitError {
    let write = if text.matches(',').count() == 1 && !text.contains('.') {
        // `1,5 GB` is how much of the world writes 1.5.
        text.replace(',', ".")
    } else {
        text.replace(',', "")
    };
    UnitError::Comma { text: quoted(text), write: quoted(&write) }
}

/// `("1", "5")` of `1.50`, without zeros that say nothing; `None` unless digits stand on both sides.
fn split_decimal(number: &str) -> Option<(&str, &str)> {
    let (integer, fraction) = match number.split_once('.') {
        Some((integer, fraction)) if !fraction.is_empty() => (integer, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    if integer.is_empty() || fraction.contains('.') {
        return None;
    }
    Some((integer.trim_start_matches('0'), fraction.trim_end_matches('0')))
}

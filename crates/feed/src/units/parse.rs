//! Reading quantities.

use super::error::{Quantity, UnitError};
use super::number::Written;

const BYTE_UNITS: [(&str, u64); 14] = [
    ("B", 1),
    ("kB", 1_000),
    // Read as kB: K is a letter of no other unit, so that nothing else can be meant.
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("EiB", 1 << 60),
];

// No `Kib` and the like: network rates are decimal everywhere, and a binary prefix on bits is more often a
// slip than meant.
const BIT_UNITS: [(&str, f64); 12] = [
    ("b", 1.0),
    ("kb", 1e3),
    ("Kb", 1e3),
    ("Mb", 1e6),
    ("Gb", 1e9),
    ("Tb", 1e12),
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("Tbit", 1e12),
];

const DURATION_UNITS: [(&str, u64); 10] = [
    ("ns", 1),
    ("us", 1_000),
    // Unicode has two of them, the micro sign and the Greek letter, and keyboards differ in which one they
    // give.
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Spellings of durations that are refused, and what is meant.
// Refused with the right spelling and not accepted: one word for each unit keeps scenarios alike, so that a
// search through them finds all.
const DURATION_SPELLINGS: [(&str, &[&str]); 6] = [
    ("us", &["usec", "microseconds"]),
    ("ms", &["msec", "millis", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("m", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("d", &["day", "days"]),
];

/// Reads a size in bytes: `128 KiB`, `1.5GB`, `114,660 B`.
///
/// A prefix `K` is `k`, 1000: no other unit is written so. Elsewhere the case of a letter decides (`b` is bits, `m` minutes
/// or a thousandth), and a unit of another case is refused.
///
/// # Errors
/// [`UnitError`], which says what to write: for a missing, unknown or ambiguous unit, a number that is
/// negative, zero, not plain or not a whole number of bytes, and more than 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let written = Written::read(text, Quantity::Size)?;
    if written.unit.is_empty() {
        let n = &written.number;
        return Err(written.no_unit(format!("{n} B, or {n} KiB (2^10) or {n} kB (10^3)")));
    }
    match lookup(&BYTE_UNITS, written.unit) {
        Some(unit) => written.whole(unit, "bytes", "B"),
        None => Err(written.unknown_unit(byte_units_meant(&written))),
    }
}

/// Reads a rate in bytes per second: `2.5 GB/s`, `800 MiB/s`, and in bits `25 Gb/s` or `25 Gbit/s`.
///
/// # Errors
/// As [`parse_bytes`], but a rate need not be a whole number.
pub fn parse_rate_bps(text: &str) -> Result<f64, UnitError> {
    let written = Written::read(text, Quantity::Rate)?;
    if written.unit.is_empty() {
        let n = &written.number;
        return Err(written.no_unit(format!("{n} GB/s, {n} MB/s, or {n} Gb/s for bits")));
    }
    let per_second = written.unit.strip_suffix("/s");
    let bytes = per_second.and_then(|unit| lookup(&BYTE_UNITS, unit)).map(|unit| unit as f64);
    // Bytes are tried first, and the case of `b` tells them apart. A rate eight times too high makes a
    // storage starve that feeds.
    let bits = per_second.and_then(|unit| lookup(&BIT_UNITS, unit)).map(|unit| unit / 8.0);
    let unit = bytes.or(bits).ok_or_else(|| written.unknown_unit(rate_units_meant(&written)))?;
    let rate_bps = written.value() * unit;
    if rate_bps > u64::MAX as f64 { Err(written.too_large()) } else { Ok(rate_bps) }
}

/// Reads a duration in nanoseconds: `10s`, `250 ms`, `30m` or `30 min`, `2h`, `1us`.
///
/// # Errors
/// As [`parse_bytes`].
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    let written = Written::read(text, Quantity::Duration)?;
    if written.unit.is_empty() {
        let n = &written.number;
        return Err(written.no_unit(format!("{n}s, {n}ms, or {n}m for minutes")));
    }
    match lookup(&DURATION_UNITS, written.unit) {
        Some(unit) => written.whole(unit, "nanoseconds", "ns"),
        None => Err(written.unknown_unit(duration_units_meant(&written))),
    }
}

/// Reads a percentage as a share of one: `10 %` is 0.1.
///
/// # Errors
/// As [`parse_bytes`]; there is no upper bound.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let written = Written::read(text, Quantity::Percentage)?;
    let value = written.value();
    match written.unit {
        "%" => Ok(value / 100.0),
        // A bare 0.9 is most often a share: the hint says 90 %, and a wrong guess costs one more look.
        "" if value <= 1.0 => {
            Err(written.no_unit(format!("{} %", super::format::significant(value * 100.0))))
        }
        "" => Err(written.no_unit(format!("{} %", written.number))),
        _ => Err(written.unknown_unit(format!("{} %", written.number))),
    }
}

fn lookup<T: Copy>(units: &[(&str, T)], unit: &str) -> Option<T> {
    units.iter().find(|(name, _)| *name == unit).map(|&(_, factor)| factor)
}

/// The prefix of a unit of bytes however it is spelled (`k`, `Kb`, `kib`, `gigabytes` is not one of them),
/// and whether the spelling is binary.
// For hints alone. Reading this loosely would take `128 k` for one of two sizes that differ by 2.4 %,
// enough to misalign direct I/O.
fn loose_prefix(unit: &str) -> Option<(&'static str, bool)> {
    let unit = unit.to_ascii_lowercase();
    let mut rest = unit.chars();
    let prefix = match rest.next()? {
        'k' => "k",
        'm' => "M",
        'g' => "G",
        't' => "T",
        'p' => "P",
        'e' => "E",
        _ => return None,
    };
    match rest.as_str() {
        "" | "b" | "byte" | "bytes" | "bit" | "bits" => Some((prefix, false)),
        "i" | "ib" | "ibit" => Some((prefix, true)),
        _ => None,
    }
}

fn binary(prefix: &str) -> String {
    format!("{}iB", prefix.to_ascii_uppercase())
}

fn byte_units_meant(written: &Written<'_>) -> String {
    let n = &written.number;
    match loose_prefix(written.unit) {
        Some((prefix, true)) => format!("{n} {}", binary(prefix)),
        Some((prefix, false)) => format!("{n} {} or {n} {prefix}B", binary(prefix)),
        // `b` alone is bits in rates, but nobody measures files in bits.
        None if ["b", "byte", "bytes"].contains(&written.unit.to_ascii_lowercase().as_str()) => {
            format!("{n} B")
        }
        None => format!("{n} with one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024)"),
    }
}

fn rate_units_meant(written: &Written<'_>) -> String {
    let (n, unit) = (&written.number, written.unit);
    let stem = ["/s", "/S", "/sec", "ps", "/second"]
        .iter()
        .find_map(|suffix| unit.strip_suffix(suffix))
        .unwrap_or(unit);
    let stem = stem.trim_end();
    if lookup(&BYTE_UNITS, stem).is_some() || lookup(&BIT_UNITS, stem).is_some() {
        return format!("{n} {stem}/s");
    }
    match loose_prefix(stem) {
        Some((prefix, true)) => format!("{n} {}/s", binary(prefix)),
        Some((prefix, false)) => format!("{n} {prefix}B/s, or {n} {prefix}b/s for bits"),
        None => format!("{n} with one of kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, or in bits kb/s, Mb/s, Gb/s"),
    }
}

fn duration_units_meant(written: &Written<'_>) -> String {
    let n = &written.number;
    let unit = written.unit.to_lowercase();
    let spelled = DURATION_SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&unit.as_str()));
    if let Some((meant, _)) = spelled {
        return format!("{n}{meant}");
    }
    if lookup(&DURATION_UNITS, &unit).is_some() {
        return format!("{n}{unit}");
    }
    if unit.contains(|c: char| c.is_ascii_digit()) {
        return "one number in one unit, for example 90m for an hour and a half".to_owned();
    }
    format!("{n} with one of ns, us, ms, s, m (minutes), h, d")
}

#[cfg(test)]
mod tests;

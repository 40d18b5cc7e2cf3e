//! How Lustre lays out what is written below a folder: over how many of its servers' targets, in stripes of how many bytes.
//!
//! The client answers with the structures of `lustre_user.h`, in the machine's byte order. They are parsed as bytes of a
//! stranger: no length in them is trusted.

use std::path::Path;

use rustix::fs::getxattr;

/// Attribute that any user may read; `trusted.lov`, which says the same, is root's.
const NAME: &str = "lustre.lov";

/// An attribute is no longer (`XATTR_SIZE_MAX`, linux/limits.h).
const BYTES_MAX: usize = 65_536;

/// `LOV_USER_MAGIC_V1`, `_V3` (with a pool), `_SPECIFIC` (laid out as the one before, on targets that were named) and
/// `_COMP_V1` (several components).
const V1: u32 = 0x0bd1_0bd0;
const V3: u32 = 0x0bd3_0bd0;
const SPECIFIC: u32 = 0x0bd5_0bd0;
const COMPOSITE: u32 = 0x0bd6_0bd0;

/// Where `lmm_stripe_size`, `lmm_stripe_count` and `lmm_pool_name` stand, and the bytes of the last.
const STRIPE_SIZE_AT: usize = 24;
const STRIPE_COUNT_AT: usize = 28;
const POOL_AT: usize = 32;
const POOL_BYTES: usize = 16;

/// Where `lcm_entry_count` and the entries stand, their bytes, and where in one its extent and the place of its layout are.
const ENTRY_COUNT_AT: usize = 14;
const ENTRIES_AT: usize = 32;
const ENTRY_BYTES: usize = 48;
const EXTENT_AT: usize = 8;
const PLACE_AT: usize = 24;

/// `LOV_PATTERN_MDT`: the bytes lie with the metadata.
const PATTERN_MDT: u32 = 0x100;

/// Stripes over all targets that there are.
const ALL: u16 = 0xffff;

/// Components that are said; files have a handful.
const COMPONENTS_MAX: usize = 16;

/// What is known of the layout of new files in a folder; nothing where Lustre does not say.
pub(crate) fn facts(folder: &Path) -> Vec<(&'static str, String)> {
    let mut bytes = vec![0; BYTES_MAX];
    let Ok(length) = getxattr(folder, NAME, &mut bytes) else { return Vec::new() };
    of_bytes(&bytes[..length.min(BYTES_MAX)]).unwrap_or_default()
}

/// Stripes of a file, or of one component of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stripes {
    count: u16,
    bytes: u32,
    pool: Option<String>,
    on_metadata: bool,
}

fn of_bytes(bytes: &[u8]) -> Option<Vec<(&'static str, String)>> {
    if u32_at(bytes, 0)? == COMPOSITE {
        return Some(vec![("lustre_layout", components(bytes)?)]);
    }
    let stripes = Stripes::of(bytes)?;
    let mut facts = vec![
        ("lustre_stripe_count", stripes.count()),
        (
            "lustre_stripe_bytes",
            match stripes.bytes {
                0 => "default".to_owned(),
                bytes => bytes.to_string(),
            },
        ),
    ];
    facts.extend(stripes.pool.map(|pool| ("lustre_pool", pool)));
    Some(facts)
}

/// `0 to 1048576 B: 1 stripe of 1048576 B; from 1048576 B: 4 stripes of 4194304 B`.
fn components(bytes: &[u8]) -> Option<String> {
    let count = usize::from(u16_at(bytes, ENTRY_COUNT_AT)?);
    let said = (0..count.min(COMPONENTS_MAX)).map(|number| component(bytes, number));
    let mut said = said.collect::<Option<Vec<String>>>()?;
    if count > COMPONENTS_MAX {
        said.push(format!("{} more", count - COMPONENTS_MAX));
    }
    (count > 0).then(|| said.join("; "))
}

fn component(bytes: &[u8], number: usize) -> Option<String> {
    let entry = bytes.get(ENTRIES_AT + number * ENTRY_BYTES..)?.get(..ENTRY_BYTES)?;
    let (begins, ends) = (u64_at(entry, EXTENT_AT)?, u64_at(entry, EXTENT_AT + 8)?);
    let (at, length) = (u32_at(entry, PLACE_AT)? as usize, u32_at(entry, PLACE_AT + 4)? as usize);
    let stripes = Stripes::of(bytes.get(at..)?.get(..length)?)?;
    let extent = match ends {
        u64::MAX => format!("from {begins} B"),
        ends => format!("{begins} to {ends} B"),
    };
    Some(format!("{extent}: {}", stripes.words()))
}

impl Stripes {
    fn of(bytes: &[u8]) -> Option<Self> {
        let magic = u32_at(bytes, 0)?;
        if ![V1, V3, SPECIFIC].contains(&magic) {
            return None;
        }
        let pool = if magic == V1 { None } else { pool(bytes.get(POOL_AT..)?.get(..POOL_BYTES)?) };
        Some(Self {
            count: u16_at(bytes, STRIPE_COUNT_AT)?,
            bytes: u32_at(bytes, STRIPE_SIZE_AT)?,
            pool,
            on_metadata: u32_at(bytes, 4)? & PATTERN_MDT != 0,
        })
    }

    fn count(&self) -> String {
        match self.count {
            _ if self.on_metadata => "0 (with the metadata)".to_owned(),
            0 => "default".to_owned(),
            ALL => "all".to_owned(),
            count => count.to_string(),
        }
    }

    fn words(&self) -> String {
        if self.on_metadata {
            return "with the metadata".to_owned();
        }
        let noun = if self.count == 1 { "stripe" } else { "stripes" };
        let pool = self.pool.as_ref().map_or_else(String::new, |pool| format!(" in pool {pool}"));
        match self.bytes {
            0 => format!("{} {noun} of the default size{pool}", self.count()),
            bytes => format!("{} {noun} of {bytes} B{pool}", self.count()),
        }
    }
}

/// A name up to its first NUL; nothing where it holds what no name does.
fn pool(bytes: &[u8]) -> Option<String> {
    let name = bytes.split(|byte| *byte == 0).next()?;
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(magic: u32, pattern: u32, bytes: u32, count: u16, pool: &[u8; 16]) -> Vec<u8> {
        let mut found = [magic.to_ne_bytes(), pattern.to_ne_bytes()].concat();
        found.extend([0; 16]);
        found.extend(bytes.to_ne_bytes());
        found.extend(count.to_ne_bytes());
        found.extend([0; 2]);
        if magic != V1 {
            found.extend(pool);
        }
        found
    }

    fn composite(parts: &[(u64, u64, Vec<u8>)]) -> Vec<u8> {
        let mut found = COMPOSITE.to_ne_bytes().to_vec();
        found.extend([0; 10]);
        found.extend((parts.len() as u16).to_ne_bytes());
        found.extend([0; 16]);
        let mut at = ENTRIES_AT + parts.len() * ENTRY_BYTES;
        for (begins, ends, layout) in parts {
            found.extend([0; 8]);
            found.extend([begins.to_ne_bytes(), ends.to_ne_bytes()].concat());
            found.extend([(at as u32).to_ne_bytes(), (layout.len() as u32).to_ne_bytes()].concat());
            found.extend([0; 16]);
            at += layout.len();
        }
        for (.., layout) in parts {
            found.extend(layout);
        }
        found
    }

    const NO_POOL: &[u8; 16] = &[0; 16];

    #[test]
    fn stripes_of_a_folder_are_said() {
        let of = |bytes: &[u8]| {
            let facts = of_bytes(bytes).unwrap();
            facts.into_iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        };
        let plain_of = |count, bytes| of(&plain(V1, 1, bytes, count, NO_POOL));
        assert_eq!(plain_of(4, 1 << 20), "lustre_stripe_count 4, lustre_stripe_bytes 1048576");
        assert_eq!(plain_of(ALL, 0), "lustre_stripe_count all, lustre_stripe_bytes default");
        assert_eq!(plain_of(0, 65_536), "lustre_stripe_count default, lustre_stripe_bytes 65536");
        assert_eq!(
            of(&plain(SPECIFIC, 1, 4 << 20, 2, b"flash\0garbage\0\0\0")),
            "lustre_stripe_count 2, lustre_stripe_bytes 4194304, lustre_pool flash"
        );
        let parts = [
            (0, 65_536, plain(V1, PATTERN_MDT, 65_536, 0, NO_POOL)),
            (65_536, 1 << 30, plain(V1, 1, 1 << 20, 1, NO_POOL)),
            (1 << 30, u64::MAX, plain(V3, 1, 4 << 20, ALL, b"sixteen-letters!")),
        ];
        assert_eq!(
            of(&composite(&parts)),
            "lustre_layout 0 to 65536 B: with the metadata; 65536 to 1073741824 B: 1 stripe of 1048576 B; from \
             1073741824 B: all stripes of 4194304 B in pool sixteen-letters!"
        );
    }

    #[test]
    fn every_prefix_and_hostile_length_is_refused() {
        let whole = [
            plain(V1, 1, 1 << 20, 4, NO_POOL),
            plain(V3, 1, 1 << 20, 4, b"a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            composite(&[(0, u64::MAX, plain(V1, 1, 1 << 20, 4, NO_POOL))]),
        ];
        for bytes in &whole {
            assert!(of_bytes(bytes).is_some());
            // Behind the count of stripes stand two bytes that are not needed.
            let cut = (0..bytes.len() - 2).filter(|cut| of_bytes(&bytes[..*cut]).is_some());
            assert_eq!(cut.collect::<Vec<_>>(), Vec::<usize>::new());
        }
        let mut many = whole[2].clone();
        many[ENTRY_COUNT_AT..ENTRY_COUNT_AT + 2].copy_from_slice(&u16::MAX.to_ne_bytes());
        let mut none = whole[2].clone();
        none[ENTRY_COUNT_AT..ENTRY_COUNT_AT + 2].fill(0);
        let mut outside = whole[2].clone();
        outside[ENTRIES_AT + PLACE_AT..ENTRIES_AT + PLACE_AT + 8].fill(0xff);
        // A composite inside of a composite, which could go on for ever.
        let mut inside = whole[2].clone();
        inside[ENTRIES_AT + PLACE_AT..ENTRIES_AT + PLACE_AT + 4].fill(0);
        for bytes in [many, none, outside, inside, vec![0; 64], Vec::new()] {
            assert_eq!(of_bytes(&bytes), None, "{bytes:?}");
        }
        assert_eq!(facts(Path::new("/proc")), [], "another file system says nothing");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_parsed_or_refused(
            magic in prop::sample::select(vec![V1, V3, SPECIFIC, COMPOSITE]),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let found = of_bytes(&[&magic.to_ne_bytes()[..], &bytes].concat());
            let said: usize = found.iter().flatten().map(|(_, value)| value.len()).sum();
            prop_assert!(said < 4_096, "{found:?}");
        }
    }
}

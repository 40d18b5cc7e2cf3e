//! Keys that the vocabulary has and this version does not honour yet.
//!
//! They are refused like any other, but not called mistakes of spelling.

/// Keys by table.
const KEYS: &[(&str, &[&str])] = &[("", &["cache_tier", "checkpoint", "copy"])];

/// Whether a later version has `key` in the table at `path`.
pub(crate) fn is_key(path: &str, key: &str) -> bool {
    let table = path.split('.').next().unwrap_or_default();
    KEYS.iter().any(|(name, keys)| *name == table && keys.contains(&key))
}

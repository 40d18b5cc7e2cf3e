//! What tells one machine from another, without telling which it is.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What the machine id is hashed with. The id is confidential by machine-id(5), which asks programs for such a hash.
const KEY: &[u8] = b"feedline: which machine measured";

/// Bytes of the hash that are kept: enough for every machine that one person compares.
// Not all of it: a prefix tells machines apart and cannot be searched for in a list of ids.
const KEPT_BYTES: usize = 8;

/// 16 hexadecimal digits that are the same in every run on one installation, by its machine id.
pub(super) fn of(id: &str) -> Result<String, String> {
    let mut hash = Hmac::<Sha256>::new_from_slice(KEY).map_err(|cause| cause.to_string())?;
    hash.update(id.as_bytes());
    let digest = hash.finalize().into_bytes();
    Ok(digest[..KEPT_BYTES].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_machines_differ_and_neither_id_is_told() {
        let one = of("0123456789abcdef0123456789abcdef").unwrap();
        assert_eq!(one, of("0123456789abcdef0123456789abcdef").unwrap());
        assert_ne!(one, of("0123456789abcdef0123456789abcdee").unwrap());
        assert_eq!(one.len(), 16);
        assert!(!"0123456789abcdef0123456789abcdef".contains(&one));
    }
}

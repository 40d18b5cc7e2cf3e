//! What travels from one process to another, as small as it gets: lines of a record repeat themselves.

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes that stand for a value.
pub(super) fn pack<T: Serialize>(value: &T) -> anyhow::Result<Vec<u8>> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&serde_json::to_vec(value)?)?;
    Ok(packed.finish()?)
}

/// The value that bytes of rank `from` stand for.
pub(super) fn unpack<T: DeserializeOwned>(bytes: &[u8], from: usize) -> anyhow::Result<T> {
    let mut json = Vec::new();
    let read = DeflateDecoder::new(bytes).read_to_end(&mut json);
    let named = || format!("cannot read what rank {from} said: is it another feedline?");
    read.with_context(named)?;
    serde_json::from_slice(&json).with_context(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_what_is_not_names_who_said_it() {
        let value = vec![("a".to_owned(), 1_u64); 1_000];
        let packed = pack(&value).unwrap();
        assert!(packed.len() < 200, "{}", packed.len());
        assert_eq!(unpack::<Vec<(String, u64)>>(&packed, 0).unwrap(), value);
        let error = unpack::<u64>(&packed, 3).unwrap_err().to_string();
        assert!(error.contains("rank 3"), "{error}");
    }
}

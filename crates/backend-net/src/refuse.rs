//! What every store behind a network refuses, in the same words.

use backend::StoreError;
use plan::{Cache, Operation};

/// Refuses any treatment of a page cache: a client in user space has none.
///
/// # Errors
/// [`StoreError::Unavailable`] says what to write instead.
pub fn refuse_page_cache(engine: &str, cache: Cache) -> Result<(), StoreError> {
    if cache == Cache::Bypass {
        return Ok(());
    }
    Err(StoreError::Unavailable {
        what: format!("`{engine}` with `load.cache = \"{}\"`", cache.name()),
        reason:
            "this client runs in user space and keeps no page cache, so nothing can be warm or cold in it"
                .to_owned(),
        hint: "set `load.cache = \"bypass\"` for this target".to_owned(),
    })
}

/// Refuses what no store of objects has: handles of objects, blocks that are written over, and names that change.
///
/// # Errors
/// [`StoreError::Unavailable`] says what to write instead.
pub fn refuse_on_objects(service: &str, operation: Operation) -> Result<(), StoreError> {
    let (reason, hint) = match operation {
        Operation::GetAttr => ("has no handles of objects", "use operation = \"stat\""),
        Operation::Write => (
            "replaces objects whole, and has no blocks to write over",
            "use operation = \"write_file\", which writes objects whole",
        ),
        Operation::Names => (
            "has no names beside its objects",
            "use operation = \"write_file\", which replaces objects by their names",
        ),
        _ => return Ok(()),
    };
    Err(StoreError::Unavailable {
        what: format!("operation \"{}\"", operation.name()),
        reason: format!("{service} {reason}"),
        hint: hint.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_past_the_page_cache_is_taken() {
        assert!(refuse_page_cache("lean", Cache::Bypass).is_ok());
        for cache in [Cache::Warm, Cache::Cold] {
            let text = refuse_page_cache("lean", cache).unwrap_err().to_string();
            assert!(text.contains(cache.name()) && text.contains("hint: set `load.cache"), "{text}");
        }
    }
}

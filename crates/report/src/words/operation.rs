//! What a cell does over and over, in one word.

use feed::Operation;
use record::Word;

/// `read`, `write`; names are looked up by their own word: `stat`, `list`.
pub(crate) fn noun(operation: &Word<Operation>) -> &str {
    match operation.known() {
        // A copy reads and writes: what fails, or is counted, is the write that ends it.
        Some(Operation::Checkpoint | Operation::Copy | Operation::Write | Operation::WriteFile) => "write",
        Some(of_names) if of_names.is_of_names() => operation.as_str(),
        Some(Operation::Mix) => "operation",
        _ => "read",
    }
}

//! A bridge: what verdicts, gates and comparisons still say in words of what cells carry as data. It goes once they carry
//! the data themselves. The words are those of the report, from its own files.

#![allow(dead_code, reason = "the report uses the rest of these files")]

#[path = "../../report/src/words/bound.rs"]
pub(crate) mod bound;
#[path = "../../report/src/words/diagnosis.rs"]
pub(crate) mod diagnosis;
#[path = "../../report/src/words/flag.rs"]
pub(crate) mod flag;
#[path = "../../report/src/words/gap.rs"]
pub(crate) mod gap;
#[path = "../../report/src/words/kinds.rs"]
pub(crate) mod kinds;
#[path = "../../report/src/words/need.rs"]
pub(crate) mod need;
#[path = "../../report/src/words/operation.rs"]
pub(crate) mod operation;
#[path = "../../report/src/words/share.rs"]
pub(crate) mod share;

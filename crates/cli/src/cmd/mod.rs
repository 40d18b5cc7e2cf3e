//! One file per verb.

pub(crate) mod about;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod claims;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod emulate;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod merge;
pub(crate) mod need;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod size;
pub(crate) mod what_if;

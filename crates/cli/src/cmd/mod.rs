//! One file per verb.

pub(crate) mod about;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod emulate;
pub(crate) mod init;
pub(crate) mod need;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod size;

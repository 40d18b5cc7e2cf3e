//! Processes of one launcher that measure together: `mpirun -n 4 feedline run s.toml`.
//!
//! All of them meet ([`meeting`]) and find that they are about to measure the same ([`members`]). Rank 0 leads ([`lead`]): it
//! decides which repetition is made next, as a run of one process does, and writes the one record. The others do what they
//! are told ([`follow`]) and hand over what they counted. In each a watchdog ([`watchdog`]) ends all where one does not come.

pub(crate) mod asked;
mod begin;
mod broken;
mod clocks;
mod follow;
pub(crate) mod lead;
pub(crate) mod meeting;
mod members;
mod order;
mod packed;
pub(crate) mod run;
mod watchdog;

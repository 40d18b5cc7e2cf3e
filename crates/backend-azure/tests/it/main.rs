//! The store against Azurite, and against services that misbehave.

mod azurite;
mod faults;
mod support;

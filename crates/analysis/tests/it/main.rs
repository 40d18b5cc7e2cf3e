//! The golden records through the public interface.

mod golden;
mod job;
mod summary;

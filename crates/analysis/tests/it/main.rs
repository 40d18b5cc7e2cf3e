//! The golden records through the public interface.

mod comparison;
mod golden;
mod job;
mod on_disk;
mod stored;
mod summary;

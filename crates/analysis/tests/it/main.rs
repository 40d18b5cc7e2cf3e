//! The golden record through the public interface.

mod golden;
mod summary;

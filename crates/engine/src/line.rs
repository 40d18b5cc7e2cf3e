//! Memory that no other value shares a cache line with.

/// A value alone on its cache lines, for what several workers write: each write takes the line from the other processors, with all
/// that lies on it.
// 128 bytes: a line is 64, and x86-64 processors fetch them in pairs; on some of ARM a line is 128.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Line<T>(pub(crate) T);

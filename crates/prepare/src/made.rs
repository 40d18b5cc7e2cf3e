//! A generated dataset before it is written.

use crate::identity::Names;
use crate::shape::Shape;

/// Objects as arithmetic, and their names.
#[derive(Clone, Copy)]
pub(crate) struct Made<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) names: &'a Names,
}

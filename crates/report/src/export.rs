//! A run or a comparison in the form of another tool.

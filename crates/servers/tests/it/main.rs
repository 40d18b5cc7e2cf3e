//! The servers run, can be hurt, and leave nothing behind.

mod faults;
mod gone;
mod hosts;

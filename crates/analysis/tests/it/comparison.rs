//! Comparisons through the public interface: every verdict, and how often noise alone makes one.

mod build;
mod random;
mod simulated;
mod verdicts;

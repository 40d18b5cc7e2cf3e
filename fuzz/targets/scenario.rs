//! A scenario file of any content is a plan's beginning or a list of mistakes, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = scenario::Source { name: "fuzz.toml".to_owned(), text: text.to_owned() };
    let _ = scenario::parse(&source, &[]);
});

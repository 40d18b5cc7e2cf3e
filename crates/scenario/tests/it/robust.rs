//! No text makes the reader panic, and what is refused is refused with a reason.

use proptest::prelude::*;
use scenario::Source;

use crate::machine::machine;

const VALID: &str = include_str!("../../../../scenarios/quickstart.toml");

/// Lines that a mutated scenario is made of: good ones and bad ones.
const LINES: &[&str] = &[
    "version = 1",
    "need = \"8xh100:resnet50\"",
    "need = { rate = \"2 GB/s\", count = 2 }",
    "[dataset]",
    "size = \"9 EiB\"",
    "samples = 4294967295",
    "sample_size = [\"1 B\", \"16 EB\", \"114660 B\"]",
    "source = \"existing\"",
    "[targets.a]",
    "[targets.b]",
    "at = \"/mnt/a\"",
    "at = \"/shm/b\"",
    "at = \"null:\"",
    "engine = [\"pread\", \"io_uring\"]",
    "direct = [false, true]",
    "at = \"nfs://filer:2049/export\"",
    "at = \"s3://bucket/x\"",
    "connections = [4096, 1]",
    "part_size = \"1 B\"",
    "retries = 10",
    "emulate = { profile = \"hdd-like\", faults = { reset = 1 } }",
    "engine = [\"lean\", \"sdk\"]",
    "operation = \"getattr\"",
    "[load]",
    "queue_depth = [4096, 1]",
    "queue_depth = \"auto\"",
    "threads = 4096",
    "submit_batch = 3",
    "complete_batch = 3",
    "operation = [\"read_file\", \"read\"]",
    "operation = [\"list\", \"stat\"]",
    "mode = \"paced\"",
    "mode = \"training\"",
    "[training]",
    "accelerators = [4096, 1, 8]",
    "readers = [512, 1]",
    "prefetch = [0, 1024]",
    "batch = 4294967295",
    "compute_time = \"1ns\"",
    "steps = 4294967295",
    "decode = { cost = \"6ms\" }",
    "barrier = true",
    "rate = [\"line\", \"1 B/s\", \"1000000 %\"]",
    "arrivals = \"batch\"",
    "distribution = \"lognormal\"",
    "sample_size_stdev = \"1 B\"",
    "files_per_folder = 1",
    "at = \"/dev/a\"",
    "engine = [\"mmap\"]",
    "madvise = [\"random\", \"normal\"]",
    "block_size = [\"1 GiB\", \"1 B\"]",
    "cache = [\"warm\", \"bypass\"]",
    "access = [\"sequential\"]",
    "[measure]",
    "bytes = \"1 B\"",
    "warmup = \"0s\"",
    "[gate]",
    "feeds = [\"a\", \"ü\"]",
    "p99 = \"1ns\"",
    "at = 4096",
    "utilization = \"100 %\"",
    "regression = { throughput = \"10 %\", au = \"1 %\" }",
    "regression = \"ü.json\"",
    "baseline = \"a/../b\"",
    "may_differ = [\"host\", \"host\"]",
    "[[load]]",
    "load.block_size.x = \"\"\"",
];

fn assert_survives(text: &str, overrides: &[String], cores: u32, memory_bytes: u64) {
    let source = Source { name: "any.toml".to_owned(), text: text.to_owned() };
    let scenario = scenario::parse(&source, overrides);
    let mut host = machine(&scenario.local_paths());
    host.cores = cores;
    host.memory_bytes = memory_bytes;
    let resolved = scenario::resolve(&scenario, &host);
    match resolved {
        Ok(plan) => {
            assert!(!plan.cells.is_empty());
            for cell in &plan.cells {
                assert!(cell.threads >= 1 && cell.threads <= cell.queue_depth && cell.submit_batch >= 1);
                assert!(cell.connections == 0 || cell.connections >= cell.threads);
            }
        }
        Err(diagnostics) => {
            assert!(diagnostics.len() > 0);
            assert!(diagnostics.to_string().starts_with("error: "));
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in "\\PC*", key in "\\PC*") {
        assert_survives(&text, &[key], 4, 1 << 30);
    }

    #[test]
    fn any_characters_of_toml(text in "[a-z0-9_\\.=\\[\\]\\{\\}\"', \n#é-]{0,200}") {
        assert_survives(&text, &[], 4, 1 << 30);
    }

    #[test]
    fn any_order_of_lines(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..35), cores in 0_u32..300, memory: u64,
    ) {
        assert_survives(&lines.join("\n"), &[], cores, memory);
    }

    #[test]
    fn a_valid_scenario_with_a_piece_replaced(
        start in 0..VALID.len(), length in 0_usize..40, piece in "[\\PC\n]{0,12}", set in "[a-z\\.]{1,20}=\\PC{0,9}",
    ) {
        let boundaries: Vec<usize> = VALID.char_indices().map(|(at, _)| at).collect();
        let start = boundaries[start % boundaries.len()];
        let end = boundaries.iter().copied().find(|at| *at >= start + length).unwrap_or(VALID.len());
        let mut text = VALID.to_owned();
        text.replace_range(start..end, &piece);
        assert_survives(&text, &[], 4, 1 << 34);
        assert_survives(VALID, &[set], 4, 1 << 34);
    }
}

//! The only list of the field's claims: the table of the book is printed from it.
//!
//! Figures are those of the scenarios as shipped, of which most run against a server, or on a path, that is as slow as is claimed.

use super::claim::{Claim, Scenario, Settled, Stands};

macro_rules! scenario {
    ($file:literal) => {
        Scenario { file: $file, text: include_str!(concat!("../../../../scenarios/", $file)) }
    };
}

macro_rules! shipped {
    ($name:ident, $file:literal) => {
        static $name: Scenario = scenario!($file);
    };
}

shipped!(C02, "claims/c02-first-byte.toml");
shipped!(C03, "claims/c03-thousand-objects.toml");
shipped!(C04, "claims/c04-request-rate.toml");
shipped!(C05, "claims/c05-rate-before-nic.toml");
shipped!(C09, "claims/c09-files-or-shards.toml");
shipped!(C16, "claims/c16-disk-at-650.toml");
shipped!(C18, "claims/c18-metadata.toml");
shipped!(C31, "claims/c31-seeks.toml");
shipped!(C32, "claims/c32-operations-per-file.toml");
shipped!(C36, "claims/c36-random-or-sequential.toml");
shipped!(C37, "claims/c37-depth-and-size.toml");
shipped!(C41, "claims/c41-same-device.toml");
shipped!(C56, "claims/c56-nfs-per-client.toml");
shipped!(C60, "claims/c60-streams.toml");
shipped!(LADDER, "ladder.toml");
shipped!(LINKS, "links.toml");
shipped!(EPOCHS, "epochs.toml");

/// A scenario for each cause that a diagnosis names.
pub(super) static CAUSES: [Scenario; 13] = [
    scenario!("causes/latency.toml"),
    scenario!("causes/rate.toml"),
    scenario!("causes/refused.toml"),
    scenario!("causes/bandwidth.toml"),
    scenario!("causes/metadata.toml"),
    scenario!("causes/decode.toml"),
    scenario!("causes/client.toml"),
    scenario!("causes/others.toml"),
    scenario!("causes/startup.toml"),
    scenario!("causes/first-fill.toml"),
    scenario!("causes/barrier.toml"),
    scenario!("causes/checkpoint.toml"),
    scenario!("causes/mixed.toml"),
];

const CHECKPOINT_70B: &str = "what-if checkpoint --parameters 70e9 --write 10GB/s --every 1h --links 1024 --link 28GB/s --accelerators 1024";
const CHECKPOINT_30S: &str =
    "what-if checkpoint --size 300GB --write 10GB/s --every 1h --accelerators 512 --price 3";
const TRANSFER: &str = "what-if transfer --accelerators 1 --batch 64 --step 200ms --decoded 602112B --pageable 8GB/s --pinned 28GB/s";

const fn measured(
    id: &'static str,
    says: &'static str,
    stands: Stands,
    known: &'static str,
    (formula, scenario): (&'static str, &'static Scenario),
) -> Claim {
    Claim { id, says, stands, known, formula, settled: Settled::Run(scenario) }
}

const fn reckoned(
    id: &'static str,
    says: &'static str,
    stands: Stands,
    known: &'static str,
    (formula, words, shows): (&'static str, &'static str, &'static str),
) -> Claim {
    Claim { id, says, stands, known, formula, settled: Settled::Sum { words, shows } }
}

const fn by_hand(
    id: &'static str,
    says: &'static str,
    stands: Stands,
    known: &'static str,
    (formula, equations): (&'static str, &'static str),
) -> Claim {
    Claim { id, says, stands, known, formula, settled: Settled::ByHand(equations) }
}

const fn open(
    id: &'static str,
    says: &'static str,
    without: &'static str,
    known: &'static str,
    (formula, how): (&'static str, &'static str),
) -> Claim {
    Claim { id, says, stands: Stands::Without(without), known, formula, settled: Settled::OnOnesOwn(how) }
}

/// All of them, in the order of their numbers.
pub(super) static CLAIMS: &[Claim] = &[
    measured(
        "C02",
        "the first byte of a GET takes 10 to 30 ms at any size",
        Stands::Without("a bucket"),
        "4 kB and 2 MB, one at a time: 99.6 and 31.0 a second at 10 ms, 33.3 and 19.1 at 30 ms, 10.0 and 8.2 at 100 ms",
        ("1 / (L + S/b)", &C02),
    ),
    measured(
        "C03",
        "1,000 files x 30 ms = 30 s",
        Stands::HoldsIf("one is read after the other"),
        "31.8, 254, 2,035 objects a second with 1, 8, 64 in flight: 1,000 in 31.4, 3.9, 0.5 s",
        ("n L / Q", &C03),
    ),
    measured(
        "C04",
        "S3 throttles at 5,500 GET/s per prefix",
        Stands::Without("a bucket"),
        "at a tenth of the rate: 550, 1,100, 2,200 a second on 1, 2, 4 prefixes, 400 with 4 in flight on any",
        ("ρ P S, ceil(R/ρ)", &C04),
    ),
    measured(
        "C05",
        "the request rate binds before the NIC",
        Stands::HoldsIf(
            "enough is in flight, 165 GETs at 30 ms, and objects are smaller than the rate of the NIC by 5,500",
        ),
        "scaled down, requests bind below 200 kB and bandwidth above; with 2 in flight neither does",
        ("B/ρ, Q = ρ L", &C05),
    ),
    measured(
        "C09",
        "shards are 10 to 50 times as fast as single files; elsewhere 3 to 5 times, twice, 10 to 100 times",
        Stands::HoldsIf("samples are small against L b"),
        "at 10 ms, shards read in blocks of 1 MiB: 112 times for samples of 4 kB, 4.2 for 130 kB, 1.0 for 1 MB; the record of \
         the book measured 108, 4.2, 1.0",
        ("F18", &C09),
    ),
    reckoned(
        "C13",
        "2 workers in place of 0 let loading overlap computing",
        Stands::HoldsIf("no more is meant: overlap alone is 2 times at most"),
        "3 times as fast where loading takes twice the step, the second reader included",
        (
            "F26",
            "what-if readers --accelerators 1 --batch 1 --step 1s --read 2s",
            "100 % busy, 3 times as fast",
        ),
    ),
    measured(
        "C14",
        "staging and sharding gain most, tuning of the loader the last 20 to 30 %; others: the loader alone gains 2 to 5 times",
        Stands::DoesNotHold,
        "a gain is over what was there before, and no order of the steps holds for all: of the scenario's job sharding gains 2.7 \
         times and staging 2 more, or readers with batches ahead 5.5 and the others nothing",
        ("F18, F25", &LADDER),
    ),
    measured(
        "C16",
        "a disk that is full at 650 MB/s gives 200 images a second of the 5,000 that 8 accelerators take, which are 30 % busy",
        Stands::DoesNotHold,
        "4,333 a second of 150 kB, 87 % of the need; 200 a second would be images of 3.25 MB, and keep 4 % busy",
        ("B / S", &C16),
    ),
    measured(
        "C18",
        "millions of `stat()` overwhelm the server",
        Stands::HoldsIf("few of them are in flight"),
        "1,000, 8,000, 64,000 lookups a second with 1, 8, 64 in flight: 14 million in 3.9 h, 29 min, 3.6 min",
        ("n L / Q", &C18),
    ),
    reckoned(
        "C20",
        "text for 1,024 GPUs needs real infrastructure at 7 GB/s per drive",
        Stands::DoesNotHold,
        "1,024 H100 that train Llama 3 8B read 59.2 MB/s together",
        ("F02", "need 1024xh100:llama3-8b", "59.2 MB/s"),
    ),
    reckoned(
        "C21",
        "80 in place of 95 % utilization are 20 % more compute and 100,000 a month for 1,024 GPUs",
        Stands::DoesNotHold,
        "18.7 % more time, and 331,776 a month at the article's own price",
        (
            "F51, F52",
            "what-if idle --accelerators 1024 --busy 0.8 --reachable 0.95 --price 3",
            "331,776 at 3 an hour",
        ),
    ),
    reckoned(
        "C25",
        "a language model with sequences of 4,096 and a batch of 512 takes 2 GB/s",
        Stands::DoesNotHold,
        "2.1 M tokens are a step; at one step a second 4.19 MB/s",
        ("F03", r#"need '{ tokens_per_second = 2097152, token_size = "2 B" }'"#, "4.19 MB/s"),
    ),
    measured(
        "C29",
        "a local drive gives 10 GB/s in sequence and 500 to 800 MB/s of small random files",
        Stands::DoesNotHold,
        "its own drive gives 7 GB/s, and PCIe 4.0 x4 no more than 7.88; random files come as fast as many are under way: the \
         same scenario with 32 in flight",
        ("1 + L B / S", &C36),
    ),
    measured(
        "C31",
        "seeks of 5 to 10 ms leave 10 to 20 MB/s",
        Stands::HoldsIf("reads are of about 100 kB"),
        "at 5 and 10 ms: 0.8 and 0.4 MB/s of 4 KiB, 23 and 12 of 128 KiB, 162 and 135 of 4 MiB, 200 in sequence",
        ("S / (seek + S/B)", &C31),
    ),
    measured(
        "C32",
        "1 M files x 1 ms = 1,000 s",
        Stands::HoldsIf("one is looked up after the other, by one operation each"),
        "1,000, 8,000, 64,000 a second of one operation, half of it of two",
        ("n m L / Q", &C32),
    ),
    measured(
        "C36",
        "single random files are 50 to 70 times slower than sequential reads",
        Stands::HoldsIf("they are of 8 to 11 kB and read one at a time, by 80 us and 7 GB/s"),
        "138 times for 4 KiB, 35 for 16 KiB, 5.3 for 128 KiB, 1.5 for 1 MiB, by 80 us and 7 GB/s",
        ("1 + L B / S", &C36),
    ),
    measured(
        "C37",
        "a drive gives nearly its rate with 32 reads under way, and waits for its latency with one",
        Stands::HoldsIf("reads are of 18 kB or more, by 80 us and 7 GB/s"),
        "32 under way give 23 % of the peak in blocks of 4 KiB, which need 138, and all of it from 32 KiB on; one gives 0.7, 5.5 and \
         19 % of it in blocks of 4, 32 and 128 KiB",
        ("Q = 1 + L B / S", &C37),
    ),
    measured(
        "C41",
        "WebDataset gives 3 to 5 times on the same device; in the same article \"typically doubles\"",
        Stands::NotHere,
        "2.3 times for 16 kB, 1.2 for 130 kB, 1.0 for 1 MB, 8 in flight, on the disk of the book's record",
        ("F18", &C41),
    ),
    reckoned(
        "C42",
        "512 x 4 x 8192 / 2.0 = 838 MB/s",
        Stands::DoesNotHold,
        "8.39 MB/s, a hundredth of it: less than one spinning disk gives",
        (
            "F02",
            r#"need '{ batch = 4, step_time = "2s", sample_size = "8192 B", count = 512 }'"#,
            "8.39 MB/s",
        ),
    ),
    reckoned(
        "C54",
        "the state of a 7B model is copied to the CPU in 1 to 2 s",
        Stands::HoldsIf("the weights alone are meant, of which the code copies five times as much"),
        "14 GB / 8 GB/s = 1.75 s",
        (
            "F46, F47",
            "what-if checkpoint --parameters 7e9 --bytes-each 2 --write 8GB/s --every 15m --accelerators 1",
            "14 GB / 8 GB/s = 1.75 s",
        ),
    ),
    measured(
        "C56",
        "NFS gives 200 to 500 MB/s per client",
        Stands::Without("an export and a network of your own: it is no constant of the protocol"),
        "25, 100, 290 to 399 MB/s with 1, 4, 16 connections of 25 MB/s",
        ("C b, Q S / (L + S/b)", &C56),
    ),
    measured(
        "C60",
        "2 to 5 GB/s per node from shards",
        Stands::HoldsIf("there are streams enough: 30 for 2 GB/s, 74 for 5 GB/s"),
        "68 MB/s for each stream of 8 MiB: 30 streams and 252 MB of buffers for 2 GB/s, 74 streams for 5 GB/s",
        ("ceil(R/r), r = S / (L + S/b)", &C60),
    ),
    reckoned(
        "C62",
        "1,024 GPUs copy a state of 1.12 TB in 15 to 30 s",
        Stands::DoesNotHold,
        "each copies its own part: 39.1 ms at 28 GB/s",
        ("F48", CHECKPOINT_70B, "= 39.1 ms (F48)"),
    ),
    reckoned(
        "C63",
        "that state is written at 10 GB/s in 14 s",
        Stands::DoesNotHold,
        "14 s are the weights alone; the state that was copied takes 112 s",
        ("F47", CHECKPOINT_70B, "1.12 TB / 10 GB/s = 112 s"),
    ),
    reckoned(
        "C64",
        "15 to 30 s an hour are 0.4 to 0.8 %",
        Stands::Holds,
        "30 s / 60 min = 0.833 %",
        ("F49", CHECKPOINT_30S, "30 s / 60 min = 0.833 %"),
    ),
    reckoned(
        "C66",
        "num_workers = 0 is 3 to 10 times slower",
        Stands::HoldsIf("loading takes 2 to 9 times the step, and there are at least so many readers"),
        "4 readers gain 5 times where a batch loads for four steps",
        (
            "F26",
            "what-if readers --accelerators 1 --batch 1 --step 1s --read 4s",
            "100 % busy, 5 times as fast",
        ),
    ),
    reckoned(
        "C68",
        "512 GPUs that wait 30 s are 4.3 GPU-hours, 13 at 3 an hour",
        Stands::Holds,
        "4.27 hours, 12.8",
        ("F50", CHECKPOINT_30S, "4.27 x 3 = 12.8"),
    ),
    measured(
        "C69",
        "10 million files are listed in minutes and looked at by `stat()` in seconds",
        Stands::HoldsIf("thousands are in flight, at the 1 ms that the same article gives"),
        "1,000 lookups a second one after the other: 10 million in 2.8 h, and with 64 in flight in 156 s",
        ("n L / Q", &C18),
    ),
    measured(
        "C72",
        "utilization is 95 % in the first epoch and 60 % later, because of the page cache",
        Stands::DoesNotHold,
        "from an empty cache the first epoch has no hits, so the later ones cannot have fewer: measured 1.03, 1.11, 1.22, 1.33 \
         GB/s in shuffled epochs",
        ("F44", &EPOCHS),
    ),
    reckoned(
        "C75",
        "4 batches of 256 images ahead are 5 GB for each worker and 40 GB for 8",
        Stands::DoesNotHold,
        "617 MB for each, 4.93 GB for all 8",
        (
            "F29",
            "what-if memory --accelerators 1 --batch 256 --step 200ms --readers 8 --prefetch 4 --decoded 602112B",
            "= 4.93 GB (F29)",
        ),
    ),
    reckoned(
        "C76",
        "512 GPUs that wait 60 s every 15 minutes cost 25.60 each time and 17,000 a week",
        Stands::Holds,
        "25.6 and 17,203 at 3 an hour",
        (
            "F50",
            "what-if checkpoint --size 600GB --write 10GB/s --every 15m --accelerators 512 --price 3",
            "17,203 a week",
        ),
    ),
    reckoned(
        "C77",
        "2 M tokens every 3 s are 667 M tokens/s and 1.3 GB/s",
        Stands::DoesNotHold,
        "667 k tokens/s and 1.33 MB/s, a thousandth of it",
        ("F03", r#"need '{ tokens_per_second = 666667, token_size = "2 B" }'"#, "1.33 MB/s"),
    ),
    reckoned(
        "C78",
        "each of 64 nodes then takes about 20 MB/s",
        Stands::DoesNotHold,
        "20.8 kB/s",
        ("F03", r#"need '{ tokens_per_second = 666667, token_size = "2 B", hosts = 64 }'"#, "20.8 kB/s"),
    ),
    reckoned(
        "C79",
        "2 T tokens in shards of 100 MB are 40,000 shards, 625 for each of 64 nodes",
        Stands::Holds,
        "40,000 and 625, at 2 B a token",
        (
            "F34, F33",
            "what-if shards --dataset 4TB --sample 8192B --shard 100MB --ranks 64",
            "ceil(40,000 / 64) = 625",
        ),
    ),
    measured(
        "C84",
        "shards gain 2 times and workers 2 to 3, all together 3 to 5",
        Stands::HoldsIf(
            "the naive loader keeps the accelerators 20 to 33 % busy: no steps gain more than 1 / utilization",
        ),
        "2.7 times by shards and 2 more by a copy or by readers, 5.5 in all, where the naive loader keeps them 18 % busy",
        ("F25", &LADDER),
    ),
    measured(
        "C85",
        "of a job that is 30 % busy the loader is mended in half an hour: 600 in place of 60 samples a second",
        Stands::DoesNotHold,
        "10 times as fast is a loader that keeps the accelerators 10 % busy: of 30 % no steps gain more than 3.3 times",
        ("F25", &LADDER),
    ),
    reckoned(
        "C87",
        "20 h in place of 2 h at 2 an hour are 36 more",
        Stands::Holds,
        "18 h of waiting, 36",
        ("F51", "what-if idle --accelerators 1 --busy 0.1 --over 20h --price 2", "36 at 2 an hour"),
    ),
    reckoned(
        "C91",
        "2 to 4 workers for each GPU: 4 to 8 for one",
        Stands::DoesNotHold,
        "2 to 4 for one",
        (
            "F37",
            "what-if readers --accelerators 1 --batch 1 --step 1s --read 1s --cores 8",
            "2 to 4 x accelerators: 2 to 4",
        ),
    ),
    reckoned(
        "C94",
        "pinned memory saves 5 to 15 % of the time",
        Stands::HoldsIf("steps take 23 to 69 ms and wait for their copy"),
        "1.72 % of a step of 200 ms, by the figures of another article",
        ("F36", TRANSFER, "saves 1.72 % of a step"),
    ),
    reckoned(
        "C95",
        "persistent workers save 5 to 10 % of the time",
        Stands::HoldsIf("a start of 10 s meets epochs of 90 to 190 s"),
        "7.69 % of each epoch of 120 s",
        ("F43", "what-if start --start 10s --epoch 120s --epochs 10", "= 7.69 %"),
    ),
    reckoned(
        "C101",
        "shards compress to 20 to 50 %, which saves as much of the transfer",
        Stands::HoldsIf(
            "samples compress at all, as JPEG do not, and readers unpack as fast as the link carries",
        ),
        "at a fifth of the size 8 readers of 400 MB/s gain 1.6 times on a link of 2 GB/s, and not 5",
        (
            "F41",
            "what-if codec --source 2GB/s --ratio 5 --readers 8 --unpack 400MB/s",
            "1.6 times what the link carries",
        ),
    ),
    measured(
        "C107",
        "2 to 10 times overall",
        Stands::HoldsIf("the naive loader keeps the accelerators 10 to 50 % busy"),
        "all steps together gain 1 / utilization at most",
        ("F25", &LADDER),
    ),
    reckoned(
        "C108",
        "a GPU of 10 an hour that idles for 30 % loses thousands a month",
        Stands::Holds,
        "2,160",
        ("F51", "what-if idle --accelerators 1 --busy 0.7 --price 10", "2,160 at 10 an hour"),
    ),
    reckoned(
        "C109",
        "of 20 h with an idle share of 40 %, 8 h are compute",
        Stands::DoesNotHold,
        "8 h are idle, 12 h compute",
        ("F51", "what-if idle --accelerators 1 --busy 0.6 --over 20h", "8 accelerator-hours are lost"),
    ),
    reckoned(
        "C118",
        "400 ms of computing and 600 ms of loading are 40 % utilization",
        Stands::HoldsIf("they take turns"),
        "66.7 % where one reader loads ahead",
        ("F25", "what-if readers --accelerators 1 --batch 1 --step 400ms --read 600ms", "66.7 % busy"),
    ),
    reckoned(
        "C130",
        "50 TB in 50,000 shards for 256 GPUs",
        Stands::Holds,
        "1 GB each, 196 at most for a rank, which waits 0.35 % of an epoch for the others",
        (
            "F33, F34",
            "what-if shards --dataset 50TB --sample 1MB --shard 1GB --ranks 256",
            "ceil(50,000 / 256) = 196 at most",
        ),
    ),
    reckoned(
        "C131",
        "a shuffle buffer of 10,000 samples is 8 GB, which is manageable",
        Stands::HoldsIf("there is one of them"),
        "each reader has its own: 512 GB on a node of 8 GPUs with 8 readers each",
        (
            "F31",
            "what-if memory --accelerators 8 --batch 64 --step 200ms --readers 8 --decoded 602112B --shuffle 10000 --sample 800kB",
            "= 512 GB (F31)",
        ),
    ),
    reckoned(
        "C132",
        "an index of 50 M samples with 80 B each is 4 GB",
        Stands::Holds,
        "4 GB, in each process that holds one",
        (
            "F32",
            "what-if memory --accelerators 1 --batch 64 --step 200ms --readers 1 --decoded 602112B --index 50e6 --entry 80B",
            "= 4 GB (F32)",
        ),
    ),
    reckoned(
        "C134",
        "a batch of 38 MB crosses in 4.7 ms pageable and 1.4 ms pinned, 2.3 and 0.7 % of 200 ms",
        Stands::Holds,
        "4.82 and 1.38 ms, 2.41 and 0.688 %",
        ("F36", TRANSFER, "4.82 ms, 2.41 % of a step"),
    ),
    Claim {
        id: "C136",
        says: "utilization of 15 % has five causes, to be looked for in this order: workers, pinned memory, processors, format, network",
        stands: Stands::DoesNotHold,
        known: "twelve causes keep a job from its target, each of them alone, and a run names the one that it is: a scenario has each",
        formula: "F12, F25",
        settled: Settled::Each(&CAUSES),
    },
    measured(
        "C138",
        "a job that was moved to a cloud waits a hundredth as long, as its links are 10 to 100 times as fast",
        Stands::HoldsIf("the data lie in the region, and enough is read side by side to fill the link"),
        "WiFi of 50 Mb/s and 40 ms against 10 Gb/s and 10 ms, of 115 kB: 5.8 times as fast one read at a time, 58 times with 32; across \
         an ocean no faster than over WiFi one at a time",
        ("F11, F13", &LINKS),
    ),
    reckoned(
        "C139",
        "1 or 2 cores for each of 8 GPUs leave 144 to 152 of 160 for workers",
        Stands::Holds,
        "144 to 152, 18 to 19 for each",
        ("F37", "what-if readers --accelerators 8 --batch 1 --step 1s --read 1s --cores 160", "144 to 152"),
    ),
    reckoned(
        "C143",
        "num_workers x prefetch_factor batches are fetched ahead",
        Stands::Holds,
        "8 x 2 = 16, which cover 3.2 s of steps of 200 ms",
        (
            "F28, F30",
            "what-if memory --accelerators 1 --batch 256 --step 200ms --readers 8 --decoded 602112B",
            "16 x 200 ms = 3.2 s",
        ),
    ),
];

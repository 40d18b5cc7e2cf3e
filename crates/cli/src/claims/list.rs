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
shipped!(C07, "claims/c07-starved-or-decoding.toml");
shipped!(C09, "claims/c09-files-or-shards.toml");
shipped!(C10, "claims/c10-one-request.toml");
shipped!(C16, "claims/c16-disk-at-650.toml");
shipped!(C18, "claims/c18-metadata.toml");
shipped!(C23, "claims/c23-random-reads.toml");
shipped!(C28, "claims/c28-one-drive.toml");
shipped!(C31, "claims/c31-seeks.toml");
shipped!(C32, "claims/c32-operations-per-file.toml");
shipped!(C34, "claims/c34-read-and-write.toml");
shipped!(C36, "claims/c36-random-or-sequential.toml");
shipped!(C37, "claims/c37-depth-and-size.toml");
shipped!(C38, "claims/c38-workers-and-depth.toml");
shipped!(C40, "claims/c40-reads-of-a-file.toml");
shipped!(C41, "claims/c41-same-device.toml");
shipped!(C45, "claims/c45-stall.toml");
shipped!(C55, "claims/c55-overruns.toml");
shipped!(C56, "claims/c56-nfs-per-client.toml");
shipped!(C60, "claims/c60-streams.toml");
shipped!(C74, "claims/c74-batches-ahead.toml");
shipped!(C81, "claims/c81-device-counters.toml");
shipped!(C86, "claims/c86-how-busy.toml");
shipped!(C92, "claims/c92-how-many-readers.toml");
shipped!(C98, "claims/c98-map-or-reads.toml");
shipped!(C100, "claims/c100-map-and-readers.toml");
shipped!(C111, "claims/c111-order-or-form.toml");
shipped!(C115, "claims/c115-readers-by-latency.toml");
shipped!(C126, "claims/c126-jpeg.toml");
shipped!(C133, "claims/c133-shuffle-buffer.toml");
shipped!(C137, "claims/c137-more-workers-than-cores.toml");
shipped!(C140, "claims/c140-threads-of-a-worker.toml");
shipped!(C142, "claims/c142-readers-and-cores.toml");
shipped!(C145, "claims/c145-step-of-100ms.toml");
shipped!(C147, "claims/c147-busy-cores.toml");
shipped!(EPOCHS, "epochs.toml");
shipped!(LADDER, "ladder.toml");
shipped!(LINKS, "links.toml");
shipped!(STARTUP, "causes/startup.toml");

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
        "C01",
        "a workstation's drive reads 3 to 7 GB/s in sequence, and an access takes milliseconds; elsewhere microseconds",
        Stands::HoldsIf("an access is of 3 MB or more, or waits behind others"),
        "4 KiB at 1 to 9 ms would be 4.1 to 0.5 MB/s one at a time; the 50 to 100 MB/s that others give are 82 to 41 us; 7 GB/s \
         are within the 7.88 of PCIe 4.0 x4",
        ("L + S/B", &C36),
    ),
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
    reckoned(
        "C06",
        "a GPU computes a batch in milliseconds; elsewhere in 100 to 200 ms",
        Stands::HoldsIf("the work of a batch is small: the model and the batch decide"),
        "MLPerf measured on an H100: 3.5 ms for 1 sample of CosmoFlow, 224 ms for 400 of ResNet-50, 323 ms for 7 of 3D U-Net",
        ("F01", "need", "0.0035 s"),
    ),
    measured(
        "C07",
        "an accelerator that is 20 to 40 % busy, with its memory idle, starves of I/O",
        Stands::HoldsIf("decoding, copies and small kernels are ruled out, which leave it as idle"),
        "a reader that decodes for 4 ms keeps the scenario's job 33 % busy without any storage, and 17 % with reads of 4 ms",
        ("F25", &C07),
    ),
    measured(
        "C08",
        "if synthetic data make an accelerator about 100 % busy, the data pipeline is at fault",
        Stands::HoldsIf(
            "decoding and the copy to the accelerator count as pipeline: data made on it leave out both",
        ),
        "without storage the scenario's job is 33 % busy with 1 reader that decodes, and 96 % with 4; with storage 17 and 64 %: \
         only with 4 is storage alone at fault",
        ("F25", &C07),
    ),
    measured(
        "C09",
        "shards are 10 to 50 times as fast as single files; elsewhere 3 to 5 times, twice, 10 to 100 times",
        Stands::HoldsIf("samples are small against L b"),
        "at 10 ms, shards read in blocks of 1 MiB: 112 times for samples of 4 kB, 4.2 for 130 kB, 1.0 for 1 MB; the record of \
         the book measured 107, 4.2, 1.0",
        ("F18", &C09),
    ),
    measured(
        "C10",
        "a shard of 1 GB is one request and 30 ms in place of millions",
        Stands::HoldsIf("samples are of 1 kB or less, and a shard is read whole by one request"),
        "it stands for 7,692 requests of 130 kB, which wait 231 s; its bytes take 11.1 s at 90 MB/s, of which 30 ms are 0.3 %; \
         ranges of 8 MiB are 120 requests",
        ("L + S/b", &C10),
    ),
    measured(
        "C11",
        "the drive of a cloud instance reads 3 to 7 GB/s in microseconds, comparable to a workstation's",
        Stands::Without("the instance: the same run there and on the workstation"),
        "the same article has milliseconds for the workstation; 4 KiB one at a time are 50 to 100 MB/s at 82 to 41 us, and 0.8 \
         at 5 ms; `feedline compare` holds both runs against each other",
        ("L + S/B", &C36),
    ),
    reckoned(
        "C12",
        "4 workers with 2 batches each ahead are where to start",
        Stands::HoldsIf("a sample takes 3.1 ms or less, for a GPU that takes 1,280 a second"),
        "8 batches are ahead; 4 readers bring 1,290 samples a second at 3.1 ms each, and 127 at 31.4 ms, where 41 are needed",
        (
            "F28, F38",
            "what-if readers --accelerators 1 --batch 256 --step 200ms --read 3.1ms",
            "ceil(1,280 samples/s x 3.1 ms) = 4",
        ),
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
    reckoned(
        "C15",
        "8 A100 that are 30 % busy idle for 70 % of the time",
        Stands::Holds,
        "4,032 of the 5,760 accelerator-hours of 30 days; further on the same article has 8 H100",
        ("F51", "what-if idle --accelerators 8 --busy 0.3", "4,032 accelerator-hours are lost"),
    ),
    measured(
        "C16",
        "a disk that is full at 650 MB/s gives 200 images a second of the 5,000 that 8 accelerators take, which are 30 % busy",
        Stands::DoesNotHold,
        "4,333 a second of 150 kB, 87 % of the need; 200 a second would be images of 3.25 MB, and keep 4 % busy",
        ("B / S", &C16),
    ),
    reckoned(
        "C17",
        "8 H100 take 5,000 images a second in batches of 2,048; elsewhere 10,240",
        Stands::HoldsIf("a step takes 410 ms; at 200 ms they take 10,240"),
        "the same article has both; MLPerf measured 14,286 a second, 3,200 images every 224 ms",
        (
            "F01",
            r#"need '{ batch = 256, step_time = "410ms", sample_size = "150 kB", count = 8 }'"#,
            "8 x 256 / 0.41 s = 4,995",
        ),
    ),
    measured(
        "C18",
        "millions of `stat()` overwhelm the server",
        Stands::HoldsIf("few of them are in flight"),
        "1,000, 8,000, 64,000 lookups a second with 1, 8, 64 in flight: 14 million in 3.9 h, 29 min, 3.6 min",
        ("n L / Q", &C18),
    ),
    by_hand(
        "C19",
        "1 T tokens of text are 600 GB to a few TB",
        Stands::DoesNotHold,
        "2 TB as tokens of 16 bits, 4 TB as text of 4 B a token; 600 GB would be 0.6 B a token, text packed to less than a sixth",
        ("tokens x bytes", "1e12 * 2 / 1e12 = 2; 1e12 * 4 / 1e12 = 4; 600e9 / 1e12 = 0.6; 4 / 0.6 = 6.67"),
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
    by_hand(
        "C22",
        "the memory of an H100 moves 3.35 TB/s, 480 times what a drive of 7 GB/s reads",
        Stands::Holds,
        "479 times; no job reads so much from storage: 8 H100 that train ResNet-50 take 1.64 GB/s",
        ("B / B", "3.35e12 / 7e9 = 479"),
    ),
    measured(
        "C23",
        "an NVMe drive makes 1 million random reads a second; elsewhere 700,000, or 0.5 to 1.5 GB/s of 4 KiB",
        Stands::Without("the drive: these are figures of products"),
        "1 million of 4 KiB are 4.1 GB/s, and 0.5 to 1.5 GB/s are 122,000 to 366,000; at 82 us 1 million take 82 under way, and \
         one at a time is 12,195",
        ("Q / L", &C23),
    ),
    reckoned(
        "C24",
        "ResNet-50 at 5,000 images a second of 150 kB reads 750 MB/s",
        Stands::Holds,
        "750 MB/s; 650 MB/s with images of 130 kB, which the same article has further on",
        (
            "F02",
            r#"need '{ batch = 5000, step_time = "1s", sample_size = "150 kB", count = 1 }'"#,
            "5,000 x 150,000 B = 750 MB/s",
        ),
    ),
    reckoned(
        "C25",
        "a language model with sequences of 4,096 and a batch of 512 takes 2 GB/s",
        Stands::DoesNotHold,
        "2.1 M tokens are a step; at one step a second 4.19 MB/s",
        ("F03", r#"need '{ tokens_per_second = 2097152, token_size = "2 B" }'"#, "4.19 MB/s"),
    ),
    reckoned(
        "C26",
        "video at 10,000 clips a second reads 5 GB/s",
        Stands::HoldsIf("a clip takes 500 kB as it is stored"),
        "16 raw frames of 224 x 224 in 3 bytes are 2.41 MB, and 24.1 GB/s",
        (
            "F02",
            r#"need '{ batch = 10000, step_time = "1s", sample_size = "500 kB", count = 1 }'"#,
            "10,000 x 500,000 B = 5 GB/s",
        ),
    ),
    by_hand(
        "C27",
        "a server of 8 GPUs costs 40,000",
        Stands::Without("an offer of your own: it is a price, and no claim on feeding"),
        "no other figure follows from it: at 3 an hour for each GPU it is the price of 1,667 hours",
        ("price / (N price)", "40000 / (8 * 3) = 1667"),
    ),
    measured(
        "C28",
        "one drive of 7 GB/s can feed 0.75 GB/s of images, 2 of text and 5 of video",
        Stands::HoldsIf(
            "each runs alone with enough under way: 1 image of 150 kB, 20 sequences of 8 KiB, 2 clips of 500 kB, at 80 us",
        ),
        "11, 29 and 71 % of the drive; one at a time it gives 1.48 GB/s of 150 kB, 0.1 of 8 KiB and 3.3 of 500 kB; all three \
         together are 7.75",
        ("Q S / (L + S/B)", &C28),
    ),
    measured(
        "C29",
        "a local drive gives 10 GB/s in sequence and 500 to 800 MB/s of small random files",
        Stands::DoesNotHold,
        "its own drive gives 7 GB/s, and PCIe 4.0 x4 no more than 7.88; random files come as fast as many are under way: the \
         same scenario with 32 in flight",
        ("1 + L B / S", &C36),
    ),
    reckoned(
        "C30",
        "1.28 million files are opened, looked at, read and closed, sample by sample",
        Stands::Holds,
        "5.12 million calls an epoch, 40,960 a second at 10,240 images a second",
        (
            "F06",
            r#"need '{ batch = 256, step_time = "200ms", sample_size = "130 kB", count = 8 }'"#,
            "40,960 calls/s",
        ),
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
    reckoned(
        "C33",
        "decoding takes 3 to 6 threads for each GPU: 48 for 8",
        Stands::HoldsIf("an image takes 2.3 to 4.7 ms of a core, at 1,280 a second for each GPU"),
        "at 6 ms 48 cores decode 8,000 of the 10,240 images a second that 8 of these GPUs take, and keep them 78 % busy",
        (
            "F23, F38",
            "what-if readers --accelerators 8 --batch 256 --step 200ms --read 100us --decode 6ms --cores 48",
            "48 cores / 6 ms = 8,000 samples/s of the 10,240",
        ),
    ),
    measured(
        "C34",
        "an NVMe drive reads 5 to 7 GB/s in sequence and writes 4 to 6",
        Stands::Without("the drive: these are figures of products"),
        "PCIe 4.0 x4 carries 7.88 GB/s; at 80 us one read of 1 MiB at a time gets 4.6 GB/s of 7, and two get all of it",
        ("1 / (L + S/B)", &C34),
    ),
    measured(
        "C35",
        "random reads of 4 KiB give 0.5 to 1.5 GB/s, and 50 to 100 MB/s one at a time",
        Stands::Without("the drive: these are figures of products"),
        "50 to 100 MB/s are 12,207 to 24,414 reads a second of 82 to 41 us; of 82 us, 0.5 to 1.5 GB/s take 10 to 30 under way",
        ("Q S / L", &C23),
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
        "C38",
        "8 workers are a queue depth of 8",
        Stands::HoldsIf("workers do nothing but read, each in one call of one piece"),
        "8 workers that decode for 10 ms what they read in 10 ms have 4 reads under way, and give 400 samples a second of 800",
        ("K L / (L + Z)", &C38),
    ),
    reckoned(
        "C39",
        "8 GPUs with batches of 256 and steps of 0.2 s take 10,240 images a second, 1.33 GB/s of 130 kB",
        Stands::Holds,
        "10,240 and 1.33 GB/s; 9,216 and 1.2 GB/s keep them 90 % busy",
        (
            "F01, F02",
            r#"need '{ batch = 256, step_time = "200ms", sample_size = "130 kB", count = 8 }'"#,
            "10,240 x 130,000 B = 1.33 GB/s",
        ),
    ),
    measured(
        "C40",
        "10,240 images a second at one read each leave a drive of 700,000 a second enormous headroom",
        Stands::HoldsIf("reads are meant, and a file is one: of bytes it is 5.3 times, 1.33 GB/s of 7"),
        "68 times; 34 with 2 reads a file, as in pieces of 16 KiB; names and inodes are read besides, 10,240 files are 40,960 \
         calls, and one reader at 82 us makes 12,195 reads",
        ("ceil(S / piece)", &C40),
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
        "C43",
        "a language model on 512 GPUs takes 2 or 3 drives, or about 10 spinning disks, for its 838 MB/s",
        Stands::DoesNotHold,
        "it takes 8.39 MB/s, one drive of either kind; even 838 MB/s are 12 % of a drive of 7 GB/s",
        (
            "F22",
            r#"need '{ batch = 4, step_time = "2s", sample_size = "8192 B", count = 512 }'"#,
            "ceil(8.39 MB/s / (7 GB/s x 70 %)) = 1",
        ),
    ),
    by_hand(
        "C44",
        "4,096 tokens of 2 B are 8 KB, and 512 GPUs with batches of 4 take 2,048 of them a step",
        Stands::Holds,
        "8,192 B, 8 KiB, and 2,048 sequences, 16.8 MB a step",
        ("tokens x bytes, N B", "4096 * 2 = 8192; 512 * 4 = 2048; 2048 * 8192 / 1e6 = 16.8"),
    ),
    measured(
        "C45",
        "a GPU waits (load - compute) / load of the time, and more than 5 % is a warning; its batch computes for 100 ms",
        Stands::HoldsIf(
            "loading runs beside computing, and is timed until the batch is there, which the program shown does not",
        ),
        "150 ms of loading leave 33 % of waiting, and 60 % where loading and computing take turns; a second reader ends it",
        ("F24, F25", &C45),
    ),
    measured(
        "C46",
        "shards are of 1,000 to 5,000 samples; elsewhere of 100 MB, 500 MB or 1 GB",
        Stands::HoldsIf(
            "no more is meant than that a shard is large against L b, 2.7 MB at 30 ms and 90 MB/s",
        ),
        "1,000 to 5,000 of 130 kB are 130 to 650 MB, and 100 MB are 769; bytes move 90 % of the time of a shard of 24 MB, 97 % \
         of one of 100 MB",
        ("F17, F35", &C10),
    ),
    reckoned(
        "C47",
        "a stream of shards takes a shuffle buffer of 5,000 samples",
        Stands::HoldsIf("memory has room for one in each reader"),
        "650 MB of 130 kB in each reader, 5.2 GB in 8 readers of one accelerator; it holds 1 to 5 shards of 1,000 to 5,000 \
         samples",
        (
            "F31",
            "what-if memory --accelerators 1 --batch 256 --step 200ms --readers 8 --decoded 602112B --shuffle 5000 --sample \
             130kB",
            "= 5.2 GB (F31)",
        ),
    ),
    reckoned(
        "C48",
        "DALI makes a loader 2 to 4 times as fast; elsewhere 2.7 and 6.1 times",
        Stands::Without("a GPU"),
        "decoding that takes no time gains 1 / busy at most: 1.12 times where 8 readers of 1 ms and 6 ms of decoding keep an \
         accelerator 89.3 % busy, 2.24 times where 4 keep it 44.6 % busy",
        (
            "F25, F26",
            "what-if readers --accelerators 1 --batch 256 --step 200ms --read 1ms --decode 6ms",
            "89.3 % busy",
        ),
    ),
    reckoned(
        "C49",
        "nvJPEG decodes 5 to 10 times as fast as Pillow",
        Stands::Without("a GPU"),
        "a sample of 1 ms of reading and 6 ms of decoding is then ready in 2.2 to 1.6 ms, 3.2 to 4.4 times as fast, and needs \
         3 readers in place of 9",
        (
            "F38",
            "what-if readers --accelerators 1 --batch 256 --step 200ms --read 1ms --decode 1.2ms",
            "read + decoded = 1 ms + 1.2 ms = 2.2 ms",
        ),
    ),
    by_hand(
        "C50",
        "50 batches after 3 of warm-up find the best of 0 to 32 workers",
        Stands::HoldsIf("50 are many times the batches that workers have ready"),
        "of 32 workers that begin together 29 batches are ready after the 3, and 32 more come at once: 50 are counted in the \
         time in which 32 are made, 1.56 times the rate",
        ("F55, F28", "32 - 3 = 29; 50 / 32 = 1.56"),
    ),
    measured(
        "C51",
        "persistent workers save 10 to 30 s an epoch; elsewhere 30 to 60 s, milliseconds, and 5 to 10 % of the time",
        Stands::HoldsIf("a start takes so long: their share is start / (start + epoch)"),
        "10 s are 5 to 10 % of epochs of 190 to 90 s, 60 s of 1,140 to 540 s, 5 ms are nothing; 1 s before epochs of 0.8 s \
         leaves accelerators 44 % busy",
        ("F43", &STARTUP),
    ),
    measured(
        "C52",
        "direct I/O needs reads aligned to 512 or 4,096 B, loses read-ahead and is counterproductive for training",
        Stands::HoldsIf("small reads in sequence are made one at a time"),
        "by 80 us and 7 GB/s and one read at a time, 51 MB/s of 4 KiB, where read-ahead of 128 KiB gives 1.3 GB/s; 32 of 1 \
         MiB reach the rate of the drive either way",
        ("F19", &C81),
    ),
    reckoned(
        "C53",
        "saving a 70B model in bf16 takes 30 to 120 s",
        Stands::HoldsIf("the weights alone are saved, at 4.67 to 1.17 GB/s"),
        "140 GB; with gradients and the moments of Adam 1.12 TB, for which 30 to 120 s take 37.3 to 9.33 GB/s",
        (
            "F46, F47",
            "what-if checkpoint --parameters 70e9 --bytes-each 2 --write 4.67GB/s --every 1h --accelerators 1",
            "140 GB / 4.67 GB/s = 30 s",
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
        "C55",
        "of 3 checkpoints that are kept, written beside the job through a queue of one, one at least is always valid",
        Stands::HoldsIf("each is written back before it takes its name, and the first is whole"),
        "one that is due while another is written is left out, or takes memory for one more copy: of those due every 50 ms that \
         take 134 ms, 1 of 3 is written; room is taken for 4",
        ("F47", &C55),
    ),
    measured(
        "C56",
        "NFS gives 200 to 500 MB/s per client",
        Stands::Without("an export and a network of your own: it is no constant of the protocol"),
        "25, 100, 290 to 399 MB/s with 1, 4, 16 connections of 25 MB/s",
        ("C b, Q S / (L + S/b)", &C56),
    ),
    by_hand(
        "C57",
        "each of 64 nodes needs a copy of its own on its local drive",
        Stands::HoldsIf("each reads all of the dataset"),
        "10.6 TB in all for 1.28 M images of 130 kB; 2.6 GB on each node that reads the same 64th in each epoch",
        ("F34", "1.28e6 * 130e3 = 1.664e11; 64 * 1.664e11 = 1.065e13; 1.664e11 / 64 = 2.6e9"),
    ),
    open(
        "C58",
        "Lustre gives hundreds of GB/s in total",
        "a Lustre of that size",
        "100 GB/s feed 61 hosts of 8 H100 that train ResNet-50 and read 1.64 GB/s each",
        (
            "F27",
            "start `feedline run` on many hosts of it by their launcher; `feedline size --find hosts` says how many stay fed",
        ),
    ),
    measured(
        "C59",
        "a request to S3 takes 20 to 100 ms; elsewhere 10 to 30 ms",
        Stands::Without("a bucket"),
        "4 kB, one at a time: 33.3 a second at 30 ms and 10.0 at 100 ms; 64 in flight take 64 times as many of either",
        ("1 / (L + S/b)", &C02),
    ),
    measured(
        "C60",
        "2 to 5 GB/s per node from shards",
        Stands::HoldsIf("there are streams enough: 30 for 2 GB/s, 74 for 5 GB/s"),
        "68 MB/s for each stream of 8 MiB: 30 streams and 252 MB of buffers for 2 GB/s, 74 streams for 5 GB/s",
        ("ceil(R/r), r = S / (L + S/b)", &C60),
    ),
    reckoned(
        "C61",
        "checkpoints are made hourly at most; elsewhere every 15 minutes",
        Stands::HoldsIf("the job stands still for long: 36 s are 1 % of an hour, 9 s are 1 % of 15 minutes"),
        "60 s of standing still are 6.67 % of 15 minutes and 1.67 % of an hour; what a crash loses is another matter",
        (
            "F49",
            "what-if checkpoint --size 600GB --write 10GB/s --every 15m --accelerators 512",
            "60 s / 15 min = 6.67 %",
        ),
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
    open(
        "C65",
        "FFCV beats DALI in some benchmarks, after a conversion of a few hours",
        "a GPU",
        "166 GB in 3 h are 15.4 MB/s: the encoding binds a conversion, and no drive",
        (
            "F47",
            "train with both on one GPU; how fast your storage gives the samples of a `.beton` says `dataset.layout = \"ffcv\"`",
        ),
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
        "C67",
        "the larger of 4 and half the cores is the number of workers to begin with",
        Stands::DoesNotHold,
        "of 96 cores and 8 accelerators it has 48, other rules 32 or 80 to 88; 10,240 samples a second of 6 ms need 8 for \
         each, 64",
        (
            "F37, F38",
            "what-if readers --accelerators 8 --batch 256 --step 200ms --read 6ms --cores 96",
            "max(4, cores / 2): 48",
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
    reckoned(
        "C70",
        "pinned memory is copied 2 to 3 times as fast; elsewhere twice, and 28 GB/s against 8",
        Stands::Without("a GPU"),
        "28 against 8 GB/s are 3.5 times: 1.38 and 4.82 ms for 38.5 MB, which differ by 1.72 % of a step of 200 ms",
        ("F36", TRANSFER, "38.5 MB / 28 GB/s = 1.38 ms"),
    ),
    measured(
        "C71",
        "few random files at a time are 10 to 50 times slower than shards of 100 MB; elsewhere 50 to 70 and 9 to 20 times",
        Stands::HoldsIf("they are of 11 to 62 kB and read one at a time, by 80 us and 7 GB/s"),
        "4.7 times for 150 kB, 138 for 4 KiB, 35 for 16 KiB, 5.3 for 128 KiB, by 80 us and 7 GB/s",
        ("1 + L B / S", &C36),
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
        "C73",
        "8 workers with a prefetch factor of 2 have 16 batches ahead",
        Stands::Holds,
        "16, which hold 2.47 GB where each is 256 images of floats, and cover 3.2 s of steps of 200 ms",
        (
            "F28",
            "what-if memory --accelerators 1 --batch 256 --step 200ms --readers 8 --decoded 602112B",
            "8 x 2 = 16 for each accelerator",
        ),
    ),
    measured(
        "C74",
        "a prefetch factor of 2 is most often the best, 3 to 4 on slow storage",
        Stands::HoldsIf("storage is slow at times and fast enough in the mean"),
        "by 4 readers with 1, 2, 4 batches ahead each: 81, 93, 97 % busy where reads vary, 98 % where all take 8 ms, and 60 % \
         with each where all take 16 ms",
        ("F23, F30", &C74),
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
    reckoned(
        "C80",
        "4 to 8 workers with 3 batches ahead each feed every one of 64 nodes that train on 2 M tokens every 3 s",
        Stands::Holds,
        "and so does one: a node takes 2.5 sequences of 8 KiB a second, and a reader gets 33 by 30 ms; 8 x 3 = 24 batches are \
         ahead",
        (
            "F38, F28",
            "what-if readers --accelerators 8 --batch 1 --step 3s --read 30ms",
            "ceil(0.333 samples/s x 30 ms) = 1 for each accelerator",
        ),
    ),
    measured(
        "C81",
        "a device is saturated at 100 % in %util, and not below 80 %",
        Stands::HoldsIf("it serves one request at a time, as one head does"),
        "flash serves many: by 80 us and 7 GB/s, one read of 4 KiB at a time is under way nearly all the time at 0.7 % of the \
         rate, and 32 at a time give 32 times as much",
        ("F12", &C81),
    ),
    measured(
        "C82",
        "reads of a healthy NVMe drive take less than 1 ms; 10 ms and more are congestion",
        Stands::HoldsIf("no more is under way than the drive gives in that time, 7 MB in 1 ms by 7 GB/s"),
        "32 reads of 1 MiB wait 4.8 ms by 7 GB/s, and 34 ms by 1 GB/s, at the full rate of the drive",
        ("Q S / B", &C81),
    ),
    measured(
        "C83",
        "requests of 4 kB on average are small random reads, those of 512 kB and more are streams",
        Stands::DoesNotHold,
        "it is the size that the kernel makes: read-ahead joins reads of 4 KiB in sequence to 128 KiB or more, direct ones \
         stay 4 KiB, and random ones of 1 MiB are as large as those of a stream",
        ("F08", &C81),
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
    measured(
        "C86",
        "stalls let utilization drop to 40 to 50 %",
        Stands::HoldsIf("a batch takes 2 to 2.5 times the step to load"),
        "49 and 39 % busy where batches take 160 and 200 ms and steps 80, 98 % where they take 40, with idle processors",
        ("F25", &C86),
    ),
    reckoned(
        "C87",
        "20 h in place of 2 h at 2 an hour are 36 more",
        Stands::Holds,
        "18 h of waiting, 36",
        ("F51", "what-if idle --accelerators 1 --busy 0.1 --over 20h --price 2", "36 at 2 an hour"),
    ),
    by_hand(
        "C88",
        "100 runs of 20 h in place of 2 h at 2 an hour cost 3,600 too much, and 360 once the loader is mended",
        Stands::DoesNotHold,
        "once it is mended nothing is too much: 100 runs of 2 h cost 400 in all, and 4,000 before",
        ("F51", "18 * 2 * 100 = 3600; 2 * 2 * 100 = 400; 20 * 2 * 100 = 4000"),
    ),
    by_hand(
        "C89",
        "runs of 2 h are 12 a day in place of one of 20 h, runs of 12 h are 2",
        Stands::Holds,
        "12, 1.2 and 2",
        ("24 h / run", "24 / 2 = 12; 24 / 20 = 1.2; 24 / 12 = 2"),
    ),
    measured(
        "C90",
        "a loader of less than 500 samples a second most often binds, and 50 against 1,000 are 20 times",
        Stands::DoesNotHold,
        "what is needed is the job's: one of 200 a second keeps a job of 100 a second 98 % busy, and 8 H100 of ResNet-50 take \
         14,286; the 20 times are right",
        ("F01, F56", &C86),
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
    measured(
        "C92",
        "4 workers for each GPU are where to begin, elsewhere 2; the best are 2 to 8",
        Stands::HoldsIf("a sample takes 2 to 8 times as long as an accelerator takes for one"),
        "at 2.5 ms for each, samples of 1.5 ms need 1 reader and those of 15 ms 6: 4 readers keep accelerators 99 and 64 % \
         busy, 8 99 and 94 %",
        ("F38", &C92),
    ),
    reckoned(
        "C93",
        "workers of 8 GB each are too many for 32 GB",
        Stands::HoldsIf("there are 4 or more"),
        "4 take all of it before any batch is held; 3 take 24 GB",
        (
            "F39",
            "what-if memory --accelerators 1 --batch 64 --step 200ms --readers 4 --decoded 602112B --reader-memory 8GB \
             --memory 32GB",
            "32.3 GB do not fit into 32 GB",
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
    by_hand(
        "C96",
        "copying the next batch on a CUDA stream of its own gains 10 to 15 %, by hiding 5 to 10 ms",
        Stands::HoldsIf("steps that wait for their copy take 33 to 100 ms"),
        "5 to 10 ms are 2.5 to 5 % of 200 ms; what a copy takes needs a GPU to be measured",
        ("F36", "5 / 0.15 = 33.3; 10 / 0.10 = 100; 5 / 200 = 0.025; 10 / 200 = 0.05"),
    ),
    by_hand(
        "C97",
        "5 % here and 10 % there are suddenly twice as fast",
        Stands::DoesNotHold,
        "gains multiply: both are 1.155 times; twice takes more than 7 gains of 10 % or 14 of 5 %",
        ("F53", "1.05 * 1.10 = 1.155; 1.1 * 1.1 * 1.1 * 1.1 * 1.1 * 1.1 * 1.1 = 1.949"),
    ),
    measured(
        "C98",
        "memory maps are slow at random access, and surprisingly fast where samples lie together",
        Stands::HoldsIf(
            "what a fault reads about a random sample is not used, as of data that memory does not hold",
        ),
        "8 KiB by 80 us and 7 GB/s: 83 MB/s by a map with a read-ahead of 128 KiB, 101 by reads; with one of 8 MiB at 1.2 \
         GB/s each fault takes 7 ms, and runs of 16 samples use 128 KiB of it",
        ("S / (L + S/B)", &C98),
    ),
    measured(
        "C99",
        "random reads of HDF5 are faster than those of a memory map, and slower than those of raw files",
        Stands::HoldsIf(
            "the map is not advised to be random, and libhdf5 takes time of its own, which is not measured",
        ),
        "a map is of a raw file: reads give 101 MB/s of 8 KiB in both layouts, by 80 us and 7 GB/s, a map with a read-ahead \
         of 128 KiB 83",
        ("F11", &C98),
    ),
    measured(
        "C100",
        "a memory map is a pitfall with several workers; elsewhere it works best with them",
        Stands::HoldsIf("workers write to the map"),
        "a map that is only read is the same pages to all of them: 4 and 8 readers get no less from it than one, and all that \
         is checked is as it was written",
        ("F11", &C100),
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
    reckoned(
        "C102",
        "100 shards for a dataset of a terabyte",
        Stands::HoldsIf("no more than 100 readers share them, by a number that divides 100"),
        "shards of 10 GB, where others advise 0.1 to 1 GB; of 64 processes some read 2 and others 1, and 21.9 % of an epoch \
         are waiting",
        (
            "F33, F34",
            "what-if shards --dataset 1TB --sample 130kB --shard 10GB --ranks 64",
            "21.9 % of an epoch",
        ),
    ),
    open(
        "C103",
        "augmentation on a GPU is 3 to 5 times as fast, by a faster library on processors 2 to 3 times",
        "a GPU and those libraries",
        "no storage is read for it; no loader gains more than 1 / utilization by it",
        (
            "-",
            "time a sample with and without, write both into `training.decode` as `cpu`, and compare how busy the job is",
        ),
    ),
    measured(
        "C104",
        "8 settings of a loader are compared within 5 to 10 minutes, which gains 2 to 5 times",
        Stands::HoldsIf("the first of them keeps the accelerators 20 to 50 % busy"),
        "16 jobs are compared in 4 to 10 minutes; the first is 18 % busy there and the best gains 5.5 times, its 1 / \
         utilization",
        ("F25", &LADDER),
    ),
    by_hand(
        "C105",
        "10,000 samples in 2 epochs are 160,000 samples, which a loader gives in 8.32 s: 19,231 a second",
        Stands::DoesNotHold,
        "they are 20,000, or 2,404 a second; 160,000 take 16 epochs. The 6.02 GB of them lie in memory: no storage is read",
        (
            "F55",
            "160000 / 8.32 = 19231; 10000 * 2 / 8.32 = 2404; 160000 / 10000 = 16; 10000 * 602112 = 6.02e9",
        ),
    ),
    measured(
        "C106",
        "naive loading gives 500 to 1,000 samples a second",
        Stands::HoldsIf("one reader takes 1 to 2 ms for a sample, read and decoded"),
        "0.2 ms to read and 1.3 ms to decode are 667 a second; 4 readers get four times as many, where 4 cores decode",
        ("1 / (L + Z)", &C126),
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
    open(
        "C110",
        "after a month a job with a slow loader is 60 predictions behind",
        "the rates of both, which the claim leaves out",
        "60 in 30 days are 2 a day; no rate of a loader gives such a number, and the claim has none",
        ("-", "measure the predictions a day of both: what is behind is their difference times the days"),
    ),
    measured(
        "C111",
        "a million image files force random access, each an open, a seek and a read",
        Stands::HoldsIf("one reader waits for each: read-ahead ends with a file, in whatever order"),
        "by 80 us and 7 GB/s 10,130 files of 128 KiB a second in either order and as many records in a new one, 53,400 \
         records in order; by 8 readers all alike",
        ("1 / (L + S/B)", &C111),
    ),
    measured(
        "C112",
        "a random read takes 100 us to 1 ms on NVMe, elsewhere 41 to 82 us, and 5 to 10 ms on a disk",
        Stands::Without("the drive that is meant"),
        "one of 4 KiB under way is its latency: 80 us give 12,400 a second; 1 ms is the wait of 700 under way at 700,000 a \
         second",
        ("L + S/B, F12", &C36),
    ),
    measured(
        "C113",
        "10,000 random reads of 1 ms take 10 s",
        Stands::HoldsIf("one is read after the other"),
        "993 a second of 4 KiB one at a time, 10.1 s; 31,768 with 32 under way, 0.31 s",
        ("n L / Q", &C37),
    ),
    reckoned(
        "C114",
        "the same 10,000 samples take 100 ms in sequence",
        Stands::HoldsIf("a sample has 70 kB at most, by 7 GB/s"),
        "of 130 kB they are 13 GB/s, which no drive of 7 GB/s gives: it takes 186 ms",
        (
            "F02",
            r#"need '{ batch = 10000, step_time = "0.1s", sample_size = "130 kB", count = 1 }'"#,
            "13 GB/s",
        ),
    ),
    measured(
        "C115",
        "4 to 8 readers are the floor",
        Stands::DoesNotHold,
        "readers are samples a second x time of a sample: of 400 a second one is enough at 1 ms, and 8 keep an accelerator 64 \
         % busy at 30 ms",
        ("F38", &C115),
    ),
    measured(
        "C116",
        "WebDataset pays from 1 TB on; in the same article from 100 GB on",
        Stands::DoesNotHold,
        "the size of a sample decides and not that of the dataset: of 24 MB it is 112 times as fast by samples of 4 kB and \
         1.0 by 1 MB, at 10 ms",
        ("F18", &C09),
    ),
    by_hand(
        "C117",
        "an H100 computes 3,000 TFLOPS in BF16",
        Stands::DoesNotHold,
        "989 dense and 1,979 sparse; a need that is reckoned from it is three times too high",
        ("F05", "3000 / 989 = 3.03; 989.4 * 2 = 1979"),
    ),
    reckoned(
        "C118",
        "400 ms of computing and 600 ms of loading are 40 % utilization",
        Stands::HoldsIf("they take turns"),
        "66.7 % where one reader loads ahead",
        ("F25", "what-if readers --accelerators 1 --batch 1 --step 400ms --read 600ms", "66.7 % busy"),
    ),
    reckoned(
        "C119",
        "32 A100 were 58 % busy, because workers decoded JPEG",
        Stands::Without("the record of that job"),
        "58 % are batches that load for 1.72 steps: so it is with 4 readers of 7.5 ms an image, by ResNet-50; a run tells \
         decoding from reading",
        (
            "F25",
            "what-if readers --accelerators 1 --batch 400 --step 435ms --read 1ms --decode 6.5ms",
            "435 ms / max(3 s / 4, 435 ms): 58 % busy",
        ),
    ),
    by_hand(
        "C120",
        "PCIe 4.0 x16 carries 64 GB/s in theory and 32 in practice",
        Stands::DoesNotHold,
        "31.5 GB/s is the most in one direction, and 63 in both; pinned copies reach 28 by the same article",
        ("16 lanes, 128b/130b", "16 * 16e9 * 128 / 130 / 8 = 31.5e9; 2 * 31.5 = 63"),
    ),
    measured(
        "C121",
        "sequential reads of object storage are 10 to 100 times as fast as random ones; elsewhere 100 times",
        Stands::HoldsIf(
            "samples have 4.4 to 50 kB at 10 ms, 7 to 77 kB at 30 ms, and shards are read by 1 MiB",
        ),
        "112 times of 4 kB, 4.2 of 130 kB, 1.0 of 1 MB at 10 ms; 168, 5.9 and 1.0 at 30 ms",
        ("F18", &C09),
    ),
    measured(
        "C122",
        "50 million files on S3 kill the throughput, as each sample is one GET",
        Stands::HoldsIf("few GETs are in flight"),
        "by 31.8, 254 and 2,035 a second with 1, 8 and 64 in flight they take 18 days, 55 h and 6.8 h; 2.5 h at 5,500 a \
         second, with 173 in flight",
        ("n (L + S/b) / Q", &C03),
    ),
    measured(
        "C123",
        "10,000 shards of 1,000 samples are shuffled by buffers of 1,000 shards and 10,000 samples",
        Stands::HoldsIf("a fifth of a whole shuffle is enough"),
        "by 2 N / e of n / 3 places 1,000 shards move samples 22 % as far as a whole shuffle, and 10,000 samples 0.22 %; 1.3 \
         GB of 130 kB in each reader",
        ("2 N / e", &C133),
    ),
    measured(
        "C124",
        "AIStore or s5cmd bring about 10 GB/s from object storage",
        Stands::HoldsIf("147 streams of 8 MiB are in flight, over 80 Gb/s of network"),
        "68 MB/s for each stream at 30 ms and 90 MB/s, so that 147 hold 1.23 GB of buffers; 8 of them give 545 MB/s",
        ("ceil(R/r), r = S / (L + S/b)", &C60),
    ),
    reckoned(
        "C125",
        "10 TB of local NVMe are the cache between object storage and the loader",
        Stands::HoldsIf("the dataset fits, or nearly so"),
        "of the 50 TB of the same article it serves 2.15 % of later epochs in new orders, and nothing in the same order; it \
         fills in 1,000 s at 10 GB/s",
        (
            "F44",
            "what-if cache --dataset 50TB --cache 10TB --source 10GB/s --cached 14GB/s",
            "2.15 % from epoch 2 on",
        ),
    ),
    measured(
        "C126",
        "libjpeg-turbo decodes 2 GB/s on each core",
        Stands::DoesNotHold,
        "2 GB/s are 15,385 images of 130 kB a second, where the same article has 4,000 for a worker at most, 0.52 GB/s; the \
         scenario decodes on a core of yours",
        ("B / S", &C126),
    ),
    open(
        "C127",
        "nvJPEG decodes about 15 GB/s",
        "a GPU",
        "115,385 images a second of 130 kB, near the 110,000 that the same article has for four GPUs",
        (
            "B / S",
            "decode images of your own by nvJPEG, and write what a sample takes into `training.decode` as `cost`",
        ),
    ),
    by_hand(
        "C128",
        "4 H100 with ViT-L get 18,000 images a second, by better loaders 32,000, 85,000 and 110,000",
        Stands::DoesNotHold,
        "they compute 11,010 a second at most, at 359 GFLOP an image: the slowest loader feeds them, and the others gain \
         nothing; 110,000 of 130 kB are 14.3 GB/s",
        ("F05, F56", "304e6 * 197 * 2 * 3 = 359.3e9; 4 * 989e12 / 359.3e9 = 11010; 110000 * 130e3 = 14.3e9"),
    ),
    measured(
        "C129",
        "100 batches of 64 by the time of a loop over them are the rate of a loader",
        Stands::HoldsIf(
            "the loop is many times as long as the start of its readers, and counts what it fetches",
        ),
        "it fetches 101 and counts 100, 1 % too few; a start of 1 s before 0.8 s of batches leaves 44 % of the rate",
        ("F55, F43", &STARTUP),
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
    measured(
        "C133",
        "a shuffle buffer brings 99 % of the benefit of a whole shuffle at 1 % of its cost",
        Stands::Without("the same training by both orders: mixing is no benefit yet"),
        "a buffer of 1 % moves samples 98 % as far as a whole shuffle where 500 shards come in a new order, and 2.2 % in one \
         shard; 0.1 % keep their neighbour",
        ("2 N / e", &C133),
    ),
    reckoned(
        "C134",
        "a batch of 38 MB crosses in 4.7 ms pageable and 1.4 ms pinned, 2.3 and 0.7 % of 200 ms",
        Stands::Holds,
        "4.82 and 1.38 ms, 2.41 and 0.688 %",
        ("F36", TRANSFER, "4.82 ms, 2.41 % of a step"),
    ),
    reckoned(
        "C135",
        "4 workers are enough for text",
        Stands::HoldsIf("a sequence is read and made of tokens within 2.2 s"),
        "one is, of tokens on S3: an H100 takes 1.76 sequences a second of Llama 3 8B, 30 ms each; 4 have 2.27 s for each",
        (
            "F38",
            "what-if readers --need 1xh100:llama3-8b --read 30ms",
            "1 reader of each accelerator are the fewest that keep it 90 % busy",
        ),
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
        "C137",
        "any core at 100 % calls for more workers",
        Stands::HoldsIf("others are idle"),
        "2 cores that decode for 20 ms bring 100 samples a second to 2, 4 and 16 readers alike: 97, 98, 98 measured; where readers wait \
         60 ms for storage, cores are idle, and 4 bring twice what 2 do",
        ("F23, F38", &C137),
    ),
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
    measured(
        "C140",
        "8 processes of 4 threads are 32 threads; elsewhere 4 to 8 threads, or 1 to 2 workers of 4",
        Stands::HoldsIf("a worker's threads read one batch together: no more of them than it has samples"),
        "threads of a worker count like workers: of a job that takes 400 samples a second at 30 ms, 2 workers of 4 threads brought 257 and 8 \
         of one 246, of 267 at most; 8 of 4 brought 388",
        ("F12, F40", &C140),
    ),
    reckoned(
        "C141",
        "8 GPUs on 20 cores take 1 process of 2 threads each, beside 1 to 2 cores for each GPU",
        Stands::DoesNotHold,
        "16 threads and 8 to 16 cores are 24 to 32 of 20: its own rule leaves 0 to 8; threads that wait for reads may be more",
        (
            "F37, F40",
            "what-if readers --accelerators 8 --batch 1 --step 1s --read 1s --cores 20",
            "cores, less 1 or 2 for each accelerator: 0 to 8",
        ),
    ),
    measured(
        "C142",
        "13 workers on 10 cores are good; in the same article never more than cores less a reserve, 8",
        Stands::HoldsIf(
            "a worker waits for a read 0.3 times as long as it decodes; 8 leave cores idle unless it never waits",
        ),
        "c (1 + L / Z) workers are worth having: 2 cores that decode for 4 ms take 8 readers at 12 ms a read, and 2 from \
         memory",
        ("F38, K = c (1 + L/Z)", &C142),
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
    reckoned(
        "C144",
        "a step takes 0.1 s, unless another is stated",
        Stands::HoldsIf("the step of the job takes as long"),
        "it is a default of a benchmark: steps of the profiles take 0.375 ms to 28.1 s",
        ("F01", "need", "0.000375 s"),
    ),
    measured(
        "C145",
        "150 batches take 1,400 s at first and 40 s in the end, 5 times as fast; elsewhere 15 times, and 50 to 250 epochs",
        Stands::DoesNotHold,
        "1,400 / 40 is 35 times, 250 / 50 is 5; by steps of 0.1 s 15 s are computing: 1.07 % busy at first, 37.5 % in the end",
        ("F25", &C145),
    ),
    measured(
        "C146",
        "16 readers and more are pointless once the accelerator is fed",
        Stands::HoldsIf("fewer than 16 feed it"),
        "of 400 samples a second 1 and 16 are alike at 1 ms; at 30 ms 12 are needed: 8 keep it 64 % busy, 16 94 %, and more \
         gain nothing",
        ("F38", &C115),
    ),
    measured(
        "C147",
        "all cores busy while the accelerator waits is a bottleneck of I/O; elsewhere one of decoding",
        Stands::DoesNotHold,
        "it is decoding: a reader that waits for a read holds no core. 4 readers of 5 ms decoding hold 2 of 2 cores, and 0.8 \
         of them behind 20 ms a read",
        ("F12", &C147),
    ),
];

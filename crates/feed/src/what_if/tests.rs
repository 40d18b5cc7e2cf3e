//! Worked examples of the field's claims, and questions that have no answer.

use super::*;
use crate::{CacheOrder, Curve, Sheet, TierPolicy};

fn said(answer: impl Fn(&mut Sheet) -> Result<(), WhatIfError>) -> String {
    let mut sheet = Sheet::titled("what if");
    answer(&mut sheet).expect("an answer");
    sheet.to_string()
}

fn refused(answer: impl Fn(&mut Sheet) -> Result<(), WhatIfError>) -> String {
    answer(&mut Sheet::default()).expect_err("refused").to_string()
}

#[track_caller]
fn holds(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
}

/// ImageNet from 0.5 GB/s, copied at 2 GB/s, for accelerators that take 1.33 GB/s.
const COPY: CopyFirst = CopyFirst {
    dataset_bytes: 1.28e6 * 130e3,
    source_bps: 0.5e9,
    copying_bps: 2e9,
    copy_bps: 7e9,
    need_bps: Some(1.3312e9),
    epochs: None,
};

#[test]
fn f42_a_copy_of_imagenet() {
    let text = said(|sheet| COPY.answer(sheet));
    holds(&text, &["166 GB / 2 GB/s = 83.2 s (F42)", "166 GB / 500 MB/s = 5.55 min (F42)"]);
    holds(&text, &["166 GB / 1.33 GB/s = 2.08 min: the accelerators take no more (F23, F42)"]);
    holds(&text, &["= 0.4 epochs (F42)", "the copy pays within the first epoch"]);
    let ten = CopyFirst { epochs: Some(10), ..COPY };
    // 10 x 332.8 s, and 83.2 s + 10 x 125 s.
    holds(&said(|sheet| ten.answer(sheet)), &["= 55.5 min of the source", "= 22.2 min with the copy"]);
    let slow = CopyFirst { copying_bps: 0.1e9, ..COPY };
    holds(&said(|sheet| slow.answer(sheet)), &["= 8.01 epochs", "within epoch 9, and not before"]);
    let short = CopyFirst { epochs: Some(3), ..slow };
    holds(&said(|sheet| short.answer(sheet)), &["does not pay within the job: it would within epoch 9"]);
    let fed = CopyFirst { source_bps: 1.4e9, ..COPY };
    holds(&said(|sheet| fed.answer(sheet)), &["the source gives what the accelerators take already"]);
    let slower = CopyFirst { copy_bps: 0.4e9, ..COPY };
    holds(&said(|sheet| slower.answer(sheet)), &["never pays"]);
    // 8 s of copying, and each epoch is 1 s shorter.
    let last = CopyFirst {
        dataset_bytes: 1e9,
        source_bps: 0.5e9,
        copying_bps: 0.125e9,
        copy_bps: 1e9,
        need_bps: None,
        epochs: Some(8),
    };
    holds(&said(|sheet| last.answer(sheet)), &["= 8 epochs", "within epoch 8, and not before"]);
    let nothing = CopyFirst { source_bps: 0.0, ..COPY };
    assert!(refused(|sheet| nothing.answer(sheet)).contains("the rate of the source is 0"));
}

#[test]
fn f44_and_f45_a_cache_of_half_the_data() {
    let cache = CacheBefore {
        dataset_bytes: 100e9,
        cache_bytes: 50e9,
        source_bps: 2e9,
        cache_bps: 10e9,
        order: CacheOrder::Permuted,
        policy: TierPolicy::Lru,
        need_bps: None,
        epochs: Some(3),
    };
    // 0.847 / 2 + 0.153 / 10 = 0.4387.
    let text = said(|sheet| cache.answer(sheet));
    holds(&text, &["1 / (84.7 % / 2 GB/s + 15.3 % / 10 GB/s)"]);
    holds(&text, &["from epoch 2 on: a new order each epoch, least recently used dropped"]);
    holds(&text, &["50 % of the dataset", "15.3 % from epoch 2 on", "= 2.28 GB/s (F45)"]);
    holds(&text, &["100 GB / 2 GB/s = 50 s", "100 GB / 2.28 GB/s = 43.9 s", "12.3 % shorter"]);
    holds(&text, &["2.5 min without the cache, 2.3 min with it"]);
    // Drawn samples are found as often as they are held: 1 / (0.5 / 2 + 0.5 / 10).
    let drawn = CacheBefore { order: CacheOrder::Drawn, ..cache };
    let text = said(|sheet| drawn.answer(sheet));
    holds(&text, &["34.7 % of epoch 1, 50 % of epoch 2, 50 % of a full cache", "= 3.33 GB/s (F45)"]);
    // 50 s without; (0.653 / 2 + 0.347 / 10) x 100 = 36.1 s, and twice 30 s.
    holds(&text, &["= 36.1 s (F42)", "2.5 min without the cache, 96.1 s with it (F42)"]);
    holds(
        &text,
        &["epoch 1 is 27.7 % shorter than without the cache, epoch 2 40 %, and later ones up to 40 %"],
    );
    // One that could hold all is filled to 63 % by the first epoch.
    let all = CacheBefore { cache_bytes: 100e9, source_bps: 500e6, cache_bps: 5e9, epochs: Some(2), ..drawn };
    let text = said(|sheet| all.answer(sheet));
    holds(&text, &["36.8 % of epoch 1, 76.7 % of epoch 2, 100 % of a full cache"]);
    // (0.632 / 0.5 + 0.368 / 5) x 100 = 134 s, (0.233 / 0.5 + 0.767 / 5) x 100 = 61.9 s.
    holds(
        &text,
        &[
            "6.67 min without the cache, 3.26 min with it",
            "epoch 1 is 33.1 % shorter than without the cache, and epoch 2 69.1 %",
        ],
    );
    assert!(!text.contains("rate, full"), "no epoch finds the cache full:\n{text}");
    // Full after two epochs: 134 s, 61.9 s, and 998 times (0.135 / 0.5 + 0.865 / 5) x 100 = 44.3 s.
    let many = CacheBefore { cache_bytes: 86.5e9, epochs: Some(1_000), ..all };
    holds(&said(|sheet| many.answer(sheet)), &["2.31 d without the cache, 12.3 h with it"]);
    let once = CacheBefore { epochs: Some(1), ..all };
    let text = said(|sheet| once.answer(sheet));
    holds(&text, &["samples drawn with replacement", "epoch 1 is 33.1 % shorter than without the cache"]);
    assert!(!text.contains("later ones"), "{text}");
    let fed = CacheBefore { need_bps: Some(100e6), ..all };
    holds(&said(|sheet| fed.answer(sheet)), &["take already"]);
    let once = CacheBefore { epochs: Some(1), ..cache };
    holds(&said(|sheet| once.answer(sheet)), &["a job of one epoch gains nothing"]);
    // Claim C72: in sequence nothing is found, and no later epoch is slower for it.
    let same = CacheBefore { order: CacheOrder::Same, ..cache };
    holds(&said(|sheet| same.answer(sheet)), &["0 % from epoch 2 on", "no later epoch finds anything"]);
    let slower = CacheBefore { cache_bps: 1e9, ..cache };
    holds(&said(|sheet| slower.answer(sheet)), &["no faster than the source"]);
    let fed = CacheBefore { need_bps: Some(1e9), ..cache };
    holds(&said(|sheet| fed.answer(sheet)), &["take already"]);
}

#[test]
fn f41_unpacking_binds_where_the_link_could_carry_more() {
    let codec = Codec { link_bps: 2e9, ratio: 5.0, readers: 8, unpack_bps: 0.4e9 };
    let text = said(|sheet| codec.answer(sheet));
    holds(&text, &["2 GB/s x 5 = 10 GB/s (F41)", "8 x 400 MB/s = 3.2 GB/s (F41)"]);
    holds(
        &text,
        &["min(10 GB/s, 3.2 GB/s) = 3.2 GB/s: unpacking binds", "= 25 unpack all", "1.6 times what"],
    );
    let few = Codec { readers: 2, ..codec };
    holds(&said(|sheet| few.answer(sheet)), &["no gain"]);
    let none = Codec { ratio: 1.0, readers: 5, ..codec };
    holds(&said(|sheet| none.answer(sheet)), &["min(2 GB/s, 2 GB/s) = 2 GB/s: the link binds", "no gain"]);
    assert!(refused(|sheet| Codec { ratio: 0.5, ..codec }.answer(sheet)).contains("makes the data larger"));
}

#[test]
fn f18_f33_f34_f35_shards_of_a_gigabyte() {
    let shards = Shards {
        dataset_bytes: 50e12,
        sample_bytes: 130e3,
        shard_bytes: 1e9,
        ranks: 256,
        stream: Some((0.030, 90e6)),
    };
    let text = said(|sheet| shards.answer(sheet));
    holds(&text, &["ceil(50 TB / 1 GB) = 50,000 (F34)", "floor(1 GB / 130 kB) = 7,692 (F35)"]);
    // A header of 512 bytes, and 48 to whole blocks.
    holds(&text, &["headers and padding add 0.431 %"]);
    holds(&text, &["ceil(50,000 / 256) = 196 at most (F33)", "0.351 % of an epoch", "= 31.4 ms (F11)"]);
    holds(&text, &["= 2.7 MB: of larger files", "21.7 times, each stream for itself (F18)"]);
    let unknown = Shards { stream: None, ..shards };
    holds(&said(|sheet| unknown.answer(sheet)), &["50,000 shards of about 1 GB"]);
    // One of each, and no more than the smallest that is possible.
    let one = Shards { dataset_bytes: 1e9, sample_bytes: 1e9, ranks: 1, stream: None, ..shards };
    holds(&said(|sheet| one.answer(sheet)), &["1 shard of about 1 GB", "floor(1 GB / 1 GB) = 1 (F35)"]);
    let refused = |edit: Shards| refused(|sheet| edit.answer(sheet));
    assert!(refused(Shards { shard_bytes: 1e3, ..shards }).contains("holds no sample"));
    assert!(refused(Shards { dataset_bytes: 1e3, ..shards }).contains("a dataset of 1 kB holds no sample"));
    assert!(refused(Shards { dataset_bytes: 100e9, ..shards }).contains("100 shards for 256 ranks"));
}

/// Eight accelerators that take 1,280 samples/s each; a sample keeps a reader for 6 ms.
fn readers() -> Readers {
    Readers {
        accelerators: 8,
        batch: 256,
        step_s: 0.2,
        reading: Reading::Sample { read_s: 4e-3 },
        decode_s: 2e-3,
        prefetch: 2,
        cores: None,
        utilization: 0.9,
    }
}

#[test]
fn f25_f26_f38_readers_by_the_time_of_a_sample() {
    let text = said(|sheet| readers().answer(sheet));
    holds(&text, &["256 / 200 ms = 1,280 samples/s (F01)", "ceil(1,280 samples/s x 6 ms) = 8 for each"]);
    // A batch takes one reader 1.536 s.
    holds(&text, &["1 reader", "200 ms / max(1.54 s / 1, 200 ms): 13 % busy", "26 % busy"]);
    holds(&text, &["7 readers of each accelerator are the fewest that keep it 90 % busy"]);
    assert!(
        text.contains("8 readers ") && !text.contains("16 readers "),
        "none beyond those that suffice:\n{text}"
    );
    // Claims C13 and C66: overlap alone is 2 times at most, and two readers 3 times where a load takes twice the step.
    let turns = Readers { accelerators: 1, batch: 1, step_s: 1.0, decode_s: 0.0, ..readers() };
    let one = Readers { reading: Reading::Sample { read_s: 1.0 }, ..turns.clone() };
    holds(&said(|sheet| one.answer(sheet)), &["100 % busy, 2 times as fast as in turns"]);
    let two = Readers { reading: Reading::Sample { read_s: 2.0 }, ..turns.clone() };
    holds(&said(|sheet| two.answer(sheet)), &["100 % busy, 3 times as fast as in turns"]);
    let hopeless = Readers { reading: Reading::Sample { read_s: 100.0 }, ..turns };
    holds(&said(|sheet| hopeless.answer(sheet)), &["not even 64 readers"]);
}

#[test]
fn f23_and_f37_cores_bound_what_is_decoded_and_rules_disagree() {
    // 16 cores decode 8,000 samples/s of 10,240.
    let bound = Readers { cores: Some(16), ..readers() };
    let text = said(|sheet| bound.answer(sheet));
    holds(&text, &["16 cores / 2 ms = 8,000 samples/s of the 10,240 that are needed (F23)"]);
    // 8 x 256 samples in 256 ms: 200 / 256 is 78.1 %. 0.9 x 10,240 x 2 ms is 18.4 cores.
    holds(
        &text,
        &["8 x 256 / 8,000 samples/s = 256 ms", "200 ms / max(1.54 s / 8, 200 ms, 256 ms): 78.1 % busy"],
    );
    holds(
        &text,
        &["200 ms / max(1.54 s / 4, 200 ms): 52.1 % busy, 4.52 times", "78.1 % busy, bound by the cores"],
    );
    holds(
        &text,
        &["no number of readers keeps an accelerator 90 % busy: 16 cores decode 8,000 of 10,240 samples/s"],
    );
    holds(&text, &["and 19 would do (F23)"]);
    let enough = Readers { cores: Some(19), ..readers() };
    holds(&said(|sheet| enough.answer(sheet)), &["7 readers of each accelerator are the fewest"]);
    let many = Readers { cores: Some(96), ..readers() };
    let text = said(|sheet| many.answer(sheet));
    holds(&text, &["4 x accelerators: 32 (F37)", "2 to 4 x accelerators: 16 to 32 (F37)"]);
    holds(&text, &["max(4, cores / 2): 48", "for each accelerator: 80 to 88", "7 readers of each"]);
}

#[test]
fn readers_by_what_was_measured() {
    // Latency binds: a read takes 6 ms however many there are.
    let curve = Curve::new([(1, 1.0 / 6e-3), (512, 512.0 / 6e-3)]).expect("a curve");
    let measured = Readers { reading: Reading::Measured(curve), decode_s: 0.0, ..readers() };
    let text = said(|sheet| measured.answer(sheet));
    holds(
        &text,
        &["8 reads outstanding at most: 13 % busy (F12, F23, F25)", "7 readers of each accelerator"],
    );
    // One point leaves open what fewer readers get.
    let one = Curve::new([(64, 9_500.0)]).expect("a curve");
    let open = Readers { reading: Reading::Measured(one), decode_s: 0.0, ..readers() };
    let text = said(|sheet| open.answer(sheet));
    holds(&text, &["64 reads outstanding at most: 92.8 % busy", "between 1 and 8 readers"]);
    let bad = Readers { decode_s: -1.0, ..readers() };
    assert!(refused(|sheet| bad.answer(sheet)).contains("the time of decoding is -1"));
    assert!(refused(|sheet| Readers { utilization: 1.5, ..readers() }.answer(sheet)).contains("no share"));
}

/// Claim C75: the article prints 5 GB for one reader and 40 for eight.
#[test]
fn f28_to_f32_and_f39_memory_of_a_loader() {
    let memory = Memory {
        accelerators: 1,
        readers: 8,
        ahead: Ahead::OfReader(4),
        batch: 256,
        decoded_bytes: 602_112.0,
        shuffle: None,
        index: None,
        reader_bytes: None,
        step_s: None,
        ram_bytes: None,
    };
    holds(&said(|sheet| memory.answer(sheet)), &["8 x 4 = 32 for each", "32 x 256 x 602 kB = 4.93 GB (F29)"]);
    let one = Memory { readers: 1, ..memory };
    holds(&said(|sheet| one.answer(sheet)), &["= 617 MB (F29)", "617 MB of this host's memory"]);
    let none = Memory { ahead: Ahead::OfAccelerator(0), ..memory };
    assert!(refused(|sheet| none.answer(sheet)).contains(" is 0"));
    let of_two = Memory { accelerators: 2, reader_bytes: Some(1e9), ..memory };
    holds(&said(|sheet| of_two.answer(sheet)), &["16 x 1 GB = 16 GB (F39)"]);
    let of_record = Memory { ahead: Ahead::OfAccelerator(8), step_s: Some(0.2), ..memory };
    let text = said(|sheet| of_record.answer(sheet));
    holds(&text, &["8 for each accelerator", "8 x 256 x 602 kB = 1.23 GB (F29)", "8 x 200 ms = 1.6 s"]);
    let all = Memory {
        ahead: Ahead::OfReader(2),
        shuffle: Some((5_000.0, 130e3)),
        index: Some((50e6, 80.0)),
        reader_bytes: Some(8e9),
        step_s: Some(0.2),
        ram_bytes: Some(32e9),
        ..memory
    };
    let text = said(|sheet| all.answer(sheet));
    holds(&text, &["5,000 x 130 kB x 8 = 5.2 GB (F31)", "50,000,000 x 80 B = 4 GB (F32)"]);
    holds(&text, &["8 x 8 GB = 64 GB (F39)", "16 x 200 ms = 3.2 s without any delivery (F30)"]);
    holds(&text, &["75.7 GB do not fit into 32 GB"]);
    let exactly = Memory {
        ram_bytes: Some(1e9),
        batch: 1,
        decoded_bytes: 1e9,
        readers: 1,
        ahead: Ahead::OfReader(1),
        ..memory
    };
    holds(&said(|sheet| exactly.answer(sheet)), &["1 GB are 100 % of 1 GB"]);
    let fits = Memory { ram_bytes: Some(100e9), ..all };
    holds(&said(|sheet| fits.answer(sheet)), &["75.7 GB are 75.7 % of 100 GB"]);
}

#[test]
fn f43_starting_readers_for_each_epoch() {
    let start = Start { start_s: 60.0, epoch_s: 125.0, epochs: 10 };
    let text = said(|sheet| start.answer(sheet));
    holds(&text, &["60 s / (60 s + 2.08 min) = 32.4 % (F43)", "(10 - 1) x 60 s = 9 min, 29.2 % of 30.8 min"]);
}

#[test]
fn f36_batches_cross_the_link() {
    let transfer =
        Transfer { batch: 64, decoded_bytes: 602_112.0, pageable_bps: 8e9, pinned_bps: 28e9, step_s: 0.2 };
    let text = said(|sheet| transfer.answer(sheet));
    holds(&text, &["38.5 MB / 8 GB/s = 4.82 ms, 2.41 % of a step", "= 1.38 ms, 0.688 % of a step"]);
    holds(&text, &["pinned memory saves 1.72 % of a step"]);
    let short = Transfer { step_s: 0.001, ..transfer };
    // 1 / 1.376 and 1 / 4.817.
    holds(
        &said(|sheet| short.answer(sheet)),
        &[
            "a pinned batch crosses in 1.38 ms, so that an accelerator is 72.7 % busy at most, and 20.8 % with",
        ],
    );
    let as_long = Transfer { batch: 1, decoded_bytes: 28e6, step_s: 1e-3, ..transfer };
    holds(
        &said(|sheet| as_long.answer(sheet)),
        &["saves 250 % of a step where", "pageable ones last longer than a step"],
    );
    let both = Transfer { pageable_bps: 14e9, step_s: 2e-3, ..as_long };
    holds(
        &said(|sheet| both.answer(sheet)),
        &["saves 50 % of a step where", "beside each other both are hidden"],
    );
    let alike = Transfer { pageable_bps: 28e9, ..both };
    holds(&said(|sheet| alike.answer(sheet)), &["pinned memory saves nothing at these rates"]);
    let longer = Transfer { step_s: 0.002, ..transfer };
    holds(&said(|sheet| longer.answer(sheet)), &["pageable ones last longer than a step"]);
}

/// Claims C62, C63, C68 and C76.
#[test]
fn f46_to_f50_checkpoints() {
    let state = State::Parameters { count: 70e9, bytes_each: 16.0 };
    let checkpoints = Checkpoints {
        state,
        write_bps: 10e9,
        interval_s: 3_600.0,
        copied_over: Some((1_024, 28e9)),
        accelerators: 1_024,
        price: Some(3.0),
    };
    let text = said(|sheet| checkpoints.answer(sheet));
    holds(&text, &["70 G parameters x 16 B = 1.12 TB (F46)", "1.12 TB / 10 GB/s = 112 s (F47)"]);
    holds(&text, &["1.12 TB / (1,024 x 28 GB/s) = 39.1 ms (F48)", "at risk for 112 s more"]);
    let sync = Checkpoints {
        state: State::Bytes(600e9),
        interval_s: 900.0,
        copied_over: None,
        accelerators: 512,
        ..checkpoints
    };
    let text = said(|sheet| sync.answer(sheet));
    holds(&text, &["60 s / 15 min = 6.67 % of the time (F49)", "512 x 60 s = 8.53 accelerator-hours (F50)"]);
    holds(&text, &["8.53 x 3 = 25.6; 17,203 a week"]);
    // As long as the time between two is not too long.
    let always = Checkpoints { interval_s: 60.0, ..sync };
    holds(&said(|sheet| always.answer(sheet)), &["60 s / 60 s = 100 % of the time (F49)"]);
    let copied = Checkpoints { copied_over: Some((1, 10e9)), ..always };
    holds(&said(|sheet| copied.answer(sheet)), &["600 GB / (1 x 10 GB/s) = 60 s (F48)"]);
    let slow_link = Checkpoints { copied_over: Some((1, 28e6)), ..checkpoints };
    assert!(refused(|sheet| slow_link.answer(sheet)).contains("one is copied in"));
    let often = Checkpoints { interval_s: 30.0, ..sync };
    assert!(
        refused(|sheet| often.answer(sheet)).contains("is written in 60 s, and the next begins after 30 s")
    );
}

/// Claims C21 and C87: the articles print 20 % and 100,000.
#[test]
fn f51_and_f52_idle_accelerators() {
    let idle = Idle { accelerators: 8, utilization: 0.3, reachable: None, hours: 720.0, price: Some(3.0) };
    let text = said(|sheet| idle.answer(sheet));
    holds(&text, &["8 x 720 h x (1 - 30 %) = 4,032 accelerator-hours (F51)", "12,096 at 3 an hour"]);
    let more = Idle { accelerators: 1_024, utilization: 0.8, reachable: Some(0.95), ..idle };
    let text = said(|sheet| more.answer(sheet));
    holds(&text, &["95 % / 80 % - 1 = 18.7 % more time", "331,776 at 3 an hour"]);
    let all = Idle { utilization: 1.0, reachable: Some(1.0), ..idle };
    holds(&said(|sheet| all.answer(sheet)), &["8 x 720 h x (1 - 100 %) = 0 accelerator-hours (F51)"]);
    let less = Idle { reachable: Some(0.2), ..idle };
    assert!(refused(|sheet| less.answer(sheet)).contains("20 % to reach is less than the 30 %"));
}

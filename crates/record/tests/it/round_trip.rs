//! What is written is what is read.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use record::testing;
use record::{
    CacheProof, Ceiling, Cell, Device, End, HistogramText, Line, Memory, NotLookedAt, NotRun, Outcome, Pace,
    Redactor, Rep, Reread, Role, RunWriter, SCENARIO_FILE, System, Trained, TrainedAccelerator, TrainedStep,
    Training, Usage, encode, new_histogram, read_intervals, read_run,
};

use crate::sample;

#[test]
fn the_sample_run_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sample::write(&dir);
    let record = read_run(&dir).unwrap();
    assert_eq!(record.run, sample::run());
    assert_eq!(record.env, sample::environment());
    assert_eq!(record.lines, sample::lines());
    assert_eq!(record.loss, None);
    assert_eq!(read_intervals(&dir).unwrap().reps, sample::intervals());
    assert_eq!(std::fs::read_to_string(dir.join(SCENARIO_FILE)).unwrap(), sample::SCENARIO);
}

#[test]
fn a_figure_that_is_not_finite_is_refused_when_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = sample::run();
    run.need.utilization = f64::NAN;
    let refused =
        RunWriter::create(&folder.path().join("run"), &run, "", &sample::environment(), Redactor::default());
    assert!(refused.unwrap_err().to_string().starts_with("cannot encode `"));
}

fn text() -> impl Strategy<Value = String> {
    "[a-z0-9 ,;._/ü\"\\\\\n-]{0,24}"
}

fn counts() -> impl Strategy<Value = BTreeMap<String, u64>> {
    btree_map(text(), any::<u64>(), 0..4)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Complete),
        Just(Outcome::Exhausted),
        Just(Outcome::Interrupted),
        text().prop_map(|reason| Outcome::Failed { reason }),
    ]
}

fn histogram() -> impl Strategy<Value = HistogramText> {
    vec(1..60_000_000_000_u64, 0..20).prop_map(|latencies_ns| {
        let mut histogram = new_histogram();
        for latency_ns in &latencies_ns {
            histogram.record(*latency_ns).unwrap();
        }
        encode(&histogram)
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    let counters = (any::<[u64; 7]>(), any::<u32>());
    (counters, any::<[Option<u64>; 5]>()).prop_map(|((counters, cores), pressure)| Usage {
        cpu_user_ns: counters[0],
        cpu_system_ns: counters[1],
        wall_ns: counters[2],
        cores,
        voluntary_switches: counters[3],
        involuntary_switches: counters[4],
        minor_faults: counters[5],
        major_faults: counters[6],
        steal_ns: pressure[0],
        waited_ns: pressure[4],
        psi_cpu_some_ns: pressure[1],
        psi_io_some_ns: pressure[2],
        psi_memory_some_ns: pressure[3],
    })
}

fn cache() -> impl Strategy<Value = CacheProof> {
    (text(), any::<u64>(), any::<[Option<u64>; 2]>(), any::<Option<bool>>()).prop_map(
        |(method, total_bytes, [before_bytes, after_bytes], names_dropped)| CacheProof {
            method,
            total_bytes,
            before_bytes,
            after_bytes,
            names_dropped,
        },
    )
}

fn device() -> impl Strategy<Value = Device> {
    (text(), any::<[u64; 10]>(), any::<[Option<u64>; 2]>()).prop_map(|(name, counters, flushes)| Device {
        name,
        reads: counters[0],
        reads_merged: counters[1],
        read_bytes: counters[2],
        read_ns: counters[3],
        writes: counters[4],
        write_bytes: counters[5],
        write_ns: counters[6],
        busy_ns: counters[7],
        weighted_ns: counters[8],
        flushes: flushes[0],
        flush_ns: flushes[1],
        wall_ns: counters[9],
    })
}

fn memory() -> impl Strategy<Value = Memory> {
    any::<[u64; 3]>().prop_map(|[available_bytes, cached_bytes, dirty_bytes]| Memory {
        available_bytes,
        cached_bytes,
        dirty_bytes,
    })
}

fn system() -> impl Strategy<Value = System> {
    let memories = (option::of(memory()), option::of(memory()));
    (any::<Option<u64>>(), option::of(device()), vec(any::<u64>(), 0..5), memories).prop_map(
        |(process_read_bytes, device, core_busy_ns, (memory_before, memory_after))| System {
            process_read_bytes,
            device,
            core_busy_ns,
            memory_before,
            memory_after,
            // The sample has these, and is read back whole.
            network: None,
            nfs_mount: None,
            others: Vec::new(),
            gpus: Vec::new(),
        },
    )
}

fn pace() -> impl Strategy<Value = Pace> {
    let rates = (option::of(0.0..1e12_f64), option::of(0.0..10.0_f64));
    (rates, text(), any::<Option<u64>>(), any::<u64>()).prop_map(
        |((rate_bps, of_line), arrivals, batch_samples, spin_ns)| Pace {
            rate_bps,
            of_line,
            arrivals,
            batch_samples,
            spin_ns,
        },
    )
}

fn cell() -> impl Strategy<Value = Cell> {
    (text(), option::of(pace()), option::of(training()), any::<Option<u32>>()).prop_map(
        |(operation, pace, training, submit_batch)| Cell {
            operation: operation.as_str().into(),
            pace,
            training,
            submit_batch,
            ..sample::run().cells.remove(0)
        },
    )
}

fn training() -> impl Strategy<Value = Training> {
    let numbers = (any::<[u32; 3]>(), any::<[u64; 3]>(), any::<bool>());
    let optional = (any::<[Option<u32>; 2]>(), any::<Option<u64>>(), option::of(0.0..100.0_f64));
    (numbers, optional, text(), option::of(text())).prop_map(
        |((counts, times, barrier), (threads, cost, price_per_hour), fetch, decode)| Training {
            accelerators: counts[0],
            batch: counts[1],
            compute_ns: times[0],
            fetch,
            readers: threads[0],
            fetches: counts[1].max(1),
            prefetch: counts[2],
            barrier,
            decode,
            decode_cost_ns: cost,
            decode_threads: threads[1],
            drop_last: !barrier,
            startup_ns: times[1],
            spin_ns: times[2],
            threshold: 0.9,
            price_per_hour,
        },
    )
}

fn trained() -> impl Strategy<Value = Trained> {
    let accelerator = any::<[u64; 17]>().prop_map(|counts| TrainedAccelerator {
        steps: counts[0],
        wall_ns: counts[1],
        compute_ns: counts[2],
        wait_ns: counts[3],
        barrier_ns: counts[4],
        first_batch_ns: counts[5],
        late: counts[6],
        storage_ns: counts[7],
        decode_ns: counts[8],
        client_ns: counts[9],
        startup_ns: counts[10],
        lost_samples: counts[11],
        measured_compute_ns: counts[12],
        measured_wall_ns: counts[13],
        checkpoint_ns: counts[14],
        excluded_wait_ns: counts[15],
        excluded_compute_ns: counts[16],
    });
    let step =
        any::<[u64; 3]>().prop_map(|[ready_ns, start_ns, end_ns]| TrainedStep { ready_ns, start_ns, end_ns });
    let lists = (vec(accelerator, 0..3), vec(any::<u64>(), 0..4), vec(step, 0..3));
    (lists, any::<[u64; 2]>(), any::<bool>()).prop_map(
        |((accelerators, occupancy, timeline), [decode_failures, decode_cpu_ns], ran_out)| Trained {
            accelerators,
            occupancy,
            timeline,
            decode_failures,
            decode_cpu_ns,
            ran_out,
        },
    )
}

fn rep() -> impl Strategy<Value = Rep> {
    let numbers = (any::<[u32; 5]>(), any::<[u64; 2]>(), any::<bool>());
    let counted = (counts(), counts(), btree_map(text(), histogram(), 0..3), usage(), cache(), system());
    let words = (text(), text(), outcome(), btree_map(text(), text(), 0..3));
    (numbers, counted, words, option::of(trained())).prop_map(
        |(
            (numbers, window, confirm),
            (counters, errors, histograms, usage, cache, system),
            words,
            trained,
        )| {
            let (cell, variant, outcome, granted) = words;
            Rep {
                cell,
                role: if confirm { Role::Confirm } else { Role::Measure },
                rep: numbers[0],
                round: numbers[1],
                order: numbers[2],
                rank: numbers[3],
                ranks: numbers[4],
                variant,
                outcome,
                window_start_ns: window[0],
                window_ns: window[1],
                window_unix_ns: (window[0] % 2 == 0).then_some(window[1]),
                second_ops: window.to_vec(),
                counters,
                errors,
                histograms,
                usage,
                cache,
                granted,
                system,
                trained,
                ..testing::rep("", 0, 0)
            }
        },
    )
}

fn ceiling() -> impl Strategy<Value = Ceiling> {
    (vec(text(), 0..4), any::<bool>(), any::<[u64; 4]>(), option::of(trained())).prop_map(
        |(cells, copies, counts, trained)| Ceiling {
            cells,
            copies,
            ops: counts[0],
            bytes: counts[1],
            window_ns: counts[2],
            cpu_ns: counts[3],
            trained,
        },
    )
}

fn end() -> impl Strategy<Value = End> {
    let not_run = (text(), any::<u32>(), text()).prop_map(|(cell, repetitions, reason)| NotRun {
        cell,
        repetitions,
        reason,
    });
    let reread = (any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(rank, order, checked, wrong, summed)| Reread {
            rank,
            order,
            checked,
            wrong,
            summed,
            unread: [("io".to_owned(), checked)].into(),
        },
    );
    (any::<bool>(), any::<u64>(), vec(not_run, 0..4), vec(0..9_usize, 0..3), vec(reread, 0..3)).prop_map(
        |(interrupted, elapsed_ns, not_run, changed, reread)| End {
            interrupted,
            elapsed_ns,
            not_run,
            not_looked_at: changed.iter().map(|index| not_looked_at(*index)).collect(),
            changed,
            reread,
        },
    )
}

fn not_looked_at(dataset: usize) -> NotLookedAt {
    NotLookedAt { dataset, reason: format!("dataset {dataset} timed out") }
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        ceiling().prop_map(Line::Ceiling),
        rep().prop_map(|rep| Line::Rep(Box::new(rep))),
        end().prop_map(Line::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cells_are_read_as_they_were_written(cells in vec(cell(), 0..4)) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run");
        let run = record::Run { cells, ..sample::run() };
        RunWriter::create(&dir, &run, "", &sample::environment(), Redactor::default()).unwrap();
        prop_assert_eq!(read_run(&dir).unwrap().run, run);
    }

    #[test]
    fn any_lines_are_read_as_they_were_written(lines in vec(line(), 0..5)) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run");
        let created =
            RunWriter::create(&dir, &sample::run(), "", &sample::environment(), Redactor::default());
        let mut writer = created.unwrap();
        for line in &lines {
            writer.append(line).unwrap();
        }
        let record = read_run(&dir).unwrap();
        let ended = matches!(lines.last(), Some(Line::End(_)));
        prop_assert_eq!(record.loss.is_none(), ended);
        prop_assert_eq!(record.lines, lines);
    }
}

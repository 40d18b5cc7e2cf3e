//! Why accelerators waited, in words: the cause, what shows it, and what to do about it.

use analysis::{Bound, Decoder, Diagnosis, LittlesLaw, LoopPair, Remedy, Symptom, WaitedFor};
use feed::{counted_noun, format_bps, format_count, format_duration_ns};

use super::share::{percent, utilization};
use super::{bound, flag};

/// `latency-bound: 4 times as much in flight would do`.
pub fn words(diagnosis: &Diagnosis) -> String {
    format!("{}: {}", bound::words(diagnosis.bound), advice(diagnosis))
}

/// What to do about it.
pub(crate) fn advice(diagnosis: &Diagnosis) -> String {
    let advice = remedy(&diagnosis.remedy);
    // Said, because whoever removes the largest cause alone will see less than its share come back.
    if diagnosis.bound == Bound::Mixed {
        format!("{advice}; one cause alone removed leaves the others")
    } else {
        advice
    }
}

fn remedy(remedy: &Remedy) -> String {
    let words = match remedy {
        Remedy::Checkpoints => {
            "asynchronous checkpoints, fewer of them, or storage that takes them faster would do"
        }
        Remedy::EvenBatches => "batches that come at even times would do: look at the tail of the latencies",
        Remedy::Client => "more processors, or fewer accelerators on this client",
        Remedy::Decoding => "faster decoding, or more readers or threads that decode",
        Remedy::Startup => "readers that persist over epochs, or longer epochs",
        Remedy::LongerJob => "a longer job, or longer epochs, would show what it does in the long run",
        Remedy::OfFlag(of) => flag::advice(of),
        Remedy::FewerRefusals => {
            "more prefixes, a higher limit, or larger objects; more in flight is refused more often"
        }
        Remedy::FewerFiles => "larger files or shards, each opened once for many samples",
        Remedy::FewerRequests => "larger files or shards, or more prefixes; more in flight would not help",
        Remedy::MoreBandwidth { with_prefetch: false } => {
            "more readers or a deeper prefetch would not help: more connections, faster storage or fewer bytes would"
        }
        Remedy::MoreBandwidth { with_prefetch: true } => {
            "a deeper prefetch alone would not do: more connections, faster storage or fewer bytes are needed too"
        }
        Remedy::MoreInFlight => "more in flight: more readers, or a deeper prefetch",
        Remedy::ALittleMore => "a little more in flight would do: more readers, or a deeper prefetch",
        Remedy::DeeperPrefetch => "a deeper prefetch would keep all readers busy",
        Remedy::LookElsewhere => {
            "as many reads are faster in a closed loop: look at what else uses the storage or this client"
        }
        Remedy::MoreButShort { depth, of_target } => {
            let share = percent(*of_target);
            return format!(
                "more in flight helps, but depth {depth} reaches {share} of what the job is to have"
            );
        }
        Remedy::Times { times, readers, depth } => {
            let deeper = match readers {
                // In the key that the job is set by: depth follows from readers where there are some.
                Some(readers) => format!("{} readers", format_count(*readers)),
                None => format!("queue_depth {}", format_count(*depth)),
            };
            return format!("{} times as much in flight would do ({deeper})", format_count(*times));
        }
    };
    words.to_owned()
}

/// Something that shows a cause, as a sentence without its point.
pub(crate) fn symptom(symptom: &Symptom) -> String {
    match symptom {
        Symptom::Checkpoints { of_stall, of_time } => {
            let (of_stall, of_time) = (percent(*of_stall), percent(*of_time));
            format!("{of_stall} of the stall is standing still for checkpoints ({of_time} of the time)")
        }
        Symptom::Barrier { of_stall, of_time } => {
            let (of_stall, of_time) = (percent(*of_stall), percent(*of_time));
            let what = "waiting for other accelerators at the barrier";
            format!("{of_stall} of the stall is {what} ({of_time} of the time)")
        }
        Symptom::Worst { worst_au, mean_au } => {
            let (worst, mean) = (utilization(*worst_au), utilization(*mean_au));
            format!("the worst accelerator reaches AU {worst}, the mean is {mean}")
        }
        Symptom::SlowFromMemory { null_au, of_stall } => {
            let (au, of_stall) = (utilization(*null_au), percent(*of_stall));
            format!("{FROM_MEMORY} reaches AU {au}: {of_stall} of the stall needs no storage")
        }
        Symptom::FastFromMemory { null_au } => {
            let au = utilization(*null_au);
            format!("{FROM_MEMORY} runs at {au}: the storage, not the loop, is what it waits for")
        }
        Symptom::Fills { first_batch_ns, of_stall } => fills(*first_batch_ns, *of_stall),
        Symptom::Mostly { part, of_waited, of_time } => {
            let (of_waited, of_time) = (percent(*of_waited), percent(*of_time));
            let part = waited_for(*part);
            format!("{of_waited} of what accelerators waited for is {part} ({of_time} of the time)")
        }
        Symptom::Several { parts } => several(parts),
        Symptom::StoragePart(of) => format!("the storage's part is {}", bound::words(*of)),
        Symptom::Flagged(of) => flag::words(of),
        Symptom::Decoding { work, cost_ns, by } => decoding(work, *cost_ns, *by),
        Symptom::Startup { ns } => {
            let startup = format_duration_ns(*ns);
            format!("readers take {startup} to start before each epoch, and fetch nothing meanwhile")
        }
        Symptom::Lag { p99_ns } => {
            format!("the client noticed ends of steps up to {} late (p99)", format_duration_ns(*p99_ns))
        }
        Symptom::CpuUsed { share } => format!("its threads used {} of their processors", percent(*share)),
        Symptom::Warm => {
            "its bytes came from this client's page cache (warm): no storage behind it was waited for"
                .to_owned()
        }
        Symptom::Refused { share, ops_per_s } => {
            let (share, rate) = (percent(*share), format_count(*ops_per_s));
            // By their names in the protocols, which an administrator finds in the server's log.
            let answers = "503 SlowDown, NFS3ERR_JUKEBOX";
            format!("{share} of attempts were told to come back later ({answers}), at {rate} reads/s")
        }
        Symptom::NoBytes { share, phases } => {
            let phases = phases.iter().map(|(phase, share)| format!("{phase} {}", percent(*share)));
            let phases = phases.collect::<Vec<_>>().join(", ");
            format!("{} of a file's time moves no bytes: {phases}", percent(*share))
        }
        Symptom::Loops(pair) => loops(*pair),
        Symptom::LargerReads { ops_per_s, cell, times } => {
            let rate = format_count(*ops_per_s);
            let moved = format!("{cell} moves {times:.1} times the bytes");
            format!("that is {rate} reads/s, while {moved}: requests are what is scarce")
        }
        Symptom::JobMoves { bps, of_most } => {
            format!("the job moves {}, {} of the most", format_bps(*bps), percent(*of_most))
        }
        Symptom::MostIsShort { of_target } => {
            format!("the most is {} of what the job is to have", percent(*of_target))
        }
        Symptom::InFlight(of) => in_flight(*of),
        Symptom::DeeperNotMeasured => {
            "whether more in flight helps was not measured in a closed loop".to_owned()
        }
    }
}

const FROM_MEMORY: &str = "with data from memory (null target) the same job";

fn fills(first_batch_ns: u64, of_stall: f64) -> String {
    format!(
        "the first batch came after {}: {} of the stall is first batches of epochs, so that waiting in the long run is the \
         smaller part",
        format_duration_ns(first_batch_ns),
        percent(of_stall)
    )
}

fn several(parts: &[(WaitedFor, f64)]) -> String {
    let parts = parts.iter().map(|(part, share)| format!("{} ({})", waited_for(*part), percent(*share)));
    let parts = parts.collect::<Vec<_>>().join(", ");
    format!("no cause is most of what accelerators waited for: {parts}")
}

fn waited_for(part: WaitedFor) -> &'static str {
    match part {
        WaitedFor::Storage => "storage",
        WaitedFor::Decoding => "decoding",
        WaitedFor::Client => "reads not yet issued",
        WaitedFor::Startup => "readers to start",
    }
}

fn decoding(work: &str, cost_ns: Option<u64>, by: Option<Decoder>) -> String {
    let how = match cost_ns {
        Some(ns) => format!("each sample takes {} to decode, as stated", format_duration_ns(ns)),
        None => format!("each sample is decoded ({work})"),
    };
    let who = match by {
        Some(Decoder::Threads(threads)) => format!(" by one of {}", counted_noun(threads.into(), "thread")),
        Some(Decoder::Reader) => " by the reader that has read it, before it reads on".to_owned(),
        None => String::new(),
    };
    format!("{how}{who}")
}

/// `a closed loop moves 1.21 GB/s at depth 256 and 1.19 GB/s at 64`.
fn loops(LoopPair { deeper_depth, deeper_bps, depth, bps }: LoopPair) -> String {
    let (deeper, other) = (format_bps(deeper_bps), format_bps(bps));
    format!("a closed loop moves {deeper} at depth {deeper_depth} and {other} at {depth}")
}

fn in_flight(of: LittlesLaw) -> String {
    format!(
        "reads take {} in the mean and {} of {} are in flight: {} reads/s; {} for AU {} take {} in flight",
        format_duration_ns(of.latency_ns as u64),
        format_count(of.in_flight),
        format_count(of.depth),
        format_count(of.ops_per_s),
        format_count(of.needed_ops_per_s),
        percent(of.target_au),
        format_count(of.needed.ceil())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bound: Bound, remedy: Remedy) -> String {
        words(&Diagnosis { bound, symptoms: Vec::new(), remedy })
    }

    #[test]
    fn a_cause_says_what_to_do_about_it() {
        let times = |readers| Remedy::Times { times: 4.0, readers, depth: 256.0 };
        let cases = [
            (
                said(Bound::Latency, times(Some(32.0))),
                "latency-bound: 4 times as much in flight would do (32 readers)",
            ),
            (
                said(Bound::Latency, times(None)),
                "latency-bound: 4 times as much in flight would do (queue_depth 256)",
            ),
            (
                said(Bound::Latency, Remedy::MoreButShort { depth: 256, of_target: 0.67 }),
                "latency-bound: more in flight helps, but depth 256 reaches 67 % of what the job is to have",
            ),
            (
                said(Bound::Bandwidth, Remedy::MoreBandwidth { with_prefetch: true }),
                "bandwidth-bound: a deeper prefetch alone would not do: more connections, faster storage or fewer bytes are \
                 needed too",
            ),
            (
                said(Bound::Mixed, Remedy::Client),
                "mixed: more processors, or fewer accelerators on this client; one cause alone removed leaves the others",
            ),
        ];
        for (words, expected) in cases {
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn what_shows_a_cause_is_said_with_its_figures() {
        let little = LittlesLaw {
            depth: 64.0,
            latency_ns: 28.5e6,
            in_flight: 64.0,
            ops_per_s: 2_250.0,
            target_au: 0.9,
            needed_ops_per_s: 9_000.0,
            needed: 256.5,
            reading: 1.0,
        };
        let decoding = |cost_ns, by| Symptom::Decoding { work: "jpeg".to_owned(), cost_ns, by };
        let cases = [
            (
                Symptom::Mostly { part: WaitedFor::Storage, of_waited: 1.0, of_time: 0.775 },
                "100 % of what accelerators waited for is storage (78 % of the time)",
            ),
            (
                Symptom::Several { parts: vec![(WaitedFor::Client, 0.55), (WaitedFor::Startup, 0.45)] },
                "no cause is most of what accelerators waited for: reads not yet issued (55 %), readers to start (45 %)",
            ),
            (
                Symptom::InFlight(little),
                "reads take 28.5 ms in the mean and 64 of 64 are in flight: 2,250 reads/s; 9,000 for AU 90 % take 257 in \
                 flight",
            ),
            (
                Symptom::Loops(LoopPair { deeper_depth: 256, deeper_bps: 880e6, depth: 64, bps: 225e6 }),
                "a closed loop moves 880 MB/s at depth 256 and 225 MB/s at 64",
            ),
            (
                Symptom::FastFromMemory { null_au: 0.9998 },
                "with data from memory (null target) the same job runs at 99.98 %: the storage, not the loop, is what it \
                 waits for",
            ),
            (
                Symptom::LargerReads { ops_per_s: 5_500.0, cell: "large".to_owned(), times: 4.0 },
                "that is 5,500 reads/s, while large moves 4.0 times the bytes: requests are what is scarce",
            ),
            (
                Symptom::NoBytes { share: 0.75, phases: vec![("open", 0.5), ("stat", 0.2), ("close", 0.05)] },
                "75 % of a file's time moves no bytes: open 50 %, stat 20 %, close 5.0 %",
            ),
            (
                decoding(Some(7_000_000), Some(Decoder::Reader)),
                "each sample takes 7 ms to decode, as stated by the reader that has read it, before it reads on",
            ),
            (decoding(None, Some(Decoder::Threads(4))), "each sample is decoded (jpeg) by one of 4 threads"),
        ];
        for (one, expected) in cases {
            assert_eq!(symptom(&one), expected);
        }
    }
}

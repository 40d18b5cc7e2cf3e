//! What bounds a storage that is reached by requests: latency, request rate, bandwidth, seeks.
//!
//! The functions are formulas of the field, named by their numbers in the project's collection; [`predict`] takes the
//! smallest of what they allow. Pure, in SI units, and without a measured value.

use crate::formula;

/// F09: seconds that `operations` take one after another.
pub fn serial_s(operations: f64, latency_s: f64) -> f64 {
    operations * latency_s
}

/// F10: seconds that `files` of `operations_per_file` each take with `in_flight` operations under way.
pub fn concurrent_s(files: f64, operations_per_file: f64, latency_s: f64, in_flight: f64) -> f64 {
    serial_s(files * operations_per_file, latency_s) / in_flight
}

/// Seconds of one read alone: to its first byte, and to its last at the rate of its connection.
pub fn read_s(latency_s: f64, read_bytes: f64, connection_bps: f64) -> f64 {
    latency_s + read_bytes / connection_bps
}

/// F11: reads per second of one stream that waits for each.
pub fn stream_ops_per_s(latency_s: f64, read_bytes: f64, connection_bps: f64) -> f64 {
    1.0 / read_s(latency_s, read_bytes, connection_bps)
}

/// F11: bytes per second of one stream that waits for each read.
pub fn stream_bps(latency_s: f64, read_bytes: f64, connection_bps: f64) -> f64 {
    read_bytes * stream_ops_per_s(latency_s, read_bytes, connection_bps)
}

/// F12, Little's law: requests in flight that carry `ops_per_s`.
pub fn requests_in_flight(ops_per_s: f64, read_s: f64) -> f64 {
    formula::in_flight(ops_per_s, read_s)
}

/// F13: bytes in flight that carry `bps`, which is also what the buffers of a client hold.
pub fn bytes_in_flight(bps: f64, read_s: f64) -> f64 {
    formula::in_flight(bps, read_s)
}

/// F14: streams of `stream_bps` that carry `required_bps`.
pub fn streams(required_bps: f64, stream_bps: f64) -> f64 {
    (required_bps / stream_bps).ceil()
}

/// F15: bytes per second that a limit on requests leaves, each prefix having one of its own.
pub fn request_limit_bps(requests_per_s: f64, prefixes: f64, read_bytes: f64) -> f64 {
    requests_per_s * prefixes * read_bytes
}

/// F15: prefixes that take `ops_per_s` requests.
pub fn prefixes(ops_per_s: f64, requests_per_s: f64) -> f64 {
    (ops_per_s / requests_per_s).ceil()
}

/// F16: bytes of a read below which the limit on requests binds, and from which the bandwidth does.
pub fn crossover_bytes(total_bps: f64, requests_per_s: f64) -> f64 {
    total_bps / requests_per_s
}

/// F17: share of a read's time in which bytes move.
pub fn transfer_efficiency(latency_s: f64, read_bytes: f64, connection_bps: f64) -> f64 {
    (read_bytes / connection_bps) / read_s(latency_s, read_bytes, connection_bps)
}

/// F17: bytes of a read that moves bytes for half of its time.
pub fn half_point_bytes(latency_s: f64, connection_bps: f64) -> f64 {
    latency_s * connection_bps
}

/// F21: bytes per second of a head that moves before each read.
pub fn seek_bps(read_bytes: f64, seek_s: f64, sequential_bps: f64) -> f64 {
    read_bytes / (seek_s + read_bytes / sequential_bps)
}

/// What a limit gives above its rate until its credits are spent: operations or bytes, as the limit counts them.
///
/// Credits come back at the rate of the limit, as far as there is room for them, so that a volume that bursts spends what it moves
/// less that rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Units per second while credits last.
    pub per_s: f64,
    /// Units that were saved up, at most; all of them at the beginning.
    pub credits: f64,
}

impl Burst {
    /// Seconds for which full credits last under full load, above a limit of `base_per_s`: AWS's burst duration.
    pub fn lasts_s(self, base_per_s: f64) -> f64 {
        self.credits / (self.per_s - base_per_s)
    }

    /// Units that are given in the first `time_s` seconds of full load, from full credits and above a limit of `base_per_s`.
    pub fn given(self, base_per_s: f64, time_s: f64) -> f64 {
        (self.per_s * time_s).min(self.credits + base_per_s * time_s)
    }
}

/// One way of reading, as plain figures. What is not known bounds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// Seconds from a request to the first byte of its data.
    pub first_byte_s: Option<f64>,
    /// Seconds from a request for names or attributes to its reply.
    pub metadata_s: Option<f64>,
    /// Bytes per second of one connection, at most.
    pub connection_bps: Option<f64>,
    /// Bytes per second of all connections together, at most; of a head that moves, its rate in sequence.
    pub total_bps: Option<f64>,
    /// Requests per second that one prefix takes, at most.
    pub requests_per_s: Option<f64>,
    /// What `total_bps` bursts to, in bytes.
    pub byte_burst: Option<Burst>,
    /// What `requests_per_s` bursts to, in requests.
    pub request_burst: Option<Burst>,
    /// Prefixes over which the data is spread; 0 counts as 1.
    pub prefixes: u32,
    /// Seconds in which a head moves, reads being served one at a time.
    pub seek_s: Option<f64>,
}

/// What is done over and over.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Operation {
    /// Bytes that it moves.
    pub bytes: f64,
    /// Requests for data, all under way at once.
    pub reads: f64,
    /// Requests for names or attributes, before those for data and one after another.
    pub lookups: f64,
    /// Moves of the head, where there is one.
    pub moves: f64,
}

/// What is under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Operations in the whole client.
    pub operations: u32,
    /// Connections that they share; 0 where there are none to speak of.
    pub connections: u32,
    /// Whether a connection has one request at a time, so that no more operations than connections are under way.
    pub one_at_a_time: bool,
}

impl InFlight {
    /// Operations, each as if on a connection of its own.
    pub fn of(operations: u32) -> Self {
        Self { operations, connections: 0, one_at_a_time: false }
    }

    fn effective(self) -> f64 {
        let waits = self.one_at_a_time && self.connections > 0;
        f64::from(if waits { self.operations.min(self.connections) } else { self.operations })
    }
}

/// What keeps a rate from being higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Operations wait for their replies: more of them at once would be faster.
    Latency,
    /// The limit on requests.
    RequestRate,
    /// The rate of the connections: more of them would be faster.
    Connections,
    /// The rate of all connections together.
    Bandwidth,
    /// The moves of a head.
    Seeks,
}

impl Bound {
    /// `latency-bound`, …
    pub fn words(self) -> &'static str {
        match self {
            Self::Latency => "latency-bound",
            Self::RequestRate => "request-rate-bound",
            Self::Connections => "connection-bound",
            Self::Bandwidth => "bandwidth-bound",
            Self::Seeks => "seek-bound",
        }
    }
}

/// A rate that is not exceeded, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second; 0 where no bytes are moved.
    pub bps: f64,
    /// What it is bound by.
    pub bound: Bound,
}

impl Settings {
    /// The same storage while its credits last, if it has any.
    pub fn bursting(&self) -> Option<Self> {
        let burst = |burst: Option<Burst>| burst.map(|burst| burst.per_s);
        (self.byte_burst.is_some() || self.request_burst.is_some()).then(|| Self {
            total_bps: burst(self.byte_burst).or(self.total_bps),
            requests_per_s: burst(self.request_burst).or(self.requests_per_s),
            byte_burst: None,
            request_burst: None,
            ..*self
        })
    }

    /// Bytes per second at which one read moves: the lower of what its connection and all of them may.
    pub fn transfer_bps(&self) -> Option<f64> {
        // Without credits reads wait for the next of them, and move no slower when it is their turn.
        let all_bps = self.byte_burst.map(|burst| burst.per_s).or(self.total_bps);
        [self.connection_bps, all_bps].into_iter().flatten().reduce(f64::min)
    }

    /// Seconds of one operation alone: what Little's law multiplies. Zero where nothing is known of it.
    pub fn operation_s(&self, operation: &Operation) -> f64 {
        let lookups = operation.lookups * self.metadata_s.unwrap_or(0.0);
        // Requests for data are all under way at once, so that their latency counts once however many parts
        // an object has.
        let first_byte = if operation.reads > 0.0 { self.first_byte_s.unwrap_or(0.0) } else { 0.0 };
        lookups + first_byte + self.held_s(operation)
    }

    /// Seconds in which an operation holds what serves one at a time: a head that moves, and the bytes below it.
    fn held_s(&self, operation: &Operation) -> f64 {
        let transfer = self.transfer_bps().map_or(0.0, |bps| operation.bytes / bps);
        operation.moves * self.seek_s.unwrap_or(0.0) + transfer
    }

    /// Operations per second that the limits allow, however many operations are under way.
    pub fn limits(&self, operation: &Operation, in_flight: InFlight) -> impl Iterator<Item = (f64, Bound)> {
        // A move of no length would be a limit of infinitely many operations, and be named as the bound
        // where nothing else is known.
        let moves = self.seek_s.is_some_and(|seek_s| seek_s * operation.moves > 0.0);
        let by_bytes = |bps: f64| (operation.bytes > 0.0).then(|| bps / operation.bytes);
        // Services count both against one limit: S3 documents 5,500 GET or HEAD requests a second for each
        // prefix.
        let requests = operation.reads + operation.lookups;
        let connections = f64::from(in_flight.connections);
        [
            moves.then(|| (1.0 / self.held_s(operation), Bound::Seeks)),
            self.requests_per_s
                .filter(|_| requests > 0.0)
                // A bucket without prefixes is one prefix.
                .map(|per_s| (per_s * f64::from(self.prefixes.max(1)) / requests, Bound::RequestRate)),
            self.total_bps.and_then(by_bytes).map(|per_s| (per_s, Bound::Bandwidth)),
            self.connection_bps
                // A path has no connections of feedline's own, and a limit of zero connections would be no
                // rate at all.
                .filter(|_| in_flight.connections > 0)
                .and_then(|bps| by_bytes(bps * connections))
                .map(|per_s| (per_s, Bound::Connections)),
        ]
        .into_iter()
        .flatten()
    }
}

/// The highest rate that latency, request rate, connections, bandwidth and seeks leave once no credits are left; `None` where the settings say
/// nothing of this operation.
pub fn predict(settings: &Settings, operation: &Operation, in_flight: InFlight) -> Option<Prediction> {
    let alone_s = settings.operation_s(operation);
    let by_latency = (alone_s > 0.0).then(|| (in_flight.effective() / alone_s, Bound::Latency));
    // Of equals the first counts: what serves one at a time is named before the wait for it.
    let (ops_per_s, bound) =
        settings.limits(operation, in_flight).chain(by_latency).min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Prediction { ops_per_s, bps: ops_per_s * operation.bytes, bound })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() <= 2e-3, "{value} is not {expected}");
    }

    /// The object store of the worked examples.
    fn store() -> Settings {
        Settings {
            first_byte_s: Some(0.030),
            connection_bps: Some(90e6),
            requests_per_s: Some(5_500.0),
            prefixes: 1,
            ..Settings::default()
        }
    }

    fn read(bytes: f64) -> Operation {
        Operation { bytes, reads: 1.0, ..Operation::default() }
    }

    fn at(settings: &Settings, operation: &Operation, operations: u32) -> (f64, Bound) {
        let prediction = predict(settings, operation, InFlight::of(operations)).unwrap();
        assert!((prediction.bps - prediction.ops_per_s * operation.bytes).abs() < 1.0);
        (prediction.ops_per_s, prediction.bound)
    }

    #[test]
    fn f09_serial_latency() {
        assert_close(serial_s(1_000.0, 0.030), 30.0);
        assert_close(serial_s(1e6, 1e-3), 1_000.0);
        assert_close(serial_s(10_000.0, 1e-3), 10.0);
        // Claim C03 with the transfer of 130 kB; claim C18 in hours.
        assert_close(serial_s(1_000.0, read_s(0.030, 130e3, 90e6)), 31.4);
        assert_close(serial_s(14e6, 1e-3) / 3_600.0, 3.889);
    }

    #[test]
    fn f10_latency_with_concurrency() {
        assert_close(concurrent_s(1e6, 3.0, 1e-3, 8.0), 375.0);
        assert_close(concurrent_s(1e6, 1.0, 1e-3, 64.0), 15.625);
        assert_close(concurrent_s(1_000.0, 1.0, 0.030, 8.0), 3.75);
        assert_close(concurrent_s(1_000.0, 1.0, 0.030, 64.0), 0.46875);
    }

    #[test]
    fn f11_rate_of_a_stream() {
        assert_close(stream_ops_per_s(0.030, 130e3, 90e6), 31.8);
        assert_close(stream_bps(0.030, 130e3, 90e6), 4.134e6);
        assert_close(8.0 * stream_ops_per_s(0.030, 130e3, 90e6), 254.4);
        assert_close(8.0 * stream_bps(0.030, 130e3, 90e6), 33.08e6);
    }

    #[test]
    fn f12_requests_in_flight() {
        assert_close(requests_in_flight(10_240.0, read_s(0.030, 130e3, 90e6)), 321.99);
        assert_close(requests_in_flight(5_500.0, 0.030), 165.0);
    }

    #[test]
    fn f13_bytes_in_flight() {
        assert_close(bytes_in_flight(1.3312e9, 0.030), 39.94e6);
        assert_close(bytes_in_flight(5e9, 0.100), 500e6);
        let part_bps = stream_bps(0.030, 8.0 * MIB, 90e6);
        assert_close(part_bps, 68.1e6);
        assert_close(streams(2e9, part_bps), 30.0);
        assert_close(streams(2e9, part_bps) * 8.0 * MIB, 251.7e6);
    }

    #[test]
    fn f14_streams() {
        assert_close(streams(1.3312e9, 90e6), 15.0);
        assert_close(streams(2e9, 90e6), 23.0);
        assert_close(streams(5e9, 90e6), 56.0);
    }

    #[test]
    fn f15_limit_on_requests() {
        assert_close(request_limit_bps(5_500.0, 1.0, 130e3), 715e6);
        assert_close(request_limit_bps(5_500.0, 1.0, 150e3), 825e6);
        assert_close(request_limit_bps(5_500.0, 2.0, 150e3), 1.65e9);
        assert_close(prefixes(10_240.0, 5_500.0), 2.0);
    }

    #[test]
    fn f16_crossover() {
        assert_close(crossover_bytes(3.125e9, 5_500.0), 568.2e3);
        assert_close(crossover_bytes(12.5e9, 5_500.0), 2.273e6);
    }

    #[test]
    fn f17_transfer_efficiency() {
        assert_close(half_point_bytes(0.030, 90e6), 2.7e6);
        for (bytes, share) in [(130e3, 0.0459), (8e6, 0.7477), (100e6, 0.9737)] {
            assert_close(transfer_efficiency(0.030, bytes, 90e6), share);
        }
        assert_close(transfer_efficiency(0.030, half_point_bytes(0.030, 90e6), 90e6), 0.5);
    }

    #[test]
    fn f21_seeks() {
        assert_close(seek_bps(100e3, 0.005, f64::INFINITY), 20e6);
        assert_close(seek_bps(100e3, 0.010, f64::INFINITY), 10e6);
        assert_close(seek_bps(130e3, 0.0075, 200e6), 15.95e6);
        // Claim C31, of 4 KiB.
        assert_close(seek_bps(4_096.0, 0.005, 200e6), 0.816e6);
    }

    #[test]
    fn few_reads_wait_and_many_meet_the_limit_on_requests() {
        // Claim C05: 8 blocking readers get less than a twentieth of what the service takes.
        assert_eq!(at(&store(), &read(130e3), 8).1, Bound::Latency);
        assert_close(at(&store(), &read(130e3), 8).0, 254.4);
        assert_eq!(at(&store(), &read(130e3), 512), (5_500.0, Bound::RequestRate));
        let two = Settings { prefixes: 2, ..store() };
        assert_eq!(at(&two, &read(130e3), 512), (11_000.0, Bound::RequestRate));
    }

    #[test]
    fn large_reads_meet_the_bandwidth_before_the_limit_on_requests() {
        let nic = Settings { total_bps: Some(3.125e9), ..store() };
        assert_eq!(at(&nic, &read(500e3), 1_000).1, Bound::RequestRate);
        let large = predict(&nic, &read(8e6), InFlight::of(1_000)).unwrap();
        assert_eq!((large.bps, large.bound), (3.125e9, Bound::Bandwidth));
    }

    #[test]
    fn names_take_the_latency_of_names_and_move_no_bytes() {
        let server = Settings { metadata_s: Some(1e-3), ..store() };
        let stat = Operation { lookups: 1.0, ..Operation::default() };
        let four = Operation { lookups: 4.0, ..Operation::default() };
        assert_eq!(at(&server, &stat, 1).1, Bound::Latency);
        assert_close(at(&server, &stat, 4).0, 4_000.0);
        assert_close(at(&server, &four, 4).0, 1_000.0);
        assert_eq!(at(&server, &four, 64), (1_375.0, Bound::RequestRate));
        assert!(predict(&server, &stat, InFlight::of(1)).unwrap().bps.abs() < f64::EPSILON);
    }

    #[test]
    fn a_file_costs_its_lookup_and_its_read() {
        let server = Settings { metadata_s: Some(1e-3), first_byte_s: Some(2e-3), ..Settings::default() };
        let file = Operation { bytes: 1e6, reads: 4.0, lookups: 1.0, moves: 0.0 };
        assert_close(at(&server, &file, 3).0, 1_000.0);
    }

    #[test]
    fn a_head_serves_one_at_a_time_however_many_wait() {
        let disk = Settings { seek_s: Some(0.0075), total_bps: Some(200e6), ..Settings::default() };
        let random = Operation { moves: 1.0, ..read(130e3) };
        for operations in [1, 2, 64] {
            let (ops_per_s, bound) = at(&disk, &random, operations);
            assert_close(ops_per_s * 130e3, seek_bps(130e3, 0.0075, 200e6));
            assert_eq!(bound, Bound::Seeks);
        }
        assert_eq!(at(&disk, &read(1e6), 1), (200.0, Bound::Bandwidth));
    }

    /// Amazon EBS, "General Purpose SSD volumes": baseline, and how long 3,000 IOPS last from 5.4 million I/O credits.
    #[test]
    fn a_burst_lasts_as_aws_says_of_gp2() {
        let gp2 = Burst { per_s: 3_000.0, credits: 5.4e6 };
        for (base_per_s, seconds) in
            [(100.0, 1_862.0), (300.0, 2_000.0), (750.0, 2_400.0), (1_002.0, 2_703.0), (1_500.0, 3_600.0)]
        {
            assert!(
                (gp2.lasts_s(base_per_s) - seconds).abs() < 0.5,
                "{base_per_s}: {}",
                gp2.lasts_s(base_per_s)
            );
        }
        assert!((gp2.given(300.0, 1_000.0) - 3e6).abs() < 1e-6);
        assert!((gp2.given(300.0, 2_000.0) - 6e6).abs() < 1e-6, "both agree where credits end");
        assert!((gp2.given(300.0, 3_000.0) - 6.3e6).abs() < 1e-6);
    }

    #[test]
    fn what_bursts_is_bound_by_its_rate_once_its_credits_are_spent() {
        let volume = Settings {
            first_byte_s: Some(1e-3),
            requests_per_s: Some(300.0),
            request_burst: Some(Burst { per_s: 3_000.0, credits: 5.4e6 }),
            total_bps: Some(40e6),
            byte_burst: Some(Burst { per_s: 250e6, credits: 1e12 }),
            ..Settings::default()
        };
        let bursting = volume.bursting().unwrap();
        assert_eq!(bursting.bursting(), None);
        assert_eq!(at(&volume, &read(4_096.0), 64), (300.0, Bound::RequestRate));
        assert_eq!(at(&bursting, &read(4_096.0), 64), (3_000.0, Bound::RequestRate));
        assert_eq!(at(&volume, &read(1e6), 64), (40.0, Bound::Bandwidth));
        assert_eq!(at(&bursting, &read(1e6), 64), (250.0, Bound::Bandwidth));
        // Alone a read of 1 MB takes 5 ms, and its credits come back in 25 ms.
        assert_close(volume.operation_s(&read(1e6)), 5e-3);
        assert_eq!(at(&volume, &read(1e6), 1), (40.0, Bound::Bandwidth));
        assert_eq!(Settings::default().bursting(), None);
    }

    #[test]
    fn connections_carry_no_more_than_their_rate() {
        let on = |connections, one_at_a_time| InFlight { operations: 64, connections, one_at_a_time };
        let reached = |in_flight| predict(&store(), &read(9e6), in_flight).unwrap();
        let shared = reached(on(4, false));
        assert_eq!((shared.ops_per_s, shared.bound), (40.0, Bound::Connections));
        let waiting = reached(on(4, true));
        assert_eq!(waiting.bound, Bound::Latency);
        let said = [shared.bound, waiting.bound].map(Bound::words);
        assert_eq!(said, ["connection-bound", "latency-bound"]);
        assert_close(waiting.ops_per_s, 4.0 / 0.130);
        assert_close(reached(on(64, true)).ops_per_s, 64.0 / 0.130);
    }

    #[test]
    fn what_is_not_known_predicts_nothing() {
        assert_eq!(predict(&Settings::default(), &read(1e6), InFlight::of(8)), None);
        let stat = Operation { lookups: 1.0, ..Operation::default() };
        let latency = Settings { first_byte_s: Some(0.030), ..Settings::default() };
        assert_eq!(predict(&latency, &stat, InFlight::of(8)), None);
    }
}

//! A server that feedline starts by itself, and how it is slowed down and made to fail.

use feed::bounds::Burst;

/// File system number (`fsid`, RFC 1813 section 2.5) of every export that feedline serves: "feedline" in ASCII. A store
/// that finds it knows an emulated server however the target came to name it, so that it is never judged as storage.
// An address alone would not tell: whoever starts the server by hand and names its port would have a
// verdict on it.
pub const EMULATOR_FSID: u64 = 0x6665_6564_6c69_6e65;

/// A declared server. Everything that is not asked for is left as fast as it goes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Emulation {
    /// Name of the profile that the other settings started from.
    pub profile: Option<String>,
    /// Seed of every draw.
    pub seed: u64,
    /// From a request to the first byte of its data.
    pub first_byte: Option<Delay>,
    /// From a request for names or attributes to its reply.
    pub metadata: Option<Delay>,
    /// Requests a second that one prefix (S3) or the server (NFS) takes; those beyond are refused at once, with 503
    /// `SlowDown` or `NFS3ERR_JUKEBOX`.
    pub requests_per_s: Option<f64>,
    /// Bytes a second that one connection gets, at most.
    pub connection_bps: Option<f64>,
    /// Bytes a second that all connections get together, at most.
    pub total_bps: Option<f64>,
    /// What `requests_per_s` bursts to, in requests; of a path alone.
    pub request_burst: Option<Burst>,
    /// What `total_bps` bursts to, in bytes; of a path alone.
    pub byte_burst: Option<Burst>,
    /// A head that moves: time of a move, before each read that does not follow the one before it. Reads are then
    /// served one at a time.
    pub seek_ns: Option<u64>,
    /// How often what goes wrong.
    pub faults: Faults,
}

impl Emulation {
    /// Settings that were asked for, as name and value with its unit, in the order of the scenario's keys.
    // Plain figures and not the profile's name alone, since a profile's figures may change with a version.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let Faults { reset, server_error, stall, truncated, slow_down, stale, corrupted } = self.faults;
        let share = |share: f64| (share > 0.0).then(|| format!("{} % of requests", share * 100.0));
        let requests = |burst: Burst| {
            let [per_s, credits] = [burst.per_s, burst.credits].map(feed::units::format_count);
            format!("to {per_s} until {credits} credits are spent")
        };
        let bytes = |burst: Burst| {
            let credits = feed::format_bytes(burst.credits.round() as u64);
            format!("to {} until {credits} of credits are spent", feed::format_bps(burst.per_s))
        };
        [
            ("first_byte", self.first_byte.map(Delay::words)),
            ("metadata", self.metadata.map(Delay::words)),
            ("requests_per_second", self.requests_per_s.map(feed::units::format_count)),
            ("request_burst", self.request_burst.map(requests)),
            ("connection_rate", self.connection_bps.map(feed::format_bps)),
            ("total_rate", self.total_bps.map(feed::format_bps)),
            ("rate_burst", self.byte_burst.map(bytes)),
            ("seek", self.seek_ns.map(feed::format_duration_ns)),
            ("reset", share(reset)),
            ("server_error", share(server_error)),
            ("stall", share(stall)),
            ("truncated", share(truncated)),
            ("slow_down", share(slow_down)),
            ("stale", share(stale)),
            ("corrupted", share(corrupted)),
            ("seed", Some(self.seed.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

/// How long something takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// Always as long.
    Constant {
        /// How long.
        ns: u64,
    },
    /// Any length between two, equally likely.
    Uniform {
        /// The shortest.
        from_ns: u64,
        /// The longest.
        to_ns: u64,
    },
    /// Lognormal, by two of its percentiles: latencies of services are skewed like this.
    // By percentiles and not by mean and deviation: those are what services publish and what a user has
    // measured.
    LogNormal {
        /// Median.
        p50_ns: u64,
        /// 99th percentile, no less than the median.
        p99_ns: u64,
    },
}

impl Delay {
    fn words(self) -> String {
        let words = feed::format_duration_ns;
        match self {
            Self::Constant { ns } => words(ns),
            Self::Uniform { from_ns, to_ns } => format!("{} to {}, evenly", words(from_ns), words(to_ns)),
            Self::LogNormal { p50_ns, p99_ns } => {
                format!("lognormal, median {}, 99th percentile {}", words(p50_ns), words(p99_ns))
            }
        }
    }
}

/// Shares of requests, 0 to 1, that end badly. They are drawn in this order, and at most one befalls a request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
// At most one for each request, so that shares add up to what is seen and a prediction stays arithmetic.
pub struct Faults {
    /// The connection is reset in the middle of the data.
    pub reset: f64,
    /// 500 `InternalError`, or `NFS3ERR_SERVERFAULT`.
    pub server_error: f64,
    /// No answer for [`Faults::STALL_NS`].
    pub stall: f64,
    /// The connection is closed in the middle of the body (S3), or a READ is answered short: with half of its bytes, and
    /// not as the end (NFS).
    pub truncated: f64,
    /// 503 `SlowDown`, or `NFS3ERR_JUKEBOX`.
    pub slow_down: f64,
    /// 404 `NoSuchKey`, or `NFS3ERR_STALE`.
    pub stale: f64,
    /// Every bit of the data is the other one, and nothing says so.
    pub corrupted: f64,
}

impl Faults {
    /// How long a stalled request waits: longer than any client's patience by default.
    // The NFS client of Linux waits 60 s for a call (`timeo=600`), boto3 as long for a read.
    pub const STALL_NS: u64 = 120_000_000_000;
}

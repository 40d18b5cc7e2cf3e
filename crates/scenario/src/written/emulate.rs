//! `emulate` as written: a server that feedline starts, and what it is to be like.

use plan::{Delay, Emulation, Faults};

use super::burst::{self, RateBurst, RequestBurst};
use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Field, Plain, Written, wrong_type};
use crate::table::{Keys as _, Table, table};
use crate::value::{Duration, Number, Rate, Seed, Share, schema};

table! {
    /// A server on this machine in place of the one at the address, or a path that is slowed down. Everything that is not asked
    /// for is left as fast as it goes.
    pub(crate) struct Emulate {
        /// What the other keys start from: s3-like (AWS's own figures), nfs-1gbe-like (a link of 1 Gb/s), hdd-like (one
        /// rotating disk), or any storage behind a link: wifi-like, same-region-like, cross-region-like. Default: none, as fast as
        /// it goes.
        profile: Profile,
        /// From a request to the first byte of its data: a duration, or a table of two.
        first_byte: Wait,
        /// From a request for names or attributes to its reply: a duration, or a table of two.
        metadata: Wait,
        /// Requests a second that one prefix (S3) or the server (NFS) takes; those beyond are refused at once. Operations a second
        /// that a path takes; those beyond wait.
        requests_per_second: Number,
        /// What a path gives above `requests_per_second` until its credits are spent.
        request_burst: RequestBurst,
        /// What one connection gets, at most (nfs://, s3://).
        connection_rate: Rate,
        /// What all connections, or all operations on a path, get together, at most.
        total_rate: Rate,
        /// What a path gives above `total_rate` until its credits are spent.
        rate_burst: RateBurst,
        /// A head that moves: time of a move, before each read that does not follow the one before it. Reads are then
        /// served one at a time.
        seek: Duration,
        /// Shares of requests that end badly (nfs://, s3://). Default: none.
        faults: FaultsTable,
        /// Seed of every draw. Default: 0.
        seed: Seed,
    }
}

impl Table for Emulate {
    const EXAMPLE: &'static str = "{ profile = \"s3-like\" }";

    fn check(&self, problems: &mut Problems) {
        // What was wrong has been reported, and says nothing of what was meant.
        let (Some(base), false) = (self.base(), self.is_wrong()) else { return };
        let named = |key: &str| format!("{}.{key}", self.name.text);
        let requests = self.request_burst.given().and_then(|entry| entry.value.resolved());
        let requests_per_s = self.requests_per_second.optional().flatten().or(base.requests_per_s);
        let request_burst = (named("request_burst"), self.request_burst.key(), requests);
        burst::check(request_burst, ("requests_per_second", requests_per_s), problems);
        let bytes = self.rate_burst.given().and_then(|entry| entry.value.resolved());
        let total_bps = self.total_rate.optional().flatten().or(base.total_bps);
        burst::check(
            (named("rate_burst"), self.rate_burst.key(), bytes),
            ("total_rate", total_bps),
            problems,
        );
    }
}

impl Emulate {
    /// What its profile says; `None` where that is none.
    fn base(&self) -> Option<Emulation> {
        Some(self.profile.entry()?.and_then(|profile| plan::profile(profile.value.0)).unwrap_or_default())
    }

    /// In plain types, what is written over what the profile says; `None` when something in it was wrong.
    pub(crate) fn resolved(&self) -> Option<Emulation> {
        let base = self.base()?;
        Some(Emulation {
            profile: base.profile,
            // Each key over the profile's own figure, so that one of them can be changed and the rest stays
            // that of the profile.
            seed: self.seed.value_or(base.seed)?,
            first_byte: self.first_byte.optional()?.or(base.first_byte),
            metadata: self.metadata.optional()?.or(base.metadata),
            requests_per_s: self.requests_per_second.optional()?.or(base.requests_per_s),
            connection_bps: self.connection_rate.optional()?.or(base.connection_bps),
            total_bps: self.total_rate.optional()?.or(base.total_bps),
            request_burst: self.request_burst.resolved(RequestBurst::resolved)?.or(base.request_burst),
            byte_burst: self.rate_burst.resolved(RateBurst::resolved)?.or(base.byte_burst),
            seek_ns: self.seek.optional()?.or(base.seek_ns),
            faults: self.faults.resolved(FaultsTable::resolved)?.unwrap_or(base.faults),
        })
    }
}

/// Name of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Profile(&'static str);

impl Profile {
    fn names() -> Vec<&'static str> {
        plan::profiles().iter().map(|profile| profile.name).collect()
    }
}

impl Written for Profile {
    fn expected() -> String {
        format!("one of \"{}\"", Self::names().join("\", \""))
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let found = Self::names().into_iter().find(|name| name == text);
        if found.is_none() {
            let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
            problems.push(problem.at(node.span, "no profile has this name"));
        }
        found.map(Self)
    }
}

schema!(Profile, "emulation_profile", { "enum": Profile::names() });

/// How long a reply takes: always as long, any length between two, or skewed as a service's are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wait(pub(crate) Delay);

impl Plain<Delay> for Wait {
    fn plain(&self) -> Delay {
        self.0
    }
}

// A duration where it is constant: most emulated servers are, and a table for it would be noise.
impl Written for Wait {
    fn expected() -> String {
        format!("a duration such as \"20ms\", {}", Between::EXAMPLE)
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::String(_) => {
                Duration::read(node, path, problems).map(|Duration(ns)| Self(Delay::Constant { ns }))
            }
            Value::Table(_) => Between::read(node, path, problems)?.delay().map(Self),
            _ => {
                problems.push(wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

schema!(Wait, "wait", Duration | Between);

table! {
    /// A spread of lengths, by its ends or by two of its percentiles.
    #[schemars(extend("oneOf" = [{ "required": ["from", "to"] }, { "required": ["p50", "p99"] }]))]
    pub(crate) struct Between {
        /// The shortest; with `to`, any length between the two is equally likely.
        from: Duration,
        /// The longest.
        to: Duration,
        /// Median; with `p99`, the lengths are lognormal.
        p50: Duration,
        /// 99th percentile, no less than the median.
        p99: Duration,
    }
}

impl Table for Between {
    const EXAMPLE: &'static str = "{ from = \"10ms\", to = \"30ms\" } or { p50 = \"20ms\", p99 = \"90ms\" }";

    fn check(&self, problems: &mut Problems) {
        let path = &self.name.text;
        let (message, wrong) = match self.ends() {
            _ if self.is_wrong() => return,
            None => {
                (format!("`{path}` takes {}", Wait::expected()), "takes `from` and `to`, or `p50` and `p99`")
            }
            // Equal ends are a constant, which is harmless; ends in the wrong order are a slip of one of
            // both.
            Some((low, high)) if low > high => {
                (format!("`{path}` ends before it begins"), "write the smaller one first")
            }
            Some(_) => return,
        };
        problems.push(Problem::new(message).at(self.name.span, wrong));
    }
}

impl Between {
    /// The shorter and the longer length, where two that belong together are written.
    fn ends(&self) -> Option<(u64, u64)> {
        let ns = |field: &Field<Duration>| field.given().map(|entry| entry.value.0);
        match [ns(&self.from), ns(&self.to), ns(&self.p50), ns(&self.p99)] {
            [Some(low), Some(high), None, None] | [None, None, Some(low), Some(high)] => Some((low, high)),
            _ => None,
        }
    }

    fn delay(&self) -> Option<Delay> {
        let (low, high) = self.ends()?;
        Some(match self.from {
            Field::Given(_) => Delay::Uniform { from_ns: low, to_ns: high },
            _ => Delay::LogNormal { p50_ns: low, p99_ns: high },
        })
    }
}

table! {
    /// Shares of requests, 0 to 1, that end badly; at most one befalls a request.
    pub(crate) struct FaultsTable {
        /// The connection is reset in the middle of the data.
        reset: Share,
        /// 500 InternalError, or NFS3ERR_SERVERFAULT.
        server_error: Share,
        /// No answer for two minutes.
        stall: Share,
        /// The body ends before its length (S3), or a read answers fewer bytes than it says (NFS).
        truncated: Share,
        /// 503 SlowDown, or NFS3ERR_JUKEBOX.
        slow_down: Share,
        /// 404 NoSuchKey, or NFS3ERR_STALE.
        stale: Share,
        /// Every bit of the data is the other one, and nothing says so.
        corrupted: Share,
    }
}

impl Table for FaultsTable {
    const EXAMPLE: &'static str = "{ reset = 0.01, slow_down = 0.02 }";

    fn check(&self, problems: &mut Problems) {
        let Self { reset, server_error, stall, truncated, slow_down, stale, corrupted, .. } = self;
        let shares = [reset, server_error, stall, truncated, slow_down, stale, corrupted];
        let total: f64 = shares.iter().filter_map(|share| Some(share.given()?.value.0)).sum();
        if total > 1.0 {
            let problem = Problem::new(format!("the shares of `{}` come to more than 1", self.name.text));
            problems.push(problem.at(self.name.span, "one fault befalls a request, at most"));
        }
    }
}

impl FaultsTable {
    fn resolved(&self) -> Option<Faults> {
        Some(Faults {
            reset: self.reset.value_or(0.0)?,
            server_error: self.server_error.value_or(0.0)?,
            stall: self.stall.value_or(0.0)?,
            truncated: self.truncated.value_or(0.0)?,
            slow_down: self.slow_down.value_or(0.0)?,
            stale: self.stale.value_or(0.0)?,
            corrupted: self.corrupted.value_or(0.0)?,
        })
    }
}

//! Burst credits of `emulate` as written: what a path gives until they are spent.

use feed::bounds::Burst;

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::Key;
use crate::table::{Table, missing, table};
use crate::value::{Number, Rate, Size};

table! {
    /// Operations that a path gives above `requests_per_second` until its credits are spent. One operation spends one credit.
    #[schemars(extend("required" = ["per_second", "credits"]))]
    pub(crate) struct RequestBurst {
        /// Operations a second while credits last, more than `requests_per_second`.
        per_second: Number,
        /// Operations that are saved up, at most; all of them at the beginning. They come back at `requests_per_second`.
        credits: Number,
    }
}

impl Table for RequestBurst {
    const EXAMPLE: &'static str = "{ per_second = 3000, credits = 5.4e6 }";

    fn check(&self, problems: &mut Problems) {
        both(
            &self.name,
            Self::EXAMPLE,
            [("per_second", self.per_second.key()), ("credits", self.credits.key())],
            problems,
        );
    }
}

impl RequestBurst {
    pub(crate) fn resolved(&self) -> Option<Burst> {
        Some(Burst { per_s: self.per_second.given()?.value.0, credits: self.credits.given()?.value.0 })
    }
}

table! {
    /// Bytes that a path gives above `total_rate` until its credits are spent. One byte spends one credit.
    #[schemars(extend("required" = ["rate", "credits"]))]
    pub(crate) struct RateBurst {
        /// Bytes a second while credits last, more than `total_rate`.
        rate: Rate,
        /// Bytes that are saved up, at most; all of them at the beginning. They come back at `total_rate`.
        credits: Size,
    }
}

impl Table for RateBurst {
    const EXAMPLE: &'static str = "{ rate = \"250 MB/s\", credits = \"1 TiB\" }";

    fn check(&self, problems: &mut Problems) {
        both(
            &self.name,
            Self::EXAMPLE,
            [("rate", self.rate.key()), ("credits", self.credits.key())],
            problems,
        );
    }
}

impl RateBurst {
    pub(crate) fn resolved(&self) -> Option<Burst> {
        Some(Burst { per_s: self.rate.given()?.value.0, credits: self.credits.given()?.value.0 as f64 })
    }
}

/// A burst without an end, or without a height, is none.
fn both(table: &Key, example: &str, keys: [(&str, Option<Span>); 2], problems: &mut Problems) {
    for (key, _) in keys.into_iter().filter(|(_, at)| at.is_none()) {
        let written = table.text.rsplit('.').next().unwrap_or_default();
        problems.push(missing(table, key, "", "is half a burst", &format!("{written} = {example}")));
    }
}

/// Reports the burst written as `name` that has no rate to fall back to, or is no faster than it. `base_per_s` is that rate, of the key
/// `base` or of the profile.
pub(super) fn check(
    (name, at, burst): (String, Option<Span>, Option<Burst>),
    (base, base_per_s): (&str, Option<f64>),
    problems: &mut Problems,
) {
    let (Some(at), Some(burst)) = (at, burst) else { return };
    let problem = match base_per_s {
        None => Problem::absent(format!("`{name}` has no rate to fall back to"))
            .at(at, "bursts above what?")
            .help(format!("write {base} beside it: what is given once the credits are spent")),
        Some(base_per_s) if burst.per_s <= base_per_s => {
            Problem::new(format!("`{name}` is no faster than `{base}`"))
                .at(at, "is no burst")
                .help("write a higher rate, or remove it")
        }
        Some(_) => return,
    };
    problems.push(problem);
}

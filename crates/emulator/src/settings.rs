//! What a server is started with.

use std::fmt;

use plan::{Delay, Emulation, Secret};

use crate::draw::Fault;
use crate::error::EmulatorError;

/// The protocol that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// S3 over plain HTTP.
    S3,
    /// NFS version 3, MOUNT and the port mapper on one TCP port.
    Nfs,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3 => "s3",
            Self::Nfs => "nfs",
        })
    }
}

/// Whose requests an S3 server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BucketKeys {
    /// Those signed (SigV4) with this key.
    Signed {
        /// Access key id.
        id: String,
        /// Its secret.
        secret: Secret,
    },
    /// Those that are not signed at all.
    Unsigned,
}

/// A server to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What it speaks.
    pub protocol: Protocol,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// S3: the bucket that is there from the start.
    pub bucket: String,
    /// S3: who may ask.
    pub keys: BucketKeys,
    /// S3: how many of the folders that begin a key make the prefix that `requests_per_s` holds for.
    pub prefix_folders: u32,
    /// NFS: the one export, with its slash.
    pub export: String,
    /// Threads that serve. Connections are dealt out in turn, and each stays on its thread.
    pub threads: u32,
    /// What the server is to be like.
    pub emulation: Emulation,
}

impl Settings {
    /// A server as fast as it goes, on a free port, with half of the machine's cores.
    pub fn new(protocol: Protocol) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            protocol,
            port: 0,
            bucket: "bench".to_owned(),
            keys: BucketKeys::Unsigned,
            prefix_folders: 1,
            export: "/export".to_owned(),
            // The other half is the client's, on the same machine.
            threads: (cores / 2).clamp(1, 8) as u32,
            emulation: Emulation::default(),
        }
    }
}

impl Settings {
    /// Refuses settings that no server can have.
    pub(crate) fn check(&self) -> Result<(), EmulatorError> {
        check_emulation(&self.emulation)?;
        let export = self.export.trim_matches('/');
        let is_name = !export.is_empty() && self.export == format!("/{export}");
        refuse_unless(is_name, "export", &self.export, "not a path such as /export", "--export /export")?;
        let is_bucket = !self.bucket.is_empty() && !self.bucket.contains('/');
        refuse_unless(is_bucket, "bucket", &self.bucket, "not a bucket's name", "--bucket bench")
    }
}

fn refuse_unless(
    holds: bool,
    setting: &'static str,
    value: &dyn fmt::Display,
    rule: &'static str,
    hint: &'static str,
) -> Result<(), EmulatorError> {
    if holds { Ok(()) } else { Err(EmulatorError::Setting { setting, value: value.to_string(), rule, hint }) }
}

fn check_emulation(asked: &Emulation) -> Result<(), EmulatorError> {
    for (setting, rate) in [
        ("requests_per_second", asked.requests_per_s),
        ("connection_rate", asked.connection_bps),
        ("total_rate", asked.total_bps),
    ] {
        let rate = rate.unwrap_or(1.0);
        refuse_unless(
            // A rate of 0 would never answer; no limit is written by leaving it out.
            rate.is_finite() && rate > 0.0,
            setting,
            &rate,
            "not above 0",
            "leave it out for no limit",
        )?;
    }
    for (setting, burst) in [("request_burst", asked.request_burst), ("rate_burst", asked.byte_burst)] {
        let hint = "play it on a path";
        refuse_unless(burst.is_none(), setting, &format!("{burst:?}"), "no setting of a server", hint)?;
    }
    for (setting, delay) in [("first_byte", asked.first_byte), ("metadata", asked.metadata)] {
        let is_ordered = match delay {
            None | Some(Delay::Constant { .. }) => true,
            Some(Delay::Uniform { from_ns, to_ns }) => from_ns <= to_ns,
            Some(Delay::LogNormal { p50_ns, p99_ns }) => 0 < p50_ns && p50_ns <= p99_ns,
        };
        let hint = "the smaller one first; a median above 0";
        refuse_unless(is_ordered, setting, &format!("{delay:?}"), "out of order", hint)?;
    }
    let mut sum = 0.0;
    for fault in Fault::ALL {
        let share = fault.share(&asked.faults);
        let is_share = (0.0..=1.0).contains(&share);
        refuse_unless(
            is_share,
            fault.name(),
            &share,
            "not a share",
            "from 0 to 1: 0.01 is one request in a hundred",
        )?;
        sum += share;
    }
    // One draw decides among all faults, so their shares must fit into one.
    refuse_unless(sum <= 1.0, "faults", &sum, "more than every request", "their shares add up to at most 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_can_be_started_and_is_in_the_book() {
        let book = include_str!("../../../docs/src/emulator.md");
        for listed in plan::profiles() {
            assert!(book.contains(&format!("`{}`", listed.name)), "{}", listed.name);
            let emulation = plan::profile(listed.name).unwrap();
            Settings { emulation, ..Settings::new(Protocol::S3) }.check().unwrap();
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let keys = BucketKeys::Signed { id: "id".to_owned(), secret: Secret::new("canary") };
        assert!(!format!("{:?}", Settings { keys, ..Settings::new(Protocol::S3) }).contains("canary"));
    }
}

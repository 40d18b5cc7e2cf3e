//! How a run steers a server in a process of its own: a line of JSON with the settings on its standard input, then
//! `begin` and `end`; a line of JSON on its standard output for the settings and for each of the two. The server ends
//! with its input. Between spans it rests: what a run writes, looks up and checks then is not what is tried out.

use std::io::{BufRead, Write};

use feed::bounds::Burst;
use plan::{Delay, Emulation, Faults, Secret};
use record::Emulated;
use serde::{Deserialize, Serialize};

use crate::error::EmulatorError;
use crate::server::Server;
use crate::settings::{BucketKeys, Protocol, Settings};

/// Begins a span; answered as the settings are, so that nothing is asked of the server before it has begun.
pub const BEGIN: &str = "begin";

/// Ends a span and asks what happened in it.
pub const END: &str = "end";

/// The answer to the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Port on 127.0.0.1.
    pub port: u16,
}

/// [`Settings`] as they travel. Holds a secret: written to the channel and nowhere else.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsLine {
    protocol: Protocol,
    port: u16,
    bucket: String,
    // On standard input and not among the arguments, which every user of the machine can read.
    key: Option<(String, String)>,
    prefix_folders: u32,
    export: String,
    threads: u32,
    #[serde(with = "EmulationLine")]
    emulation: Emulation,
}

// The plan knows no serialisation: what it is as JSON is described here, beside the channel.
/// [`Emulation`] as it travels.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Emulation", deny_unknown_fields)]
struct EmulationLine {
    profile: Option<String>,
    seed: u64,
    #[serde(with = "delay_line")]
    first_byte: Option<Delay>,
    #[serde(with = "delay_line")]
    metadata: Option<Delay>,
    requests_per_s: Option<f64>,
    connection_bps: Option<f64>,
    total_bps: Option<f64>,
    // No server bursts: a scenario that asks for it is refused, and so is a server that is started so.
    #[serde(skip)]
    request_burst: Option<Burst>,
    #[serde(skip)]
    byte_burst: Option<Burst>,
    seek_ns: Option<u64>,
    #[serde(with = "FaultsLine")]
    faults: Faults,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Delay", rename_all = "snake_case")]
enum DelayLine {
    Constant { ns: u64 },
    Uniform { from_ns: u64, to_ns: u64 },
    LogNormal { p50_ns: u64, p99_ns: u64 },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Faults", deny_unknown_fields)]
struct FaultsLine {
    reset: f64,
    server_error: f64,
    stall: f64,
    truncated: f64,
    slow_down: f64,
    stale: f64,
    corrupted: f64,
}

/// A delay that may be absent.
mod delay_line {
    use plan::Delay;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Line(#[serde(with = "super::DelayLine")] Delay);

    #[expect(clippy::ref_option, reason = "as serde hands it over")]
    pub(super) fn serialize<S: Serializer>(delay: &Option<Delay>, to: S) -> Result<S::Ok, S::Error> {
        delay.map(Line).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Delay>, D::Error> {
        Ok(Option::deserialize(from)?.map(|Line(delay)| delay))
    }
}

/// The line, without its end, that starts a server.
pub fn settings_line(settings: &Settings) -> String {
    let key = match &settings.keys {
        BucketKeys::Signed { id, secret } => Some((id.clone(), secret.reveal().to_owned())),
        BucketKeys::Unsigned => None,
    };
    let line = SettingsLine {
        protocol: settings.protocol,
        port: settings.port,
        bucket: settings.bucket.clone(),
        key,
        prefix_folders: settings.prefix_folders,
        export: settings.export.clone(),
        threads: settings.threads,
        emulation: settings.emulation.clone(),
    };
    serde_json::to_string(&line).expect("strings and numbers become JSON")
}

/// The settings of such a line.
pub fn read_settings(line: &str) -> Result<Settings, EmulatorError> {
    let line: SettingsLine = serde_json::from_str(line)?;
    Ok(Settings {
        protocol: line.protocol,
        port: line.port,
        bucket: line.bucket,
        keys: match line.key {
            Some((id, secret)) => BucketKeys::Signed { id, secret: Secret::new(secret) },
            None => BucketKeys::Unsigned,
        },
        prefix_folders: line.prefix_folders,
        export: line.export,
        threads: line.threads,
        emulation: line.emulation,
    })
}

/// The port in the answer to the settings.
pub fn read_started(line: &str) -> Result<Started, EmulatorError> {
    Ok(serde_json::from_str(line)?)
}

/// What happened in a span, as the answer to [`END`] tells.
pub fn read_emulated(line: &str) -> Result<Emulated, EmulatorError> {
    Ok(serde_json::from_str(line)?)
}

/// Starts the server that the first line describes and obeys the others until there are none.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> Result<(), EmulatorError> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let server = Server::start(&read_settings(&line)?)?;
    server.rest();
    let started = Started { port: server.port() };
    answer(output, &started)?;
    loop {
        line.clear();
        // The process that started it has ended, in whatever way: nobody else would end the server.
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        match line.trim() {
            BEGIN => {
                server.begin();
                answer(output, &started)?;
            }
            END => {
                // First what happened, then the rest: a request in between is still of the span.
                let span = server.end();
                server.rest();
                answer(output, &span)?;
            }
            _ => {}
        }
    }
}

fn answer(output: &mut impl Write, what: &impl Serialize) -> Result<(), EmulatorError> {
    serde_json::to_writer(&mut *output, what)?;
    output.write_all(b"\n")?;
    // The other end waits for the line, and a pipe is buffered.
    output.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use plan::{profile, profiles};

    #[test]
    fn settings_survive_the_channel() {
        let mut emulations: Vec<Emulation> =
            profiles().iter().filter_map(|listed| profile(listed.name)).collect();
        emulations.push(Emulation {
            seed: u64::MAX,
            first_byte: Some(Delay::LogNormal { p50_ns: 1, p99_ns: u64::MAX }),
            metadata: Some(Delay::Constant { ns: 3 }),
            faults: Faults { reset: 0.1, stale: 0.2, corrupted: 0.3, ..Faults::default() },
            ..Emulation::default()
        });
        for emulation in emulations {
            let keys = BucketKeys::Signed { id: "id".to_owned(), secret: Secret::new("s\"\n") };
            let settings = Settings { keys, emulation, port: 7, ..Settings::new(Protocol::S3) };
            let line = settings_line(&settings);
            assert!(!line.contains('\n'));
            assert_eq!(read_settings(&line).unwrap(), settings);
        }
    }

    #[test]
    fn a_server_is_started_asked_and_ended_over_the_channel() {
        let commands = format!("{}\nbegin\nend\nend\n", settings_line(&Settings::new(Protocol::Nfs)));
        let mut output = Vec::new();
        serve(&mut Cursor::new(commands), &mut output).unwrap();
        let lines: Vec<&str> = std::str::from_utf8(&output).unwrap().lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], lines[1]);
        assert_ne!(read_started(lines[0]).unwrap().port, 0);
        assert_eq!(read_emulated(lines[2]).unwrap().requests, 0);
    }

    #[test]
    fn settings_that_nothing_can_be_made_of_are_refused() {
        let refusal = |change: fn(&mut Settings)| {
            let mut settings = Settings::new(Protocol::S3);
            change(&mut settings);
            Server::start(&settings).err().expect("it is refused").to_string()
        };
        assert!(refusal(|s| s.emulation.total_bps = Some(0.0)).contains("total_rate"));
        assert!(refusal(|s| s.emulation.faults.reset = 1.5).contains("reset"));
        assert!(
            refusal(|s| s.emulation.faults = Faults { reset: 0.6, stale: 0.6, ..Faults::default() })
                .contains("more than every request")
        );
        let backwards = |s: &mut Settings| {
            s.emulation.first_byte = Some(Delay::Uniform { from_ns: 2, to_ns: 1 });
        };
        assert!(refusal(backwards).contains("first_byte"));
        assert!(refusal(|s| s.export = "export".to_owned()).contains("export"));
        let bursts = |s: &mut Settings| s.emulation.byte_burst = Some(Burst { per_s: 2.0, credits: 1.0 });
        assert!(refusal(bursts).contains("rate_burst"));
        assert!(read_settings("{}").is_err());
    }
}

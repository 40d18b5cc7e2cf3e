//! The rounds of one case over a network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::peer::{self, Program};
use super::server::{BUCKET, EXPORT, PREFIX, Server};
use super::{NetCase, Service};
use crate::args::RunArgs;
use crate::case::Data;
use crate::data::Place;
use crate::duel::FEEDLINE;
use crate::output::say;
use crate::process::{self, Call, Report};
use crate::record::{Contestant, Lengths, Pair, Round, Run};
use crate::{feedline, host};

/// The file that is read over NFS, which the server keeps in its page cache.
const FILE_BYTES: u64 = 512 << 20;
/// Keys for the null server, which looks at none.
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKVERSUS"), ("AWS_SECRET_ACCESS_KEY", "SKVERSUS")];

/// One case, with its server running.
#[derive(Debug)]
pub(crate) struct Duel<'a> {
    case: &'a NetCase,
    /// feedline, and what it says of itself.
    feedline: &'a (PathBuf, String),
    server: Server,
    peers: Vec<Program>,
    /// The data on the disk of the NFS server.
    place: Option<Place>,
    scratch: PathBuf,
    lengths: Lengths,
}

impl<'a> Duel<'a> {
    /// Starts the server, builds the peers, and has feedline write what is not there.
    pub(crate) fn prepare(
        case: &'a NetCase,
        feedline: &'a (PathBuf, String),
        args: &RunArgs,
        scratch: &Path,
    ) -> Result<Self> {
        let build = |peer: &_| Program::build(*peer, args, scratch);
        let peers = case.peers.iter().map(build).collect::<Result<Vec<_>>>()?;
        let nfs = matches!(case.service, Service::Nfs { .. });
        let exported = args.dir.join("nfs");
        let server = if nfs { Server::nfs(&exported, scratch)? } else { Server::null_s3()? };
        let place = nfs.then(|| Place::of(Data::File { bytes: FILE_BYTES }, &exported, None)).transpose()?;
        let lengths = Lengths { short_s: args.short, long_s: args.long };
        let scratch = scratch.to_owned();
        let duel = Self { case, feedline, server, peers, place, scratch, lengths };
        if let Some(place) = &duel.place {
            place.create()?;
            let scenario = duel.write_scenario(args.short)?;
            process::run(&feedline::call(&feedline.0, &["prepare", &scenario]), &duel.scratch)?;
        }
        Ok(duel)
    }

    /// Runs everybody once and throws the figures away: what cannot run fails here.
    pub(crate) fn introduce(&self) -> Result<Vec<Contestant>> {
        self.all().map(|who| self.contestant(who)).collect()
    }

    /// Makes the rounds.
    pub(crate) fn rounds(&self, count: u32) -> Result<Vec<Round>> {
        (1..=count).map(|number| self.round(number, count)).collect()
    }

    /// feedline, and the peers by their place.
    fn all(&self) -> impl DoubleEndedIterator<Item = Option<usize>> {
        [None].into_iter().chain((0..self.peers.len()).map(Some))
    }

    fn name(&self, who: Option<usize>) -> &'static str {
        who.map_or(FEEDLINE, |index| self.case.peers[index].name())
    }

    fn round(&self, number: u32, count: u32) -> Result<Round> {
        say(&format!("{}: round {number} of {count}", self.case.name));
        let load_average = host::load_average();
        let mut order: Vec<Option<usize>> = self.all().collect();
        if number.is_multiple_of(2) {
            order.reverse();
        }
        let mut pairs = BTreeMap::new();
        for who in &order {
            let (short, _) = self.measure(*who, self.lengths.short_s)?;
            let (long, _) = self.measure(*who, self.lengths.long_s)?;
            pairs.insert(self.name(*who).to_owned(), Pair { short, long });
        }
        let order = order.iter().map(|who| self.name(*who).to_owned()).collect();
        Ok(Round { number, load_average, order, pairs })
    }

    fn measure(&self, who: Option<usize>, window_s: f64) -> Result<(Run, BTreeMap<String, String>)> {
        let call = self.call(who, window_s)?;
        let ended = process::run(&call, &self.scratch)?;
        let report = match who {
            None => self.take_report(),
            Some(_) => peer::parse(&ended.out),
        };
        let Report { ops, bytes, window_s, granted } = report.with_context(|| call.line().join(" "))?;
        Ok((Run { usage: ended.usage, ops, bytes, window_s, device: None }, granted))
    }

    fn contestant(&self, who: Option<usize>) -> Result<Contestant> {
        let (_, granted) = self.measure(who, self.lengths.short_s)?;
        let version = who.map_or(&self.feedline.1, |index| &self.peers[index].version);
        let long_s = self.lengths.long_s;
        Ok(Contestant {
            name: self.name(who).to_owned(),
            version: version.clone(),
            command: self.call(who, long_s)?.line(),
            scenario: who.is_none().then(|| self.scenario(long_s)),
            variant: granted.iter().map(|(name, value)| format!("{name}: {value}")).collect(),
        })
    }

    fn call(&self, who: Option<usize>, window_s: f64) -> Result<Call> {
        let Some(index) = who else {
            let scenario = self.write_scenario(window_s)?;
            let results = self.results().display().to_string();
            let args = ["run", &scenario, "--results", &results, "--no-progress"];
            let mut call = feedline::call(&self.feedline.0, &args);
            if self.place.is_none() {
                call.env.extend(KEYS);
            }
            return Ok(call);
        };
        let file = self.place.as_ref().map(below_export).transpose()?;
        Ok(self.peers[index].call(self.case, &self.server, &file.unwrap_or_default(), window_s))
    }

    fn results(&self) -> PathBuf {
        self.scratch.join("results")
    }

    fn take_report(&self) -> Result<Report> {
        let results = self.results();
        let report = feedline::report(&results)?;
        fs::remove_dir_all(&results).with_context(|| format!("cannot remove {}", results.display()))?;
        Ok(report)
    }

    fn write_scenario(&self, window_s: f64) -> Result<String> {
        let path = self.scratch.join("scenario.toml");
        fs::write(&path, self.scenario(window_s))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.display().to_string())
    }

    fn scenario(&self, window_s: f64) -> String {
        let case = self.case;
        let (dataset, target) = match case.service {
            Service::Nfs { connections, .. } => {
                let connections =
                    connections.map_or_else(String::new, |count| format!(", connections = {count}"));
                let at = format!("nfs://{}{EXPORT}/{}", self.server.address, folder(self.place.as_ref()));
                (
                    format!("samples = 1, sample_size = \"{FILE_BYTES} B\""),
                    format!("at = \"{at}\"{connections}"),
                )
            }
            Service::S3 { engine } => {
                let (prefix, endpoint) = (PREFIX.trim_end_matches('/'), &self.server.address);
                (
                    "source = \"existing\", sample_size = \"1 MiB\"".to_owned(),
                    format!(
                        "at = \"s3://{BUCKET}/{prefix}\", endpoint = \"http://{endpoint}\", \
                         region = \"us-east-1\", engine = \"{engine}\""
                    ),
                )
            }
        };
        format!(
            "version = 1\n\
             title = \"versus: {}\"\n\
             need = {{ rate = \"1 GB/s\" }}\n\
             dataset = {{ {dataset} }}\n\
             targets.data = {{ {target} }}\n\
             load = {{ queue_depth = {}, threads = 1, block_size = \"{} B\", access = \"random\", cache = \"bypass\" }}\n\
             measure = {{ warmup = \"0s\", duration = \"{window_s}s\", repetitions = 1 }}\n",
            case.name, case.queue_depth, case.block_bytes
        )
    }
}

/// The name of the folder of data below the export.
fn folder(place: Option<&Place>) -> String {
    let name = place.and_then(|place| place.at.file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of the data, named as below the export.
fn below_export(place: &Place) -> Result<String> {
    let (file, exported) = (place.for_peer()?, place.at.parent().context("data without a folder")?);
    Ok(format!("/{}", file.strip_prefix(exported)?.display()))
}

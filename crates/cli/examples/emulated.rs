//! Emulated servers against the prediction, over a grid of latency, rate, size and depth: `just perf`.
//!
//! Prints a row for each point and fails where a measured rate is more than 3 % from what follows from the settings.
//! It needs a machine with nothing else to do: a server on a busy one is slower than declared.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::process::ExitCode;
use std::sync::Arc;

use backend::{Clock, SharedStore, Store};
use backend_nfs::NfsStore;
use backend_s3::S3Store;
use dataset::{Data, Key, Marker, Objects, payload};
use emulator::{Protocol, Server, Settings};
use engine::{Measured, RepSpec, run_rep};
use feed::bounds::{self, InFlight, Operation};
use plan::{
    Access, Addresses, BucketStyle, Cell, Delay, Emulation, Engine, Keys, Limit, NfsConfig, S3Config,
};

/// Difference from the prediction above which it fails.
const MARGIN: f64 = 0.03;

const OBJECTS: u32 = 16;
const OBJECT_BYTES: u64 = 4 << 20;
const SEED: u64 = 1;
const WINDOW_NS: u64 = 2_000_000_000;

/// Operations that a window holds at least: one more or less is then a third of the margin.
const WINDOW_OPS: f64 = 100.0;

/// One point of the grid.
#[derive(Clone, Copy)]
struct Point {
    protocol: Protocol,
    first_byte_ms: u64,
    connection_bps: Option<f64>,
    total_bps: Option<f64>,
    read_bytes: u32,
    depth: u32,
}

fn grid() -> impl Iterator<Item = Point> {
    let rates = [(Some(25e6), None), (None, Some(60e6)), (Some(25e6), Some(60e6))];
    let servers = [Protocol::S3, Protocol::Nfs].into_iter();
    let points = servers.flat_map(move |protocol| {
        rates.map(|(connection_bps, total_bps)| Point {
            protocol,
            first_byte_ms: 0,
            connection_bps,
            total_bps,
            read_bytes: 0,
            depth: 0,
        })
    });
    points
        .flat_map(|point| [2, 20].map(|first_byte_ms| Point { first_byte_ms, ..point }))
        .flat_map(|point| [65_536, 1 << 20].map(|read_bytes| Point { read_bytes, ..point }))
        .flat_map(|point| [1, 8].map(|depth| Point { depth, ..point }))
}

impl Point {
    /// As many as a scenario gives by default.
    fn connections(&self) -> u32 {
        if self.protocol == Protocol::S3 { self.depth } else { self.depth.min(4) }
    }

    fn predicted_ops_per_s(&self) -> Option<f64> {
        let settings = bounds::Settings {
            first_byte_s: Some(self.first_byte_ms as f64 * 1e-3),
            connection_bps: self.connection_bps,
            total_bps: self.total_bps,
            ..bounds::Settings::default()
        };
        let operation = Operation { bytes: f64::from(self.read_bytes), reads: 1.0, ..Operation::default() };
        let in_flight = InFlight {
            operations: self.depth,
            connections: self.connections(),
            one_at_a_time: self.protocol == Protocol::S3,
        };
        Some(bounds::predict(&settings, &operation, in_flight)?.ops_per_s)
    }

    fn window_ns(&self) -> u64 {
        let holds_ns = self.predicted_ops_per_s().map_or(0.0, |per_s| WINDOW_OPS / per_s * 1e9);
        WINDOW_NS.max(holds_ns as u64)
    }

    fn serve(&self) -> Result<Server, emulator::EmulatorError> {
        let first_byte = Some(Delay::Constant { ns: self.first_byte_ms * 1_000_000 });
        let (connection_bps, total_bps) = (self.connection_bps, self.total_bps);
        let emulation = Emulation { first_byte, connection_bps, total_bps, ..Emulation::default() };
        let server = Server::start(&Settings { emulation, ..Settings::new(self.protocol) })?;
        server.rest();
        Ok(server)
    }

    fn open(&self, port: u16) -> Result<SharedStore, backend::StoreError> {
        Ok(match self.protocol {
            Protocol::S3 => Arc::new(S3Store::lean(&S3Config {
                bucket: "bench".to_owned(),
                prefix: String::new(),
                region: Some("us-east-1".to_owned()),
                endpoint: Some(format!("http://127.0.0.1:{port}")),
                style: BucketStyle::Path,
                ca: None,
                keys: Keys::Anonymous,
                addresses: Addresses::First,
                part_bytes: None,
                prefixes: 1,
                head: false,
                checksum: false,
            })?),
            Protocol::Nfs => Arc::new(NfsStore::open(&NfsConfig {
                host: "127.0.0.1".to_owned(),
                nfs_port: Some(port),
                mount_port: Some(port),
                path: "/export/target".to_owned(),
                addresses: Addresses::First,
            })?),
        })
    }

    fn measure(&self) -> Result<f64, Box<dyn std::error::Error>> {
        let server = self.serve()?;
        let store = self.open(server.port())?;
        let data = Data::files(written(&*store)?, Some(SEED));
        server.begin();
        let engine = if self.protocol == Protocol::S3 { Engine::Lean } else { Engine::Nfs3 };
        let connections = self.connections();
        let cell =
            Cell { access: Access::Random, connections, ..Cell::plain(engine, self.read_bytes, self.depth) };
        let limit = Limit::Duration { duration_ns: self.window_ns() };
        let clock = Clock::real();
        let spec =
            RepSpec { warmup_ns: WINDOW_NS / 4, ..RepSpec::plain(&cell, &store, &data, limit, &clock) };
        let Measured { rep, .. } = run_rep(&spec)?;
        Ok(rep.counters["ops"] as f64 * 1e9 / rep.window_ns as f64)
    }
}

/// Objects of generated bytes, which take the server no memory.
fn written(store: &dyn Store) -> Result<Arc<Objects>, Box<dyn std::error::Error>> {
    let folder = Key::new("data")?;
    let objects = Arc::new(Objects::uniform(folder.clone(), OBJECTS, OBJECT_BYTES));
    let marker = Marker { format: 1, note: "emulated".to_owned(), dataset: "emulated".to_owned() };
    let owned = store.create_folder(&folder, &marker)?;
    let mut content = vec![0; OBJECT_BYTES as usize];
    for object in 0..OBJECTS {
        payload::fill(SEED, object, 0, &mut content);
        let mut writer = store.create(&owned, &objects.key(object))?;
        writer.write(&content)?;
        writer.finish()?;
    }
    Ok(objects)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!("server  first byte  connection     total     size  depth  predicted/s  measured/s  difference");
    let rate = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), feed::format_bps);
    let mut worst: f64 = 0.0;
    for point in grid() {
        let predicted = point.predicted_ops_per_s().ok_or("a point without a prediction")?;
        let measured = point.measure()?;
        let difference = measured / predicted - 1.0;
        worst = worst.max(difference.abs());
        println!(
            "{:6}  {:7} ms  {:>10}  {:>8}  {:>7}  {:5}  {predicted:11.1}  {measured:10.1}  {:+9.1} %",
            point.protocol.to_string(),
            point.first_byte_ms,
            rate(point.connection_bps),
            rate(point.total_bps),
            feed::format_bytes(u64::from(point.read_bytes)),
            point.depth,
            difference * 100.0,
        );
    }
    println!("largest difference: {:.1} %, of {:.0} % allowed", worst * 100.0, MARGIN * 100.0);
    Ok(if worst <= MARGIN { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

//! Readers of S3 that feedline is compared with: each reads random aligned ranges, as many at once as asked for, from
//! one thread, and prints one line of JSON.

mod draw;
mod raw;
mod sdk;
mod sign;
mod store;
mod tally;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use tally::Tally;

/// Who reads.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Who {
    /// The crate `object_store`, by `get_range`
    ObjectStore,
    /// The AWS SDK at its defaults, by `collect()`
    Sdk,
    /// Non-blocking sockets and requests signed by hand: the floor
    Raw,
}

/// Reads random ranges of objects PREFIX000.bin, PREFIX001.bin and so on.
#[derive(Debug, Parser)]
struct Args {
    /// Who reads
    who: Who,
    /// host:port of a server without TLS
    #[arg(long)]
    address: String,
    /// The bucket
    #[arg(long)]
    bucket: String,
    /// What the objects' names begin with
    #[arg(long, default_value = "")]
    prefix: String,
    /// How many objects there are
    #[arg(long)]
    objects: u64,
    /// Size of each
    #[arg(long)]
    object_bytes: u64,
    /// Bytes of one read
    #[arg(long)]
    block_bytes: u64,
    /// Reads outstanding
    #[arg(long)]
    depth: usize,
    /// How long to read
    #[arg(long)]
    seconds: f64,
}

impl Args {
    fn key(&self, object: u64) -> String {
        format!("{}{object:03}.bin", self.prefix)
    }
}

/// The key that all peers sign with. The server they read from checks nothing.
const KEY: (&str, &str) = ("AKVERSUS", "SKVERSUS");
const REGION: &str = "us-east-1";

fn main() -> Result<()> {
    let args = Args::parse();
    let tally: Tally = match args.who {
        Who::ObjectStore => store::read(args)?,
        Who::Sdk => sdk::read(args)?,
        Who::Raw => raw::read(&args)?,
    };
    println!("{}", tally.line());
    Ok(())
}

//! Starts both servers, says where they are, and holds them until standard input ends:
//! `cargo run -p servers --example hold`.
#![expect(clippy::print_stdout, reason = "it talks to whoever started it")]

use std::io::Read as _;

use servers::{Ganesha, GaneshaOptions, Radosgw, Unavailable};

fn main() -> Result<(), Unavailable> {
    let nfs = Ganesha::start(&GaneshaOptions::default())?;
    println!("{} is {}", nfs.url(), nfs.path().display());
    let s3 = Radosgw::start()?;
    for (who, keys) in [("owner", s3.owner()), ("reader", s3.reader()), ("stranger", s3.stranger())] {
        println!("{} {who}: {} {}", s3.endpoint(), keys.id, keys.secret);
    }
    // Whatever ends it, the servers go with this process.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}

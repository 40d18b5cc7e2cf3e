//! Servers with addresses of IPv6, and with several.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use backend::Store;
use backend_nfs::NfsStore;
use plan::{Addresses, NfsConfig};
use servers::{Hosts, or_skip};

use crate::memory;
use crate::reader::{Load, Reader};

/// Listens at an address and passes on what comes to a port of `127.0.0.1`, which is all that the server listens at;
/// none where this machine has no IPv6, which with `CI` set it must have.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn relay(at: &str, port: u16) -> Option<u16> {
    let listener = match TcpListener::bind(at) {
        Ok(listener) => listener,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "no IPv6 here: {error}");
            eprintln!("skipped: no IPv6 here: {error}");
            return None;
        }
    };
    let listens = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass_on(from, to));
            thread::spawn(move || pass_on(server, client));
        }
    });
    Some(listens)
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn a_server_may_be_at_an_address_of_ipv6() {
    let server = memory::with_dataset();
    let Some(port) = relay("[::1]:0", server.port) else { return };
    let config = NfsConfig { host: "::1".to_owned(), ..memory::config(port, "/") };
    let store = Arc::new(NfsStore::open(&config).unwrap());
    let facts = store.facts();
    let address = format!("[::1]:{port}");
    assert!(facts.contains(&("server_address", address.clone())), "{facts:?}");
    assert_eq!(store.network_interface().as_deref(), Some("lo"));
    let mut reader = Reader::open(&store, &Arc::new(memory::objects()), Load::blocks(4, 2, 4096));
    reader.reads_everything();
    assert_eq!(reader.counted(&format!("messages_to/{address}")), reader.counted("messages"));
}

/// As a resolver may give them: some twice.
const ADDRESSES: [&str; 3] = ["127.0.0.1", "127.0.0.2", "127.0.0.1"];
const NAME: &str = "filer.servers.test";

#[test]
fn connections_are_spread_over_all_addresses_where_that_is_asked() {
    let names = ADDRESSES.map(|address| (NAME, address.parse().unwrap()));
    let Some(hosts) = or_skip(Hosts::new(&names)) else { return };
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "addresses::with_a_name_of_two_addresses", "--ignored"]);
    let ended = hosts.around(&test).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "needs names of its own, which another test gives it"]
fn with_a_name_of_two_addresses() {
    let server = memory::with_dataset();
    relay(&format!("127.0.0.2:{}", server.port), server.port).unwrap();
    let objects = Arc::new(memory::objects());
    for (which, of) in [(Addresses::First, 1), (Addresses::All, 2)] {
        let config = memory::config(server.port, "/");
        let store = NfsStore::open(&NfsConfig { addresses: which, host: NAME.to_owned(), ..config });
        let mut reader = Reader::open(&Arc::new(store.unwrap()), &objects, Load::blocks(8, 4, 4096));
        reader.reads_everything();
        let counted = reader.report().counted.into_iter();
        let to: Vec<_> = counted.filter(|(name, _)| name.starts_with("messages_to/127.0.0.")).collect();
        assert!(to.len() == of && to.iter().all(|(_, count)| *count > 0), "{to:?}");
    }
}

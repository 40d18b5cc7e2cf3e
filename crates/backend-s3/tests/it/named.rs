//! Services by names that only a process of their own knows.

use std::net::IpAddr;
use std::sync::Arc;

use backend::{Op, Store};
use plan::{Addresses, BucketStyle, Operation, S3Config};
use servers::{Hosts, Radosgw, or_skip};

use crate::alone;
use crate::checks::conforms;
use crate::fake::{Asked, Fake, objects};
use crate::support::{self, BOTH, BUCKET, Engine, Opened, Setup, config, own, prepare};

const NAME: &str = "storage.servers.test";

fn fact(store: &dyn Store, name: &str) -> String {
    store.facts().into_iter().find(|(found, _)| *found == name).unwrap().1
}

/// The bucket's name before the gateway's, in plain and encrypted connections.
pub(crate) fn a_bucket_stands_before_the_gateways_name(gateway: &Radosgw) {
    let address: IpAddr = gateway.address().ip();
    let names = [gateway.name().to_owned(), format!("{BUCKET}.{}", gateway.name())];
    let Some(hosts) = or_skip(Hosts::new(&names.map(|name| (name, address)))) else { return };
    let [plain, encrypted] = gateway.ports();
    let mut test = alone::test("named::with_a_name_for_the_bucket");
    test.env("PLAIN", format!("http://{}:{plain}", gateway.name()))
        .env("ENCRYPTED", format!("https://{}:{encrypted}", gateway.name()))
        .env("AUTHORITY", gateway.authority())
        .env("ID", gateway.owner().id)
        .env("SECRET", gateway.owner().secret);
    alone::passes(hosts.around(&test));
}

#[test]
#[ignore = "needs names of its own, which another test gives it"]
fn with_a_name_for_the_bucket() {
    let keys = own(&alone::given("ID"), &alone::given("SECRET"));
    let ca = Some(alone::given("AUTHORITY").into());
    let objects = support::objects();
    for (number, endpoint) in ["PLAIN", "ENCRYPTED"].map(alone::given).into_iter().enumerate() {
        let style = BucketStyle::Virtual;
        let prefix = format!("virtual-{number}");
        let config = S3Config { style, keys: keys.clone(), ca: ca.clone(), ..config(&endpoint, &prefix) };
        let store = Engine::Lean.open(&config).unwrap();
        assert_eq!(fact(&store, "bucket_style"), "virtual");
        assert!(fact(&store, "endpoint").contains(&format!("://{BUCKET}.")), "{store:?}");
        prepare(&store, &objects);
        conforms(&config, &objects);
        let missing = S3Config { bucket: "missing".to_owned(), ..config };
        let text = Engine::Lean.open(&missing).unwrap_err().to_string();
        assert!(text.contains("has no address") && text.contains("write style = \"path\""), "{text}");
    }
}

#[test]
fn all_addresses_of_a_name_are_used_where_that_is_asked() {
    // As a resolver may give them: some twice.
    let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.1"].map(|address| address.parse().unwrap());
    let Some(hosts) = or_skip(Hosts::new(&addresses.map(|address| (NAME, address)))) else { return };
    alone::passes(hosts.around(&alone::test("named::with_a_name_of_two_addresses")));
}

#[test]
#[ignore = "needs names of its own, which another test gives it"]
fn with_a_name_of_two_addresses() {
    let fake = Fake::serve_everywhere(Asked::well);
    let endpoint = format!("http://{NAME}:{}", fake.address.port());
    let reads: Vec<Op> =
        (0..4).cycle().take(20).map(|object| Op::Read { object, offset: 0, len: 4096 }).collect();
    let counts = |engine: Engine, addresses, depth| -> Vec<u64> {
        let store = engine.open(&S3Config { addresses, ..config(&endpoint, "p") }).unwrap();
        let setup = Setup { operation: Operation::Read, depth, connections: 4 };
        let mut queue = Opened::new(&store, &objects(), setup);
        assert!(queue.run(&reads).iter().all(Result::is_ok));
        let report = queue.queue.report();
        queue.close();
        let to = report.counted.iter().filter(|(name, _)| name.starts_with("messages_to/127.0.0."));
        to.map(|(_, count)| *count).collect()
    };
    assert_eq!(counts(Engine::Lean, Addresses::First, 4), [20]);
    assert_eq!(counts(Engine::Lean, Addresses::All, 1), [10, 10], "in turn");
    let spread = counts(Engine::Lean, Addresses::All, 4);
    assert_eq!((spread.len(), spread.iter().sum::<u64>()), (2, 20));
    assert!(spread.iter().all(|count| *count > 0), "{spread:?}");
    for engine in BOTH {
        let store = Arc::new(engine.open(&config(&endpoint, "p")).unwrap());
        assert_eq!(fact(&*store, "endpoint_addresses").split(' ').count(), 1);
    }
}

//! A gateway of AIStore, which lists by itself and sends reads and writes on to the node that holds the object: it is refused by name,
//! and nobody asks the node.

use std::io::ErrorKind::WouldBlock;
use std::net::TcpListener;
use std::sync::LazyLock;

use backend::{ErrorKind, Op, Store as _};
use plan::Operation;

use crate::fake::{Act, Asked, Fake, text};
use crate::faults::hides;
use crate::support::{BOTH, Opened, Setup, config, key, objects};

/// What to do about it, wherever it is met.
const FETCH: &str = "`ais config cluster features S3-Reverse-Proxy`";

/// The node, which must not be asked: a signature is for the endpoint that the user named.
static NODE: LazyLock<TcpListener> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
});

fn node() -> String {
    NODE.local_addr().unwrap().to_string()
}

/// As AIStore's `ais/prxs3.go` has it.
fn sent_on(path: &str) -> Act {
    let node = node();
    let fields = format!(
        "Location: http://{node}{path}?pid=p1&utm=1732740000000000000\r\nContent-Type: text/xml; charset=utf-8\r\n\
         Server: AIStore\r\n"
    );
    let error = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>TemporaryRedirect</Code><Message>Redirect</Message>\
         <Endpoint>{node}/s3</Endpoint><Bucket>bench</Bucket></Error>"
    );
    Act::Send(text("307 Temporary Redirect", &fields, &error))
}

/// HEAD and listings it answers by itself.
fn gateway(asked: &Asked) -> Act {
    let mut words = asked.head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match method {
        "GET" if asked.object().is_none() => asked.well(),
        "GET" | "PUT" => sent_on(path),
        _ => asked.well(),
    }
}

fn says(fake: &Fake, what: &str, shown: &str) {
    for part in ["AIStore", &node(), FETCH, "307 TemporaryRedirect"] {
        assert!(shown.contains(part), "{what}: no {part} in {shown}");
    }
    hides(fake, shown);
}

#[test]
fn a_gateway_that_sends_on_is_refused_by_name_and_its_node_is_not_asked() {
    for engine in BOTH {
        let fake = Fake::serve(gateway);
        let store = engine.open(&config(&format!("{}/s3", fake.endpoint()), "")).unwrap();
        // What a preparation meets: the first bytes of a user's files, and a folder of feedline's own.
        let error = store.read_at(&objects().key(1), 0, &mut [0; 512]).unwrap_err().to_string();
        says(&fake, "read_at", &error);
        assert!(error.contains("hint: let its gateways fetch"), "{error}");
        let marker = dataset::Marker { format: 1, note: String::new(), dataset: String::new() };
        says(&fake, "create_folder", &store.create_folder(&key("d"), &marker).unwrap_err().to_string());
        // What a run meets that reads nothing before.
        for (operation, op) in [
            (Operation::Read, Op::Read { object: 1, offset: 0, len: 4096 }),
            (Operation::ReadFile, Op::ReadFile { object: 1, bytes: crate::fake::BYTES }),
        ] {
            let mut queue = Opened::new(&store, &objects(), Setup { operation, depth: 1, connections: 1 });
            assert_eq!(queue.run(&[op])[0].unwrap_err().kind, ErrorKind::Redirect, "{engine:?}");
            says(&fake, "queue", &queue.queue.report().first_failure.unwrap());
            queue.close();
        }
    }
    assert_eq!(NODE.accept().unwrap_err().kind(), WouldBlock, "the node was asked");
}

#[test]
fn a_gateway_that_sends_listings_on_is_refused_when_it_is_opened() {
    for engine in BOTH {
        let fake = Fake::serve(|_| sent_on("/s3/bench"));
        let error = engine.open(&config(&fake.endpoint(), "")).unwrap_err().to_string();
        assert!(error.contains("AIStore") && error.contains(FETCH), "{engine:?}: {error}");
    }
}

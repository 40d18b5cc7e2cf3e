//! All checks against Ceph's gateway, and what it does to readers when it is refused, gone or silent.

use std::time::Duration;

use backend::conformance::objects as alike;
use backend::{ErrorKind, Op, StoreError};
use plan::{Operation, S3Config};
use servers::{Authority, Keys, Radosgw, or_skip};

use crate::support::{BOTH, Client, Engine, Opened, Setup, config, objects, own, prepare};
use crate::{checks, checksums, named};

fn keyed(gateway: &Radosgw, prefix: &str, keys: Keys) -> S3Config {
    S3Config { keys: own(keys.id, keys.secret), ..config(&gateway.endpoint(), prefix) }
}

/// A gateway with our bucket; none where it cannot be had.
fn start() -> Option<(Radosgw, S3Config)> {
    let gateway = or_skip(Radosgw::start())?;
    let owner = keyed(&gateway, "", gateway.owner());
    Client::new(&owner).make_bucket();
    Some((gateway, owner))
}

#[test]
fn a_real_gateway_passes_every_check() {
    let Some((gateway, owner)) = start() else { return };
    checks::objects_are_written_listed_in_order_read_and_removed(&owner);
    checks::nothing_is_overwritten(&owner);
    checks::what_is_not_ours_is_neither_written_nor_removed(&owner);
    checks::a_large_object_is_uploaded_in_parts_and_a_dropped_one_leaves_nothing(&owner);
    checks::a_listing_goes_on_page_after_page(&owner);
    checks::objects_are_spread_over_prefixes(&owner);
    checks::both_engines_conform_however_objects_are_fetched(&owner);
    checks::objects_are_written_anew_by_one_request_each(&owner);
    checks::a_large_object_goes_out_of_a_small_buffer(&owner);
    checks::a_thousand_operations_are_under_way_at_once(&owner);
    checks::what_is_gone_is_not_found(&owner);
    checksums::none_are_kept_and_all_is_read(&owner);
    it_is_read_over_tls_by_who_trusts_it(&gateway, &owner);
    named::a_bucket_stands_before_the_gateways_name(&gateway);
    a_reader_reads_and_writes_nothing(&gateway);
    who_is_not_let_in_is_told_why(&gateway);
}

fn it_is_read_over_tls_by_who_trusts_it(gateway: &Radosgw, owner: &S3Config) {
    let config = S3Config {
        endpoint: Some(gateway.encrypted_endpoint()),
        ca: Some(gateway.authority()),
        prefix: "tls".to_owned(),
        ..owner.clone()
    };
    let objects = objects();
    prepare(&Engine::Lean.open(&config).unwrap(), &objects);
    checks::conforms(&config, &objects);
    let store = Engine::Lean.open(&config).unwrap();
    let setup = Setup { operation: Operation::Read, depth: 2, connections: 1 };
    let queue = Opened::new(&store, &objects, setup);
    let granted = queue.queue.report().granted;
    assert!(granted.iter().any(|(name, how)| *name == "tls" && how.starts_with("TLS1.")), "{granted:?}");
    queue.close();

    let stranger = Authority::new().unwrap();
    for ca in [None, Some(stranger.path())] {
        for engine in BOTH {
            let error = engine.open(&S3Config { ca: ca.clone(), ..config.clone() }).unwrap_err();
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("does not trust") && text.contains("by ca = \"FILE\""), "{text}");
        }
    }
}

fn a_reader_reads_and_writes_nothing(gateway: &Radosgw) {
    let owned = prepare(&Engine::Lean.open(&keyed(gateway, "read", gateway.owner())).unwrap(), &objects());
    let store = Engine::Sdk.open(&keyed(gateway, "read", gateway.reader())).unwrap();
    alike::a_reader_reads_and_writes_nothing(&store, &owned, ["AccessDenied", "s3:PutObject"]);
}

fn who_is_not_let_in_is_told_why(gateway: &Radosgw) {
    let owner = gateway.owner();
    let wrong = own(owner.id, "SKCANARY");
    let cases = [
        (S3Config { keys: wrong, ..keyed(gateway, "", owner) }, "SignatureDoesNotMatch"),
        (keyed(gateway, "", gateway.stranger()), "AccessDenied"),
        (S3Config { keys: own("AKNOBODY", "SKCANARY"), ..keyed(gateway, "", owner) }, "access key"),
        (S3Config { keys: plan::Keys::Anonymous, ..keyed(gateway, "", owner) }, "anonymous = true"),
        (S3Config { bucket: "missing".to_owned(), ..keyed(gateway, "", owner) }, "`missing` does not exist"),
    ];
    for (config, says) in cases {
        for engine in BOTH {
            let error = engine.open(&config).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(says) && shown.contains("hint: "), "{shown}");
            assert!(
                !["SKCANARY", owner.secret, "SKSTRANGER"].iter().any(|key| shown.contains(key)),
                "{shown}"
            );
        }
    }
}

#[test]
fn readers_of_a_gateway_that_is_killed_or_stopped_are_told_and_go_on() {
    let Some((gateway, owner)) = start() else { return };
    let objects = objects();
    prepare(&Engine::Lean.open(&owner).unwrap(), &objects);
    for engine in BOTH {
        // For when it is stopped: what is not may be later than that on a busy machine.
        let opened = (0..20).find_map(|_| engine.open_with(&owner, Duration::from_secs(2)).ok());
        let store = opened.expect("it opens");
        let setup = Setup { operation: Operation::Read, depth: 4, connections: 2 };
        let mut queue = Opened::new(&store, &objects, setup);
        let read = |object| Op::Read { object, offset: 4096, len: 4096 };
        let all = [0, 1, 2, 3].map(read);
        goes_on(&mut queue, &all);

        gateway.pause();
        let ended = queue.run(&all);
        gateway.resume();
        let kinds: Vec<ErrorKind> = ended.iter().map(|end| end.unwrap_err().kind).collect();
        assert!(kinds.contains(&ErrorKind::Timeout), "{engine:?}: {kinds:?}");
        assert!(kinds.iter().all(|kind| kind.is_transient()), "{engine:?}: {kinds:?}");
        goes_on(&mut queue, &all);

        gateway.kill();
        let kinds: Vec<ErrorKind> = queue.run(&all).iter().map(|end| end.unwrap_err().kind).collect();
        let expected = [ErrorKind::Reset, ErrorKind::Connect, ErrorKind::Timeout];
        assert!(kinds.iter().all(|kind| expected.contains(kind)), "{engine:?}: {kinds:?}");
        gateway.restart().unwrap();
        goes_on(&mut queue, &all);
        queue.close();
    }
}

/// A queue reads well again, after some attempts that may still be hit.
fn goes_on(queue: &mut Opened, ops: &[Op]) {
    let well = (0..100).any(|_| {
        let ended = queue.run(ops);
        assert!(ended.iter().all(|end| end.is_ok_and(|_| true) || end.unwrap_err().kind.is_transient()));
        ended.iter().all(Result::is_ok)
    });
    assert!(well, "{:?}", queue.queue.report().first_failure);
}

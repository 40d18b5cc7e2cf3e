//! Encrypted connections.

use std::io::Write;
use std::sync::Arc;

use backend::{Clock, ErrorKind};
use backend_net::{Settings, Tls, Wire};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::client::{Client, LEN, granted, settings};
use crate::line::{Line, Task};
use crate::server::{Peer, SEED, Server};

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        Self::named("the issuer")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// What a server with a certificate for `name` needs.
    fn config(&self, name: &str) -> Arc<ServerConfig> {
        self.config_until(name, 4000)
    }

    /// As [`Authority::config`], with a certificate that expires when that year begins.
    fn config_until(&self, name: &str, year: i32) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }

    fn server(&self, name: &str) -> Server {
        Self::serving(self.config(name))
    }

    fn serving(config: Arc<ServerConfig>) -> Server {
        Server::start_raw(move |_, stream| {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut peer = Peer::over(StreamOwned::new(tls, stream));
            while let Some(asked) = peer.ask() {
                if asked.writes {
                    dataset::payload::verify(SEED, asked.object, asked.offset, &peer.payload).unwrap();
                    peer.say(&asked.data(b""));
                } else {
                    peer.say(&asked.right(SEED));
                }
            }
        })
    }

    /// A client that trusts it and expects `name`.
    fn settings(&self, server: &Server, name: &str) -> Settings {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        Settings { tls: Some(Tls { config: Arc::new(config), name }), ..settings(&[server.address]) }
    }
}

fn refusal(settings: &Settings) -> String {
    Wire::connect(Line::new(true), settings, 1, 1, &Clock::real()).err().expect("not trusted").to_string()
}

#[test]
fn reads_over_tls_hold_the_right_bytes() {
    let authority = Authority::new();
    let server = authority.server("storage.test");
    for pipelines in [true, false] {
        let trusted = authority.settings(&server, "storage.test");
        let mut client = Client::new(Line::new(pipelines), &trusted, 16, 2);
        for round in 0..5 {
            (0..16).for_each(|token| client.start(round * 16 + token));
            assert!(client.finish().iter().all(|end| *end == Ok(u64::from(LEN))));
        }
        assert!(
            granted(&client.wire.report(), "tls").starts_with("TLS1.3 TLS13_"),
            "{:?}",
            client.wire.report()
        );
        assert!(client.counted("wire_received_bytes") > 80 * u64::from(LEN));
    }
}

#[test]
fn a_large_payload_goes_over_tls_in_full() {
    const BYTES: u32 = 3 << 20;
    let authority = Authority::new();
    let server = authority.server("storage.test");
    let clock = Clock::real();
    let trusted = authority.settings(&server, "storage.test");
    let mut wire = Wire::connect(Line::writing(false), &trusted, 1, 1, &clock).unwrap();
    let mut buf = backend::Arena::new(1, BYTES).unwrap().buffers().pop().unwrap();
    dataset::payload::fill(SEED, 3, 0, &mut buf.as_mut_slice()[..BYTES as usize]);
    assert!(wire.start(0, Task::read(3, 0, BYTES), buf).is_ok());
    let mut done = Vec::new();
    while wire.in_flight() > 0 {
        wire.turn(1, crate::client::LATER_NS, &mut done).unwrap();
    }
    assert_eq!(done[0].result, Ok(u64::from(BYTES)));
}

#[test]
fn a_certificate_for_another_name_is_refused_and_named() {
    let authority = Authority::new();
    let server = authority.server("storage.test");
    let error = refusal(&authority.settings(&server, "other.test"));
    assert!(error.contains("for another name than other.test") && error.contains("hint"), "{error}");
    assert!(error.contains(&server.address.to_string()), "{error}");
}

#[test]
fn an_expired_certificate_is_refused_and_named() {
    let authority = Authority::new();
    let server = Authority::serving(authority.config_until("storage.test", 2001));
    let error = refusal(&authority.settings(&server, "storage.test"));
    assert!(error.contains("not valid") && error.contains("expired") && error.contains("hint"), "{error}");
}

#[test]
fn an_unknown_issuer_is_refused_and_named() {
    let server = Authority::new().server("storage.test");
    for stranger in ["the issuer", "another issuer"] {
        let error = refusal(&Authority::named(stranger).settings(&server, "storage.test"));
        assert!(error.contains("does not trust") && error.contains("ca = "), "{error}");
    }
}

#[test]
fn a_server_without_tls_is_named() {
    let server = Server::start_raw(|_, mut stream| {
        stream.write_all(b"220 hello, who are you?\r\n").unwrap();
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let error = refusal(&Authority::new().settings(&server, "storage.test"));
    assert!(error.contains("does not speak TLS") && error.contains("hint"), "{error}");
    let server = Server::start_raw(|_, _| {});
    let error = refusal(&Authority::new().settings(&server, "storage.test"));
    assert!(error.contains("handshake") && error.contains("hint"), "{error}");
}

#[test]
fn a_handshake_that_is_never_answered_times_out() {
    let server = Server::start_raw(|_, mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let patience = Authority::new().settings(&server, "storage.test");
    let error = refusal(&Settings { connect_timeout_ns: 100_000_000, ..patience });
    assert!(error.contains("timed out") && error.contains(&server.address.to_string()), "{error}");
}

#[test]
fn who_waits_for_a_handshake_that_is_never_answered_is_told() {
    let authority = Authority::new();
    let config = authority.config("storage.test");
    let server = Server::start_raw(move |number, mut stream| {
        if number == 0 {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            Peer::over(StreamOwned::new(tls, stream)).ask();
        } else {
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let patience = authority.settings(&server, "storage.test");
    let mut client = Client::on(Clock::simulated(), Line::new(false), &patience, 1, 1);
    assert_eq!(client.run(0), Err(ErrorKind::Reset));
    client.start(1);
    while client.done.is_empty() {
        client.pass(patience.connect_timeout_ns);
        client.turn();
    }
    assert_eq!(client.done[0].result.unwrap_err().kind, ErrorKind::Connect);
}

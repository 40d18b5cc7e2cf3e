//! What a user reads when a bucket cannot be opened.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use backend::Op;
use plan::{Operation, S3Config};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use servers::Blackhole;
use tempfile::TempDir;

use crate::fake::{Act, Answer, Asked, Fake, objects, text};
use crate::faults::{LONG, SHORT, hides};
use crate::support::{BOTH, Opened, Setup, config};

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// What a service with a certificate for `name` needs.
    fn service(&self, name: &str) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        Arc::new(config.unwrap())
    }

    /// A client that trusts it.
    fn trusted(&self, folder: &TempDir, port: u16) -> S3Config {
        let ca = folder.path().join("ca.pem");
        fs::write(&ca, self.0.pem()).unwrap();
        S3Config { ca: Some(ca), ..config(&format!("https://localhost:{port}"), "") }
    }
}

/// The same error from both engines.
fn refusal(config: &S3Config, says: &[&str]) {
    refusal_within(LONG, config, says);
}

fn refusal_within(patience: Duration, config: &S3Config, says: &[&str]) {
    for engine in BOTH {
        let error = engine.open_with(config, patience).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(says.iter().all(|says| shown.contains(says)), "{engine:?}: {shown}");
        assert!(error.to_string().contains("hint: ") && !shown.contains("CANARY"), "{engine:?}: {shown}");
    }
}

#[test]
fn over_tls_a_trusted_service_is_read_and_others_are_refused() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let fake = Fake::serve_tls(Asked::well, authority.service("localhost"));
    let trusted = authority.trusted(&folder, fake.address.port());
    for engine in BOTH {
        let store = engine.open(&trusted).unwrap();
        let setup = Setup { operation: Operation::ReadFile, depth: 3, connections: 2 };
        let mut queue = Opened::new(&store, &objects(), setup);
        let whole = |object| Op::ReadFile { object, bytes: crate::fake::BYTES };
        let ended = queue.run(&[0, 1, 2, 3].map(whole));
        assert!(ended.iter().all(Result::is_ok), "{engine:?}: {ended:?}");
        queue.close();
    }
    let stranger = Authority::new().trusted(&folder, fake.address.port());
    refusal(&stranger, &["does not trust", "ca = "]);

    let other = Fake::serve_tls(Asked::well, authority.service("other.test"));
    let trusted = authority.trusted(&folder, other.address.port());
    refusal(&trusted, &["for another name than localhost"]);
    let plain = Fake::serve(|_| Act::Close(b"HTTP/1.1 400 x\r\n\r\n".to_vec()));
    refusal(&authority.trusted(&folder, plain.address.port()), &["TLS", "http://"]);
}

#[test]
fn a_service_that_cannot_be_reached_is_named() {
    let closed = servers::closed_port().unwrap();
    refusal(&config(&format!("http://127.0.0.1:{closed}"), ""), &["refuses connections"]);
    refusal(&config("http://storage.invalid:9000", ""), &["the name storage.invalid has no address"]);
    let hole = Blackhole::open().unwrap();
    refusal_within(SHORT, &config(&format!("http://{}", hole.address()), ""), &["does not answer within"]);
}

#[test]
fn a_service_that_answers_badly_is_told_from_one_that_is_not_there() {
    let cases: [(Answer, &[&str]); 10] = [
        (|asked| Act::Send(asked.error("403 x", "AccessDenied", "")), &["AccessDenied", "s3:ListBucket"]),
        (|asked| Act::Send(asked.error("503 x", "SlowDown", "")), &["SlowDown"]),
        (|asked| Act::Send(asked.error("400 x", "ExpiredToken", "")), &["ExpiredToken", "sign in again"]),
        (
            |asked| {
                let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
                Act::Send(asked.error("403 x", "RequestTimeTooSkewed", date))
            },
            &["the clocks of this machine", "s apart"],
        ),
        (
            |asked| {
                let region = "x-amz-bucket-region: eu-south-2\r\n";
                Act::Send(asked.error("301 x", "PermanentRedirect", region))
            },
            &["in the region eu-south-2"],
        ),
        (|_| Act::Send(text("302 x", "Location: http://x/\r\n", "<html></html>")), &["elsewhere"]),
        (|_| Act::Send(text("200 OK", "", "<html>Welcome</html>")), &["is not one of S3"]),
        (|_| Act::Silence(Vec::new()), &["is the service running"]),
        (|_| Act::Close(b"220 hello\r\n".to_vec()), &["does it speak HTTP"]),
        (|_| Act::Reset(Vec::new()), &["is the service running"]),
    ];
    for (answer, says) in cases {
        let fake = Fake::serve(answer);
        for engine in BOTH {
            let patience = if says == ["is the service running"] { SHORT } else { LONG };
            let opened = engine.open_with(&config(&fake.endpoint(), ""), patience);
            let error = opened.unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(says.iter().all(|says| shown.contains(says)), "{says:?}: {shown}");
            hides(&fake, &shown);
        }
    }
}

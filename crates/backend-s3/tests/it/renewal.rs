//! Credentials that expire while a queue is at work.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use backend::{Op, Store};
use plan::{Keys, Operation, S3Config};
use tempfile::TempDir;

use crate::alone;
use crate::fake::{Act, Asked, Fake, objects};
use crate::support::{BOTH, Engine, Opened, Setup, config};

const FIRST: &str = "AKIAFIRSTCANARY";
const SECOND: &str = "AKIASECONDCANARY";

/// Gives keys that live for eight seconds, then others that live for an hour. When the first expire is in a file.
const PROCESS: &str = r#"#!/bin/sh
cd "$FOLDER"
if [ ! -e expires ]; then
    name=AKIAFIRSTCANARY at=$(($(date +%s) + 8))
    echo $at >expires
else
    name=AKIASECONDCANARY at=$(($(date +%s) + 3600))
fi
printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "secret of %s", "SessionToken": "token of %s", ' \
    $name $name $name
printf '"Expiration": "%s"}' "$(date -u -d @$at +%Y-%m-%dT%H:%M:%SZ)"
"#;

#[test]
fn credentials_that_expire_are_renewed_in_time() {
    let benches = BOTH.map(|engine| {
        let folder = TempDir::new().unwrap();
        let script = folder.path().join("keys.sh");
        fs::write(&script, PROCESS).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let profile = folder.path().join("config");
        fs::write(&profile, format!("[default]\ncredential_process = {}\n", script.display())).unwrap();
        let mut test = alone::test("renewal::with_a_process_that_gives_credentials");
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"] {
            test.env_remove(name);
        }
        test.env("AWS_CONFIG_FILE", profile)
            .env("FOLDER", folder.path())
            .env("ENGINE", format!("{engine:?}"));
        test.stdout(Stdio::piped()).stderr(Stdio::piped());
        (folder, test)
    });
    // Side by side: each takes as long as the first credentials live.
    std::thread::scope(|scope| {
        for (folder, test) in benches {
            scope.spawn(move || {
                alone::passes(test);
                drop(folder);
            });
        }
    });
}

/// Whether the first credentials have expired.
#[expect(clippy::disallowed_methods, reason = "credentials expire by the calendar")]
fn expired() -> bool {
    let expires = fs::read_to_string(format!("{}/expires", alone::given("FOLDER"))).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs() >= expires.trim().parse().unwrap()
}

fn strict(asked: &Asked) -> Act {
    let signed = |id: &str| {
        asked.head.contains(&format!("Credential={id}/"))
            && asked.head.contains(&format!("x-amz-security-token: token of {id}\r\n"))
    };
    match (signed(FIRST), signed(SECOND)) {
        (true, false) if expired() => Act::Send(asked.error("400 x", "ExpiredToken", "")),
        (true, false) | (false, true) => asked.well(),
        _ => Act::Send(asked.error("403 x", "InvalidAccessKeyId", "")),
    }
}

#[test]
#[ignore = "needs an environment of its own, which another test gives it"]
fn with_a_process_that_gives_credentials() {
    let engine = if alone::given("ENGINE") == "Lean" { Engine::Lean } else { Engine::Sdk };
    let fake = Fake::serve(strict);
    let keys = Keys::Chain { profile: None };
    let store = engine.open(&S3Config { keys, ..config(&fake.endpoint(), "p") }).unwrap();
    let setup = Setup { operation: Operation::Read, depth: 2, connections: 2 };
    let mut queue = Opened::new(&store, &objects(), setup);
    let all = [0, 1, 2, 3].map(|object| Op::Read { object, offset: 4096, len: 4096 });
    let mut was_expired = false;
    // Once more after the end: those requests are signed by the second credentials.
    while !was_expired {
        was_expired = expired();
        for end in queue.run(&all) {
            assert_eq!(end, Ok(4096), "{:?}", queue.queue.report().first_failure);
        }
        store.stat(&objects().key(0)).unwrap();
    }
    let shown = format!("{store:?} {:?} {:?}", store.facts(), queue.queue.report());
    assert!(!shown.contains("CANARY"), "{shown}");
    queue.close();
}

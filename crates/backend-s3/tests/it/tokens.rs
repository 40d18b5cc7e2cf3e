//! Credentials of the environment, with a session token, in a process that has no others.

use std::process::Command;

use plan::{Keys, S3Config};

use crate::faults;
use crate::support::{ID, SECRET, config};

#[test]
fn a_session_token_is_shown_nowhere() {
    let me = std::env::current_exe().unwrap();
    let ended = Command::new(me)
        .args(["--exact", "tokens::with_a_session_token", "--ignored"])
        .env("AWS_ACCESS_KEY_ID", ID)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_SESSION_TOKEN", "FwoGCANARY//token==")
        .env("AWS_CONFIG_FILE", "/dev/null")
        .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "needs an environment of its own, which another test gives it"]
fn with_a_session_token() {
    faults::meet_all(|endpoint| S3Config { keys: Keys::Chain { profile: None }, ..config(endpoint, "p") });
}

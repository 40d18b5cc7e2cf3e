//! Credentials of the environment, with a session token, in a process that has no others.

use plan::{Keys, S3Config};

use crate::alone;
use crate::faults;
use crate::support::{ID, SECRET, config};

#[test]
fn a_session_token_is_shown_nowhere() {
    let mut test = alone::test("tokens::with_a_session_token");
    test.env("AWS_ACCESS_KEY_ID", ID)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_SESSION_TOKEN", "FwoGCANARY//token==");
    alone::passes(test);
}

#[test]
#[ignore = "needs an environment of its own, which another test gives it"]
fn with_a_session_token() {
    faults::meet_all(|endpoint| S3Config { keys: Keys::Chain { profile: None }, ..config(endpoint, "p") });
}

//! Tests in a process of their own: with other names, or with another environment.

use std::process::Command;

/// This binary, to run one ignored test of it.
pub(crate) fn test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    for variable in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        command.env(variable, "/dev/null");
    }
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

/// Runs it to its end, which must be a good one.
pub(crate) fn passes(mut command: Command) {
    let ended = command.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let erred = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.contains("1 passed"), "{command:?}\n{said}\n{erred}");
}

/// A variable that the test which started this one has set.
pub(crate) fn given(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name}: another test gives it"))
}

//! Names and credentials leave a record before they enter it.
//!
//! Known texts (host, user, folders) are replaced by stable labels, so that two records of one machine
//! still say the same. Credentials are removed by their form, whether or not they are known. A secret
//! that is neither known, nor named in its text, nor of a form that is known, cannot be recognized.

use serde_json::Value;

use crate::credentials;

/// Shorter names would mangle ordinary text, so they are replaced only between slashes.
// A user called `a` would otherwise take every a out of the record.
const NAME_CHARS_MIN: usize = 3;

/// Words that a record and its readers give a meaning. A user or host of that name is hidden only between
/// slashes: replaced everywhere, it would make the record unreadable, and the word identifies nobody.
// A host called `cold` is conceivable, one called `root` exists on every machine.
const RESERVED: [&str; 36] = [
    "ceiling",
    "rep",
    "end",
    "measure",
    "confirm",
    "complete",
    "exhausted",
    "interrupted",
    "failed",
    "value",
    "unavailable",
    "unlimited",
    "cold",
    "warm",
    "bypass",
    "generate",
    "existing",
    "sequential",
    "random",
    "shuffled_epoch",
    "null",
    "io_uring",
    "pread",
    "cachestat",
    "mincore",
    "direct",
    "none",
    "base",
    "release",
    "debug",
    "budget",
    "auto",
    "localhost",
    "root",
    "true",
    "false",
];

/// Replaces secrets in text. The default removes credentials only.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first: a home directory before the user's name in it.
    labels: Vec<(String, String)>,
}

impl Redactor {
    /// From known texts and what to write in their place, such as (`node17.example.org`, `<host>`).
    /// Texts without a letter or digit are ignored.
    pub fn new(labels: Vec<(String, String)>) -> Self {
        let mut labels: Vec<_> = labels
            .into_iter()
            .map(|(secret, label)| (secret.trim().to_owned(), label))
            .filter(|(secret, _)| secret.contains(char::is_alphanumeric))
            .collect();
        // Longest first: `/home/anna` has to go before `anna`, or a path with a hole is left.
        labels.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { labels }
    }

    /// The text without secrets. Applying it twice changes nothing more.
    pub fn text(&self, text: &str) -> String {
        // Before names, since a label inside a key would break the form by which the key is recognized.
        let text = credentials::strip(text);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            if let Some((secret, label)) = self.labels.iter().find(|(secret, _)| stands_at(secret, &text, at))
            {
                out.push_str(label);
                at += secret.len();
            } else {
                let label =
                    self.labels.iter().map(|(_, label)| label).find(|label| is_label_at(label, &text[at..]));
                let length = label.map_or(next.len_utf8(), String::len);
                out.push_str(&text[at..at + length]);
                at += length;
            }
        }
        out
    }

    /// All string values of a JSON value without secrets; a value whose key, or whose preceding argument, names
    /// a credential is replaced whole. Keys are left as they are.
    pub fn json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(values) => Value::Array(self.array(values)),
            Value::Object(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| {
                        // Keys say what values do not: a password may look like any word.
                        let hidden = credentials::is_secret_name(&key) && value.is_string();
                        let value = if hidden { credentials::HIDDEN.into() } else { self.json(value) };
                        (key, value)
                    })
                    .collect(),
            ),
            other => other,
        }
    }

    fn array(&self, values: Vec<Value>) -> Vec<Value> {
        let mut named = false;
        values
            .into_iter()
            .map(|value| {
                let hidden = named && value.is_string();
                // `--token VALUE` is two elements of a command line, and the second one has no name.
                named = value.as_str().is_some_and(is_secret_option);
                if hidden { credentials::HIDDEN.into() } else { self.json(value) }
            })
            .collect()
    }
}

/// Whether an argument is an option whose value, the next argument, is a credential.
fn is_secret_option(argument: &str) -> bool {
    argument.starts_with('-') && credentials::is_secret_name(argument)
}

/// Whether a label stands here already, written by an earlier pass. A label without brackets is ordinary text.
fn is_label_at(label: &str, rest: &str) -> bool {
    label.starts_with('<') && rest.starts_with(label)
}

/// Whether `secret` stands at byte `at` of `text` as a word or a path, in any case of ASCII letters.
fn stands_at(secret: &str, text: &str, at: usize) -> bool {
    let end = at + secret.len();
    let Some(found) = text.as_bytes().get(at..end) else { return false };
    // Host names have no case, and tools write them as they like.
    if !found.eq_ignore_ascii_case(secret.as_bytes()) {
        return false;
    }
    let before = text[..at].chars().next_back();
    let after = text[end..].chars().next();
    if is_common(secret) {
        return before == Some('/') && !after.is_some_and(is_name_char);
    }
    // Whole words alone: a host `data` must not eat `database`.
    let cut_before = secret.starts_with(char::is_alphanumeric) && before.is_some_and(char::is_alphanumeric);
    let cut_after = secret.ends_with(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
    !cut_before && !cut_after
}

fn is_common(secret: &str) -> bool {
    !secret.contains('/')
        && (secret.chars().count() < NAME_CHARS_MIN
            || RESERVED.iter().any(|word| word.eq_ignore_ascii_case(secret)))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redactor(labels: &[(&str, &str)]) -> Redactor {
        Redactor::new(
            labels.iter().map(|(secret, label)| ((*secret).to_owned(), (*label).to_owned())).collect(),
        )
    }

    #[track_caller]
    fn check(redactor: &Redactor, text: &str, expected: &str) {
        assert_eq!(redactor.text(text), expected);
        assert_eq!(redactor.text(expected), expected, "applied twice");
    }

    #[test]
    fn the_longest_known_text_wins() {
        let redactor =
            redactor(&[("alice", "<user>"), ("/home/alice", "<home>"), ("n1.example.org", "<host>")]);
        check(&redactor, "/home/alice/bench of alice", "<home>/bench of <user>");
        check(&redactor, "Alice@N1.EXAMPLE.ORG:/x", "<user>@<host>:/x");
        check(&redactor, "/mnt/home/alice_old/alice-2", "/mnt<home>_old/<user>-2");
    }

    #[test]
    fn only_whole_words_are_replaced() {
        let redactor = redactor(&[("ann", "<user>"), ("/root", "<home>")]);
        check(&redactor, "annual plan, cannot, (ann)", "annual plan, cannot, (<user>)");
        check(&redactor, "/rooted /root/x /root", "/rooted <home>/x <home>");
        check(&redactor, "Müann ann", "Müann <user>");
    }

    #[test]
    fn short_and_common_names_are_replaced_between_slashes_only() {
        let redactor =
            redactor(&[("a", "<user>"), ("cold", "<host>"), (" ", "<x>"), ("", "<x>"), ("/", "<x>")]);
        check(&redactor, "a cold cell / a/b", "a cold cell / a/b");
        check(&redactor, "/home/a/x /home/a", "/home/<user>/x /home/<user>");
        check(&redactor, "/net/cold/x /net/cold.d /a-b", "/net/<host>/x /net/cold.d /a-b");
    }

    #[test]
    fn a_label_is_not_redacted_again() {
        let redactor = redactor(&[("user", "<user>"), ("node", "<user-node>")]);
        check(&redactor, "user on node", "<user> on <user-node>");
    }

    #[test]
    fn json_keeps_keys_and_numbers_and_hides_named_values() {
        let redactor = redactor(&[("alice", "<user>")]);
        let value = json!({ "alice": ["alice", 7, { "x": "at alice" }], "password": "p", "token": 3 });
        let expected =
            json!({ "alice": ["<user>", 7, { "x": "at <user>" }], "password": "<redacted>", "token": 3 });
        assert_eq!(redactor.json(value), expected);
    }

    #[test]
    fn the_argument_after_a_secret_option_is_hidden() {
        let value = json!(["run", "--secret-key", "abc", "--set", "x=1", "--token=t", "y"]);
        let expected =
            json!(["run", "--secret-key", "<redacted>", "--set", "x=1", "--token=<redacted>", "y"]);
        assert_eq!(Redactor::default().json(value), expected);
    }
}

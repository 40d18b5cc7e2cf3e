//! Credentials recognized by their form: in URLs, after a name or a scheme that says so, access key ids, and secret keys of AWS
//! that stand alone.

/// What stands where a credential was.
pub(crate) const HIDDEN: &str = "<redacted>";

/// Ends of names whose value is a credential, without `-` and `_`, in lower case.
// Ends and not whole names: `AWS_SECRET_ACCESS_KEY`, `x-amz-security-token` and `db_password` are all found
// by them.
const SECRET_NAMES: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "accesskeyid",
    "signature",
    "credential",
    "authorization",
    // Azure's: the key of a storage account, a string that holds one, and a signature in a URL.
    "accountkey",
    "storagekey",
    "connectionstring",
    "sig",
];

/// Beginnings of the key ids of AWS, long-lived and temporary; 16 letters or digits follow.
// AKIA are keys of users, ASIA those of sessions (IAM, unique identifiers).
const KEY_ID_PREFIXES: [&str; 2] = ["AKIA", "ASIA"];
const KEY_ID_TAIL_CHARS: usize = 16;

/// Schemes of HTTP authentication that a credential follows (RFC 7617, RFC 6750).
const SCHEMES: [&str; 2] = ["basic", "bearer"];
/// Fewest letters of a credential after a scheme; a shorter word is a word.
// "basic authentication" is a phrase, and `Bearer eyJ...` a token.
const SCHEME_VALUE_MIN: usize = 12;

/// Letters of a secret key of AWS, and how many of them are capital and small at least. Of 64 kinds of letters 26 are capital:
/// fewer than six of forty are there once in 10^4 keys.
const SECRET_KEY_CHARS: usize = 40;
const CASED_MIN: usize = 6;

/// Quotes around a value, longest first; the last one is a quote inside a quoted text.
const QUOTES: [&str; 6] = ["\"\"\"", "'''", "\"", "'", "`", "\\\""];

/// The text without credentials.
pub(crate) fn strip(text: &str) -> String {
    // URLs first: in `https://user:token@host` the colon is no separator of a name and its value.
    let named = strip_named(&strip_urls(text));
    let schemes = strip_scheme_values(&strip_key_ids(&named));
    hide(&schemes, "+/", |_, word| is_secret_key(word))
}

/// Whether a value of this name is a credential.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    SECRET_NAMES.iter().any(|secret| plain.ends_with(secret))
}

/// User, password, query and fragment of every URL.
fn strip_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        let (url, after) = tail.split_at(url_end(tail));
        out.push_str(bare_url(url));
        rest = after;
    }
    out + rest
}

/// A URL ends where white space or a quote begins, or the scheme of the next URL.
fn url_end(tail: &str) -> usize {
    let ends =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\');
    let end = tail.find(ends).unwrap_or(tail.len());
    let next = tail[..end].find("://").map(|at| tail[..at].trim_end_matches(is_scheme_char).len());
    next.unwrap_or(end)
}

fn is_scheme_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-')
}

/// Host and path of what follows `://`.
fn bare_url(url: &str) -> &str {
    // The user ends at the last `@` before the path, as browsers take it; a password may hold an `@`
    // itself.
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    let host = match authority.rfind('@') {
        Some(at) => &url[at + 1..],
        // A password that holds `/` or `?` unescaped: what looks like a port is not one.
        None if has_broken_port(authority) => url.rfind('@').map_or(url, |at| &url[at + 1..]),
        None => url,
    };
    // Presigned URLs carry signature and session token in their query.
    &host[..host.find(['?', '#']).unwrap_or(host.len())]
}

fn has_broken_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    !authority.starts_with('[') && port.is_some_and(|port| port.contains(|c: char| !c.is_ascii_digit()))
}

/// Values after `password=`, `Authorization:`, `X-Amz-Signature=` and their like.
fn strip_named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, separator) in text.match_indices(['=', ':']) {
        if at < copied {
            continue;
        }
        let name = name_before(&text[..at]);
        if !is_secret_name(name) {
            continue;
        }
        let start = at + separator.len();
        let (from, to) = value_span(&text[start..], is_header(name));
        out.push_str(&text[copied..start + from]);
        if from < to {
            out.push_str(HIDDEN);
        }
        copied = start + to;
    }
    out + &text[copied..]
}

/// The word before a separator, past white space and a closing quote.
fn name_before(head: &str) -> &str {
    let head = head.trim_end_matches([' ', '\t', '"', '\'', '\\']);
    let start = head.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).len();
    &head[start..]
}

/// A header's value holds spaces: a scheme, then the credential.
fn is_header(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("authorization")
}

/// Where the value after a separator begins and ends, without its quotes.
fn value_span(tail: &str, header: bool) -> (usize, usize) {
    let start = tail.len() - tail.trim_start_matches([' ', '\t', '=', '>']).len();
    let value = &tail[start..];
    if let Some(quote) = QUOTES.iter().find(|quote| value.starts_with(**quote)) {
        let from = start + quote.len();
        return (from, from + closing_quote(&tail[from..], quote));
    }
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '"' | '\'' | '`') || !header && (c.is_whitespace() || c == '&');
    let value = &value[..value.find(ends).unwrap_or(value.len())];
    // The quote that ended it may itself be escaped.
    (start, start + value.trim_end_matches('\\').len())
}

fn closing_quote(value: &str, quote: &str) -> usize {
    let escaped = |at: usize| value[..at].ends_with('\\') && !quote.starts_with('\\');
    value.match_indices(quote).map(|(at, _)| at).find(|at| !escaped(*at)).unwrap_or(value.len())
}

/// What follows a scheme of HTTP authentication.
fn strip_scheme_values(text: &str) -> String {
    let mut after_scheme = false;
    hide(text, "+/=._~-<>", |gap, word| {
        let hides = after_scheme && gap.trim_start_matches(' ').is_empty() && is_scheme_value(word);
        after_scheme = SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
        hides
    })
}

/// The text without those words that `hides` says are credentials, by what stands before them and themselves. A word is made of
/// ASCII letters, digits, and `others`.
fn hide(text: &str, others: &str, mut hides: impl FnMut(&str, &str) -> bool) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (gap, tail) = rest.split_at(start);
        let (word, after) = tail.split_at(tail.find(|c| !is_part(c)).unwrap_or(tail.len()));
        out.extend([gap, if hides(gap, word) { HIDDEN } else { word }]);
        rest = after;
    }
    out + rest
}

fn is_scheme_value(word: &str) -> bool {
    // A word of small letters alone is prose: "basic understanding".
    word != HIDDEN && word.len() >= SCHEME_VALUE_MIN && !word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a word looks as a secret key of AWS does: no hash in hexadecimal, and hardly a path.
fn is_secret_key(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    word.len() == SECRET_KEY_CHARS
        // Hashes have no capitals, paths hardly digits and capitals on exactly forty letters; a false alarm
        // costs a word of a note, a miss costs the key.
        && count(u8::is_ascii_digit) > 0
        && count(u8::is_ascii_uppercase) >= CASED_MIN
        && count(u8::is_ascii_lowercase) >= CASED_MIN
}

/// Access key ids of AWS.
fn strip_key_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, length)) = key_id(rest) {
        out.push_str(&rest[..at]);
        out.push_str(HIDDEN);
        rest = &rest[at + length..];
    }
    out + rest
}

/// Position and length of the first key id.
fn key_id(text: &str) -> Option<(usize, usize)> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter(|at| KEY_ID_PREFIXES.iter().any(|prefix| text[*at..].starts_with(prefix))).find_map(|at| {
        let tail = text[at..].bytes().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let length = tail.count();
        (length >= KEY_ID_PREFIXES[0].len() + KEY_ID_TAIL_CHARS).then_some((at, length))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(strip(text), expected);
        assert_eq!(strip(expected), expected, "applied twice");
    }

    #[test]
    fn a_url_keeps_its_host_and_path() {
        check("s3://bench/data", "s3://bench/data");
        check("see https://u:p@h:9000/a/b?sig=1&x=2#f now", "see https://h:9000/a/b now");
        check("http://[::1]:9000/a@b", "http://[::1]:9000/a@b");
        check("http://u:p/w?d@host/x", "http://host/x");
        check("\"http://a:b@x\",http://c:d@y/z?q", "\"http://x\",http://y/z");
        check("http://a:b@x,http://c:d@y", "http://x,http://y");
        check("http://h/go?to=http://c:d@y/", "http://h/gohttp://y/");
        check("://", "://");
    }

    #[test]
    fn a_value_after_a_secret_name_is_hidden() {
        check("password=hunter2 next", "password=<redacted> next");
        check("AWS_SECRET_ACCESS_KEY=a/b+c==", "AWS_SECRET_ACCESS_KEY=<redacted>");
        check("session-token : 'a b' rest", "session-token : '<redacted>' rest");
        check(r#"{"client_secret": "a\"b", "n": 1}"#, r#"{"client_secret": "<redacted>", "n": 1}"#);
        check(r#"{\"password\":\"abc\",\"n\":1}"#, r#"{\"password\":\"<redacted>\",\"n\":1}"#);
        check("secret = \"\"\"a\nb\"\"\"\nn = 1", "secret = \"\"\"<redacted>\"\"\"\nn = 1");
        check("GET /k?X-Amz-Signature=ab12&X-Amz-Date=1", "GET /k?X-Amz-Signature=<redacted>&X-Amz-Date=1");
        check(
            "X-Amz-Credential=A/2026/s3&X-Amz-Security-Token=t",
            "X-Amz-Credential=<redacted>&X-Amz-Security-Token=<redacted>",
        );
        check("password: ", "password: ");
        check("AccountName=a;AccountKey=ab+c/d== x", "AccountName=a;AccountKey=<redacted> x");
        check("AZURE_STORAGE_KEY=ab+c==", "AZURE_STORAGE_KEY=<redacted>");
        check("?sv=1&sig=ab%2Bc&sp=r", "?sv=1&sig=<redacted>&sp=r");
        check("config = x, design: y", "config = x, design: y");
        check("password=\"open", "password=\"<redacted>");
    }

    #[test]
    fn an_authorization_is_hidden_to_the_end_of_its_line() {
        check("Authorization: Bearer abc.def\nHost: h", "Authorization: <redacted>\nHost: h");
        check("curl -H \"authorization: Basic eHg=\" -v", "curl -H \"authorization: <redacted>\" -v");
        check("authorization: AWS4-HMAC-SHA256 Credential=A/b, Signature=c", "authorization: <redacted>");
    }

    #[test]
    fn key_ids_are_hidden_wherever_they_stand() {
        check("key AKIAABCDEFGHIJKLMNOP.", "key <redacted>.");
        check("xASIA0123456789ABCDEFy", "x<redacted>y");
        check("AKIASHORT", "AKIASHORT");
    }

    #[test]
    fn what_follows_a_scheme_is_hidden_where_it_is_no_word() {
        check("with Bearer eyJhbGciOi.J9-x_1 sent", "with Bearer <redacted> sent");
        check("basic QWxhZGRpbjpvcGVu", "basic <redacted>");
        check("a bearer of good news, basic authentication", "a bearer of good news, basic authentication");
    }

    #[test]
    fn a_secret_key_that_stands_alone_is_hidden() {
        check("the key is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY.", "the key is <redacted>.");
        check("x=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY)", "x=<redacted>)");
        for word in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "/mnt/Datasets/imagenet/Train/shards/part1",
            "/A/B1/C",
        ] {
            check(word, word);
        }
    }

    #[test]
    fn words_of_a_scenario_are_no_credentials() {
        let scenario =
            "need = { tokens_per_second = 2e6, token_size = \"4 B\" }\ntargets.s3 = { at = \"s3://b/p\" }";
        check(scenario, scenario);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = strip(&text);
        }

        #[test]
        fn text_made_of_what_is_looked_for_never_panics(
            parts in prop::collection::vec(prop::sample::select(vec![
                "://", "@", "?", "#", "=", ":", "password", "authorization", "\"", "\\", "'", "`", "\"\"\"", "AKIA",
                "0123456789ABCDEF", "/", " ", "\n", "ü", "&", "x",
            ]), 0..30),
        ) {
            let _ = strip(&parts.concat());
        }
    }
}

//! Looks for a few elements in an XML text that comes in pieces; builds no tree.
//!
//! A listing has thousands of keys and only their number is wanted; an error has a code and a message. What else an
//! error holds (the key id, the text that was signed) is passed over and never kept.

/// Longest name of an element that is looked for.
const NAME_BYTES_MAX: usize = 32;
/// Longest code of an error.
const CODE_BYTES_MAX: usize = 64;
/// Longest message that is kept, and longest name of an endpoint.
const MESSAGE_BYTES_MAX: usize = 300;
/// Longest token that says where a listing goes on: a key of 1024 bytes in base64, or escaped.
const TOKEN_BYTES_MAX: usize = 8192;

/// The names of a service's elements.
#[derive(Debug, PartialEq, Eq)]
pub struct Elements {
    /// The outermost one of a page of a listing.
    pub listing: &'static [u8],
    /// One for each entry of a listing.
    pub entries: [&'static [u8]; 2],
    /// Where the next page begins.
    pub token: &'static [u8],
    /// Whether there is a next page; `None` where the token alone says so.
    pub truncated: Option<&'static [u8]>,
}

/// What was found so far.
#[derive(Debug)]
pub struct Scan {
    elements: &'static Elements,
    state: State,
    name: Vec<u8>,
    /// Name of the outermost element.
    root: Vec<u8>,
    closed: bool,
    entries: u64,
    truncated: Vec<u8>,
    token: Vec<u8>,
    code: Vec<u8>,
    message: Vec<u8>,
    region: Vec<u8>,
    endpoint: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// The text of an element that is wanted.
    Wanted(Wanted),
    /// Between `<` and the end of the name.
    Name,
    /// Behind the name, up to `>`.
    Attributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Truncated,
    Token,
    Code,
    Message,
    Region,
    Endpoint,
}

impl Scan {
    /// Nothing, of a service with these names.
    pub fn new(elements: &'static Elements) -> Self {
        Self {
            elements,
            state: State::Text,
            name: Vec::new(),
            root: Vec::new(),
            closed: false,
            entries: 0,
            truncated: Vec::new(),
            token: Vec::new(),
            code: Vec::new(),
            message: Vec::new(),
            region: Vec::new(),
            endpoint: Vec::new(),
        }
    }

    /// Forgets everything but the memory that it has.
    pub fn reset(&mut self) {
        self.entries = 0;
        self.token.clear();
        self.next_page();
    }

    /// Before another page of the same listing; its entries and token stay.
    pub fn next_page(&mut self) {
        self.state = State::Text;
        self.closed = false;
        let (name, root, truncated) = (&mut self.name, &mut self.root, &mut self.truncated);
        let error = [&mut self.code, &mut self.message, &mut self.region, &mut self.endpoint];
        for text in [name, root, truncated].into_iter().chain(error) {
            text.clear();
        }
    }

    /// Takes the next piece of the text, cut anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            match self.state {
                State::Text => match bytes.iter().position(|byte| *byte == b'<') {
                    Some(at) => {
                        self.open_name();
                        bytes = &bytes[at + 1..];
                    }
                    None => return,
                },
                State::Wanted(wanted) => {
                    if *first == b'<' {
                        self.open_name();
                    } else {
                        self.keep(wanted, *first);
                    }
                    bytes = &bytes[1..];
                }
                State::Name => {
                    match first {
                        b'>' => self.element(),
                        b' ' | b'\t' | b'\r' | b'\n' => self.state = State::Attributes,
                        _ if self.name.len() < NAME_BYTES_MAX => self.name.push(*first),
                        _ => {}
                    }
                    bytes = &bytes[1..];
                }
                State::Attributes => match bytes.iter().position(|byte| *byte == b'>') {
                    Some(at) => {
                        self.element();
                        bytes = &bytes[at + 1..];
                    }
                    None => return,
                },
            }
        }
    }

    fn open_name(&mut self) {
        self.name.clear();
        self.state = State::Name;
    }

    /// A tag has ended.
    fn element(&mut self) {
        self.state = State::Text;
        if let Some(name) = self.name.strip_prefix(b"/") {
            // A listing that was cut is well-formed up to there; only its closing tag shows that it is whole.
            self.closed |= !self.root.is_empty() && name == self.root;
            return;
        }
        // Declarations and comments; a DOCTYPE does not make a root.
        if self.name.starts_with(b"?") || self.name.starts_with(b"!") {
            return;
        }
        if self.root.is_empty() {
            self.root.extend_from_slice(&self.name);
        }
        match &self.name[..] {
            name if self.elements.entries.contains(&name) => self.entries += 1,
            name if name == self.elements.token => self.want(Wanted::Token),
            name if self.elements.truncated == Some(name) => self.want(Wanted::Truncated),
            b"Code" => self.want(Wanted::Code),
            b"Message" => self.want(Wanted::Message),
            b"Region" => self.want(Wanted::Region),
            b"Endpoint" => self.want(Wanted::Endpoint),
            _ => {}
        }
    }

    fn want(&mut self, wanted: Wanted) {
        self.kept(wanted).0.clear();
        self.state = State::Wanted(wanted);
    }

    fn keep(&mut self, wanted: Wanted, byte: u8) {
        let (text, bytes_max) = self.kept(wanted);
        if text.len() < bytes_max {
            text.push(byte);
        }
    }

    fn kept(&mut self, wanted: Wanted) -> (&mut Vec<u8>, usize) {
        match wanted {
            Wanted::Truncated => (&mut self.truncated, 8),
            Wanted::Token => (&mut self.token, TOKEN_BYTES_MAX),
            Wanted::Code => (&mut self.code, CODE_BYTES_MAX),
            Wanted::Message => (&mut self.message, MESSAGE_BYTES_MAX),
            Wanted::Region => (&mut self.region, CODE_BYTES_MAX),
            Wanted::Endpoint => (&mut self.endpoint, MESSAGE_BYTES_MAX),
        }
    }

    /// Whether the text was a listing, to its end.
    pub fn is_listing(&self) -> bool {
        self.root == self.elements.listing && self.closed
    }

    /// Keys and common prefixes, of all pages.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Where the listing goes on; `None` when it has ended, and an error when it should go on and does not say where.
    ///
    /// # Errors
    /// It should go on, and does not say where.
    #[expect(clippy::result_unit_err, reason = "there is one thing that can be wrong")]
    pub fn goes_on_at(&self) -> Result<Option<String>, ()> {
        let token = unescape(&self.token);
        let (goes_on, token) = match self.elements.truncated {
            Some(_) => (self.truncated == b"true", token),
            // An element without a text may still have a line's end in it.
            None => (!token.trim().is_empty(), token.trim().to_owned()),
        };
        if !goes_on {
            return Ok(None);
        }
        // A token at the bound was cut, and would ask for another page than the next.
        if token.is_empty() || self.token.len() == TOKEN_BYTES_MAX { Err(()) } else { Ok(Some(token)) }
    }

    /// Before the token of the next page is read.
    pub fn forget_token(&mut self) {
        self.token.clear();
    }

    /// The code of an error; empty when the text had none.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.code).unwrap_or_default()
    }

    /// The region that a bucket is in, where an error names it.
    pub fn region(&self) -> &str {
        std::str::from_utf8(&self.region).unwrap_or_default()
    }

    /// Where an error says that the answer is; empty where it does not.
    pub fn endpoint(&self) -> String {
        unescape(&self.endpoint)
    }

    /// The message of an error.
    pub fn message(&self) -> String {
        unescape(&self.message)
    }
}

/// Replaces entities; an ampersand that begins none stays.
fn unescape(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest.find(';').and_then(|end| Some((end, character(&rest[1..end])?)));
        let (end, character) = entity.unwrap_or((0, '&'));
        out.push(character);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

fn character(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: Elements = Elements {
        listing: b"ListBucketResult",
        entries: [b"Key", b"CommonPrefixes"],
        token: b"NextContinuationToken",
        truncated: Some(b"IsTruncated"),
    };

    const PAGE: &str = concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>",
        "<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b/&#x41;=</NextContinuationToken>",
        "<Contents><Key>d/1</Key><Size>3</Size></Contents><Contents><Key>d/2</Key></Contents>",
        "<CommonPrefixes><Prefix>d/x/</Prefix></CommonPrefixes></ListBucketResult>",
    );

    fn scan(pieces: &[&[u8]]) -> Scan {
        let mut scan = Scan::new(&NAMES);
        for piece in pieces {
            scan.push(piece);
        }
        scan
    }

    #[test]
    fn entries_and_token_are_found_wherever_the_text_is_cut() {
        for cut in 0..=PAGE.len() {
            let (head, tail) = PAGE.as_bytes().split_at(cut);
            let scan = scan(&[head, tail]);
            assert!(scan.is_listing());
            assert_eq!(
                (scan.entries(), scan.goes_on_at()),
                (3, Ok(Some("a&b/A=".to_owned()))),
                "cut at {cut}"
            );
        }
        assert!(!scan(&[&PAGE.as_bytes()[..PAGE.len() - 1]]).is_listing());
    }

    #[test]
    fn pages_add_up_and_a_page_that_should_go_on_must_say_where() {
        let mut scan = scan(&[PAGE.as_bytes()]);
        scan.next_page();
        scan.forget_token();
        scan.push(b"<ListBucketResult><IsTruncated>false</IsTruncated><Key>d/3</Key></ListBucketResult>");
        assert_eq!((scan.entries(), scan.goes_on_at()), (4, Ok(None)));
        scan.reset();
        scan.push(b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>");
        assert_eq!((scan.entries(), scan.goes_on_at()), (0, Err(())));
    }

    #[test]
    fn of_an_error_only_code_and_message_are_kept() {
        let text = "<Error><Code>SignatureDoesNotMatch</Code><Message>it &lt;differs&gt;</Message>\
                    <AWSAccessKeyId>AKIA</AWSAccessKeyId><StringToSign>AWS4 secret</StringToSign></Error>";
        let scan = scan(&[text.as_bytes()]);
        assert_eq!((scan.code(), scan.message().as_str()), ("SignatureDoesNotMatch", "it <differs>"));
        assert!(!format!("{scan:?}").contains("AKIA"));
    }

    #[test]
    fn a_page_of_a_proxy_is_no_listing() {
        let scan = scan(&[b"<!DOCTYPE html><html><body>Sign in</body></html>"]);
        assert_eq!((scan.is_listing(), scan.code()), (false, ""));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_and_nothing_grows_without_bound(
            text in proptest::collection::vec("[<>/&;#A-Za-z ]{0,40}|<Code>|<Message>|<Key>|<NextContinuationToken>", 0..60),
        ) {
            let mut scan = Scan::new(&NAMES);
            for piece in &text {
                scan.push(piece.as_bytes());
            }
            prop_assert!(scan.code.len() <= CODE_BYTES_MAX && scan.message.len() <= MESSAGE_BYTES_MAX);
            let _ = (scan.message(), scan.goes_on_at());
        }
    }
}

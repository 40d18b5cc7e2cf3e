//! The seam between the engine and a service: what its requests look like, and what its texts say.

use std::fmt;

use backend::ErrorKind;
use dataset::Key;

use crate::ranges::ByteRange;
use crate::scan::Elements;

/// One service's way to say what the engine asks. It writes requests into a buffer and allocates nothing for one.
pub trait Dialect: fmt::Debug {
    /// The service, for messages.
    const SERVICE: &'static str;

    /// What is looked for in its texts.
    const ELEMENTS: &'static Elements;

    /// The kind of a reply other than a success, by its status and, where the service said one, its code.
    fn kind(status: u16, code: &str) -> ErrorKind;

    /// What is said of a failure beside its code and its message, by its code and the endpoint that it names.
    fn advice(_code: &str, _endpoint: &str) -> Option<String> {
        None
    }

    /// Appends a GET of an object, or of a range of it.
    fn get(&mut self, object: u32, range: Option<ByteRange>, out: &mut Vec<u8>);

    /// Appends a HEAD of an object.
    fn head(&mut self, object: u32, out: &mut Vec<u8>);

    /// Appends the head of a PUT of an object of so many bytes, in the place of the one that is there.
    fn put(&mut self, object: u32, bytes: u64, out: &mut Vec<u8>);

    /// Appends a request for a page of a folder's entries (the root's where it is `None`) under the `root`th prefix, from
    /// `token` on.
    fn list(&mut self, folder: Option<&Key>, root: u32, token: Option<&str>, out: &mut Vec<u8>);

    /// Takes secrets out of a text of the service's.
    fn scrub(&self, text: &str) -> String;
}

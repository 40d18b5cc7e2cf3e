//! A page of a listing, read from its XML.

use backend_http::decoded;
use roxmltree::{Document, Node, ParsingOptions};

use crate::date::nanoseconds;

/// Nodes of a page, at most. A blob has some 60, and a page 5,000 blobs.
const NODES_MAX: u32 = 2_000_000;

/// A page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) blobs: Vec<Blob>,
    /// What names begin with up to the next slash, with that slash.
    pub(crate) folders: Vec<String>,
    /// Where the next page begins; `None` of the last.
    pub(crate) next: Option<String>,
}

/// A blob of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified_ns: i128,
}

/// Reads a page; the error says what is wrong with it.
pub(crate) fn read(text: &[u8]) -> Result<Page, String> {
    let text = std::str::from_utf8(text).map_err(|_| "the listing is no text".to_owned())?;
    // Without declarations of types: an entity that stands for others could fill any memory.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| format!("the listing is no XML: {error}"))?;
    let root = document.root_element();
    if !root.has_tag_name("EnumerationResults") {
        return Err("the answer is no listing".to_owned());
    }
    let next = child(root, "NextMarker").and_then(|marker| marker.text()).map(str::trim);
    let mut page = Page { next: next.filter(|next| !next.is_empty()).map(str::to_owned), ..Page::default() };
    for found in child(root, "Blobs").into_iter().flat_map(|blobs| blobs.children()) {
        match found.tag_name().name() {
            "Blob" => page.blobs.extend(blob(found)?),
            "BlobPrefix" => page.folders.push(name(found)?),
            _ => {}
        }
    }
    Ok(page)
}

/// `None` of a directory: accounts with a hierarchical namespace list them among their blobs.
fn blob(found: Node<'_, '_>) -> Result<Option<Blob>, String> {
    let name = name(found)?;
    let property = |wanted: &str| child(child(found, "Properties")?, wanted)?.text();
    if property("ResourceType") == Some("directory") {
        return Ok(None);
    }
    let bytes = property("Content-Length").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let bytes = bytes
        .and_then(|bytes| bytes.parse().ok())
        .ok_or_else(|| format!("the listing does not say how long `{name}` is"))?;
    let modified_ns = property("Last-Modified").and_then(|date| nanoseconds(date.as_bytes())).unwrap_or(0);
    Ok(Some(Blob { name, bytes, modified_ns }))
}

fn name(found: Node<'_, '_>) -> Result<String, String> {
    let name = child(found, "Name").ok_or("the listing has a blob without a name")?;
    let text = name.text().unwrap_or_default();
    // Names that XML cannot hold come percent-encoded, and say so.
    Ok(if name.attribute("Encoded") == Some("true") { decoded(text) } else { text.to_owned() })
}

fn child<'a, 'input>(of: Node<'a, 'input>, wanted: &str) -> Option<Node<'a, 'input>> {
    of.children().find(|child| child.has_tag_name(wanted))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"https://a/\" \
         ContainerName=\"c\"><Prefix>p/</Prefix><Delimiter>/</Delimiter><Blobs>\
         <Blob><Name>p/a&amp;b</Name><Properties><Last-Modified>Fri, 26 Jun 2015 23:39:12 GMT</Last-Modified>\
         <Content-Length>12</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>\
         <Blob><Name>p/dir</Name><Properties><ResourceType>directory</ResourceType>\
         <Content-Length>0</Content-Length></Properties></Blob>\
         <Blob><Name Encoded=\"true\">p/%01</Name><Properties><Content-Length>0</Content-Length></Properties></Blob>\
         <BlobPrefix><Name>p/sub/</Name></BlobPrefix></Blobs><NextMarker>2!76!x=</NextMarker></EnumerationResults>";

    #[test]
    fn a_page_has_blobs_folders_and_where_the_next_begins() {
        let page = read(PAGE.as_bytes()).unwrap();
        let blobs: Vec<(&str, u64, i128)> =
            page.blobs.iter().map(|blob| (&*blob.name, blob.bytes, blob.modified_ns)).collect();
        assert_eq!(blobs, [("p/a&b", 12, 1_435_361_952_000_000_000), ("p/\u{1}", 0, 0)]);
        assert_eq!((page.folders, page.next), (vec!["p/sub/".to_owned()], Some("2!76!x=".to_owned())));
        for last in ["<NextMarker />", "<NextMarker></NextMarker>", "<NextMarker>\n</NextMarker>", ""] {
            let text = PAGE.replace("<NextMarker>2!76!x=</NextMarker>", last);
            assert_eq!(read(text.as_bytes()).unwrap().next, None, "{last}");
        }
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for (text, says) in [
            ("<html><body>Sign in</body></html>", "no listing"),
            ("Sign in", "no XML"),
            (&PAGE[..PAGE.len() - 1], "no XML"),
            (&PAGE.replace("<Content-Length>12", "<Content-Length>-1"), "how long"),
            (&PAGE.replace("<Content-Length>12", "<Content-Length>99999999999999999999"), "how long"),
            (&PAGE.replace("<Name>p/a&amp;b</Name>", ""), "without a name"),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><EnumerationResults>&a;</EnumerationResults>", "no XML"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(says), "{error}: {text}");
        }
        assert!(read(b"\xff\xfe").is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(at in 0..PAGE.len(), bytes in proptest::collection::vec(any::<u8>(), 0..8)) {
            let mut text = PAGE.as_bytes().to_vec();
            let end = (at + bytes.len()).min(text.len());
            text.splice(at..end, bytes);
            let _ = read(&text);
        }
    }
}

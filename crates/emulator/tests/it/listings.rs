//! Listings of S3: both versions, and what neither may say.

use emulator::Server;

use crate::http::{Client, started};

fn holding(keys: &[&str]) -> (Server, Client) {
    let (server, mut client) = started();
    for key in keys {
        assert_eq!(client.put(&format!("/bench/{key}"), b"x").status, 200, "{key}");
    }
    (server, client)
}

/// What the elements of this name hold.
fn all(text: &str, name: &str) -> Vec<String> {
    let open = format!("<{name}>");
    text.split(&open).skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn a_token_that_was_not_given_out_is_refused() {
    let (_server, mut client) = holding(&["a", "b", "c"]);
    let page = client.get("/bench?list-type=2&max-keys=1");
    let token = page.element("NextContinuationToken").unwrap();
    let altered = format!("{}0", &token[..token.len() - 1]);
    for garbage in ["garbage", "", "%00", "b", &token[1..], &altered] {
        let refused = client.get(&format!("/bench?list-type=2&continuation-token={garbage}"));
        assert_eq!(refused.refusal(), (400, "InvalidArgument"), "{garbage}");
    }
    let next = client.get(&format!("/bench?list-type=2&continuation-token={token}&start-after=c"));
    assert_eq!(all(next.text(), "Key"), ["b", "c"], "a token goes before a key to start after");
}

#[test]
fn what_a_listing_cannot_mean_is_refused() {
    let (_server, mut client) = holding(&["a"]);
    for version in ["list-type=2&", ""] {
        for wrong in ["max-keys=-1", "max-keys=some", "encoding-type=xml"] {
            let refused = client.get(&format!("/bench?{version}{wrong}"));
            assert_eq!(refused.status, 400, "{version}{wrong}");
        }
        let none = client.get(&format!("/bench?{version}max-keys=0"));
        assert_eq!((none.status, none.element("IsTruncated")), (200, Some("false")));
    }
}

/// XML 1.0 has no way to write most of them.
#[test]
fn no_control_character_gets_into_a_listing() {
    let (_server, mut client) = holding(&["a"]);
    for control in ["%00", "%01", "%0A", "%1F", "%7F", "%EF%BF%BF"] {
        let path = format!("/bench/a{control}");
        assert_eq!(client.put(&path, b"x").refusal(), (400, "InvalidArgument"), "{control}");
        assert_eq!(client.get(&path).status, 404, "{control}");
        assert_eq!(client.send("POST", &format!("{path}?uploads"), &[], b"").status, 400, "{control}");
        for asked in ["prefix", "delimiter", "start-after"] {
            let path = format!("/bench?list-type=2&{asked}={control}");
            assert_eq!(client.get(&path).refusal(), (400, "InvalidArgument"), "{asked}={control}");
        }
        let path = format!("/bench?marker={control}");
        assert_eq!(client.get(&path).refusal(), (400, "InvalidArgument"), "marker={control}");
    }
    let delete = "<Delete><Object><Key>a&#1;</Key></Object></Delete>";
    assert_eq!(client.send("POST", "/bench?delete", &[], delete.as_bytes()).status, 400);
    assert_eq!(all(client.get("/bench?list-type=2").text(), "Key"), ["a"]);
}

#[test]
fn names_are_percent_encoded_where_asked() {
    let (_server, mut client) = holding(&["a%20%26%3C%2B/b%25", "a%20%26%3C%2B/%C3%A9/x"]);
    for version in ["list-type=2&", ""] {
        let path = format!("/bench?{version}prefix=a%20%26%3C%2B/&delimiter=/");
        let plain = client.get(&path);
        assert_eq!(all(plain.text(), "Key"), ["a &amp;&lt;+/b%"]);
        assert_eq!(plain.element("EncodingType"), None);
        let encoded = client.get(&format!("{path}&encoding-type=url"));
        assert_eq!(all(encoded.text(), "Key"), ["a%20%26%3C%2B/b%25"]);
        assert_eq!(all(encoded.text(), "Prefix"), ["a%20%26%3C%2B/", "a%20%26%3C%2B/%C3%A9/"]);
        assert_eq!(encoded.element("EncodingType"), Some("url"));
    }
}

/// Clients go on from the marker, and take a delimiter that is said for one that folds.
#[test]
fn a_listing_says_what_it_was_asked_for() {
    let (_server, mut client) = holding(&["a"]);
    let page = client.get("/bench");
    assert_eq!((page.element("Marker"), page.element("Prefix")), (Some(""), Some("")));
    assert_eq!(client.get("/bench?list-type=2").element("Prefix"), Some(""));
    for version in ["list-type=2&", ""] {
        assert_eq!(
            client.get(&format!("/bench?{version}delimiter=")).element("Delimiter"),
            None,
            "{version}"
        );
        assert_eq!(
            client.get(&format!("/bench?{version}delimiter=/")).element("Delimiter"),
            Some("/"),
            "{version}"
        );
    }
}

#[test]
fn the_first_version_lists_the_same_by_markers() {
    let keys = ["a/1", "a/2", "a/3/x", "a/3/y", "b"];
    let (_server, mut client) = holding(&keys);
    let whole = client.get("/bench");
    assert_eq!(all(whole.text(), "Key"), keys);
    assert_eq!((whole.element("IsTruncated"), whole.element("NextMarker")), (Some("false"), None));
    let (mut listed, mut marker) = (Vec::new(), String::new());
    for _ in 0..keys.len() {
        let page = client.get(&format!("/bench?max-keys=1&marker={marker}"));
        assert_eq!(page.element("NextMarker"), None, "the last key is the marker where nothing is folded");
        listed.extend(all(page.text(), "Key"));
        marker = listed.last().unwrap().clone();
    }
    assert_eq!(listed, keys);
    assert_eq!(all(client.get("/bench/?prefix=a/&marker=a/1").text(), "Key"), ["a/2", "a/3/x", "a/3/y"]);

    let (mut listed, mut marker) = (Vec::new(), Some(String::new()));
    while let Some(after) = marker {
        let page = client.get(&format!("/bench?prefix=a/&delimiter=/&max-keys=1&marker={after}"));
        listed.extend(all(page.text(), "Key"));
        listed.extend(all(page.text(), "Prefix").into_iter().skip(1));
        marker = page.element("NextMarker").map(str::to_owned);
    }
    assert_eq!(listed, ["a/1", "a/2", "a/3/"]);
}

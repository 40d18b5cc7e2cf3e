//! All checks against the emulator, which verifies signatures.

use emulator::{BucketKeys, Protocol, Server, Settings};
use plan::{S3Config, Secret};

use crate::support::{BOTH, BUCKET, ID, SECRET, config, own};
use crate::{checks, checksums};

fn check(check: fn(&S3Config)) {
    let keys = BucketKeys::Signed { id: ID.to_owned(), secret: Secret::new(SECRET) };
    let settings = Settings { keys, bucket: BUCKET.to_owned(), ..Settings::new(Protocol::S3) };
    let server = Server::start(&settings).unwrap();
    check(&config(&format!("http://127.0.0.1:{}", server.port()), ""));
}

#[test]
fn objects_are_written_listed_in_order_read_and_removed() {
    check(checks::objects_are_written_listed_in_order_read_and_removed);
}

#[test]
fn nothing_is_overwritten() {
    check(checks::nothing_is_overwritten);
}

#[test]
fn what_is_not_ours_is_neither_written_nor_removed() {
    check(checks::what_is_not_ours_is_neither_written_nor_removed);
}

#[test]
fn a_large_object_is_uploaded_in_parts_and_a_dropped_one_leaves_nothing() {
    check(checks::a_large_object_is_uploaded_in_parts_and_a_dropped_one_leaves_nothing);
}

#[test]
fn a_listing_goes_on_page_after_page() {
    check(checks::a_listing_goes_on_page_after_page);
}

#[test]
fn objects_are_spread_over_prefixes() {
    check(checks::objects_are_spread_over_prefixes);
}

#[test]
fn a_folder_of_other_prefixes_is_left_alone() {
    check(checks::a_folder_of_other_prefixes_is_left_alone);
}

#[test]
fn both_engines_conform_however_objects_are_fetched() {
    check(checks::both_engines_conform_however_objects_are_fetched);
}

#[test]
fn objects_are_written_anew_by_one_request_each() {
    check(checks::objects_are_written_anew_by_one_request_each);
}

#[test]
fn a_large_object_goes_out_of_a_small_buffer() {
    check(checks::a_large_object_goes_out_of_a_small_buffer);
}

#[test]
fn a_thousand_operations_are_under_way_at_once() {
    check(checks::a_thousand_operations_are_under_way_at_once);
}

#[test]
fn what_is_gone_is_not_found() {
    check(checks::what_is_gone_is_not_found);
}

#[test]
fn checksums_that_are_not_kept_are_none() {
    check(checksums::none_are_kept_and_all_is_read);
}

#[test]
fn a_wrong_secret_and_a_wrong_bucket_are_named() {
    check(|config| {
        for engine in BOTH {
            let wrong = S3Config { keys: own(ID, "wrongCANARY"), ..config.clone() };
            let text = engine.open(&wrong).unwrap_err().to_string();
            assert!(text.contains("SignatureDoesNotMatch") && text.contains("secret key"), "{text}");
            assert!(!text.contains("CANARY"), "{text}");
            let missing = S3Config { bucket: "missing".to_owned(), ..config.clone() };
            let text = engine.open(&missing).unwrap_err().to_string();
            assert!(text.contains("`missing` does not exist") && text.contains("hint: make it"), "{text}");
        }
    });
}

#[test]
fn etags_are_sums_of_what_is_written_at_once() {
    check(checksums::etags_are_sums_of_what_is_written_at_once);
}

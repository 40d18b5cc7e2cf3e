//! What is claimed of the storages, as plain figures.

use feed::bounds::Settings;

use crate::reader::Field;
use crate::value::Duration;
use crate::written::Expect;

/// The claim. `None` where there is none, and where it was wrong, which was reported when it was read.
pub(super) fn resolve(written: &Expect) -> Option<plan::Expect> {
    let seconds = |field: &Field<Duration>| field.given().map(|entry| entry.value.0 as f64 / 1e9);
    Some(plan::Expect {
        claim: written.claim.given()?.value.0.clone(),
        source: written.source.given().map(|entry| entry.value.0.clone()),
        settings: Settings {
            first_byte_s: seconds(&written.first_byte),
            metadata_s: seconds(&written.metadata),
            connection_bps: written.connection_rate.given().map(|entry| entry.value.0),
            total_bps: written.total_rate.given().map(|entry| entry.value.0),
            requests_per_s: written.requests_per_second.given().map(|entry| entry.value.0),
            prefixes: 1,
            seek_s: seconds(&written.seek),
            ..Settings::default()
        },
    })
}

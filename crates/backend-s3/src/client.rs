//! Clients of the AWS SDK.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::config::{
    BehaviorVersion, Region, RequestChecksumCalculation, ResponseChecksumValidation, SharedHttpClient,
    StalledStreamProtectionConfig,
};
use aws_sdk_s3::{Client, Config};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use backend::StoreError;

use crate::connect::CONNECT_TIMEOUT;
use crate::credentials::{Cell, Current};
use crate::endpoint::Endpoint;

/// Patience for one answer to a call that is not timed.
const CALL_TIMEOUT: Duration = Duration::from_mins(1);
/// Attempts at a call that is not timed.
const CALL_ATTEMPTS: u32 = 4;

/// Who trusts whom over HTTPS.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    /// Whether the system's certificates are read, which takes a while.
    pub(crate) system: bool,
    pub(crate) ca: Option<Vec<u8>>,
}

/// An HTTP client with a pool of connections of its own. It sets TCP_NODELAY and keeps any number of idle connections.
pub(crate) fn http(trust: &Trust) -> Result<SharedHttpClient, StoreError> {
    let mut store = TrustStore::empty().with_native_roots(trust.system);
    if let Some(ca) = &trust.ca {
        store = store.with_pem_certificate(ca.clone());
    }
    let context =
        TlsContext::builder().with_trust_store(store).build().map_err(|error| StoreError::Unavailable {
            what: "TLS".to_owned(),
            reason: error.to_string(),
            hint: "check the file that `ca` names".to_owned(),
        })?;
    let builder = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    Ok(builder.tls_context(context).build_https())
}

/// What a client is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Calls that are not timed: tried again when they fail in a way that may pass.
    Control,
    /// Operations that are timed: one attempt, no time-outs but ours.
    Measured {
        /// Whether checksums are asked for and verified.
        checksum: bool,
    },
}

/// A client of one bucket's service.
pub(crate) fn client(
    endpoint: &Endpoint,
    cell: Option<&Arc<Cell>>,
    http: SharedHttpClient,
    purpose: Purpose,
) -> Client {
    let validation = match purpose {
        Purpose::Measured { checksum: true } => ResponseChecksumValidation::WhenSupported,
        _ => ResponseChecksumValidation::WhenRequired,
    };
    let mut builder = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(endpoint.region.clone()))
        .force_path_style(endpoint.path_style)
        .disable_s3_express_session_auth(true)
        .http_client(http)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(validation);
    builder = match purpose {
        Purpose::Control => {
            builder.retry_config(RetryConfig::standard().with_max_attempts(CALL_ATTEMPTS)).timeout_config(
                TimeoutConfig::builder()
                    .connect_timeout(CONNECT_TIMEOUT)
                    .operation_attempt_timeout(CALL_TIMEOUT)
                    .build(),
            )
        }
        Purpose::Measured { .. } => builder
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).build()),
    };
    if let Some(url) = &endpoint.url {
        builder = builder.endpoint_url(url);
    }
    builder = match cell {
        Some(cell) => builder.credentials_provider(Current(Arc::clone(cell))),
        None => builder.allow_no_auth(),
    };
    Client::from_conf(builder.build())
}

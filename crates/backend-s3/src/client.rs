//! Clients of the AWS SDK.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_s3::config::{
    BehaviorVersion, ConfigBag, Intercept, Region, RequestChecksumCalculation, ResponseChecksumValidation,
    RuntimeComponents, SharedHttpClient, StalledStreamProtectionConfig,
};
use aws_sdk_s3::{Client, Config};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use backend::StoreError;
use backend_http::{CONNECT_TIMEOUT, Roots, Trust};
use http_body_util::Limited;

use crate::credentials::{Current, Keyring};
use crate::endpoint::Endpoint;

/// Patience for one answer to a call that is not timed.
const CALL_TIMEOUT: Duration = Duration::from_mins(1);
/// Attempts at a call that is not timed.
// Writing a dataset takes thousands of calls; one 503 among them is no reason to give up.
const CALL_ATTEMPTS: u32 = 4;

/// Bytes of an answer that is not an object, at most: twice a page of 1,000 of the longest keys with every letter
/// escaped. The SDK holds it whole.
// An endless listing was seen to take a gigabyte of memory in three seconds.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// An HTTP client with a pool of connections of its own. It sets TCP_NODELAY and keeps any number of idle connections.
pub(crate) fn http(trust: &Trust) -> Result<SharedHttpClient, StoreError> {
    // The SDK reads the system's certificates itself, and takes others as PEM alone.
    let mut store = match &trust.roots {
        Roots::System(found) => TrustStore::empty().with_native_roots(!found.is_empty()),
        Roots::BuiltIn => TrustStore::empty().with_pem_certificate(trust.roots.pem()),
        Roots::Unused => TrustStore::empty(),
    };
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

/// Ends answers that are longer than any service has reason to give.
#[derive(Debug)]
struct Bounded;

impl Intercept for Bounded {
    fn name(&self) -> &'static str {
        "Bounded"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        settings: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // The body of an object is streamed and as long as the object. Every other answer is held whole.
        let is_object = settings.load::<Metadata>().is_some_and(|of| of.name() == "GetObject");
        if !is_object {
            let body = context.response_mut().body_mut();
            let whole = std::mem::replace(body, SdkBody::taken());
            *body = whole.map(|body| SdkBody::from_body_1_x(Limited::new(body, ANSWER_BYTES_MAX)));
        }
        Ok(())
    }
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
    keyring: Option<&Arc<Keyring>>,
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
        // Directory buckets have sessions that are opened by calls of their own, which nobody here would
        // count.
        .disable_s3_express_session_auth(true)
        .http_client(http)
        // It would end a slow body by an error of the client's own; slow is what is to be measured.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        // WhenSupported, the SDK's default, sends checksums behind bodies, which some services other than AWS
        // refuse.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(validation);
    builder = match purpose {
        Purpose::Control => builder
            .interceptor(Bounded)
            .retry_config(RetryConfig::standard().with_max_attempts(CALL_ATTEMPTS))
            .timeout_config(
                TimeoutConfig::builder()
                    .connect_timeout(CONNECT_TIMEOUT)
                    .operation_attempt_timeout(CALL_TIMEOUT)
                    .build(),
            ),
        Purpose::Measured { .. } => builder
            // By default the SDK sleeps and tries again: under throttling it shows latencies of 0.6 to 1.1 s
            // that are its own (measured).
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).build()),
    };
    if let Some(url) = &endpoint.url {
        builder = builder.endpoint_url(url);
    }
    builder = match keyring {
        Some(keyring) => builder.credentials_provider(Current(Arc::clone(keyring))),
        None => builder.allow_no_auth(),
    };
    Client::from_conf(builder.build())
}

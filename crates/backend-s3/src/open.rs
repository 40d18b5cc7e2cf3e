//! Opening a bucket: region and endpoint, credentials, a connection, and one listing of one key, each with an error
//! that says what to write.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use aws_config::environment::EnvironmentVariableRegionProvider;
use aws_config::meta::region::ProvideRegion;
use aws_config::profile::ProfileFileRegionProvider;
use aws_credential_types::Credentials;
use aws_sdk_s3::config::interceptors::BeforeDeserializationInterceptorContextRef;
use aws_sdk_s3::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_s3::error::BoxError;
use aws_sdk_s3::{Client, Config};
use aws_smithy_types::timeout::TimeoutConfig;
use backend::StoreError;
use backend_http::{Roots, Trust, now, one_line, reach, read_ca, tls};
use backend_net::Tls;
use plan::{Keys, S3Config};

use crate::client::{self, Purpose};
use crate::credentials::{self, Keyring};
use crate::endpoint::Endpoint;
use crate::failure::Failed;
use crate::kind;
use crate::names::Names;
use crate::runtime::Runtime;

/// A bucket that was reached, and what is needed to reach it again.
pub(crate) struct Bucket {
    pub(crate) config: S3Config,
    pub(crate) endpoint: Endpoint,
    pub(crate) names: Names,
    /// `None` where requests are not signed.
    pub(crate) keyring: Option<Arc<Keyring>>,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls: Option<Tls>,
    pub(crate) trust: Trust,
    pub(crate) client: Client,
    /// Patience for a whole reply of an operation that is timed.
    pub(crate) reply_timeout: Duration,
    /// Whether feedline's own emulator answers.
    pub(crate) emulated: bool,
    pub(crate) runtime: Runtime,
}

/// What feedline's emulator calls itself in the field `Server` of its replies.
const EMULATOR: &str = "feedline-emulator";

/// Notes whether the emulator answers.
#[derive(Debug)]
struct Greeting(Arc<AtomicBool>);

impl Intercept for Greeting {
    fn name(&self) -> &'static str {
        "Greeting"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // Told by the reply and not by the address: whoever pastes the emulator's address must not get a
        // verdict on it.
        self.0.store(context.response().headers().get("server") == Some(EMULATOR), Ordering::Relaxed);
        Ok(())
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("endpoint", &self.endpoint.shown()).finish_non_exhaustive()
    }
}

impl Bucket {
    pub(crate) fn open(config: &S3Config, reply_timeout: Duration) -> Result<Self, StoreError> {
        let runtime = Runtime::new()?;
        let ca = config.ca.as_deref().map(read_ca).transpose()?;
        let chained = matches!(config.keys, Keys::Chain { .. });
        let url = config.endpoint.clone().or_else(|| {
            // A server that feedline started is not the one that the user's environment names.
            // In the order of the SDKs: the service's own variable goes before the one for all services.
            let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
            let found = names.iter().find_map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
            found.filter(|_| !matches!(config.keys, Keys::Own { .. }))
        });
        // A scenario with an endpoint of its own rarely names a region, and most such services take any.
        let region = region(config, url.is_some(), &runtime)?;
        let endpoint = Endpoint::new(config, url, &region)?;
        // SSO, web identity and AWS itself are reached by HTTPS.
        let roots = if endpoint.origin.https || chained { Roots::find() } else { Roots::Unused };
        let trust = Trust { roots, ca };
        let tls = tls(&endpoint.origin, &trust)?;
        // Name, connection and certificate are tried one by one before the SDK is asked: its errors do not
        // say which of them it was.
        let addresses = reach(&endpoint.origin, config.addresses, tls.as_ref(), endpoint.advice())?;
        let http = client::http(&trust)?;
        let keyring = keyring(config, &region, &http, &runtime)?;
        let client = client::client(&endpoint, keyring.as_ref(), http, Purpose::Control);
        let names = Names::new(&config.prefix, config.prefixes);
        let config = config.clone();
        let mut bucket = Self {
            config,
            endpoint,
            names,
            keyring,
            addresses,
            tls,
            trust,
            client,
            reply_timeout,
            emulated: false,
            runtime,
        };
        bucket.emulated = bucket.look()?;
        Ok(bucket)
    }

    /// Asks for one key, which needs the bucket, the region, the credentials and the right to list. Whether feedline's
    /// emulator answered.
    fn look(&self) -> Result<bool, StoreError> {
        let prefix = self.names.prefix();
        // Without it a silent service would be waited for through all attempts.
        let patience = TimeoutConfig::builder().operation_timeout(self.reply_timeout).build();
        // One key is enough to need everything that a run needs, and no bucket is too large for it.
        let asked = self.client.list_objects_v2().bucket(&self.config.bucket).prefix(prefix).max_keys(1);
        let emulated = Arc::new(AtomicBool::new(false));
        let asked = asked
            .customize()
            .interceptor(Greeting(Arc::clone(&emulated)))
            .config_override(Config::builder().timeout_config(patience));
        match self.runtime.run(asked.send()) {
            Ok(_) => Ok(emulated.load(Ordering::Relaxed)),
            Err(error) => Err(self.explain(&self.failed(&error))),
        }
    }

    /// A failure without secrets.
    pub(crate) fn failed<E>(
        &self,
        error: &aws_sdk_s3::error::SdkError<E, aws_sdk_s3::config::http::HttpResponse>,
    ) -> Failed
    where
        E: aws_sdk_s3::error::ProvideErrorMetadata + std::error::Error + 'static,
    {
        let mut failed = Failed::of(error);
        if let Some(keyring) = &self.keyring {
            failed.message = keyring.scrub(&failed.message);
            failed.sent_on = failed.sent_on.map(|text| keyring.scrub(&text).into());
        }
        failed.message = one_line(&failed.message);
        failed
    }

    /// As the user would write a key.
    pub(crate) fn shown(&self, physical: &str) -> String {
        format!("s3://{}/{physical}", self.config.bucket)
    }

    /// Why the bucket cannot be used, and what to write.
    fn explain(&self, failed: &Failed) -> StoreError {
        let bucket = &self.config.bucket;
        let (reason, hint) = match (failed.status, failed.code.as_str()) {
            (_, "NoSuchBucket") => (
                format!("the bucket `{bucket}` does not exist"),
                format!("make it (`aws s3 mb s3://{bucket}`), or correct its name"),
            ),
            (_, "InvalidAccessKeyId") => (
                format!("it does not know the access key ({})", failed.text()),
                "are these the keys of this service? Check AWS_ACCESS_KEY_ID or the profile".to_owned(),
            ),
            (_, "SignatureDoesNotMatch") => (
                failed.text(),
                "check the secret key for a lost or an added character, and the region".to_owned(),
            ),
            (_, "RequestTimeTooSkewed") => {
                (self.skew(failed), "set this machine's clock (`timedatectl`)".to_owned())
            }
            (_, "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired") => {
                (failed.text(), "sign in again (`aws sso login`), or renew AWS_SESSION_TOKEN".to_owned())
            }
            // S3 answers a signature for another region by one of these, and names the bucket's region.
            (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect")
            | (301 | 302 | 307 | 308, _) => self.elsewhere(failed),
            (407, _) => (
                "a proxy answers, and wants to know who asks".to_owned(),
                "storage is never measured through a proxy: use an endpoint that is reached directly"
                    .to_owned(),
            ),
            // Without a code it is some other server that forbids: see below.
            (401 | 403, code) if !code.is_empty() => (
                failed.text(),
                if self.keyring.is_some() {
                    "the credentials need s3:ListBucket on the bucket and s3:GetObject on its keys".to_owned()
                } else {
                    "the bucket is not public: leave out anonymous = true and give credentials".to_owned()
                },
            ),
            (429 | 503, _) => {
                (failed.text(), "the service asks for fewer requests: try again later".to_owned())
            }
            (0, _) if !failed.message.is_empty() => {
                (failed.message.clone(), "is the service running, and does it speak HTTP?".to_owned())
            }
            (_, code) if code.is_empty() || code == "NotFound" => (
                format!("its answer (status {}) is not one of S3", failed.status),
                "is this the endpoint of the S3 service, not of its console or of a web server?".to_owned(),
            ),
            _ => (failed.text(), "the service's own log says more".to_owned()),
        };
        StoreError::Unavailable { what: format!("`{bucket}` at {}", self.endpoint.shown()), reason, hint }
    }

    fn elsewhere(&self, failed: &Failed) -> (String, String) {
        let bucket = &self.config.bucket;
        if let Some(sent_on) = &failed.sent_on {
            return (sent_on.to_string(), kind::GATEWAYS_FETCH.to_owned());
        }
        match &failed.region {
            Some(region) => (
                format!("the bucket `{bucket}` is in the region {region}, not in {}", self.endpoint.region),
                format!("write region = \"{region}\""),
            ),
            None => (
                format!("the bucket `{bucket}` is elsewhere ({})", failed.text()),
                "write the region or the endpoint that the bucket is in".to_owned(),
            ),
        }
    }

    fn skew(&self, failed: &Failed) -> String {
        let ours_s = now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        match failed.date_s {
            Some(theirs_s) => {
                let apart_s = theirs_s.abs_diff(ours_s.cast_signed());
                format!(
                    "the clocks of this machine and of {} are {apart_s} s apart",
                    self.endpoint.origin.host
                )
            }
            None => failed.text(),
        }
    }
}

/// The region: the scenario's, the environment's, the profile's.
fn region(config: &S3Config, own_endpoint: bool, runtime: &Runtime) -> Result<String, StoreError> {
    if let Some(region) = &config.region {
        return Ok(region.clone());
    }
    let found = match &config.keys {
        Keys::Own { .. } => None,
        Keys::Anonymous => runtime.run(EnvironmentVariableRegionProvider::new().region()),
        Keys::Chain { profile } => runtime.run(async {
            let mut builder = ProfileFileRegionProvider::builder();
            if let Some(profile) = profile {
                builder = builder.profile_name(profile);
            }
            match EnvironmentVariableRegionProvider::new().region().await {
                Some(region) => Some(region),
                None => builder.build().region().await,
            }
        }),
    };
    match found {
        Some(region) => Ok(region.as_ref().to_owned()),
        None if own_endpoint => Ok("us-east-1".to_owned()),
        None => Err(StoreError::Unavailable {
            what: format!("`{}`", config.bucket),
            reason: "nothing says which region it is in (looked at AWS_REGION and the profile)".to_owned(),
            hint: "write region = \"REGION\", or endpoint = \"URL\" for a service other than AWS".to_owned(),
        }),
    }
}

/// The credentials, kept in force from here on.
fn keyring(
    config: &S3Config,
    region: &str,
    http: &aws_sdk_s3::config::SharedHttpClient,
    runtime: &Runtime,
) -> Result<Option<Arc<Keyring>>, StoreError> {
    match &config.keys {
        Keys::Anonymous => Ok(None),
        // A server that feedline started has a key that does not expire.
        Keys::Own { id, secret } => {
            Ok(Some(Keyring::new(Credentials::new(id, secret.reveal(), None, None, "feedline"))))
        }
        Keys::Chain { profile } => {
            let profile = profile.as_deref();
            let provider = runtime.run(credentials::chain(profile, region, http));
            let keyring = Keyring::new(runtime.run(credentials::first(&*provider, profile))?);
            runtime.keep(credentials::renew(provider, Arc::clone(&keyring)));
            Ok(Some(keyring))
        }
    }
}

#[cfg(test)]
mod tests;

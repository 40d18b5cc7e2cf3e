//! The credentials that sign requests: found once, renewed before they expire, shared by all clients of a store.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_config::imds;
use aws_config::provider_config::ProviderConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_s3::config::{Region, SharedHttpClient};
use backend::StoreError;
use backend_http::{hidden, now};

use crate::failure::causes;

/// Patience for the whole chain: instance metadata is asked last and is silent where there is none.
const CHAIN_TIMEOUT: Duration = Duration::from_secs(15);
/// Patience for instance metadata.
const METADATA_TIMEOUT: Duration = Duration::from_secs(1);
/// Credentials are renewed this long before they expire, as AWS's own clients do at the latest.
const RENEWED_BEFORE: Duration = Duration::from_mins(5);
/// The pause after a renewal that failed, or that brought nothing that lasts longer.
const RETRIED_AFTER: Duration = Duration::from_secs(30);
/// The shortest pause between two attempts.
const ATTEMPTS_APART: Duration = Duration::from_secs(1);

/// The credentials in force.
pub(crate) struct Keyring {
    generation: AtomicU64,
    current: RwLock<Credentials>,
    /// The credentials before: a reply to a request that they signed may still quote them.
    previous: RwLock<Option<Credentials>>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(credentials)")
    }
}

impl Keyring {
    pub(crate) fn new(credentials: Credentials) -> Arc<Self> {
        let (current, previous) = (RwLock::new(credentials), RwLock::default());
        Arc::new(Self { generation: AtomicU64::new(1), current, previous })
    }

    /// Changes whenever the credentials do; never 0.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn current(&self) -> Credentials {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, credentials: Credentials) {
        // Both under lock: a reply that quotes the old key must find it among the previous ones.
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut previous = self.previous.write().unwrap_or_else(PoisonError::into_inner);
        *previous = Some(std::mem::replace(&mut *current, credentials));
        drop((current, previous));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Takes the secrets out of a text that another program wrote, and signatures made with them.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let previous = self.previous.read().unwrap_or_else(PoisonError::into_inner).clone();
        let text = [Some(self.current()), previous].iter().flatten().fold(text.to_owned(), scrubbed);
        match text.split_once("AWS4-HMAC-SHA256") {
            // Whatever follows is a header that someone quoted: a credential scope and a signature.
            Some((before, _)) => format!("{before}(hidden)"),
            None => text,
        }
    }

    /// The name of their source; never the credentials.
    pub(crate) fn kind(&self) -> String {
        // The SDK has no accessor for the provider's name; its Debug alone shows it.
        let debug = format!("{:?}", self.current());
        let name = debug.split("provider_name: \"").nth(1).and_then(|rest| rest.split('"').next());
        name.unwrap_or("unknown").to_owned()
    }
}

/// A text without what these credentials consist of.
fn scrubbed(text: String, credentials: &Credentials) -> String {
    let secrets = [
        Some(credentials.access_key_id()),
        Some(credentials.secret_access_key()),
        credentials.session_token(),
    ];
    let secrets = secrets.into_iter().flatten().filter(|secret| !secret.is_empty());
    secrets.fold(text, |text, secret| hidden(&text, secret))
}

/// Gives the SDK the credentials in force.
#[derive(Debug, Clone)]
pub(crate) struct Current(pub(crate) Arc<Keyring>);

impl ProvideCredentials for Current {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Ok(self.0.current()))
    }
}

/// As every AWS tool looks for credentials.
pub(crate) fn chain(profile: Option<&str>, region: &str, http: &SharedHttpClient) -> ChainFuture {
    let region = Region::new(region.to_owned());
    let config =
        ProviderConfig::without_region().with_region(Some(region.clone())).with_http_client(http.clone());
    let metadata = imds::Client::builder()
        .configure(&config)
        // Outside of AWS nothing answers at 169.254.169.254, and each attempt would be waited for.
        .max_attempts(1)
        .connect_timeout(METADATA_TIMEOUT)
        .read_timeout(METADATA_TIMEOUT)
        .operation_timeout(METADATA_TIMEOUT * 2)
        .build();
    let mut builder =
        DefaultCredentialsChain::builder().configure(config).region(region).imds_client(metadata);
    if let Some(profile) = profile {
        builder = builder.profile_name(profile);
    }
    Box::pin(async move { Arc::new(builder.build().await) as Arc<dyn ProvideCredentials> })
}

/// A chain being put together.
pub(crate) type ChainFuture = std::pin::Pin<Box<dyn Future<Output = Arc<dyn ProvideCredentials>> + Send>>;

/// Credentials now, or why there are none.
pub(crate) async fn first(
    provider: &dyn ProvideCredentials,
    profile: Option<&str>,
) -> Result<Credentials, StoreError> {
    let found = tokio::time::timeout(CHAIN_TIMEOUT, provider.provide_credentials()).await;
    let cause = match found {
        Ok(Ok(credentials)) => return Ok(credentials),
        Ok(Err(error)) => causes(&error),
        Err(_) => format!("no answer within {} s", CHAIN_TIMEOUT.as_secs()),
    };
    let profile = profile.map_or(String::new(), |profile| format!(" `{profile}`"));
    Err(StoreError::Unavailable {
        what: "S3".to_owned(),
        reason: format!(
            "no credentials found (looked at the environment, the profile{profile}, web identity, container and \
             instance metadata: {cause})"
        ),
        hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile by profile = \"NAME\" (after `aws \
               sso login`, where it needs one), or write anonymous = true for a public bucket"
            .to_owned(),
    })
}

/// Renews credentials for as long as it is polled; ends at once where they do not expire.
pub(crate) async fn renew(provider: Arc<dyn ProvideCredentials>, keyring: Arc<Keyring>) {
    let mut failed = false;
    while let Some(expiry) = keyring.current().expiry() {
        tokio::time::sleep(patience(expiry, now(), failed)).await;
        let found = tokio::time::timeout(CHAIN_TIMEOUT, provider.provide_credentials()).await;
        failed = match found {
            // A source may give the same ones until they expire.
            Ok(Ok(credentials)) => {
                if credentials != keyring.current() {
                    keyring.replace(credentials);
                }
                false
            }
            _ => true,
        };
    }
}

/// How long to wait until credentials are renewed. Some live for less than [`RENEWED_BEFORE`]: those are renewed after
/// half of the time that is left.
fn patience(expiry: SystemTime, now: SystemTime, failed: bool) -> Duration {
    let left = expiry.duration_since(now).unwrap_or_default();
    let early = left.saturating_sub(RENEWED_BEFORE);
    if early > RETRIED_AFTER && !failed {
        return early;
    }
    // Already expired: the source is asked twice a minute, not in a loop.
    if left.is_zero() { RETRIED_AFTER } else { (left / 2).clamp(ATTEMPTS_APART, RETRIED_AFTER) }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn credentials(id: &str) -> Credentials {
        Credentials::new(id, "wJalr/secret", Some("FwoG/token".to_owned()), None, "Environment")
    }

    #[test]
    fn nothing_shows_a_secret() {
        let keyring = Keyring::new(credentials("AKIA1234"));
        let shown = format!("{keyring:?} {:?} {}", Current(Arc::clone(&keyring)), keyring.kind());
        assert!(!["AKIA1234", "wJalr", "FwoG"].iter().any(|secret| shown.contains(secret)), "{shown}");
        assert_eq!(keyring.kind(), "Environment");
        assert_eq!(
            keyring.scrub("key AKIA1234, FwoG/token of wJalr/secret"),
            "key (hidden), (hidden) of (hidden)"
        );
        assert_eq!(keyring.scrub("cut off: FwoG/to"), "cut off: (hidden)");
        assert_eq!(keyring.scrub("sent AWS4-HMAC-SHA256 Credential=x,Signature=y"), "sent (hidden)");
    }

    #[test]
    fn a_new_generation_means_new_credentials() {
        let keyring = Keyring::new(credentials("A"));
        let before = keyring.generation();
        keyring.replace(credentials("B"));
        assert_ne!(keyring.generation(), before);
        assert_eq!(keyring.current().access_key_id(), "B");
        assert_eq!(keyring.scrub("A1, not B2"), "(hidden)1, not (hidden)2", "an answer to the old ones, too");
    }

    #[test]
    fn credentials_are_renewed_before_they_expire_and_not_all_the_time() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let after = |seconds| patience(now + Duration::from_secs(seconds), now, false).as_secs();
        assert_eq!((after(3_600), after(310), after(0)), (3_300, 30, 30));
        assert_eq!((after(40), after(10), after(1)), (20, 5, 1), "before they expire");
        assert_eq!(patience(now + Duration::from_secs(8), now, true).as_secs(), 4, "and once more");
        assert_eq!(patience(now + Duration::from_hours(1), now, true), RETRIED_AFTER);
        assert_eq!(patience(now, now + Duration::from_secs(9), false), RETRIED_AFTER, "expired already");
    }
}

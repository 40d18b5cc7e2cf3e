//! Where a bucket is: host, port, and what its path begins with.

use std::net::IpAddr;

use backend::StoreError;
use plan::{BucketStyle, S3Config};

/// The address of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) https: bool,
    /// Name or address to connect to, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of the header `Host`.
    pub(crate) authority: String,
    /// What the path of each request begins with, not encoded; a slash at its end.
    pub(crate) base: String,
    pub(crate) path_style: bool,
    pub(crate) region: String,
    /// The base URL of a service other than AWS, as the user gave it.
    pub(crate) url: Option<String>,
}

impl Endpoint {
    /// From a scenario, where `url` and `region` are what it or the environment says.
    pub(crate) fn new(config: &S3Config, url: Option<String>, region: &str) -> Result<Self, StoreError> {
        let bucket = &config.bucket;
        let parsed = match &url {
            Some(url) => Url::parse(url)?,
            None => Url::aws(region),
        };
        let is_address = parsed.host.parse::<IpAddr>().is_ok();
        let path_style = match config.style {
            BucketStyle::Path => true,
            BucketStyle::Virtual => false,
            // Services of one's own seldom have a DNS name for every bucket; AWS has.
            BucketStyle::Auto => url.is_some() || !is_host_label(bucket),
        };
        if !path_style && is_address {
            return Err(StoreError::Unavailable {
                what: "style \"virtual\"".to_owned(),
                reason: format!(
                    "the endpoint {} is an address: no bucket's name can stand before it",
                    parsed.host
                ),
                hint: "write style = \"path\", or give the endpoint by name".to_owned(),
            });
        }
        let host = if path_style { parsed.host } else { format!("{bucket}.{}", parsed.host) };
        let named = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let usual = if parsed.https { 443 } else { 80 };
        // Clients leave the default port out of Host. The signature covers the header, so both sides must
        // write it alike.
        let authority = if parsed.port == usual { named } else { format!("{named}:{}", parsed.port) };
        let base =
            if path_style { format!("{}/{bucket}/", parsed.path) } else { format!("{}/", parsed.path) };
        let region = region.to_owned();
        Ok(Self { https: parsed.https, host, port: parsed.port, authority, base, path_style, region, url })
    }

    /// For errors and facts: never with a user's name or password, since such URLs are refused.
    pub(crate) fn shown(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }
}

/// Whether a bucket's name can stand before a host's name and be covered by its certificate: a dot in it would make
/// another label, which a wildcard does not cover.
fn is_host_label(bucket: &str) -> bool {
    let inside =
        bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    inside && (3..=63).contains(&bucket.len()) && !bucket.starts_with('-') && !bucket.ends_with('-')
}

struct Url {
    https: bool,
    host: String,
    port: u16,
    /// Without a slash at its end.
    path: String,
}

impl Url {
    /// <https://docs.aws.amazon.com/general/latest/gr/s3.html>; regions in China have a domain of their own.
    fn aws(region: &str) -> Self {
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        Self { https: true, host: format!("s3.{region}.{domain}"), port: 443, path: String::new() }
    }

    fn parse(url: &str) -> Result<Self, StoreError> {
        // What is refused is not repeated as it is: it may hold a password.
        let refuse = |reason: &str| StoreError::Unavailable {
            what: "the endpoint".to_owned(),
            reason: reason.to_owned(),
            hint: "write it as \"https://HOST\" or \"http://HOST:PORT\"".to_owned(),
        };
        let (https, rest) = if let Some(rest) = url.strip_prefix("https://") {
            (true, rest)
        } else if let Some(rest) = url.strip_prefix("http://") {
            (false, rest)
        } else {
            return Err(refuse("it begins with neither https:// nor http://"));
        };
        // A user and a password in a URL would reach the record with it.
        if rest.contains(['?', '#', '@']) || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(refuse("it holds more than a host, a port and a path"));
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                bracketed.split_once(']').ok_or_else(|| refuse("a bracket around its address is missing"))?
            }
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| refuse("its port is not a number below 65536"))?,
            None if port.is_empty() => {
                if https {
                    443
                } else {
                    80
                }
            }
            None => return Err(refuse("something other than a port follows its address")),
        };
        if host.is_empty() {
            return Err(refuse("it has no host"));
        }
        Ok(Self { https, host: host.to_owned(), port, path: path.trim_end_matches('/').to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(bucket: &str, style: BucketStyle) -> S3Config {
        S3Config { bucket: bucket.to_owned(), prefix: String::new(), style, ..crate::fixture::config() }
    }

    fn at(bucket: &str, style: BucketStyle, url: Option<&str>) -> (String, String) {
        let endpoint = Endpoint::new(&config(bucket, style), url.map(str::to_owned), "eu-west-1").unwrap();
        (endpoint.shown(), endpoint.base)
    }

    #[test]
    fn a_bucket_stands_in_the_host_for_aws_and_in_the_path_elsewhere() {
        use BucketStyle::{Auto, Path, Virtual};
        let own = Some("http://storage.lan:9000/s3/");
        for (bucket, style, url, shown, base) in [
            ("data", Auto, None, "https://data.s3.eu-west-1.amazonaws.com", "/"),
            ("my.data", Auto, None, "https://s3.eu-west-1.amazonaws.com", "/my.data/"),
            ("Data_1", Auto, None, "https://s3.eu-west-1.amazonaws.com", "/Data_1/"),
            ("data", Path, None, "https://s3.eu-west-1.amazonaws.com", "/data/"),
            ("data", Auto, own, "http://storage.lan:9000", "/s3/data/"),
            ("data", Virtual, own, "http://data.storage.lan:9000", "/s3/"),
            ("data", Auto, Some("https://[::1]:443"), "https://[::1]", "/data/"),
            ("data", Auto, Some("http://10.0.0.1"), "http://10.0.0.1", "/data/"),
        ] {
            assert_eq!(at(bucket, style, url), (shown.to_owned(), base.to_owned()), "{bucket} {url:?}");
        }
        let china = Endpoint::new(&config("data", Auto), None, "cn-north-1").unwrap();
        assert_eq!(china.host, "data.s3.cn-north-1.amazonaws.com.cn");
    }

    #[test]
    fn what_is_no_endpoint_is_refused_without_repeating_it() {
        for url in [
            "storage",
            "ftp://x",
            "http://",
            "http://user:hunter2@x",
            "http://x:99999",
            "http://[::1",
            "http://x y",
        ] {
            let refused =
                Endpoint::new(&config("b", BucketStyle::Auto), Some(url.to_owned()), "r").unwrap_err();
            let text = refused.to_string();
            assert!(text.contains("hint: ") && !text.contains("hunter2"), "{url}: {text}");
        }
        let refused = Endpoint::new(&config("b", BucketStyle::Virtual), Some("http://10.0.0.1".into()), "r");
        assert!(refused.unwrap_err().to_string().contains("style = \"path\""));
    }
}

//! Where a bucket is: host, port, and what its path begins with.

use std::net::IpAddr;

use backend::StoreError;
use backend_http::{Origin, Url};
use plan::{BucketStyle, S3Config};

/// The address of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) origin: Origin,
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
            None => aws(region),
        };
        let is_address = parsed.origin.host.parse::<IpAddr>().is_ok();
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
                    parsed.origin.host
                ),
                hint: "write style = \"path\", or give the endpoint by name".to_owned(),
            });
        }
        let mut origin = parsed.origin;
        if !path_style {
            origin.host = format!("{bucket}.{}", origin.host);
        }
        let base =
            if path_style { format!("{}/{bucket}/", parsed.path) } else { format!("{}/", parsed.path) };
        let region = region.to_owned();
        Ok(Self { origin, base, path_style, region, url })
    }

    /// For errors and facts.
    pub(crate) fn shown(&self) -> String {
        self.origin.shown()
    }

    /// What to do where its name has no address.
    pub(crate) fn advice(&self) -> &'static str {
        if self.path_style {
            "check the endpoint and the name servers of this machine"
        } else {
            "check bucket, region and endpoint; where buckets have no names of their own, write style = \"path\""
        }
    }
}

/// Whether a bucket's name can stand before a host's name and be covered by its certificate: a dot in it would make
/// another label, which a wildcard does not cover.
fn is_host_label(bucket: &str) -> bool {
    let inside =
        bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    inside && (3..=63).contains(&bucket.len()) && !bucket.starts_with('-') && !bucket.ends_with('-')
}

/// The service of a region.
///
/// <https://docs.aws.amazon.com/general/latest/gr/s3.html>; regions in China have a domain of their own.
fn aws(region: &str) -> Url {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    let origin = Origin { https: true, host: format!("s3.{region}.{domain}"), port: 443 };
    Url { origin, path: String::new() }
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
        assert_eq!(china.origin.host, "data.s3.cn-north-1.amazonaws.com.cn");
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

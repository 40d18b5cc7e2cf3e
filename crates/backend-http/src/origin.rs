//! Where a service is: scheme, host and port, and the path behind them.

use backend::StoreError;

/// Scheme, host and port of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whether connections are encrypted.
    pub https: bool,
    /// Name or address to connect to, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Origin {
    /// Value of the header `Host`.
    pub fn authority(&self) -> String {
        let named = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.https { 443 } else { 80 };
        // Clients leave the default port out of Host. Signatures cover the header, so both sides must write it alike.
        if self.port == usual { named } else { format!("{named}:{}", self.port) }
    }

    /// For errors and facts: never with a user's name or password, since such URLs are refused.
    pub fn shown(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }
}

/// The base URL of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Scheme, host and port.
    pub origin: Origin,
    /// What follows, without a slash at its end.
    pub path: String,
}

impl Url {
    /// Reads a base URL.
    ///
    /// # Errors
    /// What is wrong with it, without repeating it: it may hold a password.
    pub fn parse(url: &str) -> Result<Self, StoreError> {
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
        let origin = Origin { https, host: host.to_owned(), port };
        Ok(Self { origin, path: path.trim_end_matches('/').to_owned() })
    }
}

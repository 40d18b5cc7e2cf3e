//! The storage account: its name, where it is, and what authorises requests to it, found as Azure's own tools find them.

use std::net::IpAddr;

use backend::StoreError;
use backend_http::Url;
use plan::{AzureConfig, Secret};

use crate::rights::Rights;
use crate::sign::Signer;

/// The name that each variable has for the Azure CLI, and the one that other tools know it by.
const CONNECTION: &str = "AZURE_STORAGE_CONNECTION_STRING";
const ACCOUNT: [&str; 2] = ["AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME"];
const KEY: [&str; 2] = ["AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"];
const TOKEN: &str = "AZURE_STORAGE_SAS_TOKEN";

/// Account, key and endpoint of Microsoft's emulators, which are published.
///
/// <https://learn.microsoft.com/azure/storage/common/storage-use-azurite>
const DEVELOPMENT: [&str; 3] = [
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    "http://127.0.0.1:10000/devstoreaccount1",
];

/// A storage account.
#[derive(Debug)]
pub(crate) struct Account {
    /// Where it is; the path is empty, or names the account.
    pub(crate) url: Url,
    pub(crate) rights: Rights,
}

/// What was found, before it is put together.
#[derive(Default)]
struct Found {
    name: Option<String>,
    key: Option<String>,
    token: Option<String>,
    endpoint: Option<String>,
}

/// The account of a target, from what it says and the variables of the environment.
///
/// # Errors
/// What is missing or makes no sense, and what to write.
pub(crate) fn find(
    config: &AzureConfig,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Account, StoreError> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let either = |names: [&str; 2]| names.iter().find_map(|name| variable(name));
    let mut found = match variable(CONNECTION) {
        Some(text) => connection(&text)?,
        None => Found { name: either(ACCOUNT), key: either(KEY), token: variable(TOKEN), endpoint: None },
    };
    if let Some(endpoint) = &config.endpoint {
        found.endpoint = Some(endpoint.clone());
    }
    let Some(endpoint) = found.endpoint.clone().or_else(|| public(found.name.as_deref()?)) else {
        return Err(refusal(
            config,
            "nothing says which storage account it is in (looked at AZURE_STORAGE_ACCOUNT and \
             AZURE_STORAGE_CONNECTION_STRING)",
            "set AZURE_STORAGE_ACCOUNT, or write endpoint = \"https://ACCOUNT.blob.core.windows.net\"",
        ));
    };
    let url = Url::parse(&endpoint)?;
    let name = found.name.clone().unwrap_or_else(|| named(&url));
    if !is_account(&name) {
        return Err(refusal(
            config,
            "the name of its storage account has other characters than letters, digits, `-` and `_`",
            "check AZURE_STORAGE_ACCOUNT and `endpoint`",
        ));
    }
    let rights = rights(config, &name, found)?;
    if matches!(rights, Rights::Shared(_)) && !url.origin.https && !is_near(&url.origin.host) {
        // Of a key only what it signed travels; a token is all that a stranger needs.
        return Err(refusal(
            config,
            "its endpoint is http://, and whoever sees a shared access signature on the way can use it",
            "write the endpoint with https://, or set AZURE_STORAGE_KEY, which does not travel",
        ));
    }
    Ok(Account { url, rights })
}

fn rights(config: &AzureConfig, account: &str, found: Found) -> Result<Rights, StoreError> {
    if config.anonymous {
        return Ok(Rights::Anonymous);
    }
    if let Some(key) = found.key {
        let signer = Signer::new(account, &key).ok_or_else(|| {
            refusal(
                config,
                "the account's key is not in base64",
                "check AZURE_STORAGE_KEY (or AccountKey in AZURE_STORAGE_CONNECTION_STRING) for a lost character",
            )
        })?;
        return Ok(Rights::Key(Box::new(signer)));
    }
    if let Some(token) = found.token {
        let token = token.trim_start_matches('?');
        // It becomes part of a request's first line, which ends at the first space.
        let is_query = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'<' | b'>');
        if !token.bytes().all(is_query) || !token.split('&').any(|field| field.starts_with("sig=")) {
            return Err(refusal(
                config,
                "the shared access signature is not one: it has no `sig=`, or characters that no query has",
                "set AZURE_STORAGE_SAS_TOKEN to what follows the `?` of a URL with a signature",
            ));
        }
        return Ok(Rights::Shared(Secret::new(token)));
    }
    Err(refusal(
        config,
        "nothing authorises requests (looked at AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY and \
         AZURE_STORAGE_SAS_TOKEN; signing in by Microsoft Entra ID is not known here)",
        "set AZURE_STORAGE_KEY (`az storage account keys list`) or AZURE_STORAGE_SAS_TOKEN (`az storage container \
         generate-sas`), or write anonymous = true for a public container",
    ))
}

fn refusal(config: &AzureConfig, reason: &str, hint: &str) -> StoreError {
    let what = format!("`{}`", config.container);
    StoreError::Unavailable { what, reason: reason.to_owned(), hint: hint.to_owned() }
}

/// The parts of a connection string.
///
/// <https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string>
fn connection(text: &str) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let (mut scheme, mut suffix) = ("https", "core.windows.net");
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(StoreError::Unavailable {
                what: CONNECTION.to_owned(),
                // A part is never quoted: it may be a key.
                reason: "one of its parts is no NAME=VALUE".to_owned(),
                hint: "copy it whole from `az storage account show-connection-string`".to_owned(),
            });
        };
        match name.to_ascii_lowercase().as_str() {
            "accountname" => found.name = Some(value.to_owned()),
            "accountkey" => found.key = Some(value.to_owned()),
            "sharedaccesssignature" => found.token = Some(value.to_owned()),
            "blobendpoint" => found.endpoint = Some(value.to_owned()),
            "defaultendpointsprotocol" => scheme = value,
            "endpointsuffix" => suffix = value,
            "usedevelopmentstorage" if value.eq_ignore_ascii_case("true") => {
                let [name, key, endpoint] = DEVELOPMENT.map(|text| Some(text.to_owned()));
                found = Found { name, key, endpoint, token: None };
            }
            // Endpoints of tables, queues and files say nothing of blobs.
            _ => {}
        }
    }
    if let (None, Some(name)) = (&found.endpoint, &found.name) {
        found.endpoint = Some(format!("{scheme}://{name}.blob.{suffix}"));
    }
    Ok(found)
}

/// Where accounts of Azure's public cloud are.
fn public(account: &str) -> Option<String> {
    is_account(account).then(|| format!("https://{account}.blob.core.windows.net"))
}

/// The account that an endpoint names: in its path where emulators have it, else first in its host.
fn named(url: &Url) -> String {
    let in_path = url.path.trim_matches('/');
    let name =
        if in_path.is_empty() { url.origin.host.split('.').next().unwrap_or_default() } else { in_path };
    name.to_owned()
}

/// Whether a host is this machine or, by its address, on a private network (RFC 1918, RFC 4193): that is where emulators are.
fn is_near(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// Letters that stand in a header and a path as they are. Azure's own names are 3 to 24 small letters and digits; emulators take
/// others.
fn is_account(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests;

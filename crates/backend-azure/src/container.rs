//! Opening a container: account and endpoint, what authorises requests, a connection, and one listing of one blob, each with
//! an error that says what to write.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use backend::{ErrorKind, StoreError};
use backend_http::{Origin, Roots, Trust, push_path, reach, read_ca, tls};
use backend_net::Tls;
use plan::AzureConfig;

use crate::account;
use crate::asked::Request;
use crate::call::{ANSWER_BYTES_MAX, Caller};
use crate::failure::Failed;
use crate::page;
use crate::request::{Place, page_query};
use crate::rights::Rights;

/// A container that was reached, and what is needed to reach it again.
pub(crate) struct Container {
    pub(crate) config: AzureConfig,
    pub(crate) origin: Origin,
    pub(crate) place: Place,
    pub(crate) rights: Rights,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls: Option<Tls>,
    pub(crate) caller: Caller,
    /// Patience for a whole reply of an operation that is timed.
    pub(crate) reply_timeout: Duration,
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container").field("endpoint", &self.origin.shown()).finish_non_exhaustive()
    }
}

impl Container {
    pub(crate) fn open(
        config: &AzureConfig,
        reply_timeout: Duration,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StoreError> {
        let account = account::find(config, variable)?;
        let ca = config.ca.as_deref().map(read_ca).transpose()?;
        let origin = account.url.origin;
        let trust = Trust { roots: if origin.https { Roots::find() } else { Roots::Unused }, ca };
        let tls = tls(&origin, &trust)?;
        // Name, connection and certificate are tried one by one, so that an error says which of them it was.
        let advice = "check the name of the storage account, and the name servers of this machine";
        let addresses = reach(&origin, config.addresses, tls.as_ref(), advice)?;
        let mut container = account.url.path.into_bytes();
        container.push(b'/');
        push_path(&config.container, &mut container);
        let prefix = if config.prefix.is_empty() { String::new() } else { format!("{}/", config.prefix) };
        let signed = (origin.authority(), &account.rights);
        let caller = Caller::new(&addresses, tls.as_ref(), signed, reply_timeout);
        let opened = Self {
            config: config.clone(),
            origin,
            place: Place { container, prefix },
            rights: account.rights,
            addresses,
            tls,
            caller,
            reply_timeout,
        };
        opened.look()?;
        Ok(opened)
    }

    /// Asks for one blob, which needs the container, and the right to list.
    fn look(&self) -> Result<(), StoreError> {
        let query = page_query(&self.place.prefix, None, None, Some("1"));
        let asked = Request { query: &query, ..Request::new("GET", &self.place.container) };
        // Once: a silent service would be waited for through all attempts.
        let reply =
            self.caller.call_once(&asked, &[], ANSWER_BYTES_MAX).map_err(|failed| self.explain(&failed))?;
        page::read(&reply.body).map(drop).map_err(|reason| self.unavailable(reason, NOT_BLOBS))
    }

    /// As the user would write a blob's name in the container.
    pub(crate) fn shown(&self, name: &str) -> String {
        format!("az://{}/{name}", self.config.container)
    }

    fn unavailable(&self, reason: String, hint: &str) -> StoreError {
        let what = format!("`{}` at {}", self.config.container, self.origin.shown());
        StoreError::Unavailable { what, reason, hint: hint.to_owned() }
    }

    /// Why the container cannot be used, and what to write.
    fn explain(&self, failed: &Failed) -> StoreError {
        let container = &self.config.container;
        let is_signed = !matches!(self.rights, Rights::Anonymous);
        match (failed.status, failed.code.as_str()) {
            // To whoever may not know, the service says of a closed container that there is none.
            (404, "ContainerNotFound" | "ResourceNotFound") if is_signed => self.unavailable(
                format!("the container `{container}` does not exist"),
                &format!("make it (`az storage container create --name {container}`), or correct its name"),
            ),
            (401 | 403 | 404 | 409, code) if !code.is_empty() && !is_signed => self.unavailable(
                failed.text(),
                "the container is not public: leave out anonymous = true and set AZURE_STORAGE_KEY or \
                 AZURE_STORAGE_SAS_TOKEN",
            ),
            (400 | 401 | 403, code) if !code.is_empty() && failed.error.kind == ErrorKind::Permission => {
                let hint = match self.rights {
                    Rights::Shared(_) => {
                        "check the signature for a lost character and its expiry; it needs the rights to read and list \
                         (sp=rl) on the container; the account's firewall may keep this machine out"
                    }
                    _ => {
                        "check the key for a lost character, that it is of this account (AZURE_STORAGE_ACCOUNT), and \
                         this machine's clock; the account's firewall may keep this machine out"
                    }
                };
                self.unavailable(failed.text(), hint)
            }
            (407, _) => self.unavailable(
                "a proxy answers, and wants to know who asks".to_owned(),
                "storage is never measured through a proxy: use an endpoint that is reached directly",
            ),
            _ if failed.error.kind == ErrorKind::Throttled => {
                self.unavailable(failed.text(), "the service asks for fewer requests: try again later")
            }
            (0, _) => {
                self.unavailable(failed.message.clone(), "is the service running, and does it speak HTTP?")
            }
            (status, "") => self.unavailable(
                format!("its answer (status {status}) is not one of Azure Blob Storage"),
                NOT_BLOBS,
            ),
            _ => self.unavailable(failed.text(), "the service's own log says more"),
        }
    }
}

const NOT_BLOBS: &str = "is this the endpoint of the blob service (https://ACCOUNT.blob.core.windows.net), and not that of \
                         another service or of a web server?";

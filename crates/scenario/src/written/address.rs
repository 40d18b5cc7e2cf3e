//! `at` as written: a path, a folder on an NFS server, a bucket, a container, or nothing.

use std::net::Ipv6Addr;

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Written, wrong_type};
use crate::value::schema;

const NFS_FORM: &str =
    "write nfs://host/export/folder, with ?nfsport=N&mountport=N where the server has no port mapper";
const S3_FORM: &str = "write s3://bucket or s3://bucket/prefix (gs:// for Google Cloud Storage)";
const AZURE_FORM: &str = "write az://container or az://container/prefix";

/// What `at` names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Address {
    /// `null:`.
    Null,
    /// A folder, or the node of a block device.
    Path(String),
    /// A folder on an NFS server.
    Nfs(NfsAddress),
    /// A bucket, or a prefix in it.
    S3(S3Address),
    /// A container of Azure Blob Storage, or a prefix in it.
    Azure(AzureAddress),
}

impl Address {
    /// The path of a folder or a device on this machine.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            Self::Null | Self::Nfs(_) | Self::S3(_) | Self::Azure(_) => None,
        }
    }

    /// The address of a storage that is reached over connections of feedline's own, as written.
    pub(crate) fn remote(&self) -> Option<&str> {
        match self {
            Self::Nfs(NfsAddress { text, .. })
            | Self::S3(S3Address { text, .. })
            | Self::Azure(AzureAddress { text, .. }) => Some(text),
            Self::Null | Self::Path(_) => None,
        }
    }

    /// Whether objects lie there, which are reached over HTTP.
    pub(crate) fn holds_objects(&self) -> bool {
        matches!(self, Self::S3(_) | Self::Azure(_))
    }

    /// Whether feedline can play a storage there: by a server in its place, or by slowing down the path.
    pub(crate) fn can_be_played(&self) -> bool {
        matches!(self, Self::Nfs(_) | Self::S3(_) | Self::Path(_))
    }

    /// What it is, for messages.
    pub(crate) fn is(&self) -> &'static str {
        match self {
            Self::Null => "is no storage",
            Self::Path(_) => "is a path",
            Self::Nfs(_) => "is a folder on an NFS server",
            Self::S3(_) => "is a bucket",
            Self::Azure(_) => "is a container of Azure Blob Storage",
        }
    }
}

/// `nfs://host[:port]/export/path[?nfsport=N&mountport=N]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NfsAddress {
    pub(crate) text: String,
    pub(crate) host: String,
    pub(crate) nfs_port: Option<u16>,
    pub(crate) mount_port: Option<u16>,
    pub(crate) path: String,
}

/// `s3://bucket[/prefix]`, and `gs://bucket[/prefix]` of Google Cloud Storage, whose XML API speaks S3.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct S3Address {
    pub(crate) text: String,
    /// Whose bucket it is, where nothing else is said.
    pub(crate) service: Service,
    pub(crate) bucket: String,
    pub(crate) prefix: String,
}

/// A service that speaks S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Aws,
    Google,
}

impl Service {
    /// Where it is reached, and the region that its signatures name; nothing of AWS, whose endpoints follow from the region.
    // <https://cloud.google.com/storage/docs/interoperability>: HMAC keys sign as S3's do, and the location may be `auto`.
    pub(crate) fn place(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Aws => None,
            Self::Google => Some(("https://storage.googleapis.com", "auto")),
        }
    }
}

/// `az://container[/prefix]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AzureAddress {
    pub(crate) text: String,
    pub(crate) container: String,
    pub(crate) prefix: String,
}

/// What is wrong with an address, and what to write.
type Refusal = (String, String);

impl Written for Address {
    fn expected() -> String {
        "a path such as \"/mnt/data/bench\", \"nfs://host/export\", \"s3://bucket/prefix\", \"gs://bucket/prefix\", \
         \"az://container/prefix\", or \"null:\""
            .to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(at) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        match address(at) {
            Ok(address) => Some(address),
            Err((wrong, help)) => {
                let message = format!("`{path}` takes {}", Self::expected());
                problems.push(Problem::new(message).at(node.span, wrong).help(help));
                None
            }
        }
    }
}

schema!(Address, "address", {
    "type": "string",
    "minLength": 1,
    "anyOf": [
        { "not": { "pattern": "://|^~|^null:." } },
        {
            "description": "A folder on an NFS server, reached without a mount.",
            "pattern": r"^nfs://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/[^\s?#%]*(\?(nfsport|mountport)=[0-9]+(&(nfsport|mountport)=[0-9]+)?)?$"
        },
        {
            "description": "A bucket, or what lies below a prefix in it.",
            "pattern": r"^(s3|gs)://[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9](/[^\s?#%]*)?$"
        },
        {
            "description": "A container of Azure Blob Storage, or what lies below a prefix in it.",
            "pattern": r"^az://[a-z0-9]([a-z0-9]|-[a-z0-9]){2,62}(/[^\s?#%]*)?$"
        }
    ]
});

fn address(at: &str) -> Result<Address, Refusal> {
    let refused = |wrong: &str, help: &str| Err((wrong.to_owned(), help.to_owned()));
    match at {
        _ if at.trim().is_empty() => refused("this is empty", "write the path of a folder"),
        _ if at.contains(char::is_control) => {
            refused("this has a control character", "write the path of a folder")
        }
        // The shell expands it in arguments and nobody in files: the folder would be made under a name that
        // begins with a tilde.
        _ if at.starts_with('~') => refused("`~` is not expanded here", "write the whole path"),
        "null:" => Ok(Address::Null),
        _ if at.starts_with("null:") => refused("nothing follows `null:`", "write \"null:\""),
        _ => match at.split_once("://") {
            None => Ok(Address::Path(at.to_owned())),
            Some(("nfs", rest)) => nfs(at, rest).map(Address::Nfs),
            Some(("s3", rest)) => bucket(at, Service::Aws, rest).map(Address::S3),
            Some(("gs", rest)) => bucket(at, Service::Google, rest).map(Address::S3),
            Some(("az", rest)) => azure(at, rest).map(Address::Azure),
            Some((scheme @ ("abfs" | "abfss" | "wasb" | "wasbs"), rest)) => Err(hadoop(scheme, rest)),
            Some((scheme, _)) => Err(other_scheme(scheme)),
        },
    }
}

fn other_scheme(scheme: &str) -> Refusal {
    let help = match scheme {
        "file" => "write the plain path",
        "http" | "https" => {
            "a service that speaks S3 is written s3://bucket, and Azure Blob Storage az://container; its URL without the \
             bucket or the container stands in the key `endpoint`"
        }
        _ => "mount it and write the path of a folder on the mount",
    };
    (format!("there is no {scheme} backend"), help.to_owned())
}

/// `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH`, as Hadoop and Spark write it: what to write here.
fn hadoop(scheme: &str, rest: &str) -> Refusal {
    // A shared access signature stands in a query by habit, and what is advised is shown.
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (container, host) = place.rsplit_once('@').unwrap_or((place, ""));
    // So does a password before an `@`.
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let container = if is_name(container) { container } else { "CONTAINER" };
    let account = host.split('.').next().filter(|account| !account.is_empty()).unwrap_or("ACCOUNT");
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    let help = format!(
        "the same container is read by its blob endpoint: write az://{container}{path}, with endpoint = \
         \"https://{account}.blob.core.windows.net\""
    );
    (format!("there is no {scheme} backend"), help)
}

fn nfs(text: &str, rest: &str) -> Result<NfsAddress, Refusal> {
    let refused = |wrong: String| (wrong, NFS_FORM.to_owned());
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let (server, path) = place
        .split_once('/')
        .map(|(server, path)| (server, format!("/{}", path.trim_end_matches('/'))))
        .ok_or_else(|| refused("which export? A path is missing after the host".to_owned()))?;
    // The text may hold a password by habit, and addresses are shown and recorded.
    if server.contains('@') {
        let help =
            "leave it out: NFS version 3 has no log-in, and the server sees the user that runs feedline";
        return Err(("an NFS address has no user".to_owned(), help.to_owned()));
    }
    plain_names(rest, &path).map_err(refused)?;
    let (host, port) = host_and_port(server).map_err(refused)?;
    let (nfs_port, mount_port) = ports(port, query).map_err(refused)?;
    Ok(NfsAddress { text: text.to_owned(), host, nfs_port, mount_port, path })
}

/// The host without brackets, and the port behind it.
fn host_and_port(server: &str) -> Result<(String, Option<u16>), String> {
    let (host, port) = match server.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(None) => return Err("this bracket is not closed".to_owned()),
        Some(Some((host, rest))) => {
            host.parse::<Ipv6Addr>().map_err(|_| format!("`{host}` is no IPv6 address"))?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err("a port or a path follows the bracket".to_owned()),
            }
        }
        // Where an IPv6 address ends and a port begins cannot be told without brackets (RFC 3986).
        None if server.matches(':').count() > 1 => {
            return Err("an IPv6 address is written in brackets".to_owned());
        }
        None => server.split_once(':').map_or((server, None), |(host, port)| (host, Some(port))),
    };
    let named = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    if host.is_empty() || !host.chars().all(named) {
        return Err(if host.is_empty() {
            "which host?".to_owned()
        } else {
            format!("`{host}` is no host name")
        });
    }
    Ok((host.to_owned(), port.map(port_number).transpose()?))
}

fn port_number(text: &str) -> Result<u16, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|port| *port > 0 && digits);
    number.ok_or_else(|| format!("`{text}` is no port"))
}

/// The ports of both programs: `both`, or those of the options.
fn ports(both: Option<u16>, query: Option<&str>) -> Result<(Option<u16>, Option<u16>), String> {
    let (mut nfs_port, mut mount_port) = (both, both);
    let mut seen: Vec<&str> = Vec::new();
    for option in query.into_iter().flat_map(|query| query.split('&')) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let port = match name {
            "nfsport" => &mut nfs_port,
            "mountport" => &mut mount_port,
            _ => return Err(format!("`{name}` is no option here: known are nfsport and mountport")),
        };
        // The last one would win in silence.
        if both.is_some() || seen.contains(&name) {
            return Err(format!("`{name}` is written twice: `:port` stands for both programs"));
        }
        seen.push(name);
        *port = Some(port_number(value)?);
    }
    Ok((nfs_port, mount_port))
}

fn bucket(text: &str, service: Service, rest: &str) -> Result<S3Address, Refusal> {
    let refused = |wrong: String| (wrong, S3_FORM.to_owned());
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.contains('@') {
        let help = "keys come from the environment or from `profile`, as for every AWS tool, and never from a scenario";
        return Err(("an S3 address holds no keys".to_owned(), help.to_owned()));
    }
    // Options in a URL would be a second way to set what has a key, and would not show in a cell's name.
    if rest.contains('?') {
        let help = "settings are keys of the target: region, endpoint, style; write s3://bucket/prefix";
        return Err(("this has options".to_owned(), help.to_owned()));
    }
    let prefix = prefix.trim_end_matches('/');
    plain_names(rest, prefix).map_err(refused)?;
    let ends = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| ends(c) || ".-_".contains(c);
    // Amazon's rules and the underscore and capitals of older buckets and other services.
    let shaped = bucket.starts_with(ends) && bucket.ends_with(ends) && bucket.chars().all(inner);
    if !shaped || !(3..=63).contains(&bucket.len()) {
        let wrong = if bucket.is_empty() {
            "which bucket?".to_owned()
        } else {
            format!("`{bucket}` is no name of a bucket")
        };
        let help = "3 to 63 letters, digits, `.`, `-` and `_`, of which the first and the last are letters or digits";
        return Err((wrong, help.to_owned()));
    }
    Ok(S3Address { text: text.to_owned(), service, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
}

fn azure(text: &str, rest: &str) -> Result<AzureAddress, Refusal> {
    let refused = |wrong: String| (wrong, AZURE_FORM.to_owned());
    let (container, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if container.contains('@') {
        return Err(("an Azure address holds no account".to_owned(), hadoop("az", rest).1));
    }
    // A shared access signature stands in a query by habit, and addresses are shown and recorded.
    if rest.contains('?') {
        let help = "a shared access signature comes from AZURE_STORAGE_SAS_TOKEN and never from a scenario; write \
                    az://container/prefix";
        return Err(("this has options".to_owned(), help.to_owned()));
    }
    let prefix = prefix.trim_end_matches('/');
    plain_names(rest, prefix).map_err(refused)?;
    // Azure's rules: no hyphen at an end, nor two of them.
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let shaped = container.chars().all(inner) && !container.split('-').any(str::is_empty);
    if !shaped || !(3..=63).contains(&container.len()) {
        let wrong = if container.is_empty() {
            "which container?".to_owned()
        } else {
            format!("`{container}` is no name of a container")
        };
        let help = "3 to 63 small letters, digits and single hyphens, of which the first and the last are no hyphens";
        return Err((wrong, help.to_owned()));
    }
    Ok(AzureAddress { text: text.to_owned(), container: container.to_owned(), prefix: prefix.to_owned() })
}

/// Names as they are, with nothing to decode in them.
fn plain_names(rest: &str, path: &str) -> Result<(), String> {
    if rest.contains('#') {
        return Err("this has a fragment (`#`)".to_owned());
    }
    // Whether `%20` is a space or three characters differs between tools. Names are bytes here, and both
    // readings would be wrong for somebody.
    if rest.contains('%') {
        return Err("names are written as they are, and none with `%` in it can be".to_owned());
    }
    if rest.contains(char::is_whitespace) {
        return Err("this has white space".to_owned());
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    // S3 takes such keys and NFS resolves them: feedline would delete below a place that it did not mark.
    match path.split('/').find(|part| matches!(*part, "." | "..") || part.is_empty() && !path.is_empty()) {
        Some("") => Err("this has an empty name between two slashes".to_owned()),
        Some(part) => Err(format!("`{part}` is no name")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfs_of(text: &str) -> NfsAddress {
        match address(text) {
            Ok(Address::Nfs(address)) => address,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_port_stands_for_both_programs_and_options_for_one_each() {
        let plain = nfs_of("nfs://filer/export/a/");
        assert_eq!((plain.host.as_str(), plain.path.as_str()), ("filer", "/export/a"));
        assert_eq!((plain.nfs_port, plain.mount_port), (None, None));
        let both = nfs_of("nfs://10.0.0.1:12049/");
        assert_eq!((both.nfs_port, both.mount_port, both.path.as_str()), (Some(12049), Some(12049), "/"));
        let each = nfs_of("nfs://[fd00::1]/e?mountport=635&nfsport=2049");
        assert_eq!((each.host.as_str(), each.nfs_port, each.mount_port), ("fd00::1", Some(2049), Some(635)));
        assert_eq!(nfs_of("nfs://[::1]:111/e").nfs_port, Some(111));
    }

    #[test]
    fn a_container_is_named_by_azures_rules_and_other_tools_addresses_are_told_how() {
        let Ok(Address::Azure(found)) = address("az://my-data/a/b/") else { panic!("it is one") };
        assert_eq!((found.container.as_str(), found.prefix.as_str()), ("my-data", "a/b"));
        for wrong in [
            "az://ab",
            "az://Data",
            "az://a--b",
            "az://-ab",
            "az://abc-",
            "az://a_bc",
            "az://",
            "az://abc/a//x",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        let secret = address("az://abc/p?sig=hunter2").unwrap_err();
        assert!(
            secret.1.contains("AZURE_STORAGE_SAS_TOKEN") && !format!("{secret:?}").contains("hunter2"),
            "{secret:?}"
        );
        for hostile in
            ["abfss://data@mine.dfs.core.windows.net/p?sig=hunter2", "az://user:hunter2@mine/p?sig=hunter2"]
        {
            let refused = address(hostile).unwrap_err();
            assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
        }
        for other in
            ["abfss://data@mine.dfs.core.windows.net/p/q", "az://data@mine.blob.core.windows.net/p/q"]
        {
            let (_, help) = address(other).unwrap_err();
            assert!(
                help.contains("az://data/p/q") && help.contains("\"https://mine.blob.core.windows.net\""),
                "{help}"
            );
        }
    }

    #[test]
    fn a_prefix_has_no_slashes_at_its_ends() {
        for (text, bucket, prefix) in
            [("s3://train", "train", ""), ("s3://train/", "train", ""), ("s3://my.b-1/a/b/", "my.b-1", "a/b")]
        {
            let Ok(Address::S3(address)) = address(text) else { panic!("{text}") };
            assert_eq!((address.bucket.as_str(), address.prefix.as_str()), (bucket, prefix));
            assert_eq!(address.service, Service::Aws);
        }
        let Ok(Address::S3(google)) = address("gs://train/a") else { panic!("gs://") };
        assert_eq!(
            (google.service, google.bucket.as_str(), google.prefix.as_str()),
            (Service::Google, "train", "a")
        );
    }
}

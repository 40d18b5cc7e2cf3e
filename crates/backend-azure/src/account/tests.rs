//! What a user has set, and what becomes of it.

use plan::Addresses;

use super::*;

fn config(endpoint: Option<&str>) -> AzureConfig {
    AzureConfig {
        container: "train".to_owned(),
        prefix: String::new(),
        endpoint: endpoint.map(str::to_owned),
        ca: None,
        anonymous: false,
        addresses: Addresses::First,
        part_bytes: None,
        head: false,
    }
}

fn of(endpoint: Option<&str>, variables: &[(&str, &str)]) -> Result<Account, StoreError> {
    find(&config(endpoint), |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn shown(account: &Account) -> (String, String, String) {
    (account.url.origin.shown(), account.url.path.clone(), account.rights.kind())
}

#[test]
fn an_account_is_found_as_azures_tools_find_it() {
    let key = ("AZURE_STORAGE_KEY", "a2V5");
    let sas = ("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=abc%3D");
    let string = "DefaultEndpointsProtocol=https;AccountName=mine;AccountKey=YQ==;EndpointSuffix=core.chinacloudapi.cn";
    let own = "BlobEndpoint=http://127.0.0.1:10000/dev;SharedAccessSignature=sv=1&sig=abc%3D";
    for (endpoint, variables, at, path, by) in [
        (
            None,
            &[("AZURE_STORAGE_ACCOUNT", "mine"), key][..],
            "https://mine.blob.core.windows.net",
            "",
            "key of account mine",
        ),
        (
            None,
            &[("AZURE_STORAGE_ACCOUNT_NAME", "mine"), ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")],
            "https://mine.blob.core.windows.net",
            "",
            "key of account mine",
        ),
        (
            None,
            &[("AZURE_STORAGE_ACCOUNT", "mine"), sas],
            "https://mine.blob.core.windows.net",
            "",
            "shared access signature",
        ),
        (
            Some("https://other.blob.core.windows.net/"),
            &[key],
            "https://other.blob.core.windows.net",
            "",
            "key of account other",
        ),
        (
            Some("http://127.0.0.1:10000/devstoreaccount1"),
            &[key],
            "http://127.0.0.1:10000",
            "/devstoreaccount1",
            "key of account devstoreaccount1",
        ),
        // A domain of one's own does not name the account.
        (
            Some("https://data.example.com"),
            &[("AZURE_STORAGE_ACCOUNT", "mine"), key],
            "https://data.example.com",
            "",
            "key of account mine",
        ),
        (
            None,
            &[("AZURE_STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true")],
            "http://127.0.0.1:10000",
            "/devstoreaccount1",
            "key of account devstoreaccount1",
        ),
        (
            None,
            &[("AZURE_STORAGE_CONNECTION_STRING", own)],
            "http://127.0.0.1:10000",
            "/dev",
            "shared access signature",
        ),
        // An empty variable is one that is not set.
        (
            None,
            &[("AZURE_STORAGE_ACCOUNT", "mine"), ("AZURE_STORAGE_KEY", ""), sas],
            "https://mine.blob.core.windows.net",
            "",
            "shared access signature",
        ),
    ] {
        let account = of(endpoint, variables).unwrap();
        assert_eq!(shown(&account), (at.to_owned(), path.to_owned(), by.to_owned()), "{variables:?}");
    }
    let account = of(None, &[("AZURE_STORAGE_CONNECTION_STRING", string)]).unwrap();
    assert_eq!(shown(&account).0, "https://mine.blob.core.chinacloudapi.cn");
}

#[test]
fn what_cannot_be_used_is_refused_without_being_repeated() {
    let account = ("AZURE_STORAGE_ACCOUNT", "mine");
    for (variables, says) in [
        (&[][..], "set AZURE_STORAGE_ACCOUNT"),
        (&[account], "nothing authorises requests"),
        (&[account, ("AZURE_STORAGE_KEY", "hunter2 hunter2")], "not in base64"),
        (&[account, ("AZURE_STORAGE_SAS_TOKEN", "sig=hunter2 HTTP/1.1")], "signature is not one"),
        (&[account, ("AZURE_STORAGE_SAS_TOKEN", "sv=hunter2")], "signature is not one"),
        (&[account, ("AZURE_STORAGE_SAS_TOKEN", "sig=hunter2\r\nX: y")], "signature is not one"),
        (&[("AZURE_STORAGE_ACCOUNT", "mi/ne"), ("AZURE_STORAGE_KEY", "a2V5")], "set AZURE_STORAGE_ACCOUNT"),
        (&[("AZURE_STORAGE_CONNECTION_STRING", "AccountName=mine;hunter2")], "NAME=VALUE"),
    ] {
        let text = of(None, variables).unwrap_err().to_string();
        assert!(text.contains(says) && text.contains("hint: ") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_signature_that_whoever_sees_it_may_use_does_not_travel_in_the_clear() {
    let sas = ("AZURE_STORAGE_SAS_TOKEN", "sig=hunter2");
    for endpoint in ["http://blobs.lan/dev", "http://198.51.100.1:10000/dev", "http://127.0.0.1.evil.org/dev"]
    {
        let text = of(Some(endpoint), &[sas]).unwrap_err().to_string();
        assert!(text.contains("https://") && !text.contains("hunter2"), "{text}");
        assert!(of(Some(endpoint), &[("AZURE_STORAGE_KEY", "a2V5")]).is_ok());
    }
    for endpoint in
        ["https://blobs.lan/dev", "http://localhost:1/dev", "http://[::1]:1/dev", "http://10.0.0.9/dev"]
    {
        assert!(of(Some(endpoint), &[sas]).is_ok(), "{endpoint}");
    }
}

#[test]
fn a_public_container_needs_an_account_and_no_key() {
    let config = AzureConfig { anonymous: true, ..config(None) };
    let only = |name: &str| (name == "AZURE_STORAGE_ACCOUNT").then(|| "mine".to_owned());
    assert_eq!(find(&config, only).unwrap().rights.kind(), "anonymous");
}

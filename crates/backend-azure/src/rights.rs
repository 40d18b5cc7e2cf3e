//! What authorises requests.

use backend_http::{decoded, hidden};
use plan::Secret;

use crate::sign::Signer;

/// What authorises requests. Its `Debug` shows no secret.
#[derive(Debug, Clone)]
pub(crate) enum Rights {
    /// Nothing: the container is open to everybody.
    Anonymous,
    /// A shared access signature, as it stands in the query of a URL.
    Shared(Secret),
    /// The key of the account.
    Key(Box<Signer>),
}

impl Rights {
    /// The name of their kind, for facts.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Anonymous => "anonymous".to_owned(),
            Self::Shared(_) => "shared access signature".to_owned(),
            Self::Key(signer) => format!("key of account {}", signer.account()),
        }
    }

    /// Takes secrets out of a text of the service's, and signatures made with them.
    pub(crate) fn scrub(&self, text: &str) -> String {
        match self {
            Self::Anonymous => text.to_owned(),
            Self::Shared(token) => {
                let mut fields = token.reveal().split('&');
                let signature = fields.find_map(|field| field.strip_prefix("sig="));
                let text = hidden(text, token.reveal());
                // A service may repeat the signature alone, and not encoded as it is in the URL.
                signature
                    .map_or(text.clone(), |signature| hidden(&hidden(&text, signature), &decoded(signature)))
            }
            // The key itself is never sent; what may be quoted is a header, or the signature out of one.
            Self::Key(_) => ["SharedKey ", "MAC signature"].iter().fold(text.to_owned(), |text, begins| {
                match text.split_once(begins) {
                    Some((before, _)) => format!("{before}(hidden)"),
                    None => text,
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shows_a_secret() {
        let token = "sv=2021-12-02&sp=rl&sig=abc%2Bdef%3D";
        let rights = Rights::Shared(Secret::new(token));
        assert!(!format!("{rights:?}").contains("abc"), "{rights:?}");
        assert_eq!(rights.scrub(&format!("GET /?{token} was refused")), "GET /?(hidden) was refused");
        assert_eq!(rights.scrub("abc%2Bdef%3D is not abc+def="), "(hidden) is not (hidden)");
        assert_eq!(rights.scrub("cut off: abc+de"), "cut off: (hidden)");
        let key = Rights::Key(Box::new(Signer::new("account", "a2V5a2V5").unwrap()));
        assert_eq!(key.scrub("sent SharedKey account:c2lnbmVk"), "sent (hidden)");
        assert_eq!(key.scrub("The MAC signature found in the request 'c2ln' differs"), "The (hidden)");
        assert!(!format!("{key:?}").contains("a2V5"), "{key:?}");
    }
}

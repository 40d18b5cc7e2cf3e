//! Whom to trust over HTTPS.

use std::env;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// Whom to trust over HTTPS.
#[derive(Debug, Clone)]
pub struct Trust {
    /// Authorities beside those of `ca`.
    pub roots: Roots,
    /// Certificates in PEM that the target names.
    pub ca: Option<Vec<u8>>,
}

/// Authorities whose certificates are trusted, beside those that `ca` names.
#[derive(Debug, Clone)]
pub enum Roots {
    /// None, because nothing goes over HTTPS: reading the system's takes a while.
    Unused,
    /// The system's.
    System(Vec<CertificateDer<'static>>),
    /// Those that Mozilla trusted when feedline was built. Images without a distribution have no certificates of their own.
    BuiltIn,
}

impl Roots {
    /// The system's authorities, or the built-in ones where the system has none.
    pub fn find() -> Self {
        // Whoever sets one of these has said whom to trust, even where it names nobody.
        let chosen = ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| env::var_os(name).is_some());
        Self::choose(rustls_native_certs::load_native_certs().certs, chosen)
    }

    fn choose(found: Vec<CertificateDer<'static>>, chosen: bool) -> Self {
        if found.is_empty() && !chosen { Self::BuiltIn } else { Self::System(found) }
    }

    /// The certificates.
    pub fn certificates(&self) -> &[CertificateDer<'static>] {
        match self {
            Self::Unused => &[],
            Self::System(found) => found,
            Self::BuiltIn => TLS_SERVER_ROOT_CERTS,
        }
    }

    /// The certificates as the AWS SDK takes them.
    pub fn pem(&self) -> String {
        let one = |certificate: &CertificateDer| {
            let body = STANDARD.encode(certificate);
            format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
        };
        self.certificates().iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    #[test]
    fn built_in_authorities_stand_in_only_where_the_system_has_none_and_the_user_chose_none() {
        let one = || vec![TLS_SERVER_ROOT_CERTS[0].clone()];
        assert!(matches!(Roots::choose(Vec::new(), false), Roots::BuiltIn));
        assert!(matches!(Roots::choose(Vec::new(), true), Roots::System(none) if none.is_empty()));
        assert!(matches!(Roots::choose(one(), false), Roots::System(found) if found.len() == 1));
    }

    #[test]
    fn built_in_authorities_are_the_same_for_both_engines() {
        let pem = Roots::BuiltIn.pem();
        let read: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).map(Result::unwrap).collect();
        assert_eq!(read, TLS_SERVER_ROOT_CERTS);
        let mut store = rustls::RootCertStore::empty();
        let (taken, refused) = store.add_parsable_certificates(read);
        assert!(taken > 50 && refused == 0, "{taken} {refused}");
    }
}

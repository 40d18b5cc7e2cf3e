//! Certificates that nobody but a test trusts.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use tempfile::TempDir;

use crate::Unavailable;

/// Somebody who signs certificates, and a folder for what was signed, which goes with this value.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

/// Where a certificate and its key lie (PEM).
#[derive(Debug)]
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    /// A new authority with a key of its own.
    ///
    /// # Errors
    ///
    /// There is no folder for temporary files, or no room in it.
    pub fn new() -> Result<Self, Unavailable> {
        let folder = tempfile::Builder::new().prefix("servers-ca-").tempdir();
        let folder = folder.map_err(|error| Unavailable::system("make a temporary folder", error))?;
        let issuer = issuer().map_err(|error| failed(&error))?;
        let authority = Self { issuer, folder };
        write(&authority.path(), &authority.issuer.pem())?;
        Ok(authority)
    }

    /// The file of its own certificate (PEM), for who is to trust it.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A certificate for a server of these names at this address.
    pub(crate) fn certify(&self, names: &[String], address: IpAddr) -> Result<Certificate, Unavailable> {
        let [certificate, key] = ["server.pem", "server.key"].map(|name| self.folder.path().join(name));
        let signed = self.sign(names, address).map_err(|error| failed(&error))?;
        write(&certificate, &signed.0)?;
        write(&key, &signed.1)?;
        Ok(Certificate { certificate, key })
    }

    fn sign(&self, names: &[String], address: IpAddr) -> Result<(String, String), rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names.to_vec())?;
        // A client that connects by address looks for it in such an entry alone, never among the names.
        params.subject_alt_names.push(SanType::IpAddress(address));
        Ok((params.signed_by(&key, &self.issuer)?.pem(), key.serialize_pem()))
    }
}

fn issuer() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn failed(error: &rcgen::Error) -> Unavailable {
    Unavailable::system("make a certificate", std::io::Error::other(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), Unavailable> {
    fs::write(path, text).map_err(|error| Unavailable::system(format!("write {}", path.display()), error))
}

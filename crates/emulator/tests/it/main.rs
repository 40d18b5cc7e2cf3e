//! Both servers over real sockets: S3 by raw HTTP, NFS by `nfs3_client`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod http;
mod nfs;
mod s3;
mod shaped;

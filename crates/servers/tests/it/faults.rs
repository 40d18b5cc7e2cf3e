//! What a test may do to a server.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use servers::{Blackhole, Ganesha, GaneshaOptions, Radosgw, or_skip};

/// Only a server that hangs reaches it.
const LIMIT: Duration = Duration::from_mins(1);
/// Long enough to see that nothing comes.
const SHORT: Duration = Duration::from_millis(200);

/// The first word of the answer to a call of procedure 0 of NFS: its xid.
fn null_call(at: SocketAddr, limit: Duration) -> std::io::Result<u32> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(limit))?;
    let words: [u32; 11] = [0x8000_0028, 77, 0, 2, 100_003, 3, 0, 0, 0, 0, 0];
    stream.write_all(&words.map(u32::to_be_bytes).concat())?;
    let mut reply = [0; 8];
    stream.read_exact(&mut reply)?;
    Ok(u32::from_be_bytes([reply[4], reply[5], reply[6], reply[7]]))
}

/// The first line of the answer to a request for a bucket that is not there.
fn status(at: SocketAddr, limit: Duration) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(limit))?;
    stream.write_all(b"GET /nobucket/nokey HTTP/1.1\r\nHost: servers\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

#[test]
fn an_nfs_server_stops_goes_on_dies_and_comes_back() {
    let Some(server) = or_skip(Ganesha::start(&GaneshaOptions::default())) else { return };
    let at = SocketAddr::new(server.address(), server.nfs_port());
    assert_eq!(null_call(at, LIMIT).unwrap(), 77);
    server.pause();
    let error = null_call(at, SHORT).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    server.resume();
    assert_eq!(null_call(at, LIMIT).unwrap(), 77);
    server.kill();
    assert_eq!(null_call(at, LIMIT).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    server.restart().unwrap();
    assert_eq!(null_call(at, LIMIT).unwrap(), 77);
    assert!(server.url().ends_with("/export"), "{}", server.url());
    assert!(server.path().is_dir());
}

#[test]
fn an_s3_server_stops_goes_on_dies_and_comes_back() {
    let Some(server) = or_skip(Radosgw::start()) else { return };
    let at = server.address();
    let missing = "HTTP/1.1 404 Not Found";
    assert_eq!(status(at, LIMIT).unwrap(), missing);
    server.pause();
    let error = status(at, SHORT).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    server.resume();
    assert_eq!(status(at, LIMIT).unwrap(), missing);
    server.kill();
    assert_eq!(status(at, LIMIT).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    server.restart().unwrap();
    assert_eq!(status(at, LIMIT).unwrap(), missing);
}

#[test]
fn two_servers_run_beside_each_other() {
    let options = GaneshaOptions { max_read_bytes: Some(65_536), root_squash: true };
    let Some(first) = or_skip(Ganesha::start(&options)) else { return };
    let second = Ganesha::start(&options).unwrap();
    assert_ne!(first.address(), second.address());
    for server in [&first, &second] {
        for port in [server.nfs_port(), server.mount_port(), 111] {
            TcpStream::connect_timeout(&SocketAddr::new(server.address(), port), LIMIT).unwrap();
        }
    }
}

#[test]
fn a_black_hole_answers_nothing() {
    let hole = Blackhole::open().unwrap();
    let error = TcpStream::connect_timeout(&hole.address(), SHORT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

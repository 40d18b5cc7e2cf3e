//! `versus null-s3`: a server of S3 that does next to nothing, so that what a client costs is what is seen.
//!
//! One bucket with objects of one size under one prefix; any GET of a range gets bytes of that length. Signatures are
//! not looked at. A thread for each connection; head and body go out together, and at once.

mod answer;

use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result};

use self::answer::{Answer, Body};
use crate::args::NullS3Args;
use crate::output::print;

/// The most that a request may be.
const REQUEST_BYTES_MAX: usize = 16 << 10;
/// Bytes that all bodies are cut from.
const BODY_BYTES: usize = 8 << 20;

/// Serves until standard input ends, which it does with whoever started this.
pub(crate) fn serve(args: &NullS3Args) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on 127.0.0.1")?;
    print(&format!("{}\n", listener.local_addr()?))?;
    let served = Arc::new((args.clone(), vec![b'x'; BODY_BYTES]));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            // A client that goes away ends its thread; whom should it tell?
            thread::spawn(move || connection(stream, &served.0, &served.1).ok());
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink()).context("cannot read standard input")?;
    Ok(())
}

fn connection(mut stream: TcpStream, args: &NullS3Args, bytes: &[u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; REQUEST_BYTES_MAX];
    let mut filled = 0;
    loop {
        let Some(head) = buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") else {
            match stream.read(&mut buffer[filled..])? {
                0 => return Ok(()),
                more => filled += more,
            }
            continue;
        };
        let request = String::from_utf8_lossy(&buffer[..head]);
        send(&mut stream, &answer::to(&request, args), bytes)?;
        buffer.copy_within(head + 4..filled, 0);
        filled -= head + 4;
    }
}

fn send(stream: &mut TcpStream, answer: &Answer, bytes: &[u8]) -> io::Result<()> {
    let (mut first, mut left) = match &answer.body {
        Body::Text(text) => (text.as_bytes(), text.len()),
        Body::Bytes(count) => (&bytes[..bytes.len().min(*count as usize)], *count as usize),
    };
    let head = answer.head.as_bytes();
    let mut sent_of_head = stream.write_vectored(&[IoSlice::new(head), IoSlice::new(first)])?;
    if sent_of_head < head.len() {
        stream.write_all(&head[sent_of_head..])?;
        sent_of_head = head.len();
    }
    let of_body = sent_of_head - head.len();
    first = &first[of_body..];
    left -= of_body;
    while left > 0 {
        stream.write_all(first)?;
        left -= first.len();
        first = &bytes[..bytes.len().min(left)];
    }
    Ok(())
}

//! The AWS SDK at its defaults, and the loop that it shares with `object_store`.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use anyhow::{Result, ensure};
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::{Client, Config};
use tokio::task::LocalSet;

use crate::draw::Draw;
use crate::tally::{Tally, now_s};
use crate::{Args, KEY, REGION};

/// What all readers share.
#[derive(Debug)]
pub(crate) struct State {
    draw: Draw,
    tally: Tally,
    begun_s: f64,
    seconds: f64,
    block_bytes: u64,
    failed: Option<anyhow::Error>,
}

/// The next block, while there is time.
pub(crate) fn next(state: &RefCell<State>) -> Option<(u64, u64)> {
    let mut state = state.borrow_mut();
    let since_s = now_s() - state.begun_s;
    if since_s >= state.seconds || state.failed.is_some() {
        return None;
    }
    state.tally.window_s = since_s;
    Some(state.draw.next())
}

/// Counts a block that was read. One that ends after the window is an operation whose bytes are in no window.
pub(crate) fn count(state: &RefCell<State>, bytes: u64) {
    let mut state = state.borrow_mut();
    if bytes != state.block_bytes {
        state.failed = Some(anyhow::anyhow!("{bytes} bytes came where {} were asked for", state.block_bytes));
    }
    state.tally.ops += 1;
    if now_s() - state.begun_s < state.seconds {
        state.tally.bytes += bytes;
    }
}

/// Runs as many readers at once as the depth says, on one thread.
pub(crate) fn run<F, R>(args: Args, reader: F) -> Result<Tally>
where
    F: Fn(Rc<RefCell<State>>) -> R,
    R: Future<Output = Result<()>> + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let state = Rc::new(RefCell::new(State {
        draw: Draw::new(args.objects, args.object_bytes, args.block_bytes),
        tally: Tally::default(),
        begun_s: now_s(),
        seconds: args.seconds,
        block_bytes: args.block_bytes,
        failed: None,
    }));
    let tasks = LocalSet::new();
    for _ in 0..args.depth {
        let (state, read) = (Rc::clone(&state), reader(Rc::clone(&state)));
        tasks.spawn_local(async move {
            if let Err(error) = read.await {
                state.borrow_mut().failed.get_or_insert(error);
            }
        });
    }
    runtime.block_on(tasks);
    let mut state = state.borrow_mut();
    if let Some(error) = state.failed.take() {
        return Err(error);
    }
    ensure!(state.tally.window_s > 0.0, "nothing was read");
    let window_s = state.seconds;
    Ok(Tally { window_s, ..std::mem::take(&mut state.tally) })
}

/// Reads by `get_object` and `collect()`, as its examples do.
pub(crate) fn read(args: Args) -> Result<Tally> {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .endpoint_url(format!("http://{}", args.address))
        .force_path_style(true)
        .credentials_provider(Credentials::new(KEY.0, KEY.1, None, None, "versus"))
        .build();
    let client = Client::from_conf(config);
    let keys: Rc<Vec<String>> = Rc::new((0..args.objects).map(|object| args.key(object)).collect());
    let (bucket, block_bytes) = (args.bucket.clone(), args.block_bytes);
    run(args, move |state: Rc<RefCell<State>>| {
        let (client, keys, bucket) = (client.clone(), Rc::clone(&keys), bucket.clone());
        async move {
            while let Some((object, offset)) = next(&state) {
                let range = format!("bytes={offset}-{}", offset + block_bytes - 1);
                let get = client.get_object().bucket(&bucket).key(&keys[object as usize]).range(range);
                let bytes = get.send().await?.body.collect().await?.into_bytes();
                count(&state, bytes.len() as u64);
            }
            Ok(())
        }
    })
}

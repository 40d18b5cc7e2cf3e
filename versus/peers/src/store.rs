//! The crate `object_store`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStoreExt as _};

use crate::tally::Tally;
use crate::{Args, KEY, REGION, sdk};

/// Reads by `get_range`, which gives the bytes in one piece.
pub(crate) fn read(args: Args) -> Result<Tally> {
    let store: Arc<AmazonS3> = Arc::new(
        AmazonS3Builder::new()
            .with_endpoint(format!("http://{}", args.address))
            .with_region(REGION)
            .with_bucket_name(&args.bucket)
            .with_access_key_id(KEY.0)
            .with_secret_access_key(KEY.1)
            .with_client_options(ClientOptions::new().with_allow_http(true))
            .build()?,
    );
    let keys: Rc<Vec<Path>> = Rc::new((0..args.objects).map(|object| Path::from(args.key(object))).collect());
    let block_bytes = args.block_bytes;
    sdk::run(args, move |state: Rc<RefCell<sdk::State>>| {
        let (store, keys) = (Arc::clone(&store), Rc::clone(&keys));
        async move {
            while let Some((object, offset)) = sdk::next(&state) {
                let bytes = store.get_range(&keys[object as usize], offset..offset + block_bytes).await?;
                sdk::count(&state, bytes.len() as u64);
            }
            Ok(())
        }
    })
}

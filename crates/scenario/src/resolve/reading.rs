//! What goes with a layout: operations, orders, blocks and treatments of the page cache.

use feed::Access;
use plan::{Cache, Codec, DatasetSpec, Layout};

use crate::diagnostic::{Problem, Problems, Span};
use crate::written::Document;

use super::block::{BLOCK_ALIGN_BYTES, BLOCK_DEFAULT_MAX_BYTES, rounded};
use super::dataset::{Datasets, place_of};
use super::forms::Choice;
use super::load::Load;
use super::target::Resolved;

/// Whether direct I/O can read this layout in this order: what is read must begin and end at multiples of a page. A layout
/// that is not known yet counts as files.
pub(super) fn may_bypass(spec: &DatasetSpec, access: Access) -> bool {
    let (layout, sample_bytes) = match spec {
        DatasetSpec::Generate(plan::Generate { packing, sample_bytes, .. }) => {
            // Chunks that are packed by themselves are of any size.
            let is_plain = packing.is_none_or(|packing| packing.codec == Codec::None);
            (packing.map_or(Layout::Files, |packing| packing.layout), is_plain.then_some(*sample_bytes))
        }
        DatasetSpec::Existing(existing) => (existing.layout.unwrap_or_default(), None),
    };
    match layout {
        // A stream is read in whole blocks from the beginning of a file, which is aligned by itself.
        _ if !access.is_by_index() => true,
        Layout::Files | Layout::Indexed => true,
        Layout::Records | Layout::Zarr | Layout::Hdf5 => {
            sample_bytes.is_some_and(|bytes| bytes.is_multiple_of(BLOCK_ALIGN_BYTES))
        }
        // Members begin at multiples of 512 B or anywhere, and direct I/O of many drives needs 4096.
        Layout::WebDataset | Layout::TfRecord | Layout::Parquet | Layout::Ffcv => false,
    }
}

/// A header and the padding of a tar member.
// At most 511 B of padding and the header of 512: rounded up, since a block that is a little too small
// takes two reads.
const TAR_MEMBER_BYTES: u64 = 1024;

/// Length and two checksums.
const TFRECORD_BYTES: u64 = 16;

/// What packing adds to a chunk that nothing makes smaller: a part of it, and a few bytes.
// The library of HDF5 reckons with a thousandth.
const PACKED_SHARE: u64 = 1000;
const PACKED_BYTES: u64 = 64;

/// The default block size. A stream is read in large blocks; what is fetched by index is read in one block, as far as its
/// size is known. `None` for files, where a block follows the sample.
pub(super) fn default_block_bytes(spec: &DatasetSpec, access: Access) -> Option<u32> {
    let most = BLOCK_DEFAULT_MAX_BYTES;
    let bytes = match spec {
        DatasetSpec::Existing(existing) => match existing.layout? {
            // A block of files follows the sample, of which the dataset knows more.
            Layout::Files => return None,
            _ => most,
        },
        DatasetSpec::Generate(plan::Generate { packing, sample_bytes, .. }) => {
            let packing = packing.as_ref()?;
            let members = u64::from(packing.members);
            match packing.layout {
                _ if !access.is_by_index() => most,
                Layout::Files | Layout::Parquet | Layout::Ffcv => most,
                Layout::WebDataset => sample_bytes.saturating_add(members * TAR_MEMBER_BYTES),
                Layout::TfRecord => sample_bytes.saturating_add(TFRECORD_BYTES),
                Layout::Hdf5 if packing.codec != Codec::None => {
                    sample_bytes.saturating_add(sample_bytes / PACKED_SHARE + PACKED_BYTES)
                }
                Layout::Records | Layout::Indexed | Layout::Zarr | Layout::Hdf5 => *sample_bytes,
            }
        }
    };
    Some(rounded(bytes).min(most) as u32)
}

/// Refuses what a layout cannot do, pointing at both keys.
pub(super) fn refuse(
    document: &Document,
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    load: &Load,
    problems: &mut Problems,
) {
    // What is written over lies as what is read does.
    for (spec, sample) in datasets.specs.iter().zip(&datasets.samples) {
        let Some(layout) = sample.layout.filter(|layout| *layout != Layout::Files) else {
            continue;
        };
        let at = place_of(document, layout);
        for access in (0..load.orders.count()).map(|index| load.orders.at(index, spec)) {
            refuse_compressed(spec, sample.form.codec, (access, load.orders.span), problems);
            if !may_bypass(spec, access) {
                let is_packed = sample.form.codec.is_some_and(|codec| codec.value != Codec::None);
                refuse_bypass(document, targets, (layout, is_packed, at), access, problems);
            }
        }
    }
}

/// A compressed shard does not say where its samples are.
fn refuse_compressed(
    spec: &DatasetSpec,
    codec: Option<Choice<Codec>>,
    (access, access_span): (Access, Option<Span>),
    problems: &mut Problems,
) {
    let DatasetSpec::Generate(plan::Generate { packing: Some(packing), .. }) = spec else { return };
    if packing.whole_codec() == Codec::None || !access.is_by_index() {
        return;
    }
    let message =
        format!("`{}` reads single samples, and compressed shards are unpacked whole", access.name());
    let (codec, access) = (codec.map(|choice| choice.span), access_span);
    let problem = match access.or(codec) {
        Some(at) => Problem::new(message).at(at, "cannot be together"),
        None => Problem::new(message),
    };
    let problem = problem.also_if(codec.filter(|_| access.is_some()), "compresses shards");
    problems.push(problem.help("write load.access = \"shuffled_shards\", or remove dataset.codec"));
}

fn refuse_bypass(
    document: &Document,
    targets: &[&Resolved<'_>],
    (layout, is_packed, at): (Layout, bool, Option<Span>),
    access: Access,
    problems: &mut Problems,
) {
    let local = targets.iter().filter(|target| target.network.is_none() && target.target.config.is_storage());
    for target in local {
        let asks = |way: &super::cache::Way| way.written && way.caches.contains(&Cache::Bypass);
        let cache = document.load.cache.span();
        let Some(span) = cache.or(target.written.direct.span()).filter(|_| target.ways.iter().any(asks))
        else {
            continue;
        };
        let message = format!(
            "direct I/O reads whole pages, and samples of {} lie across them",
            if layout.is_array() && !is_packed {
                format!("{} that are no multiple of {BLOCK_ALIGN_BYTES} B", layout.name())
            } else {
                layout.name().to_owned()
            }
        );
        let problem = Problem::new(message)
            .at(span, "past the page cache")
            .also_if(at, "puts samples anywhere")
            .also_if(document.load.access.span(), format!("{} reads them one by one", access.name()));
        problems.push(problem.help(
            "write load.cache = \"cold\" (or remove it), or load.access = \"shuffled_shards\", which reads shards from \
             end to end",
        ));
    }
}

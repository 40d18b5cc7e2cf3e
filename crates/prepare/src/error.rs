//! What keeps a dataset from being prepared or removed.

use std::io;

use backend::StoreError;
use dataset::{DataError, Key};
use feed::format_bytes;
use formats::FormatError;

/// A dataset could not be prepared. What was complete by then is kept and taken up next time.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Samples are numbered with 32 bits.
    #[error(
        "cannot generate {samples} samples: at most {} are numbered\n  \
         hint: make `dataset.samples` smaller or `dataset.sample_size` larger",
        u32::MAX
    )]
    TooManySamples {
        /// Samples asked for.
        samples: u64,
    },
    /// The dataset would be empty.
    #[error(
        "cannot generate {samples} samples of {sample_bytes} B: there would be nothing to read\n  \
         hint: set `dataset.samples` and `dataset.sample_size` above zero"
    )]
    Empty {
        /// Samples asked for.
        samples: u64,
        /// Bytes of each, or their mean.
        sample_bytes: u64,
    },
    /// The total does not fit 64 bits.
    #[error(
        "cannot generate {samples} samples of {sample_bytes} B: the total may be beyond 2^64 B\n  \
         hint: make `dataset.samples` or `dataset.sample_size` smaller"
    )]
    TooLarge {
        /// Samples asked for.
        samples: u64,
        /// Bytes of each, or their mean.
        sample_bytes: u64,
    },
    /// Shards are listed by their names, which 32 bits count.
    #[error(
        "cannot generate {shards} shards: their names would pass 32 bits\n  \
         hint: make `dataset.shard_size` larger"
    )]
    TooManyShards {
        /// Shards asked for.
        shards: u64,
    },
    /// A layout has no place for the samples asked for.
    #[error(
        "cannot write `{object}`: {source}\n  hint: choose another `dataset.layout` or `dataset.sample_size`"
    )]
    Unwritable {
        /// The shard.
        object: Key,
        /// Why.
        source: FormatError,
    },
    /// A file of the dataset is not what its layout asks for.
    #[error("cannot read `{object}` as {layout}: {source}\n  hint: {}", shard_hint(layout, source))]
    Shard {
        /// The file.
        object: Key,
        /// Name of the layout.
        layout: &'static str,
        /// What is wrong with it.
        source: FormatError,
    },
    /// Files of several layouts lie side by side.
    #[error(
        "`{first}` is {first_is} and `{second}` is {second_is}: one dataset has one layout\n  \
         hint: say which are read, e.g. `dataset.shards = \"**/*.tar\"`, or with `dataset.layout` what they are"
    )]
    Mixed {
        /// A file.
        first: Key,
        /// What it is.
        first_is: String,
        /// Another.
        second: Key,
        /// What that is.
        second_is: String,
    },
    /// The first file has another layout than was stated.
    #[error(
        "`{object}` is {found}, and `dataset.layout` is \"{wanted}\"\n  \
         hint: mend `dataset.layout`, or say with `dataset.shards` which files are read"
    )]
    OtherLayout {
        /// The file.
        object: Key,
        /// What it is.
        found: String,
        /// What was stated.
        wanted: &'static str,
    },
    /// None of the files has the layout that was stated.
    #[error(
        "found no {layout} shard among {files} files\n  \
         hint: point `at` to the folder that holds them, or say with `dataset.shards` which files they are"
    )]
    NoShards {
        /// Name of the layout.
        layout: &'static str,
        /// Files that are there.
        files: u64,
    },
    /// The pattern of shards cannot be one.
    #[error(
        "`dataset.shards` cannot be \"{pattern}\": {cause}\n  hint: for example \"train-{{000000..000146}}.tar\" or \"**/*.tar\""
    )]
    Pattern {
        /// As it was written.
        pattern: String,
        /// What is wrong.
        cause: String,
    },
    /// A shard that the pattern names is not there.
    #[error(
        "`{name}` is not there, and `dataset.shards` = \"{pattern}\" names it\n  \
         hint: mend the pattern (it counts from the folder at `at`), or restore the shard"
    )]
    MissingShard {
        /// The name, or what is left of a pattern that matches nothing.
        name: String,
        /// As it was written.
        pattern: String,
    },
    /// A list names what is no file of the dataset.
    #[error(
        "line {line} of `{order}` names `{name}`, and there is no such file with content\n  \
         hint: names count from the folder at `at` (symbolic links below it are not followed); mend the list, or restore \
         the file"
    )]
    NotThere {
        /// The list.
        order: String,
        /// Number of the line, from 1.
        line: u64,
        /// What stands there, or how it begins.
        name: String,
    },
    /// A list names shards.
    #[error(
        "`{order}` names files, each of them a sample, and they are {layout} shards\n  \
         hint: write dataset.layout = \"files\" if each of them is one sample all the same; shards are read by orders such as \
         `shuffled_shards`, without `dataset.order`"
    )]
    ListOfShards {
        /// The list.
        order: String,
        /// What the files are.
        layout: &'static str,
    },
    /// An array that cannot be told, or whose samples cannot be found.
    #[error(
        "cannot read an array of Zarr: {cause}\n  \
         hint: point `at` to the folder of one array, where its `zarr.json` or `.zarray` lies"
    )]
    Array {
        /// What was found.
        cause: String,
    },
    /// The index of a dataset contradicts its objects.
    #[error("cannot use the index of the dataset: {0}")]
    Index(#[from] DataError),
    /// There is not enough room, found before anything was written.
    #[error(
        "cannot write the dataset `{folder}`: {} are needed and {} are free, {} too few\n  \
         hint: free some space, make `dataset.size` smaller, or remove older datasets with `feedline clean`",
        format_bytes(*needed_bytes), format_bytes(*free_bytes), format_bytes(needed_bytes.saturating_sub(*free_bytes))
    )]
    NoSpace {
        /// Folder of the dataset.
        folder: Key,
        /// Bytes still to be written, with what a file system takes beside them.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
    },
    /// There is not enough room for checkpoints, found before anything was written.
    #[error(
        "cannot keep {checkpoints} checkpoints: {} are needed and {} are free\n  \
         hint: free some space, make `checkpoint.scale` smaller, or keep fewer with `checkpoint.keep`",
        format_bytes(*needed_bytes), format_bytes(*free_bytes)
    )]
    NoRoom {
        /// Checkpoints that lie there at once.
        checkpoints: u32,
        /// Their bytes, with what a file system takes beside them.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
    },
    /// The place of a new dataset holds files of others.
    #[error(
        "cannot write a dataset among files that feedline did not write: {names}\n  \
         hint: choose another folder for `at`; dataset.source = \"existing\" reads these files instead, and \
         dataset.beside_others = true writes beside them"
    )]
    Others {
        /// The first of them.
        names: String,
    },
    /// The folder is there and carries no marker.
    #[error(
        "cannot write into `{folder}`: it exists and carries no marker of feedline\n  \
         hint: move or remove that folder, or choose another `at`; feedline writes only into folders it made"
    )]
    NotOwned {
        /// The folder.
        folder: Key,
    },
    /// The folder is feedline's and holds something else under the same name.
    #[error(
        "cannot write {wanted} into `{folder}`: it holds {found}\n  \
         hint: remove that dataset with `feedline clean`, or choose another `dataset.seed`"
    )]
    OtherDataset {
        /// The folder.
        folder: Key,
        /// The dataset asked for.
        wanted: String,
        /// The dataset that its marker or manifest names.
        found: String,
    },
    /// The dataset is not what was written.
    #[error(
        "the dataset `{folder}` changed since it was written: {difference}\n  \
         hint: restore it, or remove it with `feedline clean` and let it be written anew"
    )]
    Changed {
        /// Folder of the dataset.
        folder: Key,
        /// The first object that differs, and how.
        difference: String,
    },
    /// The user's folder holds nothing to read.
    #[error(
        "found no file to read ({empty_files} empty)\n  \
         hint: point `at` to the folder that holds the data (symbolic links below it are not followed), or set \
         `dataset.source = \"generate\"`"
    )]
    NoFiles {
        /// Files without content.
        empty_files: u64,
    },
    /// The user's folder holds a file that a record cannot name.
    #[error(
        "cannot list the data: {source}\n  \
         hint: rename it, or point `at` to a part of the folder without it"
    )]
    UnusableName {
        /// The storage's words, with the name.
        source: io::Error,
    },
    /// The user's folder holds more than an index of 32 bits.
    #[error(
        "cannot list more than {files} files: their names or numbers pass 32 bits\n  \
         hint: point `at` to a part of the folder"
    )]
    TooManyFiles {
        /// Files listed until then.
        files: u64,
    },
    /// It was asked to stop.
    #[error(
        "stopped while preparing the dataset, {} of {} done\n  \
         hint: start again to go on from there, or remove it with `feedline clean`",
        format_bytes(*done_bytes), format_bytes(*total_bytes)
    )]
    Interrupted {
        /// Bytes that were complete or under way.
        done_bytes: u64,
        /// Bytes of the dataset.
        total_bytes: u64,
    },
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a user can do about a shard.
fn shard_hint(layout: &str, source: &FormatError) -> String {
    match source {
        FormatError::NoColumn { .. } => "mend `dataset.columns`".to_owned(),
        FormatError::Several { .. } => {
            "name those that are read with `dataset.columns`, or the group in which they lie".to_owned()
        }
        FormatError::Io(_) => "is it still being written, or may this user not read it?".to_owned(),
        _ => format!(
            "restore it or move it away; `dataset.shards` can leave it out, and another `dataset.layout` than \
             \"{layout}\" reads it otherwise"
        ),
    }
}

/// A dataset could not be removed; what was removed until then is gone, and `clean` can be repeated.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// The target could not be searched.
    #[error("cannot look for datasets: {0}")]
    Search(#[source] StoreError),
    /// A folder of feedline's could not be emptied.
    #[error("cannot remove the dataset `{folder}`: {source}\n  hint: solve that and repeat `feedline clean`")]
    Remove {
        /// Folder of the dataset.
        folder: Key,
        /// The cause.
        source: StoreError,
    },
}

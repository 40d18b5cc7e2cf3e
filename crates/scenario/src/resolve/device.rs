//! Block devices: only ever read, block by block, and without files that say how large a sample is.

use plan::Layout;

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::words::Origin;
use crate::written::{Address, Document};

use super::block::Sample;
use super::forms::Form;

/// What to write so that a device is read.
const READ_ONLY: &str =
    "write dataset.source = \"existing\": its bytes are read as they are, and nothing is written";

/// Refuses a dataset that would be written to the device of which the address was written at `at`.
pub(super) fn refuse_writing(document: &Document, at: Span, problems: &mut Problems) {
    let source = &document.dataset.source;
    if source.value_or(Origin::default()) == Some(Origin::Generate) {
        let problem = Problem::new("a block device is only ever read, and this scenario writes a dataset")
            .at(at, "is a block device")
            .also_if(source.span(), "writes");
        problems.push(problem.help(READ_ONLY));
    }
}

/// The addresses of a scenario that are devices, and whether there are others.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) all: Vec<Span>,
    folder: Option<Span>,
}

impl Devices {
    pub(super) fn of(document: &Document, host: &HostFacts) -> Self {
        let (mut all, mut folder) = (Vec::new(), None);
        for at in document.targets.iter().filter_map(|target| target.at.given()) {
            let facts = at.value.path().map(|path| host.paths.get(path));
            match facts {
                // What is no storage has no samples, and what is not known was said.
                _ if at.value == Address::Null => {}
                Some(None) => {}
                Some(Some(facts)) if facts.block_device_bytes.is_some() => all.push(at.span),
                Some(Some(_)) | None => folder = folder.or(Some(at.span)),
            }
        }
        Self { all, folder }
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<Span> {
        self.all.first().copied()
    }

    /// The sample size where the scenario does not state it: the files of a folder tell it later, the bytes of a device never.
    pub(super) fn sample(&self, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Sample> {
        // Files have a mean size that can be found; of a device nothing says where one sample ends.
        let Some(device) = self.first() else {
            return Some(Sample { bytes: None, span: None, layout: None, form: Form::default() });
        };
        let example = "for example dataset.sample_size = \"1 MiB\"";
        if let Some(folder) = self.folder {
            let problem = Problem::absent("`dataset.sample_size` is missing: a block device does not say it")
                .at(device, "is a block device")
                .also(folder, "would be read in samples of its mean file size");
            problems.push(problem.help(example));
            return None;
        }
        let bytes = need?.sample_bytes().map(|bytes| (bytes.round() as u64).max(1));
        if bytes.is_none() {
            let problem = Problem::absent(
                "`dataset.sample_size` is missing: neither a block device nor this need says how large a sample is",
            );
            problems.push(problem.at(device, "is a block device").help(example));
        }
        bytes.map(|bytes| Sample {
            bytes: Some(bytes),
            span: None,
            layout: Some(Layout::Files),
            form: Form::default(),
        })
    }
}

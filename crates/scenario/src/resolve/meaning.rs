//! What goes with what: keys that mean nothing beside others, and operations that cannot be asked of a storage, of data
//! or of a load.

use feed::Access;
use plan::{Engine, Layout, Operation};

use crate::diagnostic::{Problem, Problems, Span};
use crate::only::Only;
use crate::table::{KeyOf, Keys as _};
use crate::words::{Grade, Mode, Origin, Sizes};
use crate::written::{Address, Document, Pack, Regression, Target};

use super::access::default_access;
use super::device::Devices;
use super::engine;
use super::task::{self, Task};

/// A scenario as written, with what decides which keys and operations it allows.
pub(super) struct Scenario<'a> {
    pub(super) document: &'a Document,
    pub(super) tasks: &'a [Task],
    pub(super) devices: &'a Devices,
}

/// What rules a key out: each place that does, if it was written at all, and what is said there.
// Several places, as an operation may come from one key and its data from another; all of them are marked.
type RuledOut = Vec<(Option<Span>, &'static str)>;

impl Scenario<'_> {
    /// Refuses every key that means nothing, by what its description says that it is for.
    pub(super) fn refuse_keys(&self, problems: &mut Problems) {
        let Document { dataset, load, training, copy, checkpoint, gate, .. } = self.document;
        // A table within a table, reached by hand: `keys` knows one level.
        let margins = match gate.regression.given().map(|entry| &entry.value) {
            Some(Regression::Table(margins)) => margins.keys(),
            _ => Vec::new(),
        };
        let tables = [
            ("dataset", dataset.keys()),
            ("load", load.keys()),
            ("training", training.keys()),
            ("copy", copy.keys()),
            ("checkpoint", checkpoint.keys()),
            ("gate", gate.keys()),
            ("gate.regression", margins),
        ];
        for (table, keys) in tables {
            problems.extend(keys.iter().filter_map(|key| {
                refuse_key(&format!("{table}.{}", key.name), key, |only| self.rules_out(only))
            }));
        }
        for target in &self.document.targets {
            problems.extend(
                target
                    .keys()
                    .iter()
                    .filter_map(|key| refuse_key(key.name, key, |only| self.target_rules_out(target, only))),
            );
        }
    }

    /// What rules out a key that is for `only`; `None` where nothing does, and where that cannot be said because something
    /// else is wrong.
    fn rules_out(&self, only: Only) -> Option<RuledOut> {
        let Document { dataset, load, copy, gate, .. } = self.document;
        match only {
            Only::Paced => self.modes_rule_out(&[Mode::Paced]),
            Only::Timed => self.modes_rule_out(&[Mode::Paced, Mode::Training]),
            Only::ClosedLoop => self.modes_rule_out(&[Mode::Closed]),
            Only::Trained | Only::SavedByJob => self.modes_rule_out(&[Mode::Training]),
            Only::Loader => self.modes_rule_out(&[Mode::Training, Mode::Closed]),
            Only::Bytes => {
                let moves = self.tasks.iter().any(|task| task.operation.moves_bytes());
                (!moves).then(|| self.tasks.iter().map(|task| (task.span, "moves no bytes")).collect())
            }
            Only::Writes => {
                let writes = self.tasks.iter().any(|task| task.operation.writes_over());
                (!writes).then(|| vec![(load.operation.span(), "writes none")])
            }
            Only::Mixed => {
                let mixed = self.tasks.iter().any(|task| task.operation == Operation::Mix);
                (!mixed).then(|| vec![(load.operation.span(), "mixes none")])
            }
            Only::WholeObjects => {
                let whole = self.tasks.iter().any(|task| task.operation == Operation::ReadFile);
                (!whole).then(|| vec![(load.operation.span(), "reads none")])
            }
            Only::Streams => self.orders_rule_out(Access::streams, "streams none"),
            Only::Neighbours => self.orders_rule_out(|access| access == Access::Neighbours, "has no runs"),
            Only::Listed => self.orders_rule_out(|access| access == Access::List, "follows none"),
            Only::Generated | Only::Elsewhere => {
                self.reads_existing().then(|| vec![(dataset.source.key(), "here the data is the user's")])
            }
            Only::Existing => {
                let is_written = self.origin()? == Origin::Generate;
                is_written.then(|| vec![(dataset.source.span(), "here feedline writes them")])
            }
            Only::Files => {
                let device = self.devices.first().filter(|_| self.reads_existing())?;
                Some(vec![(Some(device), "is a block device, without files")])
            }
            // A key stays where one layout of a list takes it: the cells of the others do without.
            Only::Layouts(of) => self.layouts_rule_out(of),
            Only::Spread => {
                let sizes = dataset.distribution.value_or(Sizes::default())?;
                (sizes == Sizes::Fixed).then(|| vec![(dataset.distribution.span(), "makes all files equal")])
            }
            Only::Packing => copy.pack.is_absent().then(Vec::new),
            Only::PackingInto(of) => {
                let pack: Option<Pack> = copy.pack.optional()?;
                pack.is_none_or(|pack| !of.contains(&pack.0))
                    .then(|| vec![(copy.pack.span(), "has nothing of the kind")])
            }
            Only::Gated => gate.feeds.is_absent().then(Vec::new),
            Only::Bounded => gate.p99.is_absent().then(Vec::new),
            Only::Compared => gate.regression.is_absent().then(Vec::new),
            Only::Proven => {
                let grade = gate.evidence.value_or(Grade::Screen)?;
                (grade == Grade::Screen).then(|| vec![(gate.evidence.span(), "asks for less")])
            }
            // A key of one target is asked about with its address.
            Only::Somewhere => {
                let nowhere = |target: &Target| {
                    let at = target.at.given().filter(|at| at.value == Address::Null)?;
                    Some((Some(at.span), "is no storage"))
                };
                self.document.targets.iter().map(nowhere).collect()
            }
            Only::Kernel(_)
            | Only::Network
            | Only::Bucket
            | Only::Objects
            | Only::Played
            | Only::RealServer
            | Only::Maps
            | Only::Rings => None,
        }
    }

    /// The same for the key of one target.
    fn target_rules_out(&self, target: &Target, only: Only) -> Option<RuledOut> {
        let at = target.at.given()?;
        let fits = match (only, &at.value) {
            (Only::Somewhere, address) => *address != Address::Null,
            (Only::Kernel(_), address) => address.path().is_some(),
            (Only::Network, address) => address.remote().is_some(),
            (Only::Bucket, address) => matches!(address, Address::S3(_)),
            (Only::Objects, address) => address.holds_objects(),
            (Only::Played, address) => address.can_be_played(),
            // A path is slowed down where it is, whosever data lie there.
            (Only::Elsewhere, Address::Path(_)) => return None,
            (Only::RealServer, _) => {
                return target.emulate.key().map(|at| vec![(Some(at), "starts one in its place")]);
            }
            (Only::Maps, _) => return self.engines_rule_out(target, Engine::Mmap, "maps nothing"),
            (Only::Rings, _) => return self.engines_rule_out(target, Engine::IoUring, "registers nothing"),
            (only, _) => return self.rules_out(only),
        };
        (!fits).then(|| vec![(Some(at.span), at.value.is())])
    }

    fn modes_rule_out(&self, modes: &[Mode]) -> Option<RuledOut> {
        let (mode, span) = task::mode(&self.document.load)?;
        let does = match mode {
            Mode::Closed => "issues a read as soon as another has ended",
            Mode::Paced => "gives each read its own time",
            Mode::Training => "plays a job",
        };
        (!modes.contains(&mode)).then(|| vec![(span, does)])
    }

    fn orders_rule_out(&self, holds: impl Fn(Access) -> bool, is: &'static str) -> Option<RuledOut> {
        let access = &self.document.load.access;
        let orders: Vec<Access> = match access.optional()? {
            Some(listed) => listed,
            None => self.layouts()?.into_iter().map(|(layout, _)| default_access(layout)).collect(),
        };
        (!orders.into_iter().any(holds)).then(|| vec![(access.span(), is)])
    }

    fn layouts_rule_out(&self, of: &[Layout]) -> Option<RuledOut> {
        // The layout of the user's files is found when they are listed; until then nothing is ruled out by
        // it.
        let unknown = self.reads_existing() && self.document.dataset.layout.is_absent();
        let layouts = self.layouts().filter(|_| !unknown || !self.devices.all.is_empty())?;
        let fits = layouts.iter().any(|(layout, _)| of.contains(layout));
        (!fits).then(|| layouts.into_iter().map(|(_, span)| (span, "has nothing of the kind")).collect())
    }

    fn engines_rule_out(&self, target: &Target, needed: Engine, does: &'static str) -> Option<RuledOut> {
        let asked = engine::asked(target, engine::by_default(self.tasks))?;
        let place = target.engine.span().unwrap_or(target.name.span);
        asked.iter().all(|(engine, _)| *engine != needed).then(|| vec![(Some(place), does)])
    }

    fn origin(&self) -> Option<Origin> {
        self.document.dataset.source.value_or(Origin::default())
    }

    fn reads_existing(&self) -> bool {
        self.origin() == Some(Origin::Existing)
    }

    /// Every layout, and where it was written; files where none was.
    fn layouts(&self) -> Option<Vec<(Layout, Option<Span>)>> {
        self.document.dataset.layout.placed_or(Layout::Files)
    }
}

/// Refuses a key that was written where something rules it out.
fn refuse_key(name: &str, key: &KeyOf, rules_out: impl Fn(Only) -> Option<RuledOut>) -> Option<Problem> {
    let at = key.at?;
    let (only, places) = key.only.iter().find_map(|only| Some((*only, rules_out(*only)?)))?;
    let words = only.words();
    let problem = Problem::new(format!("`{name}` {}", words.message)).at(at, "remove this");
    let problem = places.into_iter().fold(problem, |problem, (place, is)| problem.also_if(place, is));
    Some(if words.instead.is_empty() { problem } else { problem.help(words.instead) })
}

/// Which operations a load, a layout or a storage allows, and the message where it does not; `{}` stands for the operation.
// Functions and words side by side: a rule that is changed in one of them is seen in the other.
struct Rule {
    allows: fn(Operation) -> bool,
    message: &'static str,
    /// The label of the operation.
    asks: &'static str,
    /// The label of what cannot do it.
    because: &'static str,
    help: &'static str,
}

// Operations without bytes have a rate as well, but the line is one of bytes or samples, and a share of it
// would mean nothing.
const PACED: Rule = Rule {
    allows: Operation::moves_bytes,
    message: "`{}` cannot be paced: it moves no bytes, and the rate is one of bytes",
    asks: "moves no bytes",
    because: "is a rate of bytes",
    help: "measure it in a scenario of its own, with load.mode = \"closed\"",
};
const TRAINING: Rule = Rule {
    allows: |operation| operation.reads_bytes() && !operation.writes_over(),
    message: "`{}` is not what a training job does, which reads samples and writes none",
    asks: "asks for it",
    because: "plays a job",
    ..PACED
};
const EXISTING: Rule = Rule {
    allows: |operation| !operation.changes_storage(),
    message: "`{}` would change data of the user's, which feedline never does",
    asks: "writes there",
    because: "here the data is the user's",
    help: "remove dataset.source: feedline then makes files of its own at that path, and writes over those",
};
// Whole shards could be read, opened and closed, and would show the storage's largest read: no loader of
// samples does it.
const SHARDS: Rule = Rule {
    allows: |operation| operation == Operation::Read,
    message: "`{}` is about files, and a shard holds many samples",
    asks: "is about files",
    because: "packs samples into shards",
    help: "write operation = \"read\", which reads the samples of shards, or remove it; or measure it in a scenario with \
           layout = \"files\"",
};
const CHUNKS: Rule =
    Rule { allows: |operation| matches!(operation, Operation::Read | Operation::ReadFile), ..SHARDS };
const DEVICE: Rule = Rule {
    allows: |operation| operation == Operation::Read,
    message: "`{}` needs files, and a block device has none",
    asks: "needs files",
    because: "is a block device",
    help: "write operation = \"read\", or the path of a folder on a mounted file system",
};
const NULL: Rule = Rule {
    allows: |operation| Engine::Null.operations().contains(&operation),
    message: "`{}` cannot be done where there is no storage",
    asks: "asks for it",
    because: "is no storage",
    help: "measure it in a scenario without this target",
};
// Names and attributes would need a second kind of cache, with a staleness that differs between products.
const TIER: Rule = Rule {
    allows: |operation| operation == Operation::Read,
    message: "a cache tier holds blocks, and `{}` reads none",
    asks: "asks for no blocks",
    because: "caches blocks",
    help: "write load.operation = \"read\", or remove `cache_tier`",
};

impl Scenario<'_> {
    /// Refuses every operation that its load, its data or a storage cannot do. What engines can do is said by
    /// [`Engine::operations`].
    pub(super) fn refuse_operations(&self, problems: &mut Problems) {
        for (rule, place) in self.rules() {
            for task in self.tasks.iter().filter(|task| !(rule.allows)(task.operation)) {
                let problem = Problem::new(rule.message.replace("{}", task.operation.name()));
                let problem = match (task.span, place) {
                    (Some(asks), Some(place)) if asks != place => {
                        problem.at(asks, rule.asks).also(place, rule.because)
                    }
                    (asks, place) => place
                        .or(asks)
                        .into_iter()
                        .fold(problem, |problem, place| problem.at(place, rule.because)),
                };
                problems.push(problem.help(rule.help));
            }
        }
    }

    /// The rules that hold for this scenario, each with the place that brings it in.
    fn rules(&self) -> Vec<(&'static Rule, Option<Span>)> {
        let mut rules = Vec::new();
        match task::mode(&self.document.load) {
            Some((Mode::Paced, span)) => rules.push((&PACED, span)),
            Some((Mode::Training, span)) => rules.push((&TRAINING, span)),
            Some((Mode::Closed, _)) | None => {}
        }
        if self.reads_existing() {
            rules.push((&EXISTING, self.document.dataset.source.key()));
        }
        for (layout, span) in self.layouts().unwrap_or_default() {
            match layout {
                Layout::Files => {}
                Layout::Zarr => rules.push((&CHUNKS, span)),
                // Zarr apart: a chunk is a file and a sample in it can be fetched whole.
                _ => rules.push((&SHARDS, span)),
            }
        }
        for (at, address) in self.addresses() {
            if *address == Address::Null {
                rules.push((&NULL, Some(at)));
            } else if self.devices.all.contains(&at) {
                rules.push((&DEVICE, Some(at)));
            }
        }
        if self.document.cache_tier.is_written() {
            rules.push((&TIER, Some(self.document.cache_tier.name.span)));
        }
        rules
    }

    fn addresses(&self) -> impl Iterator<Item = (Span, &Address)> {
        self.document.targets.iter().filter_map(|target| target.at.given()).map(|at| (at.span, &at.value))
    }
}

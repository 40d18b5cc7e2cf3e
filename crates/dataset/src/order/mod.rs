//! In which order blocks are read: a pure function of a ticket.
//!
//! Tickets are global to a repetition and handed out in order, so the reads that happen do not depend on
//! the number of threads, and a stalled thread owns no samples.

mod blocks;
#[cfg(test)]
mod layout_tests;
mod neighbours;
mod run;
mod span;
#[cfg(test)]
mod stream_tests;
mod streams;
#[cfg(test)]
mod tests;

use plan::{Access, Cache, Cell, Operation, Share, Streams, Task};

use crate::permutation::{Permutation, mix, scale};
use crate::uneven::{Located, Way};
use crate::{Data, Objects};
use blocks::{Blocks, Numbers, Standing};
use neighbours::Neighbours;
use run::Run;
pub use span::ReadSpan;
use streams::{Lanes, Wanted};

/// A block that no file outgrows.
const WHOLE_FILE: u64 = u64::MAX;

/// What makes an order impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// There is nothing to read.
    #[error("the dataset holds no bytes to read")]
    Empty,
    /// The block size was zero.
    #[error("a block of zero bytes reads nothing")]
    ZeroBlock,
    /// Samples are to be read one by one, and nobody knows where they lie.
    #[error(
        "`{access}` reads samples one by one, and nobody knows where they lie in these objects\n  \
         hint: use `access = \"shuffled_shards\"`, `\"resampled_shards\"` or `\"sequential\"`, or write the data \
         without a compression of whole shards"
    )]
    NotIndexed {
        /// The order.
        access: &'static str,
    },
    /// Clients that share the shards are more than these.
    #[error(
        "{ranks} clients share {shards} shards, and one of them has none\n  \
         hint: write smaller shards, or read from fewer clients"
    )]
    FewShards {
        /// Shards.
        shards: u64,
        /// Clients.
        ranks: u32,
    },
}

/// An access order over the blocks of a dataset.
///
/// An order takes memory only where units differ in their numbers of blocks: little more than a byte each, allocated once (16
/// times as much for `resampled_shards`), and 8 bytes for the size of each listed object. An epoch allocates nothing.
#[derive(Debug, Clone)]
pub struct Order {
    walk: Walk,
    seed: u64,
    blocks: Blocks,
    /// Reads of one epoch.
    tickets: u64,
    /// Those of all clients together.
    all_tickets: u64,
    /// Bytes of one epoch.
    bytes: u64,
    /// Whether it is one client's part of the epochs of several.
    is_part: bool,
}

/// Where the last ticket of a worker led.
///
/// The tickets of a worker rise, mostly by one: the next block is then the next of the same object, or the first of the object
/// that the epoch has next. In sequence and in shuffled epochs both are found without drawing again what led to the last; the
/// other orders find each ticket anew.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    order: &'a Order,
    run: Option<Run>,
    way: Way,
}

impl Cursor<'_> {
    /// The read of a ticket, as [`Order::at`] has it.
    #[inline]
    pub fn at(&mut self, ticket: u64) -> ReadSpan {
        self.run.and_then(|run| run.at(ticket)).unwrap_or_else(|| self.order.found(self, ticket))
    }
}

/// How an order goes through the blocks.
#[derive(Debug, Clone)]
enum Walk {
    /// Unit after unit.
    Sequential,
    /// Any block, with replacement.
    Random,
    /// Any block, each once per epoch.
    RandomOnce,
    /// The units shuffled, the blocks of each in order.
    Shuffled,
    /// Runs of units shuffled.
    Neighbours(Neighbours),
    /// Shards side by side.
    Streams(Lanes),
}

/// Whether two cells read the same blocks in the same order where they read one dataset.
pub(crate) fn reads_alike(one: &Cell, other: &Cell) -> bool {
    let of =
        |cell: &Cell| (Settings::of(cell, Share::WHOLE), cell.operation(), cell.block_bytes, cell.access);
    of(one) == of(other)
}

/// Settings of an order besides what is read.
#[derive(PartialEq)]
struct Settings {
    access: Access,
    seed: u64,
    /// Random draws are without replacement within an epoch.
    each_once: bool,
    part: Share,
}

impl Settings {
    fn of(cell: &Cell, part: Share) -> Self {
        // The readers of a training job each begin at a place of their own in what one stream would read.
        let is_trained = matches!(cell.load, plan::Load::Training(_)) && cell.task == Task::Read;
        let access = match cell.access {
            Access::ShuffledShards(_) if is_trained => Access::ShuffledShards(Streams::of(1)),
            Access::ResampledShards(_) if is_trained => Access::ResampledShards(Streams::of(1)),
            access => access,
        };
        Self { access, seed: cell.seed, each_once: cell.cache == Cache::Cold, part }
    }

    fn standing(&self) -> Standing {
        Standing::of(self.access, self.each_once, self.seed)
    }
}

impl Order {
    /// An order over `objects` in blocks of `block_bytes`.
    pub fn new(objects: &Objects, access: Access, block_bytes: u32, seed: u64) -> Result<Self, OrderError> {
        // What tests and benchmarks of an order ask; cells say more by `of_cell`.
        let settings = Settings { access, seed, each_once: false, part: Share::WHOLE };
        Self::of_objects(objects, u64::from(block_bytes), &settings)
    }

    /// The order of a cell: over blocks, over whole objects, or over folders. A cold cell reads no byte twice, so
    /// its draws are without replacement: the second read of a block would come from memory.
    ///
    /// `sequential` and the orders of shards go through whole objects, headers included; `random`, `shuffled_epoch` and
    /// `neighbours` go through the units that are fetched by index. `random` draws every block independently. Operations on
    /// whole objects order objects, and listings order folders. `list` goes through the units as they stand, which are whole
    /// objects in the order of the list. For a training job the shards of an epoch lie end to end, as
    /// one stream would read them, and its readers divide them up.
    pub fn of_cell(data: &Data, cell: &Cell) -> Result<Self, OrderError> {
        Self::of_part(data, cell, Share::WHOLE)
    }

    /// The order of a cell on client `part` of those that read the same data at the same time. Orders of shards
    /// have an epoch of their own for each client: of shards with equal numbers of blocks (but for the last, which
    /// may be short), client `r` reads those at `r`, `r + clients`, ... of the epoch's permutation; of others, an equal
    /// part of the blocks. Together they read each block once per epoch. Every other order is the same on all clients,
    /// which begin at different tickets of it.
    pub fn of_part(data: &Data, cell: &Cell, part: Share) -> Result<Self, OrderError> {
        let objects = &**data.objects();
        let settings = Settings::of(cell, part);
        match cell.operation() {
            Operation::Read | Operation::Write | Operation::Mix if cell.access.is_by_index() => {
                Self::of_units(data, u64::from(cell.block_bytes), &settings)
            }
            Operation::Read
            | Operation::Write
            | Operation::Mix
            | Operation::Copy
            | Operation::Checkpoint
            | Operation::Restore => Self::of_objects(objects, u64::from(cell.block_bytes), &settings),
            // The units of a list are whole objects, as often as it names them.
            Operation::ReadFile
            | Operation::WriteFile
            | Operation::Stat
            | Operation::GetAttr
            | Operation::Names => match cell.access {
                Access::List => Self::of_units(data, WHOLE_FILE, &settings),
                _ => Self::of_objects(objects, WHOLE_FILE, &settings),
            },
            Operation::List => {
                let folders = objects.folders().len() as u64;
                Self::over(Blocks::of_folders(folders), objects.total_bytes(), &settings)
            }
        }
    }

    fn of_objects(objects: &Objects, block_bytes: u64, settings: &Settings) -> Result<Self, OrderError> {
        if block_bytes == 0 {
            return Err(OrderError::ZeroBlock);
        }
        let blocks = Blocks::of_objects(objects, block_bytes, settings.standing());
        Self::over(blocks, objects.total_bytes(), settings)
    }

    fn of_units(data: &Data, block_bytes: u64, settings: &Settings) -> Result<Self, OrderError> {
        if block_bytes == 0 {
            return Err(OrderError::ZeroBlock);
        }
        let access = settings.access;
        let blocks = Blocks::of_units(data, block_bytes, settings.standing());
        let blocks = blocks.ok_or(OrderError::NotIndexed { access: access.name() })?;
        Self::over(blocks, data.read_bytes(access), settings)
    }

    fn over(blocks: Blocks, bytes: u64, settings: &Settings) -> Result<Self, OrderError> {
        let copies = match (&blocks.numbers, settings.standing()) {
            (Numbers::Uneven(_), Standing::Streamed { copies, .. }) => copies,
            _ => 1,
        };
        // Copies lengthen what is drawn from and not the epoch, which has as many reads as there are blocks.
        let (units, count) = (blocks.units() / copies, blocks.count() / copies);
        if bytes == 0 || count == 0 {
            return Err(OrderError::Empty);
        }
        let Settings { access, seed, each_once, .. } = *settings;
        let walk = match access {
            Access::Sequential | Access::List => Walk::Sequential,
            Access::Random if each_once => Walk::RandomOnce,
            Access::Random => Walk::Random,
            Access::ShuffledEpoch => Walk::Shuffled,
            Access::Neighbours { run_length } => Walk::Neighbours(Neighbours::new(&blocks, run_length, seed)),
            Access::ShuffledShards(streams) | Access::ResampledShards(streams) => {
                let resampled = matches!(access, Access::ResampledShards(_)) && !each_once;
                let wanted = Wanted { streams: streams.count, part: settings.part, resampled };
                Walk::Streams(Lanes::new(&blocks.numbers, (units, count), wanted))
            }
        };
        let (tickets, is_part) = match &walk {
            Walk::Streams(streams) => (streams.blocks(&blocks.numbers), true),
            _ => (count, false),
        };
        // 128 bits: a terabyte times 10^8 reads no longer fits 64.
        let bytes = (u128::from(bytes) * u128::from(tickets) / u128::from(count)) as u64;
        if tickets == 0 {
            return Err(OrderError::FewShards { shards: units, ranks: settings.part.of });
        }
        Ok(Self { walk, seed, blocks, tickets, all_tickets: count, bytes, is_part })
    }

    /// Reads in one epoch; of orders of shards, over this client's part of it.
    pub fn tickets_per_epoch(&self) -> u64 {
        self.tickets
    }

    /// Bytes that these reads ask for; of draws with replacement and of a client's part of the shards, on average.
    pub fn bytes_per_epoch(&self) -> u64 {
        self.bytes
    }

    /// Reads of every unit, where each has as many.
    pub fn reads_per_unit(&self) -> Option<u64> {
        match self.blocks.numbers {
            Numbers::Even { per_unit, .. } => Some(per_unit),
            Numbers::Short { .. } | Numbers::Uneven(_) => None,
        }
    }

    /// The part of `samples`, which lie in the epochs of all clients together, that an epoch brings; rounded down.
    pub fn samples_per_epoch(&self, samples: u64) -> u64 {
        (u128::from(samples) * u128::from(self.tickets) / u128::from(self.all_tickets)) as u64
    }

    /// Whether an epoch belongs to this client alone, so that no other client reads a block of it.
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// The read of a ticket. Epochs follow each other: ticket `tickets_per_epoch()` opens the second.
    pub fn at(&self, ticket: u64) -> ReadSpan {
        self.cursor().at(ticket)
    }

    /// The reads of a worker, which are found from one to the next. All memory that they take is taken here.
    pub fn cursor(&self) -> Cursor<'_> {
        let way = match (&self.walk, &self.blocks.numbers) {
            (Walk::Shuffled, Numbers::Uneven(units)) => Way::of(units),
            _ => Way::default(),
        };
        Cursor { order: self, run: None, way }
    }

    fn found(&self, cursor: &mut Cursor<'_>, ticket: u64) -> ReadSpan {
        let per_epoch = self.tickets;
        // Before the division into epochs, which draws with replacement do not have: it is the dearest part of a
        // ticket.
        if let Walk::Random = self.walk {
            return self.blocks.at(scale(mix(self.seed ^ mix(ticket)), per_epoch));
        }
        let (epoch, index) = (ticket / per_epoch, ticket % per_epoch);
        let Located { file, block } = match &self.walk {
            Walk::Sequential | Walk::Random => self.blocks.located(index),
            Walk::Shuffled => self.shuffled(&mut cursor.way, epoch, index),
            Walk::RandomOnce => {
                return self.blocks.at(Permutation::new(per_epoch, self.epoch_seed(epoch)).at(index));
            }
            Walk::Neighbours(runs) => return runs.at(&self.blocks, self.epoch_seed(epoch), index),
            Walk::Streams(streams) => {
                let Located { file, block } = streams.at(&self.blocks.numbers, self.epoch_seed(epoch), index);
                return self.blocks.span(file, block);
            }
        };
        let Some(part) = self.blocks.part(file) else { return self.blocks.span(file, block) };
        // The blocks of a unit follow each other in both of these orders.
        let block_bytes = self.blocks.block_bytes();
        cursor.run = Some(Run { first_ticket: ticket - block, part, block_bytes });
        ReadSpan::within(part, block * block_bytes, block_bytes)
    }

    /// Units are shuffled and the blocks of a unit stay in order, as a loader reads them.
    fn shuffled(&self, way: &mut Way, epoch: u64, index: u64) -> Located {
        let seed = self.epoch_seed(epoch);
        match &self.blocks.numbers {
            Numbers::Even { units, per_unit } | Numbers::Short { units, per_unit, .. } => {
                // Made anew for each unit, in some nanoseconds.
                let file = Permutation::new(*units, seed).at(index / per_unit);
                Located { file, block: index % per_unit }
            }
            Numbers::Uneven(units) => units.at_shuffled_after(way, seed, index),
        }
    }

    fn epoch_seed(&self, epoch: u64) -> u64 {
        // Mixed twice: seeds are small numbers, and so are epochs; with one alone, seed 1 in epoch 2 would be seed 2
        // in epoch 1.
        mix(self.seed ^ mix(epoch))
    }
}

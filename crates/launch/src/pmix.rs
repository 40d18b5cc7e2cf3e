//! A group that meets through the launcher's PMIx.

mod abi;
mod library;

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::LaunchError;
use crate::group::Group;
use crate::place::Place;

/// Bytes of one value at most.
// Values above 4 MiB end the daemon of Open MPI 4.1.
const PIECE_BYTES: usize = 256 << 10;

/// Seconds for which a value is waited for that a fence has carried here already.
const GET_TIMEOUT_S: i32 = 30;

/// How often a value is looked for again that is not seen yet.
// While a process of this host commits, the shared memory of its values may be between two states.
const LOOKS: u32 = 12;

/// What keeps a key from meaning another program's.
const PREFIX: &str = "feedline";

/// Joins the processes that a launcher started.
///
/// The library is `named`, or the launcher's own, or the system's. `None` is returned where the launcher started one process.
///
/// # Errors
/// A library that cannot be opened, and a job of another size than the variables state.
pub fn join(place: &Place, named: Option<&Path>) -> Result<Option<Arc<dyn Group>>, LaunchError> {
    let api = library::open(named)?;
    let own = api.init()?;
    let all = own.of_job(abi::ALL);
    let size =
        api.number(&all, "pmix.job.size").map_err(|cause| LaunchError::Call { call: "PMIx_Get", cause });
    let group = Pmix { api, own, size: *size.as_ref().unwrap_or(&1), values: Mutex::default() };
    // After the group is made, which leaves the job however this ends.
    let size = size?;
    match place.size {
        Some(stated) if stated != size => Err(LaunchError::OtherSize { stated, met: size }),
        _ if size == 1 => Ok(None),
        _ => Ok(Some(Arc::new(group))),
    }
}

/// The processes of one PMIx job.
struct Pmix {
    api: abi::Api,
    own: abi::Proc,
    size: u32,
    values: Mutex<Values>,
}

/// The values of this process that others may read.
#[derive(Default)]
struct Values {
    /// Exchanges so far, pieces counted singly. All processes count alike.
    steps: u64,
    /// Keys of the latest two of them.
    keys: VecDeque<Vec<String>>,
}

impl Pmix {
    /// Lets the others see values under keys of this step, and waits for all.
    fn step(&self, values: &mut Values, put: &[(String, Vec<u8>)]) -> Result<(), LaunchError> {
        // Whoever is here has read what came before the last fence. A fence carries all that a process ever put: what is no
        // longer read is made small, or the hundredth exchange would take as long as the ninety-nine before it.
        if values.keys.len() == 2 {
            for key in values.keys.pop_front().into_iter().flatten() {
                self.api.put(&key, &[0])?;
            }
        }
        for (key, bytes) in put {
            self.api.put(key, bytes)?;
        }
        self.api.commit()?;
        values.keys.push_back(put.iter().map(|(key, _)| key.clone()).collect());
        values.steps += 1;
        self.api.fence(&self.own)
    }

    /// What a process put under a key of a step that has ended.
    fn value(&self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        let of = self.own.of_job(rank);
        let mut cause = String::new();
        for look in 0..LOOKS {
            match self.api.bytes(&of, key, GET_TIMEOUT_S) {
                Ok(bytes) => return Ok(bytes),
                Err(words) => cause = words,
            }
            pause(Duration::from_millis(1 << look));
        }
        Err(LaunchError::NotThere { rank, cause })
    }
}

impl Group for Pmix {
    fn rank(&self) -> u32 {
        self.own.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn fence(&self) -> Result<(), LaunchError> {
        self.api.fence(&self.own)
    }

    fn exchange(&self, mine: &[u8], of: Range<u32>) -> Result<Vec<Vec<u8>>, LaunchError> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces: Vec<&[u8]> = mine.chunks(PIECE_BYTES).collect();
        let first = values.steps;
        // The number of pieces of each decides how often all of them meet.
        let count = (pieces.len() as u64).to_le_bytes().to_vec();
        // A byte before each: a value that holds nothing is not a value to every version of the library.
        let piece = |number: usize| [&[0], pieces.get(number).copied().unwrap_or_default()].concat();
        self.step(&mut values, &[(key(first, "pieces"), count), (key(first, "value"), piece(0))])?;
        let counts: Vec<u64> =
            (0..self.size).map(|rank| self.count(rank, &key(first, "pieces"))).collect::<Result<_, _>>()?;
        let most = counts.iter().copied().max().unwrap_or(0) as usize;
        let mut whole = vec![Vec::new(); of.len()];
        for (rank, whole) in of.clone().zip(&mut whole) {
            whole.extend_from_slice(self.value(rank, &key(first, "value"))?.get(1..).unwrap_or_default());
        }
        for number in 1..most {
            let name = key(values.steps, "value");
            self.step(&mut values, &[(name.clone(), piece(number))])?;
            for (rank, whole) in of.clone().zip(&mut whole) {
                if (number as u64) < counts[rank as usize] {
                    whole.extend_from_slice(self.value(rank, &name)?.get(1..).unwrap_or_default());
                }
            }
        }
        Ok(whole)
    }

    fn tell_waiting(&self, meeting: u64) {
        // It is said for the others' sake: where it cannot be said, they will call this process missing.
        if self.api.put(&waits(meeting), &[1]).is_ok() {
            let _ = self.api.commit();
        }
    }

    fn missing(&self, meeting: u64) -> Vec<u32> {
        let key = waits(meeting);
        let others = (0..self.size).filter(|rank| *rank != self.own.rank);
        let is_missing = |rank: &u32| self.api.bytes(&self.own.of_job(*rank), &key, 1).is_err();
        others.filter(is_missing).collect()
    }

    fn abort(&self, code: i32, why: &str) {
        self.api.abort(code, why);
    }
}

impl Pmix {
    fn count(&self, rank: u32, key: &str) -> Result<u64, LaunchError> {
        let bytes = self.value(rank, key)?;
        let bytes: [u8; 8] = bytes
            .try_into()
            .map_err(|_| LaunchError::NotThere { rank, cause: "its number of pieces is none".to_owned() })?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Drop for Pmix {
    fn drop(&mut self) {
        // A process that panics must not leave as if it had done its part: the others would wait for it.
        if thread::panicking() {
            self.api.abort(101, "a process of feedline panicked");
        } else {
            self.api.finalize();
        }
    }
}

fn key(step: u64, of: &str) -> String {
    format!("{PREFIX}.{step}.{of}")
}

fn waits(meeting: u64) -> String {
    format!("{PREFIX}.waits.{meeting}")
}

#[expect(clippy::disallowed_methods, reason = "nothing is measured while processes meet")]
fn pause(time: Duration) {
    thread::sleep(time);
}

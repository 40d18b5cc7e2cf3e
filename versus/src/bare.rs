//! What the kernel alone takes: the work of a case in a loop that measures nothing and checks nothing but that each read is whole.
//!
//! The clock is looked at once in each turn of the queue, so that a loop ends.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rustix::fs::{Mode, OFlags, fstat, openat};
use rustix::io::read;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::args::BareArgs;
use crate::case::Case;
use crate::data::Place;
use crate::output::print;
use crate::process::{Call, Report};

/// Buffers lie on huge pages, as feedline's and fio's do in the cases of rings.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What a loop did.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Done {
    ops: u64,
    bytes: u64,
    window_s: f64,
}

/// What stands for its version: it is this program.
pub(crate) const VERSION: &str = concat!("versus ", env!("CARGO_PKG_VERSION"));

/// The call of a case.
pub(crate) fn call(program: &Path, case: &Case, place: &Place, window_s: f64) -> Result<Call> {
    let work = &case.work;
    let at = place.for_peer()?;
    let mut args = vec!["bare".to_owned(), at.display().to_string()];
    args.push(format!("--block-bytes={}", work.block_bytes));
    args.push(format!("--depth={}", work.queue_depth));
    args.push(format!("--threads={}", work.threads));
    args.push(format!("--seconds={window_s}"));
    args.extend(work.direct.then(|| "--direct".to_owned()));
    args.extend((work.engine == "pread").then(|| "--blocking".to_owned()));
    Ok(Call { program: program.to_owned(), args, env: Vec::new(), hint: "build versus anew" })
}

/// Runs a loop, and prints what it did.
pub(crate) fn run(args: &BareArgs) -> Result<()> {
    let done = match (args.at.is_dir(), args.blocking) {
        (true, true) => files_in_turn(args)?,
        (true, false) => files_by_ring(args)?,
        (false, _) => blocks_by_rings(args)?,
    };
    print(&(serde_json::to_string(&done)? + "\n"))
}

/// Reads what [`run`] printed.
pub(crate) fn parse(out: &str) -> Result<Report> {
    let Done { ops, bytes, window_s } =
        serde_json::from_str(out).context("cannot read the bare loop's line")?;
    Ok(Report { ops, bytes, window_s, ..Report::default() })
}

/// Blocks of one file at random, by so many threads that each have their share of the depth and a ring of their own.
fn blocks_by_rings(args: &BareArgs) -> Result<Done> {
    let threads = u64::from(args.threads.max(1));
    let share = BareArgs { depth: args.depth / args.threads.max(1), ..args.clone() };
    let ended: Vec<Result<Done>> = std::thread::scope(|scope| {
        let begun: Vec<_> = (0..threads)
            .map(|seed| {
                scope.spawn({
                    let share = &share;
                    move || blocks_by_ring(share, seed)
                })
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Done>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        begun.into_iter().map(join).collect()
    });
    let mut total = Done::default();
    for done in ended {
        let done = done?;
        total.ops += done.ops;
        total.bytes += done.bytes;
        total.window_s += done.window_s / threads as f64;
    }
    Ok(total)
}

/// The same by this thread: as many to a submission as are outstanding, into registered buffers.
fn blocks_by_ring(args: &BareArgs, seed: u64) -> Result<Done> {
    let mut options = File::options();
    let flags = if args.direct { OFlags::DIRECT } else { OFlags::empty() };
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(&args.at);
    let file = file.with_context(|| format!("cannot open {}", args.at.display()))?;
    let blocks = file.metadata()?.len() / u64::from(args.block_bytes);
    ensure!(blocks > 0, "{} holds no block", args.at.display());
    let mut ring = ring(args.depth)?;
    let buffers = Buffers::register(&ring, args)?;
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ seed << 32;
    let mut read = |slot: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let offset = state % blocks * u64::from(args.block_bytes);
        opcode::ReadFixed::new(types::Fixed(0), buffers.of(slot), args.block_bytes, 0).offset(offset).build()
    };
    let (begun, mut done) = (now_s(), Done::default());
    while done.window_s < args.seconds {
        turn(&mut ring, (0..args.depth).map(&mut read), args.block_bytes)?;
        done.ops += u64::from(args.depth);
        done.window_s = now_s() - begun;
    }
    done.bytes = done.ops * u64::from(args.block_bytes);
    Ok(done)
}

/// Files in the order of their names: as many as are outstanding are opened, then read, then closed while the next are opened, which
/// takes less than a chain of the three for each.
fn files_by_ring(args: &BareArgs) -> Result<Done> {
    let names = names(&args.at)?;
    let depth = args.depth;
    let mut ring = ring(2 * depth)?;
    let buffers = Buffers::register(&ring, args)?;
    // Those that are read lie in one half of the table while the next are opened into the other.
    ring.submitter().register_files_sparse(2 * depth)?;
    let folder = types::Fd(rustix::fs::CWD.as_raw_fd());
    let mut next = names.iter().cycle();
    let mut open = |at: u32| {
        let name = next.next().map_or(std::ptr::null(), |name| name.as_ptr());
        let slot = types::DestinationSlot::try_from_slot_target(at).ok();
        opcode::OpenAt::new(folder, name).flags(libc::O_RDONLY).file_index(slot).build()
    };
    let (begun, mut done, mut half) = (now_s(), Done::default(), 0);
    turn(&mut ring, (0..depth).map(&mut open), 0)?;
    while done.window_s < args.seconds {
        let read = |slot: u32| {
            let file = types::Fixed(half + slot);
            opcode::ReadFixed::new(file, buffers.of(slot), args.block_bytes, 0).build()
        };
        turn(&mut ring, (0..depth).map(read), args.block_bytes)?;
        let close = (half..half + depth).map(|at| opcode::Close::new(types::Fixed(at)).build());
        half = depth - half;
        turn(&mut ring, close.chain((half..half + depth).map(&mut open)), 0)?;
        done.ops += u64::from(depth);
        done.window_s = now_s() - begun;
    }
    done.bytes = done.ops * u64::from(args.block_bytes);
    Ok(done)
}

/// Submits requests, and waits for all of them to end with `result`.
fn turn(ring: &mut IoUring, requests: impl Iterator<Item = Entry>, result: u32) -> Result<()> {
    let mut submitted = 0;
    {
        let mut queue = ring.submission();
        for request in requests {
            // SAFETY: names, buffers and files live until the loop ends, which waits for all that it submits.
            unsafe { queue.push(&request) }.context("the queue is full")?;
            submitted += 1;
        }
    }
    ring.submit_and_wait(submitted)?;
    let mut ended = 0;
    for completion in ring.completion() {
        ended += 1;
        let found = completion.result();
        ensure!(found == result.cast_signed(), "a request ended with {found} in place of {result}");
    }
    ensure!(ended == submitted, "{ended} of {submitted} requests ended");
    Ok(())
}

/// Files in the order of their names, each by calls that block: it is opened, asked for its size, as loaders do, read and closed.
fn files_in_turn(args: &BareArgs) -> Result<Done> {
    let names = names(&args.at)?;
    let mut buffer = vec![0; args.block_bytes as usize];
    let (begun, mut done) = (now_s(), Done::default());
    while done.window_s < args.seconds {
        for name in &names {
            let file = openat(rustix::fs::CWD, name.as_c_str(), OFlags::RDONLY, Mode::empty())?;
            let size = fstat(&file)?.st_size;
            let bytes = read(&file, &mut *buffer)?;
            ensure!(bytes == buffer.len() && usize::try_from(size) == Ok(bytes), "a file has {size} B");
        }
        done.ops += names.len() as u64;
        done.bytes = done.ops * u64::from(args.block_bytes);
        done.window_s = now_s() - begun;
    }
    Ok(done)
}

/// As feedline sets its own up: one thread issues, and completions are worked off when it waits.
fn ring(entries: u32) -> Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    let entries = entries.next_power_of_two();
    // Without the array of indices, where the kernel can do without (Linux 6.6).
    let ring = builder.clone().setup_no_sqarray().build(entries).or_else(|_| builder.build(entries));
    ring.context("the kernel gives no ring")
}

/// One block for each slot, registered as one.
struct Buffers {
    first: *mut u8,
    block_bytes: usize,
}

impl Buffers {
    fn register(ring: &IoUring, args: &BareArgs) -> Result<Self> {
        let block_bytes = args.block_bytes as usize;
        let bytes = (args.depth as usize * block_bytes).next_multiple_of(HUGE_PAGE_BYTES);
        // One page more, to begin at a boundary. It is given back when the process ends.
        let mapped = bytes + HUGE_PAGE_BYTES;
        // SAFETY: a new anonymous mapping, of which nobody else knows.
        let mapping = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let first = mapping.cast::<u8>();
        let first = first.wrapping_add(first.align_offset(HUGE_PAGE_BYTES));
        // Where the kernel has none to give, they are base pages, and the record says what was seen.
        // SAFETY: within the mapping.
        unsafe { madvise(first.cast(), bytes, Advice::LinuxHugepage) }?;
        // SAFETY: likewise; a write to each page makes it be there.
        unsafe { first.write_bytes(1, bytes) };
        let whole = libc::iovec { iov_base: first.cast(), iov_len: bytes };
        // SAFETY: the mapping lives as long as the process.
        unsafe { ring.submitter().register_buffers(&[whole]) }?;
        Ok(Self { first, block_bytes })
    }

    fn of(&self, slot: u32) -> *mut u8 {
        self.first.wrapping_add(slot as usize * self.block_bytes)
    }
}

/// Goes to the folder of a dataset, and returns its files in the order of their names. Short names are looked up sooner.
fn names(folder: &Path) -> Result<Vec<std::ffi::CString>> {
    std::env::set_current_dir(folder).with_context(|| format!("cannot go to {}", folder.display()))?;
    let folder = Path::new(".");
    let list = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries =
            std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    let mut names = Vec::new();
    for below in list(folder)?.iter().filter(|path| path.is_dir()) {
        for file in list(below)? {
            let name = file.strip_prefix(folder).unwrap_or(&file).as_os_str().as_encoded_bytes();
            names.push(std::ffi::CString::new(name)?);
        }
    }
    ensure!(!names.is_empty(), "no files lie there");
    Ok(names)
}

fn now_s() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says why it holds nothing where the kernel gives no ring, as in many containers.
    fn has_rings() -> bool {
        let found = ring(4);
        if let Err(error) = &found {
            eprintln!("skipped: {error:#}");
        }
        found.is_ok()
    }

    fn args(at: PathBuf, threads: u32, blocking: bool) -> BareArgs {
        BareArgs { at, block_bytes: 4096, depth: 4, threads, seconds: 0.0001, direct: false, blocking }
    }

    #[test]
    fn blocks_are_read_whole_and_counted() {
        if !has_rings() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("blocks");
        std::fs::write(&file, vec![7; 64 << 10]).unwrap();
        let done = blocks_by_rings(&args(file.clone(), 2, false)).unwrap();
        assert!(
            done.ops >= 4
                && done.ops.is_multiple_of(2)
                && done.bytes == done.ops * 4096
                && done.window_s > 0.0
        );
        let line = serde_json::to_string(&done).unwrap();
        assert_eq!(parse(&line).unwrap().ops, done.ops);
        std::fs::write(&file, vec![7; 100]).unwrap();
        let refused = blocks_by_rings(&args(file, 1, false)).unwrap_err().to_string();
        assert!(refused.contains("holds no block"), "{refused}");
    }
}

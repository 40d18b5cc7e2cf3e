//! The entries of a ring that take a whole file through its stages.

use std::cell::UnsafeCell;

use backend::StoreError;
use io_uring::types::{DestinationSlot, Fd, Fixed, OpenHow};
use io_uring::{opcode, squeue};
use plan::Registered;
use rustix::fd::AsRawFd;
use rustix::fs::OFlags;

use super::names::{Name, Names, RESOLVE};
use super::pieces::Ask;
use super::stages::{FileFlight, Stage};
use crate::uring::register::{Buffers, unavailable};
use crate::uring::ring::Ring;

/// Bytes that a read may ask for beyond the planned end where the buffer has no room for them.
const BEYOND_BYTES: u32 = 4096;

/// Where such bytes go. Nobody reads them, so all rings share the memory.
#[repr(align(4096))]
struct Beyond(UnsafeCell<[u8; BEYOND_BYTES as usize]>);

// SAFETY: only the kernel touches the bytes; the process knows nothing but their address.
unsafe impl Sync for Beyond {}

static BEYOND: Beyond = Beyond(UnsafeCell::new([0; BEYOND_BYTES as usize]));

/// Where files are open.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileSlots {
    /// In the ring's own table, by the flight's number: no descriptor of the process is made.
    Ring,
    /// Among the descriptors of the process.
    Process { reason: String },
}

impl FileSlots {
    /// Makes the ring's table, which kernels have that can open into one (5.19).
    pub(super) fn register(ring: &Ring, depth: u32, registered: Registered) -> Result<Self, StoreError> {
        if registered == Registered::Off {
            return Ok(Self::Process { reason: "not asked for".to_owned() });
        }
        match ring.submitter().register_files_sparse(depth) {
            Ok(()) => Ok(Self::Ring),
            Err(error) if registered == Registered::Auto => Ok(Self::Process { reason: error.to_string() }),
            Err(error) => Err(unavailable("registered files", error.to_string(), &error)),
        }
    }

    /// What was granted, in words.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Ring => "registered".to_owned(),
            Self::Process { reason } => format!("not registered: {reason}"),
        }
    }
}

/// What all entries of a queue have in common.
pub(super) struct Entries {
    pub(super) slots: FileSlots,
    pub(super) buffers: Buffers,
    flags: OFlags,
    read_flags: i32,
    /// The same flags for paths of several steps; at an address of its own, since entries point to it.
    how: Box<OpenHow>,
}

/// Memory of one flight that its entries point to.
pub(super) struct EntryMemory {
    pub(super) name: Name,
    parts: [libc::iovec; 2],
    pub(super) look: libc::statx,
}

impl EntryMemory {
    pub(super) fn new() -> Self {
        let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: the structure holds numbers only, for which zero is a value.
        let look = unsafe { std::mem::zeroed() };
        Self { name: Name::new(), parts: [empty; 2], look }
    }
}

impl Entries {
    pub(super) fn new(slots: FileSlots, buffers: Buffers, flags: OFlags, read_flags: u32) -> Self {
        // What is opened into a ring's table has no descriptor that a child could inherit.
        let flags = if slots == FileSlots::Ring { flags } else { flags | OFlags::CLOEXEC };
        Self { slots, buffers, flags, read_flags: read_flags.cast_signed(), how: Box::new(how(flags)) }
    }

    /// Whether files are opened so that their time of last access stays as it is.
    pub(super) fn keeps_times(&self) -> bool {
        self.flags.contains(OFlags::NOATIME)
    }

    /// Lets reads update the time of last access from now on, for a user who may not forbid it.
    pub(super) fn touch(&mut self) {
        self.flags.remove(OFlags::NOATIME);
        *self.how = how(self.flags);
    }

    /// The entry for the stage that `flight` is in. It points into `memory`, and into the flight's buffer.
    #[inline]
    pub(super) fn entry(
        &self,
        number: u32,
        flight: &FileFlight,
        memory: &mut EntryMemory,
        names: &Names,
    ) -> squeue::Entry {
        match flight.stage {
            Stage::Open => self.open(number, flight.object, &mut memory.name, names),
            Stage::Read => self.read(number, flight, &mut memory.parts),
            Stage::Close if self.slots == FileSlots::Ring => opcode::Close::new(Fixed(number)).build(),
            Stage::Close => opcode::Close::new(Fd(flight.fd)).build(),
            Stage::Look => look(flight.object, memory, names),
        }
    }

    fn open(&self, number: u32, object: u32, name: &mut Name, names: &Names) -> squeue::Entry {
        let start = names.locate(object, name);
        let (folder, path) = (Fd(start.folder.as_raw_fd()), name.as_c_str().as_ptr());
        let slot = match self.slots {
            FileSlots::Ring => DestinationSlot::try_from_slot_target(number).ok(),
            FileSlots::Process { .. } => None,
        };
        // O_NOFOLLOW guards the last step alone; a name of one step needs no more.
        if start.steps && names.beneath() {
            let how = std::ptr::from_ref(&*self.how);
            return opcode::OpenAt2::new(folder, path, how).file_index(slot).build();
        }
        opcode::OpenAt::new(folder, path).file_index(slot).flags(self.flags.bits().cast_signed()).build()
    }

    fn read(&self, number: u32, flight: &FileFlight, parts: &mut [libc::iovec; 2]) -> squeue::Entry {
        let Ask { offset, skip, len, extra } = flight.pieces.ask();
        let room = flight.buf.as_slice().len() as u32;
        // SAFETY: what is asked lies behind what is filled, inside the buffer.
        let address = unsafe { flight.buf.as_ptr().add(skip as usize) };
        let file = if self.slots == FileSlots::Ring { Fd(number.cast_signed()) } else { Fd(flight.fd) };
        let fits = skip + len + extra <= room;
        // A buffer that the piece fills leaves no room to look beyond the end; a second part of the same read
        // does.
        let entry = if !fits && extra <= BEYOND_BYTES {
            *parts = [part(address, len), part(BEYOND.0.get().cast(), extra)];
            opcode::Readv::new(file, parts.as_ptr(), 2).offset(offset).rw_flags(self.read_flags).build()
        } else {
            let asked = if fits { len + extra } else { len };
            match self.buffers {
                Buffers::Registered { slots_each } => {
                    let index = (flight.buf.slot() / slots_each) as u16;
                    let read = opcode::ReadFixed::new(file, address, asked, index);
                    read.offset(offset).rw_flags(self.read_flags).build()
                }
                Buffers::Plain { .. } => {
                    let read = opcode::Read::new(file, address, asked);
                    read.offset(offset).rw_flags(self.read_flags).build()
                }
            }
        };
        if self.slots == FileSlots::Ring { entry.flags(squeue::Flags::FIXED_FILE) } else { entry }
    }
}

fn how(flags: OFlags) -> OpenHow {
    OpenHow::new().flags(u64::from(flags.bits())).resolve(RESOLVE.bits())
}

fn part(address: *mut u8, len: u32) -> libc::iovec {
    libc::iovec { iov_base: address.cast(), iov_len: len as usize }
}

fn look(object: u32, memory: &mut EntryMemory, names: &Names) -> squeue::Entry {
    let start = names.locate(object, &mut memory.name);
    let (folder, path) = (Fd(start.folder.as_raw_fd()), memory.name.as_c_str().as_ptr());
    opcode::Statx::new(folder, path, (&raw mut memory.look).cast())
        .flags(libc::AT_SYMLINK_NOFOLLOW)
        // statx(2): fields that are not asked for need not be fetched, which for a network file system can be
        // a request less.
        .mask(libc::STATX_TYPE | libc::STATX_SIZE)
        .build()
}

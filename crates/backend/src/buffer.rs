//! Buffers that move: one arena per queue, one slot per outstanding read.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::{BUFFER_ALIGN_BYTES, HUGE_PAGE_BYTES, Pages, arena_bytes};

/// Of Linux on every machine; the `libc` crate knows it for glibc alone.
const MADV_COLLAPSE: libc::c_int = 25;

/// All that is used is touched at once; a reservation would charge the slack as well. Miri does not know the flag.
const UNRESERVED: libc::c_int = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };

/// Why the buffers of a queue could not be allocated.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// The memory could not be mapped.
    #[error("cannot map {bytes} bytes of buffers ({slots} slots): {source}")]
    Map {
        /// Bytes that were asked for.
        bytes: usize,
        /// Buffers in them.
        slots: u32,
        /// What the kernel says.
        source: io::Error,
    },
    /// The memory was mapped, but not with the pages that were asked for.
    #[error(
        "cannot make {bytes} bytes of buffers of {} pages: {source}; see \
         /sys/kernel/mm/transparent_hugepage/enabled, or use load.pages = \"base\"",
        pages.name()
    )]
    Pages {
        /// Bytes that were asked for.
        bytes: usize,
        /// Pages that were asked for.
        pages: Pages,
        /// What the kernel says, or what it did instead.
        source: io::Error,
    },
}

/// One mapping that holds every buffer of a queue, aligned to 2 MiB, of the pages that were asked for.
#[derive(Debug)]
pub struct Arena {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    base: NonNull<u8>,
    stride: usize,
    slots: u32,
    handed_out: AtomicBool,
}

// SAFETY: the arena hands out each slot once (`handed_out`), as a `Buf`, and touches none of the memory itself.
unsafe impl Send for Arena {}
// SAFETY: as above; `&Arena` gives access to addresses only.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `slots` buffers of at least `bytes` each, of base pages.
    ///
    /// # Errors
    ///
    /// As [`Arena::of_pages`].
    pub fn new(slots: u32, bytes: u32) -> Result<Arc<Self>, ArenaError> {
        Self::of_pages(slots, bytes, Pages::Base)
    }

    /// Maps `slots` buffers of at least `bytes` each, aligned for direct I/O, and touches every page
    /// so that no fault falls into a measurement.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Map`] where the memory cannot be had, [`ArenaError::Pages`] where any of it is not made of `pages`.
    pub fn of_pages(slots: u32, bytes: u32, pages: Pages) -> Result<Arc<Self>, ArenaError> {
        let stride = (bytes.max(1) as usize).next_multiple_of(BUFFER_ALIGN_BYTES as usize);
        // The sum that the plan checks against the machine's memory: both must be one function, or a run that was
        // planned to fit could fail here.
        let used = arena_bytes(slots, bytes, pages) as usize;
        // mmap aligns to base pages alone. One huge page more leaves room to move the first buffer to a 2 MiB
        // boundary, without which the kernel makes no huge page of the first bytes.
        let mapping_bytes = used + HUGE_PAGE_BYTES as usize;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice aliases nothing.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapping_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | UNRESERVED,
                -1,
                0,
            )
        };
        let failed = || ArenaError::Map { bytes: mapping_bytes, slots, source: io::Error::last_os_error() };
        if address == libc::MAP_FAILED {
            return Err(failed());
        }
        let mapping = NonNull::new(address.cast::<u8>()).ok_or_else(failed)?;
        let lead = mapping.as_ptr().align_offset(HUGE_PAGE_BYTES as usize);
        // SAFETY: `lead` is below HUGE_PAGE_BYTES, by which the mapping is larger than what is used.
        let base = unsafe { mapping.add(lead) };
        let handed_out = AtomicBool::new(false);
        let arena = Self { mapping, mapping_bytes, base, stride, slots, handed_out };
        arena.fill(used, pages).map_err(|source| ArenaError::Pages { bytes: used, pages, source })?;
        Ok(Arc::new(arena))
    }

    /// Tells the kernel which pages are to be used for the first `used` bytes, and has it make them.
    fn fill(&self, used: usize, pages: Pages) -> io::Result<()> {
        let advised =
            // Base pages are advised too: where huge ones are `always` given, direct reads would be up to twice as
            // fast as those of the loader that base pages stand for. (1 MiB of base pages is 256 segments; a virtio
            // disk takes 254, and splits the read.)
            self.advise(used, if pages == Pages::Huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE });
        match (pages, advised) {
            // A kernel without transparent huge pages does not know the advice, and has base pages alone.
            (Pages::Base, Err(error)) if error.raw_os_error() == Some(libc::EINVAL) => {}
            (_, advised) => advised?,
        }
        // SAFETY: the range lies inside the mapping and nothing else refers to it yet.
        // A page that was never touched is mapped at its first fault, which would fall into the window, and of which
        // `smaps` counts nothing below.
        unsafe { self.base.write_bytes(0, used) };
        if pages == Pages::Huge && self.huge_bytes()? < used as u64 {
            // Where memory was in pieces as it was touched, the kernel can put it together now (Linux 6.1).
            let collapsed = self.advise(used, MADV_COLLAPSE);
            let huge_bytes = self.huge_bytes()?;
            if huge_bytes < used as u64 {
                let reason = collapsed.err().map(|error| format!(" ({error})")).unwrap_or_default();
                return Err(io::Error::other(format!("{huge_bytes} bytes of them are{reason}")));
            }
        }
        Ok(())
    }

    fn advise(&self, used: usize, advice: libc::c_int) -> io::Result<()> {
        // Miri takes no advice.
        if cfg!(miri) {
            return Ok(());
        }
        // SAFETY: the range lies inside the mapping; no advice that is given changes its content.
        let result = unsafe { libc::madvise(self.base.as_ptr().cast(), used, advice) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Bytes of transparent huge pages in the mapping of the buffers, as the kernel says.
    fn huge_bytes(&self) -> io::Result<u64> {
        // The advice alone proves nothing: the kernel takes it and falls back to base pages where memory is in
        // pieces. What it made is read back.
        let smaps = BufReader::new(File::open("/proc/self/smaps")?);
        let mut is_own = false;
        for line in smaps.lines() {
            let line = line?;
            if let Some((start, end)) = range(&line) {
                is_own = (start..end).contains(&(self.base.as_ptr() as u64));
            }
            if let Some(kib) = line.strip_prefix("AnonHugePages:").filter(|_| is_own) {
                let kib = kib.trim().trim_end_matches(" kB").parse::<u64>().map_err(io::Error::other)?;
                return Ok(kib << 10);
            }
        }
        Err(io::Error::other("/proc/self/smaps does not tell of them"))
    }

    /// Number of buffers.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Distance between two buffers, and the usable bytes of each.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// First byte and length of all buffers together, for registration with a kernel or a device.
    pub fn region(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.stride * self.slots as usize)
    }

    /// Every buffer at the first call, none at later ones. The arena lives until the last of them is dropped.
    pub fn buffers(self: &Arc<Self>) -> Vec<Buf> {
        // A second set of handles to the same memory would make two owners of each slot; everything `unsafe` below
        // rests on there being one.
        let slots = if self.handed_out.swap(true, Ordering::AcqRel) { 0 } else { self.slots };
        (0..slots).map(|slot| Buf { arena: Arc::clone(self), slot }).collect()
    }
}

/// The addresses that a mapping's first line in `smaps` begins with: `7f00-7f80 rw-p ...`.
fn range(line: &str) -> Option<(u64, u64)> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: mapping and length are those of the mmap in `new`, and no `Buf` is left to refer to it.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}

/// One buffer. It moves into a request and comes back with the completion; whoever holds it owns the memory.
#[derive(Debug)]
pub struct Buf {
    arena: Arc<Arena>,
    slot: u32,
}

impl Buf {
    /// Number of the slot in the arena.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// First byte. While a request is outstanding only the kernel or device may use it.
    pub fn as_ptr(&self) -> *mut u8 {
        // SAFETY: the slot is below `slots`, so the address lies inside the arena.
        unsafe { self.arena.base.add(self.slot as usize * self.arena.stride).as_ptr() }
    }

    /// The buffer's bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the slot's memory is initialised, inside the arena, and owned by this `Buf` alone.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.arena.stride) }
    }

    /// The buffer's bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.arena.stride) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "its pages are none of the kernel's")]
    fn base_buffers_have_no_huge_page_whatever_the_machine_gives_by_itself() {
        let arena = Arena::new(8, 1 << 20).unwrap();
        assert_eq!(arena.huge_bytes().unwrap(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "its pages are none of the kernel's")]
    fn huge_buffers_are_huge_to_the_last_byte_or_refused() {
        match Arena::of_pages(3, 5000, Pages::Huge) {
            Ok(arena) => assert_eq!(arena.huge_bytes().unwrap(), HUGE_PAGE_BYTES),
            Err(error) => assert!(error.to_string().contains("load.pages = \"base\""), "{error}"),
        }
    }

    #[test]
    fn buffers_are_aligned_apart_and_outlive_the_handle_of_their_arena() {
        let arena = Arena::new(3, 5000).unwrap();
        let mut buffers = arena.buffers();
        assert!(arena.buffers().is_empty(), "a slot is handed out once");
        drop(arena);
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.as_ptr() as usize % 4096, 0);
            buffer.as_mut_slice().fill(slot as u8 + 1);
        }
        for (slot, buffer) in buffers.iter().enumerate() {
            assert_eq!(buffer.as_slice().len(), 8192);
            assert!(buffer.as_slice().iter().all(|byte| *byte == slot as u8 + 1));
        }
    }
}

//! A private piece of memory with a guard page below: the keeper's and the module's first stack.

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

/// Pages are at most 64 KiB on the machines this runs on; a guard of that size is right on all of them.
const GUARD: usize = 64 * 1024;

/// A stack: `SIZE` usable bytes, and below them a guard that turns an overflow into a crash of its user.
#[derive(Debug)]
pub(crate) struct Stack {
    base: NonNull<u8>,
}

// SAFETY: the mapping belongs to this value alone and has no thread of its own.
unsafe impl Send for Stack {}
// SAFETY: a shared reference only tells an address.
unsafe impl Sync for Stack {}

impl Stack {
    /// Usable bytes. The code on it needs less than 8 KiB, unoptimised.
    pub(crate) const SIZE: usize = 64 * 1024;

    /// Maps a stack.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping touches no memory in use.
        let base = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), GUARD + Self::SIZE, protection, flags)?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let stack = Self { base };
        // SAFETY: the range is the lower part of the mapping made above.
        unsafe { rustix::mm::mprotect(stack.base.as_ptr().cast(), GUARD, MprotectFlags::empty())? };
        Ok(stack)
    }

    /// The lowest usable address, as `clone3` wants it.
    pub(crate) fn lowest(&self) -> u64 {
        self.base.as_ptr() as u64 + GUARD as u64
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and whoever ran on it has ended (`Process` sees to that).
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), GUARD + Self::SIZE) };
    }
}

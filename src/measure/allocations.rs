//! Counting allocations. Owns the counting allocator's type and its counters; only the program `votebench-count` makes it
//! the global allocator, and there every thread counts for itself and for the [`Group`] that it has joined.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Heap traffic of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls that returned new or grown memory: `alloc`, `alloc_zeroed`, `realloc`.
    pub allocations: u64,
    /// Bytes that those calls asked for; a `realloc` counts its new size.
    pub bytes: u64,
}

impl Count {
    /// What has come since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self { allocations: self.allocations - earlier.allocations, bytes: self.bytes - earlier.bytes }
    }
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { allocations: 0, bytes: 0 }) };
    static GROUP: Cell<Group> = const { Cell::new(Group::Rest) };
}

/// Whom a thread's allocations belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Nobody said: every thread, unless it joins another group.
    Rest,
    /// The client's, where client and server share a process.
    Client,
    /// The server's, where client and server share a process.
    Server,
    /// Those that take the figures, and are no part of what they are about.
    Harness,
}

/// Allocations and bytes of each group.
static GROUPS: [[AtomicU64; 2]; 4] = [const { [const { AtomicU64::new(0) }; 2] }; 4];

/// This thread's heap traffic so far; all zero where [`Counting`] is not the global allocator.
#[must_use]
pub fn count() -> Count {
    COUNT.get()
}

/// A group's heap traffic so far; all zero where [`Counting`] is not the global allocator.
#[must_use]
pub fn count_of(group: Group) -> Count {
    let [allocations, bytes] = &GROUPS[group as usize];
    Count { allocations: allocations.load(Ordering::Relaxed), bytes: bytes.load(Ordering::Relaxed) }
}

/// From here on the calling thread counts for `group`.
pub fn join(group: Group) {
    GROUP.set(group);
}

/// Whether [`Counting`] is this program's allocator, found out by allocating.
#[must_use]
pub fn is_counting() -> bool {
    let before = count();
    drop(std::hint::black_box(Box::new(0_u64)));
    count() != before
}

/// The system's allocator, counting per thread.
#[derive(Debug)]
pub struct Counting;

fn note(bytes: usize) {
    // A thread that is being torn down has no counter left, and nobody who would read it.
    let _ = COUNT.try_with(|cell| {
        let Count { allocations, bytes: sum } = cell.get();
        cell.set(Count { allocations: allocations + 1, bytes: sum + bytes as u64 });
    });
    let [allocations, sum] = &GROUPS[GROUP.try_with(Cell::get).unwrap_or(Group::Harness) as usize];
    allocations.fetch_add(1, Ordering::Relaxed);
    sum.fetch_add(bytes as u64, Ordering::Relaxed);
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is passed on to `System` unchanged, so its guarantees are ours; counting touches a thread-local cell
// that was initialised at compile time, and so neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

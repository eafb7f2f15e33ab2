//! The checking mode: every block is in a table, with bytes behind it that must stay, and freed blocks are
//! kept for a while. Wrong use is found and told with who made the block and who gave it back.
#![allow(unsafe_code, reason = "memory that C programs use")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::allocator;
use crate::fault::Fault;

/// Bytes behind a block, and what they hold.
const FENCE: usize = 32;
const FENCE_BYTE: u8 = 0xfb;
/// What a block holds after it was given back.
const FREED_BYTE: u8 = 0xdf;
/// Blocks, and their bytes, that are kept after they were given back.
const MOST_KEPT: usize = 4096;
const MOST_BYTES_KEPT: usize = 64 << 20;

struct Live {
    bytes: usize,
    /// Who was asked for it.
    handle: usize,
    made: String,
}

struct Kept {
    at: usize,
    live: Live,
    freed: String,
    /// Its memory was given back at once: the allocator counts it.
    is_gone: bool,
}

struct State {
    live: BTreeMap<usize, Live>,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
}

static STATE: Mutex<State> =
    Mutex::new(State { live: BTreeMap::new(), kept: VecDeque::new(), kept_bytes: 0 });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block; `who` calls.
pub fn alloc(
    handle: usize,
    bytes: usize,
    align: usize,
    is_zero: bool,
    who: &str,
) -> Result<*mut u8, Fault> {
    let at = allocator::alloc_spare(handle, bytes, FENCE, align, is_zero)?;
    if !at.is_null() {
        // SAFETY: so many bytes are behind the block.
        unsafe { at.add(bytes).write_bytes(FENCE_BYTE, FENCE) };
        state().live.insert(at as usize, Live { bytes, handle, made: who.to_owned() });
    }
    Ok(at)
}

/// Gives a block back; `who` calls.
///
/// # Safety
/// Nobody uses the block.
pub unsafe fn free(at: *mut u8, handle: usize, who: &str) -> Result<(), Fault> {
    if at.is_null() {
        return Ok(());
    }
    let mut state = state();
    let Some(live) = state.live.get(&(at as usize)) else {
        let before = state.kept.iter().rev().find(|it| it.at == at as usize);
        return Err(before.map_or(Fault::NotAllocated { at: at as usize }, |it| Fault::Twice {
            at: it.at,
            bytes: it.live.bytes,
            made: it.live.made.clone(),
            freed: it.freed.clone(),
        }));
    };
    if handle != allocator::NONE && handle != live.handle {
        return Err(Fault::WrongAllocator { at: at as usize, owner: live.handle, named: handle });
    }
    fence(at as usize, live)?;
    let Some(live) = state.live.remove(&(at as usize)) else { return Ok(()) };
    let is_gone = allocator::is_limited(live.handle);
    if is_gone {
        // SAFETY: a block that its user does not use any more.
        unsafe { allocator::free(at, allocator::NONE)? };
    } else {
        // SAFETY: as above.
        unsafe { at.write_bytes(FREED_BYTE, live.bytes) };
        state.kept_bytes += live.bytes;
    }
    state.kept.push_back(Kept { at: at as usize, live, freed: who.to_owned(), is_gone });
    while state.kept.len() > MOST_KEPT || state.kept_bytes > MOST_BYTES_KEPT {
        let Some(oldest) = state.kept.pop_front() else { break };
        if oldest.is_gone {
            continue;
        }
        state.kept_bytes -= oldest.live.bytes;
        untouched(&oldest)?;
        // SAFETY: nobody has it any more.
        unsafe { allocator::free(oldest.at as *mut u8, allocator::NONE)? };
    }
    Ok(())
}

/// The bytes of a block that may be used, and the allocator that was asked for it.
pub fn block(at: *const u8) -> Option<(usize, usize)> {
    state().live.get(&(at as usize)).map(|it| (it.bytes, it.handle))
}

/// Looks at all blocks, those that are used and those that are kept: what was not found before the program ends.
pub fn at_end() -> Result<(), Fault> {
    let state = state();
    for (at, live) in &state.live {
        fence(*at, live)?;
    }
    state.kept.iter().try_for_each(untouched)
}

fn fence(at: usize, live: &Live) -> Result<(), Fault> {
    // SAFETY: a block that is in use, with so many bytes behind it.
    let behind = unsafe { std::slice::from_raw_parts((at as *const u8).add(live.bytes), FENCE) };
    match behind.iter().position(|it| *it != FENCE_BYTE) {
        None => Ok(()),
        Some(behind) => Err(Fault::Overrun {
            at,
            bytes: live.bytes,
            behind: behind + 1,
            made: live.made.clone(),
        }),
    }
}

fn untouched(kept: &Kept) -> Result<(), Fault> {
    if kept.is_gone {
        return Ok(());
    }
    // SAFETY: a block that is kept.
    let bytes = unsafe { std::slice::from_raw_parts(kept.at as *const u8, kept.live.bytes) };
    match bytes.iter().position(|it| *it != FREED_BYTE) {
        None => Ok(()),
        Some(byte) => Err(Fault::Late {
            at: kept.at,
            bytes: kept.live.bytes,
            byte,
            made: kept.live.made.clone(),
            freed: kept.freed.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(at: *mut u8, handle: usize, who: &str) -> Result<(), Fault> {
        // SAFETY: blocks of tests.
        unsafe { free(at, handle, who) }
    }

    #[test]
    fn each_wrong_use_is_told_with_who_did_it() {
        let pool = allocator::make(0, &[crate::traits::Trait { key: 4, value: 4096 }]).unwrap();
        for handle in [1, 4, pool] {
            let at = alloc(handle, 100, 16, true, "maker").unwrap();
            // SAFETY: the first byte behind; there is a fence.
            unsafe {
                assert_eq!(at.read(), 0);
                at.add(100).write(1);
            }
            let Err(Fault::Overrun { behind: 1, bytes: 100, made, .. }) = give(at, handle, "a")
            else {
                unreachable!()
            };
            assert_eq!(made, "maker");
            // SAFETY: as above.
            unsafe { at.add(100).write(FENCE_BYTE) };
            assert!(matches!(give(at, 2, "a"), Err(Fault::WrongAllocator { named: 2, .. })));
            give(at, handle, "first").unwrap();
            let Err(Fault::Twice { freed, .. }) = give(at, handle, "second") else {
                unreachable!()
            };
            assert_eq!(freed, "first");
        }
    }

    #[test]
    fn limits_are_the_same_as_without() {
        let list = [(4, 1000), (5, 12)].map(|(key, value)| crate::traits::Trait { key, value });
        let pool = allocator::make(0, &list).unwrap();
        for _ in 0..5 {
            let at = alloc(pool, 1000, 1, false, "a").unwrap();
            assert!(!at.is_null() && alloc(pool, 1, 1, false, "b").unwrap().is_null());
            give(at, pool, "c").unwrap();
            assert!(matches!(give(at, pool, "d"), Err(Fault::Twice { .. })));
        }
    }

    #[test]
    fn memory_that_is_written_late_is_told_when_it_goes() {
        let at = alloc(1, 64, 1, false, "maker").unwrap();
        give(at, 1, "giver").unwrap();
        // SAFETY: it is kept.
        unsafe { at.add(3).write(0) };
        assert!(matches!(at_end(), Err(Fault::Late { byte: 3, .. })));
        // SAFETY: as above.
        unsafe { at.add(3).write(FREED_BYTE) };
        for _ in 0..2 * MOST_KEPT {
            let at = alloc(1, 64, 1, false, "x").unwrap();
            give(at, 1, "y").unwrap();
        }
        assert!(state().kept.len() <= MOST_KEPT);
    }
}

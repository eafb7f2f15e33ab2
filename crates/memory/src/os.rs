//! Calls of the kernel about pages: address space, policies of nodes, locks, and where pages are.
#![allow(unsafe_code, reason = "calls of the kernel")]

use std::ffi::{c_int, c_ulong, c_void};
use std::io;
use std::ptr;
use std::sync::OnceLock;

use crate::kinds::{Pages, Place, Policy};

const MPOL_PREFERRED: c_int = 1;
const MPOL_INTERLEAVE: c_int = 3;
const MPOL_PREFERRED_MANY: c_int = 5;

/// Pages whose nodes the kernel is asked for at once.
const PAGES_ASKED: usize = 1 << 14;

/// Words of a set of nodes, and their bits.
const MASK_WORDS: usize = 16;
const WORD_BITS: usize = c_ulong::BITS as usize;

/// Bytes of an ordinary page.
pub(crate) fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: asks a number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    })
}

/// A number rounded up to a multiple of a power of two; `None` beyond all numbers.
pub(crate) fn round_up(bytes: usize, to: usize) -> Option<usize> {
    Some(bytes.checked_add(to - 1)? & !(to - 1))
}

/// Address space that nobody can use before it is committed.
pub(crate) fn reserve(bytes: usize) -> io::Result<*mut u8> {
    map(bytes, libc::PROT_NONE, libc::MAP_NORESERVE)
}

fn map(bytes: usize, protection: c_int, flags: c_int) -> io::Result<*mut u8> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new pages at an address that the kernel chooses.
    let at = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at.cast()) }
}

/// Makes reserved pages usable.
///
/// # Safety
/// Pages that [`reserve`] has given.
pub(crate) unsafe fn commit(at: *mut u8, bytes: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller's promise.
    unsafe { libc::mprotect(at.cast(), bytes, protection) == 0 }
}

/// Gives pages back to the kernel; they stay usable, and are zero.
///
/// # Safety
/// Pages of ours that nobody uses.
pub(crate) unsafe fn decommit(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::madvise(at.cast(), bytes, libc::MADV_DONTNEED) };
}

/// Gives address space back.
///
/// # Safety
/// All of what [`reserve`] or [`pages`] has given, or a part at its edge.
pub(crate) unsafe fn unmap(at: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(at.cast(), bytes) };
    }
}

/// Usable zero pages at a multiple of `align`. Both are multiples of the size of a page.
pub(crate) fn pages(bytes: usize, align: usize, kind: Pages) -> io::Result<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let natural = match kind {
        Pages::Huge(size) => size,
        Pages::System | Pages::Transparent => page_size(),
    };
    let flags = match kind {
        // The kernel wants the logarithm of the size in these bits.
        Pages::Huge(size) => {
            libc::MAP_HUGETLB | ((size.trailing_zeros() as c_int) << libc::MAP_HUGE_SHIFT)
        }
        Pages::System | Pages::Transparent => 0,
    };
    let spare = align.saturating_sub(natural);
    let whole = bytes.checked_add(spare).ok_or(io::ErrorKind::OutOfMemory)?;
    let at = map(whole, protection, flags)?;
    let front = (at as usize).next_multiple_of(align.max(1)) - at as usize;
    let begin = at.wrapping_add(front);
    // SAFETY: what is in front of the block and behind it, of pages that were mapped just now.
    unsafe {
        unmap(at, front);
        unmap(begin.wrapping_add(bytes), spare - front.min(spare));
    }
    if kind == Pages::Transparent {
        // SAFETY: pages that were mapped just now; a wish that may fail.
        unsafe { libc::madvise(begin.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    Ok(begin)
}

fn set_policy(at: *mut u8, bytes: usize, mode: c_int, nodes: &[usize]) -> io::Result<()> {
    let mut mask: [c_ulong; MASK_WORDS] = [0; MASK_WORDS];
    for node in nodes {
        if let Some(word) = mask.get_mut(node / WORD_BITS) {
            *word |= 1 << (node % WORD_BITS);
        }
    }
    // SAFETY: the kernel reads the mask, of so many bits, and changes how pages that come are placed.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            at,
            bytes,
            c_ulong::from(mode.unsigned_abs()),
            mask.as_ptr(),
            MASK_WORDS * WORD_BITS,
            0,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Says on which nodes pages of a range are to come. The pages must not have come yet. `part`: bytes of each part that
/// lies on one node, where a block is cut; zero: as many parts as nodes.
pub(crate) fn put(at: *mut u8, bytes: usize, place: &Place, part: usize) -> io::Result<()> {
    let nodes = place.nodes.as_slice();
    if nodes.is_empty() {
        return Ok(());
    }
    match place.policy {
        Policy::System => Ok(()),
        Policy::Prefer => prefer(at, bytes, nodes),
        // The kernel ends a program that is bound to a node that is full: [`bring`] brings the pages and looks where they are.
        Policy::Bind => prefer(at, bytes, nodes),
        Policy::Interleave if part == 0 => set_policy(at, bytes, MPOL_INTERLEAVE, nodes),
        Policy::Interleave | Policy::Blocked => {
            let part = if part == 0 { bytes.div_ceil(nodes.len()) } else { part };
            let part = round_up(part.max(1), page_size()).unwrap_or(bytes);
            let mut from = 0;
            for node in nodes.iter().cycle() {
                if from >= bytes {
                    break;
                }
                let len = part.min(bytes - from);
                prefer(at.wrapping_add(from), len, &[*node])?;
                from += len;
            }
            Ok(())
        }
    }
}

fn prefer(at: *mut u8, bytes: usize, nodes: &[usize]) -> io::Result<()> {
    if let [_, _, ..] = nodes {
        match set_policy(at, bytes, MPOL_PREFERRED_MANY, nodes) {
            // Kernels before 5.15 prefer one node only.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            answer => return answer,
        }
    }
    set_policy(at, bytes, MPOL_PREFERRED, nodes.get(..1).unwrap_or(nodes))
}

/// Has the pages of a range come now; whether all of them came, and on these nodes.
///
/// # Safety
/// Usable pages that nobody uses.
pub(crate) unsafe fn bring(at: *mut u8, bytes: usize, nodes: &[usize]) -> bool {
    // SAFETY: the caller's promise.
    let answer = unsafe { libc::madvise(at.cast(), bytes, libc::MADV_POPULATE_WRITE) };
    if answer != 0 {
        // Kernels before 5.14 do not know it; memory that is not there is another answer.
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            return false;
        }
        for page in (0..bytes).step_by(page_size()) {
            // SAFETY: the caller's promise.
            unsafe { at.wrapping_add(page).write_volatile(0) };
        }
    }
    let pages: Vec<usize> = (0..bytes).step_by(page_size()).collect();
    let is_there = |found: Vec<Option<usize>>| {
        found.into_iter().all(|it| it.is_some_and(|it| nodes.contains(&it)))
    };
    pages.chunks(PAGES_ASKED).all(|it| nodes_of(at as usize, it).is_ok_and(is_there))
}

/// Keeps pages in memory.
///
/// # Safety
/// Pages of ours.
pub(crate) unsafe fn lock(at: *mut u8, bytes: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { libc::mlock(at.cast(), bytes) == 0 }
}

/// The node of each page of a range; `None` for pages that have not come yet.
pub(crate) fn nodes_of(at: usize, pages: &[usize]) -> io::Result<Vec<Option<usize>>> {
    let addresses: Vec<*mut c_void> =
        pages.iter().map(|it| at.wrapping_add(*it) as *mut c_void).collect();
    let mut found: Vec<c_int> = vec![-libc::ENOENT; addresses.len()];
    // SAFETY: without a list of nodes nothing is moved: the kernel writes one number for each address.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            addresses.len(),
            addresses.as_ptr(),
            ptr::null::<c_int>(),
            found.as_mut_ptr(),
            0,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(found.into_iter().map(|it| usize::try_from(it).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_where_they_are_asked_to() {
        for align in [page_size(), 1 << 16, 2 << 20, 1 << 30] {
            let at = pages(3 * page_size(), align, Pages::System).unwrap();
            assert_eq!(at as usize % align, 0);
            // SAFETY: pages of this test.
            unsafe {
                assert_eq!(at.read(), 0);
                at.add(3 * page_size() - 1).write(1);
                unmap(at, 3 * page_size());
            }
        }
    }

    #[test]
    fn a_page_has_a_node_when_it_was_touched() {
        let at = pages(2 * page_size(), page_size(), Pages::System).unwrap();
        let place = Place { nodes: vec![0], policy: Policy::Bind, pages: Pages::System };
        put(at, 2 * page_size(), &place, 0).unwrap();
        // SAFETY: pages of this test.
        unsafe { at.write(1) };
        assert_eq!(nodes_of(at as usize, &[0, page_size()]).unwrap(), [Some(0), None]);
        // SAFETY: as above.
        unsafe { unmap(at, 2 * page_size()) };
    }

    #[test]
    fn pages_that_must_be_on_a_node_are_looked_for_there() {
        let bytes = (PAGES_ASKED + 3) * page_size();
        let at = pages(bytes, page_size(), Pages::System).unwrap();
        let place = Place { nodes: vec![0], policy: Policy::Bind, pages: Pages::System };
        put(at, bytes, &place, 0).unwrap();
        // SAFETY: pages of this test.
        unsafe {
            assert!(bring(at, bytes, &[0]));
            assert_eq!(nodes_of(at as usize, &[bytes - page_size()]).unwrap(), [Some(0)]);
            assert!(!bring(at, bytes, &[900]));
            unmap(at, bytes);
        }
    }

    #[test]
    fn every_policy_is_taken_by_the_kernel() {
        for policy in [Policy::Prefer, Policy::Bind, Policy::Interleave, Policy::Blocked] {
            let at = pages(8 * page_size(), page_size(), Pages::System).unwrap();
            let place = Place { nodes: vec![0], policy, pages: Pages::System };
            for part in [0, page_size()] {
                put(at, 8 * page_size(), &place, part).unwrap();
            }
            let nowhere = Place { nodes: vec![900], policy, pages: Pages::System };
            put(at, 8 * page_size(), &nowhere, 0).unwrap_err();
            // SAFETY: pages of this test.
            unsafe { unmap(at, 8 * page_size()) };
        }
    }
}

//! Addresses and kinds of device memory.

use std::fmt;

use crate::Result;

/// An address on a device. Arithmetic wraps, as a section's base may lie outside its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// No address.
    pub const NULL: DevicePtr = DevicePtr(0);

    /// Is this no address?
    pub fn is_null(self) -> bool {
        self == DevicePtr::NULL
    }

    /// So many bytes further.
    pub fn offset(self, bytes: usize) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes as u64))
    }
}

/// As in C, `0x7f…`
impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What memory is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The device's own.
    Device,
    /// On the host, reached by the device.
    Host,
    /// Moves between both.
    Shared,
}

/// Bytes of memory that the machine has.
#[allow(unsafe_code, reason = "asks the C library")]
pub fn of_machine() -> usize {
    // SAFETY: asks for two numbers.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let bytes = usize::try_from(pages).ok().zip(usize::try_from(page).ok());
    bytes.map_or(1 << 30, |(pages, page)| pages.saturating_mul(page))
}

/// Bytes of a piece where copies go through a buffer or a message.
pub(crate) const PIECE: usize = 1 << 20;

/// Calls `copy` for the pieces of so many bytes, with where each begins and how long it is; from the front, or from the
/// back as ranges need that overlap.
pub(crate) fn in_pieces(
    len: usize,
    from_front: bool,
    mut copy: impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let count = len.div_ceil(PIECE);
    for index in 0..count {
        let at = PIECE * if from_front { index } else { count - 1 - index };
        copy(at, PIECE.min(len - at))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_bytes_from_either_end() {
        for (len, expect) in [(0, 0), (1, 1), (PIECE, 1), (PIECE + 1, 2), (3 * PIECE - 1, 3)] {
            let mut seen = Vec::new();
            in_pieces(len, true, |at, size| {
                seen.push((at, size));
                Ok(())
            })
            .unwrap();
            assert_eq!(seen.len(), expect);
            assert_eq!(seen.iter().map(|it| it.1).sum::<usize>(), len);
            let mut back = Vec::new();
            in_pieces(len, false, |at, size| {
                back.push((at, size));
                Ok(())
            })
            .unwrap();
            back.reverse();
            assert_eq!(seen, back);
        }
    }
}

//! The bits of a map type: what one entry of a map array asks for.
//!
//! A [`MapType`] is the 64-bit value in the `types` array of a call. Its top 16 bits are 1 + the
//! index of the entry it is a member of. How the runtime acts on them is not told here.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// One element of the `types` array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct MapType(pub u64);

/// The size of an entry whose elements do not follow each other, which only updates may have.
pub const GAPS: i64 = -i64::MAX;

impl MapType {
    /// Storage only: neither copy.
    pub const ALLOC: MapType = MapType(0);
    /// Copy host to device when newly mapped; on an update: do it.
    pub const TO: MapType = MapType(0x1);
    /// Copy device to host when the last reference goes; on an update: do it.
    pub const FROM: MapType = MapType(0x2);
    /// Copy whatever the count says.
    pub const ALWAYS: MapType = MapType(0x4);
    /// Force the dynamic count to zero.
    pub const DELETE: MapType = MapType(0x8);
    /// The base is the address of a pointer; begin and size are its pointee: attach.
    pub const PTR_AND_OBJ: MapType = MapType(0x10);
    /// Becomes a kernel parameter.
    pub const TARGET_PARAM: MapType = MapType(0x20);
    /// Write the device base back into the bases array.
    pub const RETURN_PARAM: MapType = MapType(0x40);
    /// A buffer of its own for each launch, not in the table; with `TO` a copy of the host's value.
    pub const PRIVATE: MapType = MapType(0x80);
    /// The value itself stands in the base slot.
    pub const LITERAL: MapType = MapType(0x100);
    /// Not written by the user: partial overlap is tolerated.
    pub const IMPLICIT: MapType = MapType(0x200);
    /// Make a device copy even where memory is unified.
    pub const CLOSE: MapType = MapType(0x400);
    /// An error unless already mapped.
    pub const PRESENT: MapType = MapType(0x1000);
    /// Count in the second, structured counter, which `DELETE` does not reset.
    pub const HOLD: MapType = MapType(0x2000);
    /// With `PTR_AND_OBJ`: the pointer is attached if it is on the device, and left alone if not.
    /// LLVM 19 leaves this bit free; later releases call it so too.
    pub const ATTACH: MapType = MapType(0x4000);
    /// Absent data stay absent.
    pub const OPTIONAL: MapType = MapType(1 << 32);
    /// New storage that nothing is copied to is filled with zeros.
    pub const ZERO: MapType = MapType(1 << 33);
    /// No count changes; with `PTR_AND_OBJ`: nothing is done but to attach the pointer or, at an end,
    /// to detach it (with `DELETE`: whoever else attached it).
    pub const UNCOUNTED: MapType = MapType(1 << 34);
    /// With `PTR_AND_OBJ`: attachments are counted, and an end takes one away.
    pub const DETACH: MapType = MapType(1 << 35);
    /// Updates and ends: that only a part of the data is mapped is an error.
    pub const WHOLE: MapType = MapType(1 << 36);
    /// With `IMPLICIT`: all of it is touched, so that part of it is not enough where memory is not
    /// shared; an address of the device's own is left as it is.
    pub const EXACT: MapType = MapType(1 << 37);
    /// Updates and ends: all of the mapped object that begin points into, nothing where that is null; an end takes
    /// the pointer at the base where no such object is.
    pub const OBJECT: MapType = MapType(1 << 38);
    /// Update only: begin points to [`crate::Dimension`]s, size is their number.
    pub const NON_CONTIG: MapType = MapType(0x1000_0000_0000);

    /// Where the entry that this one is a member of is said: its index plus one.
    pub const MEMBER_OF_SHIFT: u32 = 48;
    /// The largest such number.
    pub const MOST_PARENT: u16 = u16::MAX;

    /// All bits of `bits` are set.
    pub const fn has(self, bits: MapType) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// At least one of `bits` is set.
    pub const fn has_any(self, bits: MapType) -> bool {
        self.0 & bits.0 != 0
    }

    /// Without `bits`.
    pub const fn without(self, bits: MapType) -> MapType {
        MapType(self.0 & !bits.0)
    }

    /// The index of the entry in the same array that this one is a member of.
    pub const fn parent(self) -> Option<usize> {
        match self.0 >> Self::MEMBER_OF_SHIFT {
            0 => None,
            field => Some(field as usize - 1),
        }
    }

    /// As a member of the entry with that index; indices beyond 65534 cannot be said.
    pub fn member_of(self, parent: usize) -> Option<MapType> {
        let field = u16::try_from(parent.checked_add(1)?).ok()?;
        let rest = self.0 & !(u64::MAX << Self::MEMBER_OF_SHIFT);
        Some(MapType(rest | u64::from(field) << Self::MEMBER_OF_SHIFT))
    }
}

impl BitOr for MapType {
    type Output = MapType;

    fn bitor(self, other: MapType) -> MapType {
        MapType(self.0 | other.0)
    }
}

impl BitOrAssign for MapType {
    fn bitor_assign(&mut self, other: MapType) {
        self.0 |= other.0;
    }
}

/// The names of all bits, for reports.
const NAMES: &[(MapType, &str)] = &[
    (MapType::TO, "to"),
    (MapType::FROM, "from"),
    (MapType::ALWAYS, "always"),
    (MapType::DELETE, "delete"),
    (MapType::PTR_AND_OBJ, "attach"),
    (MapType::TARGET_PARAM, "parameter"),
    (MapType::RETURN_PARAM, "return"),
    (MapType::PRIVATE, "private"),
    (MapType::LITERAL, "literal"),
    (MapType::IMPLICIT, "implicit"),
    (MapType::CLOSE, "close"),
    (MapType::PRESENT, "present"),
    (MapType::HOLD, "hold"),
    (MapType::OPTIONAL, "optional"),
    (MapType::ZERO, "zero"),
    (MapType::UNCOUNTED, "uncounted"),
    (MapType::DETACH, "detach"),
    (MapType::WHOLE, "whole"),
    (MapType::OBJECT, "object"),
    (MapType::NON_CONTIG, "strided"),
];

/// `to|from|parameter`, `to|member of 0`
impl fmt::Debug for MapType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (_, name) in NAMES.iter().filter(|(bit, _)| self.has(*bit)) {
            write!(f, "{separator}{name}")?;
            separator = "|";
        }
        match self.parent() {
            Some(parent) => write!(f, "{separator}member of {parent}"),
            None if separator.is_empty() => f.write_str("alloc"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_know_their_parent() {
        assert_eq!(MapType(0x23).parent(), None);
        assert_eq!(MapType(0x0001_0000_0000_0003).parent(), Some(0));
        assert_eq!(MapType::TO.member_of(0), Some(MapType(0x0001_0000_0000_0001)));
        assert_eq!(MapType::TO.member_of(65534).and_then(MapType::parent), Some(65534));
        assert_eq!(MapType::TO.member_of(65535), None);
    }

    #[test]
    fn a_type_can_be_read() {
        assert_eq!(format!("{:?}", MapType(0x23)), "to|from|parameter");
        assert_eq!(format!("{:?}", MapType(0)), "alloc");
        assert_eq!(format!("{:?}", MapType(0x0001_0000_0000_0001)), "to|member of 0");
    }
}

//! Places the members of a structure or union.
//!
//! In: members with the size and alignment of their types, and what attributes ask for. Out: byte
//! and bit offsets, size and alignment of the whole. The rules are gcc's for [`BitFieldRule::SysV`]
//! and its `ms_struct` for [`BitFieldRule::Microsoft`], odd corners included; all sums are in bits.

use super::{BitFieldRule, DataModel, NoSize};
use crate::types::Record;

/// Where a record's members are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    /// Size in bytes, a multiple of the alignment.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// One per member, in order, those without name included.
    pub fields: Vec<FieldPlace>,
}

/// Where a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldPlace {
    /// The byte it begins in.
    pub offset: u64,
    /// The bit of that byte, counted from the least significant; 0 unless it is a bit-field.
    pub bit_offset: u32,
    /// How many bits; none unless it is a bit-field.
    pub bit_width: Option<u32>,
}

/// What placing has to know of a member.
pub(super) struct Member {
    /// Bytes of its type.
    pub(super) size: u64,
    /// Alignment of its type, in bytes.
    pub(super) type_align: u64,
    pub(super) is_named: bool,
    pub(super) bits: Option<u32>,
    /// Alignment that attributes on the member ask for, in bytes.
    pub(super) asked_align: Option<u64>,
    pub(super) is_packed: bool,
}

impl Member {
    fn is_bit_field(&self) -> bool {
        self.bits.is_some()
    }

    fn is_separator(&self) -> bool {
        self.bits == Some(0)
    }

    /// What it takes in the record, in bits.
    fn width(&self) -> u64 {
        self.bits.map_or(self.size.saturating_mul(8), u64::from)
    }

    fn type_bits(&self) -> u64 {
        self.size.saturating_mul(8)
    }
}

/// The bit-field that a Microsoft run of bit-fields began with.
#[derive(Clone, Copy)]
struct Run {
    width: u64,
    type_bits: u64,
}

struct Placer<'a> {
    model: &'a DataModel,
    rule: BitFieldRule,
    /// The most that members are aligned to, in bits (`#pragma pack`).
    limit: Option<u64>,
    /// The first free bit.
    cursor: u64,
    /// Alignment of the record so far, in bits.
    align: u64,
    run: Option<Run>,
    /// Bits left in the unit that a Microsoft run is filling.
    left: u64,
}

/// Lays a record out.
pub(super) fn place(
    model: &DataModel,
    record: &Record,
    members: &[Member],
) -> Result<RecordLayout, NoSize> {
    // Sums of bits below cannot overflow when the bytes stay below this.
    let most = model.max_object().min(u64::MAX / 64);
    let mut placer = Placer {
        model,
        rule: model.bit_fields,
        limit: record.pack.filter(|&it| it > 0).map(|it| u64::from(it) * 8),
        cursor: 0,
        align: bits(record.align.unwrap_or(1)),
        run: None,
        left: 0,
    };
    let mut fields = Vec::with_capacity(members.len());
    let mut end = 0;
    for (index, member) in members.iter().enumerate() {
        if member.size > most {
            return Err(NoSize::TooLarge);
        }
        let start = if record.is_union {
            let wanted = placer.wanted_align(member);
            placer.raise_align(member, wanted);
            0
        } else {
            placer.structure_member(member)
        };
        fields.push(FieldPlace {
            offset: start / 8,
            bit_offset: (start % 8) as u32,
            bit_width: member.bits,
        });
        placer.cursor = start + member.width();
        let is_last = index + 1 == members.len();
        if placer.rule == BitFieldRule::Microsoft
            && is_last
            && !record.is_union
            && member.is_bit_field()
            && !member.is_separator()
        {
            placer.cursor += placer.left;
        }
        end = end.max(placer.cursor);
        if record.is_union {
            placer.cursor = 0;
        }
        if end / 8 > most {
            return Err(NoSize::TooLarge);
        }
    }
    let size = round_up(end, placer.align) / 8;
    if size > most {
        return Err(NoSize::TooLarge);
    }
    Ok(RecordLayout { size, align: placer.align / 8, fields })
}

impl Placer<'_> {
    /// Where the next member of a structure begins; its alignment has its effect on the record.
    fn structure_member(&mut self, member: &Member) -> u64 {
        let wanted = self.wanted_align(member);
        // Asked before the cursor moves, as gcc does.
        let is_whole = self.whole_integer_align(member).is_some();
        self.raise_align(member, wanted);
        match self.rule {
            BitFieldRule::SysV => {
                self.cursor = round_up(self.cursor, wanted);
                if !is_whole && self.crosses_unit(member) {
                    self.cursor = round_up(self.cursor, bits(member.type_align));
                }
            }
            BitFieldRule::Microsoft => self.microsoft(member, wanted),
        }
        self.cursor
    }

    /// The alignment of the integer that a bit-field fills, if one of its width could stand at the
    /// cursor: such a field is treated much like an ordinary member.
    fn whole_integer_align(&self, member: &Member) -> Option<u64> {
        let kind = self.model.int_of(member.bits?, true)?;
        let fits = (member.bits == Some(8) || !member.is_packed)
            && self.cursor.is_multiple_of(member.width());
        // Where the machine aligns members less than variables, asking for any alignment at all
        // switches that off.
        let align = match member.asked_align {
            Some(_) => member.width(),
            None => bits(self.model.int_extent(kind).align),
        };
        fits.then_some(align)
    }

    /// The alignment of the member's own position, in bits.
    fn wanted_align(&self, member: &Member) -> u64 {
        let asked = member.asked_align.map(bits);
        let type_align = bits(member.type_align);
        if member.is_separator() && self.rule == BitFieldRule::SysV {
            // Packing does not touch it.
            return type_align.max(asked.unwrap_or(1));
        }
        let wanted = if member.is_bit_field() {
            self.whole_integer_align(member).unwrap_or(1).max(asked.unwrap_or(1))
        } else if member.is_packed {
            asked.unwrap_or(8)
        } else {
            type_align.max(asked.unwrap_or(8))
        };
        self.limit.map_or(wanted, |limit| wanted.min(limit))
    }

    /// The record is aligned at least as its members are.
    fn raise_align(&mut self, member: &Member, wanted: u64) {
        let type_align = bits(member.type_align);
        let limited = |align: u64| self.limit.map_or(align, |limit| align.min(limit));
        let needed = match self.rule {
            BitFieldRule::SysV if !member.is_bit_field() => wanted,
            // Padding has no say.
            BitFieldRule::SysV if !member.is_named => return,
            BitFieldRule::SysV if self.limit.is_none() && member.is_packed => wanted.max(8),
            BitFieldRule::SysV => limited(type_align).max(wanted),
            BitFieldRule::Microsoft => {
                let counts = match member.bits {
                    None => true,
                    // It ends a run of bit-fields, or is nothing.
                    Some(0) => self.run.is_some_and(|it| it.width != 0),
                    Some(_) => !member.is_packed,
                };
                if !counts {
                    return;
                }
                let is_dense = !member.is_bit_field() && member.is_packed;
                limited(if is_dense { wanted } else { type_align.max(wanted) })
            }
        };
        self.align = self.align.max(needed);
    }

    /// A bit-field may not touch more units of its type than the type itself does.
    fn crosses_unit(&self, member: &Member) -> bool {
        if !member.is_bit_field()
            || member.is_separator()
            || member.is_packed
            || self.limit.is_some()
        {
            return false;
        }
        let unit = bits(member.type_align);
        let touched = (self.cursor % unit + member.width()).div_ceil(unit);
        touched > member.type_bits() / unit
    }

    /// Bit-fields share a unit while the sizes of their types agree; all else starts afresh.
    fn microsoft(&mut self, member: &Member, wanted: u64) {
        let is_field = member.is_bit_field() && !member.is_separator();
        let misplaced = !self.cursor.is_multiple_of(wanted);
        let mut before = self.run;
        match self.run {
            None => self.cursor = round_up(self.cursor, wanted),
            Some(run) => {
                let goes_on = is_field && run.width != 0 && run.type_bits == member.type_bits();
                let mut realign = misplaced;
                if goes_on && self.left >= member.width() {
                    self.left -= member.width();
                    realign = false;
                } else if goes_on {
                    self.cursor += self.left;
                    self.run = Some(Run { width: member.width(), type_bits: member.type_bits() });
                    self.left = member.type_bits().saturating_sub(member.width());
                } else {
                    if run.width != 0 {
                        self.cursor += self.left;
                    } else {
                        before = None;
                    }
                    if !is_field {
                        self.run = None;
                    }
                }
                if realign {
                    self.cursor = round_up(self.cursor, wanted);
                }
            }
        }
        let starts = !member.is_bit_field()
            || match before {
                Some(run) => run.type_bits != member.type_bits(),
                None => is_field,
            };
        if starts {
            self.left = member.type_bits().saturating_sub(member.width());
            let natural = if member.is_packed { 8 } else { bits(member.type_align) };
            let unit = self.limit.map_or(natural, |limit| natural.min(limit));
            self.cursor = round_up(self.cursor, unit);
            self.run = None;
        }
        if self.run.is_none() && member.is_bit_field() {
            self.run = Some(Run { width: member.width(), type_bits: member.type_bits() });
        }
    }
}

/// An alignment of bytes, in bits. Attributes are limited by sema to what objects can have.
fn bits(align: u64) -> u64 {
    align.clamp(1, 1 << 32) * 8
}

fn round_up(value: u64, unit: u64) -> u64 {
    value.next_multiple_of(unit.max(1))
}
